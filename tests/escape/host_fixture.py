"""What the probes are aimed at: canaries, listeners and processes of the host, made for one run, removed after it."""

import ctypes
import hashlib
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import threading

from second_sandbox import Openings, SecondSandbox

IPC_CREAT = 0o1000
IPC_RMID = 0
MARKER_DIRECTORIES = ["/", "/etc", "/usr/local", "/root", "/home", "/var/tmp", "/tmp", "/dev/shm"]
PROBED_MOUNTS = ("/", "/proc", "/sys", "/dev", "/tmp")


def fnv1a(data: bytes) -> str:
    """The digest that the probe compares /etc/shadow with."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return f"{value:x}"


class Listeners:
    """Accepts and counts connections on a loopback port, an abstract name and a socket file."""

    def __init__(self, token: str, directory: str):
        self.abstract_name = f"escape-{token}"
        self.socket_file = os.path.join(directory, "socket")
        self.connections = 0
        self._lock = threading.Lock()
        self._sockets = [
            self._listen(socket.AF_INET, ("127.0.0.1", 0)),
            self._listen(socket.AF_UNIX, "\0" + self.abstract_name),
            self._listen(socket.AF_UNIX, self.socket_file),
        ]
        os.chmod(self.socket_file, 0o777)
        self.port = self._sockets[0].getsockname()[1]

    def _listen(self, family, address):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.bind(address)
        listener.listen(16)
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        return listener

    def _accept(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
            connection.close()

    def close(self):
        for listener in self._sockets:
            listener.close()


class SharedMemory:
    """One System V segment and one file in /dev/shm."""

    def __init__(self, token: str):
        self.key = 10**9 + secrets.randbelow(10**9)  # as wide as the column that shows it
        self.name = f"escape-{token}"
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._id = self._libc.shmget(self.key, 4096, IPC_CREAT | 0o666)
        if self._id < 0:
            raise OSError(ctypes.get_errno(), "shmget")
        with open(f"/dev/shm/{self.name}", "w", encoding="ascii") as file:
            file.write(token)

    def close(self):
        self._libc.shmctl(self._id, IPC_RMID, None)
        os.unlink(f"/dev/shm/{self.name}")


class HostFixture:
    """`workspace` holds the program, `arguments()` gives what to tell it, `violations()` what went wrong."""

    def __init__(self, probe: str, caisson: str = ""):
        """With `caisson`, the program, a second sandbox lives beside what is done: for runs inside."""
        self._caisson = caisson
        self._second = None
        self.token = secrets.token_hex(12)
        self.secret = secrets.token_hex(16)
        self.marker = f"escape-marker-{self.token}"
        self._probe = probe
        self._undo = []
        self._fds = []

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, *_):
        self._close()

    def _build(self):
        # Only who knows the names inside can enter: one of them is a setuid program.
        self.directory = tempfile.mkdtemp(prefix="caisson-escape-", dir="/var/tmp")
        self._undo.append(lambda: shutil.rmtree(self.directory, ignore_errors=True))
        os.chmod(self.directory, 0o711)
        self.workspace = os.path.join(self.directory, self.token)
        os.mkdir(self.workspace)
        os.chmod(self.workspace, 0o711)
        shutil.copy(self._probe, os.path.join(self.workspace, "escape_probe"))
        self.setuid_program = os.path.join(self.workspace, f"setuid-{self.token}")
        shutil.copy(self._probe, self.setuid_program)
        os.chmod(self.setuid_program, 0o4755)

        self.canaries = [os.path.join(self.directory, f"canary-{mode:o}-{self.token}") for mode in (0o644, 0o600)]
        for path, mode in zip(self.canaries, (0o644, 0o600)):
            with open(path, "w", encoding="ascii") as file:
                file.write(self.secret)
            os.chmod(path, mode)

        self.listeners = Listeners(self.token, self.directory)
        self._undo.append(self.listeners.close)
        self.shared_memory = SharedMemory(self.token)
        self._undo.append(self.shared_memory.close)
        self.process_name = f"escape-process-{self.token}"
        self.process = subprocess.Popen([self.process_name, "600"], executable="/bin/sleep", stdin=subprocess.DEVNULL)
        self._undo.append(self._end_process)
        for path in (self.canaries[0], "/"):
            self._fds.append(os.open(path, os.O_RDONLY))
            self._undo.append(lambda fd=self._fds[-1]: os.close(fd))
        self._before = self._state()
        self._openings = Openings(self.canaries)
        self._undo.append(self._openings.close)
        if self._caisson:
            self._second = SecondSandbox(self._caisson, self.directory)
            self._undo.append(self._second.close)

    def _end_process(self):
        self.process.kill()
        self.process.wait()

    def _close(self):
        for undo in reversed(self._undo):
            undo()
        self._undo.clear()

    @property
    def fds(self):
        """Descriptors to hand to whatever starts the probes, which must not pass them on."""
        return tuple(self._fds)

    def arguments(self) -> list:
        names = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"]
        values = {
            "canary": self.canaries[0],
            "marker": self.marker,
            "port": self.listeners.port,
            "abstract-socket": self.listeners.abstract_name,
            "socket-file": self.listeners.socket_file,
            "shm-key": self.shared_memory.key,
            "posix-shm": self.shared_memory.name,
            "host-process": self.process_name,
            "hostname": socket.gethostname(),
            "namespaces": "".join(os.readlink(f"/proc/self/ns/{name}") + "," for name in names),
        }
        with open("/etc/shadow", "rb") as file:
            values["shadow-digest"] = fnv1a(file.read())
        if machine_id := read_text("/etc/machine-id").strip():
            values["machine-id"] = machine_id
        paths = [line.split(":", 2)[2] for line in read_text("/proc/self/cgroup").splitlines()]
        if own := [path for path in paths if path != "/"]:
            values["cgroup-path"] = own[0]
        return [f"--{key}={value}" for key, value in values.items()]

    def _state(self) -> dict:
        """What no probe inside may change."""
        state = {"hostname": socket.gethostname()}
        for path in self.canaries + [self.setuid_program, os.path.join(self.workspace, "escape_probe")]:
            status = os.stat(path)
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read()).hexdigest()
            state[path] = (digest, status.st_mode, status.st_uid, status.st_gid, status.st_size, status.st_mtime_ns)
        state["workspace"] = sorted(os.listdir(self.workspace))
        for path in ("/proc/sys/kernel/core_pattern", "/proc/sys/net/ipv4/ip_forward"):
            state[path] = read_text(path)
        # Only what a probe would mount or change: others may mount something meanwhile.
        lines = read_text("/proc/self/mounts").splitlines()
        state["mounts"] = [line for line in lines if "escape" in line or line.split()[1] in PROBED_MOUNTS]
        return state

    def violations(self, output: bytes) -> list:
        """What a run inside did to the host, or learned of it, in words."""
        found = []
        if self._openings.take():
            found.append("a canary was opened")
        if self._second:
            found += self._second.violations(output)
        now = self._state()
        found += [f"the host's {key} changed" for key, value in self._before.items() if now[key] != value]
        if self.secret.encode() in output:
            found.append("the canary's content is in the output")
        if self.listeners.connections:
            found.append(f"{self.listeners.connections} connections reached listeners of the host")
        for directory in MARKER_DIRECTORIES:
            path = os.path.join(directory, self.marker)
            if os.path.lexists(path):
                found.append(f"{path} was made on the host")
                os.unlink(path)
        if self.process.poll() is not None:
            found.append("a process of the host was ended")
        return found


def read_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""
