"""Compares what a machine tells, in the reports of guest/run_job.py, with what plan.py says."""

import json

import plan

PRIMITIVES = "primitives"  # the step that runs `caisson doctor --json`


def problems_of_primitives(kernel, output):
    """What `caisson doctor` found otherwise than this kernel has it."""
    try:
        found = {item["name"]: item for item in json.loads(output)["primitives"]}
    except (ValueError, KeyError):
        return [f"no report of the host: {output}"]
    problems = []
    for name, item in found.items():
        expected = plan.PRIMITIVES[kernel].get(name)
        told = f"{item['status']}: {item['found']}"
        if expected is not None and told != expected:
            problems.append(f"{name} is '{told}', not '{expected}'")
        if expected is None and item["status"] != "ok":
            problems.append(f"missing primitive: {name} is '{told}'")
    return problems + [f"no word of {name}" for name in plan.PRIMITIVES[kernel] if name not in found]


def problems_of_cases(kernel, step, report):
    """What of one step was not as planned."""
    allowed = plan.SKIPS[kernel]
    problems = []
    for case in report["cases"]:
        if case["result"] == "failed":
            problems.append(f"failed: {case['name']}: {case['text']}")
        elif case["result"] == "skipped" and case["name"] not in allowed:
            problems.append(f"skipped against the plan: {case['name']}: {case['text']}")
        elif case["result"] == "passed" and case["name"] in allowed:
            problems.append(f"ran, although the plan says it cannot: {case['name']}")
    if report["status"] is None:
        problems.append(f"killed after {step.seconds} s; its output ends with:\n{report['output']}")
    elif report["status"] != 0 and not problems:
        problems.append(f"ended with {report['status']}; its output ends with:\n{report['output']}")
    elif step.has_cases and not report["cases"]:
        problems.append("no case ran")
    return problems


class Judge:
    """Compares what the machine tells with the plan, prints it and keeps it."""

    def __init__(self, kernel, steps):
        self.kernel = kernel
        self.open = {step.name: step for step in steps}
        self.results = []
        self.problems = []
        self.began_at = 0.0

    def take(self, report, used):
        if "begin" in report:
            self.began_at = used
        elif report.get("end") == PRIMITIVES:
            self.tell(PRIMITIVES, problems_of_primitives(self.kernel, report["output"]), "")
        elif "end" in report:
            step = self.open.pop(report["end"])
            found = problems_of_cases(self.kernel, step, report)
            skipped = [case["name"] for case in report["cases"] if case["result"] == "skipped"]
            self.results.append({"step": step.name, "part": step.part, "passed": not found, "skipped": skipped})
            cases = f"{len(report['cases']) - len(skipped)} cases, " if step.has_cases else ""
            self.tell(step.name, found, f"{cases}{used - self.began_at:.1f} s of the processor")
            for name in skipped:
                print(f"       not on this kernel: {name}")
        elif "kernel" in report:
            self.tell("the kernel's log", [report["kernel"]], "")
        elif "noise" in report:
            print(f"       {report['noise']}")

    def tell(self, name, problems, note):
        self.problems += problems
        print(f"{'FAILED' if problems else 'ok    '} {name}  {note}", flush=True)
        for problem in problems:
            print("       " + problem.replace("\n", "\n         "), flush=True)

    def end(self):
        if self.open:
            self.tell("steps not done:", [", ".join(self.open)], "")
