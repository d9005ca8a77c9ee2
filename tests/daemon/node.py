"""A daemon of its own for one test, asked over its Unix socket; every exchange is held to api/openapi.yaml."""

import contextlib
import fcntl
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "http"))
import openapi_check  # noqa: E402

SKIPPED = 77


def require_root():
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(SKIPPED)
    if not daemon_program().exists():
        print("skipped: no caisson-daemon")
        sys.exit(SKIPPED)


def require_machine(why):
    if os.environ.get("CAISSON_MAY_CHANGE_THE_HOST") != "1":
        print(f"skipped: {why}; a machine of tests/vm says CAISSON_MAY_CHANGE_THE_HOST=1")
        sys.exit(SKIPPED)


def program_folder():
    return pathlib.Path(os.environ["CAISSON_BIN"]).parent


def daemon_program():
    return program_folder() / "caisson-daemon"


class Problem(Exception):
    """The node said no."""

    def __init__(self, status, body):
        super().__init__(f"{status} {body}")
        self.status = status
        self.body = body
        self.code = body.get("code") if isinstance(body, dict) else None


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("localhost", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Node:
    """Use as a context: at the end every sandbox is deleted, the daemon told to end, and nothing may be left."""

    contract = openapi_check.Contract()

    def __init__(self, *options, folder=None):
        self.folder = folder or tempfile.mkdtemp(prefix="caisson-node-")
        os.chmod(self.folder, 0o755)
        self.socket = self.folder + "/node.sock"
        self.options = options
        self.process = None

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, kind, error, trace):
        try:
            if self.process is None or self.process.poll() is not None:
                self.start()
            self.delete_all()
        finally:
            self.end()
            left = await_none(lambda: self.processes(), 15)
            subprocess.run(["umount", "-l", self.folder + "/data/store"], capture_output=True, check=False)
            log = self.log()
            if kind is not None or "Sanitizer" in log:
                print(log[-8000:], file=sys.stderr)
            shutil.rmtree(self.folder, ignore_errors=True)
        if kind is None and left:
            raise AssertionError(f"left behind: {left}")

    def command(self):
        return [str(daemon_program()), "--socket", self.socket, "--data", self.folder + "/data",
                "--runtime", self.folder + "/run", *self.options]

    def start(self, wait=True):
        os.makedirs(self.folder + "/run", mode=0o711, exist_ok=True)
        with open(self.folder + "/log", "ab") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        if wait:
            self.await_ready()

    def await_ready(self, patience=15):
        deadline = time.monotonic() + patience
        while True:
            try:
                return self.get("/readyz")
            except (OSError, http.client.HTTPException, Problem) as error:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise AssertionError(f"the daemon does not answer: {error}\n{self.log()}") from error
                time.sleep(0.01)

    def log(self):
        return pathlib.Path(self.folder + "/log").read_text(encoding="utf-8", errors="replace")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def end(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(timeout=30)

    def processes(self):
        """Process ids of this node's daemon, launcher, keeper, storage process and guests: whoever has its folder open."""
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                comm = (entry / "comm").read_text().strip()
                if not comm.startswith("caisson"):
                    continue
                fds = list((entry / "fd").iterdir())
            except OSError:
                continue
            if any(self.folder in link_of(fd) for fd in fds):
                found.append((int(entry.name), comm))
        return found

    def launcher(self):
        return self.first("caisson-launche")

    def storage(self):
        return self.first("caisson-storage")

    def first(self, name):
        """The process of this name whose parent has another; what it forks lives for a moment only."""
        parents = {}
        for pid, comm in self.processes():
            if comm == name:
                try:
                    parents[pid] = int(status_field(pid, "PPid")[0])
                except OSError:
                    continue
        (pid,) = [pid for pid, parent in parents.items() if parent not in parents]
        return pid

    def guests(self):
        """Process ids of the first processes of this node's sandboxes."""
        launcher = self.launcher()
        found = []
        for entry in pathlib.Path("/proc").iterdir():
            try:
                if (entry / "comm").read_text().strip() == "caisson-guest" and is_below(int(entry.name), launcher):
                    found.append(int(entry.name))
            except OSError:
                continue
        return sorted(found)

    def deposit(self, *descriptors):
        """Leaves a folder, and perhaps what is to stay open beside it. The ticket, and the connection to keep meanwhile."""
        door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        door.settimeout(10)
        door.connect(self.folder + "/run/launcher.sock")
        socket.send_fds(door, [struct.pack("<II", 1, 1)], descriptors)
        version, error, ticket = struct.unpack("<Ii16s", door.recv(100))
        assert (version, error) == (1, 0), error
        return ticket.hex(), door

    @contextlib.contextmanager
    def copied_workspace(self, content):
        """A ticket for a folder `file`, copied as the command line copies one; good while the context lasts."""
        copy = self.folder + "/data/copies/sb_" + "a" * 26
        os.makedirs(copy + "/workspace")
        with open(copy + "/workspace/file", "w", encoding="utf-8") as file:
            file.write(content)
        lock = os.open(copy, os.O_RDONLY | os.O_DIRECTORY)
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = os.open(copy + "/workspace", os.O_RDONLY | os.O_DIRECTORY)
        ticket, door = self.deposit(folder, lock)
        yield ticket
        door.close()
        os.close(folder)
        os.close(lock)

    # ---- asking

    def connection(self, timeout=60):
        return UnixConnection(self.socket, timeout)

    def exchange(self, method, target, body=None, headers=None, timeout=60):
        headers = dict(headers or {})
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            headers.setdefault("Content-Type", "application/json")
        connection = self.connection(timeout)
        try:
            connection.request(method, target, body, headers)
            response = connection.getresponse()
            content = response.read()
        finally:
            connection.close()
        sent = body if isinstance(body, bytes) else (body or "").encode()
        self.contract.check(openapi_check.Exchange(
            method=method, target=target, status=response.status, request_headers=headers, request_body=sent,
            response_headers=dict(response.getheaders()), response_body=content))
        return response, content

    def ask(self, method, target, body=None, headers=None, timeout=60):
        response, content = self.exchange(method, target, body, headers, timeout)
        is_json = "json" in (response.getheader("Content-Type") or "")
        value = json.loads(content) if is_json and content else content
        if response.status >= 400:
            raise Problem(response.status, value)
        return value

    def get(self, target, **more):
        return self.ask("GET", target, **more)

    def post(self, target, body=None, **more):
        return self.ask("POST", target, body, **more)

    def delete(self, target):
        return self.ask("DELETE", target)

    # ---- what tests do often

    def create(self, **body):
        body.setdefault("storage", "tmpfs")
        return self.post("/v1/sandboxes", body)["id"]

    def run(self, sandbox, *argv, timeout=60, **body):
        return self.post(f"/v1/sandboxes/{sandbox}/commands", {"argv": list(argv), **body}, timeout=timeout)

    def script(self, sandbox, text, **more):
        return self.run(sandbox, "bash", "-c", text, **more)

    def begin(self, sandbox, text, **body):
        body = {"argv": ["bash", "-c", text], "background": True, **body}
        return self.post(f"/v1/sandboxes/{sandbox}/commands", body)["id"]

    def inspect(self, sandbox):
        return self.get(f"/v1/sandboxes/{sandbox}")

    def command_of(self, sandbox, command):
        return self.get(f"/v1/sandboxes/{sandbox}/commands/{command}")

    def await_end(self, sandbox, command, patience=60):
        deadline = time.monotonic() + patience
        while True:
            found = self.command_of(sandbox, command)
            if found["state"] == "ended":
                return found["result"]
            if time.monotonic() > deadline:
                raise AssertionError(f"{command} does not end: {found}")
            time.sleep(0.02)

    def output(self, sandbox, command, stream="stdout", offset=0, follow=True, timeout=60):
        flag = "true" if follow else "false"
        return self.get(f"/v1/sandboxes/{sandbox}/commands/{command}/output?stream={stream}&{stream}_from={offset}"
                        f"&follow={flag}", headers={"Accept": "application/octet-stream"}, timeout=timeout)

    def events(self):
        """What has happened so far. The stream goes on, and is left when it says nothing for a moment."""
        told = b""
        with contextlib.closing(self.connection(timeout=0.5)) as connection:
            connection.request("GET", "/v1/events")
            response = connection.getresponse()
            with contextlib.suppress(TimeoutError):
                while part := response.read1():
                    told += part
        self.contract.check(openapi_check.Exchange("GET", "/v1/events", response.status, response_headers=dict(response.headers),
                                                   response_body=told))
        return openapi_check.parse_events(told, "events")

    def list_all(self, **query):
        items, cursor = [], None
        while True:
            text = "&".join(f"{key}={value}" for key, value in {**query, **({"cursor": cursor} if cursor else {})}.items())
            page = self.get("/v1/sandboxes" + ("?" + text if text else ""))
            items += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return items

    def delete_all(self):
        for sandbox in self.list_all():
            self.delete(f"/v1/sandboxes/{sandbox['id']}")


def link_of(path):
    """Where a link leads; nowhere when it is gone, as a descriptor that is closed meanwhile."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


def await_none(look, patience):
    """What `look` finds, once that is nothing or the patience is over."""
    deadline = time.monotonic() + patience
    while True:
        found = look()
        if not found or time.monotonic() > deadline:
            return found
        time.sleep(0.05)


def slot_of(guest):
    """The folders of the sandbox whose first process this is or will be, one in each hierarchy of cgroups that has one."""
    mounts = {}
    for line in pathlib.Path("/proc/self/mounts").read_text().splitlines():
        _, target, kind, options = line.split()[:4]
        if kind == "cgroup2":
            mounts[""] = target
        elif kind == "cgroup":
            mounts.update({option: target for option in options.split(",")})
    found = []
    for line in pathlib.Path(f"/proc/{guest}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        inside = re.match(r".*/caisson/s\d+", path)
        target = mounts.get(controllers.split(",")[0])
        if inside and target:
            found.append(target + inside.group())
    return found


def is_below(pid, ancestor):
    while pid > 1 and pid != ancestor:
        pid = int(status_field(pid, "PPid")[0])
    return pid == ancestor


def status_field(pid, name):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return line.split(":", 1)[1].split()
    raise KeyError(name)
