"""Processes killed at random moments under clients: nothing that was answered is lost, and nothing is left.

CAISSON_KILLS: how many times each of them is killed, 200 before a release.
"""

import http.client
import os
import pathlib
import signal
import threading
import time
import unittest

import node
from node import Node, Problem

CLIENTS = 16
KILLS = int(os.environ.get("CAISSON_KILLS", "12"))
# Between a client's commands. What has ended is forgotten after 10,000 others.
PAUSE = 0.02 if KILLS < 50 else 0.3
# Before a client asks again.
AGAIN = 0.02
STORAGES = ("tmpfs", "directory", "btrfs")


class Client:
    """Makes a sandbox, and another when that failed, and runs commands there; keeps what it was answered."""

    def __init__(self, one, number, stop):
        self.one = one
        self.number = number
        self.stop = stop
        self.answered = {}  # sandbox: {command: the output it should have}
        self.broken = []
        self.box = None
        self.made = 0
        self.steps = 0
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def work(self):
        while not self.stop.is_set():
            try:
                if self.box is None:
                    self.make()
                self.step()
                self.stop.wait(PAUSE)
            except (OSError, EOFError, http.client.HTTPException):
                self.stop.wait(AGAIN)  # no daemon now
            except Problem as problem:
                self.look_again(problem)
                self.stop.wait(AGAIN)

    def make(self):
        name = f"client-{self.number}-{self.made}"
        storage = STORAGES[self.number % len(STORAGES)]
        self.box = self.one.post("/v1/sandboxes", {"storage": storage, "name": name}, headers={"Idempotency-Key": name})["id"]
        self.answered[self.box] = {}
        self.made += 1

    def step(self):
        text = f"{self.number} {self.steps}"
        command = self.one.begin(self.box, f"echo {text} | tee -a log")
        self.answered[self.box][command] = text + "\n"
        self.steps += 1

    def look_again(self, problem):
        if problem.status < 500 and problem.code not in ("conflict", "resource_exhausted"):
            self.broken.append(problem)
        try:
            if self.box is not None and self.one.inspect(self.box)["state"] == "failed":
                self.box = None
        except (OSError, EOFError, http.client.HTTPException):
            pass  # asked again after the next step


class Kills(unittest.TestCase):
    """Each test says who is killed, and how the sandboxes may be found afterwards."""

    def run_under_clients(self, one, kill):
        stop = threading.Event()
        clients = [Client(one, number, stop) for number in range(CLIENTS)]
        try:
            for turn in range(KILLS):
                # Not a wait for anything: the moments at which it is killed.
                time.sleep(0.1 + 0.037 * (turn * 7 % 11))
                kill()
                one.start()
            before = [client.steps for client in clients]
            waiting = node.await_none(lambda: [c.number for c, steps in zip(clients, before) if c.steps < steps + 2], 60)
        finally:
            stop.set()
            for client in clients:
                client.thread.join()
        self.assertEqual(waiting, [], "clients that do not get on")
        self.assertEqual([problem for client in clients for problem in client.broken], [])
        return {box: commands for client in clients for box, commands in client.answered.items()}

    def check_all(self, kill, is_expected, may_be_killed):
        with Node() as one:
            before = left_of(one)
            answered = self.run_under_clients(one, lambda: kill(one))
            found = {item["id"]: item for item in one.list_all()}
            self.assertEqual(set(answered), set(found))
            for box, commands in answered.items():
                self.assertTrue(is_expected(found[box]), found[box])
                for command, expected in commands.items():
                    self.check_result(one.await_end(box, command), expected, may_be_killed)
            one.delete_all()
            one.end()
            self.assertEqual(node.await_none(lambda: sorted(left_of(one) - before), 30), [])

    def check_result(self, result, expected, may_be_killed):
        if may_be_killed and result["outcome"] != "exited":
            self.assertIn((result["outcome"], result["signal"]), (("signaled", "SIGKILL"), ("failed_to_start", None)))
            self.assertIn(result["stdout"], ("", expected))
        else:
            self.assertEqual((result["outcome"], result["exit_code"], result["stdout"]), ("exited", 0, expected))

    def kill_below(self, one, pid):
        os.kill(pid, signal.SIGKILL)
        self.assertEqual(one.process.wait(timeout=30), 3, one.log()[-2000:])

    def test_the_daemon(self):
        self.check_all(Node.kill, lambda item: item["state"] == "running", may_be_killed=False)

    def test_the_launcher(self):
        self.check_all(lambda one: self.kill_below(one, one.launcher()), is_running_or_failed, may_be_killed=True)

    def test_the_storage_process(self):
        self.check_all(lambda one: self.kill_below(one, one.storage()), is_running_or_failed, may_be_killed=True)


def is_running_or_failed(item):
    return item["state"] == "running" or (item["state"] == "failed" and item["reason"] != "")


def left_of(one):
    """What Caisson can leave on this host and in this node's folder, beside the store itself."""
    found = {f"process {pid} {name}" for pid, name in one.processes()}
    mounts = pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines()
    found |= {f"mount {line}" for line in mounts if line.split()[4] != one.folder + "/data/store"}
    for point in {line.split()[4] for line in mounts if " - cgroup" in line}:
        found |= {f"cgroup {path} {path.stat().st_ino}" for path in pathlib.Path(point, "caisson").glob("*/")}
    for device in pathlib.Path("/sys/block").glob("loop*/loop/backing_file"):
        file = device.read_text(encoding="utf-8").strip()
        if file.startswith(one.folder) and file != one.folder + "/data/store.img":
            found.add(f"loop device {device}")
    data = pathlib.Path(one.folder, "data")
    for inside in ("sandboxes/*", "copies/*", "store/layers/*"):
        found |= set(map(str, data.glob(inside)))
    return found


if __name__ == "__main__":
    node.require_root()
    unittest.main()
