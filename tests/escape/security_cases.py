#!/usr/bin/env python3
"""Holds docs/security-cases.md against security_cases.json, the list of the probes and expectations.txt.

  security_cases.py --probe PROGRAM             fails when the document is stale or a case is held by nothing
  security_cases.py --probe PROGRAM --write     makes the document anew

A row of security_cases.json is one way in which sandboxes have failed:
  id      letter and number, which the probes name too
  what    what goes wrong, in one line
  also    probes of other cases that hold this one as well
  tests   tests by their ctest names
  note    what holds it besides
  reason  why neither a probe nor a test can
"""

import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
DOCUMENT = ROOT / "docs" / "security-cases.md"
FIELDS = {"id", "what", "also", "tests", "note", "reason"}
TIER = "process"
SECTIONS = {
    "A": "Files, mounts, links, archives",
    "B": "/proc, /sys, /dev",
    "C": "Descriptors and terminals",
    "D": "Users, rights, namespaces, settings",
    "E": "Cgroups and accounting",
    "F": "System calls",
    "G": "Landlock",
    "H": "Using things up",
}

Probe = collections.namedtuple("Probe", "name case act")


def list_of_probes(program: str) -> list:
    listing = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout
    return [Probe(*line.split("\t")) for line in listing.splitlines()]


def read_expectations(text: str) -> dict:
    """probe -> (outside, agent, root)"""
    rows = (line.split("#")[0].split() for line in text.splitlines())
    return {row[0]: tuple(row[1:]) for row in rows if row}


def test_exists(name: str) -> bool:
    """By the file that a ctest name stands for: a test that this build leaves out exists nevertheless."""
    module, _, stem = name.partition(".")
    if module in ("escape", "fault"):
        return f"add_test(NAME {name} " in (ROOT / "tests" / module / "CMakeLists.txt").read_text("utf-8")
    if module == "integration":
        return (ROOT / "tests" / "integration" / f"{stem}_test.cc").exists()
    return (ROOT / "src" / "caisson" / module / f"{stem}.cc").exists()


def problems_of(cases: list, probes: list, expectations: dict, exists=test_exists) -> list:
    found = []
    ids = [case["id"] for case in cases]
    names = {probe.name for probe in probes}
    held = {probe.case for probe in probes}
    found += [f"case {id} is there twice" for id, count in collections.Counter(ids).items() if count > 1]
    for case in cases:
        where = f"case {case['id']}"
        found += [f"{where}: unknown field {field}" for field in case.keys() - FIELDS]
        if not re.fullmatch(r"[A-H][1-9][0-9]?", case["id"]):
            found.append(f"{where}: no such section")
        if not case.get("what"):
            found.append(f"{where}: does not say what it is")
        if not (case["id"] in held or case.get("also") or case.get("tests") or case.get("reason")):
            found.append(f"{where}: neither a probe nor a test nor a reason")
        found += [f"{where}: there is no probe {name}" for name in case.get("also", []) if name not in names]
        found += [f"{where}: there is no test {name}" for name in case.get("tests", []) if not exists(name)]
    found += [f"probe {probe.name}: there is no case {probe.case}" for probe in probes if probe.case not in ids]
    found += [f"probe {probe.name}: no line in expectations.txt" for probe in probes if probe.name not in expectations]
    found += [f"expectations.txt: there is no probe {name}" for name in expectations if name not in names]
    return found


def cell(text: str) -> str:
    return text.replace("|", "\\|")


def expected(result: str) -> str:
    if result in ("*", "-"):
        return {"*": "not judged", "-": "not done"}[result]
    return " or ".join(result.replace("not_run", "nothing to try").replace("killed:", "killed by ").split("|"))


def held_by(case: dict, probes: list) -> str:
    """The probes of its own by number, those of other cases and the tests by name, then words."""
    own = sum(probe.case == case["id"] for probe in probes)
    parts = [f"{own} probe{'s' if own > 1 else ''}"] if own else []
    parts += [f"`{name}`" for name in case.get("also", []) + case.get("tests", [])]
    text = ", ".join(parts)
    words = case.get("note") or case.get("reason") or ""
    return f"{text}; {words}" if text and words else text or words


def document(cases: list, probes: list, expectations: dict) -> str:
    without = sum(not (any(p.case == c["id"] for p in probes) or c.get("also") or c.get("tests")) for c in cases)
    lines = [
        "# Security cases",
        "",
        "<!-- Made by tests/escape/security_cases.py --write; the test escape.cases fails when it is stale. -->",
        "",
        "Ways in which sandboxes have failed, and what holds each here. A *probe* is one forbidden act of `tests/escape`: outside, as root, it",
        "must be possible or reach the kernel's code; inside it must come to what the tables say, as `agent` and as `root`, in the",
        "foreground, in the background with its parent gone, and on a terminal. Any other result fails a test. Other names are tests of ctest.",
        "",
        f"{len(cases)} cases of the tier `{TIER}`, {len(probes)} probes. Held by neither probe nor test, for the reason given: {without} cases.",
        "",
        "An errno stands for a refusal with it, ENODATA for a masked file that opens and is empty. Of several results each is accepted,",
        "for kernels built differently. *Not judged*: the host is looked at afterwards instead, or the act is allowed there.",
        "",
    ]
    for letter, title in SECTIONS.items():
        of_section = [case for case in cases if case["id"].startswith(letter)]
        lines += [f"## {letter}. {title}", "", "| Case | What goes wrong | Held by |", "|---|---|---|"]
        lines += [f"| {c['id']} | {cell(c['what'])} | {cell(held_by(c, probes))} |" for c in of_section]
        lines += ["", "| Case | Probe | Tries to | Outside | As agent | As root |", "|---|---|---|---|---|---|"]
        for case in of_section:
            for probe in (probe for probe in probes if probe.case == case["id"]):
                results = " | ".join(expected(result) for result in expectations[probe.name])
                lines.append(f"| {probe.case} | `{probe.name}` | {cell(probe.act)} | {results} |")
        lines.append("")
    return "\n".join(lines[:-1]) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--probe", required=True, help="the program escape_probe")
    parser.add_argument("--write", action="store_true", help="make the document anew")
    options = parser.parse_args()
    cases = json.loads((HERE / "security_cases.json").read_text("utf-8"))
    probes = list_of_probes(options.probe)
    expectations = read_expectations((HERE / "expectations.txt").read_text("utf-8"))
    problems = problems_of(cases, probes, expectations)
    if not problems:
        text = document(cases, probes, expectations)
        if options.write:
            DOCUMENT.write_text(text, "utf-8")
        elif not DOCUMENT.exists() or DOCUMENT.read_text("utf-8") != text:
            problems.append("docs/security-cases.md is stale: run tests/escape/security_cases.py with --write")
    for problem in problems:
        print(f"FAILED {problem}")
    print(f"{len(cases)} cases, {len(probes)} probes, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
