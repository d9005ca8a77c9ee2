#!/usr/bin/env python3
"""Turns api/openapi.yaml into the JSON that the daemon serves, and that into a C++ source.

usage: openapi_source.py DOCUMENT.yaml OUT.json OUT.cc
"""

import json
import pathlib
import sys

import yaml

PIECE = 8000  # characters; a literal of any length is allowed, but lines should stay readable in a debugger


def json_text(path):
    with open(path, encoding="utf-8") as file:
        return json.dumps(yaml.safe_load(file), separators=(",", ":"), ensure_ascii=True)


def source_text(header, function, text):
    pieces = [text[start:start + PIECE] for start in range(0, len(text), PIECE)]
    literals = "\n".join(f'    R"json({piece})json"' for piece in pieces)
    return (
        f'#include "caisson/api/{header}"\n\n'
        "namespace caisson::api {\n\n"
        f"std::string_view {function}() {{\n  return\n{literals};\n}}\n\n"
        "}  // namespace caisson::api\n"
    )


def main(document, json_file, source_file):
    text = json_text(document)
    if ")json" in text:
        raise ValueError(f'{document}: holds ")json", which ends a literal')
    pathlib.Path(json_file).write_text(text + "\n", encoding="ascii")
    pathlib.Path(source_file).write_text(source_text("openapi.h", "OpenApiJson", text), encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
