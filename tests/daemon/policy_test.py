"""What tools may do in a sandbox, through the daemon."""

import concurrent.futures
import datetime
import json
import subprocess
import tempfile
import unittest

import node
from node import Node, Problem

LIST = """
version = 1
default = "deny"

[[rule]]
name = "look"
effect = "allow"
commands = ["ls", "cat", "sleep", "python3", "echo"]

[[rule]]
name = "workspace"
effect = "allow"
actions = ["file.read", "file.write", "file.delete"]
paths = ["/home/agent/workspace/**"]

[[rule]]
name = "once"
effect = "allow"
commands = ["id"]
max_uses = 1

[[rule]]
name = "publish"
effect = "ask"
commands = ["git push"]
reason = "publishes work"
"""


def call(one, sandbox, command, **more):
    return one.post(f"/v1/sandboxes/{sandbox}/tools/run_command", {"command": command, **more})


def codes(result):
    return [hint["code"] for hint in result["hints"]]


class Policy(unittest.TestCase):
    def listed(self, one, **more):
        return one.create(policy={"text": LIST, "name": "policy.toml"}, **more)

    def test_an_allowed_call_runs_as_the_agent_and_says_why(self):
        with Node() as one:
            box = self.listed(one)
            result = call(one, box, "echo $A; cat - > out; cat out", env={"A": "1"}, stdin="given\n")
            self.assertEqual((result["outcome"], result["exit_code"], result["stdout"]), ("exited", 0, "1\ngiven\n"), result)
            self.assertEqual(result["decision"]["effect"], "allow")
            self.assertEqual((result["decision"]["rule"], result["decision"]["source"]), ("look", "policy.toml:5"))
            self.assertEqual([change["path"] for change in result["files_changed"]], ["/home/agent/workspace/out"])
            command = result["data"]["command_id"]
            self.assertEqual(one.command_of(box, command)["result"]["decision"], result["decision"])
            argv = one.post(f"/v1/sandboxes/{box}/tools/run_command", {"argv": ["ls", "/"], "cwd": "/"})
            self.assertEqual(argv["exit_code"], 0)
            who = call(one, box, "python3 -c 'import os; print(os.getuid())'")
            self.assertEqual(who["stdout"], "1000\n", who)
            slow = call(one, box, "sleep 60", timeout=0.2)
            self.assertEqual(slow["outcome"], "timed_out")

    def test_a_denied_call_takes_a_step_and_nothing_runs(self):
        with Node() as one:
            box = self.listed(one)
            call(one, box, "echo x > kept")
            result = call(one, box, "rm -f kept")
            self.assertEqual((result["outcome"], result["exit_code"], result["step"]), ("denied", None, 2))
            self.assertEqual((result["decision"]["effect"], result["decision"]["rule"]), ("deny", "default"))
            self.assertEqual(codes(result), ["denied_by_policy"])
            self.assertIn("os.remove", result["hints"][0]["suggestion"])
            self.assertEqual(call(one, box, "cat kept")["stdout"], "x\n")
            listed = one.get(f"/v1/sandboxes/{box}/commands")["items"]
            self.assertEqual([item["outcome"] for item in listed], ["exited", "denied", "exited"])
            self.assertEqual(one.inspect(box)["steps"], 3)
            told = [json.loads(event["data"]) for event in one.events() if event["event"] == "command.ended"]
            self.assertEqual([event["detail"] for event in told], ["exited", "denied", "exited"])
            self.assertEqual(call(one, box, "rm x", background=True)["outcome"], "denied")
            self.assertEqual(codes(call(one, box, "$(cat kept)")), ["too_complex_command"])
            preloaded = call(one, box, "ls", env={"LD_PRELOAD": "/tmp/x.so"})
            self.assertEqual((preloaded["outcome"], preloaded["decision"]["rule"]), ("denied", "environment"))

    def test_what_is_to_be_approved_waits_for_nobody(self):
        with Node() as one:
            box = self.listed(one)
            result = call(one, box, "git push origin main")
            self.assertEqual(result["outcome"], "needs_approval")
            self.assertEqual((result["decision"]["effect"], result["decision"]["rule"]), ("ask", "publish"))
            self.assertRegex(result["decision"]["approval"], "^ap_[a-z2-7]{26}$")
            self.assertIn("nobody can approve it yet", result["decision"]["reason"])
            again = call(one, box, "git push origin main")
            self.assertNotEqual(again["decision"]["approval"], result["decision"]["approval"])

    def test_the_kernel_holds_what_was_let_run(self):
        with Node() as one:
            box = self.listed(one)
            result = call(one, box, "python3 -c 'import os; os.execv(\"/usr/bin/id\", [\"id\"])'")
            self.assertIn("PermissionError", result["stderr"], result)
            result = call(one, box, "python3 -c 'open(\"/tmp/out\", \"w\")'")
            self.assertIn("PermissionError", result["stderr"], result)
            # A copy in the workspace, which is noexec under a list.
            result = call(one, box, "python3 -c 'import os, shutil; shutil.copy(\"/usr/bin/id\", \"x\"); os.execv(\"./x\", [\"x\"])'")
            self.assertIn("PermissionError", result["stderr"], result)

    def test_a_call_in_the_background(self):
        with Node() as one:
            box = self.listed(one)
            begun = call(one, box, "sleep 0.3; echo done", background=True)
            self.assertEqual((begun["outcome"], begun["exit_code"]), ("completed", None))
            result = one.await_end(box, begun["data"]["command_id"])
            self.assertEqual((result["stdout"], result["step"], result["decision"]), ("done\n", begun["step"], begun["decision"]))

    def test_of_fifty_callers_one_gets_the_only_use(self):
        with Node() as one:
            box = self.listed(one)
            with concurrent.futures.ThreadPoolExecutor(50) as callers:
                results = list(callers.map(lambda _: call(one, box, "id"), range(50)))
            outcomes = sorted(result["outcome"] for result in results)
            self.assertEqual(outcomes, ["denied"] * 49 + ["exited"])
            (granted,) = [result for result in results if result["outcome"] == "exited"]
            self.assertEqual((granted["exit_code"], granted["decision"]["rule"]), (0, "once"), granted)

    def test_policy_and_uses_outlive_the_daemon(self):
        with Node() as one:
            box = self.listed(one, storage="directory")
            begun = call(one, box, "sleep 1; echo done", background=True)
            self.assertEqual(call(one, box, "id")["exit_code"], 0)
            before = one.get(f"/v1/sandboxes/{box}/policy")
            self.assertEqual((before["name"], before["preset"], before["text"]), ("policy.toml", None, LIST))
            one.kill()
            one.start()
            self.assertEqual(one.get(f"/v1/sandboxes/{box}/policy"), before)
            self.assertEqual(one.inspect(box)["policy"], {"name": "policy.toml", "digest": before["digest"]})
            self.assertEqual(call(one, box, "id")["outcome"], "denied")
            self.assertEqual(call(one, box, "ls")["exit_code"], 0)
            result = one.await_end(box, begun["data"]["command_id"])
            self.assertEqual((result["stdout"], result["decision"]["rule"]), ("done\n", "look"))
            one.post(f"/v1/sandboxes/{box}:stop")
            one.post(f"/v1/sandboxes/{box}:resume")
            self.assertEqual(call(one, box, "id")["outcome"], "denied")
            again = call(one, box, "python3 -c 'import os, shutil; shutil.copy(\"/usr/bin/id\", \"x\"); os.execv(\"./x\", [\"x\"])'")
            self.assertIn("PermissionError", again["stderr"], again)

    def test_another_policy_counts_from_the_next_step_on(self):
        with Node() as one:
            box = one.create(policy={"preset": "minimal"})
            waits = "python3 -c 'import os, time\nwhile not os.path.exists(\"x\"): time.sleep(0.01)\nprint(1)'"
            running = call(one, box, waits, background=True)
            self.assertEqual(call(one, box, "touch x")["outcome"], "needs_approval")
            set_to = one.ask("PUT", f"/v1/sandboxes/{box}/policy", {"preset": "open"})
            self.assertEqual((set_to["name"], set_to["preset"]), ("open", "open"))
            result = call(one, box, "touch x")
            self.assertEqual((result["outcome"], result["exit_code"]), ("exited", 0), result)
            one.ask("PUT", f"/v1/sandboxes/{box}/policy", {"preset": "strict"})
            self.assertEqual(call(one, box, "touch x")["outcome"], "denied")
            self.assertEqual(one.await_end(box, running["data"]["command_id"])["stdout"], "1\n")
            changes = [json.loads(event["data"]) for event in one.events() if event["event"] == "sandbox.policy_changed"]
            self.assertEqual([event["detail"].split()[0] for event in changes], ["open", "strict"])
            # Uses are those of a policy, wherever it was in between.
            one.ask("PUT", f"/v1/sandboxes/{box}/policy", {"text": LIST})
            self.assertEqual(call(one, box, "id")["outcome"], "exited")
            one.ask("PUT", f"/v1/sandboxes/{box}/policy", {"preset": "strict"})
            one.ask("PUT", f"/v1/sandboxes/{box}/policy", {"text": "# the same\n" + LIST})
            self.assertEqual(call(one, box, "id")["outcome"], "denied")
            # What an operator runs follows none.
            self.assertEqual(one.run(box, "touch", "y")["exit_code"], 0)

    def stopping(self, seconds):
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
        return LIST + f'''
[[rule]]
name = "short"
effect = "allow"
commands = ["tail", "cp"]
expires_at = {end.isoformat(timespec="milliseconds")}
on_end = "stop"
'''

    def test_what_rests_on_a_rule_is_stopped_when_its_time_is_over(self):
        with Node() as one:
            box = one.create(policy={"text": self.stopping(4)}, storage="directory")
            stopped = call(one, box, "tail -f /dev/null", background=True, timeout=600)
            stopped_after_a_restart = call(one, box, "echo begun; tail -f /dev/null", background=True, timeout=600)
            goes_on = call(one, box, "while :; do sleep 0.1; done", background=True, timeout=600)
            # The right is lent to what is stopped with it, and to nothing else.
            aside = call(one, box, "python3 -c 'import os; os.execv(\"/usr/bin/cp\", [\"cp\", \"a\", \"b\"])'")
            self.assertIn("PermissionError", aside["stderr"], aside)
            self.assertEqual(call(one, box, "echo x > a; cp a b")["exit_code"], 0)
            one.kill()
            one.start()
            for begun in (stopped, stopped_after_a_restart):
                result = one.await_end(box, begun["data"]["command_id"])
                self.assertEqual((result["outcome"], result["decision"]["effect"], result["decision"]["rule"]), ("cancelled", "deny", "short"), result)
                self.assertIn("ended at", result["decision"]["reason"])
                self.assertEqual(codes(result), ["denied_by_policy"])
            self.assertEqual(result["stdout"], "begun\n")
            self.assertEqual(one.command_of(box, goes_on["data"]["command_id"])["state"], "running")
            self.assertEqual(call(one, box, "tail a")["outcome"], "denied")

    def test_a_new_policy_can_stop_what_runs(self):
        with Node() as one:
            box = one.create(policy={"text": LIST})
            begun = [call(one, box, "sleep 600", background=True, timeout=900)["data"]["command_id"] for _ in range(3)]
            of_operator = one.post(f"/v1/sandboxes/{box}/commands", {"argv": ["sleep", "600"], "background": True, "timeout_ms": 900000})["id"]
            one.ask("PUT", f"/v1/sandboxes/{box}/policy?running=finish", {"preset": "strict"})
            self.assertEqual({one.command_of(box, command)["state"] for command in begun}, {"running"})
            with self.assertRaises(Problem) as wrong:
                one.ask("PUT", f"/v1/sandboxes/{box}/policy?running=now", {"preset": "strict"})
            self.assertEqual(wrong.exception.code, "invalid_argument")
            one.ask("PUT", f"/v1/sandboxes/{box}/policy?running=stop", {"preset": "read_only"})
            for command in begun:
                result = one.await_end(box, command)
                self.assertEqual((result["outcome"], result["decision"]["effect"]), ("cancelled", "deny"), result)
                self.assertIn("another policy", result["decision"]["reason"])
            self.assertEqual(one.command_of(box, of_operator)["state"], "running")
            # Of one that is paused they end when it goes on.
            frozen = call(one, box, "cat /dev/zero > /dev/null", background=True, timeout=900)["data"]["command_id"]
            one.post(f"/v1/sandboxes/{box}:pause")
            one.ask("PUT", f"/v1/sandboxes/{box}/policy?running=stop", {"preset": "strict"})
            one.post(f"/v1/sandboxes/{box}:resume")
            self.assertEqual(one.await_end(box, frozen)["outcome"], "cancelled")

    def test_an_operator_s_command_follows_the_policy_it_is_given(self):
        with Node() as one:
            box = self.listed(one)
            path = f"/v1/sandboxes/{box}/commands"
            denied = one.post(path, {"argv": ["rm", "x"], "policy": {"preset": "strict"}})
            self.assertEqual((denied["outcome"], denied["decision"]["effect"]), ("denied", "deny"), denied)
            allowed = one.post(path, {"argv": ["ls", "/"], "env": {"A": "1"}, "policy": {"preset": "strict"}})
            self.assertEqual((allowed["exit_code"], allowed["decision"]["rule"]), (0, "toolchain"), allowed)
            held = one.post(path, {"argv": ["python3", "-c", "import os; os.execv('/usr/bin/id', ['id'])"], "policy": {"text": LIST}})
            self.assertIn("PermissionError", held["stderr"], held)
            self.assertEqual(one.post(path, {"argv": ["id"], "policy": {"preset": "open"}})["decision"], None)
            self.assertEqual(one.post(path, {"argv": ["rm", "-f", "x"]})["exit_code"], 0)
            self.assertEqual(one.post(path, {"argv": ["rm", "x"], "background": True, "policy": {"preset": "strict"}})["state"], "ended")
            for more in ({"user": "root", "policy": {"preset": "strict"}}, {"policy": {"preset": "strikt"}}, {"policy": {"text": "version = 7"}}):
                with self.assertRaises(Problem) as wrong:
                    one.post(path, {"argv": ["ls"], **more})
                self.assertEqual(wrong.exception.code, "invalid_argument", more)
            free = one.create(storage="tmpfs")
            with self.assertRaises(Problem) as conflict:
                one.post(f"/v1/sandboxes/{free}/commands", {"argv": ["ls"], "policy": {"preset": "strict"}})
            self.assertEqual(conflict.exception.code, "conflict")

    def test_a_policy_that_cannot_be_held_there_is_refused(self):
        with Node() as one:
            box = one.create(storage="directory")
            self.assertEqual(one.inspect(box)["policy"]["name"], "standard")
            for _ in range(2):
                with self.assertRaises(Problem) as refused:
                    one.ask("PUT", f"/v1/sandboxes/{box}/policy", {"preset": "minimal"})
                self.assertEqual(refused.exception.code, "conflict")
                self.assertEqual(one.get(f"/v1/sandboxes/{box}/policy")["preset"], "standard")
                one.post(f"/v1/sandboxes/{box}:stop")
            self.assertEqual(one.ask("PUT", f"/v1/sandboxes/{box}/policy", {"preset": "open"})["preset"], "open")
            one.post(f"/v1/sandboxes/{box}:resume")
            self.assertEqual(call(one, box, "touch x && cp /usr/bin/id y && ./y")["exit_code"], 0)

    def test_what_is_wrong_is_refused_and_nothing_is_made(self):
        with Node() as one:
            for policy, word in (({"text": "version = 1\ndefault = \"maybe\"", "name": "mine.toml"}, "mine.toml:2"),
                                 ({"text": "version = 1\nrules = []"}, "policy.toml:2"), ({"preset": "standart"}, "standard"),
                                 ({"text": "{", "format": "json"}, "policy.json:1")):
                with self.assertRaises(Problem) as refused:
                    one.create(policy=policy)
                self.assertEqual((refused.exception.status, refused.exception.code), (400, "invalid_argument"))
                self.assertIn(word, json.dumps(refused.exception.body))
            self.assertEqual(one.list_all(), [])
            box = one.create()
            with self.assertRaises(Problem):
                one.ask("PUT", f"/v1/sandboxes/{box}/policy", {"text": "version = 2"})
            self.assertEqual(one.get(f"/v1/sandboxes/{box}/policy")["preset"], "standard")
            for body in ({}, {"command": "ls", "argv": ["ls"]}, {"command": "ls", "shell": "zsh"}, {"command": "ls", "cwd": "x"}):
                with self.assertRaises(Problem) as wrong:
                    one.post(f"/v1/sandboxes/{box}/tools/run_command", body)
                self.assertEqual(wrong.exception.code, "invalid_argument")
            with self.assertRaises(Problem) as text:
                one.post(f"/v1/sandboxes/{box}/tools/run_command", b'{"command": "ls"', headers={"Content-Type": "application/json"})
            self.assertEqual(text.exception.code, "invalid_argument")
            self.assertEqual(one.inspect(box)["steps"], 0)

    def test_the_command_line(self):
        program = str(node.program_folder() / "caisson")
        with Node() as one, tempfile.TemporaryDirectory() as folder:
            environment = {"CAISSON_HOST": "unix://" + one.socket, "PATH": "/usr/bin:/bin"}

            def run(*words):
                return subprocess.run([program, *words], env=environment, capture_output=True, text=True, timeout=60, check=False)

            file = folder + "/mine.toml"
            with open(file, "w", encoding="utf-8") as policy:
                policy.write(LIST)
            made = run("create", "--storage", "tmpfs", "--policy", file, "web")
            self.assertEqual(made.returncode, 0, made)
            self.assertEqual(one.inspect("web")["policy"]["name"], "mine.toml")
            allowed = run("tool", "web", "run_command", '{"command": "echo hello"}')
            self.assertEqual((allowed.returncode, allowed.stderr), (0, ""))
            self.assertEqual(json.loads(allowed.stdout)["stdout"], "hello\n")
            self.assertEqual(allowed.stdout.count("\n"), 1)
            denied = run("tool", "web", "run_command", '{"command": "rm x"}')
            self.assertEqual((denied.returncode, json.loads(denied.stdout)["outcome"]), (0, "denied"))
            refused = run("exec", "--policy", "minimal", "web", "--", "rm", "x")
            self.assertEqual(refused.returncode, 126, refused)
            self.assertIn("no rule allows it", refused.stderr)
            ran = run("exec", "--policy", file, "web", "--", "echo", "hello")
            self.assertEqual((ran.returncode, ran.stdout), (0, "hello\n"), ran)
            self.assertEqual(run("exec", "--policy", "strikt", "web", "--", "ls").returncode, 125)
            for words, status in ((("web", "run_command", "{"), 2), (("web", "run_command", "[]"), 2),
                                  (("web", "run_command", '{"comand": "ls"}'), 2), (("web", "run_comand", "{}"), 2),
                                  (("nobody", "run_command", '{"command": "ls"}'), 3)):
                wrong = run("tool", *words)
                self.assertEqual((wrong.returncode, wrong.stdout), (status, ""), wrong)
                self.assertNotEqual(wrong.stderr, "")
            for policy in ("standart", folder, "/dev/zero"):
                self.assertEqual(run("create", "--storage", "tmpfs", "--policy", policy).returncode, 3, policy)
            self.assertEqual(run("create", "--storage", "tmpfs", "--policy", "strict", "other").returncode, 0)
            template = folder + "/caisson.toml"
            with open(template, "w", encoding="utf-8") as written:
                written.write("version = 1\npolicy = 'read_only'\n[limits]\npids = 99\n")
            self.assertEqual(run("create", "--storage", "tmpfs", "--template", template, "--cpus", "1", "third").returncode, 0)
            sources = one.inspect("third")["sources"]
            self.assertEqual((sources["pids"], sources["policy"]), (template + ":4", template + ":2"))
            self.assertEqual((sources["cpus"], sources["storage"], sources["env"]), ("--cpus", "--storage", "default"))
            shown = run("inspect", "third").stdout
            self.assertRegex(shown, f"pids: +99  \\({template}:4\\)\n")
            self.assertRegex(shown, r"memory_bytes: +\d+  \(default\)\n")
            made = one.create(storage="tmpfs", pids=7)
            self.assertEqual([one.inspect(made)["sources"][name] for name in ("pids", "storage", "cpus")], ["request", "request", "default"])
            self.assertEqual(one.inspect("other")["policy"]["name"], "strict")


if __name__ == "__main__":
    node.require_root()
    unittest.main()
