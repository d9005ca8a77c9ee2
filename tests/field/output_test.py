"""Output that is lost, late or mixed with another's: the field cases O*."""

import concurrent.futures
import gzip
import http.client
import os
import signal
import threading
import time

import field
from field import SOON, FieldTest, digest, full_or, texts

MIB = 1 << 20
# What is kept of a stream: its beginning, and at least half of so much of its end.
HEAD, WINDOW = MIB, 64 * MIB

# Writes as many bytes to stdout and to stderr, in turn, such that each part of a stream differs from its neighbours.
WRITER = """
import os, sys
block = bytes(number * 7 % 251 for number in range(251)) * 256
left = {1: int(sys.argv[1]), 2: int(sys.argv[2])}
at = {1: 0, 2: 0}
while left[1] or left[2]:
    for fd in (1, 2):
        start = at[fd] % len(block)
        if left[fd]:
            wrote = os.write(fd, block[start:start + left[fd]])
            left[fd] -= wrote
            at[fd] += wrote
"""
BLOCK = bytes(number * 7 % 251 for number in range(251)) * 256


def pattern(size, start=0):
    start %= len(BLOCK)
    return (BLOCK * ((start + size) // len(BLOCK) + 1))[start:start + size]


class Kept(FieldTest):
    """What is there of an output, and that it is said when not all is."""

    def test_O1_what_was_printed_before_the_limit_is_there(self):
        printer = "import time; print('Hello'); time.sleep(100)"
        for argv in (["python3", "-u", "-c", printer], ["python3", "-c", printer]):
            self.assert_timed_out(self.one.run(self.box, *argv, timeout_ms=1000), stdout="Hello\n", truncated=[])
        done = self.cli("exec", "--timeout", "1s", self.box, "--", "python3", "-c", printer)
        self.assertEqual((done.returncode, done.stdout), (124, b"Hello\n"))

    def test_O3_every_size_is_whole_or_its_count_is(self):
        for size in (9_999, 10_000, 10_001, 16_384, 65_536, 65_537, MIB, MIB + 1, 10 * MIB):
            for out, err in ((size, 0), (0, size), (size, size)):
                with self.subTest(out=out, err=err):
                    self.check_size(out, err)

    def check_size(self, out, err):
        command = self.one.post(f"/v1/sandboxes/{self.box}/commands", {
            "argv": ["python3", "-c", WRITER, str(out), str(err)], "background": True})["id"]
        result = self.one.await_end(self.box, command)
        self.assert_ended(result, stdout_bytes=out, stderr_bytes=err)
        self.assertEqual(set(result["truncated"]), {name for name, size in (("stdout", out), ("stderr", err)) if size > HEAD})
        for stream, size, kept in zip(("stdout", "stderr"), (out, err), texts(result)):
            self.assertEqual(digest(kept), digest(pattern(min(size, HEAD))))
            self.assertEqual(digest(self.one.output(self.box, command, stream)), digest(pattern(size)))

    def test_O3_more_than_is_kept_has_a_gap_of_a_known_size(self):
        size = HEAD + WINDOW + 40 * MIB
        command = self.one.post(f"/v1/sandboxes/{self.box}/commands", {
            "argv": ["python3", "-c", WRITER, str(size), "0"], "background": True, "timeout_ms": 100_000})["id"]
        self.assert_ended(self.one.await_end(self.box, command, 100), stdout_bytes=size, truncated=["stdout"])
        position, gaps = 0, []
        for name, data, _ in self.follow(self.box, command):
            if name == "end":
                break
            self.assertEqual(data["offset"], position)
            if name == "gap":
                gaps.append((position, data["dropped_bytes"]))
                position += data["dropped_bytes"]
            else:
                content = field.content_of(data)
                self.assertEqual(content, pattern(len(content), position))
                position += len(content)
        self.assertEqual(position, size)
        self.assertEqual([start for start, _ in gaps], [HEAD])
        self.assertTrue(40 * MIB <= gaps[0][1] <= 40 * MIB + WINDOW // 2, gaps)

    def test_O4_nothing_is_lost_where_a_command_goes_to_the_background(self):
        first, second = pattern(5000), pattern(5000, 5000)
        command = self.one.post(f"/v1/sandboxes/{self.box}/commands", {
            "argv": ["python3", "-c", WRITER_OF_PARTS], "background": True, "input": "open"})["id"]
        client = self.start_cli("attach", "--no-stdin", self.box, command)
        self.assertEqual(client.stdout.read(5000), first)
        client.kill()
        client.wait()
        self.write(self.box, command, "go on\n")
        self.assert_ended(self.one.await_end(self.box, command, SOON), stdout_bytes=10_000)
        self.assertEqual(digest(self.one.output(self.box, command)), digest(first + second))
        self.assertEqual(digest(self.cli("logs", self.box, command).stdout), digest(first + second))

    def test_O13_every_reader_of_what_has_ended_sees_the_same(self):
        command = self.one.begin(self.box, "for i in $(seq 1000); do echo line $i; echo error $i >&2; done; exit 5")
        self.one.await_end(self.box, command)
        wanted = ["".join(f"{word} {number}\n" for number in range(1, 1001)).encode() for word in ("line", "error")]
        for _ in range(full_or(100, 20)):
            stdout, stderr, result = self.collect(self.box, command)
            self.assertEqual([stdout, stderr], wanted)
            self.assert_ended(result, exit_code=5)
        for _ in range(full_or(20, 5)):
            done = self.cli("attach", "--no-stdin", self.box, command)
            self.assertEqual((done.stdout, done.stderr, done.returncode), (*wanted, 5))

    def test_O15_what_is_compressed_stays_as_it_is(self):
        packed = gzip.compress(pattern(100_000))
        path = f"/v1/sandboxes/{self.box}/files/home/agent/workspace/packed.gz"
        self.one.ask("PUT", path, packed, field.OCTETS)
        for wishes in ({}, {"Accept-Encoding": "gzip, br"}):
            response, content = self.one.exchange("GET", path, headers=wishes)
            self.assertEqual((digest(content), response.getheader("Content-Encoding")), (digest(packed), None))
            response, content = self.one.exchange("GET", path, headers={"Range": "bytes=10-99", **wishes})
            self.assertEqual((response.status, content), (206, packed[10:100]))
            response, content = self.one.exchange("HEAD", path, headers=wishes)
            self.assertEqual((response.status, content), (200, b""))
        command = self.one.begin(self.box, "cat packed.gz")
        self.assertEqual(digest(self.one.output(self.box, command)), digest(packed))
        self.assertEqual(digest(self.cli("exec", self.box, "--", "cat", "packed.gz").stdout), digest(packed))


# Five thousand bytes, and when a line comes, five thousand more.
WRITER_OF_PARTS = """
import os, sys
block = bytes(number * 7 % 251 for number in range(251)) * 256
os.write(1, block[:5000])
sys.stdin.readline()
os.write(1, block[5000:10000])
"""


class InTime(FieldTest):
    """Output that comes while the command runs. The command waits for an answer to each line: late is never."""

    talker = "for i in 1 2 3; do echo $i; echo e$i >&2; read x; done; exit 6"

    def test_O7_each_line_comes_before_the_next_is_written(self):
        command = self.one.begin(self.box, self.talker, input="open")
        connection = self.one.connection(SOON)
        connection.request("GET", f"/v1/sandboxes/{self.box}/commands/{command}/output?stream=stdout",
                           headers={"Accept": "application/octet-stream"})
        response = connection.getresponse()
        for number in (b"1\n", b"2\n", b"3\n"):
            self.assertEqual(response.read1(100), number)
            self.write(self.box, command, "next\n")
        self.assertEqual(response.read(), b"")
        connection.close()
        self.assert_ended(self.one.await_end(self.box, command), exit_code=6)

    def test_O7_each_line_comes_through_the_command_line(self):
        for start in (lambda: self.start_cli("exec", self.box, "--", "bash", "-c", self.talker, stdin=field.subprocess.PIPE),
                      lambda: self.tended([os.environ["CAISSON_BIN"], "run", "--", "bash", "-c", self.talker],
                                          stdin=field.subprocess.PIPE)):
            client = start()
            for number in (b"1\n", b"2\n", b"3\n"):
                self.assertEqual(client.stdout.readline(), number)
                self.assertEqual(client.stderr.readline(), b"e" + number)
                client.stdin.write(b"next\n")
                client.stdin.flush()
            self.assertEqual(client.wait(SOON), 6)

    def test_O9_both_streams_come_apart_and_in_time(self):
        command = self.one.begin(self.box, self.talker, input="open")
        seen = {"stdout": b"", "stderr": b""}
        asked = 0
        for name, data, _ in self.follow(self.box, command, patience=SOON):
            if name == "end":
                self.assert_ended(data, exit_code=6, stdout="1\n2\n3\n", stderr="e1\ne2\ne3\n")
                break
            seen[name] += field.content_of(data)
            if seen["stdout"].count(b"\n") > asked and seen["stderr"].count(b"\n") > asked:
                asked += 1
                self.write(self.box, command, "next\n")
        self.assertEqual(seen, {"stdout": b"1\n2\n3\n", "stderr": b"e1\ne2\ne3\n"})

    def test_O9_a_long_silence_is_no_error(self):
        quiet = full_or(70, 2)
        text = f"echo o; echo e >&2; sleep {quiet}; echo o2"
        result = self.one.script(self.box, text, timeout_ms=100_000, timeout=100)
        self.assert_ended(result, stdout="o\no2\n", stderr="e\n")
        done = self.cli("exec", "--timeout", "100s", self.box, "--", "sh", "-c", text)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"o\no2\n", b"e\n"))

    def test_O8_parallel_commands_keep_their_outputs_apart(self):
        def search(_):
            return self.one.script(self.box, "find / -name '*.txt'; echo $?", timeout_ms=1000)

        def echo(number):
            return self.one.script(self.box, f"echo B{number}; echo E{number} >&2")
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            count = full_or(200, 25)
            searches, echoes = pool.map(search, range(count)), pool.map(echo, range(count))
            for number, result in enumerate(echoes):
                self.assert_ended(result, stdout=f"B{number}\n", stderr=f"E{number}\n")
            for result in searches:
                self.assertIn(result["outcome"], ("exited", "timed_out"))
                self.assertNotRegex(texts(result)[0], rb"(?m)^[BE]\d+$")


class Slow(FieldTest):
    """Much output, and readers that are slow or go away."""

    def test_O5_a_stream_that_is_cut_is_no_success(self):
        for _ in range(full_or(200, 5)):
            box = self.make()
            command = self.one.begin(box, "i=0; while :; do echo $((i++)); done", timeout_ms=100_000)
            connection = self.one.connection(SOON)
            connection.request("GET", f"/v1/sandboxes/{box}/commands/{command}/output", headers={"Accept": "text/event-stream"})
            stream = field.events(connection.getresponse())
            for _ in range(5):
                self.assertEqual(next(stream)[0], "stdout")
            os.kill(self.guests[box], signal.SIGKILL)
            try:
                ends = [data for name, data, _ in stream if name == "end"]
            except (OSError, http.client.HTTPException):
                ends = []
            connection.close()
            for result in ends:
                self.assertEqual((result["outcome"], result["exit_code"]), ("signaled", None))
            self.assertFalse(field.node.await_none(lambda box=box: self.one.inspect(box)["state"] != "failed", SOON))
            found = self.one.command_of(box, command)
            self.assertEqual((found["state"], found["outcome"], found["exit_code"]), ("ended", "signaled", None))
            self.delete(box)

    def test_O10_four_times_as_much_takes_no_more_than_some_times_as_long(self):
        small, large = full_or((50, 200), (10, 40))
        for read in (self.read_by_cli, self.read_by_events):
            took = {}
            for size in (small, large):
                took[size] = min(self.time_of(read, size) for _ in range(2))
            self.assertLess(took[large], 4.5 * 2.5 * took[small] + 1, read.__name__)

    def time_of(self, read, size):
        start = time.monotonic()
        self.assertEqual(read(f"yes {'x' * 79} | head -c {size * MIB}"), size * MIB)
        return time.monotonic() - start

    def read_by_cli(self, text):
        done = self.cli("exec", "--timeout", "200s", self.box, "--", "sh", "-c", text)
        return len(done.stdout)

    def read_by_events(self, text):
        command = self.one.begin(self.box, text, timeout_ms=200_000)
        return sum(len(field.content_of(data)) for name, data, _ in self.follow(self.box, command) if name == "stdout")

    def test_O11_a_slow_reader_sees_the_last_line(self):
        count = full_or(300_000, 100_000)
        command = self.one.begin(self.box, f'for i in $(seq {count}); do echo "$i completed"; done', timeout_ms=200_000)
        connection = self.one.connection()
        connection.request("GET", f"/v1/sandboxes/{self.box}/commands/{command}/output", headers={"Accept": "text/event-stream"})
        response = connection.getresponse()
        seen, slow_until = b"", time.monotonic() + full_or(60, 2)
        for name, data, _ in field.events(response):
            if name == "end":
                self.assert_ended(data)
                break
            seen += field.content_of(data)
            if time.monotonic() < slow_until:
                time.sleep(0.2)
        connection.close()
        self.assertEqual(digest(seen), digest("".join(f"{number} completed\n" for number in range(1, count + 1)).encode()))

    def test_O14_readers_in_bursts_get_every_byte(self):
        size, readers = full_or((60 * MIB, 8), (20 * MIB, 4))
        command = self.one.post(f"/v1/sandboxes/{self.box}/commands", {
            "argv": ["python3", "-c", WRITER, str(size), "0"], "background": True, "timeout_ms": 200_000})["id"]
        found = [None] * readers
        threads = [threading.Thread(target=self.read_in_bursts, args=(command, found, number)) for number in range(readers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [digest(pattern(size))] * readers)
        self.assert_ended(self.one.await_end(self.box, command), stdout_bytes=size)

    def read_in_bursts(self, command, found, number):
        connection = self.one.connection(120)
        connection.request("GET", f"/v1/sandboxes/{self.box}/commands/{command}/output?stream=stdout",
                           headers={"Accept": "application/octet-stream"})
        response = connection.getresponse()
        content = bytearray()
        while part := response.read(MIB):
            content += part
            time.sleep(0.05)
        connection.close()
        found[number] = digest(bytes(content))


if __name__ == "__main__":
    field.main()
