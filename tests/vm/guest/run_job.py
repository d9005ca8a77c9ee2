#!/usr/bin/env python3
"""Inside the machine: does the steps of job.json and tells about them, one JSON object a line, on standard output.

{"begin": name}
{"text": line}                              of a step whose output is wanted as it comes
{"end": name, "status": N or null, "cases": [...], "output": its last part}     null: it was killed at its limit
{"kernel": line}                            of the kernel's log, what must not be there
{"done": true}
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import threading
import xml.etree.ElementTree

HERE = pathlib.Path("/opt/caisson")
CASES = pathlib.Path("/run/cases.xml")
OUTPUT = pathlib.Path("/run/output")
OUTPUT_LIMIT = 12_000
KERNEL_FAULT = re.compile(r"\bBUG: (?!soft lockup)|\bOops\b|general protection|\bWARNING: CPU|refcount_t")
CGROUPS = "/sys/fs/cgroup"
UNITTEST_CASE = re.compile(r"^(test_\w+) \(\w+[.](\w+)[.]\1\) [.]{3} (ok|FAIL|ERROR|skipped)(?: '(.*)')?$", re.MULTILINE)
UNITTEST_FAILURE = re.compile(r"^(?:FAIL|ERROR): (test_\w+) .*\n-{70}\n(.*?)(?=^[=-]{70}$)", re.MULTILINE | re.DOTALL)


def tell(**what):
    print(json.dumps(what), flush=True)


def set_delegation(wanted):
    """With nsdelegate a cgroup namespace is a border of delegation; without, cgroup2 is as old mounts have it."""
    options = "memory_recursiveprot" + (",nsdelegate" if wanted else "")
    # With what is mounted named too, or mount(8) adds the options there are.
    subprocess.run(["mount", "-t", "cgroup2", "-o", f"remount,{options}", "cgroup2", CGROUPS], check=True)
    mounts = pathlib.Path("/proc/self/mounts").read_text()
    line = next(line for line in mounts.splitlines() if line.split()[1] == CGROUPS)
    if ("nsdelegate" in line) != wanted:
        raise SystemExit(f"cannot set delegation: {line}")


def read_cases():
    """[{name, result, text}] of the report that GoogleTest wrote, or [] without one."""
    try:
        root = xml.etree.ElementTree.parse(CASES).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return []
    cases = []
    for case in root.iter("testcase"):
        if case.get("status") != "run" and case.get("result") != "skipped":
            continue
        failures = [item.get("message", "") for item in case.iter("failure")]
        skips = [item.get("message", "") for item in case.iter("skipped")]
        result = "failed" if failures else "skipped" if case.get("result") == "skipped" else "passed"
        cases.append({"name": f"{case.get('classname')}.{case.get('name')}", "result": result,
                      "text": "\n".join(failures or skips)})
    return cases


def read_lines_of_unittest(output):
    """The same of what unittest writes when it is told -v."""
    results = {"ok": "passed", "FAIL": "failed", "ERROR": "failed"}
    failures = dict(UNITTEST_FAILURE.findall(output))
    return [{"name": f"{group}.{name}", "result": results.get(result, "skipped"), "text": failures.get(name, reason)}
            for name, group, result, reason in UNITTEST_CASE.findall(output)]


def run(step):
    CASES.unlink(missing_ok=True)
    environment = {**os.environ, "CAISSON_BIN": str(HERE / "bin" / "caisson"), "GTEST_OUTPUT": f"xml:{CASES}",
                   "GTEST_COLOR": "no", **step.get("environment", {})}
    streams = step.get("stream", False)
    with open(OUTPUT, "wb") as output:
        child = subprocess.Popen(step["command"], cwd="/root", env=environment, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE if streams else output, stderr=subprocess.STDOUT)
    limit = threading.Timer(step["seconds"], child.kill)
    limit.start()
    if streams:
        for line in child.stdout:
            tell(text=line.decode(errors="replace").rstrip("\n"))
    status = child.wait()
    in_time = limit.is_alive()
    limit.cancel()
    output = OUTPUT.read_bytes().decode(errors="replace")
    cases = read_cases() or read_lines_of_unittest(output)
    tell(end=step["name"], status=status if in_time else None, cases=cases, output=output[-OUTPUT_LIMIT:])


def tell_faults_of_the_kernel():
    log = subprocess.run(["dmesg"], capture_output=True, text=True, errors="replace", check=True).stdout
    for line in log.splitlines():
        if KERNEL_FAULT.search(line):
            tell(kernel=line)


def main():
    delegation = True
    for step in json.loads((HERE / "job.json").read_text()):
        if step["delegation"] != delegation:
            delegation = step["delegation"]
            set_delegation(delegation)
        tell(begin=step["name"])
        run(step)
    tell_faults_of_the_kernel()
    tell(done=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
