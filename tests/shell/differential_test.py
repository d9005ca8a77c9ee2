#!/usr/bin/env python3
"""Holds the analysis of random shell texts against shfmt's reading of them and against bash itself.

SHELL_ANALYZE_LINES is the program that analyses. What bash starts is told by its own handler for commands that are not
found: no program that a text could name exists. SHELL_TEXTS changes how many texts are tried, SHELL_SEED which.
"""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True

from shell_texts import Texts

PROGRAM = os.environ["SHELL_ANALYZE_LINES"]
COUNT = int(os.environ.get("SHELL_TEXTS", "300"))
SEED = int(os.environ.get("SHELL_SEED", "1"))
BASH = "/bin/bash"
NOBODY = 65534
# Of 5.2: texts are run, so their meaning must be that of the bash the analysis speaks of.
VERSION = subprocess.run([BASH, "--norc", "-c", "echo ${BASH_VERSINFO[0]}.${BASH_VERSINFO[1]}"], capture_output=True, text=True).stdout.strip()


def analyze(texts):
    lines = "".join(json.dumps(text) + "\n" for text in texts)
    done = subprocess.run([PROGRAM], input=lines, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def proved(comments=True):
    """(text, its commands) of those that are proved."""
    made = Texts(SEED, comments)
    texts = [made.text() for _ in range(COUNT)]
    return [(text, found["commands"]) for text, found in zip(texts, analyze(texts)) if found["unknown"] is None]


def told(text, complaint):
    return f"{complaint}\n{text!r}\n{text}"


class Shfmt(unittest.TestCase):
    """Another parser finds the same commands: names with the number of their words.

    It takes # after a quote for a comment, continues comments and quoted here-documents over a backslash, knows no 1+=a as
    a name, and misplaces words around nested backticks, all unlike bash: such texts are for the other test only.
    """

    ODD = re.compile(r"(^|[\s;&|(])[0-9]\w*\+=|\\`|<<[^E]*E(?s:.*)\\\n")

    def nodes(self, tree):
        if isinstance(tree, dict):
            if tree.get("Type") == "CallExpr" and tree.get("Args"):
                yield tree
            for key in tree:
                yield from self.nodes(tree[key])
        elif isinstance(tree, list):
            for part in tree:
                yield from self.nodes(part)

    def commands(self, text):
        done = subprocess.run(["shfmt", "-ln", "bash", "--to-json"], input=text.encode(), capture_output=True)
        if done.returncode != 0:
            return None
        data = text.encode()
        found = []
        for node in self.nodes(json.loads(done.stdout)):
            first = node["Args"][0]
            source = data[first["Pos"]["Offset"] : first["End"]["Offset"]].decode()
            found.append((self.plain(source), len(node["Args"])))
        return sorted(found)

    @staticmethod
    def plain(source):
        """Backticks take backslashes off what lies between them."""
        return source.replace("\\", "").replace("\n", "")

    def test_same_commands(self):
        if shutil.which("shfmt") is None:
            self.skipTest("shfmt is not installed")
        compared = 0
        for text, commands in proved(comments=False):
            expected = self.commands(text)
            if expected is None or self.ODD.search(text):
                continue
            found = sorted((self.plain(c["words"][0]["source"]), len(c["words"])) for c in commands if c["words"])
            self.assertEqual(found, expected, told(text, "shfmt reads it in another way"))
            compared += 1
        self.assertGreater(compared, COUNT / 8)


class Bash(unittest.TestCase):
    def setUp(self):
        if VERSION != "5.2":
            self.skipTest(f"bash {VERSION}")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.folder.chmod(0o711)
        self.log = self.folder / "log"  # a file for each process
        handler = f"() {{ printf '%s\\0' \"$@\" $'\\1' >>{self.log}/$BASHPID; [[ $1 != n* ]]; }}"
        self.environment = {"PATH": str(self.folder / "empty"), "LANG": "C.UTF-8", "BASH_FUNC_command_not_found_handle%%": handler}

    @staticmethod
    def confine():
        os.setsid()
        for limit, most in ((resource.RLIMIT_CPU, 2), (resource.RLIMIT_FSIZE, 1 << 20), (resource.RLIMIT_CORE, 0)):
            resource.setrlimit(limit, (most, most))
        if os.getuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)

    def run_bash(self, *words):
        place = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        place.chmod(0o777)
        process = subprocess.Popen([BASH, "--norc", *words], cwd=place, env=self.environment, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, preexec_fn=self.confine)
        try:
            said = process.communicate(timeout=5)[1]
        except subprocess.TimeoutExpired:
            said = b""
        finally:
            try:
                os.killpg(process.pid, 9)
            except ProcessLookupError:
                pass
            process.wait()
            process.stderr.close()
            shutil.rmtree(place, ignore_errors=True)
        return process.returncode, said.decode(errors="replace")

    def started(self, text):
        """The words of each program that bash was about to start."""
        shutil.rmtree(self.log, ignore_errors=True)
        self.log.mkdir()
        self.log.chmod(0o777)
        _, said = self.run_bash("-c", "--", text)
        runs = "".join(file.read_bytes().decode(errors="surrogateescape") for file in self.log.iterdir()).split("\0\1\0")
        return [run.split("\0") for run in runs if run], said

    @staticmethod
    def is_found(words, command):
        """True: the command may have been started with these words."""
        for at, word in enumerate(command["words"]):
            if word["value"] is None:
                return at == 0 or len(words) >= at
            if at >= len(words) or words[at] != word["value"]:
                return False
        return len(words) == len(command["words"])

    def test_bash_accepts_and_starts_nothing_else(self):
        starts = 0
        for text, commands in proved():
            status, said = self.run_bash("-n", "-c", "--", text)
            self.assertEqual((status, "syntax error" in said), (0, False), told(text, said))
            words_started, said = self.started(text)
            self.assertNotIn("syntax error near", said, told(text, said))
            self.assertNotIn("here-document at", said, told(text, said))
            for words in words_started:
                starts += 1
                found = [c for c in commands if c["words"] and self.is_found(words, c)]
                self.assertTrue(found, told(text, f"{words} started"))
                self.assertFalse(all(c["calls_function"] for c in found), told(text, f"{words[0]} is no function"))
        self.assertGreater(starts, COUNT / 4)


if __name__ == "__main__":
    unittest.main()
