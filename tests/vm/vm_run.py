#!/usr/bin/env python3
"""Runs one command as root in a machine with one of Debian's kernels: ./dev vm 6.1 -- COMMAND...

The programs of the build are in the machine's PATH: caisson, its launcher, and the test programs of build/dev/tests.
What the command writes comes out here, and its exit status is ours. 125: no machine.
"""

import argparse
import sys

import kernels
import machine
import programs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernel", choices=sorted(kernels.PACKAGES))
    parser.add_argument("--seconds", type=int, default=3600, help="after these the machine is switched off")
    parser.add_argument("--no-delegation", action="store_true", help="cgroup2 mounted without nsdelegate")
    parser.add_argument("command", nargs="+", help="as separate arguments, after --")
    options = parser.parse_args()
    there = programs.PATH + ":/usr/sbin:/usr/bin:/sbin:/bin"
    step = {"name": "command", "command": options.command, "seconds": options.seconds, "stream": True,
            "delegation": not options.no_delegation, "environment": {"PATH": there}}
    status = None
    try:
        for report, _ in machine.run(options.kernel, [step], programs.of_build(), options.seconds + 120):
            if "text" in report:
                print(report["text"], flush=True)
            elif "kernel" in report:
                print(f"vm: the kernel says: {report['kernel']}", file=sys.stderr)
            elif "end" in report:
                status = report["status"]
    except (kernels.Missing, machine.Broken) as error:
        print(f"vm: {error}", file=sys.stderr)
        return 125
    if status is None:
        print(f"vm: the command did not end within {options.seconds} s", file=sys.stderr)
        return 124
    return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(main())
