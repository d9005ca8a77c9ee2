"""Builds and tests a project at one of two places: outside, as an ordinary user of the host, and inside a sandbox.

Both see the workspace at the same path, with the same uid, environment and script, so that only the sandbox differs.
"""

import ctypes
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import threading
import time

from real import counts, manifest

LIMIT_S = 3000
WORK = manifest.INPUTS / "work"
LOGS = manifest.INPUTS / "logs"
MARK = "@@ build done @@"

ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/home/agent", "USER": "agent", "LOGNAME": "agent", "SHELL": "/bin/sh",
               "LANG": "C.UTF-8", "TZ": "UTC", "TERM": "dumb"}

SCRIPT = """umask 022
cd /home/agent/workspace/project
{build}
echo '{mark}'
{test}
"""

# In a mount namespace of its own, where the copy is where a sandbox shows it, /tmp is a folder of this run, and uid 1000
# has the name it has in a sandbox; with the number of open files that a login has by default, as in a sandbox. What
# follows -- is all an ordinary user could start.
OUTSIDE = """mount -t tmpfs -o mode=0755 tmpfs /home
mkdir -p /home/agent/workspace
chown 1000:1000 /home/agent
mount --bind "$1/tree" /home/agent/workspace
{ awk -F: '$1 != "agent" && $3 != 1000' /etc/passwd; echo 'agent:x:1000:1000:agent:/home/agent:/bin/sh'; } >"$1/passwd"
{ awk -F: '$1 != "agent" && $3 != 1000' /etc/group; echo 'agent:x:1000:'; } >"$1/group"
mount --bind "$1/passwd" /etc/passwd
mount --bind "$1/group" /etc/group
mount --bind "$1/tmp" /tmp
shift
cd /home/agent
ulimit -Sn 1024
exec setpriv --reuid 1000 --regid 1000 --clear-groups --inh-caps=-all "$@"
"""

PR_SET_CHILD_SUBREAPER = 36


@dataclasses.dataclass
class Run:
    """What happened at one place."""

    exit_status: int
    seconds: float
    outcomes: counts.Outcomes
    log: pathlib.Path

    def count(self, outcome):
        return self.outcomes.count(outcome)


def command(project):
    script = SCRIPT.format(build=project.build, mark=MARK, test=project.test)
    return ["env", "-i", *(f"{name}={value}" for name, value in ENVIRONMENT.items()), "sh", "-ec", script]


def children():
    """Processes whose parent we are, also by inheritance."""
    found = []
    for folder in pathlib.Path("/proc/self/task").iterdir():
        found += [int(pid) for pid in (folder / "children").read_text().split()]
    return found


def end_children():
    """Ends what a run left behind: it has become our child, because we are its subreaper."""
    while left := children():
        for pid in left:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def wait_as_reaper(first, deadline):
    """The wait status of the process, or None at the deadline. Orphans are reaped meanwhile, as init would: tests wait
    for the end of such processes."""
    while time.monotonic() < deadline:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == first:
            return status
        if pid == 0:
            time.sleep(0.02)
    return None


def run_logged(argv, log):
    """The exit status, 124 when it did not end in time, and the seconds."""
    log.parent.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    # A pipe, as a command in a sandbox has it: tests look at what their output is.
    process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               start_new_session=True, cwd="/")
    with log.open("wb") as file:
        copier = threading.Thread(target=shutil.copyfileobj, args=(process.stdout, file))
        copier.start()
        status = wait_as_reaper(process.pid, began + LIMIT_S + 30)
        seconds = time.monotonic() - began
        end_children()
        copier.join()
    process.returncode = 0  # reaped above
    if status is None:
        return 124, seconds
    code = os.waitstatus_to_exitcode(status)
    return (128 - code if code < 0 else code), seconds


def finished(project, log, status, seconds):
    text = log.read_text("utf-8", "replace")
    tested = text.partition(f"{MARK}\n")[2]
    return Run(status, seconds, counts.read(project.format, tested), log)


def run_outside(project, tree):
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    work = WORK / project.name
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    subprocess.run(["cp", "-a", tree, work / "tree"], check=True)
    (work / "tmp").mkdir()
    (work / "tmp").chmod(0o1777)
    log = LOGS / f"{project.name}.outside"
    argv = ["unshare", "--mount", "--propagation", "private", "sh", "-ec", OUTSIDE, "sh", str(work), *command(project)]
    status, seconds = run_logged(argv, log)
    shutil.rmtree(work, ignore_errors=True)
    return finished(project, log, status, seconds)


def run_inside(project, tree, program):
    log = LOGS / f"{project.name}.inside"
    argv = [program, "run", "--workspace", f"{tree}:copy", "--timeout", f"{LIMIT_S}s", *project.options, "--", *command(project)]
    status, seconds = run_logged(argv, log)
    return finished(project, log, status, seconds)
