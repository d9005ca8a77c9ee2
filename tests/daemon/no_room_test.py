"""What becomes of sandboxes while the database cannot be written, and when it is damaged."""

import os
import pathlib
import sqlite3
import subprocess
import unittest

import node
from node import Node, Problem

PAGE = 4096


class SmallNode(Node):
    """A node whose data folder is a small file system, which a test fills."""

    def __enter__(self):
        os.makedirs(self.folder + "/data", mode=0o711, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32m,mode=0711", "none", self.folder + "/data"], check=True)
        return super().__enter__()

    def __exit__(self, *what):
        self.make_room()
        try:
            super().__exit__(*what)
        finally:
            subprocess.run(["umount", "-l", self.folder + "/data"], capture_output=True, check=False)
            os.rmdir(self.folder + "/data") if os.path.isdir(self.folder + "/data") else None
            os.rmdir(self.folder) if os.path.isdir(self.folder) else None

    def filler(self):
        return self.folder + "/data/filler"

    def leave_pages(self, pages):
        """Fills the file system until so many pages are free."""
        with open(self.filler(), "ab", buffering=0) as file:
            while True:
                free = os.statvfs(self.folder + "/data").f_bfree - pages
                if free <= 0:
                    return
                try:
                    file.write(b"\0" * PAGE * free)
                except OSError:
                    return

    def allow_inodes(self, more):
        """Lets the file system have so many more files than it has."""
        info = os.statvfs(self.folder + "/data")
        most = info.f_files - info.f_ffree + more
        subprocess.run(["mount", "-o", f"remount,nr_inodes={most}", self.folder + "/data"], check=True)

    def count_events(self, kind):
        return [event["event"] for event in self.events()].count(kind)

    def writes(self):
        """How often the daemon has called write(2) and its kin, done or refused."""
        with open(f"/proc/{self.process.pid}/io", encoding="ascii") as io:
            return next(int(line.split()[1]) for line in io if line.startswith("syscw:"))

    def make_room(self):
        if os.path.exists(self.filler()):
            os.unlink(self.filler())


def await_true(look, patience=20):
    assert not node.await_none(lambda: not look(), patience)


class NoRoom(unittest.TestCase):
    def test_a_pause_or_resume_that_cannot_be_recorded_leaves_no_sandbox_between_states(self):
        seen = set()
        with SmallNode() as one:
            box = one.create()
            command = one.begin(box, "while :; do echo x; sleep 0.05; done", timeout_ms=300_000)
            # Each number of free pages lets another write fail: that of the first state, or only that of the second.
            for pages in (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 20):
                for action, wanted in (("pause", "paused"), ("resume", "running")):
                    one.leave_pages(pages)
                    try:
                        one.post(f"/v1/sandboxes/{box}:{action}")
                    except Problem as problem:
                        self.assertIn(problem.code, ("resource_exhausted", "conflict"))
                    seen.add(one.inspect(box)["state"])
                    one.make_room()
                    await_true(lambda: one.inspect(box)["state"] in ("running", "paused"))
                    if one.inspect(box)["state"] != wanted:
                        one.post(f"/v1/sandboxes/{box}:{action}")
                    self.assertEqual(one.inspect(box)["state"], wanted)
                before = len(one.output(box, command, follow=False))
                await_true(lambda before=before: len(one.output(box, command, follow=False)) > before)
            self.assertEqual(one.script(box, "echo fine")["stdout"], "fine\n")
        self.assertTrue(seen & {"pausing", "resuming"}, f"no write failed between two states: {seen}")

    def end_one_without_room(self, one):
        """A command whose end the daemon has tried several times to record."""
        box = one.create()
        command = one.begin(box, "echo word; read line; exit 7", input="open", timeout_ms=300_000)
        await_true(lambda: one.output(box, command, follow=False))
        base = f"/v1/sandboxes/{box}/commands/{command}"
        one.leave_pages(0)
        before = one.writes()
        one.post(base + "/input?close=true", b"line\n", headers={"Content-Type": "application/octet-stream"})
        await_true(lambda: one.writes() >= before + 10)
        self.assertEqual(one.command_of(box, command)["state"], "running")
        return box, command

    def test_the_end_of_a_command_is_told_once_it_is_recorded(self):
        with SmallNode() as one:
            box, command = self.end_one_without_room(one)
            one.make_room()
            result = one.await_end(box, command, 20)
            self.assertEqual((result["exit_code"], result["stdout"]), (7, "word\n"))

    def test_an_end_that_is_not_recorded_outlives_the_daemon(self):
        with SmallNode() as one:
            box, command = self.end_one_without_room(one)
            one.end()
            one.make_room()
            one.start()
            result = one.await_end(box, command, 20)
            self.assertEqual((result["exit_code"], result["stdout"]), (7, "word\n"))
            self.assertEqual(one.script(box, "echo fine")["stdout"], "fine\n")

    def test_a_sandbox_whose_making_cannot_be_recorded_goes(self):
        seen = set()
        with SmallNode() as one:
            for pages in range(0, 24):
                one.leave_pages(pages)
                try:
                    one.create(name=f"box-{pages}")
                except Problem as problem:
                    self.assertEqual(problem.code, "resource_exhausted")
                left = one.list_all()
                seen |= {item["state"] for item in left}
                for item in left:
                    try:
                        one.delete(f"/v1/sandboxes/{item['id']}")
                    except Problem as problem:
                        self.assertEqual(problem.code, "resource_exhausted")
                one.make_room()
                for item in left:
                    self.assertEqual(one.delete(f"/v1/sandboxes/{item['id']}")["state"], "deleted")
                    self.assertEqual(one.delete(f"/v1/sandboxes/{item['id']}")["state"], "deleted")
                self.assertEqual(one.list_all(), [])
        self.assertIn("pending", seen, "no write failed after the first")

    def test_what_is_left_of_a_making_that_failed_goes_by_itself(self):
        with SmallNode() as one:
            ids = set()
            for pages in range(0, 24):
                one.leave_pages(pages)
                # No folder was left at the door under this ticket: the making fails after it was recorded.
                with self.assertRaises(Problem):
                    one.create(workspace={"ticket": "0" * 32, "mode": "ro"})
                ids |= {item["id"] for item in one.list_all() if item["state"] == "pending"}
                one.make_room()
                await_true(lambda: one.list_all() == [])
            self.assertTrue(ids, "no write failed after the first")
            for box in ids:
                self.assertIn("could not be made", one.inspect(box)["reason"])

    def test_files_that_cannot_be_kept_are_not_tried_for_all_the_time(self):
        with SmallNode() as one:
            box = one.create(storage="directory", on_end="keep", idle_timeout_ms=1000)
            other = one.create(max_lifetime_ms=5000)
            (record,) = pathlib.Path(one.folder, "data/sandboxes").glob(f"{box}/record")
            record.unlink()
            one.allow_inodes(0)
            await_true(lambda: one.count_events("sandbox.stopping") == 1)
            # By then both have been looked after several times more.
            await_true(lambda: one.inspect(other)["state"] == "deleted")
            self.assertEqual(one.count_events("sandbox.stopping"), 1)
            self.assertEqual(one.inspect(box)["state"], "running")
            one.allow_inodes(1000)
            await_true(lambda: one.inspect(box)["state"] == "stopped", 30)

    def test_a_deleted_sandbox_is_deleted_for_the_reason_that_was_asked_for(self):
        with SmallNode() as one:
            box = one.create()
            one.begin(box, "sleep 1000", timeout_ms=2_000_000)
            one.leave_pages(0)
            with self.assertRaises(Problem) as refused:
                one.delete(f"/v1/sandboxes/{box}")
            self.assertEqual(refused.exception.code, "resource_exhausted")
            one.make_room()
            await_true(lambda: one.inspect(box)["state"] == "deleted")
            self.assertIn("deleted by", one.inspect(box)["reason"])


class Damage(unittest.TestCase):
    def test_one_damaged_sandbox_fails_alone(self):
        for launcher_lives in (True, False):
            with self.subTest(launcher_lives=launcher_lives), Node() as one:
                broken, empty, whole = one.create(name="broken"), one.create(name="empty"), one.create(name="whole")
                command = one.begin(broken, "sleep 1000")
                one.script(whole, "echo kept > file")
                if launcher_lives:
                    one.end()
                else:
                    os.kill(one.launcher(), node.signal.SIGKILL)
                    one.process.wait(timeout=20)
                with sqlite3.connect(one.folder + "/data/state/caisson.db") as database:
                    for box, spec in ((broken, b"\xff\xff"), (empty, b"")):
                        database.execute("UPDATE sandbox_specs SET spec = ? WHERE sandbox = ?", (spec, box))
                database.close()
                one.start()
                states = {item["name"]: item["state"] for item in one.list_all()}
                self.assertEqual(states, {"broken": "failed", "empty": "failed",
                                          "whole": "running" if launcher_lives else "failed"})
                for box in (broken, empty):
                    self.assertIn("damaged", one.inspect(box)["reason"])
                self.assertEqual(one.command_of(broken, command)["state"], "ended")
                if launcher_lives:
                    self.assertEqual(one.script(whole, "cat file")["stdout"], "kept\n")
                for box in (broken, empty, whole):
                    self.assertEqual(one.delete(f"/v1/sandboxes/{box}")["state"], "deleted")


if __name__ == "__main__":
    node.require_root()
    unittest.main()
