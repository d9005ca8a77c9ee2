"""Processes that outlive what started them, or end when they should not: the field cases P*."""

import os
import signal
import subprocess
import sys
import threading
import time
import uuid

import field
from field import SOON, FieldTest, Problem, full_or

SPIN = "import sys\nwhile 1: pass"


def seconds_of_its_own():
    """An argument for `sleep` that nobody else on this host uses."""
    return f"9{uuid.uuid4().int % 10**6:06}.{uuid.uuid4().int % 10**9:09}"


class LeftOver(FieldTest):
    """Processes that a command leaves behind."""

    def test_P1_what_a_command_leaves_can_be_found_and_ended(self):
        start = time.monotonic()
        self.assert_ended(self.one.script(self.box, "sleep 73 & sleep 1; exit 0"), stdout="")
        self.assertLess(time.monotonic() - start, SOON)
        self.assertEqual(self.one.script(self.box, "pgrep -xa sleep")["stdout"].split()[1:], ["sleep", "73"])
        self.assert_ended(self.one.script(self.box, "pkill -KILL -x sleep"))
        self.assert_no_process(self.box)

    def test_P1_what_a_command_leaves_says_nothing_in_another_output(self):
        late = "setsid sh -c 'echo $$ > pid; until test -e go; do sleep .02; done; echo LATE; echo LATE >&2; echo said > said' &"
        self.assert_ended(self.one.script(self.box, late + " until test -s pid; do sleep .02; done"), stdout="", stderr="")
        result = self.one.script(self.box, "touch go; while kill -0 $(cat pid) 2>/dev/null; do sleep .02; done; echo mine")
        self.assert_ended(result, stdout="mine\n", stderr="")
        # Nobody reads its streams any more, which it learns as in a shell.
        self.assert_ended(self.one.script(self.box, "ls"), stdout="go\npid\n", stderr="")
        first = self.one.get(f"/v1/sandboxes/{self.box}/commands")["items"][1]["id"]
        self.assertEqual(self.one.output(self.box, first), b"")

    def test_P1_the_end_of_a_sandbox_ends_what_commands_left(self):
        marker = seconds_of_its_own()
        box = self.make()
        self.one.script(box, f"sleep {marker} & setsid sleep {marker} & exit 0")
        self.assertEqual(len(field.naming(marker)), 2)
        self.delete(box)
        self.assertEqual(field.naming(marker), [])
        done = subprocess.run([os.environ["CAISSON_BIN"], "run", "--", "sh", "-c", f"setsid sleep {marker} & exit 3"],
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=50, check=False)
        self.assertEqual(done.returncode, 3)
        self.assertEqual(field.naming(marker), [])

    def test_P8_no_command_leaves_a_cgroup(self):
        ends = (
            ({}, "true", ("exited", 0, None)),
            ({"timeout_ms": 30}, "sleep 100", ("timed_out", None, None)),
            ({}, "head -c 3000000 /dev/zero", ("exited", 0, None)),
            ({}, "kill -KILL $$", ("signaled", None, "SIGKILL")),
            ({}, "sleep 300 & echo left", ("exited", 0, None)),
        )
        for turn in range(full_or(1000, 60)):
            body, text, wanted = ends[turn % len(ends)]
            result = self.one.script(self.box, text, **body)
            self.assertEqual((result["outcome"], result["exit_code"], result["signal"]), wanted)
            if "left" in text:
                self.one.script(self.box, "pkill -KILL -x sleep")

    def test_P8_no_sandbox_leaves_a_cgroup_whatever_its_one_limit(self):
        eater = "x = bytearray(200 << 20); print(1)"
        forks = "for i in $(seq 60); do sleep 5 & done; wait"
        for _ in range(full_or(25, 2)):
            for limit, argv in (({"pids": 30}, ["bash", "-c", forks]), ({"memory_bytes": 64 << 20}, ["python3", "-c", eater]),
                                ({"cpus": 0.2}, ["python3", "-c", SPIN]), ({"disk_bytes": 8 << 20}, ["sh", "-c", "yes > f"])):
                box = self.make(**limit)
                result = self.one.run(box, *argv, timeout_ms=1500)
                if "memory_bytes" in limit:
                    self.assertEqual(result["outcome"], "out_of_memory")
                self.delete(box)
        self.await_no_cgroup_of(self.box, self.second)

    def await_no_cgroup_of(self, *alive):
        def left():
            return [path for box, paths in self.slots.items() if box not in alive
                    for path, inode in paths if field.inode_of(path) == inode]
        self.assertEqual(field.node.await_none(left, SOON), [])

    def test_P9_a_cancel_reaches_grandchildren_that_spin(self):
        command = self.one.begin(self.box, 'sh -c "while :; do :; done" & sh -c "setsid sh -c \'while :; do :; done\'" & echo on; wait')
        self.await_output(self.box, command, b"on\n")
        self.assertFalse(field.node.await_none(lambda: len(self.processes(self.box)) < 3, SOON))
        self.one.delete(f"/v1/sandboxes/{self.box}/commands/{command}")
        self.assert_cancelled(self.one.await_end(self.box, command, SOON))
        self.assert_no_process(self.box)

    def test_P15_a_limit_of_no_time_leaves_nothing(self):
        for _ in range(full_or(200, 40)):
            self.assert_timed_out(self.one.script(self.box, "sleep 300 & wait", timeout_ms=50))
        self.assert_no_process(self.box, 0)


class Killed(FieldTest):
    """What becomes of commands when a part of ours is killed."""

    at_once = 40

    spinners = "for i in 1 2 3; do python3 -c '" + SPIN + "' & done; echo on; wait"

    def test_P2_when_the_client_is_killed_its_command_ends(self):
        client = self.start_cli("exec", "--timeout", "100s", self.box, "--", "bash", "-c", self.spinners)
        self.assertEqual(client.stdout.readline(), b"on\n")
        client.kill()
        client.wait()
        # The command line follows a command by its id, as after a lost connection: it can be found, and ended.
        command = self.one.get(f"/v1/sandboxes/{self.box}/commands")["items"][-1]
        self.one.delete(f"/v1/sandboxes/{self.box}/commands/{command['id']}")
        self.assert_cancelled(self.one.await_end(self.box, command["id"], SOON))
        self.assert_no_process(self.box)

    def test_P2_when_run_is_killed_its_sandbox_ends(self):
        marker = seconds_of_its_own()
        client = self.start_run("--timeout", "100s", "--", "bash", "-c", f"for i in 1 2 3; do sleep {marker} & done; echo on; wait")
        self.assertEqual(client.stdout.readline(), b"on\n")
        client.kill()
        self.assertEqual(field.node.await_none(lambda: field.naming(marker), SOON), [])

    def test_P2_when_the_daemon_is_killed_the_next_one_has_the_command(self):
        command = self.one.begin(self.box, self.spinners, timeout_ms=100_000)
        self.await_output(self.box, command, b"on\n")
        before = self.processes(self.box)
        self.one.kill()
        self.assertEqual(self.processes(self.box), before)
        self.one.start()
        self.assertEqual([item["state"] for item in self.one.get(f"/v1/sandboxes/{self.box}/commands")["items"]],
                         ["ended", "running"])
        self.one.post(f"/v1/sandboxes/{self.box}/commands/{command}/signal", {"signal": "SIGKILL"})
        self.assert_ended(self.one.await_end(self.box, command, SOON), "signaled", None, "SIGKILL", stdout="on\n")
        self.assert_no_process(self.box)

    def test_P4_a_command_outlives_the_thread_and_the_connection_that_began_it(self):
        long = full_or(60, 2)
        begun = []
        thread = threading.Thread(target=lambda: begun.append(self.one.begin(self.box, f"sleep {long}; echo done", timeout_ms=90_000)))
        thread.start()
        thread.join()
        done = self.cli("exec", "--background", "--timeout", "90s", self.box, "--", "sh", "-c", f"sleep {long}; echo done")
        begun.append(done.stdout.decode().strip())
        # Every worker of the daemon has other work meanwhile.
        threads = [threading.Thread(target=self.one.script, args=(self.second, "true")) for _ in range(40)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        for command in begun:
            self.assert_ended(self.one.await_end(self.box, command, 90), stdout="done\n")

    def test_P5_a_launcher_killed_at_its_start_leaves_nothing(self):
        marker = seconds_of_its_own()
        for turn in range(full_or(1000, 40)):
            client = self.start_run("--timeout", "100s", "--", "sleep", marker)
            time.sleep(turn % 21 / 1000)
            launchers = field.children_of(client.pid) if turn % 2 else []
            for launcher in launchers:
                os.kill(launcher, signal.SIGKILL)
            if launchers:
                self.assertIn(client.wait(SOON), (125, 137), client.stderr.read())
            else:
                client.kill()
            field.close(client)
        self.assertEqual(field.node.await_none(lambda: field.naming(marker), SOON), [])


class Inherited(FieldTest):
    """Programs of ours that are started with odd signals."""

    class OddNode(field.Node):
        def command(self):
            return [sys.executable, "-c", ODD, *super().command()]

    node_type = OddNode

    def test_P7_ignored_and_blocked_signals_are_not_passed_on(self):
        shown = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"]
        wanted = "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n"
        self.assert_ended(self.one.run(self.box, *shown), stdout=wanted)
        odd = [sys.executable, "-c", ODD]
        for words in (self.arguments("exec", self.box, "--"), [os.environ["CAISSON_BIN"], "run", "--"]):
            for argv, status in ((shown, 0), (["sh", "-c", "exit 7"], 7),
                                 (["sh", "-c", "kill -KILL $$"], 137), (["no-such-program"], 127)):
                with self.subTest(words=words[1], argv=argv):
                    done = subprocess.run([*odd, *words, *argv], stdin=subprocess.DEVNULL, capture_output=True, timeout=50,
                                          check=False, restore_signals=False)
                    self.assertEqual(done.returncode, status, done)
                    if not status:
                        self.assertEqual(done.stdout.decode(), wanted)


ODD = """
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
signal.signal(signal.SIGPIPE, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP})
os.execv(sys.argv[1], sys.argv[1:])
"""


class Found(FieldTest):
    """Commands that are looked for later."""

    def test_P10_a_limit_that_passes_later_kills_nobody_else(self):
        steady = self.one.begin(self.box, "i=0; until test -e stop; do i=$((i+1)); sleep .01; done; echo $i")
        limit = full_or(10_000, 700)
        for _ in range(full_or(2000, 150)):
            self.assert_ended(self.one.run(self.box, "true", timeout_ms=limit))
        # Each of their limits passes while others have their process ids' neighbours.
        until = time.monotonic() + limit / 1000
        while time.monotonic() < until:
            self.assert_ended(self.one.run(self.box, "sleep", "0.05"))
        self.one.script(self.box, "touch stop")
        self.assert_ended(self.one.await_end(self.box, steady, SOON))

    def test_P11_what_has_ended_can_be_asked_for(self):
        command = self.one.begin(self.box, "echo done; exit 3")
        self.assert_ended(self.one.await_end(self.box, command), exit_code=3)
        ids = {command}
        for _ in range(full_or(300, 60)):
            ids.add(self.one.begin(self.box, "true"))
        self.assertEqual(len(ids), full_or(300, 60) + 1)
        for again in (lambda: None, self.restart):
            again()
            found = self.one.command_of(self.box, command)
            self.assertEqual((found["state"], found["exit_code"]), ("ended", 3))
            self.assert_ended(found["result"], exit_code=3, stdout="done\n")
            self.assertEqual(self.one.output(self.box, command), b"done\n")
            self.assertEqual(self.cli("logs", self.box, command).stdout, b"done\n")
        with self.assertRaises(Problem) as unknown:
            self.one.command_of(self.second, command)
        self.assertEqual(unknown.exception.code, "not_found")

    def restart(self):
        self.one.end()
        self.one.start()

    def test_P12_who_attaches_later_misses_and_repeats_nothing(self):
        count, pause = full_or((300, 1), (300, 0.01))
        command = self.one.begin(self.box, f"for i in $(seq {count}); do echo $i; sleep {pause}; done; exit 4", timeout_ms=400_000)
        self.assertFalse(field.node.await_none(lambda: self.one.command_of(self.box, command)["stdout_bytes"] < count, HANG_MORE))
        now = self.one.command_of(self.box, command)["stdout_bytes"]
        wanted = "".join(f"{number}\n" for number in range(1, count + 1)).encode()
        late = self.start_cli("attach", "--no-stdin", self.box, command)
        for start in (0, now):
            stdout, stderr, result = self.collect(self.box, command, f"{start},0")
            self.assertEqual((stdout, stderr), (wanted[start:], b""))
            self.assert_ended(result, exit_code=4)
            self.assertEqual(self.one.output(self.box, command, offset=start), wanted[start:])
        self.assertEqual((late.communicate()[0], late.returncode), (wanted, 4))

    def test_P13_a_server_is_there_after_a_pause(self):
        serve = "import http.server as h; s = h.HTTPServer(('127.0.0.1', 3000), h.SimpleHTTPRequestHandler); print('on'); s.serve_forever()"
        command = self.one.post(f"/v1/sandboxes/{self.box}/commands", {
            "argv": ["python3", "-u", "-c", serve], "background": True, "timeout_ms": 300_000})["id"]
        self.await_output(self.box, command, b"on\n")
        self.one.post(f"/v1/sandboxes/{self.box}:pause")
        self.restart()
        self.one.post(f"/v1/sandboxes/{self.box}:resume")
        ask = "import urllib.request as u; print(u.urlopen('http://127.0.0.1:3000', timeout=20).status)"
        self.assert_ended(self.one.run(self.box, "python3", "-c", ask), stdout="200\n")
        listed = {item["id"]: item["state"] for item in self.one.get(f"/v1/sandboxes/{self.box}/commands")["items"]}
        self.assertEqual(listed[command], "running")
        self.one.delete(f"/v1/sandboxes/{self.box}/commands/{command}")
        self.assert_cancelled(self.one.await_end(self.box, command, SOON))
        # Connections that have ended stay a while; a server's own address does not.
        bind = ("import socket; s = socket.socket(); s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1);"
                " s.bind(('127.0.0.1', 3000)); s.listen(); print('free')")
        self.assert_ended(self.one.run(self.box, "python3", "-c", bind), stdout="free\n")

    def test_P14_who_may_not_be_signalled_is_not_dead(self):
        commands = {}
        for user in ("agent", "root"):
            command = self.one.begin(self.box, f"echo $$ > /tmp/{user}; echo on; sleep 100", user=user)
            self.await_output(self.box, command, b"on\n")
            commands[user] = command
        probe = "kill -0 $(cat /tmp/{}) && echo alive"
        self.assert_ended(self.one.script(self.box, "sleep 5 & kill -0 $! && echo alive; kill $!"), stdout="alive\n")
        self.assert_ended(self.one.script(self.box, probe.format("agent")), stdout="alive\n")
        refused = self.one.script(self.box, probe.format("root"))
        self.assertEqual((refused["exit_code"], refused["stdout"]), (1, ""))
        self.assertIn("not permitted", refused["stderr"])
        shown = self.one.script(self.box, "ps -o pid= -p $(cat /tmp/root)")
        self.assertEqual(shown["exit_code"], 0)
        for command in commands.values():
            self.assertEqual(self.one.command_of(self.box, command)["state"], "running")
            self.one.delete(f"/v1/sandboxes/{self.box}/commands/{command}")
            self.assert_cancelled(self.one.await_end(self.box, command, SOON))


HANG_MORE = full_or(300, 60)

if __name__ == "__main__":
    field.main()
