#!/usr/bin/env python3
"""Reads ctest's JUnit files, enforces --must-run and prints the closing line.

A test that skipped, or a case that skipped inside a passing test, fails the run when its name matches one of the
comma-separated expressions of --must-run. An expression that matches no test fails too, unless the caller had
selected tests: a suite that is not there was not run.
"""

import argparse
import pathlib
import re
import sys
import xml.etree.ElementTree

CASE_SKIPPED = re.compile(r"^\[  SKIPPED \] (\w\S*\.\S+) \(", re.MULTILINE)
BUILD_SUFFIX = re.compile(r" \(\w+\)")


class Results:
    def __init__(self):
        self.passed = []
        self.failed = []
        self.skipped = []
        self.skipped_cases = []

    def read(self, path, suffix):
        """`suffix` tells the results of several builds apart."""
        for case in xml.etree.ElementTree.parse(path).getroot().iter("testcase"):
            name = case.get("name") + suffix
            if case.get("status") == "run":
                self.passed.append(name)
                output = case.findtext("system-out") or ""
                self.skipped_cases += [f"{name}: {found}" for found in CASE_SKIPPED.findall(output)]
            elif case.find("skipped") is not None or case.get("status") == "disabled":
                self.skipped.append(name)
            else:
                self.failed.append(name)


def refusals(results, must_run, selection):
    """The texts of what --must-run forbids."""
    texts = []
    for expression in must_run:
        pattern = re.compile(expression)
        for name in results.skipped + results.skipped_cases:
            if pattern.search(BUILD_SUFFIX.sub("", name)):
                texts.append(f"must run, but skipped: {name}")
        ran = results.passed + results.failed + results.skipped
        if not selection and not any(pattern.search(BUILD_SUFFIX.sub("", name)) for name in ran):
            texts.append(f"must run, but there is no such test: {expression}")
    return texts


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--must-run", default="")
    parser.add_argument("--selection", action="store_true", help="the caller chose tests; others may be absent")
    options = parser.parse_args(arguments)

    results = Results()
    unreadable = False
    for path in options.files:
        try:
            results.read(path, f" ({path.parent.name})" if len(options.files) > 1 else "")
        except (OSError, xml.etree.ElementTree.ParseError) as error:
            print(f"no test results: {path}: {error}")
            unreadable = True

    print()
    for name in results.failed:
        print(f"failed: {name}")
    for name in results.skipped + results.skipped_cases:
        print(f"skipped: {name}")
    must_run = [part.strip() for part in options.must_run.split(",") if part.strip()]
    refused = refusals(results, must_run, options.selection)
    for text in refused:
        print(text)
    print(f"{len(results.passed)} passed, {len(results.failed)} failed, {len(results.skipped)} skipped", flush=True)
    return 1 if results.failed or refused or unreadable or not results.passed + results.skipped else 0


if __name__ == "__main__":
    sys.exit(main())
