"""Clients and circumstances that mean no good: nobody else notices, and nothing is left."""

import os
import signal
import socket
import subprocess
import threading
import time
import unittest

import node
from node import Node, Problem


def raw(one, text, wait=0.0):
    """What the node answers to these bytes, as text."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(20)
        connection.connect(one.socket)
        connection.sendall(text)
        time.sleep(wait)
        got = b""
        while part := connection.recv(65536):
            got += part
            if b"\r\n\r\n" in got:
                break
        return got.decode(errors="replace")


class Hostile(unittest.TestCase):
    def test_bad_requests_have_clear_answers(self):
        with Node() as one:
            box = one.create()
            commands = f"/v1/sandboxes/{box}/commands"
            cases = [
                ("POST", "/v1/sandboxes", {"storage": "floppy"}, "invalid_argument"),
                ("POST", "/v1/sandboxes", {"memory_byte": 1}, "invalid_argument"),
                ("POST", "/v1/sandboxes", {"pids": -1}, "invalid_argument"),
                ("POST", "/v1/sandboxes", {"name": "../x"}, "invalid_argument"),
                ("POST", "/v1/sandboxes", {"image": {"ticket": "0" * 32}}, None),
                ("POST", commands, {"argv": []}, "invalid_argument"),
                ("POST", commands, {"argv": ["true"], "timeout_ms": 0}, "invalid_argument"),
                ("POST", commands, {"argv": ["true"], "env": {"A=B": "x"}}, "invalid_argument"),
                ("GET", "/v1/sandboxes/sb_aaaaaaaaaaaaaaaaaaaaaaaaaa", None, "not_found"),
                ("GET", f"{commands}/cm_aaaaaaaaaaaaaaaaaaaaaaaaaa", None, "not_found"),
                ("GET", f"/v1/sandboxes/{box}/files/home/agent/none", None, "not_found"),
                ("GET", f"/v1/sandboxes/{box}/files/dev/zero", None, "invalid_argument"),
            ]
            for method, target, body, code in cases:
                with self.assertRaises(Problem, msg=f"{method} {target} {body}") as refused:
                    one.ask(method, target, body)
                if code:
                    self.assertEqual(refused.exception.code, code, f"{method} {target} {body}")
                self.assertTrue(refused.exception.body["message"])
            self.assertEqual(one.script(box, "echo fine")["stdout"], "fine\n")
            self.assertEqual(len(one.list_all()), 1)

    def test_bytes_that_are_no_request(self):
        with Node() as one:
            self.assertIn(" 400 ", raw(one, b"\x00\x01\x02garbage\r\n\r\n"))
            self.assertIn(" 400 ", raw(one, b"POST /v1/sandboxes HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n"
                                            b"Content-Length: 2\r\n\r\nab"))
            self.assertIn(" 413 ", raw(one, b"POST /v1/sandboxes HTTP/1.1\r\nHost: localhost\r\n"
                                            b"Content-Type: application/json\r\nContent-Length: 99999999\r\n\r\n"))
            self.assertIn(" 431 ", raw(one, b"GET /healthz HTTP/1.1\r\nX: " + b"a" * 40000 + b"\r\n\r\n"))
            one.get("/healthz")

    def test_a_client_that_reads_nothing_delays_nobody(self):
        with Node() as one:
            box, other = one.create(), one.create()
            command = one.begin(box, "head -c 300000000 /dev/zero", timeout_ms=120000)
            lazy = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            lazy.connect(one.socket)
            lazy.sendall(f"GET /v1/sandboxes/{box}/commands/{command}/output?stream=stdout&follow=true HTTP/1.1\r\n"
                         f"Host: localhost\r\nAccept: application/octet-stream\r\n\r\n".encode())
            slowest = 0
            until = time.monotonic() + 5
            while time.monotonic() < until:
                start = time.monotonic()
                self.assertEqual(one.script(other, "echo fine")["stdout"], "fine\n")
                self.assertEqual(one.script(box, "echo beside")["stdout"], "beside\n")
                slowest = max(slowest, time.monotonic() - start)
            self.assertLess(slowest, 2)
            lazy.close()
            self.assertEqual(one.await_end(box, command)["stdout_bytes"], 300_000_000)

    def test_many_idle_connections_break_nobody(self):
        with Node() as one:
            box = one.create()
            idle = []
            for _ in range(2000):
                connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
                connection.settimeout(5)
                connection.connect(one.socket)
                idle.append(connection)
            self.assertEqual(one.script(box, "echo fine")["stdout"], "fine\n")
            for connection in idle:
                connection.close()
            folder = f"/proc/{one.process.pid}/fd"
            self.assertFalse(node.await_none(lambda: len(os.listdir(folder)) > 150, 10))

    def test_a_client_that_goes_away_cancels_what_it_waits_for(self):
        with Node() as one:
            box = one.create()
            connection = one.connection()
            body = b'{"argv":["sleep","1000"],"timeout_ms":100000}'
            connection.request("POST", f"/v1/sandboxes/{box}/commands", body, {"Content-Type": "application/json"})
            node.await_none(lambda: not one.get(f"/v1/sandboxes/{box}/commands")["items"], 10)
            connection.close()
            command = one.get(f"/v1/sandboxes/{box}/commands")["items"][0]["id"]
            self.assertEqual(one.await_end(box, command, patience=5)["outcome"], "cancelled")

    def test_a_stuck_sandbox_delays_no_other(self):
        with Node() as one:
            stuck, other = one.create(), one.create()
            guest = max(pid for pid in guests(one))
            threads = []
            # Its guest does not answer; which of the two it is, nobody needs to know.
            os.kill(guest, signal.SIGSTOP)
            try:
                for box in (stuck, other) * 8:
                    thread = threading.Thread(target=quietly, args=(one, box))
                    thread.start()
                    threads.append(thread)
                time.sleep(0.5)
                start = time.monotonic()
                fresh = one.create()
                self.assertEqual(one.script(fresh, "echo fine")["stdout"], "fine\n")
                self.assertLess(time.monotonic() - start, 2)
            finally:
                os.kill(guest, signal.SIGCONT)
            for thread in threads:
                thread.join()

    def test_a_sandbox_that_hangs_while_it_is_made_delays_no_other(self):
        with Node() as one:
            box = one.create()
            # Its first process waits already, and does not build its root when it is told to.
            embryo = stop_embryo(one)
            failed = []

            def make():
                with self.assertRaises(Problem) as refused:
                    one.create()
                failed.append(refused.exception)

            thread = threading.Thread(target=make)
            thread.start()
            await_begun(embryo)
            start = time.monotonic()
            fresh = one.create()
            for each in (box, fresh):
                self.assertEqual(one.script(each, "echo fine")["stdout"], "fine\n")
            one.delete(f"/v1/sandboxes/{fresh}")
            self.assertLess(time.monotonic() - start, 2)
            self.assertTrue(thread.is_alive())
            thread.join()
            self.assertIn("does not answer", failed[0].body["message"] + str(failed[0].body["cause"]))
            self.assertFalse(node.await_none(lambda: os.path.exists(f"/proc/{embryo}"), 5))
            self.assertEqual([each["id"] for each in one.list_all()], [box])

            # Nor does it keep the next daemon.
            embryo = stop_embryo(one)
            thread = threading.Thread(target=quietly_create, args=(one,))
            thread.start()
            await_begun(embryo)
            one.kill()
            thread.join()
            one.start()
            self.assertFalse(node.await_none(lambda: os.path.exists(f"/proc/{embryo}"), 5))
            self.assertEqual([each["id"] for each in one.list_all()], [box])
            self.assertEqual(one.script(one.create(), "echo fine")["stdout"], "fine\n")

    def test_a_database_that_is_damaged_or_newer_is_said(self):
        for damage, word in ((b"this is no database at all" * 100, "damaged"), (None, "newer")):
            one = Node()
            try:
                one.start()
                one.end()
                path = one.folder + "/data/state/caisson.db"
                if damage is None:
                    subprocess.run(["sqlite3", path, "PRAGMA user_version=999"], check=True)
                else:
                    with open(path, "r+b") as file:
                        file.write(damage)
                one.start(wait=False)
                self.assertEqual(one.process.wait(timeout=20), 3, one.log())
                self.assertIn("caisson.db", one.log())
                self.assertIn("what to do", one.log(), word)
                self.assertTrue(os.path.exists(path))
            finally:
                node.await_none(one.processes, 10)
                node.shutil.rmtree(one.folder, ignore_errors=True)

    def test_sockets_that_cannot_be(self):
        one = Node()
        try:
            one.socket = one.folder + "/" + "x" * 120
            one.start(wait=False)
            self.assertEqual(one.process.wait(timeout=20), 3)
            one.socket = one.folder + "/node.sock"
            stale = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            stale.bind(one.socket)
            stale.close()
            one.start()
            one.get("/healthz")
            one.end()
            os.unlink(one.socket)
            with open(one.socket, "w", encoding="utf-8") as file:
                file.write("precious")
            one.start(wait=False)
            self.assertEqual(one.process.wait(timeout=20), 3)
            with open(one.socket, encoding="utf-8") as file:
                self.assertEqual(file.read(), "precious")
        finally:
            node.await_none(one.processes, 10)
            node.shutil.rmtree(one.folder, ignore_errors=True)

    def test_no_more_sandboxes_than_there_is_room_for(self):
        limited = ["prlimit", "--nofile=1700:1700"]
        with Node() as one:
            one.end()
            plain = one.command
            one.command = lambda: limited + plain()
            one.start()
            made, refused = 0, None
            while refused is None and made < 100:
                try:
                    one.create()
                    made += 1
                except Problem as problem:
                    refused = problem
            self.assertIsNotNone(refused)
            self.assertEqual((refused.status, refused.code), (429, "resource_exhausted"))
            self.assertTrue(refused.body["retryable"])
            one.delete(f"/v1/sandboxes/{one.list_all()[0]['id']}")
            one.create()


def guests(one):
    children = []
    for entry in node.pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if (entry / "comm").read_text().strip() == "caisson-guest":
                pid = int(entry.name)
                parents = pid
                while parents > 1 and parents != one.launcher():
                    parents = int(node.status_field(parents, "PPid")[0])
                if parents > 1:
                    children.append(pid)
        except OSError:
            continue
    return children


def embryos(one):
    """Children of the launcher that are the first of a pid namespace and no guest yet."""
    launcher = one.launcher()
    found = []
    for entry in node.pathlib.Path("/proc").iterdir():
        try:
            if ((entry / "comm").read_text().strip() == "caisson-launche"
                    and int(node.status_field(int(entry.name), "PPid")[0]) == launcher
                    and node.status_field(int(entry.name), "NSpid")[-1] == "1"):
                found.append(int(entry.name))
        except (OSError, ValueError):
            continue
    return found


def stop_embryo(one):
    """Stops the process that waits to become the next sandbox's first one. Its number."""
    assert not node.await_none(lambda: not embryos(one), 5), "the launcher has prepared nothing"
    (embryo,) = embryos(one)
    os.kill(embryo, signal.SIGSTOP)
    return embryo


def await_begun(embryo):
    """Until a sandbox is being made of it: that has limits."""
    (limit,) = [path for folder in node.slot_of(embryo) if (path := node.pathlib.Path(folder, "pids.max")).exists()]
    assert not node.await_none(lambda: limit.read_text() == "max\n", 5), "no sandbox is made of it"


def quietly_create(one):
    try:
        one.create()
    except (Problem, OSError, node.http.client.HTTPException):
        pass


def quietly(one, box):
    try:
        one.script(box, "true", timeout_ms=1000, timeout=60)
    except (Problem, OSError, node.http.client.HTTPException):
        pass


if __name__ == "__main__":
    node.require_root()
    unittest.main()
