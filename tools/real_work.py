#!/usr/bin/env python3
"""Real projects inside and outside a sandbox: fetches them, runs them, and keeps docs/real-work.md.

`packages` prints the Debian packages that lack, `fetch` brings archives, `run` runs and writes results and page, `page`
writes the page alone, `check` says whether manifest, results and page fit together.
"""

import argparse
import http.client
import os
import subprocess
import sys

sys.dont_write_bytecode = True

from real import archives, counts, manifest, page, places  # noqa: E402

PROGRAM = manifest.ROOT / "build" / "bin" / "caisson"


def say(text):
    print(f"real: {text}", file=sys.stderr, flush=True)


def fetch(projects):
    failed = 0
    for project in projects:
        if archives.tree_of(project):
            continue
        say(f"fetching {project.name} {project.version}")
        try:
            archives.bring(project)
        except (OSError, ValueError, KeyError, http.client.HTTPException, subprocess.CalledProcessError) as error:
            failed += 1
            say(f"cannot fetch {project.name}: {error}")
    return 1 if failed else 0


def run_one(project, program):
    tree = archives.tree_of(project)
    if tree is None:
        say(f"{project.name}: not fetched; ./dev setup --real")
        return None
    outside = places.run_outside(project, tree)
    say(f"{project.name} outside: exit {outside.exit_status}, {outside.seconds:.0f} s, {dict_text(outside)}")
    inside = places.run_inside(project, tree, program)
    say(f"{project.name} inside:  exit {inside.exit_status}, {inside.seconds:.0f} s, {dict_text(inside)}")
    if 124 in (outside.exit_status, inside.exit_status):
        say(f"{project.name}: did not come to its end in time; no result is kept")
        return None
    result = page.result_of(project, outside, inside)
    for name, before, after in result["differences"]:
        say(f"  {name}: {before} -> {after} ({project.explanation(name) or 'unexplained'})")
    return result


def dict_text(run):
    return ", ".join(f"{run.count(word)} {word}" for word in counts.WORST)


def run(chosen, program):
    if os.geteuid() != 0:
        say("needs root, as caisson run does")
        return 77
    failed = 0
    for project in chosen:
        result = run_one(project, program)
        if result:
            page.add(project, result)
        for line in page.complaints(project, result):
            failed = 1
            say(line)
    return failed


def check(everything):
    found = page.check(everything, page.load(), page.PAGE.read_text() if page.PAGE.is_file() else "")
    for line in found:
        print(line)
    print(f"real_work: {len(found)} findings")
    return 1 if found else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("packages", "fetch", "run", "page", "check"))
    parser.add_argument("names", nargs="*", metavar="NAME", help="a project; all when none is named")
    parser.add_argument("--program", default=os.environ.get("CAISSON_BIN", str(PROGRAM)), help="caisson")
    options = parser.parse_args()
    try:
        everything = manifest.load()
        chosen = manifest.select(everything, options.names)
    except manifest.ManifestError as error:
        say(str(error))
        return 2
    if options.action == "packages":
        print("\n".join(archives.packages(chosen)))
        return 0
    if options.action == "fetch":
        return fetch(chosen)
    if options.action == "run":
        return run(chosen, options.program)
    if options.action == "page":
        page.save(everything, page.load())
        return 0
    return check(everything)


if __name__ == "__main__":
    sys.exit(main())
