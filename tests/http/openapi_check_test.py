#!/usr/bin/env python3
"""Each way in which an exchange can differ from the document is found, and right ones pass."""

import copy
import json
import sys
import unittest

sys.dont_write_bytecode = True

import openapi_check
from openapi_check import Exchange, Mismatch

CONTRACT = openapi_check.Contract()
EXAMPLES = {name: node["value"] for name, node in CONTRACT.document["components"]["examples"].items()}
JSON = {"Content-Type": "application/json"}
NODE_EVENT = {"number": 7, "time": "2027-01-31T09:30:00.125Z", "type": "sandbox.running", "sandbox": "sb_" + "a" * 26,
              "command": None, "caller": "uid 0", "detail": None}
PROBLEM = {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "d", "code": "not_found", "message": "m",
           "cause": None, "remediation": None, "retryable": False, "details": {}}


def answer(method, target, status, value, **other):
    kind = "application/problem+json" if status >= 400 else "application/json"
    headers = {"Content-Type": kind, **other.pop("response_headers", {})}
    return Exchange(method, target, status, response_headers=headers, response_body=json.dumps(value).encode(), **other)


def create(body, **changes):
    sandbox = {**EXAMPLES["RunningSandbox"], **changes}
    return answer("POST", "/v1/sandboxes", 201, sandbox, request_headers=JSON, request_body=body,
                  response_headers={"Location": "/v1/sandboxes/" + sandbox["id"]})


def stream(text):
    return Exchange("GET", "/v1/sandboxes/web/commands/cm_" + "a" * 26 + "/output?follow=true", 200,
                    response_headers={"Content-Type": "text/event-stream"}, response_body=text.encode())


def node_events(text):
    return Exchange("GET", "/v1/events", 200, response_headers={"Content-Type": "text/event-stream"},
                    response_body=text.encode())


class RightExchanges(unittest.TestCase):
    def test_pass(self):
        result = json.dumps(EXAMPLES["ExitedResult"])
        for exchange in (
            create(b"{}"),
            create(b'{"cpus":0.5,"image":"host","labels":{"a":"b"},"workspace":{"ticket":"0123456789abcdef0123456789abcdef","mode":"rw"}}'),
            answer("GET", "/v1/sandboxes?state=running&label=a=b&label=c=d&limit=7", 200, {"items": [], "next_cursor": None}),
            answer("POST", "/v1/sandboxes/web:pause", 200, EXAMPLES["RunningSandbox"]),
            answer("GET", "/v1/sandboxes/web", 404, PROBLEM),
            answer("GET", "/nowhere", 404, PROBLEM),
            answer("POST", "/v1/sandboxes/web:explode", 404, PROBLEM),
            answer("PATCH", "/v1/version", 405, {**PROBLEM, "status": 405}, response_headers={"Allow": "GET, HEAD"}),
            answer("POST", "/v1/sandboxes", 400, {**PROBLEM, "status": 400}, request_body=b"{", request_headers=JSON),
            answer("GET", "/v1/sandboxes/web/commands/cm_" + "a" * 26, 200,
                   {**EXAMPLES["RunningCommand"], "result": EXAMPLES["ExitedResult"]}),
            Exchange("HEAD", "/v1/version", 200, response_headers=JSON),
            Exchange("GET", "/v1/sandboxes/web/files/a%2Fb/c", 200,
                     response_headers={"Content-Type": "application/octet-stream"}, response_body=b"\0\xff"),
            Exchange("DELETE", "/v1/sandboxes/web/files/a", 204),
            answer("GET", "/v1/sandboxes/web/files/?list", 200, {"items": []}),
            stream(': hello\n\nid: 2,0\nevent: stdout\ndata: {"offset":0,"text":"hi"}\n\n'
                   f'id: 2,0\nevent: end\ndata: {result}\n\nid: half'),
            node_events(f'id: 7\nevent: sandbox.running\ndata: {json.dumps(NODE_EVENT)}\n\n'),
        ):
            with self.subTest(str(exchange)):
                CONTRACT.check(exchange)
        self.assertIn(("createSandbox", 201), CONTRACT.seen)


class WrongExchanges(unittest.TestCase):
    def refuse(self, exchange, part):
        with self.assertRaises(Mismatch) as caught:
            CONTRACT.check(exchange)
        self.assertIn(part, str(caught.exception))

    def test_requests(self):
        self.refuse(create(b'{"memroy":1}'), "memroy")
        self.refuse(create(b'{"cpus":"2"}'), "/cpus")
        self.refuse(create(b'{"pids":1,"pids":2}'), "twice")
        self.refuse(create(b'{"cpus":NaN}'), "NaN")
        self.refuse(create(b'{"labels":{"a":7}}'), "/labels/a")
        self.refuse(create(b""), "missing")
        page = {"items": [], "next_cursor": None}
        self.refuse(answer("GET", "/v1/sandboxes?limit=0", 200, page), "limit")
        self.refuse(answer("GET", "/v1/sandboxes?limit=1&limit=2", 200, page), "2 times")
        self.refuse(answer("GET", "/v1/sandboxes?limt=1", 200, page), "limt")
        self.refuse(answer("GET", "/v1/sandboxes/UPPER", 200, EXAMPLES["RunningSandbox"]), "path parameter id")
        both = answer("POST", "/v1/sandboxes/web/commands", 200, EXAMPLES["ExitedResult"], request_headers=JSON,
                      request_body=b'{"argv":["x"],"stdin":"a","stdin_base64":"YQ=="}')
        self.refuse(both, "should not be valid")
        for path in ("", "/a", "a//b", "a/", "a/./b", "..", "a%2F..%2Fb"):
            self.refuse(Exchange("DELETE", f"/v1/sandboxes/web/files/{path}", 204), "path parameter path")
        self.refuse(Exchange("DELETE", "/v1/sandboxes/web/files/" + "a/" * 2047 + "a", 204), "more than 4094 bytes")

    def test_statuses_and_headers(self):
        self.refuse(answer("GET", "/v1/version", 418, {**PROBLEM, "status": 418}), "no such status")
        self.refuse(answer("GET", "/nowhere", 200, {}), "no such operation")
        self.refuse(answer("PATCH", "/v1/version", 405, {**PROBLEM, "status": 405}), "Allow")
        exchange = create(b"{}")
        del exchange.response_headers["Location"]
        self.refuse(exchange, "Location is missing")
        self.refuse(answer("GET", "/v1/version", 401, {**PROBLEM, "status": 401}), "WWW-Authenticate")

    def test_problems(self):
        self.refuse(answer("GET", "/v1/sandboxes/web", 404, {**PROBLEM, "code": "gone"}), "/code")
        self.refuse(answer("GET", "/v1/sandboxes/web", 403, PROBLEM), "its status is 404")
        plain = Exchange("GET", "/v1/sandboxes/web", 404, response_headers=JSON, response_body=json.dumps(PROBLEM).encode())
        self.refuse(plain, "not application/problem+json")

    def test_responses(self):
        self.refuse(create(b"{}", state="asleep"), "/state")
        self.refuse(create(b"{}", extra=1), "extra")
        without = copy.deepcopy(EXAMPLES["RunningSandbox"])
        del without["expires_at"]
        self.refuse(answer("GET", "/v1/sandboxes/web", 200, without), "expires_at")
        command = {**EXAMPLES["RunningCommand"], "result": None}
        where = "/v1/sandboxes/web/commands"
        self.refuse(answer("GET", where, 200, {"items": [command]}), "result")
        self.refuse(answer("GET", where + "/cm_" + "a" * 26, 200, EXAMPLES["RunningCommand"]), "result")
        self.refuse(answer("GET", where + "/cm_" + "a" * 26, 200, {**command, "extra": 1}), "extra")
        self.refuse(Exchange("GET", "/v1/version", 200, response_headers={"Content-Type": "text/plain"}, response_body=b"x"),
                    "text/plain")
        self.refuse(Exchange("DELETE", "/v1/sandboxes/web/files/a", 204, response_body=b"x"), "where none belongs")
        self.refuse(Exchange("HEAD", "/v1/version", 200, response_headers=JSON, response_body=b"x"), "where none belongs")

    def test_event_streams(self):
        self.refuse(stream('id: 2,0\nevent: stdin\ndata: {}\n\n'), "not in the document")
        self.refuse(stream('id: 2\nevent: stdout\ndata: {"offset":0,"text":"hi"}\n\n'), "its id")
        self.refuse(stream('id: 2,0\nevent: stdout\ndata: {"offset":0}\n\n'), "event 0")
        self.refuse(stream('id: 2,0\nevent: stdout\nmore: x\n\n'), "more: x")
        running = json.dumps(NODE_EVENT)
        self.refuse(node_events(f"id: 7\ndata: {running}\n\n"), "named by its type")
        self.refuse(node_events(f"id: 7\nevent: sandbox.paused\ndata: {running}\n\n"), "named by its type")


if __name__ == "__main__":
    unittest.main()
