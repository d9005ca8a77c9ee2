#!/usr/bin/env python3
"""A sandbox that stays, over plain HTTP: make it, write a file, run a program, see what changed, delete it.

    caisson serve &          # or let any `caisson create` start it
    examples/http/session.py [SOCKET]

Standard library only.
"""

import http.client
import json
import socket
import sys


class Node(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost")
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.connect(self.path)

    def ask(self, method, target, body=None, kind="application/json"):
        content = json.dumps(body) if isinstance(body, dict) else body
        self.request(method, target, content, {"Content-Type": kind} if content is not None else {})
        response = self.getresponse()
        answer = response.read()
        value = json.loads(answer) if answer else None
        if response.status >= 400:
            sys.exit(f"{method} {target}: {value['message']}; {value['remediation'] or ''}")
        return value


def main():
    node = Node(sys.argv[1] if len(sys.argv) > 1 else "/run/caisson/caisson.sock")
    sandbox = node.ask("POST", "/v1/sandboxes", {"memory_bytes": 512 << 20, "storage": "tmpfs"})
    base = f"/v1/sandboxes/{sandbox['id']}"
    try:
        program = b"print(sum(range(101)))\nopen('result.txt', 'w').write('5050\\n')\n"
        node.ask("PUT", f"{base}/files/home/agent/workspace/sum.py", program, "application/octet-stream")
        result = node.ask("POST", f"{base}/commands", {"argv": ["python3", "sum.py"], "timeout_ms": 10_000})
        print(f"{result['outcome']} {result['exit_code']} in {result['duration_ms']} ms: {result['stdout']}", end="")
        for change in node.ask("GET", f"{base}/changes")["items"]:
            print(change["change"], change["path"])
    finally:
        node.ask("DELETE", base)


if __name__ == "__main__":
    main()
