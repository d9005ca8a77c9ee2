"""The two disks of a machine: a root file system with this host's own packages, and what is to be done in it."""

import contextlib
import fcntl
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

from kernels import BUSYBOX, ROOT, Missing

FOLDER = ROOT / "build" / "vm"
GUEST = pathlib.Path(__file__).resolve().parent / "guest"
# What the tests start, inside a sandbox or beside it; what these depend on comes along.
PACKAGES = ("bash", "bsdutils", "btrfs-progs", "bubblewrap", "coreutils", "dash", "diffutils", "findutils", "gawk|mawk",
            "gcc", "git", "grep", "gzip", "hostname", "libc6-dev", "libcap2-bin", "libstdc++6", "login", "make", "mount",
            "passwd", "patch", "perl-base", "procps", "python3", "python3-jsonschema", "python3-yaml",
            "rsync", "sed", "systemd", "tar", "util-linux")
LEFT_OUT = ("/usr/share/doc/", "/usr/share/man/", "/usr/share/info/", "/usr/share/locale/", "/usr/share/lintian/",
            "/usr/share/perl/", "/usr/lib/x86_64-linux-gnu/perl/", "/usr/lib/x86_64-linux-gnu/gconv/", "/boot/", "/var/",
            "/etc/init.d/", "/etc/cron")
# Sparse: there is room for the store, whatever the tests put there, and the reserve that Caisson keeps.
ROOT_SIZE = "24G"
INODES = "400000"


def installed():
    """{package: (version, [names it depends on])} of what dpkg has installed."""
    form = r"${db:Status-Status}\t${Package}\t${Version}\t${Pre-Depends}, ${Depends}\n"
    text = subprocess.run(["dpkg-query", "--show", "--showformat", form], capture_output=True, text=True,
                          check=True).stdout
    packages = {}
    for line in text.splitlines():
        status, name, version, depends = line.split("\t")
        if status == "installed":
            names = [choice.split()[0].split(":")[0] for part in depends.split(",") for choice in part.split("|")
                     if choice.strip()]
            packages[name] = (version, names)
    return packages


def closure(packages):
    """PACKAGES and all that they depend on, of those that are installed."""
    wanted = {}
    todo = [choice for name in PACKAGES for choice in name.split("|")]
    for name in PACKAGES:
        if not any(choice in packages for choice in name.split("|")):
            raise Missing(f"the package {name} is not installed; ./dev setup installs what tests need")
    while todo:
        name = todo.pop()
        if name in packages and name not in wanted:
            wanted[name] = packages[name][0]
            todo += packages[name][1]
    return wanted


def alternatives():
    """The links that stand for one of several programs: no package lists them."""
    for folder in ("/usr/bin", "/usr/sbin"):
        for entry in os.scandir(folder):
            if entry.is_symlink() and os.readlink(entry.path).startswith("/etc/alternatives/"):
                yield entry.path, os.readlink(entry.path), os.path.realpath(entry.path)


def files_of(packages):
    """The paths of the files of `packages` on this host, in the folders where they really lie."""
    text = subprocess.run(["dpkg-query", "--listfiles", *packages], capture_output=True, text=True, check=True).stdout
    paths = set()
    for line in text.splitlines():
        if not line.startswith("/") or line == "/.":
            continue
        path = os.path.join(os.path.realpath(os.path.dirname(line)), os.path.basename(line))
        if not os.path.lexists(path) or f"{path}/".startswith(LEFT_OUT):
            continue
        paths.add(path)
        # Compiled when the package was configured, which a sandbox cannot do again: its /usr is read-only.
        if path.endswith(".py"):
            compiled = pathlib.Path(path).parent / "__pycache__"
            paths.update(str(found) for found in compiled.glob(pathlib.Path(path).stem + ".cpython-*.pyc"))
    for link, name, target in alternatives():
        if target in paths:
            paths.update((link, name))
    return paths


def copy_files(paths, stage):
    names = "".join(f".{path}\0" for path in sorted(paths, key=lambda path: (path.count("/"), path)))
    pack = subprocess.Popen(["tar", "-C", "/", "-c", "--no-recursion", "--null", "-T", "-"], stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)
    unpack = subprocess.Popen(["tar", "-C", stage, "-xp"], stdin=pack.stdout)
    pack.stdout.close()
    pack.stdin.write(names.encode())
    pack.stdin.close()
    if pack.wait() != 0 or unpack.wait() != 0:
        raise RuntimeError("cannot copy the files of the root file system")


def fill_root(packages, stage):
    for name in ("bin", "sbin", "lib", "lib64", "lib32", "libx32"):
        if os.path.islink(f"/{name}"):
            os.symlink(os.readlink(f"/{name}"), stage / name)
    copy_files(files_of(packages), stage)
    for name in ("dev", "proc", "sys", "run", "root", "home", "opt/caisson", "etc", "var/lib/caisson"):
        (stage / name).mkdir(parents=True, exist_ok=True)
    for name in ("tmp", "var/tmp"):
        (stage / name).mkdir(parents=True, exist_ok=True)
        (stage / name).chmod(0o1777)
    for name in ("passwd", "group"):
        shutil.copyfile(f"/usr/share/base-passwd/{name}.master", stage / "etc" / name)
    (stage / "etc/shadow").write_text("root:*:19000:0:99999:7:::\n")
    (stage / "etc/shadow").chmod(0o640)
    (stage / "etc/machine-id").write_text(f"{'4c' * 16}\n")
    (stage / "etc/hostname").write_text("caisson-vm\n")
    (stage / "etc/hosts").write_text("127.0.0.1 localhost caisson-vm\n")
    (stage / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")
    subprocess.run(["ldconfig", "-r", stage], check=True)


def make_file_system(path, content, size, *options):
    path.write_bytes(b"")
    subprocess.run(["mke2fs", "-q", "-F", "-t", "ext4", "-m", "0", "-O", "^has_journal", *options, "-d", content, path,
                    size], check=True)


@contextlib.contextmanager
def locked():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with open(FOLDER / "lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def root_image():
    """The path of the root disk: made once for these versions of these packages."""
    if os.geteuid() != 0:
        raise Missing("needs root: the files of the root file system belong to root")
    for program in ("dpkg-query", "mke2fs"):
        if not shutil.which(program):
            raise Missing(f"there is no {program}: the root file system is made of Debian's packages, with e2fsprogs")
    packages = closure(installed())
    key = hashlib.sha256(pathlib.Path(__file__).read_bytes() + json.dumps(packages, sort_keys=True).encode())
    image = FOLDER / f"root-{key.hexdigest()[:16]}.ext4"
    with locked():
        if image.exists():
            return image
        for old in FOLDER.glob("root-*"):
            old.unlink()
        part = FOLDER / "root-part"
        with tempfile.TemporaryDirectory(dir=FOLDER) as scratch:
            stage = pathlib.Path(scratch) / "root"
            stage.mkdir()
            fill_root(packages, stage)
            make_file_system(part, stage, ROOT_SIZE, "-N", INODES, "-E", "lazy_itable_init=1")
        part.rename(image)
        return image


def job_image(path, steps, programs):
    """Makes the second disk at `path`: the steps, the program that does them, and `programs`, {name there: file here}."""
    with tempfile.TemporaryDirectory(dir=path.parent) as scratch:
        stage = pathlib.Path(scratch) / "job"
        (stage / "bin").mkdir(parents=True)
        stage.chmod(0o755)
        shutil.copytree(GUEST, stage / "guest")
        shutil.copyfile(BUSYBOX, stage / "bin" / "busybox")
        (stage / "bin" / "busybox").chmod(0o755)
        (stage / "job.json").write_text(json.dumps(steps))
        for name, source in programs.items():
            (stage / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(source, stage / name)
            (stage / name).chmod(0o755)
        size_kib = sum(file.stat().st_size + 4096 for file in stage.rglob("*")) // 1024
        make_file_system(path, stage, f"{size_kib * 11 // 10 + 8192}k")
