"""Reads tests/real/projects.toml: the projects, how each is built and tested, and which differences are explained."""

import dataclasses
import pathlib
import re
import tomllib

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "real"
MANIFEST = FOLDER / "projects.toml"
INPUTS = ROOT / "build" / "real"  # what was fetched: archives/, and trees/NAME, the workspace of a project

REGISTRIES = ("pypi", "crates", "npm", "go", "debian")


class ManifestError(Exception):
    """The manifest says something that has no meaning."""


@dataclasses.dataclass(frozen=True)
class Difference:
    """Tests that may end otherwise inside than outside."""

    tests: str  # a regular expression that matches the whole name
    why: str

    def covers(self, name):
        return re.fullmatch(self.tests, name) is not None


@dataclasses.dataclass(frozen=True)
class Project:
    """One project. `build` and `test` are shell scripts that run in the folder `project` of the workspace."""

    name: str
    language: str
    version: str
    registry: str
    archive: str  # file name in the registry
    sha256: str
    folder: str  # the archive's folder that holds the project
    stresses: str
    format: str  # of the tests' output; see counts.py
    test: str
    build: str = ""
    package: str = ""  # its name in the registry; the project's own when empty
    lock: str = ""  # a file beside the manifest that pins what the project depends on
    packages: tuple = ()  # Debian packages that build and test need
    options: tuple = ()  # of `caisson run`
    about: str = ""  # what a reader must know of the counts, on both sides alike
    differences: tuple = ()

    def explanation(self, test_name):
        """Why this test may differ; None when nobody has said."""
        return next((one.why for one in self.differences if one.covers(test_name)), None)


def project_of(entry):
    names = {field.name for field in dataclasses.fields(Project)}
    if unknown := sorted(set(entry) - names):
        raise ManifestError(f"{entry.get('name')}: unknown {', '.join(unknown)}")
    values = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    values["differences"] = tuple(Difference(**one) for one in entry.get("differences", ()))
    try:
        project = Project(**values)
    except TypeError as error:
        raise ManifestError(f"{entry.get('name')}: {error}") from error
    if project.registry not in REGISTRIES:
        raise ManifestError(f"{project.name}: no registry '{project.registry}'; there are {', '.join(REGISTRIES)}")
    if not re.fullmatch(r"[0-9a-f]{64}", project.sha256):
        raise ManifestError(f"{project.name}: sha256 is not one")
    return project


def parse(text):
    """The manifest's projects, in its order."""
    projects = [project_of(entry) for entry in tomllib.loads(text)["project"]]
    names = [project.name for project in projects]
    if doubled := sorted({name for name in names if names.count(name) > 1}):
        raise ManifestError(f"named twice: {', '.join(doubled)}")
    return projects


def load():
    return parse(MANIFEST.read_text())


def select(projects, names):
    """Those of the names, all without names."""
    known = {project.name for project in projects}
    if unknown := [name for name in names if name not in known]:
        raise ManifestError(f"no project {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return [project for project in projects if not names or project.name in names]
