"""A sandbox that lives beside the one with the probes, with two secrets of its own, and must notice nothing of it."""

import ctypes
import os
import secrets
import select
import subprocess
import time

PATIENCE = 60.0
IN_OPEN = 0x20
# Answers each line with what it knows, secrets with their halves exchanged, and what it sees of files and processes.
SCRIPT = """
while read -r question; do
  read -r file < /home/agent/workspace/secret
  echo "${CANARY#????????????????}${CANARY%????????????????}" \
    "${file#????????????????}${file%????????????????}" \
    /home/agent/* /home/agent/.[!.]* /home/agent/workspace/* /tmp/* /tmp/.[!.]* /dev/shm/* /var/tmp/* /proc/[0-9]*
done
"""


class SecondSandbox:
    def __init__(self, caisson: str, directory: str):
        self.secrets = [secrets.token_hex(16), secrets.token_hex(16)]
        workspace = os.path.join(directory, "second")
        os.mkdir(workspace)
        with open(os.path.join(workspace, "secret"), "w", encoding="ascii") as file:
            file.write(self.secrets[1] + "\n")
        command = [caisson, "run", "--workspace", f"{workspace}:ro", "--env", f"CANARY={self.secrets[0]}"]
        command += ["--timeout", "24h", "--memory", "64MiB", "--pids", "32", "--", "sh", "-c", SCRIPT]
        self._program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._first = self._ask()
        if not self._first.startswith(" ".join(secret[16:] + secret[:16] for secret in self.secrets)):
            self.close()
            raise SystemExit(f"the second sandbox does not answer: {self._first}")

    def _ask(self) -> str:
        deadline = time.monotonic() + PATIENCE
        answer = b""
        try:
            self._program.stdin.write(b"?\n")
            self._program.stdin.flush()
        except OSError:
            return ""
        while not answer.endswith(b"\n"):
            if not select.select([self._program.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]:
                return ""
            part = os.read(self._program.stdout.fileno(), 4096)
            if not part:
                return ""
            answer += part
        return answer.decode(errors="replace").strip()

    def violations(self, output: bytes) -> list:
        found = []
        answer = self._ask()
        if not answer:
            found.append("the second sandbox does not answer")
        elif answer != self._first:
            found.append(f"the second sandbox sees {answer} and no longer {self._first}")
        if any(secret.encode() in output for secret in self.secrets):
            found.append("a secret of the second sandbox is in the output")
        return found

    def close(self):
        self._program.stdin.close()
        self._program.stdout.close()
        self._program.wait(PATIENCE)


class Openings:
    """Notices who opens one of these files, whatever name and namespace it has it from. Source: inotify(7)."""

    def __init__(self, paths: list):
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd = self._libc.inotify_init1(os.O_CLOEXEC | os.O_NONBLOCK)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        for path in paths:
            if self._libc.inotify_add_watch(self._fd, os.fsencode(path), IN_OPEN) < 0:
                raise OSError(ctypes.get_errno(), f"inotify_add_watch {path}")

    def take(self) -> bool:
        """Whether one was opened since the last call."""
        try:
            return bool(os.read(self._fd, 4096))
        except BlockingIOError:
            return False

    def close(self):
        os.close(self._fd)
