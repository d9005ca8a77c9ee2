#!/usr/bin/env python3
"""Keeps the points that leave out a protection, their list, their document and the programs in step.

Each point in src names protections of tests/weakened/protections.txt in the file that is said there, and each that is
listed there has its point. docs/protections.md has a row for each, with a test that exists. No program holds the code
of a point that is set: these programs are what `./dev weaken` makes in a folder of its own.
"""

import argparse
import pathlib
import re
import sys

POINT = re.compile(r"\b(?:Weakened|Protected)\(([^()]*)")
MARK = b"caisson leaves out: "
PROGRAMS = ("caisson", "caisson-launcher")


def listed(root):
    """(name, source) for each source of each protection, and the names."""
    pairs, names = set(), []
    for line in (root / "tests/weakened/protections.txt").read_text("utf-8").splitlines():
        if re.match("[a-z]", line):
            name, sources = (field.strip() for field in line.split("|")[:2])
            names.append(name)
            pairs |= {(name, source) for source in sources.split()}
    return pairs, names


def points(root):
    folder = root / "src" / "caisson"
    found = set()
    for path in folder.rglob("*"):
        if path.suffix in (".cc", ".h") and path.name != "weakened.h":
            for arguments in POINT.findall(path.read_text("utf-8")):
                found |= {(name, path.relative_to(folder).as_posix()) for name in re.findall(r'"(\w+)"', arguments)}
    return found


def exists(root, test):
    """Whether there is such a test, written as in the document: `escape.agent: PROBE`, `integration.x: Suite.Case`."""
    name, _, case = (part.strip() for part in test.partition(":"))
    suite, _, subject = name.partition(".")
    if suite == "escape":
        if subject not in ("agent", "root", "crash") or not case:
            return subject in ("agent", "root", "crash")
        return bool(re.search(rf"^{re.escape(case)} ", (root / "tests/escape/expectations.txt").read_text(), re.MULTILINE))
    # Those of tests/policy have its name in theirs.
    if subject.startswith("policy_"):
        suite, subject = "policy", subject.removeprefix("policy_")
    source = root / "tests" / suite / f"{subject}_test.cc"
    match = re.fullmatch(r"(?:\w+/)?(\w+)\.(\w+)(?:/\w+)?", case)
    return bool(match and source.exists()
                and re.search(rf"TEST(?:_[FP])?\({match.group(1)}, {match.group(2)}\)", source.read_text()))


def document_findings(root, names):
    path = root / "docs/protections.md"
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|$", path.read_text("utf-8") if path.exists() else "", re.MULTILINE)
    for name in sorted(set(names) ^ {name for name, _ in rows}):
        yield f"docs/protections.md: {name} is " + ("not in it" if name in names else "no protection of the list")
    for name, row in rows:
        test = re.split(r"(?<!\\)\|", row)[2].strip()
        if not exists(root, test):
            yield f"docs/protections.md: {name}: there is no test '{test}'"


def program_findings(folders):
    looked_at = 0
    for folder in folders:
        for path in (folder / name for name in PROGRAMS):
            if path.exists():
                looked_at += 1
                if MARK in path.read_bytes():
                    yield f"{path}: a protection is left out of this program"
    if looked_at == 0:
        yield "no program to look into: build first"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--programs", type=pathlib.Path, action="append", required=True, help="a folder of programs")
    options = parser.parse_args(arguments)
    wanted, names = listed(options.root)
    made = points(options.root)
    findings = [f"tests/weakened/protections.txt: {name} has no point in {source}" for name, source in wanted - made]
    findings += [f"src/caisson/{source}: {name} is not listed with this file" for name, source in made - wanted]
    findings = sorted(findings) + list(document_findings(options.root, names)) + list(program_findings(options.programs))
    print("\n".join(findings + [f"lint_protections: {len(names)} protections, {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
