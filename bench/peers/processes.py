"""Starting programs with a deadline, and knowing every process that came of them.

This program is the child subreaper of all it starts (prctl(2)), so what a sandbox leaves running, also a daemon that
left its session, stays below it: it can be counted, measured and ended by its id.
"""

import ctypes
import os
import pathlib
import select
import signal
import subprocess
import time

PR_SET_CHILD_SUBREAPER = 36
PROC = pathlib.Path("/proc")
LONGEST_REASON = 200
REAP_EVERY_S = 0.02
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": "/root"}


class Failed(Exception):
    """Something could not be done or measured; says why on one line."""


def one_line(text):
    return " ".join(text.split())[-LONGEST_REASON:]


def become_subreaper():
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise Failed("prctl(PR_SET_CHILD_SUBREAPER): " + os.strerror(ctypes.get_errno()))


# ---- the processes that there are


def children(pid):
    try:
        return [int(child) for task in (PROC / str(pid) / "task").iterdir()
                for child in (task / "children").read_text().split()]
    except OSError:  # it has ended
        return []


def descendants(pid):
    found, waiting = set(), [pid]
    while waiting:
        for child in children(waiting.pop()):
            if child not in found:
                found.add(child)
                waiting.append(child)
    return found


def command_name(pid):
    try:
        return (PROC / str(pid) / "comm").read_text().strip()
    except OSError:
        return ""


def command_line(pid):
    try:
        return (PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def pss_bytes(pid):
    """The process's share of the memory it uses: a page that N processes use counts 1/N. 0 when it has ended."""
    try:
        for line in (PROC / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 0


def end(pids, patience_s=10):
    """Kills processes that this program started, and waits for those that are its children."""
    pids = list(pids)
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    deadline = time.monotonic() + patience_s
    for pid in pids:
        while time.monotonic() < deadline:
            try:
                if os.waitpid(pid, os.WNOHANG)[0] == pid:
                    break
            except ChildProcessError:
                break
            time.sleep(0.005)


def reap_orphans(keep=()):
    """Takes the status of children that ended and that nobody waits for: those that a sandbox left to this program."""
    for pid in children(os.getpid()):
        if pid not in keep:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                pass


# ---- starting


def wait_for_end(pid, deadline_s):
    """The exit status as the shell tells it. Kills at the deadline and raises Failed."""
    handle = os.pidfd_open(pid)
    try:
        poll = select.poll()
        poll.register(handle, select.POLLIN)
        if not poll.poll(deadline_s * 1000):
            end(descendants(pid) | {pid})
            raise Failed(f"did not end within {deadline_s:g} s")
    except BaseException:
        end([pid])
        raise
    finally:
        os.close(handle)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return 128 - code if code < 0 else code


class Diagnostics:
    """A file in memory for what a program says on its standard error; read when it failed."""

    def __init__(self):
        self.fd = os.memfd_create("diagnostics")

    def take(self):
        text = os.pread(self.fd, 65536, 0).decode(errors="replace")
        os.ftruncate(self.fd, 0)
        os.lseek(self.fd, 0, os.SEEK_SET)
        return one_line(text)

    def close(self):
        os.close(self.fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def spawn(argv, diagnostics):
    actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0), (os.POSIX_SPAWN_DUP2, diagnostics.fd, 2)]
    try:
        return os.posix_spawn(argv[0], argv, ENVIRONMENT, file_actions=actions, setpgroup=0)
    except OSError as error:
        raise Failed(f"cannot start {argv[0]}: {error.strerror}") from None


def time_once(argv, diagnostics, deadline_s):
    """Seconds from before the start of a program to its end. Raises Failed when it did not exit with 0."""
    start = time.perf_counter()
    status = wait_for_end(spawn(argv, diagnostics), deadline_s)
    took = time.perf_counter() - start
    said = diagnostics.take()
    if status != 0:
        raise Failed(f"status {status}: {said}")
    return took


def popen(argv, **streams):
    try:
        return subprocess.Popen(argv, env=ENVIRONMENT, process_group=0, **streams)
    except OSError as error:
        raise Failed(f"cannot start {argv[0]}: {error.strerror}") from None


def output_of(argv, deadline_s, stdin=None):
    """(standard output, seconds). Raises Failed when the program did not exit with 0 in time."""
    start = time.perf_counter()
    with popen(argv, stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as program:
        try:
            out, err = program.communicate(timeout=deadline_s)
        except BaseException as error:
            end(descendants(program.pid) | {program.pid})
            if isinstance(error, subprocess.TimeoutExpired):
                raise Failed(f"did not end within {deadline_s:g} s") from None
            raise
    took = time.perf_counter() - start
    if program.returncode != 0:
        raise Failed(f"status {program.returncode}: " + one_line((err or out).decode(errors="replace")))
    return out.decode(errors="replace"), took


def run_and_reap(argv, deadline_s):
    """Runs a program that waits for the end of others, which are children of this program and end for it only when
    this one takes their status. Raises Failed when it did not exit with 0 in time."""
    with Diagnostics() as diagnostics:
        pid = spawn(argv, diagnostics)
        handle = os.pidfd_open(pid)
        try:
            deadline = time.monotonic() + deadline_s
            while not select.select([handle], [], [], REAP_EVERY_S)[0]:
                reap_orphans(keep={pid})
                if time.monotonic() > deadline:
                    end(descendants(pid) | {pid})
                    raise Failed(f"did not end within {deadline_s:g} s")
        finally:
            os.close(handle)
        if (status := wait_for_end(pid, deadline_s)) != 0:
            raise Failed(f"status {status}: {diagnostics.take()}")


class Background:
    """A program that runs beside this one and says a line on its standard output when it is ready."""

    def __init__(self, argv, deadline_s):
        self.errors = Diagnostics()
        self.program = popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors.fd)
        try:
            self.first_line = self.read_line(deadline_s)
        except BaseException:
            self.stop()
            raise

    def read_line(self, deadline_s):
        if not select.select([self.program.stdout], [], [], deadline_s)[0]:
            raise Failed(f"was not ready within {deadline_s:g} s")
        if not (line := self.program.stdout.readline()):
            raise Failed("ended before it was ready: " + self.errors.take())
        return line.decode(errors="replace").strip()

    @property
    def pid(self):
        return self.program.pid

    def stop(self, with_signal=signal.SIGKILL, patience_s=10):
        """Ends it: its input first, since there are programs that go by that, then the signal, then all below it."""
        self.program.stdin.close()
        below = descendants(self.pid)
        self.program.send_signal(with_signal)
        try:
            self.program.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.program.kill()
            self.program.wait(patience_s)
        end(pid for pid in below if pid in descendants(os.getpid()))
        self.program.stdout.close()
        self.errors.close()
