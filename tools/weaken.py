#!/usr/bin/env python3
"""Leaves out one protection after the other and says which test fails without it: `./dev weaken [NAME...]`.

For each line of tests/weakened/protections.txt it builds the target weakened_NAME and asks the tests against these
programs, first the one of the line, then the others, until one fails. That goes into docs/protections.md; without names
the whole table is written, with names their rows. A protection without which all tests pass ends it with 1.

The programs that it runs are weaker than Caisson is: on a machine that is used for other things, do not.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROTECTIONS = ROOT / "tests" / "weakened" / "protections.txt"
DOCUMENT = ROOT / "docs" / "protections.md"
BUILD = ROOT / "build" / "dev"
PROGRAMS = ROOT / "build" / "bin"
TESTS = ["escape.agent", "escape.root", "integration.posture:*", "integration.run_limits:*"]
HEAD = """# Protections, and the test that fails without each

Written by `./dev weaken`, which builds Caisson without one protection at a time and asks the tests. The points are
`Weakened()` and `Protected()` of [weakened.h](../src/caisson/base/weakened.h); no program but those builds holds one, which
`lint.protections` looks after, as it does that this table names every protection and tests that exist.

Several protections stand behind others: without one of them nothing is possible yet, and its test looks at the
protection itself. Where no sandbox starts without one, every test fails, and the step that refuses is named.

Not in the table, since leaving them out changes nothing that can be seen: `/sys`, of which nothing is mounted; the guest's
being not dumpable, which the kernel sets again with each change of user; the empty capability sets of a command, which `exec`
and the secure bits give it too.

| Protection | What it is | Set in | Fails without it | Says |
|---|---|---|---|---|
"""


def protections(path=PROTECTIONS):
    """name -> (sources, the first test, what it is)."""
    table = {}
    for line in path.read_text("utf-8").splitlines():
        if re.match("[a-z]", line):
            name, sources, test, text = (field.strip() for field in line.split("|"))
            table[name] = (sources.split(), test, text)
    return table


def rows(document):
    """name -> its row."""
    found = {}
    for line in document.splitlines():
        match = re.match(r"\| `(\w+)` \|", line)
        if match:
            found[match.group(1)] = line
    return found


def run(command, **options):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                          timeout=400, check=False, **options)
    return done.returncode, done.stdout + done.stderr


def ask(test, programs):
    """(its name with the case that failed, what it said), or None when it passes."""
    environment = {**os.environ, "CAISSON_BIN": str(programs / "caisson")}
    name, _, cases = test.partition(":")
    suite, _, subject = name.partition(".")
    if suite == "escape":
        status, output = run([sys.executable, "-B", ROOT / "tests/escape/escape_test.py",
                              "--probe", PROGRAMS / "escape_probe", "--side", subject], env=environment)
        failed = re.findall(r"^FAILED (.*)", output, re.MULTILINE)
        case = re.match(r"\w+, \w+: (\w+): (.*)", failed[0]) if failed else None
        if case:
            return f"{name}: {case.group(1)}", case.group(2)
        if failed:
            return name, failed[0]
    else:
        status, output = run([BUILD / "tests" / name.replace(".", "_"), f"--gtest_filter={cases or '*'}"],
                             env=environment)
        failed = re.search(r"^\[  FAILED  \] ([\w/]+\.\w+)", output, re.MULTILINE)
        if failed:
            said = re.search(r"Failure\n(?:Failed\n)?(.*?)(?=\n\[|\n\S+:\d+: Failure)", output, re.DOTALL)
            return f"{name}: {failed.group(1)}", said.group(1) if said else ""
    if status == 77:
        raise SystemExit(f"{name} skips here, so nothing can be said: {output.strip()[-300:]}")
    return None if status == 0 else (name, output.strip().splitlines()[-1] if output.strip() else f"status {status}")


def short(text):
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= 160 else text[:157] + "..."


def examine(name, first, built):
    """What failed without the protection, or None."""
    folder = BUILD / "weakened" / name
    if not built:
        subprocess.run(["cmake", "--build", BUILD, "--target", f"weakened_{name}"], check=True,
                       stdout=subprocess.DEVNULL)
    status, output = run([folder / "caisson", "run", "--", "true"])
    if status != 0:
        print(f"  no sandbox starts: {short(output)}")
        failed = ask("escape.agent", folder)
        return failed and ("escape.agent", f"no sandbox starts: {output}")
    for test in [first] + [test for test in TESTS if test != first]:
        failed = ask(test, folder)
        # Others on this host can disturb a test once.
        again = ask(test, folder) if failed else None
        if failed and again and failed[0] == again[0]:
            return failed
        print(f"  {test} passes")
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="of protections; none: all")
    parser.add_argument("--built", action="store_true", help="the programs are there: do not build them")
    options = parser.parse_args()
    table = protections()
    if unknown := set(options.names) - set(table):
        raise SystemExit(f"no such protection: {', '.join(sorted(unknown))}; there are: {', '.join(table)}")
    if os.geteuid() != 0:
        raise SystemExit("needs root")
    written = rows(DOCUMENT.read_text("utf-8")) if DOCUMENT.exists() else {}
    unnoticed = []
    for name in options.names or table:
        sources, first, text = table[name]
        print(f"{name}: {text}", flush=True)
        failed = examine(name, first, options.built)
        if not failed:
            unnoticed.append(name)
            continue
        print(f"  {failed[0]}: {short(failed[1])}", flush=True)
        places = ", ".join(f"`{source}`" for source in sources)
        written[name] = f"| `{name}` | {text} | {places} | {failed[0]} | {short(failed[1])} |"
        DOCUMENT.write_text(HEAD + "".join(written[known] + "\n" for known in table if known in written), "utf-8")
    for name in unnoticed:
        print(f"weaken: no test fails without {name}")
    return 1 if unnoticed else 0


if __name__ == "__main__":
    sys.exit(main())
