"""Sets kernel.core_pattern for a moment and gives it back in every case, this process being killed among them."""

import os
import signal

PATH = "/proc/sys/kernel/core_pattern"


def _write(value: bytes):
    with open(PATH, "wb", buffering=0) as file:
        file.write(value)


class CorePattern:
    """A context manager. A second process holds the old value and writes it back when the pipe to this one closes."""

    def __init__(self, pattern: str):
        self._pattern = pattern.encode()

    def __enter__(self):
        with open(PATH, "rb") as file:
            self._old = file.read()
        read_end, self._write_end = os.pipe()
        self._guard = os.fork()
        if self._guard == 0:
            self._stand_guard(read_end)
        os.close(read_end)
        _write(self._pattern)
        return self

    def _stand_guard(self, read_end: int):
        try:
            os.setsid()
            for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(name, signal.SIG_IGN)
            os.close(self._write_end)
            os.read(read_end, 1)
            _write(self._old)
        finally:
            os._exit(0)

    def __exit__(self, *_):
        os.close(self._write_end)
        os.waitpid(self._guard, 0)
        with open(PATH, "rb") as file:
            if file.read() != self._old:
                raise RuntimeError(f"{PATH} was not restored to {self._old!r}")
