#!/usr/bin/env python3
"""Refuses a test that is neither in the plan of tests/vm nor left out there with a reason, a plan for tests that do not
exist, and a table in docs/kernel-support.md that is not of this plan."""

import argparse
import json
import re
import subprocess
import sys

import kernel_table
import plan
from kernels import ROOT

DAEMON_SUITE = ROOT / "tests" / "daemon"
LABELS = {"unit", "integration", "escape"}


def tests_of(build):
    """The names of the tests that a machine could run."""
    text = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True, text=True,
                          check=True).stdout
    names = []
    for test in json.loads(text)["tests"]:
        properties = {item["name"]: item["value"] for item in test["properties"]}
        if LABELS & set(properties.get("LABELS", [])):
            names.append(test["name"])
    return names


def problems(tests, steps, left_out, skips):
    """What is wrong with a plan, in words."""
    planned = {step.test for step in steps}
    only_here = {step.test for step in steps if step.only_here}
    found = [f"{name} changes its host, and ctest has it" for name in sorted(only_here & set(tests))]
    known = set(tests) | {step.test for step in steps if step.only_here and (DAEMON_SUITE / step.script).exists()}
    for name in sorted(planned - known):
        found.append(f"the plan has {name}, which is no test")
    for name in tests:
        reasons = [expression for expression in left_out if re.fullmatch(expression, name)]
        if name not in planned and not reasons:
            found.append(f"{name} is neither planned nor left out with a reason")
        if name in planned and reasons:
            found.append(f"{name} is planned and left out")
    for expression in left_out:
        if not any(re.fullmatch(expression, name) for name in tests):
            found.append(f"nothing is left out by {expression}")
    for kernel in plan.KERNELS:
        names = [step.name for step in steps if kernel in step.kernels]
        found += [f"{name} is planned twice on {kernel}" for name in sorted(set(names)) if names.count(name) > 1]
    if set(skips) != set(plan.KERNELS):
        found.append("the cases that skip are not those of the kernels of the plan")
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", required=True, help="the folder that ctest knows")
    options = parser.parse_args()
    found = problems(tests_of(options.build), plan.STEPS, plan.LEFT_OUT, plan.SKIPS)
    if kernel_table.written() != kernel_table.render(kernel_table.planned()):
        found.append("docs/kernel-support.md is not of this plan; after the vm tests: tests/vm/kernel_table.py")
    for text in found:
        print(f"tests/vm/plan.py: {text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
