#!/usr/bin/env python3
"""Refuses an api/openapi.yaml that is no OpenAPI 3.1 document, or that leaves open what the project wants closed.

Checked are the fields of every object of OpenAPI, that every reference leads somewhere, that every schema is a valid one
of JSON Schema 2020-12 and its examples agree with it, that every object is closed, that what a request may hold has
limits, and that every operation has its errors, each as a problem. Needs python3-yaml and python3-jsonschema.
"""

import pathlib
import re
import sys

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "http"))

import openapi_check  # noqa: E402
from openapi_check import jsonschema  # noqa: E402

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
# Kind of object: the fields it must have, those it may have. OpenAPI 3.1.0, section 4.8.
FIELDS = {
    "document": ({"openapi", "info", "paths"}, {"jsonSchemaDialect", "servers", "components", "security", "tags", "externalDocs"}),
    "info": ({"title", "version"}, {"summary", "description", "license", "contact", "termsOfService"}),
    "path": (set(), {*METHODS, "parameters", "summary", "description"}),
    "operation": ({"operationId", "tags", "summary", "responses"}, {"description", "parameters", "requestBody", "security"}),
    "parameter": ({"name", "in", "description", "schema"},
                  {"required", "style", "explode", "allowEmptyValue", "example", "examples"}),
    "header": ({"description", "schema"}, {"required", "example"}),
    "body": ({"content"}, {"required", "description"}),
    "response": ({"description"}, {"headers", "content"}),
    "media": (set(), {"schema", "examples"}),
    "components": (set(), {"schemas", "responses", "parameters", "examples", "headers", "securitySchemes", "requestBodies"}),
}
SCHEMA_WORDS = {
    "$ref", "type", "enum", "const", "description", "default", "examples", "format", "pattern", "minLength", "maxLength",
    "minimum", "maximum", "minItems", "maxItems", "uniqueItems", "items", "prefixItems", "properties", "required",
    "additionalProperties", "unevaluatedProperties", "propertyNames", "maxProperties", "oneOf", "anyOf", "not",
    "contentEncoding", "x-max-bytes", "if", "then",
}
EVERY_OPERATION_HAS = {"400", "403", "408", "414", "417", "421", "429", "431", "500", "503", "505"}
OPERATION_OF_A_CALLER_HAS = {"401"}
OPERATION_WITH_A_BODY_HAS = {"413", "415"}


class Lint:
    def __init__(self, document):
        self.contract = openapi_check.Contract(document)
        self.document = document
        self.findings = []

    def say(self, where, what):
        self.findings.append(f"{where}: {what}")

    def fields(self, kind, node, where):
        must, may = FIELDS[kind]
        given = {name for name in node if not name.startswith("x-")}
        for name in sorted(must - given):
            self.say(where, f"has no {name}")
        for name in sorted(given - must - may):
            self.say(where, f"has an unknown field {name}")

    def resolve(self, node, where):
        try:
            return self.contract.resolve(node)
        except jsonschema.RefResolutionError as error:
            self.say(where, f"the reference leads nowhere: {error}")
            return None

    # ---- objects of OpenAPI

    def run(self):
        document = self.document
        self.fields("document", document, "document")
        self.fields("info", document.get("info", {"title": "", "version": ""}), "info")
        if not re.fullmatch(r"3\.1\.\d+", str(document.get("openapi"))):
            self.say("openapi", "is not 3.1")
        self.components(document.get("components", {}))
        seen = set()
        for template, item in document["paths"].items():
            self.path(template, item, seen)
        for reference, where in self.references(document, ""):
            self.resolve({"$ref": reference}, where)
        return self.findings

    def references(self, node, where):
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                yield node["$ref"], where
            for name, value in node.items():
                yield from self.references(value, f"{where}/{name}")
        elif isinstance(node, list):
            for number, value in enumerate(node):
                yield from self.references(value, f"{where}/{number}")

    def components(self, components):
        self.fields("components", components, "components")
        for name, schema in components.get("schemas", {}).items():
            self.schema(schema, f"schemas/{name}")
        for name, response in components.get("responses", {}).items():
            self.response(response, f"responses/{name}")
        for name, parameter in components.get("parameters", {}).items():
            self.parameter(parameter, f"parameters/{name}")
        for name, header in components.get("headers", {}).items():
            self.fields("header", header, f"headers/{name}")

    def path(self, template, item, seen):
        self.fields("path", item, template)
        shared = item.get("parameters", [])
        wanted = set(re.findall(r"\{(\w+)\}", template))
        for method in METHODS:
            if method not in item:
                continue
            operation, where = item[method], f"{method.upper()} {template}"
            self.operation(operation, where, seen)
            parameters = [self.resolve(one, where) or {} for one in shared + operation.get("parameters", [])]
            if {one.get("name") for one in parameters if one.get("in") == "path"} != wanted:
                self.say(where, "its path parameters are not those of its path")
            for one in parameters:
                self.parameter(one, where)

    def operation(self, operation, where, seen):
        self.fields("operation", operation, where)
        name = operation.get("operationId")
        if name in seen:
            self.say(where, f"its operationId {name} occurs twice")
        seen.add(name)
        known = {tag["name"] for tag in self.document.get("tags", [])}
        for tag in set(operation.get("tags", [])) - known:
            self.say(where, f"its tag {tag} is not explained")
        responses = operation.get("responses", {})
        needed = set(EVERY_OPERATION_HAS)
        if operation.get("security") != []:
            needed |= OPERATION_OF_A_CALLER_HAS
        body = operation.get("requestBody")
        if body:
            needed |= OPERATION_WITH_A_BODY_HAS
            self.fields("body", body, where)
            for kind, media in body["content"].items():
                self.media(media, f"{where} {kind}")
                if "schema" in media:
                    self.bounded(media["schema"], f"{where} {kind}", set())
        for status in sorted(needed - set(responses)):
            self.say(where, f"has no {status}")
        if not any(status.startswith("2") for status in responses):
            self.say(where, "has no success")
        for status, response in responses.items():
            resolved = self.resolve(response, where) or {}
            self.response(resolved, f"{where} {status}")
            if status >= "4" and list(resolved.get("content", {})) != ["application/problem+json"]:
                self.say(f"{where} {status}", "is not a problem")

    def parameter(self, parameter, where):
        where = f"{where} parameter {parameter.get('name')}"
        self.fields("parameter", parameter, where)
        if parameter.get("in") not in ("path", "query", "header"):
            self.say(where, "is in no known place")
        if parameter.get("in") == "path" and parameter.get("required") is not True:
            self.say(where, "is in the path and not required")
        self.schema(parameter["schema"], where)
        self.bounded(parameter["schema"], where, set())
        if "example" in parameter:
            self.agrees(parameter["example"], parameter["schema"], where)

    def response(self, response, where):
        self.fields("response", response, where)
        for name, header in response.get("headers", {}).items():
            self.fields("header", self.resolve(header, where) or {}, f"{where} header {name}")
        for kind, media in response.get("content", {}).items():
            self.media(media, f"{where} {kind}")

    def media(self, media, where):
        self.fields("media", media, where)
        if "schema" not in media:
            return  # bytes
        self.schema(media["schema"], where)
        for name, example in media.get("examples", {}).items():
            value = (self.resolve(example, where) or {}).get("value")
            self.agrees(value, media["schema"], f"{where} example {name}")

    # ---- schemas

    def schema(self, schema, where):
        try:
            jsonschema.Draft202012Validator.check_schema(schema)
        except jsonschema.SchemaError as error:
            self.say(where, f"is no schema of 2020-12: {error.message}")
            return
        self.closed(schema, where)
        for example in schema.get("examples", []):
            self.agrees(example, schema, where)

    def agrees(self, value, schema, where):
        try:
            self.contract.validate(value, schema, where)
        except openapi_check.Mismatch as mismatch:
            self.findings.append(f"{mismatch}")
        except (jsonschema.RefResolutionError, jsonschema.exceptions.UnknownType) as error:
            self.say(where, f"cannot be judged: {str(error).splitlines()[0]}")

    def parts(self, schema):
        """The schemas right inside one."""
        for word in ("items", "additionalProperties", "unevaluatedProperties", "propertyNames", "not"):
            if isinstance(schema.get(word), dict):
                yield word, schema[word]
        for word in ("oneOf", "anyOf", "prefixItems"):
            for number, part in enumerate(schema.get(word, [])):
                yield f"{word}/{number}", part
        for name, part in schema.get("properties", {}).items():
            yield f"properties/{name}", part

    def closed(self, schema, where):
        """Every object says what else it may hold; only what is composed by reference is closed where it is used."""
        for word in sorted(set(schema) - SCHEMA_WORDS):
            self.say(where, f"has the word {word}, which nothing here needs: a slip?")
        if "properties" in schema and not {"additionalProperties", "unevaluatedProperties"} & set(schema):
            if not self.is_closed_elsewhere(where):
                self.say(where, "is open: additionalProperties is missing")
        for name in schema.get("required", []):
            if "properties" in schema and name not in schema["properties"] and "$ref" not in schema:
                self.say(where, f"requires {name}, which it does not describe")
        for name, part in self.parts(schema):
            self.closed(part, f"{where}/{name}")

    def is_closed_elsewhere(self, where):
        """True of schemas/X when all that refer to it close themselves with unevaluatedProperties."""
        if not re.fullmatch(r"schemas/\w+", where):
            return False
        users = [node for node in self.objects(self.document) if node.get("$ref") == f"#/components/{where}"]
        return bool(users) and all(node.get("unevaluatedProperties") is False for node in users)

    def objects(self, node):
        if isinstance(node, dict):
            yield node
            node = list(node.values())
        if isinstance(node, list):
            for value in node:
                yield from self.objects(value)

    def bounded(self, schema, where, done):
        """What a stranger sends has a limit in each direction that a value can grow."""
        if "$ref" in schema:
            if schema["$ref"] in done:
                return
            done = done | {schema["$ref"]}
            self.bounded(self.resolve(schema, where) or {}, where, done)
        kind = schema.get("type")
        fixed = "enum" in schema or "const" in schema
        if kind == "string" and not fixed and not {"maxLength", "x-max-bytes"} & set(schema):
            if not self.fixed_length(schema.get("pattern", "")):
                self.say(where, "a string of a request without maxLength")
        if kind in ("integer", "number") and not fixed and not {"minimum", "maximum"} <= set(schema):
            self.say(where, "a number of a request without minimum and maximum")
        if kind == "array" and "maxItems" not in schema:
            self.say(where, "an array of a request without maxItems")
        if isinstance(schema.get("additionalProperties"), dict) and "maxProperties" not in schema:
            self.say(where, "an object of a request without maxProperties")
        if "not" in schema:
            schema = {key: value for key, value in schema.items() if key != "not"}
        for name, part in self.parts(schema):
            self.bounded(part, f"{where}/{name}", done)

    @staticmethod
    def fixed_length(pattern):
        return bool(re.fullmatch(r"\^[^*+]+\$", pattern))


def main():
    findings = Lint(openapi_check.load()).run()
    for finding in findings:
        print(f"api/openapi.yaml: {finding}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
