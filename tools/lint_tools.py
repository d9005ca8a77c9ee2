#!/usr/bin/env python3
"""Refuses an api/tools/*.json that no tool has, or whose input is not what api/openapi.yaml says of it.

Descriptions and defaults may differ: those of a tool are for an agent. Needs python3-yaml and python3-jsonschema.
"""

import json
import pathlib
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "http"))

import openapi_check  # noqa: E402

FIELDS = {"name", "title", "description", "effect", "annotations", "inputSchema", "dataSchema"}
HINTS = {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}  # MCP, ToolAnnotations


def bare(schema, contract):
    """What a schema lets through, without what it says to people."""
    if isinstance(schema, list):
        return [bare(one, contract) for one in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        schema = {**contract.resolve({"$ref": schema["$ref"]}), **{name: one for name, one in schema.items() if name != "$ref"}}
    said = {name: one for name, one in schema.items() if name not in ("description", "default", "$schema")}
    return {name: {key: bare(one, contract) for key, one in value.items()} if name == "properties" else bare(value, contract)
            for name, value in said.items()}


def findings_of(stem, tool, contract):
    if set(tool) != FIELDS:
        yield f"{stem}: has other fields than {sorted(FIELDS)}"
        return
    if tool["name"] != stem:
        yield f"{stem}: calls itself {tool['name']}"
    if set(tool["annotations"]) != HINTS:
        yield f"{stem}: its annotations are not {sorted(HINTS)}"
    if tool["annotations"].get("destructiveHint") and "DANGER" not in tool["description"]:
        yield f"{stem}: is destructive, and its description names no DANGER"
    try:
        openapi_check.jsonschema.Draft202012Validator.check_schema(tool["inputSchema"])
    except openapi_check.jsonschema.SchemaError as error:
        yield f"{stem}: its input is no schema of 2020-12: {error.message}"
    operation = contract.document["paths"].get("/v1/sandboxes/{id}/tools/" + stem, {}).get("post")
    if operation is None:
        yield f"{stem}: api/openapi.yaml has no such tool"
        return
    described = operation["requestBody"]["content"]["application/json"]["schema"]
    if bare(described, contract) != bare(tool["inputSchema"], contract):
        yield f"{stem}: takes another input than api/openapi.yaml says"


def main():
    contract = openapi_check.Contract()
    found = []
    for path in sorted((ROOT / "api" / "tools").glob("*.json")):
        found += findings_of(path.stem, json.loads(path.read_text(encoding="utf-8")), contract)
    for line in found:
        print("api/tools/" + line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
