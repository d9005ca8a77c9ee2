#!/usr/bin/env python3
"""The commands for sandboxes that stay, against a node in memory. CAISSON_BIN is the program; no root, no sandbox."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True

import node_double
from node_double import SANDBOX

PROGRAM = os.environ["CAISSON_BIN"]


class CommandLine(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.folder.name)
        self.node = node_double.Node(str(self.path / "s"))
        self.environment = {"CAISSON_HOST": f"unix://{self.path}/s", "PATH": os.environ["PATH"], "TZ": "UTC"}

    def tearDown(self):
        self.node.shutdown()
        self.node.server_close()
        self.folder.cleanup()
        self.assertEqual(self.node.mismatches, [])

    def start(self, *words, **options):
        return subprocess.Popen([PROGRAM, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)

    def run_it(self, *words, given=None, status=0):
        options = {"input": given} if given is not None else {"stdin": subprocess.DEVNULL}
        done = subprocess.run([PROGRAM, *map(str, words)], env=self.environment, capture_output=True, timeout=50, **options)
        self.assertEqual(done.returncode, status, done)
        return done

    def test_create_says_what_is_wanted(self):
        done = self.run_it("create", "--memory", "512MiB", "--label", "a=b", "--idle-timeout", "15m", "web")
        self.assertEqual(done.stdout.decode(), SANDBOX + "\n")
        self.assertEqual(self.node.created[0]["memory_bytes"], 512 << 20)
        self.assertEqual(self.node.created[0]["idle_timeout_ms"], 900000)
        made = json.loads(self.run_it("create", "--json").stdout)
        self.assertEqual(made["id"], SANDBOX)
        refused = self.run_it("create", "--workspace", ".", "--json", status=3)
        self.assertEqual(json.loads(refused.stderr)["error"]["code"], "unsupported")
        self.assertEqual(len(self.node.created), 2)

    def test_create_gives_a_policy(self):
        file = self.path / "mine.json"
        file.write_text('{"version": 1}', encoding="utf-8")
        self.run_it("create", "--policy", "minimal")
        self.run_it("create", "--policy", file)
        self.run_it("create")
        self.assertEqual([body.get("policy") for body in self.node.created],
                         [{"preset": "minimal"}, {"text": '{"version": 1}', "format": "json", "name": "mine.json"}, None])
        (self.path / "link").symlink_to(file)
        for wrong in ("minimall", self.path / "nothing", self.path, self.path / "link", "/dev/zero"):
            self.run_it("create", "--policy", wrong, status=3)
        self.assertEqual(len(self.node.created), 3)

    def test_a_template_gives_its_policy(self):
        (self.path / "policy.toml").write_text("version = 1\n", encoding="utf-8")
        template = self.path / "caisson.toml"
        template.write_text('version = 1\npolicy = "policy.toml"\n', encoding="utf-8")
        self.run_it("create", "--template", template)
        self.run_it("create", "--template", template, "--policy", "strict")
        self.assertEqual([body.get("policy") for body in self.node.created],
                         [{"text": "version = 1\n", "format": "toml", "name": "policy.toml"}, {"preset": "strict"}])

    def test_tool_prints_a_result(self):
        done = self.run_it("tool", "web", "run_command", '{"command": "curl http://example.com"}')
        self.assertEqual(json.loads(done.stdout)["outcome"], "denied")
        self.assertEqual((done.stdout.count(b"\n"), done.stderr), (1, b""))
        self.assertEqual(self.node.called, [("run_command", {"command": "curl http://example.com"})])
        for given in ("{", "[]", '"ls"', ""):
            self.run_it("tool", "web", "run_command", given, status=2)
        near = self.run_it("tool", "web", "run_comand", "{}", status=2)
        self.assertIn(b"did you mean 'run_command'?", near.stderr)
        self.assertEqual(len(self.node.called), 1)
        refused = self.run_it("tool", "--json", "web", "run_command", '{"wrong": 1}', status=2)
        self.assertEqual(json.loads(refused.stderr)["error"]["code"], "invalid_argument")
        self.run_it("tool", "nobody", "run_command", '{"command": "ls"}', status=3)

    def test_list_and_inspect_are_safe_to_look_at(self):
        text = self.run_it("list").stdout.decode()
        self.assertEqual(text.splitlines()[0].split(), ["ID", "NAME", "STATE", "RUNS", "CREATED", "IMAGE", "LABELS"])
        self.assertIn("2027-01-31 09:30:00", text)
        self.assertNotIn("\x1b", text + self.run_it("inspect", "web").stdout.decode() + self.run_it("diff", "web").stdout.decode())
        lines = self.run_it("list", "--json", "--all").stdout.decode().splitlines()
        self.assertEqual([json.loads(line)["id"] for line in lines], [SANDBOX])
        self.assertEqual(json.loads(self.run_it("inspect", "--json", "web").stdout)["name"], "web")
        self.assertEqual(json.loads(self.run_it("diff", "--json", "web").stdout)["files_changed"][0]["change"], "created")

    def test_states(self):
        for verb, state in (("pause", "paused"), ("resume", "running"), ("stop", "stopped")):
            self.assertEqual(self.run_it(verb, "web").stdout.decode(), f"{SANDBOX} is {state}\n")
        self.assertEqual(json.loads(self.run_it("delete", "--json", "web").stdout), {"deleted": [SANDBOX]})
        gone = self.run_it("inspect", "web", status=3)
        self.assertIn(b"no sandbox web", gone.stderr)

    def test_exec_gives_output_and_status(self):
        done = self.run_it("exec", "web", "--", "echo", "hello", status=3)
        self.assertEqual(done.stdout, b"echo hello\xff\n")
        self.assertEqual(done.stderr, b"warned\n")
        result = self.run_it("exec", "--json", "web", "--", "echo", status=3)
        self.assertEqual(json.loads(result.stdout)["exit_code"], 3)
        self.assertEqual(result.stderr, b"")
        missing = self.run_it("exec", "web", "--", "missing", status=127)
        self.assertIn(b"hint: not in this image.", missing.stderr)
        self.run_it("exec", "nosuch", "--", "echo", status=125)
        self.run_it("exec", "web", status=125)

    def test_exec_forwards_input(self):
        given = os.urandom(150_000)
        self.assertEqual(self.run_it("exec", "web", "--", "cat", given=given).stdout, given)
        self.assertEqual(self.run_it("exec", "web", "--", "cat", given=b"").stdout, b"")

    def test_output_goes_on_after_a_lost_connection(self):
        self.assertEqual(self.run_it("exec", "web", "--", "cut").stdout, b"first second")

    def test_signals(self):
        running = self.start("exec", "web", "--", "hold", stdin=subprocess.DEVNULL)
        self.await_command()
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=50)
        self.assertEqual((running.returncode, self.node.signals), (130, ["SIGINT"]))

    def test_the_second_interrupt_cancels(self):
        running = self.start("exec", "web", "--", "hold", "stubborn", stdin=subprocess.DEVNULL)
        self.await_command()
        running.send_signal(signal.SIGINT)
        while not self.node.signals:
            time.sleep(0.01)
        running.send_signal(signal.SIGINT)
        _, said = running.communicate(timeout=50)
        self.assertEqual(running.returncode, 130)
        self.assertIn(b"cancelled", said)

    def await_command(self):
        """Until a command was started, which is when signals are watched."""
        while not self.node.commands:
            time.sleep(0.01)

    def test_background_logs_and_attach(self):
        command = self.run_it("exec", "--background", "web", "--", "cat").stdout.decode().strip()
        self.assertEqual(self.run_it("logs", "web").stdout, b"")
        self.assertEqual(self.run_it("attach", "web", command[:5], given=b"line\n").stdout, b"line\n")
        self.assertEqual(self.run_it("logs", "--follow", "web", command).stdout, b"line\n")
        self.assertEqual(json.loads(self.run_it("logs", "--json", "web").stdout)["result"]["outcome"], "exited")
        self.run_it("logs", "web", "cm_z", status=3)

    def test_copy_in(self):
        source = self.path / "src"
        (source / "sub" / "bare").mkdir(parents=True)
        (source / "run.sh").write_bytes(b"#!")
        (source / "run.sh").chmod(0o755)
        (source / "sub" / "empty").write_bytes(b"")
        (source / "large").write_bytes(b"x" * ((16 << 20) + 5))
        (source / "link").symlink_to("/etc/passwd")
        self.node.files["/home/agent/workspace"] = None
        done = self.run_it("copy", source, "web:", status=1)
        self.assertIn(b"link': a symbolic link", done.stderr)
        self.assertIn(b"copied 3 files, 16MiB", done.stderr.replace(b".0MiB", b"MiB"))
        place = "/home/agent/workspace/src"
        self.assertEqual(self.node.files[place + "/run.sh"], b"#!")
        self.assertEqual(self.node.files[place + "/sub/empty"], b"")
        self.assertEqual(len(self.node.files[place + "/large"]), (16 << 20) + 5)
        self.assertNotIn(place + "/link", self.node.files)
        ran = [command.body["argv"] for command in self.node.commands.values()]
        self.assertEqual(ran, [["mkdir", "-p", "--", place + "/sub/bare"], ["chmod", "a+x", "--", place + "/run.sh"]])
        self.run_it("copy", "--quiet", source / "run.sh", "web:/opt/tool")
        self.assertEqual(self.node.files["/opt/tool"], b"#!")

    def test_copy_out(self):
        large = os.urandom((16 << 20) + 7)
        self.node.files.update({"/": None, "/d": None, "/d/sub": None, "/d/sub/a b": b"text", "/d/large": large, "/d/empty": b"",
                                "/d/link": "link"})
        (self.path / "out").mkdir()
        (self.path / "precious").write_text("precious")
        done = self.run_it("copy", "web:/d", self.path / "out", status=1)
        self.assertIn(b"'/d/link': a symbolic link", done.stderr)
        copied = self.path / "out" / "d"
        self.assertEqual((copied / "sub" / "a b").read_bytes(), b"text")
        self.assertEqual((copied / "large").read_bytes(), large)
        self.assertEqual(sorted(os.listdir(copied)), ["empty", "large", "sub"])
        self.assertEqual((copied / "empty").stat().st_mode & 0o777, 0o755 & ~self.mask())
        # A link of this host below the folder is replaced, never followed.
        (copied / "empty").unlink()
        (copied / "empty").symlink_to(self.path / "precious")
        self.run_it("copy", "web:/d", self.path / "out", status=1)
        self.assertEqual((self.path / "precious").read_text(), "precious")
        self.assertFalse((copied / "empty").is_symlink())
        self.run_it("copy", "web:/d/sub/a b", self.path / "named")
        self.assertEqual((self.path / "named").read_bytes(), b"text")
        self.run_it("copy", "web:/nothing", self.path / "nothing", status=3)
        self.assertFalse((self.path / "nothing").exists())

    @staticmethod
    def mask():
        mask = os.umask(0)
        os.umask(mask)
        return mask

    def test_a_node_that_is_not_there(self):
        self.environment["CAISSON_HOST"] = f"unix://{self.path}/other"
        done = self.run_it("list", "--json", status=3)
        self.assertEqual(json.loads(done.stderr)["error"]["code"], "unavailable")


if __name__ == "__main__":
    unittest.main()
