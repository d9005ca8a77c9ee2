"""Debian's cloud kernels as tools/setup.d/vm_kernels brings them, and the initial file system that starts one."""

import dataclasses
import lzma
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
INPUTS = ROOT / "build" / "inputs" / "vm"
BUSYBOX = pathlib.Path("/bin/busybox")
# The package of Debian 12 that depends on the newest kernel of a series.
PACKAGES = {"6.1": "linux-image-cloud-amd64", "6.12": "linux-image-6.12-cloud-amd64"}
# Everything else that is needed is part of these kernels.
MODULES = ("virtio_pci", "virtio_blk", "overlay", "loop", "btrfs")


class Missing(Exception):
    """What this host lacks to start a machine: a reason to skip."""


@dataclasses.dataclass(frozen=True)
class Kernel:
    series: str
    release: str  # as `uname -r` tells it
    folder: pathlib.Path  # where its package was unpacked

    @property
    def image(self):
        return self.folder / "boot" / f"vmlinuz-{self.release}"

    @property
    def modules(self):
        return self.folder / "lib" / "modules" / self.release


def find(series):
    folder = INPUTS / f"linux-{series}"
    images = sorted((folder / "boot").glob("vmlinuz-*"))
    if not images:
        raise Missing(f"there is no Linux {series} in {folder}; ./dev setup fetches it")
    return Kernel(series, images[-1].name.removeprefix("vmlinuz-"), folder)


def load_order(kernel):
    """[(name, content)] of MODULES, each after those it depends on; a part of the kernel itself is left out."""
    files = {re.sub(r"\.ko(\.xz)?$", "", path.name).replace("-", "_"): path
             for path in kernel.modules.rglob("*.ko*")}
    builtin = {pathlib.PurePath(line).stem.replace("-", "_")
               for line in (kernel.modules / "modules.builtin").read_text().split()}
    order = {}

    def add(name):
        name = name.replace("-", "_")
        if name in order or name in builtin:
            return
        if name not in files:
            raise Missing(f"Linux {kernel.release} has no module {name}")
        content = files[name].read_bytes()
        if files[name].suffix == ".xz":
            content = lzma.decompress(content)
        needed = re.search(rb"\0depends=([^\0]*)\0", content)
        for other in filter(None, needed.group(1).decode().split(",") if needed else []):
            add(other)
        order[name] = content

    for module in MODULES:
        add(module)
    return list(order.items())


def cpio(entries):
    """An archive of [(path, mode, content)] in the format `newc`, which the kernel unpacks."""
    archive = bytearray()
    for number, (path, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], 1):
        name = path.encode() + b"\0"
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name), 0)
        archive += b"070701" + b"".join(b"%08x" % field for field in fields) + name
        archive += b"\0" * (-len(archive) % 4) + content
        archive += b"\0" * (-len(archive) % 4)
    return bytes(archive)


def initial_files(kernel, init):
    """The archive with busybox, the modules and the script `init`, which the kernel starts."""
    if not BUSYBOX.exists():
        raise Missing("there is no /bin/busybox; ./dev setup installs busybox-static")
    folder, program, file = 0o040755, 0o100755, 0o100644
    entries = [(name, folder, b"") for name in ("bin", "dev", "proc", "modules", "root")]
    entries += [("bin/busybox", program, BUSYBOX.read_bytes()), ("init", program, init.read_bytes())]
    for number, (name, content) in enumerate(load_order(kernel)):
        entries.append((f"modules/{number:02}-{name}.ko", file, content))
    return cpio(entries)
