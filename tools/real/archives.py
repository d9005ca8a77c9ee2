"""Brings a project's source archive and what it depends on, and makes its workspace of them.

Everything is checked against a hash of the repository: the manifest's for the archive, the lock file's or the project's
own go.sum for what it depends on. No code of a project runs here.
"""

import base64
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tomllib
import urllib.parse
import zipfile

import package_index
from real import manifest

ARCHIVES = manifest.INPUTS / "archives"
TREES = manifest.INPUTS / "trees"
OWNER = 1000  # the agent's uid inside, and of the ordinary user outside

DEBIAN_SOURCES = """deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {mirror} bookworm main
"""


def go_proxy():
    value = subprocess.run(["/usr/bin/go", "env", "GOPROXY"], check=True, capture_output=True, text=True).stdout
    return value.strip().replace("|", ",").split(",")[0].rstrip("/")


def npm_address(name, version):
    registry = os.environ.get("NPM_CONFIG_REGISTRY", "https://registry.npmjs.org").rstrip("/")
    return f"{registry}/{name}/-/{name.rsplit('/', 1)[-1]}-{version}.tgz"


def address_of(project):
    package = project.package or project.name
    if project.registry == "pypi":
        return package_index.address_of(package, project.archive)
    if project.registry == "crates":
        return f"https://static.crates.io/crates/{package}/{project.archive}"
    if project.registry == "npm":
        return npm_address(package, project.version)
    return f"{go_proxy()}/{package}/@v/{urllib.parse.quote(project.version)}.zip"


def debian_archive(project):
    """The archive by `apt-get source`, with package lists of our own: the host's need not have sources."""
    state = manifest.INPUTS / "apt"
    (state / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    (state / "archives" / "partial").mkdir(parents=True, exist_ok=True)
    sources = state / "sources.list"
    sources.write_text(DEBIAN_SOURCES.format(mirror=os.environ.get("CAISSON_DEBIAN_MIRROR", "http://deb.debian.org/debian")))
    apt = ["apt-get", "-qq", f"-oDir::Etc::SourceList={sources}", "-oDir::Etc::SourceParts=/dev/null",
           f"-oDir::State::Lists={state}/lists", f"-oDir::Cache={state}", "-oAPT::Sandbox::User=root"]
    if not list((state / "lists").glob("*Sources*")):
        subprocess.run([*apt, "update"], check=True)
    subprocess.run([*apt, "source", "--download-only", "--tar-only", project.package or project.name], check=True,
                   cwd=state / "archives")
    return state / "archives" / project.archive


def bring_archive(project):
    """The path of the checked archive."""
    archive = ARCHIVES / f"{project.name}-{project.archive.rsplit('/', 1)[-1]}"
    if archive.is_file() and package_index.sha256(archive) == project.sha256:
        return archive
    if project.registry == "debian":
        found = debian_archive(project)
        package_index.keep(found.read_bytes(), project.sha256, archive, found)
    else:
        address = address_of(project)
        package_index.keep(package_index.fetch(address)[0], project.sha256, archive, address)
    return archive


def unpack(archive, folder, strip=0):
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(folder)
    else:
        folder.mkdir(parents=True, exist_ok=True)
        # GNU tar refuses names that lead out of the folder; tarfile of Python 3.11.2 has no such filter.
        subprocess.run(["tar", "--extract", "--no-same-owner", f"--file={archive}", f"--directory={folder}",
                        f"--strip-components={strip}"], check=True)


def bring_pinned(address, archive, algorithm, digest):
    """The body of the file at the address, from `archive` when it was fetched before."""
    body = archive.read_bytes() if archive.is_file() else package_index.fetch(address)[0]
    if hashlib.new(algorithm, body).digest() != digest:
        raise ValueError(f"{address} does not have the pinned {algorithm}")
    archive.parent.mkdir(parents=True, exist_ok=True)
    archive.write_bytes(body)
    return archive


def vendor_crates(tree, lock):
    """What Cargo.lock names, as a folder of sources that cargo is told to use in place of the registry."""
    for crate in tomllib.loads(lock.read_text())["package"]:
        if "checksum" not in crate:
            continue  # the project itself
        file = f"{crate['name']}-{crate['version']}.crate"
        archive = bring_pinned(f"https://static.crates.io/crates/{crate['name']}/{file}", ARCHIVES / "crates" / file, "sha256",
                               bytes.fromhex(crate["checksum"]))
        unpack(archive, tree / "vendor")
        (tree / "vendor" / file.removesuffix(".crate") / ".cargo-checksum.json").write_text(
            json.dumps({"files": {}, "package": crate["checksum"]}))
    (tree / ".cargo").mkdir()
    (tree / ".cargo" / "config.toml").write_text(
        '[source.crates-io]\nreplace-with = "vendored"\n[source.vendored]\ndirectory = "vendor"\n')


def place_node_modules(tree, lock):
    """What package-lock.json names, in the folders that npm would choose; no install script runs."""
    for place, entry in json.loads(lock.read_text())["packages"].items():
        if not place or entry.get("inBundle"):
            continue  # the list of what is wanted, or part of another's archive
        algorithm, digest = entry["integrity"].split("-", 1)
        name = entry.get("name") or place.rsplit("node_modules/", 1)[1]
        archive = bring_pinned(npm_address(name, entry["version"]),
                               ARCHIVES / "npm" / f"{name.replace('/', '+')}-{entry['version']}.tgz", algorithm,
                               base64.b64decode(digest))
        unpack(archive, tree / place, strip=1)  # the one folder of the archive may have any name


def download_modules(tree):
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tree), "GOPATH": str(tree / "go"), "GOFLAGS": "-modcacherw",
                   "GOPROXY": go_proxy()}
    subprocess.run(["/usr/bin/go", "mod", "download"], check=True, cwd=tree / "project", env=environment)


def make_tree(project, archive):
    """The workspace: the unmodified project in the folder `project`, what it depends on beside it."""
    tree = TREES / project.name
    shutil.rmtree(tree, ignore_errors=True)
    unpack(archive, tree / "unpacked")
    (tree / "unpacked" / project.folder).rename(tree / "project")
    shutil.rmtree(tree / "unpacked")
    lock = manifest.FOLDER / project.lock if project.lock else None
    if project.registry == "crates":
        if lock:
            shutil.copyfile(lock, tree / "project" / "Cargo.lock")
        vendor_crates(tree, tree / "project" / "Cargo.lock")
    elif project.registry == "npm" and lock:
        place_node_modules(tree, lock)
    elif project.registry == "go":
        download_modules(tree)
    for folder, _, files in os.walk(tree):
        for path in [folder, *(os.path.join(folder, name) for name in files)]:
            os.lchown(path, OWNER, OWNER)
            if not os.path.islink(path):
                os.chmod(path, os.stat(path).st_mode | 0o644 | (0o111 if path == folder else 0))
    (tree / ".made-of").write_text(made_of(project))


def made_of(project):
    lock = package_index.sha256(manifest.FOLDER / project.lock) if project.lock else ""
    return f"{project.sha256} {project.folder} {lock}\n"


def tree_of(project):
    """The project's workspace, or None when it is not there or of another pin."""
    mark = TREES / project.name / ".made-of"
    return mark.parent if mark.is_file() and mark.read_text() == made_of(project) else None


def bring(project):
    if tree_of(project) is None:
        make_tree(project, bring_archive(project))


def packages(projects):
    """The Debian packages that the projects need and that are not there, under whatever name their program came.

    A program is looked for in /usr, because a sandbox's image has nothing else of the host.
    """
    wanted = sorted({package for project in projects for package in project.packages})
    return [package for package in wanted if not pathlib.Path("/usr/bin", package).exists()]
