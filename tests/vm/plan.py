"""What a machine does: each step is one test of ctest, whole or in part. tests/vm/lint_plan.py compares this with ctest.

Emulation is 10 to 40 times slower than the processor, so that a part stands for some programs, the part that depends
most on the kernel, and programs that do not depend on it at all are left out, each with the reason.
"""

import dataclasses

KERNELS = ("6.1", "6.12")


@dataclasses.dataclass(frozen=True)
class Step:
    test: str  # as ctest names it
    part: str = "*"  # a filter of GoogleTest
    delegation: bool = True  # whether cgroup2 is mounted with nsdelegate
    seconds: int = 240  # a hang, not a measure: the host may be busy

    @property
    def name(self):
        part = "" if self.part == "*" else f" {self.part}"
        return f"{self.test}{part}{'' if self.delegation else ' (no delegation)'}"


STEPS = ()
