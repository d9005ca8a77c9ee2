"""What of a build goes into a machine, and where it lies there."""

from kernels import ROOT, Missing

HOME = "/opt/caisson"
PATH = f"{HOME}/bin:{HOME}/tests"
ESCAPE_SUITE = ROOT / "tests" / "escape"
# The tests of the daemon find each other, the document of its interface and the example where they lie in the sources.
DAEMON_SUITE = ("api/openapi.yaml", "examples/http/session.py", "tests/http/openapi_check.py",
                "packaging/caisson.service.in", "packaging/caisson.socket", "packaging/caisson.sysusers")


def of_build(tests=None):
    """{place below HOME: file}: the programs, the escape suite, and the test programs named, without names all."""
    build = ROOT / "build"
    found = {f"bin/{name}": build / "bin" / name
             for name in ("caisson", "caisson-daemon", "caisson-launcher", "escape_probe")}
    found |= {f"escape/{file.name}": file for file in ESCAPE_SUITE.iterdir() if file.suffix == ".py"
              or file.name == "expectations.txt"}
    found |= {name: ROOT / name for name in DAEMON_SUITE}
    found |= {f"tests/daemon/{file.name}": file for file in (ROOT / "tests" / "daemon").glob("*.py")}
    found |= {f"tests/data/{file.name}": file for file in (ROOT / "tests" / "data").iterdir()}
    found |= {f"api/tools/{file.name}": file for file in (ROOT / "api" / "tools").iterdir()}
    folder = build / "dev" / "tests"
    names = [file.name for file in folder.iterdir() if file.is_file()] if tests is None else tests
    found |= {f"tests/{name}": folder / name for name in names}
    for file in found.values():
        if not file.exists():
            raise Missing(f"there is no {file}; ./dev build makes it")
    return found
