"""The folders that the sandboxes show and use. All are removed at the end, with what was mounted below them."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from peers import INSIDE, USR_LINKS

CONTROLLERS = pathlib.Path("/sys/fs/cgroup")
C_FILES = 24
C_FUNCTIONS = 10

BUILD = f"""#!/bin/sh
# WORKSPACE SCRATCH: builds the program in SCRATCH and runs it.
set -e
export PATH=/usr/bin:/bin
rm -rf "$2/build" && cp -r "$1/c" "$2/build" && cd "$2/build"
make -s -j2 && test "$(./program)" = {C_FILES}
"""

TESTS = """#!/bin/sh
# WORKSPACE SCRATCH: runs the test suite of the project; its count goes to standard output.
set -e
export PATH=/usr/bin:/bin PYTHONPATH=src PYTHONDONTWRITEBYTECODE=1
rm -rf "$2/tests" && cp -r "$1/project" "$2/tests" && cd "$2/tests"
/usr/bin/python3 -S -m unittest discover 2>&1 | tail -n 3 | grep -E '^(Ran|OK)'
"""


def c_source(index):
    """Enough for a compiler to think about: loops, branches, a structure, a table."""
    functions = "\n".join(
        f"static unsigned f{n}(struct pair *p, unsigned x) {{ for (unsigned i = 0; i < x % {n + 3}; i++) {{ "
        f"p->a = p->a * {2 * n + 1}u + i; if (p->a & {1 << (n % 16)}u) p->b ^= p->a >> {n % 7}; "
        f"else p->b += table[i % 8]; }} "
        f"return p->a + p->b; }}" for n in range(C_FUNCTIONS))
    calls = "\n".join(f"  sum += f{n}(&p, seed + {n});" for n in range(C_FUNCTIONS))
    return (f"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
            f"struct pair {{ unsigned a, b; }};\n"
            f"static const unsigned table[8] = {{1, 2, 3, 5, 8, 13, 21, 34}};\n{functions}\n"
            f"unsigned unit{index}(unsigned seed) {{\n  struct pair p = {{seed, 1}};\n  unsigned sum = 0;\n{calls}\n"
            f"  return sum;\n}}\n")


def write_c_project(folder):
    folder.mkdir()
    units = range(C_FILES)
    for index in units:
        (folder / f"unit{index}.c").write_text(c_source(index))
    declarations = "\n".join(f"unsigned unit{n}(unsigned);" for n in units)
    total = " + ".join(f"(unit{n}({n}u) != 1u)" for n in units)
    (folder / "main.c").write_text(
        f"#include <stdio.h>\n{declarations}\nint main(void) {{ printf(\"%d\\n\", {total}); return 0; }}\n")
    objects = " ".join(["main.o", *(f"unit{n}.o" for n in units)])
    (folder / "Makefile").write_text(f"CFLAGS = -O2\nprogram: {objects}\n\t$(CC) -o $@ {objects}\n")


class Place:
    def __init__(self, repository):
        self.repository = repository
        self.inputs = repository / "build" / "inputs" / "peers"
        self.programs = repository / "build" / "release" / "bin"
        self.cgroup = f"caisson-peers-{os.getpid()}"
        # Not in /tmp or /var/tmp: some peers put a file system of their own there.
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="caisson-peers-", dir="/var/lib"))
        self.memory = tempfile.mkdtemp(prefix="caisson-peers-", dir="/dev/shm")
        os.chmod(self.folder, 0o755)
        self.workspace = self.make_folder("workspace")

    def make_folder(self, name):
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        return str(folder)

    def make_root(self, devices=False):
        """A root file system of links and mount points."""
        root = pathlib.Path(self.make_folder("root-with-devices" if devices else "root"))
        for name in ("usr", "etc", "proc", "dev", "tmp", "sys", INSIDE[1:]):
            (root / name).mkdir(parents=True, exist_ok=True)
        for name in USR_LINKS:
            if not (root / name).is_symlink():
                (root / name).symlink_to("usr/" + name)
        for name in ("null", "zero", "urandom") if devices else ():
            (root / "dev" / name).touch()
        return str(root)

    def pinned(self, name):
        """The version that ./dev setup --peers brings."""
        return read_pin(self.repository / "bench" / "peers" / f"{name}.pin")["version"]

    def fill_workspace(self):
        """Puts the work there. Returns what is missing: name of the work to the reason."""
        workspace = pathlib.Path(self.workspace)
        missing = {}
        for name, script in (("build.sh", BUILD), ("tests.sh", TESTS)):
            (workspace / name).write_text(script)
            (workspace / name).chmod(0o755)
        write_c_project(workspace / "c")
        if not (shutil.which("gcc") and shutil.which("make")):
            missing["build"] = "no gcc or no make"
        if (self.programs / "bench-calls").exists():
            shutil.copy(self.programs / "bench-calls", workspace / "bench-calls")
        else:
            missing["calls"] = "bench-calls is not built (./dev build release)"
        pin = read_pin(self.repository / "examples" / "demo" / "project.pin")
        archive = self.repository / "build" / "inputs" / pin["archive"]
        if archive.exists():
            (workspace / "project").mkdir()
            subprocess.run(["tar", "-C", workspace / "project", "--strip-components=1", "--no-same-owner",
                            "-xf", archive], check=True)
            for path in (workspace / "project" / "tests").glob("*.py"):
                if "perf_counter" in path.read_text():  # judges its own speed, which is no matter of right and wrong
                    path.unlink()
        else:
            missing["tests"] = f"{archive.name} is not there (./dev setup)"
        for path in workspace.rglob("*"):  # a sandbox's user is not root
            path.chmod(path.stat().st_mode | 0o444 | (0o111 if path.is_dir() or path.stat().st_mode & 0o100 else 0))
        return missing

    def remove(self):
        """Removes the folders, unless something below them cannot be unmounted: that could be the host's own."""
        for point in mounts_below(self.folder):
            subprocess.run(["umount", point], check=False, capture_output=True)
        remove_cgroups(self.cgroup)
        shutil.rmtree(self.memory, ignore_errors=True)
        if left := mounts_below(self.folder):
            print(f"peers: {left[0]} is still mounted; {self.folder} stays", file=sys.stderr)
            return
        shutil.rmtree(self.folder, ignore_errors=True)


def read_pin(path):
    lines = (line.strip() for line in path.read_text().splitlines())
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def mounts_below(folder):
    """Mount points below a folder, the innermost first."""
    with open("/proc/self/mountinfo") as lines:
        points = [line.split()[4] for line in lines]
    return sorted((point for point in points if point.startswith(f"{folder}/")), key=len, reverse=True)


def remove_cgroups(name):
    """Removes the empty cgroups of this name, and those in them, from every hierarchy."""
    for hierarchy in [CONTROLLERS, *CONTROLLERS.glob("*/")]:
        top = hierarchy / name
        for folder, _, _ in os.walk(top, topdown=False):
            try:
                os.rmdir(folder)
            except OSError as error:
                print(f"peers: {folder} stays: {error.strerror}", file=sys.stderr)
