#!/usr/bin/env python3
"""Writes the tables of docs/kernel-support.md that say what runs on which kernel, from the results of the last vm tests.

Refuses when a step of the plan did not pass.
"""

import sys

import plan
import results
from kernels import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import document_part

DOCUMENT = ROOT / "docs" / "kernel-support.md"
PART = "steps"


def planned():
    """{kernel: [(name, part) of each step]} of the plan."""
    return {kernel: [(step.name, step.part) for step in plan.steps_of(kernel)] for kernel in plan.KERNELS}


def ran():
    """The same of what ran last and passed."""
    return {kernel: [(step["step"], step["part"]) for step in results.read(kernel) if step["passed"]]
            for kernel in plan.KERNELS}


def lacking(steps):
    """In words, what of the plan is not in `steps`."""
    return [f"{name} on {kernel}" for kernel, wanted in planned().items() for name, part in wanted
            if (name, part) not in steps[kernel]]


def render(steps):
    """The part of the document, of what planned() or ran() tell."""
    lines = ["| Test | Of it | " + " | ".join(f"Linux {kernel}" for kernel in plan.KERNELS) + " |"]
    lines.append("|---|---|" + "---|" * len(plan.KERNELS))
    for step in plan.STEPS:
        part = "all" if step.part == "*" else f"`{step.part}`"
        cells = ("passes" if (step.name, step.part) in steps[kernel] else "" for kernel in plan.KERNELS)
        lines.append(f"| {step.name} | {part} | " + " | ".join(cells) + " |")
    lines += ["", "Cases of these that skip there, and only these may:", ""]
    for kernel in plan.KERNELS:
        lines += [f"- {kernel}: " + ", ".join(f"`{name}`" for name in sorted(plan.SKIPS[kernel]))]
    lines += ["", "Not run in the machine:", "", "| Tests | Why |", "|---|---|"]
    lines += [f"| `{names.replace('|', chr(92) + '|')}` | {reason} |" for names, reason in plan.LEFT_OUT.items()]
    return "\n".join(lines)


def written():
    """What the document has there."""
    return document_part.read(DOCUMENT, PART).rstrip("\n")


def main():
    steps = ran()
    if missing := lacking(steps):
        print(f"kernel_table: not passed as planned: {', '.join(missing)}; run ./dev test dev -L vm", file=sys.stderr)
        return 1
    document_part.write(DOCUMENT, PART, render(steps))
    return 0


if __name__ == "__main__":
    sys.exit(main())
