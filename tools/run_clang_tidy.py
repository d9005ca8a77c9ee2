#!/usr/bin/env python3
"""Runs clang-tidy, one process a core, over the sources of a build: those that differ from the base, or all."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = ("src/", "bin/")
TIDY = "clang-tidy-19"
BATCH = 8
ERROR = re.compile(r"^.*: error: .*\[clang-diagnostic-error\]$", re.MULTILINE)


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


def flags(build):
    """How each source is compiled, without what names it and its object file."""
    found = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        words = shlex.split(entry["command"])
        compiler = next(index for index, word in enumerate(words) if word.endswith("++"))
        words = words[compiler + 1 : words.index("-o")]
        found.setdefault(os.path.relpath(entry["file"], ROOT), (*words, "-I", entry["directory"]))
    return found


def batches(build, names):
    """Sources of one folder, of the same flags, a few at a time: what the system's headers cost is paid once for them."""
    how = flags(build)
    groups = {}
    for name in names:
        groups.setdefault((os.path.dirname(name), how[name]), []).append(name)
    for (_, words), members in groups.items():
        count = -(-len(members) // BATCH)  # of about the same size, so that no process is the last for long
        for first in range(count):
            yield words, members[first::count]


def tidy(words, names):
    """Runs over one translation unit that includes the named sources."""
    with tempfile.TemporaryDirectory() as folder:
        unit = pathlib.Path(folder, "unit.cc")
        unit.write_text("".join(f'#include "{ROOT / name}"  // NOLINT(bugprone-suspicious-include)\n' for name in names))
        command = [TIDY, "--quiet", f"--config-file={ROOT / '.clang-tidy'}", unit, "--", *words]
        return subprocess.run(command, capture_output=True, text=True, check=False)


def check(words, names):
    """What clang-tidy says of these sources, as (names, output). Those that do not compile with the ones before them,
    because both have a name of their own that is the same, are checked without them."""
    run = tidy(words, names)
    errors = "".join(ERROR.findall(run.stdout))
    if not errors or len(names) == 1:
        found = run.returncode != 0 or "warning:" in run.stdout
        return [(names, run.stdout + run.stderr)] if found else []
    # The error is where the second of the names is, or in a header that came after the first.
    broken = [name for name in names[1:] if f"{ROOT / name}:" in errors] or names[len(names) // 2 :]
    return check(words, [name for name in names if name not in broken]) + check(words, broken)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("what", nargs="?", choices=["changed", "all"], default="changed")
    options = parser.parse_args()

    names = sources(options.build, options.what == "all")
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for findings in pool.map(lambda batch: check(*batch), batches(options.build, names)):
            for those, output in findings:
                failed += 1
                print(f"{' '.join(those)}:\n{output}")
    print(f"clang-tidy: {len(names)} files, {failed or 'no'} findings")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
