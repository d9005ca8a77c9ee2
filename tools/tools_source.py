#!/usr/bin/env python3
"""Turns the documents of api/tools into one C++ source.

usage: tools_source.py OUT.cc DOCUMENT.json...
"""

import json
import pathlib
import sys

import openapi_source


def main(source_file, *documents):
    tools = [json.loads(pathlib.Path(path).read_text(encoding="utf-8")) for path in sorted(documents)]
    text = json.dumps(tools, separators=(",", ":"), ensure_ascii=True)
    if ")json" in text:
        raise ValueError('api/tools: holds ")json", which ends a literal')
    source = openapi_source.source_text("tools.h", "ToolsJson", text)
    pathlib.Path(source_file).write_text(source, encoding="ascii")


if __name__ == "__main__":
    main(*sys.argv[1:])
