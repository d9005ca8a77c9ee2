"""Checks HTTP exchanges against api/openapi.yaml.

    contract = openapi_check.Contract()
    contract.check(openapi_check.Exchange(method="GET", target="/v1/version", status=200,
                                          response_headers={"Content-Type": "application/json"},
                                          response_body=b'{"version":"0.1.0","api":"v1"}'))

`check` raises Mismatch, whose text says what differs and where. The response is always held to the document; the request
only when the node accepted it (a status below 400), since refusing is what a node does with a wrong one. It needs
Debian's python3-yaml and python3-jsonschema.
"""

import dataclasses
import json
import pathlib
import re
import sys
import urllib.parse
import warnings

import yaml

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import jsonschema

DOCUMENT = pathlib.Path(__file__).resolve().parent.parent.parent / "api" / "openapi.yaml"
PROBLEM = {"$ref": "#/components/schemas/Problem"}
JSON_TYPES = ("application/json", "application/problem+json")


class Mismatch(AssertionError):
    """An exchange is not what the document says."""


@dataclasses.dataclass
class Exchange:
    method: str
    target: str  # path and query, as on the wire
    status: int
    request_headers: dict = dataclasses.field(default_factory=dict)
    request_body: bytes = b""
    response_headers: dict = dataclasses.field(default_factory=dict)
    response_body: bytes = b""

    def __str__(self):
        return f"{self.method} {self.target} -> {self.status}"


@dataclasses.dataclass
class Operation:
    method: str
    template: str
    node: dict
    parameters: list
    values: dict  # of the path's parameters, decoded


def load(path=DOCUMENT):
    with open(path, encoding="utf-8") as file:
        return yaml.safe_load(file)


def media_type(headers):
    return lower(headers).get("content-type", "").split(";")[0].strip().lower()


def lower(headers):
    return {name.lower(): value for name, value in headers.items()}


def parse_json(body, where):
    def object_of(pairs):
        names = [name for name, _ in pairs]
        if len(names) != len(set(names)):
            raise Mismatch(f"{where}: a name occurs twice in one object: {sorted(names)}")
        return dict(pairs)

    try:
        return json.loads(body.decode("utf-8"), object_pairs_hook=object_of, parse_constant=lambda text: fail_number(text, where))
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise Mismatch(f"{where}: is no JSON ({error}): {body[:200]!r}") from None


def fail_number(text, where):
    raise Mismatch(f"{where}: {text} is no JSON number")


def parse_events(body, where):
    """The events of a whole or cut stream: [{"id", "event", "data"}]. What follows the last empty line is not one yet."""
    text = body.decode("utf-8")
    events = []
    for block in re.split(r"\n\n", text.replace("\r\n", "\n").replace("\r", "\n"))[:-1]:
        event = {}
        for line in block.split("\n"):
            if line.startswith(":") or not line:
                continue
            name, _, value = line.partition(":")
            if name not in ("id", "event", "data", "retry"):
                raise Mismatch(f"{where}: an event has a line {line!r}")
            value = value[1:] if value.startswith(" ") else value
            event[name] = event[name] + "\n" + value if name == "data" and "data" in event else value
        if event:
            events.append(event)
    return events


class Contract:
    def __init__(self, document=None):
        self.document = load() if document is None else document
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            self._resolver = jsonschema.RefResolver("", self.document)
        self.seen = set()  # (operationId, status) of every exchange that was checked

    # ---- the document

    def resolve(self, node):
        while isinstance(node, dict) and "$ref" in node:
            node = self._resolver.resolve(node["$ref"])[1]
        return node

    def validate(self, value, schema, where):
        validator = jsonschema.Draft202012Validator(schema, resolver=self._resolver)
        errors = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
        if errors:
            lines = [f"/{'/'.join(map(str, error.absolute_path))}: {error.message[:300]}" for error in errors[:5]]
            raise Mismatch(f"{where}:\n  " + "\n  ".join(lines))

    def find(self, method, path):
        """The operation, or None. A HEAD that the document does not name is the GET of its path."""
        for template, item in sorted(self.document["paths"].items(), key=lambda pair: ("{" in pair[0], pair[0])):
            match = self._pattern(template, item).fullmatch(path)
            if not match:
                continue
            name = method.lower()
            if name == "head" and "head" not in item:
                name = "get"
            if name not in item:
                return None
            parameters = [self.resolve(one) for one in item.get("parameters", []) + item[name].get("parameters", [])]
            values = {key: urllib.parse.unquote(text, errors="strict") for key, text in match.groupdict().items()}
            return Operation(method, template, item[name], parameters, values)
        return None

    def _pattern(self, template, item):
        rest = {one["name"] for one in map(self.resolve, item.get("parameters", [])) if one.get("x-rest-of-path")}
        parts = re.split(r"\{(\w+)\}", template)
        text = re.escape(parts[0])
        for name, literal in zip(parts[1::2], parts[2::2]):
            text += f"(?P<{name}>{'.*' if name in rest else '[^/:]+'})" + re.escape(literal)
        return re.compile(text)

    # ---- exchanges

    def check(self, exchange):
        path, _, query = exchange.target.partition("?")
        operation = self.find(exchange.method, path)
        if operation is None:
            self._check_nowhere(exchange)
            return
        if exchange.status < 400:
            self._check_parameters(exchange, operation, query)
            self._check_request_body(exchange, operation)
        self._check_response(exchange, operation)
        self.seen.add((operation.node["operationId"], exchange.status))

    def _check_nowhere(self, exchange):
        """What the document does not have is refused as a problem, and nothing else."""
        if exchange.status < 400:
            raise Mismatch(f"{exchange}: the document has no such operation")
        self._check_problem(exchange)
        if exchange.status == 405 and "allow" not in lower(exchange.response_headers):
            raise Mismatch(f"{exchange}: the header Allow is missing")

    def _check_problem(self, exchange):
        where = f"{exchange}: the problem"
        if media_type(exchange.response_headers) != "application/problem+json":
            raise Mismatch(f"{exchange}: an error of type {media_type(exchange.response_headers)!r}, not application/problem+json")
        if exchange.method == "HEAD":
            return
        problem = parse_json(exchange.response_body, where)
        self.validate(problem, PROBLEM, where)
        if problem["status"] != exchange.status:
            raise Mismatch(f"{where}: its status is {problem['status']}")

    def _check_parameters(self, exchange, operation, query):
        given = urllib.parse.parse_qsl(query, keep_blank_values=True)
        headers = lower(exchange.request_headers)
        known = {one["name"] for one in operation.parameters if one["in"] == "query"}
        for name, _ in given:
            if name not in known:
                raise Mismatch(f"{exchange}: the query has {name!r}, which is not in the document")
        for parameter in operation.parameters:
            name, place = parameter["name"], parameter["in"]
            if place == "path":
                texts = [operation.values[name]]
            elif place == "query":
                texts = [value for key, value in given if key == name]
            else:
                texts = [headers[name.lower()]] if name.lower() in headers else []
            where = f"{exchange}: {place} parameter {name}"
            if not texts:
                if parameter.get("required"):
                    raise Mismatch(f"{where} is missing")
                continue
            self.validate(self._typed(texts, parameter["schema"], where), parameter["schema"], where)
            if len(texts[0].encode()) > parameter["schema"].get("x-max-bytes", sys.maxsize):
                raise Mismatch(f"{where}: it has more than {parameter['schema']['x-max-bytes']} bytes")

    def _typed(self, texts, schema, where):
        """The value that a parameter's text stands for."""
        kind = self.resolve(schema).get("type")
        if kind == "array":
            return texts
        if len(texts) > 1:
            raise Mismatch(f"{where} occurs {len(texts)} times")
        if kind == "integer":
            return int(texts[0]) if re.fullmatch(r"-?[0-9]+", texts[0]) else texts[0]
        if kind == "boolean":
            return {"true": True, "false": False}.get(texts[0], texts[0])
        return texts[0]

    def _check_request_body(self, exchange, operation):
        description = self.resolve(operation.node.get("requestBody"))
        where = f"{exchange}: the request's body"
        if not exchange.request_body:
            if description and description.get("required") and "application/json" in description["content"]:
                raise Mismatch(f"{where} is missing")
            return
        if not description:
            raise Mismatch(f"{where}: the operation takes none")
        self._check_content(exchange.request_headers, exchange.request_body, description["content"], where)

    def _check_content(self, headers, body, content, where):
        kind = media_type(headers)
        if kind not in content:
            raise Mismatch(f"{where}: its type is {kind!r}, not one of {sorted(content)}")
        media = content[kind]
        if kind in JSON_TYPES:
            self.validate(parse_json(body, where), media.get("schema", True), where)
        elif kind == "text/event-stream":
            self._check_events(body, media, where)

    def _check_events(self, body, media, where):
        for number, event in enumerate(parse_events(body, where)):
            here = f"{where}: event {number} ({event.get('event')!r})"
            schema = media.get("x-event-data") or media.get("x-event-types", {}).get(event.get("event"))
            if schema is None:
                raise Mismatch(f"{here} is not in the document")
            if not re.search(media["x-event-id"], event.get("id", "")):
                raise Mismatch(f"{here}: its id is {event.get('id')!r}")
            data = parse_json(event.get("data", "").encode(), here)
            self.validate(data, schema, here)
            # The field of its data that it is named by.
            if "x-event-name" in media and event.get("event") != data[media["x-event-name"]]:
                raise Mismatch(f"{here}: it is not named by its {media['x-event-name']}")

    def _check_response(self, exchange, operation):
        response = self.resolve(operation.node["responses"].get(str(exchange.status)))
        if response is None:
            raise Mismatch(f"{exchange}: {operation.node['operationId']} has no such status in the document")
        headers = lower(exchange.response_headers)
        for name, node in response.get("headers", {}).items():
            header, where = self.resolve(node), f"{exchange}: the header {name}"
            if name.lower() not in headers:
                if header.get("required"):
                    raise Mismatch(f"{where} is missing")
                continue
            self.validate(self._typed([headers[name.lower()]], header["schema"], where), header["schema"], where)
        if exchange.status >= 400:
            self._check_problem(exchange)
        elif exchange.method == "HEAD" or "content" not in response:
            if exchange.response_body:
                raise Mismatch(f"{exchange}: a body of {len(exchange.response_body)} bytes where none belongs")
        else:
            self._check_content(headers, exchange.response_body, response["content"], f"{exchange}: the response's body")
