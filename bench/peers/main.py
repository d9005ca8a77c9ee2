#!/usr/bin/env python3
"""./dev bench --peers: Caisson and other makers of sandboxes, side by side in one run.

usage: ./dev bench --peers [--rounds N] [--only PEER]... [--json FILE] [--start-docker] [--write-docs] [--seed N]
       ./dev bench --peers --from FILE [--write-docs]

Needs root to measure. What a peer cannot do is counted or named, never left out in silence. Exit status: 0 measured,
2 wrong use, 3 nothing could be measured, 77 not root, 130 interrupted.
"""

import argparse
import datetime
import os
import pathlib
import platform
import random
import signal
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import containers
import measures
import peers
import place
import plot
import processes
import report

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY / "tools"))
import document_part

KINDS = (peers.Native, peers.Unshare, peers.Bubblewrap, peers.Nsjail, peers.Firejail, containers.Crun, containers.Runc,
         containers.Docker, containers.Runsc, peers.Caisson, peers.CaissonLibrary)
AT_ONCE = (16, 50)
SKIPPED, INTERRUPTED, NOTHING_MEASURED = 77, 130, 3


def say(text):
    print(f"peers: {text}", file=sys.stderr, flush=True)


def parse(arguments):
    names = [kind.name for kind in KINDS]
    parser = argparse.ArgumentParser(prog="./dev bench --peers", description="Caisson and its peers side by side.")
    parser.add_argument("--rounds", type=int, default=100,
                        help="samples of start and exec; the rest follows (default: 100)")
    parser.add_argument("--only", action="append", choices=names, metavar="PEER",
                        help="besides the references; one of: " + ", ".join(names))
    parser.add_argument("--json", metavar="FILE", help="write every sample, too, to FILE (-: standard output)")
    parser.add_argument("--start-docker", action="store_true", help="start a dockerd of its own for the run")
    parser.add_argument("--write-docs", action="store_true",
                        help="write docs/peers.md, docs/peers.svg and the table in SPECIFICATION.md")
    parser.add_argument("--from", dest="source", metavar="FILE",
                        help="measure nothing: report what an earlier --json FILE holds")
    parser.add_argument("--seed", type=int, default=None, help="for the order of rounds")
    options = parser.parse_args(arguments)
    if not 1 <= options.rounds <= 10000:
        parser.error("--rounds must be from 1 to 10000")
    if options.source and (options.only or options.json):
        parser.error("--from only goes with --write-docs")
    if options.write_docs and options.only:
        parser.error("--write-docs needs all peers, not --only")
    return options


def machine():
    memory = next(line.split()[1] for line in open("/proc/meminfo") if line.startswith("MemTotal"))
    load = os.getloadavg()
    models = [line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")]
    hybrid = os.path.isdir("/sys/fs/cgroup/unified")
    v2 = os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    return {"kernel": platform.release(), "cpus": len(os.sched_getaffinity(0)),
            "processor": models[0] if models else "unknown",
            "memory": f"{int(memory) // (1 << 20)} GiB", "cgroups": "v2" if v2 else "hybrid" if hybrid else "v1",
            "date": datetime.date.today().isoformat(), "load average before": f"{load[0]:.1f}"}


def prepare(options, where, everyone):
    """Adds all peers that were asked for to `everyone`, each with the reason when it cannot be had."""
    for kind in KINDS:
        if options.only and not kind.reference and kind.name not in options.only:
            continue
        peer = kind()
        if kind is containers.Docker:
            peer.start_daemon = options.start_docker
        peer.reason = ""
        everyone.append(peer)
    for peer in everyone:
        try:
            peer.prepare(where)
            if not isinstance(peer, peers.CaissonLibrary):
                processes.output_of(peer.once(measures.TRUE), measures.DEADLINE_S)  # and to have read the files once
        except processes.Failed as error:
            peer.reason = str(error)
            say(f"{peer.name} is not measured: {peer.reason}")


def measure(run, rounds, missing):
    few = max(1, min(3, rounds // 10))
    measures.start(run)
    measures.execute(run)
    for count in AT_ONCE:
        measures.at_once(run, count, few)
    full = rounds >= 20
    measures.stay(run, 200 if full else 20, 20 if full else 3)
    measures.work(run, few, missing)


def write(data, options):
    if options.json:
        (sys.stdout.write if options.json == "-" else pathlib.Path(options.json).write_text)(data.as_json())
    if options.json != "-":
        print(report.as_text(data))
    if options.write_docs:
        (REPOSITORY / "docs" / "peers.md").write_text(report.as_markdown(data))
        (REPOSITORY / "docs" / "peers.svg").write_text(plot.as_svg(data))
        document_part.write(REPOSITORY / "SPECIFICATION.md", "peers", report.summary(data).grid_as_markdown())


def close(everyone, where):
    """Removes everything. A second Ctrl-C does not stop that."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    for peer in reversed(everyone):
        try:
            peer.close()
        except (processes.Failed, OSError, AttributeError) as error:
            say(f"{peer.name}: cannot remove all that it made: {error}")
    processes.end(processes.descendants(os.getpid()))
    where.remove()


def main(arguments):
    options = parse(arguments)
    if options.source:
        write(report.Data.from_json(pathlib.Path(options.source).read_text()), options)
        return 0
    if os.geteuid() != 0:
        say("skipped: it makes namespaces, mounts and cgroups, which needs root")
        return SKIPPED

    def interrupt(*_):
        raise KeyboardInterrupt

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, interrupt)
    processes.become_subreaper()
    seed = random.randrange(1 << 32) if options.seed is None else options.seed
    begin = time.monotonic()
    facts = machine()
    where = place.Place(REPOSITORY)
    everyone = []
    try:
        missing = where.fill_workspace()
        for name, reason in missing.items():
            say(f"{name} is not measured: {reason}")
        prepare(options, where, everyone)
        ready = [peer for peer in everyone if not peer.reason]
        run = measures.Run(ready, where, options.rounds, random.Random(seed), say)
        measure(run, options.rounds, missing)
    except KeyboardInterrupt:
        say("interrupted")
        return INTERRUPTED
    finally:
        close(everyone, where)
    facts["seconds"] = round(time.monotonic() - begin)
    described = [{"name": peer.name, "version": peer.version, "reason": peer.reason, "facts": peer.facts}
                 for peer in everyone]
    data = report.Data(facts, {"rounds": options.rounds, "seed": seed, "at_once": AT_ONCE}, described,
                       [one.as_json() for one in run.series.values()])
    write(data, options)
    return 0 if any(data.series.values()) else NOTHING_MEASURED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
