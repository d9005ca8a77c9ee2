"""One run of a machine: QEMU without hardware help, from power on to power off, within a deadline."""

import contextlib
import ctypes
import fcntl
import json
import os
import pathlib
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time

import images
import kernels

QEMU = "qemu-system-x86_64"
MEMORY = "2560"
# With instructions for a clock Linux 6.1 waits for its second processor for ever.
PROCESSORS = {"6.1": "1", "6.12": "2"}
# An instruction takes 2 ns of the machine's time, so that limits in seconds do not depend on how busy this host is. While
# nothing runs its time goes as ours: it must not leap, since the answers of the disks come in ours.
TIME = ("-icount", "shift=1", "-rtc", "clock=vm")
PR_SET_PDEATHSIG = 1  # of <linux/prctl.h>
KERNEL_OPTIONS = "console=ttyS0 quiet loglevel=4 panic=-1 mitigations=off random.trust_cpu=on"


class Broken(Exception):
    """The machine did not come to its end; the text says how far it came."""


def qemu_command(kernel, initial_files, root, job, console):
    def disk(name, path):
        # What is written goes to an unnamed file and ends with the machine.
        drive = f"file={path},format=raw,if=none,id={name},snapshot=on,cache=unsafe"
        return ["-drive", drive, "-device", f"virtio-blk-pci,drive={name}"]

    return [QEMU, "-accel", "tcg,thread=single", "-cpu", "max", *TIME, "-m", MEMORY, "-smp", PROCESSORS[kernel.series], "-M", "pc",
            "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-kernel", str(kernel.image),
            "-initrd", str(initial_files), "-append", KERNEL_OPTIONS, "-serial", f"file:{console}",
            "-chardev", "stdio,id=report,signal=off", "-serial", "chardev:report", *disk("root", root),
            *disk("job", job)]


def processor_seconds(pid):
    """What a process has used so far, all its threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def read_lines(stream, lines):
    for line in stream:
        lines.put(line)
    lines.put(None)


def reports(qemu, deadline):
    """Yields what the machine tells, each with the processor seconds used so far, until it has powered off."""
    lines = queue.Queue()
    threading.Thread(target=read_lines, args=(qemu.stdout, lines), daemon=True).start()
    while True:
        try:
            line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            raise Broken("the machine did not end in time") from None
        if line is None:
            return
        text = line.decode(errors="replace").strip()
        try:
            report = json.loads(text)
        except ValueError:
            report = {"noise": text}
        yield report, processor_seconds(qemu.pid)


def is_unused(folder):
    """Whether nobody holds the lock of `folder`."""
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(fd)
    return True


@contextlib.contextmanager
def scratch_folder():
    """A folder that goes with its user: what one that was killed leaves behind, the next removes."""
    with images.locked():
        for old in images.FOLDER.glob("run-*"):
            if is_unused(old):
                shutil.rmtree(old, ignore_errors=True)
        folder = tempfile.mkdtemp(dir=images.FOLDER, prefix="run-")
        lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        yield pathlib.Path(folder)
    finally:
        shutil.rmtree(folder)
        os.close(lock)


def end_with_the_caller():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run(series, steps, programs, seconds):
    """Boots Linux `series`, does `steps` with `programs` and yields each report. Raises kernels.Missing when this host
    lacks something, Broken when the machine hangs, dies or says nothing at its end."""
    if not shutil.which(QEMU):
        raise kernels.Missing(f"there is no {QEMU}; ./dev setup installs qemu-system-x86")
    kernel = kernels.find(series)
    root = images.root_image()
    with scratch_folder() as folder:
        initial_files, job, console = folder / "initial", folder / "job", folder / "console"
        initial_files.write_bytes(kernels.initial_files(kernel, images.GUEST / "init"))
        images.job_image(job, steps, programs)
        console.touch()
        deadline = time.monotonic() + seconds
        qemu = subprocess.Popen(qemu_command(kernel, initial_files, root, job, console), stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, preexec_fn=end_with_the_caller)
        done = False
        try:
            for report, used in reports(qemu, deadline):
                done = done or "done" in report
                yield report, used
            if not done:
                raise Broken("the machine went off before it was done")
        except Broken as error:
            raise Broken(f"{error}; the end of its console:\n{console.read_text(errors='replace')[-4000:]}") from None
        finally:
            qemu.kill()
            qemu.wait()
