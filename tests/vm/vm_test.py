#!/usr/bin/env python3
"""Boots one of Debian's kernels and does the steps of plan.py in it. What came out is kept in build/vm/results-KERNEL.json.

Exit status: 0 all as planned; 1 a case failed, was skipped or ran against the plan, a primitive of the kernel is not
as planned, or the machine hung; 77 this host has no such machine, with the reason.
"""

import argparse
import json
import sys

import images
import judge
import kernels
import machine
import plan
import programs

# A hang, not a measure: the host may be busy.
DEADLINE_S = 900


def job(kernel):
    """The steps of `kernel` as guest/run_job.py takes them, each under the name it is reported by."""
    doctor = {"name": judge.PRIMITIVES, "command": [f"{programs.HOME}/bin/caisson", "doctor", "--json"], "seconds": 120,
              "delegation": True}
    steps = [doctor]
    for step in plan.steps_of(kernel):
        group, _, subject = step.test.partition(".")
        if group == "escape":
            side = {"control": "outside"}.get(subject, subject)
            command = ["python3", f"{programs.HOME}/escape/escape_test.py", "--probe",
                       f"{programs.HOME}/bin/escape_probe", "--side", side]
        else:
            command = [f"{programs.HOME}/tests/{step.program}"]
        steps.append({"name": step.name, "command": command, "seconds": step.seconds, "delegation": step.delegation,
                      "environment": {"GTEST_FILTER": step.part}})
    return steps


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kernel", choices=plan.KERNELS)
    parser.add_argument("--seconds", type=int, default=DEADLINE_S, help="after these the machine is switched off")
    options = parser.parse_args()
    kernel = options.kernel
    tests = {step.program for step in plan.steps_of(kernel) if step.is_google_test}
    judged = judge.Judge(kernel)
    try:
        for report, used in machine.run(kernel, job(kernel), programs.of_build(sorted(tests)), options.seconds):
            judged.take(report, used)
    except kernels.Missing as reason:
        print(f"skipped: {reason}")
        return 77
    except machine.Broken as error:
        judged.tell("the machine", [str(error)], "")
    judged.end()
    results = {"kernel": kernel, "steps": judged.results, "problems": len(judged.problems)}
    (images.FOLDER / f"results-{kernel}.json").write_text(json.dumps(results, indent=1))
    print(f"Linux {kernel}: {len(judged.results)} steps, {len(judged.problems)} problems")
    return 1 if judged.problems else 0


if __name__ == "__main__":
    sys.exit(main())
