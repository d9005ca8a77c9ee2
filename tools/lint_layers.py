#!/usr/bin/env python3
"""Refuses includes that a module has not declared.

A file of src/caisson/x may include "caisson/y/..." only when y is x itself or stands in DEPS of x's caisson_module()
(TEST_DEPS counts for *_test.cc). A header may not include a library that is slow to compile; .cc files may, and so may
PRIVATE_HEADERS, which no other module includes.
"""

import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
HEAVY = ("absl/", "boost/", "CLI/", "google/protobuf/", "sqlite3.h")
KEYWORDS = {"NAME", "LAYER", "DEPS", "LIBS", "PROTOS", "SOURCES", "HEADERS", "PRIVATE_HEADERS", "TESTS", "TEST_DEPS", "TEST_SOURCES"}
# Folders on an include root with these names would hide the system's headers.
RESERVED_FOLDERS = {"linux", "sys", "asm", "net", "netinet"}


def declared(cmake_text):
    """Maps each keyword of the caisson_module() call to its words."""
    call = re.search(r"caisson_module\s*\(([^)]*)\)", re.sub(r"#.*", "", cmake_text))
    words, keyword = {}, None
    for word in call.group(1).split() if call else []:
        if word in KEYWORDS:
            keyword = word
            words.setdefault(keyword, [])
        elif keyword:
            words[keyword].append(word)
    return words


def private_headers(root):
    """The headers that only their own module may include, as they stand in an include."""
    found = set()
    for description in (root / "src" / "caisson").glob("*/CMakeLists.txt"):
        names = declared(description.read_text()).get("PRIVATE_HEADERS", [])
        found |= {f"caisson/{description.parent.name}/{name}" for name in names}
    return found


def findings_in(root):
    private = private_headers(root)
    for module in sorted(path for path in (root / "src" / "caisson").iterdir() if path.is_dir()):
        files = sorted(path for path in module.rglob("*") if path.suffix in (".cc", ".h"))
        if module.name in RESERVED_FOLDERS:
            yield f"{module.relative_to(root)}: a folder of this name hides system headers"
        description = module / "CMakeLists.txt"
        if not description.exists():
            if files:
                yield f"{module.relative_to(root)}: sources without a CMakeLists.txt are not built"
            continue
        words = declared(description.read_text())
        for path in files:
            allowed = {module.name, *words.get("DEPS", [])}
            if path.name.endswith("_test.cc"):
                allowed |= set(words.get("TEST_DEPS", []))
            yield from findings_of(path, path.relative_to(root), module.name, allowed, private)


def findings_of(path, shown, own, allowed, private):
    text = path.read_text()
    for match in INCLUDE.finditer(text):
        quote, target = match.groups()
        where = f"{shown}:{text.count(chr(10), 0, match.start(2)) + 1}"
        if quote == '"' and not target.startswith("caisson/"):
            yield f'{where}: include "{target}" from the root, as "caisson/<module>/..."'
        elif target.startswith("caisson/"):
            module = target.split("/")[1]
            if module not in allowed:
                yield f"{where}: includes {target}, but its module does not declare '{module}' in DEPS"
            elif target in private and module != own:
                yield f"{where}: {target} is private to its module"
        elif path.suffix == ".h" and target.startswith(HEAVY) and f"caisson/{own}/{path.name}" not in private:
            yield f"{where}: <{target}> is slow to compile and belongs into a .cc file"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args(arguments)
    findings = list(findings_in(options.root))
    print("\n".join(findings + [f"lint_layers: {len(findings)} findings"]))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
