"""What every test of this folder begins and ends with: a node, a sandbox to misuse, and a second one that must not notice."""

import base64
import hashlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "daemon"))
import node  # noqa: E402
from node import Node, Problem  # noqa: E402, F401

FULL = os.environ.get("CAISSON_FIELD_FULL") == "1"
OCTETS = {"Content-Type": "application/octet-stream"}
HANG = 300 if FULL else 60  # seconds: nothing here takes nearly as long
SOON = 10  # seconds: for what should take far less than one, on a machine that is busy


def full_or(full, scaled):
    """The numbers of the report with CAISSON_FIELD_FULL=1, otherwise fewer of the same kind."""
    return full if FULL else scaled


def digest(content):
    return len(content), hashlib.sha256(content).hexdigest()


def give_up(*_):
    raise AssertionError("hangs")


class FieldTest(unittest.TestCase):
    """Each test has `self.one`, a node; `self.box`, a sandbox of it; and `self.second`, which answers before and after.

    After the test, unless it deleted `self.box`: the next command works there, and processes, cgroups, mounts and
    descriptors are those of the beginning. After the node's end its cgroups are gone.
    """

    at_once = 8  # commands in one sandbox; as many cgroups wait there for the next ones
    options = ()
    node_type = Node

    def setUp(self):
        signal.signal(signal.SIGALRM, give_up)
        signal.alarm(full_or(1800, 150))
        self.addCleanup(signal.alarm, 0)
        self.slots = {}  # of each sandbox: its cgroups, as (path, inode)
        self.guests = {}
        self.addCleanup(self.await_no_cgroup)
        self.one = self.enterContext(self.node_type(*self.options))
        self.box, self.second = self.make(), self.make()
        for box in (self.box, self.second):
            self.one.script(box, "true")
        self.before = self.state()
        self.addCleanup(self.check_after)

    # ---- the node

    def make(self, **body):
        known = set(node_guests(self.one))
        box = self.one.create(**body)
        self.guests[box] = next(pid for pid in node_guests(self.one) if pid not in known)
        self.slots[box] = [(path, os.stat(path).st_ino) for path in node.slot_of(self.guests[box])]
        return box

    def delete(self, box):
        self.one.delete(f"/v1/sandboxes/{box}")

    def processes(self, box):
        """Process ids on the host of what runs in the sandbox, beside its first process."""
        found = set()
        for path, _ in self.slots[box]:
            for folder, _, files in os.walk(path):
                if "cgroup.procs" in files:
                    try:
                        found |= set(map(int, pathlib.Path(folder, "cgroup.procs").read_text().split()))
                    except OSError:
                        pass  # goes away meanwhile
        return found - {self.guests[box]}

    def assert_no_process(self, box, patience=SOON):
        self.assertFalse(node.await_none(lambda: self.processes(box), patience))

    def leaves(self, box):
        return {os.path.join(folder, name) for path, _ in self.slots[box] for folder, names, _ in os.walk(path) for name in names}

    def state(self):
        launcher = self.one.launcher()
        pids = (self.one.process.pid, launcher)
        return {
            "processes": {box: len(self.processes(box)) for box in (self.box, self.second)},
            "cgroups": {box: self.leaves(box) for box in (self.box, self.second)},
            "mounts": len(pathlib.Path(f"/proc/{launcher}/mountinfo").read_text().splitlines()),
            "descriptors": sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in pids),
        }

    def differences(self):
        """What is more than at the beginning. What waits for the next command is left out."""
        now = self.state()
        found = []
        for box in (self.box, self.second):
            if now["processes"][box] > self.before["processes"][box]:
                found.append(f"processes of {box}: {self.processes(box)}")
            more = now["cgroups"][box] - self.before["cgroups"][box]
            if len(more) > self.at_once * len(self.slots[box]):
                found.append(f"cgroups: {sorted(more)}")
        if now["mounts"] > self.before["mounts"]:
            found.append(f"mounts: {self.before['mounts']}, now {now['mounts']}")
        if now["descriptors"] > self.before["descriptors"] + 64:
            found.append(f"descriptors: {self.before['descriptors']}, now {now['descriptors']}")
        return found

    def check_after(self):
        for item in self.one.list_all():
            if item["id"] not in (self.box, self.second):
                self.delete(item["id"])
        self.assert_answers(self.second)
        if self.one.inspect(self.box)["state"] == "running":
            self.assert_answers(self.box)
            self.assertEqual(node.await_none(self.differences, SOON), [])

    def await_no_cgroup(self):
        def left():
            return [path for paths in self.slots.values() for path, inode in paths if inode_of(path) == inode]
        self.assertEqual(node.await_none(left, SOON), [])

    def assert_answers(self, box):
        start = time.monotonic()
        self.assert_ended(self.one.script(box, "echo ok"), stdout="ok\n")
        self.assertLess(time.monotonic() - start, SOON)

    # ---- results

    def assert_ended(self, result, outcome="exited", exit_code=0, signal=None, **more):  # pylint: disable=redefined-outer-name
        self.assertEqual((result["outcome"], result["exit_code"], result["signal"]), (outcome, exit_code, signal), result)
        for field, wanted in more.items():
            self.assertEqual(result[field], wanted, field)

    def assert_timed_out(self, result, **more):
        self.assert_ended(result, "timed_out", None, **more)

    def assert_cancelled(self, result, **more):
        self.assert_ended(result, "cancelled", None, **more)

    def follow(self, box, command, start="0,0", patience=HANG):
        """The events of a command's output, one after the other: (name, data, id)."""
        connection = self.one.connection(patience)
        try:
            connection.request("GET", f"/v1/sandboxes/{box}/commands/{command}/output", headers={
                "Accept": "text/event-stream", "Last-Event-ID": start})
            response = connection.getresponse()
            self.assertEqual(response.status, 200)
            yield from events(response)
        finally:
            connection.close()

    def collect(self, box, command, start="0,0"):
        """What the events say: the bytes of stdout and of stderr, and the result."""
        streams = {"stdout": b"", "stderr": b""}
        result = None
        for name, data, _ in self.follow(box, command, start):
            if name == "end":
                result = data
            elif name != "gap":
                streams[name] += content_of(data)
        return streams["stdout"], streams["stderr"], result

    def write(self, box, command, text, close=False):
        flag = "?close=true" if close else ""
        accepted = self.one.post(f"/v1/sandboxes/{box}/commands/{command}/input{flag}", text.encode(), headers=OCTETS)
        self.assertEqual(accepted["accepted_bytes"], len(text.encode()))

    def await_output(self, box, command, wanted):
        found = []

        def missing():
            found[:] = [self.one.output(box, command, follow=False)]
            return not found[0].endswith(wanted)
        self.assertFalse(node.await_none(missing, SOON), found)
        return found[0]

    def await_begun(self):
        """The last command of `self.box`, once it has said something."""

        def missing():
            items = self.one.get(f"/v1/sandboxes/{self.box}/commands")["items"]
            return not items or items[-1]["state"] == "ended" or items[-1]["stdout_bytes"] == 0
        self.assertFalse(node.await_none(missing, SOON))
        return self.one.get(f"/v1/sandboxes/{self.box}/commands")["items"][-1]["id"]

    # ---- the command line

    def arguments(self, verb, *words):
        return [os.environ["CAISSON_BIN"], verb, "--host", "unix://" + self.one.socket, *words]

    def cli(self, verb, *words, stdin=subprocess.DEVNULL, **more):
        return subprocess.run(self.arguments(verb, *words), stdin=stdin, capture_output=True, timeout=HANG, check=False, **more)

    def start_cli(self, verb, *words, stdin=subprocess.DEVNULL, **more):
        return self.tended(self.arguments(verb, *words), stdin=stdin, **more)

    def start_run(self, *words, **more):
        return self.tended([os.environ["CAISSON_BIN"], "run", *words], stdin=subprocess.DEVNULL, **more)

    def tended(self, words, **more):
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)  # pylint: disable=consider-using-with
        self.addCleanup(close, process)
        return process


def close(process):
    if process.poll() is None:
        process.kill()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe:
            pipe.close()
    process.wait()


def content_of(data):
    return base64.b64decode(data["base64"]) if "base64" in data else data["text"].encode()


def texts(result):
    """What a result holds of stdout and stderr, as bytes."""
    decode = base64.b64decode if result["encoding"] == "base64" else str.encode
    return decode(result["stdout"]), decode(result["stderr"])


def events(response):
    name, data, number = None, "", None
    while line := response.readline():
        line = line.decode().rstrip("\n")
        if line.startswith("event: "):
            name = line[7:]
        elif line.startswith("data: "):
            data += line[6:]
        elif line.startswith("id: "):
            number = line[4:]
        elif not line and name:
            yield name, json.loads(data), number
            name, data = None, ""


def inode_of(path):
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


def node_guests(one):
    """The first processes of the node's sandboxes, in no order."""
    launcher = one.launcher()
    return [pid for pid, comm, parents in host_processes() if comm == "caisson-guest" and launcher in parents]


def host_processes():
    known = {}
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                comm, rest = (entry / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
                known[int(entry.name)] = (comm, int(rest.split()[1]))
            except OSError:
                continue
    for pid, (comm, parent) in known.items():
        parents = []
        while parent in known:
            parents.append(parent)
            parent = known[parent][1]
        yield pid, comm, parents


def children_of(pid):
    return [child for child, _, parents in host_processes() if parents[:1] == [pid]]


def naming(marker):
    """Process ids of the host that have the marker as an argument, in whatever sandbox."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if marker.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def main():
    node.require_root()
    unittest.main()
