#!/usr/bin/env python3
"""Boots one of Debian's kernels and does the steps of plan.py in it. What came out is kept in build/vm (results.py).

Exit status: 0 all as planned; 1 a case failed, was skipped or ran against the plan, a primitive of the kernel is not
as planned, or the machine hung; 77 this host has no such machine, with the reason.
"""

import argparse
import re
import sys

import judge
import kernels
import machine
import plan
import programs
import results

# A hang, not a measure: the host may be busy.
DEADLINE_S = 900


def job(steps):
    """`steps` as guest/run_job.py takes them, each under the name it is reported by."""
    doctor = {"name": judge.PRIMITIVES, "command": [f"{programs.HOME}/bin/caisson", "doctor", "--json"], "seconds": 120,
              "delegation": True}
    told = [doctor]
    for step in steps:
        group, _, subject = step.test.partition(".")
        if group == "escape":
            side = {"control": "outside"}.get(subject, subject)
            command = ["python3", f"{programs.HOME}/escape/escape_test.py", "--probe",
                       f"{programs.HOME}/bin/escape_probe", "--side", side]
        elif step.script is not None:
            patterns = [] if step.part == "*" else [word for part in step.part.split(":") for word in ("-k", part)]
            command = ["python3", "-B", f"{programs.HOME}/tests/daemon/{step.script}", "-v", *patterns]
        else:
            command = [f"{programs.HOME}/tests/{step.program}"]
        told.append({"name": step.name, "command": command, "seconds": step.seconds, "delegation": step.delegation,
                      "environment": {"GTEST_FILTER": step.part,
                                      "CAISSON_MAY_CHANGE_THE_HOST": "1" if step.only_here else "0"}})
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel", choices=plan.KERNELS)
    parser.add_argument("--seconds", type=int, default=DEADLINE_S, help="after these the machine is switched off")
    parser.add_argument("--only", default="", metavar="REGEX", help="only the steps whose name it matches")
    options = parser.parse_args()
    kernel = options.kernel
    steps = [step for step in plan.steps_of(kernel) if re.search(options.only, step.name)]
    tests = {step.program for step in steps if step.is_google_test}
    judged = judge.Judge(kernel, steps)
    try:
        for report, used in machine.run(kernel, job(steps), programs.of_build(sorted(tests)), options.seconds):
            judged.take(report, used)
    except kernels.Missing as reason:
        print(f"skipped: {reason}")
        return 77
    except machine.Broken as error:
        judged.tell("the machine", [str(error)], "")
    judged.end()
    results.keep(kernel, judged.results)
    print(f"Linux {kernel}: {len(judged.results)} steps, {len(judged.problems)} problems")
    return 1 if judged.problems else 0


if __name__ == "__main__":
    sys.exit(main())
