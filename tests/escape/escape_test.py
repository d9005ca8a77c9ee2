#!/usr/bin/env python3
"""Runs the probes outside and inside a sandbox and compares what they came to with expectations.txt.

Exit status: 0 all as expected, 1 not, 77 skipped with a reason.
"""

import argparse
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

from core_pattern import CorePattern
from host_fixture import HostFixture, read_text
from starting import CallersTerminal, in_background, run_to_file

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
INSIDE = "/home/agent/workspace"
MIB = 1 << 20
# What one sandbox of this suite may use, and what its probes try to take: more than that, yet bearable outside.
LIMITS = ["--memory", "1GiB", "--disk", "256MiB", "--pids", "128", "--timeout", "120s"]
GREED = [f"--shm-bytes={1280 * MIB}", f"--disk-bytes={384 * MIB}", "--forks=400"]
GREEDY_PROBES = ("fill_shm", "fill_disk", "fork_many", "thread_many")
# These have something to try only where the probes were started on a terminal.
TERMINAL_PROBES = ("own_terminal_type", "own_terminal_paste", "caller_terminal")
USERS = ("agent", "root")
COLUMNS = ("outside", *USERS)
MANNERS = ("background", "terminal")


class Skip(Exception):
    pass


def expectations() -> dict:
    """probe -> {side: set of accepted results}."""
    table = {}
    for number, line in enumerate((HERE / "expectations.txt").read_text("utf-8").splitlines(), 1):
        fields = line.split("#")[0].split()
        if not fields:
            continue
        if len(fields) != 4 or fields[0] in table:
            raise SystemExit(f"expectations.txt:{number}: not `probe outside agent root`, or named twice")
        table[fields[0]] = {side: set(field.split("|")) for side, field in zip(COLUMNS, fields[1:])}
    return table


def caisson() -> str:
    build = os.environ.get("CAISSON_BUILD_DIR", str(ROOT / "build"))
    path = os.environ.get("CAISSON_BIN", os.path.join(build, "bin", "caisson"))
    if not os.access(path, os.X_OK):
        raise Skip(f"there is no caisson at {path}; build it or set CAISSON_BIN")
    return path


def run_command(user: str, workspace: str, options: list) -> list:
    return [caisson(), "run", *options, "--workspace", f"{workspace}:ro", "--user", user, *LIMITS, "--"]


def run_inside(user: str, workspace: str, command: list, fds: tuple = ()) -> tuple:
    """(the result object of `caisson run`, everything it printed)."""
    status, out, err = run_to_file(run_command(user, workspace, ["--json"]) + command, fds)
    try:
        result = json.loads(out)
    except ValueError:
        result = {}
    if "outcome" not in result:
        raise SystemExit(f"`caisson run` ended with {status} and no result:\n{(out + err).decode(errors='replace')}")
    return result, out + err


def parse(lines: str) -> dict:
    """probe -> (result as expectations.txt writes it, note)."""
    results = {}
    for line in lines.splitlines():
        # A terminal shows more than the results.
        if not line.startswith('{"probe"'):
            continue
        record = json.loads(line)
        result = record["result"]
        if result == "refused":
            result = record["detail"]
        elif result == "killed":
            result = f"killed:{record['detail']}"
        results[record["probe"]] = (result, record["note"])
    return results


def compare(side: str, results: dict, manner: str = "foreground") -> list:
    table = expectations()
    for probe in TERMINAL_PROBES if manner == "terminal" else ():
        table[probe][side] = table[probe][side] - {"not_run"}
    for probe in GREEDY_PROBES if manner != "foreground" else ():
        table[probe][side] = {"not_run"}
    problems = [f"{probe}: not in expectations.txt" for probe in results if probe not in table]
    for probe, columns in table.items():
        accepted = columns[side]
        if accepted & {"*", "-"}:
            continue
        result, note = results.get(probe, ("no result", ""))
        if result not in accepted:
            wanted = " or ".join(sorted(accepted))
            problems.append(f"{probe}: {result} instead of {wanted}" + (f" ({note})" if note else ""))
    return problems


def test_outside(probe: str, rounds: str) -> list:
    with HostFixture(probe) as host:
        program = os.path.join(host.workspace, "escape_probe")
        command = [program, "--all", *host.arguments(), *GREED, rounds]
        command += [f"--process={host.process.pid}", f"--setuid-program={host.setuid_program}", "--host-path=/proc"]
        # drop_markers would do on the host what it must not: without its argument it does nothing.
        command = [argument for argument in command if not argument.startswith("--marker=")]
        _, out, _ = run_to_file(command, host.fds)
        problems = compare("outside", parse(out.decode()))
        if host.listeners.connections != 3:
            problems.append(f"{host.listeners.connections} connections reached the 3 listeners")
        accepted = expectations()
        for name in TERMINAL_PROBES:
            with CallersTerminal() as terminal:
                _, shown = terminal.run([program, name, *terminal.arguments()])
            result = shown.decode(errors="replace").replace("refused errno=", "").split()[0]
            if result not in accepted[name]["outside"] - {"not_run"}:
                problems.append(f"{name} on a terminal: {result}")
        return problems


def start_inside(user: str, manner: str, host: HostFixture, arguments: list) -> tuple:
    """(the probes' results, everything that was shown, problems of the run itself)."""
    program = [f"{INSIDE}/escape_probe", "--all", *arguments]
    if manner == "terminal":
        with CallersTerminal() as terminal:
            command = run_command(user, host.workspace, ["--tty"]) + program + terminal.arguments()
            status, shown = terminal.run(command, host.fds)
        return parse(shown.decode(errors="replace")), shown, [] if status == 0 else [f"the run ended with {status}"]
    command = in_background(program) if manner == "background" else program
    result, output = run_inside(user, host.workspace, command, host.fds)
    outcome = result["outcome"]
    problems = [] if outcome == "exited" else [f"the outcome of the run is {outcome}"]
    return parse(result["stdout"] or ""), output, problems


def test_inside(user: str, manner: str, probe: str, rounds: str) -> list:
    with HostFixture(probe, caisson()) as host:
        arguments = [*host.arguments(), rounds, *(GREED if manner == "foreground" else [])]
        arguments += [f"--setuid-program={INSIDE}/{os.path.basename(host.setuid_program)}"]
        arguments += [f"--host-path={os.environ.get('CAISSON_DATA_DIR', '/var/lib/caisson')}"]
        results, output, problems = start_inside(user, manner, host, arguments)
        problems += compare(user, results, manner) + host.violations(output)
        return [f"{user}, {manner}: {problem}" for problem in problems]


def handled_crashes(log: pathlib.Path) -> list:
    return [line for line in read_text(str(log)).splitlines() if line.startswith("escape_probe ")]


def lift_core_limit():
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))


def test_crash(probe: str) -> list:
    """A crash inside must not start the host's crash handler, which runs as the host's root."""
    caisson()
    if not root_is_a_mount():
        raise Skip("in a chroot the kernel does not find the crash handler: it looks in the root of process 1")
    problems = []
    with HostFixture(probe) as host:
        log = pathlib.Path(host.directory, "crashes")
        handler = pathlib.Path(host.directory, "h")
        handler.write_text(f'#!/bin/sh\necho "$1 $2" >> {log}\n', "ascii")
        handler.chmod(0o700)
        with CorePattern(f"|{handler} %e %u"):
            for user in ("agent", "root"):
                result, _ = run_inside(user, host.workspace, [f"{INSIDE}/escape_probe", "--crash"])
                if result["outcome"] != "signaled":
                    problems.append(f"the crash as {user} came out as {result['outcome']}")
            # The control: the same crash outside does start it. When the kernel has come to this one, it has been through
            # those before it.
            program = os.path.join(host.workspace, "escape_probe")
            subprocess.run([program, "--crash"], preexec_fn=lift_core_limit, check=False)
            deadline = time.monotonic() + 5
            while not any(line.endswith(" 0") for line in handled_crashes(log)) and time.monotonic() < deadline:
                time.sleep(0.05)
            handled = handled_crashes(log)
            if not any(line.endswith(" 0") for line in handled):
                problems.append("the control failed: a crash outside did not start the handler")
            problems += [f"the host's crash handler ran for {line}" for line in handled if not line.endswith(" 0")]
    return problems


def root_is_a_mount() -> bool:
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as table:
        return any(line.split()[4] == "/" for line in table)


def must_run() -> bool:
    named = os.environ.get("CAISSON_MUST_RUN", "").split(",")
    return bool({"1", "all", "escape"} & set(named))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probe", required=True, help="the program escape_probe")
    parser.add_argument("--side", required=True, choices=[*COLUMNS, *MANNERS, "crash"])
    parser.add_argument("--long", action="store_true", help="a million rounds of each race instead of ten thousand")
    options = parser.parse_args()
    if options.long:
        LIMITS[LIMITS.index("120s")] = "600s"
    rounds = f"--rounds={1_000_000 if options.long else 10_000}"
    try:
        if os.geteuid() != 0:
            raise Skip("needs root: the control is what root can do")
        if options.side == "outside":
            if not root_is_a_mount():
                raise Skip("the root is no mount, as in a chroot: there the kernel refuses what the control must show")
            problems = test_outside(options.probe, rounds)
        elif options.side == "crash":
            problems = test_crash(options.probe)
        elif options.side in MANNERS:
            problems = [p for user in USERS for p in test_inside(user, options.side, options.probe, rounds)]
        else:
            problems = test_inside(options.side, "foreground", options.probe, rounds)
    except Skip as reason:
        print(f"skipped: {reason}")
        return 1 if must_run() else 77
    for problem in problems:
        print(f"FAILED {problem}")
    print(f"{options.side}: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
