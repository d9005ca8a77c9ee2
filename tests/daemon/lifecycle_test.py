"""A sandbox that stays, from its making to its end, through the daemon."""

import os
import subprocess
import tempfile
import time
import unittest

import node
from node import Node, Problem


class Lifecycle(unittest.TestCase):
    def test_a_sandbox_from_its_making_to_its_end(self):
        with Node() as one:
            made = one.post("/v1/sandboxes", {"name": "first", "storage": "tmpfs", "labels": {"team": "blue"},
                                              "env": {"GREETING": "hello"}, "memory_bytes": 256 << 20})
            self.assertEqual(made["state"], "running")
            self.assertEqual(made["memory_bytes"], 256 << 20)
            result = one.script("first", "echo $GREETING; echo bad >&2; echo x > file; exit 3")
            self.assertEqual((result["outcome"], result["exit_code"]), ("exited", 3))
            self.assertEqual((result["stdout"], result["stderr"]), ("hello\n", "bad\n"))
            self.assertEqual(result["step"], 1)
            self.assertEqual([change["path"] for change in result["files_changed"]], ["/home/agent/workspace/file"])
            self.assertEqual(one.script(made["id"][:12], "cat file")["stdout"], "x\n")
            self.assertEqual([item["id"] for item in one.list_all(label="team=blue")], [made["id"]])
            self.assertEqual(one.list_all(label="team=red"), [])
            self.assertEqual(one.inspect("first")["steps"], 2)
            deleted = one.delete("/v1/sandboxes/first")
            self.assertEqual(deleted["state"], "deleted")
            self.assertEqual(one.delete(f"/v1/sandboxes/{made['id']}")["state"], "deleted")
            with self.assertRaises(Problem) as refused:
                one.script(made["id"], "true")
            self.assertEqual(refused.exception.code, "conflict")
            self.assertEqual([event["event"] for event in one.events()],
                             ["sandbox.pending", "sandbox.running", "command.ended", "command.ended", "sandbox.deleted"])

    def test_files(self):
        with Node() as one:
            box = one.create()
            path = f"/v1/sandboxes/{box}/files/home/agent/workspace/a/b.bin"
            content = os.urandom(300_000)
            octets = {"Content-Type": "application/octet-stream"}
            self.assertEqual(one.ask("PUT", path, content, octets)["wrote"], "created")
            self.assertEqual(one.get(path), content)
            response, part = one.exchange("GET", path, headers={"Range": "bytes=100-199"})
            self.assertEqual((response.status, part), (206, content[100:200]))
            names = [entry["name"] for entry in one.get(f"/v1/sandboxes/{box}/files/home/agent/workspace/a?list")["items"]]
            self.assertEqual(names, ["b.bin"])
            self.assertEqual(one.script(box, "sha256sum a/b.bin | cut -c1-8")["exit_code"], 0)
            changed = {item["path"] for item in one.get(f"/v1/sandboxes/{box}/changes")["items"]}
            self.assertIn("/home/agent/workspace/a/b.bin", changed)
            one.delete(path)
            with self.assertRaises(Problem) as gone:
                one.get(path)
            self.assertEqual(gone.exception.code, "not_found")

    def test_an_open_input_and_a_signal(self):
        with Node() as one:
            box = one.create()
            command = one.begin(box, "while read line; do echo got $line; done; echo end", input="open")
            base = f"/v1/sandboxes/{box}/commands/{command}"
            octets = {"Content-Type": "application/octet-stream"}
            self.assertEqual(one.post(base + "/input", b"one\n", headers=octets)["accepted_bytes"], 4)
            one.post(base + "/input?close=true", b"two\n", headers=octets)
            self.assertEqual(one.await_end(box, command)["stdout"], "got one\ngot two\nend\n")
            trapped = one.begin(box, "trap 'echo caught; exit 5' INT; echo ready; while :; do sleep 0.05; done")
            while one.output(box, trapped, follow=False) != b"ready\n":
                time.sleep(0.02)
            one.post(f"/v1/sandboxes/{box}/commands/{trapped}/signal", {"signal": "SIGINT"})
            self.assertEqual(one.await_end(box, trapped)["exit_code"], 5)
            endless = one.begin(box, "sleep 1000")
            one.delete(f"/v1/sandboxes/{box}/commands/{endless}")
            self.assertEqual(one.await_end(box, endless)["outcome"], "cancelled")

    def test_a_first_input_longer_than_a_pipe(self):
        with Node() as one:
            box = one.create()
            text = "0123456789abcde\n" * (1 << 16)
            self.assertEqual(one.run(box, "wc", "-c", stdin=text)["stdout"].strip(), str(len(text)))
            # One that does not read delays nobody.
            command = one.post(f"/v1/sandboxes/{box}/commands", {"argv": ["sleep", "1000"], "stdin": text,
                                                                 "background": True})["id"]
            self.assertEqual(one.post(f"/v1/sandboxes/{box}:pause")["state"], "paused")
            self.assertEqual(one.post(f"/v1/sandboxes/{box}:resume")["state"], "running")
            one.delete(f"/v1/sandboxes/{box}/commands/{command}")
            self.assertEqual(one.await_end(box, command)["outcome"], "cancelled")

    def test_a_pause_stops_the_time_out_and_nothing_runs_meanwhile(self):
        with Node() as one:
            box = one.create()
            command = one.begin(box, "sleep 0.6; echo done", timeout_ms=1500)
            self.assertEqual(one.post(f"/v1/sandboxes/{box}:pause")["state"], "paused")
            time.sleep(2)
            with self.assertRaises(Problem) as refused:
                one.script(box, "true")
            self.assertEqual(refused.exception.code, "conflict")
            self.assertEqual(one.command_of(box, command)["state"], "running")
            self.assertEqual(one.post(f"/v1/sandboxes/{box}:resume")["state"], "running")
            result = one.await_end(box, command)
            self.assertEqual((result["outcome"], result["stdout"]), ("exited", "done\n"))

    def test_a_paused_sandbox_can_be_deleted(self):
        with Node() as one:
            box = one.create()
            command = one.begin(box, "sleep 1000")
            one.post(f"/v1/sandboxes/{box}:pause")
            self.assertEqual(one.delete(f"/v1/sandboxes/{box}")["state"], "deleted")
            self.assertEqual(one.command_of(box, command)["state"], "ended")

    def test_time_outs_of_a_sandbox(self):
        with Node() as one:
            idle = one.create(idle_timeout_ms=1000)
            busy = one.create(idle_timeout_ms=1000)
            short = one.create(max_lifetime_ms=1000)
            command = one.begin(busy, "sleep 4; echo ok")
            for box, why in ((idle, "idle_timeout"), (short, "max_lifetime")):
                left = node.await_none(lambda box=box: one.inspect(box)["state"] != "deleted", 10)
                self.assertFalse(left)
                self.assertEqual(one.inspect(box)["reason"], why)
            self.assertEqual(one.await_end(busy, command)["stdout"], "ok\n")

    def test_the_same_key_makes_one_sandbox(self):
        with Node() as one:
            body = {"storage": "tmpfs"}
            first = one.post("/v1/sandboxes", body, headers={"Idempotency-Key": "k1"})
            again = one.post("/v1/sandboxes", body, headers={"Idempotency-Key": "k1"})
            self.assertEqual(first["id"], again["id"])
            with self.assertRaises(Problem) as other:
                one.post("/v1/sandboxes", {"storage": "tmpfs", "pids": 99}, headers={"Idempotency-Key": "k1"})
            self.assertEqual(other.exception.code, "conflict")

    def test_the_daemon_has_no_rights(self):
        with Node() as one:
            one.create()
            pid = one.process.pid
            for name in ("Uid", "Gid"):
                self.assertEqual(set(node.status_field(pid, name)), {"1879048193"})
            for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                self.assertEqual(int(node.status_field(pid, name)[0], 16), 0, name)
            self.assertEqual(node.status_field(pid, "NoNewPrivs"), ["1"])
            self.assertEqual(node.status_field(pid, "Groups"), [])
            self.assertEqual(os.stat(one.socket).st_mode & 0o777, 0o600)

    def test_a_workspace_is_made_of_what_was_left_at_the_door(self):
        with Node() as one, tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            with open(folder + "/given", "w", encoding="utf-8") as file:
                file.write("given\n")
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            for mode, written in (("ro", False), ("rw", True)):
                ticket, door = one.deposit(descriptor)
                box = one.create(workspace={"ticket": ticket, "mode": mode})
                door.close()
                result = one.script(box, f"cat given && echo new > {mode}")
                self.assertEqual((result["stdout"], result["exit_code"] == 0), ("given\n", written))
                self.assertEqual(os.path.exists(f"{folder}/{mode}"), written)
                with self.assertRaises(Problem) as used:
                    one.create(workspace={"ticket": ticket, "mode": mode})
                self.assertEqual(used.exception.code, "not_found")
            os.close(descriptor)

    def test_the_copy_of_a_workspace_goes_with_its_sandbox(self):
        with Node() as one:
            copies = one.folder + "/data/copies"
            with one.copied_workspace("copied\n") as ticket:
                box = one.create(workspace={"ticket": ticket, "mode": "copy"})
            self.assertEqual(one.script(box, "cat file; echo more >> file")["stdout"], "copied\n")
            one.kill()
            one.start()
            self.assertEqual(one.script(box, "cat file")["stdout"], "copied\nmore\n")
            one.delete(f"/v1/sandboxes/{box}")
            self.assertFalse(node.await_none(lambda: os.listdir(copies), 10))

    def test_the_example_over_plain_http(self):
        example = node.pathlib.Path(__file__).resolve().parent.parent.parent / "examples" / "http" / "session.py"
        with Node() as one:
            run = subprocess.run([str(example), one.socket], capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            self.assertIn("exited 0", run.stdout)
            self.assertIn(": 5050\n", run.stdout)
            self.assertIn("created /home/agent/workspace/result.txt\n", run.stdout)
            self.assertEqual(one.list_all(), [])

    def test_a_second_daemon_names_the_first(self):
        with Node() as one:
            other = [*one.command()]
            other[other.index("--socket") + 1] = one.folder + "/other.sock"
            second = subprocess.run(other, capture_output=True, text=True, timeout=20, check=False)
            self.assertEqual(second.returncode, 3)
            self.assertIn(str(one.process.pid), second.stderr)
            one.get("/healthz")


if __name__ == "__main__":
    node.require_root()
    unittest.main()
