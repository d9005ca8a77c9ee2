"""Calls that hang, limits that are not kept, ends that go unnoticed: the field cases T*."""

import concurrent.futures
import http.client
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import tempfile
import threading
import time
import unittest

import field
from field import SOON, FieldTest, Problem, full_or

MAXIMUM_MS = 31622400000


def timed(work):
    start = time.monotonic()
    result = work()
    return result, time.monotonic() - start


class Limits(FieldTest):
    def test_T2_after_its_limit_nothing_of_a_command_goes_on(self):
        loop = "i=0; while :; do echo $((i++)) >> /tmp/n; sleep .05; done"
        result, took = timed(lambda: self.one.script(self.box, loop, timeout_ms=1000))
        self.assert_timed_out(result)
        self.assertTrue(1000 <= result["duration_ms"] < 1000 * SOON, result)
        self.assertLess(took, SOON)
        self.assert_no_process(self.box, 0)
        first = self.one.script(self.box, "wc -l < /tmp/n; sleep .3")["stdout"]
        self.assertGreater(int(first), 0)
        self.assert_ended(self.one.script(self.box, "wc -l < /tmp/n"), stdout=first)
        done, took = timed(lambda: self.cli("exec", "--timeout", "300ms", self.box, "--", "bash", "-c", loop))
        self.assertEqual(done.returncode, 124, done)
        self.assertLess(took, SOON)
        self.assert_no_process(self.box, 0)

    def test_T10_a_long_limit_is_kept_or_refused_with_the_maximum(self):
        for limit in (90_000, 300_000, MAXIMUM_MS):
            command = self.one.begin(self.box, "read x; echo AFTER", timeout_ms=limit, input="open")
            self.assertEqual(self.one.command_of(self.box, command)["timeout_ms"], limit)
            self.write(self.box, command, "go\n")
            self.assert_ended(self.one.await_end(self.box, command), stdout="AFTER\n")
        with self.assertRaises(Problem) as refused:
            self.one.run(self.box, "true", timeout_ms=MAXIMUM_MS + 1)
        self.assertEqual(refused.exception.code, "invalid_argument")
        self.assertIn(str(MAXIMUM_MS), refused.exception.body["message"])
        for given, kept in (("90s", 90_000), ("5m", 300_000), ("8784h", MAXIMUM_MS)):
            self.assertEqual(self.cli("exec", "--timeout", given, self.box, "--", "true").returncode, 0)
            self.assertEqual(self.last_command()["timeout_ms"], kept)
        done = self.cli("exec", "--timeout", "8785h", self.box, "--", "true")
        self.assertEqual(done.returncode, 125)
        self.assertIn(b"8784h", done.stderr)

    @unittest.skipUnless(field.FULL, "takes over two minutes")
    def test_T10_a_command_longer_than_a_minute(self):
        long = "sleep 70; echo AFTER"
        self.assert_ended(self.one.script(self.box, long, timeout_ms=90_000, timeout=100), stdout="AFTER\n")
        done = self.cli("exec", "--timeout", "90s", self.box, "--", "bash", "-c", long)
        self.assertEqual((done.returncode, done.stdout), (0, b"AFTER\n"))

    def last_command(self):
        return self.one.get(f"/v1/sandboxes/{self.box}/commands")["items"][-1]

    def test_T13_who_asks_for_no_limit_has_one(self):
        command = self.one.begin(self.box, "sleep 1d")
        self.assertEqual(self.one.command_of(self.box, command)["timeout_ms"], 30_000)
        self.one.delete(f"/v1/sandboxes/{self.box}/commands/{command}")
        self.assert_cancelled(self.one.await_end(self.box, command))
        short = self.make(command_timeout_ms=700)
        result, took = timed(lambda: self.one.script(short, "sleep 1d"))
        self.assert_timed_out(result)
        self.assertLess(took, SOON)
        self.assertEqual(self.cli("exec", short, "--", "sleep", "1d").returncode, 124)
        self.assert_no_process(short, 0)

    def test_T19_a_quiet_set_up_is_left_alone_and_the_next_output_is_its_own(self):
        quiet = full_or(120, 2)
        result = self.one.script(self.box, f"sleep {quiet}; echo ready", timeout_ms=200_000, timeout=250)
        self.assert_ended(result, stdout="ready\n")
        shell = self.one.begin(self.box, "bash", input="open", timeout_ms=400_000)
        lines = "".join(f"{number}\n" for number in range(1, 201)).encode()
        self.write(self.box, shell, "seq 200\n")
        self.assertEqual(self.await_output(self.box, shell, b"\n200\n"), lines)
        time.sleep(full_or(300, 1))
        self.write(self.box, shell, "echo A\n", close=True)
        self.assert_ended(self.one.await_end(self.box, shell), stdout=(lines + b"A\n").decode())
        server = self.one.begin(self.box, "trap 'echo stopping; exit 0' INT; echo serving; while :; do sleep .05; done")
        self.await_output(self.box, server, b"serving\n")
        self.one.post(f"/v1/sandboxes/{self.box}/commands/{server}/signal", {"signal": "SIGINT"})
        self.assert_ended(self.one.script(self.box, "echo A"), stdout="A\n", stderr="")
        self.assert_ended(self.one.await_end(self.box, server), stdout="serving\nstopping\n")

    def test_T21_a_command_that_runs_is_activity(self):
        idle, busy = full_or((30_000, 90), (500, 2))
        kept = self.make(idle_timeout_ms=idle)
        result = self.one.script(kept, f"sleep {busy}; echo ok", timeout_ms=200_000, timeout=250)
        self.assert_ended(result, stdout="ok\n")
        kept = self.make(idle_timeout_ms=idle)
        done = self.cli("exec", "--timeout", "200s", kept, "--", "sh", "-c", f"sleep {busy}; echo ok")
        self.assertEqual((done.returncode, done.stdout), (0, b"ok\n"))
        self.assertFalse(field.node.await_none(lambda: self.one.inspect(kept)["state"] != "deleted", SOON + idle / 1000))


class Ends(FieldTest):
    """Whether the end of a command is seen, whatever still holds its streams."""

    at_once = 24

    def test_T4_who_holds_the_pipe_does_not_hold_the_answer(self):
        holders = ("exec > >(cat; sleep 60) 2>&1; echo done", "exec > >(tee -a log; sleep 60) 2>&1 && echo done",
                   "sleep 60 & echo done")
        for text in holders:
            with self.subTest(text):
                for ask in (self.by_rest, self.by_background, self.by_cli):
                    done, took = timed(lambda ask=ask, text=text: ask(text))
                    self.assertEqual(done, (0, b"done\n"))
                    self.assertLess(took, SOON)
                    self.assertIn("sleep 60", self.one.script(self.box, "ps -eo args")["stdout"])
                    self.one.script(self.box, "kill -KILL $(pgrep -x sleep)")
                    self.assert_no_process(self.box)
        done, took = timed(lambda: subprocess.run([os.environ["CAISSON_BIN"], "run", "--", "bash", "-c", holders[0]],
                                                  stdin=subprocess.DEVNULL, capture_output=True, timeout=50, check=False))
        self.assertEqual((done.returncode, done.stdout), (0, b"done\n"))
        self.assertLess(took, SOON)

    def by_rest(self, text):
        result = self.one.script(self.box, text)
        return result["exit_code"], result["stdout"].encode()

    def by_background(self, text):
        stdout, _, result = self.collect(self.box, self.one.begin(self.box, text))
        return result["exit_code"], stdout

    def by_cli(self, text):
        done = self.cli("exec", self.box, "--", "bash", "-c", text)
        return done.returncode, done.stdout

    def test_T5_no_short_command_hangs(self):
        slow = []

        def one_command(box):
            result, took = timed(lambda: self.one.run(box, "pwd"))
            self.assert_ended(result, stdout="/home/agent/workspace\n")
            slow.append(took)

        def one_sandbox(_):
            box = self.one.create()
            one_command(box)
            self.delete(box)

        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            for _ in pool.map(one_command, [self.box] * full_or(500, 100)):
                pass
            for _ in pool.map(one_sandbox, range(full_or(500, 60))):
                pass
        self.assertLess(max(slow), SOON)

    def test_T6_here_documents_end(self):
        # Text, what the file holds, and whether the shell warns.
        cases = (
            ("cat << 'EOF' > h.txt\nhello\nEOF\n", b"hello\n", False),
            ("cat << 'EOF' > h.txt\nhello\nEOF", b"hello\n", False),
            ("cat <<- 'EOF' > h.txt\n\thello\n\tEOF\n", b"hello\n", False),
            ("cat << 'EOF' > h.txt\nhello\n  EOF\n", b"hello\n  EOF\n", True),
            ("cat << 'EOF' > h.txt\nhello\n", b"hello\n", True),
        )
        for text, wanted, warns in cases:
            with self.subTest(text):
                result = self.one.script(self.box, text)
                self.assert_ended(result)
                self.check_here_document(wanted, warns, result)
                shell = self.one.begin(self.box, "exec bash", input="open")
                self.write(self.box, shell, text if warns else text.rstrip("\n") + "\necho ok\n", close=True)
                result = self.one.await_end(self.box, shell)
                self.assert_ended(result, stdout="" if warns else "ok\n")
                self.check_here_document(wanted, warns, result)

    def check_here_document(self, wanted, warns, result):
        self.assertEqual("here-document" in result["stderr"], warns, result)
        self.assertEqual(self.one.get(f"/v1/sandboxes/{self.box}/files/home/agent/workspace/h.txt"), wanted)
        self.assert_ended(self.one.script(self.box, "rm h.txt; echo ok"), stdout="ok\n")

    def test_T7_without_input_there_is_an_end_of_it(self):
        waiters = (["cat"], ["sh", "-c", "read x; echo $? got=$x"], ["python3", "-c", "input()"])
        wanted = ((0, b"", b""), (0, b"1 got=\n", b""), (1, b"", b"EOFError"))
        for argv, (exit_code, stdout, stderr) in zip(waiters, wanted):
            with self.subTest(argv):
                result, took = timed(lambda argv=argv: self.one.run(self.box, *argv))
                self.assert_ended(result, exit_code=exit_code, stdout=stdout.decode())
                self.assertIn(stderr.decode(), result["stderr"])
                self.assertLess(took, SOON)
                background = self.one.post(f"/v1/sandboxes/{self.box}/commands", {"argv": argv, "background": True})["id"]
                self.assert_ended(self.one.await_end(self.box, background), exit_code=exit_code, stdout=stdout.decode())
                silent, held = os.pipe()  # open, and nobody ever writes
                try:
                    for options, source in (([], subprocess.DEVNULL), (["--no-stdin"], silent)):
                        done = self.cli("exec", *options, self.box, "--", *argv, stdin=source)
                        self.assertEqual((done.returncode, done.stdout), (exit_code, stdout))
                        self.assertIn(stderr, done.stderr)
                    self.assertEqual(self.cli("exec", self.box, "--", "echo", "ok", stdin=silent).stdout, b"ok\n")
                finally:
                    os.close(silent)
                    os.close(held)

    def test_T12_short_commands_take_no_fixed_time(self):
        took = [timed(lambda: self.one.run(self.box, "true"))[1] for _ in range(full_or(200, 50))]
        self.assertLess(statistics.median(took), 0.5)
        took = [timed(lambda: self.cli("exec", self.box, "--", "true"))[1] for _ in range(full_or(200, 20))]
        self.assertLess(statistics.median(took), 0.5)

    def test_T18_no_login_shell_is_needed(self):
        for shell in (["sh"], ["dash"], ["bash"], ["busybox", "sh"]):
            self.assert_ended(self.one.run(self.box, *shell, "-c", "echo $0 works", "it"), stdout="it works\n")
        result = self.one.run(self.box, "no-such-shell", "-c", "echo x")
        self.assert_ended(result, "failed_to_start", None)
        self.assertEqual([hint["code"] for hint in result["hints"]], ["command_not_found"])
        done = self.cli("exec", self.box, "--", "no-such-shell")
        self.assertEqual(done.returncode, 127)
        self.assertIn(b"no-such-shell", done.stderr)

    def test_T18_images_whose_users_have_other_shells_or_none(self):
        with tempfile.TemporaryDirectory() as image:
            os.chmod(image, 0o755)
            for name in ("bin", "etc"):
                os.mkdir(f"{image}/{name}", 0o755)
            shutil.copy(shutil.which("busybox"), image + "/bin/busybox")
            for shell in ("/usr/bin/fish", "/bin/busybox", "/usr/sbin/nologin", ""):
                with self.subTest(shell):
                    pathlib.Path(image, "etc/passwd").write_text(
                        f"root:x:0:0::/root:{shell}\nagent:x:1000:1000::/home/agent:{shell}\n", encoding="utf-8")
                    run = [os.environ["CAISSON_BIN"], "run", "--image", image, "--"]
                    done = subprocess.run([*run, "/bin/busybox", "echo", "ok"], stdin=subprocess.DEVNULL,
                                          capture_output=True, timeout=50, check=False)
                    self.assertEqual((done.returncode, done.stdout), (0, b"ok\n"), done)
                    done = subprocess.run([*run, "sh", "-c", "echo ok"], stdin=subprocess.DEVNULL,
                                          capture_output=True, timeout=50, check=False)
                    self.assertEqual((done.returncode, done.stdout), (127, b""))
                    self.assertIn(b"sh", done.stderr)


class Others(FieldTest):
    """What one command that is stuck, cancelled or cut off does to the others."""

    at_once = 40

    def test_T14_ready_means_that_a_command_runs(self):
        self.one.get("/readyz")
        self.assert_answers(self.box)
        for _ in range(full_or(50, 5)):
            fresh = self.one.create()
            self.assert_answers(fresh)
            self.one.post(f"/v1/sandboxes/{fresh}:pause")
            self.assertEqual(self.one.post(f"/v1/sandboxes/{fresh}:resume")["state"], "running")
            self.assert_answers(fresh)
            self.delete(fresh)
        self.one.end()
        self.one.start()
        self.assert_answers(self.box)

    def test_T15_stuck_calls_delay_no_other(self):
        stuck = []
        threads = [threading.Thread(target=lambda: stuck.append(self.one.run(self.box, "sleep", "600", timeout_ms=600_000)))
                   for _ in range(30)]
        for thread in threads:
            thread.start()
        commands = f"/v1/sandboxes/{self.box}/commands"

        def running():
            return [item["id"] for item in self.one.get(commands)["items"] if item["state"] == "running"]
        self.assertFalse(field.node.await_none(lambda: len(running()) < 30, SOON))
        for box in (self.box, self.second):
            for _ in range(full_or(100, 30)):
                self.assert_answers(box)
                _, took = timed(lambda: self.one.get("/healthz"))
                self.assertLess(took, SOON)
        for command in running():
            self.one.delete(f"{commands}/{command}")
        for thread in threads:
            thread.join()
        self.assertEqual({result["outcome"] for result in stuck}, {"cancelled"})
        self.assertEqual(len(stuck), 30)

    def test_T16_every_way_to_cancel_ends_the_whole_tree(self):
        text = "trap 'echo once' INT; sleep 600 & setsid sleep 600 & echo begun; while :; do sleep 600; done"
        for cancel in (self.cancel_by_call, self.cancel_by_leaving, self.cancel_by_keyboard):
            with self.subTest(cancel.__name__):
                result, took = cancel(text)
                self.assert_cancelled(result, stdout="begun\n" + ("once\n" if cancel == self.cancel_by_keyboard else ""))
                self.assertLess(took, SOON)
                self.assert_no_process(self.box)

    def cancel_by_call(self, text):
        command = self.one.begin(self.box, text, timeout_ms=600_000)
        self.await_begun()
        self.one.delete(f"/v1/sandboxes/{self.box}/commands/{command}")
        return timed(lambda: self.one.await_end(self.box, command, SOON))

    def cancel_by_leaving(self, text):
        connection = self.one.connection()
        body = field.json.dumps({"argv": ["bash", "-c", text], "timeout_ms": 600_000})
        connection.request("POST", f"/v1/sandboxes/{self.box}/commands", body, {"Content-Type": "application/json"})
        command = self.await_begun()
        connection.close()
        return timed(lambda: self.one.await_end(self.box, command, SOON))

    def cancel_by_keyboard(self, text):
        # The first is the command's; the second ends it.
        client = self.start_cli("exec", "--timeout", "600s", self.box, "--", "bash", "-c", text)
        command = self.await_begun()
        self.assertEqual(client.stdout.readline(), b"begun\n")
        client.send_signal(signal.SIGINT)
        self.assertEqual(client.stdout.readline(), b"once\n")
        client.send_signal(signal.SIGINT)
        self.assertEqual(client.wait(SOON), 130)
        return timed(lambda: self.one.await_end(self.box, command, SOON))


class Restarts(FieldTest):
    """What the end of a daemon does to commands."""

    def test_T20_the_daemon_is_killed_between_and_during_commands(self):
        for turn in range(full_or(50, 14)):
            ended = []
            caller = threading.Thread(target=lambda: ended.append(self.caller_of("echo begun; sleep 600")))
            if turn % 2:
                caller.start()
                command = self.await_begun()
            self.one.kill()
            if turn % 2:
                caller.join(SOON)
                self.assertTrue(ended and isinstance(ended[0], (OSError, http.client.HTTPException)), ended)
            self.one.start()
            self.assert_ended(self.one.script(self.box, "echo hello"), stdout="hello\n")
            if turn % 2:
                self.assertEqual(self.one.command_of(self.box, command)["state"], "running")
                self.one.delete(f"/v1/sandboxes/{self.box}/commands/{command}")
                self.assert_cancelled(self.one.await_end(self.box, command), stdout="begun\n")

    def caller_of(self, text):
        try:
            return self.one.script(self.box, text, timeout_ms=600_000)
        except (OSError, http.client.HTTPException) as error:
            return error


if __name__ == "__main__":
    field.main()
