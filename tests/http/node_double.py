"""A node in memory that speaks HTTP over a Unix socket, for tests of the command line: each exchange with it is held against
api/openapi.yaml, and what differs is kept in `mismatches`.

It knows one sandbox, `web`. Its commands are played: `cat` gives its input back, `hold` ends by a signal, `cut` loses its
connection in the middle of its output, `missing` is not there, everything else writes its arguments and ends with 3.
"""

import base64
import http.server
import json
import os
import socketserver
import sys
import threading
import urllib.parse

import openapi_check

SANDBOX = "sb_" + "a" * 26
TIME = "2027-01-31T09:30:00.125Z"


class Command:
    def __init__(self, number, body):
        self.id = "cm_" + "abcdefgh"[number] * 26
        self.body = body
        self.changed = threading.Condition()
        self.out, self.err, self.end = b"", b"", None
        self.cuts = 1 if body["argv"][0] == "cut" else 0

    def write(self, text):
        with self.changed:
            self.out += text
            self.changed.notify_all()

    def finish(self, outcome, exit_code=None, signal=None, hints=()):
        with self.changed:
            self.end = self.end or {"outcome": outcome, "exit_code": exit_code, "signal": signal, "hints": list(hints)}
            self.changed.notify_all()

    def start(self):
        argv = self.body["argv"]
        if argv[0] == "missing":
            hint = {"code": "command_not_found", "message": "not in this image.", "suggestion": "Install it."}
            self.finish("failed_to_start", hints=[hint])
        elif argv[0] == "cut":
            self.write(b"first second")
            self.finish("exited", 0)
        elif argv[0] in ("mkdir", "chmod"):
            self.finish("exited", 0)
        elif argv[0] not in ("cat", "hold"):
            self.err = b"warned\n"
            self.write(" ".join(argv).encode() + b"\xff\n")
            self.finish("exited", 3)

    def view(self):
        ended = self.end or {"outcome": None, "exit_code": None, "signal": None}
        return {"id": self.id, "sandbox": SANDBOX, "step": 1, "state": "ended" if self.end else "running",
                "argv": self.body["argv"], "cwd": "/", "user": self.body["user"],
                "timeout_ms": self.body.get("timeout_ms", 30000), "started_at": TIME, "ended_at": TIME if self.end else None,
                "stdout_bytes": len(self.out), "stderr_bytes": len(self.err),
                **{key: ended[key] for key in ("outcome", "exit_code", "signal")}}

    def result(self):
        return {"sandbox": SANDBOX, "step": 1, "tool": "run_command", **self.end,
                "stdout": base64.b64encode(self.out).decode(), "stderr": base64.b64encode(self.err).decode(),
                "stdout_bytes": len(self.out), "stderr_bytes": len(self.err), "truncated": [], "encoding": "base64",
                "data": None, "duration_ms": 1.5, "cpu_ms": 1, "memory_peak_bytes": None, "files_changed": None,
                "files_changed_truncated": False, "checkpoint": None, "decision": None, "budget": None}


class Node(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True

    def __init__(self, path):
        super().__init__(path, Handler)
        self.contract = openapi_check.Contract()
        self.mismatches, self.commands, self.deleted = [], {}, False
        self.created = []
        self.called = []  # tools: their names and inputs
        self.files = {}  # absolute path: bytes, or None for a folder, or "link"
        self.signals = []
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def handle_error(self, request, client_address):
        """A client that has what it wants may go away."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)

    def sandbox(self, **changes):
        return {"id": SANDBOX, "name": "web", "state": "running", "reason": None, "tier": "process", "image": "host",
                "workspace": None, "cpus": 2, "memory_bytes": 1 << 31, "disk_bytes": 1 << 32, "pids": 256,
                "command_timeout_ms": 30000, "storage": "btrfs", "env": {}, "labels": {"team": "a\x1b[2J"},
                "on_end": "delete", "idle_timeout_ms": None, "max_lifetime_ms": None, "sources": None,
                "policy": {"name": "standard", "digest": "0" * 64}, "created_at": TIME,
                "changed_at": TIME, "expires_at": None, "steps": 0, "commands_running": 0, **changes}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def address_string(self):
        return "-"

    def log_message(self, *arguments):
        pass

    def handle_one(self):
        self.body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path, _, query = self.path.partition("?")
        self.query = dict(urllib.parse.parse_qsl(query, keep_blank_values=True))
        parts = path.removeprefix("/v1/sandboxes").strip("/").split("/", 3)
        if path == "/v1/sandboxes":
            return self.collection()
        name, _, verb = urllib.parse.unquote(parts[0]).partition(":")
        if name not in ("web", SANDBOX) or self.server.deleted:
            return self.fail(404, "not_found", f"no sandbox {name}")
        if verb:
            return self.answer(200, self.server.sandbox(state={"pause": "paused", "resume": "running", "stop": "stopped"}[verb]))
        if len(parts) == 1:
            self.server.deleted = self.command == "DELETE"
            return self.answer(200, self.server.sandbox(state="deleted" if self.server.deleted else "running"))
        if parts[1] == "files":
            return self.file("/" + urllib.parse.unquote(path.split("/files/", 1)[1]))
        if parts[1] == "tools":
            self.server.called.append((parts[2], json.loads(self.body)))
            if "wrong" in self.server.called[-1][1]:
                return self.fail(400, "invalid_argument", "unknown field wrong")
            return self.answer(200, self.server.contract.document["components"]["examples"]["DeniedResult"]["value"])
        if parts[1] == "changes":
            change = {"path": "/home/\x1b[2J", "change": "created", "type": "directory", "size_bytes": None}
            return self.answer(200, {"items": [change], "truncated": False})
        return self.commands(parts[2:])

    do_GET = do_POST = do_PUT = do_DELETE = handle_one

    def collection(self):
        if self.command == "GET":
            items = [] if self.query.get("state") == "deleted" else [self.server.sandbox()]
            return self.answer(200, {"items": items, "next_cursor": None})
        body = json.loads(self.body)
        self.server.created.append(body)
        return self.answer(201, self.server.sandbox(name=body.get("name")), Location="/v1/sandboxes/" + SANDBOX)

    def commands(self, rest):
        commands = self.server.commands
        if not rest and self.command == "GET":
            return self.answer(200, {"items": [command.view() for command in commands.values()]})
        if not rest:
            command = Command(len(commands), json.loads(self.body))
            commands[command.id] = command
            command.start()
            return self.answer(201, command.view(), Location=f"/v1/sandboxes/{SANDBOX}/commands/{command.id}")
        command = commands[rest[0]]
        what = rest[1] if len(rest) > 1 else ""
        if what == "output":
            return self.output(command)
        if what == "input":
            taken = self.body[:1000]  # never all of much
            command.write(taken)
            if "close" in self.query and len(taken) == len(self.body):
                command.finish("exited", 0)
            return self.answer(200, {"accepted_bytes": len(taken)})
        if what == "signal":
            name = json.loads(self.body)["signal"]
            self.server.signals.append(name)
            if len(self.server.signals) > 1 or command.body["argv"][-1] != "stubborn":
                command.finish("signaled", signal=name)
            return self.answer(204, None)
        if self.command == "DELETE":
            command.finish("cancelled")
            return self.answer(200, command.view())
        return self.answer(200, {**command.view(), "result": command.result() if command.end else None})

    def output(self, command):
        out, err = map(int, self.headers.get("Last-Event-ID", "0,0").split(","))
        sent = []

        def event(name, data):
            sent.append(f"event: {name}\nid: {out},{err}\ndata: {json.dumps(data)}\n\n".encode())
            self.wfile.write(b"%x\r\n%s\r\n" % (len(sent[-1]), sent[-1]))

        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            with command.changed:
                while self.query["follow"] == "true" and not command.end and (out, err) == (len(command.out), len(command.err)):
                    command.changed.wait()
                new_out, new_err, end = command.out[out:out + 6], command.err[err:], command.end
            if new_out:
                data = {"offset": out, "base64": base64.b64encode(new_out).decode()}
                out += len(new_out)
                event("stdout", data)
            if command.cuts:
                command.cuts -= 1
                self.close_connection = True
                return self.keep(200, b"".join(sent), {"Content-Type": "text/event-stream"})
            if new_err:
                err += len(new_err)
                event("stderr", {"offset": err - len(new_err), "text": new_err.decode()})
            if not new_out and not new_err:
                break
        if end:
            event("end", command.result())
        self.wfile.write(b"0\r\n\r\n")
        return self.keep(200, b"".join(sent), {"Content-Type": "text/event-stream"})

    def file(self, path):
        files = self.server.files
        path = path.rstrip("/") or "/"
        if self.command == "PUT":
            wrote = "replaced" if path in files else "created"
            if self.query["if_exists"] == "append":
                wrote, files[path] = "appended", files[path] + self.body
            else:
                files[path] = self.body
            above = os.path.dirname(path)
            while above not in files:
                files[above], above = None, os.path.dirname(above)
            return self.answer(200, {"wrote": wrote})
        if path not in files:
            return self.fail(404, "not_found", "no such file")
        if "list" in self.query:
            if files[path] is not None:
                return self.fail(400, "invalid_argument", "no folder")
            return self.answer(200, {"items": [self.entry(name) for name in sorted(files) if os.path.dirname(name) == path and name != "/"]})
        content = files[path]
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        part = content[first:last + 1]
        if not part:
            return self.fail(416, "invalid_argument", "no byte in this range")
        self.raw(206, part, {"Content-Type": "application/octet-stream",
                             "Content-Range": f"bytes {first}-{first + len(part) - 1}/{len(content)}"})

    def entry(self, path):
        content = self.server.files[path]
        kind = "directory" if content is None else "symlink" if content == "link" else "file"
        return {"name": os.path.basename(path), "type": kind, "size_bytes": len(content or b""), "mode": "0755",
                "modified_at": TIME, "link_target": "/etc/passwd" if kind == "symlink" else None}

    # ---- answers

    def answer(self, status, value, **headers):
        self.raw(status, b"" if value is None else json.dumps(value).encode(),
                 {**({} if value is None else {"Content-Type": "application/json"}), **headers})

    def fail(self, status, code, message):
        problem = {"type": "about:blank", "title": "x", "status": status, "detail": message, "code": code, "message": message,
                   "cause": None, "remediation": None, "retryable": False, "details": {}}
        self.raw(status, json.dumps(problem).encode(), {"Content-Type": "application/problem+json"})

    def raw(self, status, body, headers):
        self.keep(status, body, headers)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def keep(self, status, body, headers):
        try:
            self.server.contract.check(openapi_check.Exchange(
                self.command, self.path, status, dict(self.headers), self.body, headers, body))
        except openapi_check.Mismatch as mismatch:
            self.server.mismatches.append(str(mismatch))
