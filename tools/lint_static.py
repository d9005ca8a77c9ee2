#!/usr/bin/env python3
"""Refuses a program that needs a shared library: those of Caisson start without a loader, on any host."""

import argparse
import pathlib
import re
import subprocess
import sys

PROGRAMS = ("caisson", "caisson-daemon", "caisson-launcher")


def needed(dynamic_section):
    """The libraries that `readelf --dynamic` tells of."""
    return re.findall(r"\(NEEDED\).*\[(.*)\]", dynamic_section)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--programs", required=True, type=pathlib.Path, help="the folder they are in")
    options = parser.parse_args()
    findings = 0
    for name in PROGRAMS:
        text = subprocess.run(["readelf", "--dynamic", "--wide", options.programs / name], capture_output=True, text=True,
                              check=True).stdout
        if libraries := needed(text):
            print(f"{name} needs {', '.join(libraries)}")
            findings += 1
    print(f"lint_static: {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
