"""What becomes of sandboxes and their commands when the daemon, the launcher, the storage process or a guest is killed."""

import os
import signal
import subprocess
import time
import unittest

import node
from node import Node


def numbers(text):
    return [int(line) for line in text.split()]


class Restart(unittest.TestCase):
    def test_a_long_command_outlives_the_daemon(self):
        with Node() as one:
            box = one.create(name="steady")
            before = one.inspect(box)
            command = one.begin(box, "for i in $(seq 200); do echo $i; sleep 0.02; done; exit 9", timeout_ms=60000)
            while len(one.output(box, command, follow=False)) < 20:
                time.sleep(0.01)
            one.kill()
            time.sleep(0.3)
            one.start()
            after = one.inspect("steady")
            for field in ("id", "name", "state", "created_at", "memory_bytes", "storage"):
                self.assertEqual(before[field], after[field], field)
            self.assertEqual(one.command_of(box, command)["state"], "running")
            self.assertEqual(one.script(box, "echo here")["stdout"], "here\n")
            self.assertEqual(numbers(one.output(box, command)), list(range(1, 201)))
            self.assertEqual(one.await_end(box, command)["exit_code"], 9)

    def test_much_output_has_no_gap_and_no_repeat(self):
        expected = subprocess.run(["seq", "7000000"], capture_output=True, check=True).stdout
        with Node() as one:
            box = one.create()
            for turn in range(6):
                commands = [one.begin(box, "seq 7000000", timeout_ms=120_000) for _ in range(3)]
                for kill in range(3):
                    # Not a wait for anything: the moments at which it is killed.
                    time.sleep(0.002 * turn + 0.005 * kill)
                    one.kill()
                    one.start()
                for command in commands:
                    self.assertEqual(one.await_end(box, command, 60)["exit_code"], 0)
                    self.assertTrue(one.output(box, command) == expected)

    def test_the_daemon_ends_and_comes_back_with_all(self):
        with Node() as one:
            boxes = [one.create() for _ in range(3)]
            one.script(boxes[0], "echo kept > file")
            one.post(f"/v1/sandboxes/{boxes[1]}:pause")
            one.end()
            one.start()
            self.assertEqual(one.script(boxes[0], "cat file")["stdout"], "kept\n")
            self.assertEqual([one.inspect(box)["state"] for box in boxes], ["running", "paused", "running"])
            one.post(f"/v1/sandboxes/{boxes[1]}:resume")
            self.assertEqual(one.script(boxes[1], "echo back")["stdout"], "back\n")

    def test_a_lifetime_goes_on_over_daemons_and_stands_in_a_pause(self):
        with Node() as one:
            box, paused = one.create(max_lifetime_ms=9000), one.create(max_lifetime_ms=9000)
            one.post(f"/v1/sandboxes/{paused}:pause")
            await_over(one, one.create(max_lifetime_ms=3000))
            one.kill()
            one.start()
            # Had the new daemon begun anew, this one would end before.
            await_over(one, one.create(max_lifetime_ms=7000))
            self.assertEqual((one.inspect(box)["state"], one.inspect(box)["reason"]), ("deleted", "max_lifetime"))
            self.assertEqual(one.inspect(paused)["state"], "paused")
            self.assertEqual(one.post(f"/v1/sandboxes/{paused}:resume")["state"], "running")
            self.assertEqual(one.script(paused, "echo fine")["stdout"], "fine\n")

    def test_limits_hold_with_the_next_daemon_too(self):
        with Node() as one:
            box = one.create(memory_bytes=64 << 20, pids=20, disk_bytes=8 << 20)
            for _ in range(2):
                result = one.run(box, "tail", "/dev/zero")
                self.assertEqual(result["outcome"], "out_of_memory")
                # Not bash, which tries again and again. What runs on would be in the way of what follows.
                result = one.run(box, "sh", "-c", "trap 'kill 0' EXIT; for i in $(seq 30); do sleep 100 & done")
                self.assertIn("Cannot fork", result["stderr"])
                result = one.script(box, "head -c 20000000 /dev/zero > large; echo $?; rm large")
                self.assertIn("No space left", result["stderr"])
                self.assertEqual(one.script(box, "echo fine")["stdout"], "fine\n")
                one.kill()
                one.start()

    def test_a_killed_guest_fails_its_sandbox_alone(self):
        with Node() as one:
            victim, other = one.create(), one.create()
            command = one.begin(victim, "sleep 1000")
            guests = one.guests()
            self.assertEqual(len(guests), 2)
            os.kill(min(guests), signal.SIGKILL)
            self.assertFalse(node.await_none(lambda: one.inspect(victim)["state"] == "running", 10))
            self.assertEqual(one.inspect(victim)["state"], "failed")
            self.assertEqual(one.command_of(victim, command)["state"], "ended")
            self.assertEqual(one.script(other, "echo fine")["stdout"], "fine\n")
            self.assertEqual(one.delete(f"/v1/sandboxes/{victim}")["state"], "deleted")

    def test_without_its_launcher_the_daemon_ends_and_the_next_says_what_failed(self):
        with Node() as one:
            box = one.create()
            command = one.begin(box, "sleep 1000")
            os.kill(one.launcher(), signal.SIGKILL)
            self.assertEqual(one.process.wait(timeout=20), 3)
            self.assertIn("launcher", one.log())
            one.start()
            self.assertEqual(one.inspect(box)["state"], "failed")
            self.assertNotEqual(one.inspect(box)["reason"], "")
            result = one.command_of(box, command)["result"]
            self.assertEqual((result["outcome"], result["signal"]), ("signaled", "SIGKILL"))
            fresh = one.create()
            self.assertEqual(one.script(fresh, "echo new")["stdout"], "new\n")

    def test_without_the_storage_process_it_is_the_same(self):
        with Node() as one:
            box = one.create()
            os.kill(one.storage(), signal.SIGKILL)
            self.assertEqual(one.process.wait(timeout=30), 3)
            one.start()
            self.assertEqual(one.inspect(box)["state"], "failed")
            self.assertEqual(one.script(one.create(), "echo new")["stdout"], "new\n")


def await_over(one, box):
    left = node.await_none(lambda: one.inspect(box)["state"] != "deleted", 60)
    assert not left, one.inspect(box)


if __name__ == "__main__":
    node.require_root()
    unittest.main()
