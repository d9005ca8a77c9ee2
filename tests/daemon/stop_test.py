"""A sandbox that is stopped keeps its files, and starts anew with them; whatever ends it, when that was asked for."""

import os
import signal
import subprocess
import threading
import time
import unittest

import node
from node import Node, Problem

STORAGES = ("btrfs", "directory")

# Each kind of what a layer holds: new, changed, removed, renamed, linked, owned by root, in a folder of the image.
FILL = r"""
set -e
mkdir -p tree/deep && echo one > tree/deep/file && ln tree/deep/file tree/second && ln -s deep/file tree/link
printf '#!/bin/sh\necho runs\n' > tree/script && chmod 750 tree/script
mkfifo tree/fifo; touch -d '2001-02-03 04:05:06 UTC' tree/old; mv tree/old tree/renamed
"""
FILL_AS_ROOT = """
set -e
echo root > /etc/of-root; chmod 600 /etc/of-root
echo changed >> /etc/hosts; rm /etc/hostname
for folder in /etc/*/; do mv "$folder" /etc/moved; break; done
"""
SHOW = r"""
cd ~/workspace
cat tree/second tree/link; ./tree/script; stat -c '%n %U %a %h' tree/script tree/fifo tree/deep/file
stat -c '%Y' tree/renamed; tail -1 /etc/hosts; ls -d /etc/hostname /etc/moved 2>/dev/null; ls /etc/moved | md5sum; ls -A ~ | tr '\n' ' '; echo more >> tree/deep/file; touch new-$(ls | wc -l)
"""


def layers(one, storage):
    folder = one.folder + ("/data/sandboxes" if storage == "directory" else "/data/store/layers")
    return [name for name in os.listdir(folder) if name.startswith("sb_")] if os.path.isdir(folder) else []


class Stop(unittest.TestCase):
    def stop(self, one, box):
        info = one.post(f"/v1/sandboxes/{box}:stop")
        self.assertEqual(info["state"], "stopped")
        return info

    def resume(self, one, box):
        info = one.post(f"/v1/sandboxes/{box}:resume")
        self.assertEqual(info["state"], "running")
        return info

    def refused(self, one, method, target, status, body=None):
        with self.assertRaises(Problem) as refusal:
            one.ask(method, target, body)
        self.assertEqual(refusal.exception.status, status, refusal.exception)
        return refusal.exception

    def test_files_come_back(self):
        for storage in STORAGES:
            with self.subTest(storage=storage), Node() as one:
                box = one.create(storage=storage, name="kept")
                self.assertEqual(one.script(box, FILL)["exit_code"], 0)
                self.assertEqual(one.run(box, "bash", "-c", FILL_AS_ROOT, user="root")["exit_code"], 0)
                before = one.script(box, SHOW)["stdout"]
                runs = one.begin(box, "echo started; sleep 600")
                other = one.create(storage=storage)  # takes the first block of ids that is free again
                for _ in range(3):
                    self.stop(one, box)
                    self.assertEqual(self.stop(one, box)["state"], "stopped")
                    self.refused(one, "POST", f"/v1/sandboxes/{box}/commands", 409, {"argv": ["true"]})
                    between = one.create(storage="tmpfs")
                    self.resume(one, box)
                    shown = one.script(box, SHOW)
                    self.assertEqual(shown["stderr"], "")
                    # `file` has grown by a line each time; everything else is as it was.
                    self.assertEqual([line for line in shown["stdout"].splitlines() if line != "more"],
                                     [line for line in before.splitlines() if line != "more"])
                    self.assertGreater(shown["stdout"].count("more"), before.count("more"))
                    self.assertEqual(one.run(box, "sh", "-c", "cat /etc/of-root; stat -c %U /etc/of-root", user="root")["stdout"], "root\nroot\n")
                    self.assertEqual(one.run(box, "cat", "/etc/of-root")["exit_code"], 1)
                    one.delete(f"/v1/sandboxes/{between}")
                result = one.command_of(box, runs)["result"]
                self.assertEqual((result["outcome"], result["stdout"]), ("signaled", "started\n"))
                changes = {item["path"]: item["change"] for item in one.get(f"/v1/sandboxes/{box}/changes")["items"]}
                self.assertEqual(changes["/etc/hostname"], "deleted")
                self.assertEqual(changes["/etc/of-root"], "created")
                self.assertEqual(changes["/etc/hosts"], "modified")
                self.assertEqual(len(layers(one, storage)), 2)
                one.delete(f"/v1/sandboxes/{box}")
                one.delete(f"/v1/sandboxes/{other}")
                self.assertFalse(node.await_none(lambda: layers(one, storage), 10))

    def test_deleted_while_stopped_nothing_is_left(self):
        for storage in STORAGES:
            with self.subTest(storage=storage), Node() as one:
                box = one.create(storage=storage)
                one.script(box, "echo 1 > file")
                self.stop(one, box)
                self.assertEqual(len(layers(one, storage)), 1)
                self.assertEqual(one.delete(f"/v1/sandboxes/{box}")["state"], "deleted")
                self.assertEqual(one.delete(f"/v1/sandboxes/{box}")["state"], "deleted")
                self.assertFalse(node.await_none(lambda: layers(one, storage), 10))
                self.refused(one, "POST", f"/v1/sandboxes/{box}:resume", 409)

    def test_a_paused_one_can_be_stopped(self):
        with Node() as one:
            box = one.create(storage="directory")
            one.script(box, "echo 1 > file")
            runs = one.begin(box, "sleep 600")
            one.post(f"/v1/sandboxes/{box}:pause")
            self.stop(one, box)
            self.assertEqual(one.command_of(box, runs)["state"], "ended")
            self.resume(one, box)
            self.assertEqual(one.script(box, "cat file")["stdout"], "1\n")

    def test_the_copy_of_a_workspace_comes_back(self):
        with Node() as one:
            copies = one.folder + "/data/copies"
            with one.copied_workspace("copied\n") as ticket:
                box = one.create(storage="directory", workspace={"ticket": ticket, "mode": "copy"})
            self.assertEqual(one.script(box, "cat file; echo more >> file")["stdout"], "copied\n")
            for _ in range(2):
                self.stop(one, box)
                one.end()
                self.assertFalse(node.await_none(one.processes, 10), "nothing keeps a launcher")
                one.start()
                self.resume(one, box)
                self.assertIn("copied\nmore\n", one.script(box, "cat file; echo more >> file")["stdout"])
            self.assertEqual(os.listdir(copies), [box])
            one.delete(f"/v1/sandboxes/{box}")
            self.assertFalse(node.await_none(lambda: os.listdir(copies), 10))

    def test_what_cannot_be_kept_is_refused_and_goes_on(self):
        with Node() as one:
            in_memory = one.create(storage="tmpfs")
            refusal = self.refused(one, "POST", f"/v1/sandboxes/{in_memory}:stop", 409)
            self.assertIn("memory", refusal.body["cause"])
            self.refused(one, "POST", "/v1/sandboxes", 400, {"storage": "tmpfs", "on_end": "keep"})
            folder = os.open(one.folder, os.O_RDONLY | os.O_DIRECTORY)
            ticket, door = one.deposit(folder)
            of_host = one.create(storage="directory", workspace={"ticket": ticket, "mode": "ro"})
            door.close()
            os.close(folder)
            self.refused(one, "POST", f"/v1/sandboxes/{of_host}:stop", 409)
            for box in (in_memory, of_host):
                self.assertEqual(one.inspect(box)["state"], "running")
                self.assertEqual(one.run(box, "true")["exit_code"], 0)

    def test_a_time_out_stops_what_is_to_be_kept(self):
        with Node() as one:
            box = one.create(storage="directory", on_end="keep", idle_timeout_ms=1500)
            self.assertEqual(one.inspect(box)["on_end"], "keep")
            one.script(box, "for i in $(seq 2000); do echo $i > file-$i; done")
            self.assertFalse(node.await_none(lambda: one.inspect(box)["state"] != "stopped", 20))
            self.assertEqual(one.inspect(box)["reason"], "idle_timeout")
            self.resume(one, box)
            self.assertEqual(one.script(box, "cat file-* | sort -n | md5sum; ls | wc -l")["stdout"],
                             subprocess.run("seq 2000 | md5sum; echo 2000", shell=True, capture_output=True, text=True, check=True).stdout)
            lived = one.create(storage="directory", on_end="keep", max_lifetime_ms=1000)
            self.assertFalse(node.await_none(lambda: one.inspect(lived)["state"] != "stopped", 20))
            self.refused(one, "POST", f"/v1/sandboxes/{lived}:resume", 409)

    def test_two_who_resume_one(self):
        with Node() as one:
            box = one.create(storage="directory")
            self.stop(one, box)
            answers = []
            for _ in range(2):
                connection = one.connection()
                connection.request("POST", f"/v1/sandboxes/{box}:resume")
                answers.append(connection)
            statuses = sorted(connection.getresponse().status for connection in answers)
            for connection in answers:
                connection.close()
            self.assertIn(statuses, ([200, 200], [200, 409]))
            self.assertEqual(one.run(box, "true")["exit_code"], 0)


    def test_two_who_stop_and_resume_one(self):
        with Node() as one:
            box = one.create(storage="directory")
            one.script(box, "echo 1 > file")
            end, wrong, done = time.monotonic() + 4, [], {"stop": 0, "resume": 0}

            def ask(verb):
                while time.monotonic() < end:
                    response, body = one.exchange("POST", f"/v1/sandboxes/{box}:{verb}")
                    done[verb] += response.status == 200
                    if response.status not in (200, 409):
                        wrong.append((verb, response.status, body))

            threads = [threading.Thread(target=ask, args=(verb,)) for verb in ("stop", "resume", "stop", "resume")]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])
            self.assertGreater(min(done.values()), 5)
            if one.inspect(box)["state"] == "stopped":
                self.resume(one, box)
            self.assertEqual(one.script(box, "cat file")["stdout"], "1\n")


class Crash(unittest.TestCase):
    """What keeps its files keeps them whoever is killed."""

    def wait(self, one, box, state):
        self.assertFalse(node.await_none(lambda: one.inspect(box)["state"] != state, 20), one.inspect(box))

    def restart(self, one):
        one.process.wait(timeout=20)
        node.await_none(one.processes, 10)
        one.start()

    def test_the_launcher_is_killed(self):
        for storage in STORAGES:
            with self.subTest(storage=storage), Node() as one:
                kept = one.create(storage=storage, on_end="keep")
                gone = one.create(storage=storage)
                came_back = one.create(storage=storage)
                for box in (kept, gone, came_back):
                    one.script(box, f"echo {box} > file; sync")
                one.post(f"/v1/sandboxes/{came_back}:stop")
                one.post(f"/v1/sandboxes/{came_back}:resume")
                one.script(came_back, "echo again >> file")
                os.kill(one.launcher(), signal.SIGKILL)
                self.restart(one)
                self.assertEqual([one.inspect(box)["state"] for box in (kept, gone, came_back)],
                                 ["stopped", "failed", "stopped"])
                self.assertEqual(one.post(f"/v1/sandboxes/{kept}:resume")["state"], "running")
                self.assertEqual(one.post(f"/v1/sandboxes/{came_back}:resume")["state"], "running")
                self.assertEqual(one.script(kept, "cat file")["stdout"], f"{kept}\n")
                self.assertEqual(one.script(came_back, "cat file")["stdout"], f"{came_back}\nagain\n")

    def test_the_storage_process_is_killed(self):
        with Node() as one:
            kept = one.create(storage="directory", on_end="keep")
            one.script(kept, "echo 1 > file")
            os.kill(one.storage(), signal.SIGKILL)
            self.restart(one)
            self.assertEqual(one.inspect(kept)["state"], "stopped")
            one.post(f"/v1/sandboxes/{kept}:resume")
            self.assertEqual(one.script(kept, "cat file")["stdout"], "1\n")

    def test_its_first_process_is_killed(self):
        with Node() as one:
            kept = one.create(storage="directory", on_end="keep")
            one.script(kept, "echo 1 > file")
            self.assertEqual(len(one.guests()), 1)
            os.kill(one.guests()[0], signal.SIGKILL)
            self.wait(one, kept, "stopped")
            one.post(f"/v1/sandboxes/{kept}:resume")
            self.assertEqual(one.script(kept, "cat file")["stdout"], "1\n")

    def test_the_daemon_is_killed_while_it_stops(self):
        with Node() as one:
            # Not a wait for anything: the moments at which it is killed.
            for delay in (0, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1):
                box = one.create(storage="directory")
                one.script(box, "head -c 3000000 /dev/urandom > file; md5sum file > sum")
                connection = one.connection()
                connection.request("POST", f"/v1/sandboxes/{box}:stop")
                time.sleep(delay)
                one.kill()
                connection.close()
                one.start()
                self.assertFalse(node.await_none(lambda: one.inspect(box)["state"] not in ("stopped", "running"), 20), one.inspect(box))
                if one.inspect(box)["state"] == "stopped":
                    one.post(f"/v1/sandboxes/{box}:resume")
                self.assertEqual(one.script(box, "md5sum -c sum")["stdout"], "file: OK\n")
                one.delete(f"/v1/sandboxes/{box}")
            self.assertFalse(node.await_none(lambda: layers(one, "directory"), 10))

    def test_the_files_are_gone(self):
        with Node() as one:
            box = one.create(storage="directory")
            one.post(f"/v1/sandboxes/{box}:stop")
            subprocess.run(["rm", "-rf", f"{one.folder}/data/sandboxes/{box}"], check=True)
            with self.assertRaises(Problem) as gone:
                one.post(f"/v1/sandboxes/{box}:resume")
            self.assertEqual(gone.exception.status, 404)
            self.assertEqual(one.inspect(box)["state"], "failed")


if __name__ == "__main__":
    unittest.main()
