#!/usr/bin/env python3
"""Refuses files over 800 lines and functions over 120; over 450 and 60 it prints a notice.

Functions are found by their braces: exact enough for code that clang-format wrote.
"""

import argparse
import pathlib
import re
import sys

FILE_LIMIT, FILE_NOTICE = 800, 450
FUNCTION_LIMIT, FUNCTION_NOTICE = 120, 60
FOLDERS = ("src", "bin", "tests", "bench", "examples", "tools", "cmake")
SUFFIXES = (".cc", ".h", ".py", ".sh", ".cmake", ".proto")

NOISE = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<mark>[^\s()\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"
      |(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'|^[ \t]*\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
CONSTRUCTOR_LIST = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)")
BODY_WORDS = ("const", "noexcept", "override", "final", "try", "mutable")


def without_noise(text):
    """The text with comments, literals and directives blanked, every line kept."""
    return NOISE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), text)


def closing(text, start):
    """The index after the brace that closes the one at `start`."""
    depth = 0
    for match in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if match.group(0) == "{" else -1
        if depth == 0:
            return match.end()
    return len(text)


def opens_member(header):
    """Whether a brace after `header` initialises a member in a constructor's list."""
    word = re.search(r"([\w>]+)\s*$", header)
    return bool(CONSTRUCTOR_LIST.search(header)) and bool(word) and word.group(1) not in BODY_WORDS


def functions(text):
    """Yields (name, first line, lines) of each function body in namespace or class scope."""
    text = without_noise(text)
    header_start = position = 0
    for_next = re.compile(r"[{};]")
    while (match := for_next.search(text, position)) is not None:
        position = match.end()
        header = text[header_start : match.start()]
        if match.group(0) != "{":
            header_start = position
        elif opens_member(header):
            position = closing(text, match.start())
        elif "(" in header and not re.search(r"=\s*$", header) and not re.match(
                r"\s*(?:template\s*<.*?>\s*)?(?:namespace|class|struct|union|enum)\b[^(]*$", header):
            position = closing(text, match.start())
            first = text.count("\n", 0, header_start + len(header) - len(header.lstrip())) + 1
            name = re.search(r"([~\w:]+)\s*\(", header)
            yield name.group(1) if name else "?", first, text.count("\n", 0, position) + 2 - first
            header_start = position
        elif re.search(r"=\s*$", header):
            position = closing(text, match.start())
        else:
            header_start = position


def check(path, shown):
    """Yields (is a failure, text)."""
    text = path.read_text()
    lines = text.count("\n")
    if lines > FILE_NOTICE:
        yield lines > FILE_LIMIT, f"{shown}: {lines} lines"
    if path.suffix in (".cc", ".h"):
        for name, first, length in functions(text):
            if length > FUNCTION_NOTICE:
                yield length > FUNCTION_LIMIT, f"{shown}:{first}: {name} has {length} lines"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    options = parser.parse_args(arguments)
    failures = 0
    for folder in FOLDERS:
        for path in sorted((options.root / folder).rglob("*")):
            if path.is_file() and (path.suffix in SUFFIXES):
                for failed, text in check(path, path.relative_to(options.root)):
                    failures += failed
                    print(text if failed else f"notice: {text}")
    print(f"lint_size: {failures} findings")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
