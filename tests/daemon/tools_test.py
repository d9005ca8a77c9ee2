"""The tools that are no command, through the daemon: files under the policy, and what is refused."""

import base64
import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import unittest

import node
from node import Node, Problem
from openapi_check import jsonschema

TOOLS = {path.stem: json.loads(path.read_text(encoding="utf-8"))
         for path in (pathlib.Path(__file__).resolve().parents[2] / "api" / "tools").glob("*.json")}

NARROW = """
version = 1
default = "deny"

[[rule]]
name = "src"
effect = "allow"
actions = ["file.read", "file.write", "file.delete"]
paths = ["/home/agent/workspace/src/**"]

[[rule]]
name = "notes"
effect = "allow"
actions = ["file.read", "file.write"]
paths = ["/home/agent/workspace/notes/**"]

[[rule]]
name = "words only"
effect = "deny"
actions = ["file.read"]
paths = ["/home/agent/workspace/src/*.key"]
enforcement = "tool"

[[rule]]
name = "ask"
effect = "ask"
actions = ["file.write", "file.delete"]
paths = ["/srv/**"]
reason = "somebody else's"
"""


def sha(text):
    return hashlib.sha256(text if isinstance(text, bytes) else text.encode()).hexdigest()


class Tools(unittest.TestCase):
    def call(self, one, box, tool, **given):
        """The result of a call, which is as the tool says."""
        result = one.post(f"/v1/sandboxes/{box}/tools/{tool}", given)
        self.assertEqual(result["tool"], tool)
        if result["outcome"] in ("denied", "needs_approval"):
            self.assertTrue(result["data"] is None or tool == "run_command", result)
        else:
            jsonschema.Draft202012Validator(TOOLS[tool]["dataSchema"]).validate(result["data"])
        return result

    def refused(self, one, box, tool, code, **given):
        with self.assertRaises(Problem) as problem:
            one.post(f"/v1/sandboxes/{box}/tools/{tool}", given)
        self.assertEqual(problem.exception.code, code, problem.exception.body)
        return problem.exception.body

    def test_the_work_of_an_agent(self):
        with Node() as one:
            box = one.create(policy={"preset": "minimal"})
            self.assertEqual(self.call(one, box, "list_directory")["data"]["entries"], [])
            wrote = self.call(one, box, "write_file", path="test.py", content="assert 1 + 1 == 3\n")
            self.assertEqual((wrote["outcome"], wrote["data"]["wrote"], wrote["step"]), ("completed", "created", 2))
            self.assertEqual([(c["path"], c["change"], c["size_bytes"]) for c in wrote["files_changed"]],
                             [("/home/agent/workspace/test.py", "created", 18)])
            self.assertEqual(wrote["decision"]["effect"], "allow")
            self.assertEqual(self.call(one, box, "run_command", command="python3 test.py")["exit_code"], 1)
            read = self.call(one, box, "read_file", path="test.py")
            self.assertEqual((read["data"]["content"], read["data"]["sha256"]), ("assert 1 + 1 == 3\n", sha("assert 1 + 1 == 3\n")))
            self.assertEqual(read["files_changed"], [])
            edited = self.call(one, box, "edit_file", path="test.py", old_text="== 3", new_text="== 2",
                               expected_sha256=read["data"]["sha256"])
            self.assertEqual((edited["data"]["line"], edited["data"]["sha256"]), (1, sha("assert 1 + 1 == 2\n")))
            self.assertEqual(edited["files_changed"][0]["change"], "modified")
            self.assertEqual(self.call(one, box, "run_command", command="python3 test.py")["exit_code"], 0)
            denied = self.call(one, box, "run_command", command="rm -rf .")
            self.assertEqual(denied["outcome"], "needs_approval")
            changes = self.call(one, box, "list_changes")["data"]
            self.assertIn("/home/agent/workspace/test.py", [change["path"] for change in changes["changes"]])
            around = self.call(one, box, "get_environment")["data"]
            self.assertEqual((around["policy"]["name"], around["policy"]["otherwise"], around["network"]), ("minimal", "ask", "none"))
            self.assertIn("git", around["policy"]["commands"])
            self.assertEqual(one.inspect(box)["steps"], 9)
            told = [json.loads(event["data"])["detail"] for event in one.events() if event["event"] == "tool.called"]
            self.assertEqual(told, ["list_directory", "write_file", "read_file", "edit_file", "list_changes", "get_environment"])

    def test_files_follow_the_policy_and_the_kernel(self):
        with Node() as one:
            box = one.create(policy={"text": NARROW})
            one.run(box, "mkdir", "-p", "src", "notes")
            one.run(box, "ln", "-s", "/etc/passwd", "src/link")
            self.assertEqual(self.call(one, box, "write_file", path="src/a", content="x")["outcome"], "completed")
            for tool, given in (("write_file", {"path": "b", "content": "x"}), ("read_file", {"path": "/home/agent/.profile"}),
                                ("write_file", {"path": "src/../b", "content": "x"}), ("write_file", {"path": "/etc/x", "content": "x"}),
                                ("read_file", {"path": "src/link"}), ("write_file", {"path": "src/link", "content": "x"}),
                                ("edit_file", {"path": "b", "old_text": "x", "new_text": "y"})):
                result = self.call(one, box, tool, **given)
                self.assertEqual((result["outcome"], result["decision"]["effect"]), ("denied", "deny"), (tool, given, result))
                self.assertEqual([hint["code"] for hint in result["hints"]], ["denied_by_policy"])
            self.assertEqual(one.run(box, "cat", "b")["exit_code"], 1)
            # Putting a whole file there takes renaming it.
            self.assertEqual(self.call(one, box, "write_file", path="notes/n", content="1", if_exists="append")["data"]["wrote"], "created")
            again = self.call(one, box, "write_file", path="notes/n", content="2")
            self.assertEqual(again["outcome"], "denied")
            self.assertIn("file.delete", again["decision"]["reason"])
            self.assertEqual(self.call(one, box, "write_file", path="notes/n", content="2", if_exists="append")["data"]["wrote"], "appended")
            self.assertEqual(self.call(one, box, "read_file", path="notes/n")["data"]["content"], "12")
            self.assertEqual(self.call(one, box, "write_file", path="/srv/x", content="")["outcome"], "needs_approval")
            one.run(box, "cp", "src/a", "src/a.key")
            self.assertEqual(self.call(one, box, "read_file", path="src/a.key")["decision"]["rule"], "words only")
            one.run(box, "sh", "-c", "echo secret > src/b.key; echo secret > src/b")
            found = self.call(one, box, "search_files", pattern="secret", path="src")["data"]
            self.assertEqual([match["path"] for match in found["matches"]], ["b"])
            self.assertEqual(self.call(one, box, "search_files", pattern="root", path="/etc")["outcome"], "denied")
            self.assertEqual(self.call(one, box, "search_files", pattern="x", path="src/a.key")["outcome"], "denied")
            # A mode is no rule: the kernel's word counts too.
            one.run(box, "chmod", "0", "src/a")
            kernel = self.call(one, box, "read_file", path="src/a")
            self.assertEqual((kernel["outcome"], kernel["decision"]["rule"]), ("denied", "kernel"), kernel)

    def test_what_cannot_be_done_changes_nothing(self):
        with Node() as one:
            box = one.create(policy={"preset": "open"})
            one.run(box, "sh", "-c", "mkfifo fifo; mkdir folder; touch folder/x; truncate -s 3G sparse; printf 'x\\ny\\nx\\n' > twice; ln -s loop loop")
            self.refused(one, box, "read_file", "not_found", path="nothing")
            for path in ("fifo", "folder", "/dev/zero"):
                self.refused(one, box, "read_file", "invalid_argument", path=path)
                self.refused(one, box, "edit_file", "invalid_argument", path=path, old_text="x", new_text="y")
                self.refused(one, box, "write_file", "invalid_argument", path=path, content="x")
            self.refused(one, box, "read_file", "invalid_argument", path="loop")
            self.refused(one, box, "read_file", "invalid_argument", path="sparse", offset=2)
            first = self.call(one, box, "read_file", path="sparse")["data"]
            self.assertEqual((first["cut"], first["size_bytes"], first["sha256"]), (True, 3 << 30, None))
            self.refused(one, box, "edit_file", "invalid_argument", path="sparse", old_text="x", new_text="y")
            twice = self.refused(one, box, "edit_file", "conflict", path="twice", old_text="x", new_text="y")
            self.assertEqual(twice["details"]["lines"], "1, 3")
            self.assertRegex(twice["details"]["step"], "^[0-9]+$")
            self.refused(one, box, "edit_file", "not_found", path="twice", old_text="z", new_text="y")
            self.refused(one, box, "write_file", "already_exists", path="twice", content="", if_exists="fail")
            self.refused(one, box, "write_file", "conflict", path="twice", content="", expected_sha256="0" * 64)
            self.refused(one, box, "list_directory", "not_found", path="nothing")
            self.refused(one, box, "list_directory", "not_found", path="twice")
            self.assertEqual(self.call(one, box, "read_file", path="twice")["data"]["content"], "x\ny\nx\n")
            steps = one.inspect(box)["steps"]
            for tool, given in (("read_fil", {}), ("read_file", {}), ("read_file", {"path": ""}), ("read_file", {"path": "a", "x": 1}),
                                ("write_file", {"path": "a"}), ("write_file", {"path": "a", "content": 7}),
                                ("edit_file", {"path": "a", "old_text": "", "new_text": ""}), ("list_changes", {"x": 1})):
                with self.assertRaises(Problem) as wrong:
                    one.post(f"/v1/sandboxes/{box}/tools/{tool}", given)
                self.assertIn(wrong.exception.code, ("invalid_argument", "not_found"))
            self.assertEqual(one.inspect(box)["steps"], steps, "what is no call takes no step")

    def test_what_is_read(self):
        with Node() as one:
            box = one.create(policy={"preset": "open"})
            lines = "".join(f"line {number}\n" for number in range(1, 5001))
            self.call(one, box, "write_file", path="long", content=lines)
            data = self.call(one, box, "read_file", path="long")["data"]
            self.assertEqual((data["lines"], data["next_offset"], data["sha256"]), (2000, 2001, sha(lines)))
            rest = self.call(one, box, "read_file", path="long", offset=4999, limit=10)["data"]
            self.assertEqual((rest["content"], rest["next_offset"]), ("line 4999\nline 5000\n", None))
            raw = bytes(range(256))
            self.call(one, box, "write_file", path="raw", content=base64.b64encode(raw).decode(), encoding="base64")
            data = self.call(one, box, "read_file", path="raw")["data"]
            self.assertEqual((data["encoding"], base64.b64decode(data["content"]), data["sha256"]), ("base64", raw, sha(raw)))
            one.run(box, "sh", "-c", "head -c 10000000 /dev/zero | tr '\\0' x > wide; printf '%s' \"$(printf 'a\\nb')\" > open")
            wide = self.call(one, box, "read_file", path="wide")["data"]
            self.assertEqual((len(wide["content"]), wide["cut"], wide["next_offset"]), (1 << 20, True, 2))
            self.assertEqual(self.call(one, box, "read_file", path="open")["data"]["lines"], 2)
            self.assertEqual(self.call(one, box, "read_file", path="open", offset=9)["data"]["content"], "")
            one.run(box, "sh", "-c", "mkdir -p tree/deep/deeper; touch tree/a tree/deep/b tree/deep/deeper/c; ln -s /etc tree/etc; touch \"tree/$(printf 'n\\nl\\377')\"")
            listed = self.call(one, box, "list_directory", path="tree")["data"]
            self.assertEqual(len(listed["entries"]), 4)
            deep = self.call(one, box, "list_directory", path="tree", depth=3)["data"]
            self.assertIn("deep/deeper/c", [entry["path"] for entry in deep["entries"]])
            self.assertNotIn("etc/passwd", [entry["path"] for entry in deep["entries"]])
            few = self.call(one, box, "list_directory", path="tree", depth=3, limit=2)["data"]
            self.assertEqual((len(few["entries"]), few["truncated"]), (2, True))

    def test_what_is_found(self):
        with Node() as one:
            box = one.create(policy={"preset": "minimal"})
            for path, content in (("src/a.py", "one\ndef two():\n"), ("src/deep/b.txt", "TWO\n"), ("src/raw", "two\0\n")):
                self.call(one, box, "write_file", path=path, content=content)
            found = self.call(one, box, "search_files", pattern="tw[o]")["data"]
            self.assertEqual([(m["path"], m["line"], m["column"], m["text"]) for m in found["matches"]], [("src/a.py", 2, 5, "def two():")])
            self.assertEqual((found["files_searched"], found["files_skipped"], found["truncated"]), (2, 1, False))
            both = self.call(one, box, "search_files", pattern="two", path="src", ignore_case=True)["data"]["matches"]
            self.assertEqual([match["path"] for match in both], ["a.py", "deep/b.txt"])
            only = self.call(one, box, "search_files", pattern="two", ignore_case=True, glob="*.txt")["data"]["matches"]
            self.assertEqual([match["path"] for match in only], ["src/deep/b.txt"])
            itself = self.call(one, box, "search_files", pattern="one", path="src/a.py")["data"]["matches"]
            self.assertEqual([match["line"] for match in itself], [1])
            self.assertTrue(self.call(one, box, "search_files", pattern=".", limit=1)["data"]["truncated"])
            wrong = self.refused(one, box, "search_files", "invalid_argument", pattern="(")
            self.assertIn("(", json.dumps(wrong))

    def test_of_two_writers_none_loses_what_the_other_wrote(self):
        with Node() as one:
            box = one.create(policy={"preset": "open"})
            self.call(one, box, "write_file", path="count", content="")

            def add(number):
                while True:
                    before = self.call(one, box, "read_file", path="count")["data"]
                    try:
                        self.call(one, box, "write_file", path="count", content=before["content"] + f"{number}\n",
                                  expected_sha256=before["sha256"])
                        return
                    except Problem as problem:
                        self.assertEqual(problem.code, "conflict")

            with concurrent.futures.ThreadPoolExecutor(8) as callers:
                list(callers.map(add, range(24)))
            lines = self.call(one, box, "read_file", path="count")["data"]["content"].split()
            self.assertEqual(sorted(map(int, lines)), list(range(24)))

    def test_a_full_disk_keeps_the_file_that_was_there(self):
        with Node() as one:
            box = one.create(policy={"preset": "open"}, disk_bytes=4 << 20)
            self.call(one, box, "write_file", path="kept", content="before")
            one.run(box, "sh", "-c", "cat /dev/zero > fill; true")
            full = self.refused(one, box, "write_file", "resource_exhausted", path="kept", content="x" * (1 << 20))
            self.assertIn("step", full["details"])
            self.assertEqual(self.call(one, box, "read_file", path="kept")["data"]["content"], "before")

    def test_the_command_line(self):
        program = str(node.program_folder() / "caisson")
        with Node() as one:
            environment = {"CAISSON_HOST": "unix://" + one.socket, "PATH": "/usr/bin:/bin"}

            def run(*words):
                return subprocess.run([program, *words], env=environment, capture_output=True, text=True, timeout=60, check=False)

            box = one.create(name="web")
            wrote = run("tool", "web", "write_file", '{"path": "a", "content": "one\\n"}')
            self.assertEqual((wrote.returncode, json.loads(wrote.stdout)["outcome"]), (0, "completed"), wrote)
            self.assertEqual(json.loads(run("tool", "web", "read_file", '{"path": "a"}').stdout)["data"]["content"], "one\n")
            for words, status in ((("web", "read_file", '{"path": 7}'), 2), (("web", "read_fil", "{}"), 2), (("web", "read_file", '{"path": "b"}'), 3)):
                wrong = run("tool", *words)
                self.assertEqual((wrong.returncode, wrong.stdout), (status, ""), wrong)
            self.assertEqual(one.inspect(box)["steps"], 3)
            table = run("tools")
            self.assertEqual(table.returncode, 0)
            self.assertIn("write_file", table.stdout)
            for format, count in (("mcp", lambda v: len(v["tools"])), ("openai", len), ("anthropic", len), ("gemini", lambda v: len(v[0]["functionDeclarations"]))):
                self.assertEqual(count(json.loads(run("tools", "--format", format).stdout)), len(TOOLS), format)
            self.assertEqual(run("tools", "--format", "x").returncode, 2)


if __name__ == "__main__":
    node.require_root()
    unittest.main()
