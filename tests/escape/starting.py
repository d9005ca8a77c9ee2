"""The ways in which a caller starts the probes: in the foreground, in the background, on a terminal."""

import os
import pty
import subprocess
import tempfile

DEADLINE_S = 720

# Starts "$@" in a session of its own, once whoever started it is gone and process 1 has become its parent. `cat` holds
# the result back until the last writer has ended.
BACKGROUND = """
( setsid sh -c '
    until read -r _ _ _ parent _ </proc/$$/stat && [ "$parent" = 1 ]; do :; done
    exec "$@"' sh "$@" & ) | cat
"""


def in_background(command: list) -> list:
    return ["sh", "-c", BACKGROUND, "sh", *command]


def run_to_file(command: list, fds: tuple = ()) -> tuple:
    """(exit status, stdout, stderr) of a command whose output is a regular file, as a careless caller's is."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        status = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, pass_fds=fds, timeout=DEADLINE_S, check=False
        ).returncode
        out.seek(0)
        err.seek(0)
        return status, out.read(), err.read()


class CallersTerminal:
    """A pseudo-terminal as an operator sits at it."""

    def __enter__(self):
        self._master, self._slave = pty.openpty()
        return self

    def __exit__(self, *_):
        os.close(self._master)
        if self._slave >= 0:
            os.close(self._slave)

    def arguments(self) -> list:
        """What the probes are told of it."""
        return [f"--terminal-device={os.fstat(self._slave).st_dev}"]

    def run(self, command: list, fds: tuple = ()) -> tuple:
        """(exit status, everything that was shown). Only once."""
        process = subprocess.Popen(
            command, stdin=self._slave, stdout=self._slave, stderr=self._slave, pass_fds=fds, start_new_session=True
        )
        os.close(self._slave)
        self._slave = -1
        shown = bytearray()
        try:
            while block := os.read(self._master, 65536):
                shown += block
        except OSError:  # EIO: the last one who had it open is gone
            pass
        return process.wait(timeout=DEADLINE_S), bytes(shown)
