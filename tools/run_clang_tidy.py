#!/usr/bin/env python3
"""Runs clang-tidy, one process a core, over the sources of a build: those that differ from the base, or all."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src/", "bin/")
TIDY = "clang-tidy-19"


def git(*arguments):
    run = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True, check=False)
    return run.stdout.split() if run.returncode == 0 else None


def changed_files():
    """Names that differ from origin/main, or from the last commit; None when there is no commit to compare with."""
    base = "origin/main" if git("rev-parse", "--verify", "--quiet", "origin/main") else "HEAD"
    differing = git("diff", "--name-only", base)
    new = git("ls-files", "--others", "--exclude-standard")
    return None if differing is None else set(differing) | set(new or [])


def sources(build, everything):
    built = {entry["file"] for entry in json.loads((build / "compile_commands.json").read_text())}
    names = sorted(os.path.relpath(path, ROOT) for path in built)
    names = [name for name in names if name.startswith(FOLDERS) and not name.endswith("_test.cc")]
    changed = None if everything else changed_files()
    if changed is None:
        return names
    stems = {os.path.splitext(name)[0] for name in changed}  # a changed header is checked through its source
    return [name for name in names if os.path.splitext(name)[0] in stems]


def check(build, name):
    run = subprocess.run([TIDY, "--quiet", "-p", build, ROOT / name], capture_output=True, text=True, check=False)
    return name, run.returncode, run.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("what", nargs="?", choices=["changed", "all"], default="changed")
    options = parser.parse_args()

    names = sources(options.build, options.what == "all")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, status, output in pool.map(lambda name: check(options.build, name), names):
            if status != 0 or "warning:" in output:
                failed += 1
                print(f"{name}:\n{output}")
    print(f"clang-tidy: {len(names)} files, {failed} with findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
