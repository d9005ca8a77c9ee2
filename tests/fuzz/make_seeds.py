#!/usr/bin/env python3
"""Writes the seed inputs of the fuzz targets into corpus/NAME/seed_*, in the form that each target's comment gives.

What a target found lies beside them, under names that say what it was, and is not touched.
"""

import pathlib
import struct

from audit_seeds import audit_reader
from seed_parts import text
from written_seeds import document, policy_file, shell_text, template, tool_call

CORPUS = pathlib.Path(__file__).resolve().parent / "corpus"


def words(*arguments, environment=()):
    return "".join(word + "\0" for word in [*arguments, "", *environment][: None if environment else -1]).encode()


def mountinfo():
    unified = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
    hybrid = (
        "31 30 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "32 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
        "33 30 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n"
    )
    yield "unified", unified
    yield "hybrid", unified.replace("/sys/fs/cgroup rw", "/sys/fs/cgroup/unified rw") + hybrid
    yield "escapes", "36 35 98:0 /a\\040b /mnt/with\\040space\\134 rw - cgroup2 no\\012ne rw\n"
    yield "cut", "36 35 98:0 / /mnt\\04 - cgroup2\n - \n36 - cgroup"


def kernel_text():
    yield "memory_events", "low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 0\n"
    yield "memory_events_v1", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"
    yield "pids_events", "max 7\n"
    yield "cgroup_events", "populated 1\nfrozen 0\n"
    yield "cpu_stat", "usage_usec 18446744073709551615\nuser_usec 5\nsystem_usec 7\n"
    yield "blocked_read", "0 0x0 0x7ffc00001000 0x1000 0x0 0x0 0x0 0x7ffc00000f00 0x7f0000001234\n"
    yield "blocked_select", "270 0x1 0x7ffc00001000 0x0 0x0 0x0 0x0 0x7ffc00000f00 0x7f0000001234\n"
    yield "blocked_descriptor", "19 0xffffffff80000000 0x0 0x0 0x0 0x0 0x0 0x0 0x0\n"
    yield "running", "running\n"
    yield "elsewhere", "-1 0x7ffc00000f00 0x7f0000001234\n"


def command_line():
    yield "run", words("run", "--memory", "512MiB", "--cpus=0.5", "--", "sh", "-c", "true")
    yield "all", words(
        "run", "--image", "/srv/image", "--workspace", "/home/me:rw", "--cpus", "2", "--memory", "1.5GiB", "--disk", "1GB",
        "--pids", "64", "--timeout", "250ms", "--env", "A=b", "--env", "HOME", "--user", "root", "--network", "none",
        "--tier", "process", "--storage", "btrfs", "--keep", "--tty", "--json", "--quiet", "--verbose", "--", "env")
    yield "environment", words("run", "--", "id", environment=("host", "/w:copy", "1", "1GiB", "5MiB", "9", "10m"))
    yield "mistyped", words("rnu", "--memroy", "1")
    yield "option", words("run", "--memroy=1", "--", "id")
    yield "no_value", words("run", "--memory")
    yield "ids", words("delete", "sb_abcdefghijklmnopqrstuvwxyz", "sb_2", "--yes", "--json")
    yield "diff", words("diff", "--patch", "sb_a")
    yield "bytes", b"run\0--env\0\xff\xfe=\x1b[2J\0--workspace\0/a:b:\xc3\0--\0\xe2\x80\xae\0"


def line_diff():
    def case(steps, before, after):
        return struct.pack("<H", steps) + text(before) + after.encode()

    yield "moved", case(60000, "a\nb\nc\nd\n", "c\nd\na\nb\n")
    yield "changed", case(60000, "one\ntwo\nthree\n", "one\n2\nthree")
    yield "few_steps", case(3, "a\nb\na\nb\na\n" * 8, "b\na\nb\nb\n" * 8)
    yield "empty", case(100, "", "a\n")
    yield "nothing_alike", case(60000, "".join(f"{n}\n" for n in range(60)), "".join(f"x{n}\n" for n in range(60)))


def file_patch():
    def case(flags, path, before, after):
        after = after.encode() if isinstance(after, str) else after
        return bytes([flags]) + text(path) + text(before) + after

    yield "edited", case(3, "/home/agent/workspace/a.txt", "one\ntwo\nthree\n", "one\n2\nthree\n")
    yield "created", case(2, "/tmp/new", "", "content without an end")
    yield "deleted", case(1, "/tmp/old name\t\"quoted\"", "gone\n", "")
    yield "terminal", case(7, b"/tmp/\x1b[31m\xff\xe2\x80\xae", "a\x1b[2J\n\u202eb\n", b"\xc0\x80\r\n\x9b1m\n")
    yield "binary", case(7, "/bin/thing", b"\x7fELF\0\1\2", b"\x7fELF\0\1\3")
    yield "little_budget", case(15, "/a", "a\nb\nc\nd\n" * 20, "b\nc\nd\ne\n" * 20)
    yield "no_newline", case(3, "x", "a\nb", "a\nb\n")


def hints():
    def case(err, flags=0, kind=0, number=1, argv0="sh", out="", tail=""):
        tail = tail.encode() if isinstance(tail, str) else tail
        return bytes([flags, kind]) + struct.pack("<H", number) + text(argv0) + text(out) + text(err) + tail

    yield "not_found", case("bash: line 1: fooo: command not found\n", number=127)
    yield "module", case("Traceback (most recent call last):\nModuleNotFoundError: No module named 'requests.sessions'\n")
    yield "denied", case("touch: cannot touch '/usr/x': Permission denied\n")
    yield "errno", case("PermissionError: [Errno 13] Permission denied: '/etc/shadow'\n")
    yield "read_only", case("mkdir: cannot create directory \u2018/usr/a\u2019: Read-only file system\r\n")
    yield "disk", case("dd: error writing 'x': No space left on device\n", flags=16)
    yield "network", case("curl: (6) Could not resolve host: example.com\n", number=6)
    yield "network_pip", case("connect to 10.0.0.1 port 80: Network is unreachable\n", flags=32)
    yield "fork", case("sh: 1: Cannot fork\n", flags=4, number=2)
    yield "memory", case("", flags=2, kind=3)
    yield "timeout", case("Password: ", flags=8, kind=2)
    yield "signal", case("Killed\n", kind=1, number=9)
    yield "failed_to_start", case("", kind=5, number=2, argv0="nosuch\x1b")
    yield "bytes", case(b"cat: \xff\xfe\x1b[2J: Permission denied\n", flags=65, out=b"\xf0\x9f\x98", tail=b"\x80`x`: denied")


def event_stream():
    def case(stream, piece=3):
        return struct.pack("<H", piece - 1) + stream.encode()

    out = 'id: 2,0\nevent: stdout\ndata: {"offset":0,"text":"hi"}\n\n'
    end = 'event: end\ndata: {"outcome":"exited","exit_code":0,"hints":[{"code":"a","message":"b","suggestion":"c"}]}\n\n'
    yield "whole", case(": hello\n\n" + out + 'event: stderr\ndata: {"offset":0,"base64":"AP8="}\n\n' + end)
    yield "again", case(out + out + 'event: stdout\ndata: {"offset":1,"text":"ijk"}\n\n', 1)
    yield "gap", case('event: gap\ndata: {"stream":"stdout","offset":0,"dropped_bytes":9}\n\n' + out)
    yield "hole", case('event: stdout\ndata: {"offset":9,"text":"hi"}\n\n')
    yield "large", case('event: gap\ndata: {"stream":"stderr","offset":0,"dropped_bytes":9223372036854775807}\n\n', 100)
    yield "line_ends", case("\ufeffdata: a\rdata:b\r\n\r\ndata\n\nid\nretry: 1\n:\n\n", 1)
    yield "problem", case('{"code":"conflict","message":"m","cause":null,"retryable":true,"details":{"a":"b"}}', 100)


def varint(number):
    data = b""
    number &= (1 << 64) - 1
    while number >= 0x80:
        data += bytes([number & 0x7F | 0x80])
        number >>= 7
    return data + bytes([number])


def message(*fields):
    """A protobuf message: each field is its number and an int, or bytes, or str."""
    data = b""
    for number, value in fields:
        if isinstance(value, int):
            data += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            data += varint(number << 3 | 2) + varint(len(value)) + value
    return data


def part(payload, flags=0):
    """What tests/fuzz/sent_frames.h sends."""
    return bytes([flags]) + text(payload)


def frame(payload):
    return struct.pack("<I", len(payload)) + payload


FOUR_PIPES = 4 << 1
PIPE_AND_TERMINAL = 2 << 1 | 1 << 4
SOCKETS = 4 << 1 | 3 << 4
RAW = 1


def guest_replies():
    ready = part(b"")
    started = part(message((3, 1)), FOUR_PIPES)
    yield "started", bytes([2, 0, 2]) + ready + started + part(b"")
    yield "terminal", bytes([1, 1]) + ready + part(message((3, 1)), PIPE_AND_TERMINAL)
    yield "sockets", bytes([1, 0]) + ready + part(message((3, 1)), SOCKETS)
    yield "failed", bytes([2, 0, 0]) + ready + part(message((1, 2), (2, "exec"))) + part(message((1, -1), (2, "\x1b" * 300)))
    yield "not_confined", bytes([0]) + part(message((1, 1), (2, "load the system call filter")))
    yield "malformed", bytes([3, 2, 2, 0]) + ready + part(b"\xff\xff") + part(b"\x0a\x05ab") + started
    yield "too_long", bytes([1, 2]) + ready + part(b"\xff\xff\xff\x7fabc", RAW)
    yield "cut", bytes([1, 2]) + ready + part(frame(message((1, 3)))[:5], RAW)


def parked_command(ident=b"cm_a", command=1):
    """plan::ParkedCommand."""
    return ident.ljust(32, b"\0") + struct.pack("<QQqqQQQQ", command, 0, 10**9, 31 * 10**9, 0, 5, 0, 0)


def launch_reply(leaf=1, leaf_fds=1, step=0, error=0, slot=7, number=0, said=b"", frozen=0, parked_fds=0, ident=b"",
                 parked=bytes(96)):
    """plan::LaunchReply."""
    head = struct.pack("<IIiIQIIIIII", 1, step, error, slot, number, leaf, leaf_fds, 0, frozen, parked_fds, 0)
    return head + parked + ident.ljust(32, b"\0") + said.ljust(512, b"\0")


def launcher_replies():
    yield "created", bytes([1, 0, 10, 0]) + launch_reply()
    yield "rotated", bytes([2, 1, 1, 11, 0]) + launch_reply(leaf_fds=4) + bytes([8, 0]) + launch_reply(leaf_fds=4)
    yield "waits", bytes([1, 2, 0, 0]) + launch_reply(leaf_fds=0)
    yield "failed", bytes([1, 0, 0, 0]) + launch_reply(step=6, error=28, said=b"no room" * 72)
    yield "late", bytes([1, 0, 0, 0]) + launch_reply(number=9) + bytes([10, 0]) + launch_reply(number=1)
    yield "many", bytes([1, 1, 7, 0]) + launch_reply(leaf_fds=0xFFFFFFFF)
    yield "short", bytes([1, 0, 1, 255]) + b"short"


def layer_replies():
    change = message((1, "/tmp/a"), (2, 1), (3, 0), (4, 12))
    yield "report", bytes([1, 0]) + part(message((2, change), (2, message((1, b"/\xff"), (2, 2))), (3, 1), (4, 1)))
    yield "sides", bytes([2, 1, 1]) + part(message((5, 1), (6, 1)), 2 << 1) + part(message((6, 1)), 1 << 1)
    yield "links", bytes([1, 4]) + part(message((8, "a"), (9, "")))
    yield "kept", bytes([2, 2, 2]) + part(message((1, 95), (7, "not kept"))) + part(b"")
    yield "unknown_kind", bytes([1, 0]) + part(message((2, message((1, "/a"), (2, 250), (3, 9)))))
    yield "no_descriptors", bytes([1, 1]) + part(message((5, 1), (6, 1)), 1 << 1)


def layer_requests():
    def request(verb, index=0, scope=1, room=1):
        return struct.pack("<IIII", verb, scope, room, index)

    yield "report", part(request(0)) + part(request(0, scope=0)) + part(request(1, 0)) + part(request(1, 1))
    yield "open", part(request(0)) + b"".join(part(request(1, index)) for index in range(6))
    yield "keep", part(request(2) + message((1, 1), (2, "sb_a"))) + part(request(2))
    yield "large", part(request(2) + b"x" * (16 * 1024 + 1))
    yield "wrong", part(request(9)) + part(request(0, scope=7)) + part(request(1, 0xFFFFFFFF)) + part(b"short")


def guest_requests():
    def start(operation=None, argv=("true",), extra=()):
        fields = [(1, word) for word in argv] + [(2, "PATH=/bin"), (3, "/"), (4, 1000), *extra]
        return frame(message((2, message(*fields, *([(6, message(operation))] if operation else [])))))

    def case(requests, content=""):
        return text(content) + requests

    yield "configure", case(frame(message((1, message((1, 1), (2, b"\0" * 8), (3, b"\0" * 8), (5, 1 << 30))))))
    yield "command", case(start(extra=[(5, message((1, 24), (2, 80)))]) + start())
    yield "signal", case(frame(message((3, message((1, 1), (2, 15))))))
    yield "read", case(start((1, message((1, "link"), (2, 2), (3, 100)))) + start((1, message((1, "fifo"), (3, 9)))))
    yield "read_loop", case(start((1, message((1, "loop"), (3, 9)))) + start((1, message((1, "dir"), (3, 9)))))
    yield "write", case(start((2, message((1, "made/new/file"), (3, 5)))), "hello")
    yield "append", case(start((2, message((1, "file"), (2, 2), (3, 5)))), "hello")
    yield "write_dangling", case(start((2, message((1, "dangling"), (2, 1), (3, 5)))), "hello")
    yield "write_loop", case(start((2, message((1, "loop"), (3, 2)))), "hi")
    yield "write_cut", case(start((2, message((1, "file"), (3, 9)))), "hello")
    yield "list", case(start((3, message((1, ""), (2, 100)))) + start((3, message((1, "folder_link"), (2, 0)))))
    yield "tree", case(start((7, message((1, ""), (2, 16), (3, 100)))) + start((7, message((1, "folder_link"), (2, 1), (3, 1)))))
    yield "tree_few", case(start((7, message((1, "/"), (2, 2), (3, 3)))) + start((7, message((1, "loop"), (2, 17), (3, 9)))))
    yield "search", case(start((8, message((1, ""), (2, "^(c|o).*t"), (4, 1000)))) + start((8, message((1, "fifo"), (4, 9)))))
    yield "search_glob", case(start((8, message((1, "dir"), (2, "E\\b|^$"), (3, "**/o?h*"), (4, 1), (5, 1)))))
    yield "search_wrong", case(start((8, message((1, "file"), (2, b"(a\xff"), (3, "*"), (4, 9)))))
    yield "list_few", case(start((3, message((1, "/"), (2, 1)))) + start((3, message((1, "fifo"), (2, 9)))))


def launch_requests():
    def request(verb=0, image=0, storage=0, workspace=0, pids=256, ident=b"sb_abcdefghijklmnopqrstuvwxyz", version=1,
                parked=bytes(96), tickets=bytes(32)):
        """plan::LaunchRequest."""
        head = struct.pack("<IIQIIIxxxxQIxxxx", version, verb, 1, 7, 1, 0, 42, 0)
        plan = struct.pack("<IIIIQQI", image, storage, workspace, pids, 1 << 31, 1 << 32, 2000)
        plan += ident.ljust(32, b"\0") + tickets
        return head + plan + bytes(-len(plan) % 8) + parked

    yield "create", request()
    yield "folders", request(image=1, storage=2, workspace=3)
    yield "tickets", request(image=1, workspace=1, tickets=bytes(range(32)))
    yield "park", request(verb=7, parked=parked_command())
    yield "park_endless_id", request(verb=7, parked=parked_command(b"c" * 32))
    yield "adopt", request(verb=10)
    yield "beyond", request(verb=12)
    yield "no_pids", request(pids=0)
    yield "few_pids", request(pids=1)
    yield "path", request(ident=b"../../etc")
    yield "endless_id", request(ident=b"a" * 32)
    yield "verb", request(verb=99)
    yield "version", request(version=2)
    yield "short", request()[:-1]


def storage_requests():
    def request(verb=0, storage=0, name=b"sb_abc", image=b"host-1"):
        return struct.pack("<IIIIQ", verb, 7, storage, 0x70020000, 1 << 30) + name.ljust(32, b"\0") + image.ljust(64, b"\0")

    yield "make", request()
    yield "track", request(verb=1, name=b"")
    yield "no_name", request(name=b"")
    yield "up", request(name=b"..")
    yield "path", request(name=b"a/b")
    yield "image_path", request(verb=1, image=b"x/../../etc")
    yield "endless", request(image=b"a" * 64)
    yield "verb", request(verb=99)


def command_end():
    def case(end, out="", err="", flags=0):
        err = err.encode() if isinstance(err, str) else err
        return bytes([flags]) + text(end) + text(out) + err

    file = message((1, "a"), (2, 0o100644), (3, 5), (4, 1700000000000))
    yield "exited", case(message((1, 1), (2, 3)), "output\n", "errors\n")
    yield "signaled", case(message((1, 1), (3, 9)))
    yield "not_ended", case(message((2, 1)))
    yield "large_signal", case(message((1, 1), (3, 0x7FFFFFFF)))
    yield "negative_code", case(message((1, 1), (2, -1)))
    yield "truncated", case(message((1, 1)), "more than sixteen bytes of it", flags=1)
    yield "read", case(message((1, 1)), message((3, "content"), (4, 7), (7, 1)))
    yield "listed", case(message((1, 1)), message((6, file), (6, message((1, "l"), (2, 0o120777), (5, "a"))), (7, 1)))
    folder, below = message((1, "d"), (2, 0o40755), (6, 1)), message((1, "f"), (2, 0o100644), (6, 2))
    yield "tree", case(message((1, 1)), message((6, folder), (6, below), (7, 1), (8, 1), (9, 2)))
    yield "tree_no_folder", case(message((1, 1)), message((6, below), (6, folder), (7, 1), (9, 2)))
    match = message((1, "d/f"), (2, 7), (3, 1), (4, "a line"))
    yield "matches", case(message((1, 1)), message((7, 1), (8, 1), (10, match), (11, 5), (12, 1)))
    yield "match_outside", case(message((1, 1)), message((7, 1), (10, message((1, "../f"), (2, 1), (3, 1)))))
    yield "wrong_pattern", case(message((1, 1)), message((1, 22), (2, "pattern"), (3, b"missing ): \x1b[2J\xff"), (7, 1)))
    yield "path_as_name", case(message((1, 1)), message((6, message((1, "../../etc/passwd"))), (7, 1)))
    yield "refused", case(message((1, 1)), message((1, 13), (2, "open"), (7, 1)))
    yield "long_step", case(message((1, 1)), message((1, 13), (2, "\x1b[2J" * 2000), (7, 1)))


def kept_record():
    def record(*fields, version=1, first_id=0x70020000):
        return message((1, version), (2, "sb_abcdefghijklmnopqrstuvwxyz"), (3, 1700000000000), (4, first_id), *fields)

    yield "host", record((6, "/home/me/project"))
    yield "directory", record((5, "/srv/image"))
    yield "bytes", record((5, b"/srv/\xff\n"))
    yield "version", record(version=2)
    yield "root_ids", record(first_id=0)
    yield "engine_ids", record(first_id=0x70000000)
    yield "beyond", record(first_id=0x80000000)
    yield "cut", record((5, "/srv"))[:-2]


def door():
    ENGINE, DEPOSIT, FOLDER, FILE = 0, 1, 1, 1 | 1 << 2

    def act(packet, visitor=0, fds=0, leaves=0, listens=1, served=0):
        return bytes([visitor | leaves << 2 | listens << 3 | served << 4, fds]) + text(packet)

    def hello(kind, version=1):
        return struct.pack("<II", version, kind)

    yield "engine", act(hello(ENGINE))
    yield "deposit", act(hello(DEPOSIT), fds=FOLDER)
    yield "two_deposits", act(hello(DEPOSIT), fds=FOLDER) + act(hello(DEPOSIT), fds=FOLDER, listens=0)
    yield "no_folder", act(hello(DEPOSIT)) + act(hello(DEPOSIT), 1, FILE) + act(hello(DEPOSIT), 2, 2)
    yield "version", act(hello(ENGINE, version=2))
    yield "unknown", act(hello(9)) + act(b"short", 1) + act(hello(ENGINE) + b"more", 2) + act(b"", 3)
    yield "gone", act(hello(DEPOSIT), fds=FOLDER, leaves=1, listens=0) + act(b"", leaves=1) + act(hello(ENGINE), served=1)
    yield "engines", b"".join(act(hello(ENGINE), visitor, 3, listens=0) for visitor in range(4))
    yield "deposit_then_engine", act(hello(DEPOSIT), fds=FOLDER, listens=0) + act(hello(ENGINE))


def records():
    SANDBOX, COMMAND, RESULT, SUMMARY = b"\0", b"\1", b"\2", b"\3"

    def result(outcome, *fields):
        return RESULT + message((1, outcome), *fields)

    settings = [(1, 1 << 31), (2, 5 << 30), (3, 2000), (4, 256), (5, 30000), (6, 2), (7, "host"), (8, "/w"), (9, 1)]
    yield "sandbox", SANDBOX + message(*settings, (10, message((1, "A"), (2, "b"))), (11, 60000))
    yield "storage", SANDBOX + message((6, 3))
    yield "workspace_mode", SANDBOX + message((9, 4))
    yield "negative_times", SANDBOX + message((5, -1), (11, -1))
    yield "command", COMMAND + message((1, "sh"), (1, "-c"), (1, b"\xff"), (2, "/"), (3, 1), (4, "uid 0"))
    yield "user", COMMAND + message((3, 7))
    yield "exited", result("exited", (2, 3), (4, 0), (5, 10), (6, 5), (7, 4096), (8, 1))
    yield "failed", result("failed_to_start", (2, 2), (3, "exec"), (4, 1))
    yield "reason", result("failed_to_start", (4, 3))
    yield "changes", result("timed_out", (11, 1), (12, 1), (13, message((1, "/a"), (2, 3), (3, 1), (4, 9))), (14, 1))
    yield "change_kind", result("cancelled", (12, 1), (13, message((1, "/a"), (2, 4))))
    yield "hints", result("out_of_memory", (9, 1), (15, 1), (16, message((1, "code"), (2, "text"), (3, "do"))))
    yield "outcome", result("vanished")
    yield "cut", result("exited", (2, 3))[:-1]
    yield "summary", SUMMARY + message((1, "exited"), (2, 0))
    yield "summary_signal", SUMMARY + message((1, "signaled"), (3, 9))
    yield "summary_outcome", SUMMARY + message((1, "gone"))
    yield "no_summary", SUMMARY


def http_json():
    def case(reader, content):
        return bytes([reader]) + (content.encode() if isinstance(content, str) else content)

    yield "path", case(0, "home/agent/a%20b%2Fc")
    yield "path_above", case(0, "a/%2E%2E%2fb")
    yield "path_bytes", case(0, "%00%ff%C3%A9")
    yield "query", case(1, "state=running&label=a%3Db&label=c+d&limit=7&follow=false&list&stream=stdout")
    yield "query_twice", case(1, "limit=1&limit=2&stat=x")
    yield "range", case(2, "bytes=0-499")
    yield "range_end", case(2, "bytes=-1")
    yield "range_open", case(2, "bytes=9223372036854775807-")
    yield "create", case(3, '{"name":"a","labels":{"k":"v"},"cpus":0.5,"memory_bytes":536870912,"disk_bytes":1073741824,'
                            '"pids":64,"command_timeout_ms":1500,"storage":"tmpfs","env":{"A":"1"},"image":{"ticket":"t"},'
                            '"workspace":{"ticket":"t","mode":"rw"},"idle_timeout_ms":1,"max_lifetime_ms":2,"on_end":"delete"}')
    yield "start", case(3, '{"argv":["sh","-c","\\u0041\\ud83d\\ude00"],"env":{},"cwd":"/tmp","user":"root","timeout_ms":5,'
                           '"input":"open","stdin_base64":"AP8=","report_changes":false,"background":true}')
    yield "tool", case(3, '{"command":"ls | wc","env":{"A":"1"},"cwd":"/tmp","stdin":"a","timeout":2.5e-1,"background":true}')
    yield "tool_argv", case(3, '{"argv":["ls",""],"timeout":31622400}')
    yield "policy", case(3, '{"text":"version = 1","format":"json","name":"a.json"}')
    yield "create_policy", case(3, '{"policy":{"preset":"minimal"}}')
    yield "signal", case(3, '{"signal":"SIGRTMIN+3"}')
    yield "same_name", case(3, '{"pids":1,"pids":2}')
    yield "deep", case(3, "[" * 40 + "]" * 40)
    yield "numbers", case(3, '{"pids":1e400,"cpus":-0.0,"memory_bytes":18446744073709551616}')
    yield "mark", case(3, b"\xef\xbb\xbf{}")
    yield "get", case(4, "GET /healthz?x HTTP/1.1\r\nHost: localhost:80\r\nAccept: */*\r\n\r\n")
    yield "post", case(4, "POST /v1/sandboxes HTTP/1.1\r\nHost: localhost:80\r\nContent-Type: application/json\r\n"
                          "Content-Length: 2\r\n\r\n{}")
    yield "chunks", case(4, "PUT /v1/sandboxes/a/files/x HTTP/1.1\r\nHost: localhost:80\r\n"
                            "Transfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nTrailer: x\r\n\r\n")
    yield "two_lengths", case(4, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n")
    yield "folded", case(4, "GET / HTTP/1.1\r\nHost: x\r\n y\r\n\r\n")
    yield "output_id", case(5, "12,34")


def program_index():
    def elf(kind, *segments, bits=64):
        """Each segment is its type and content."""
        header_size, segment_size = (64, 56) if bits == 64 else (52, 32)
        start = header_size + len(segments) * segment_size
        table = contents = b""
        for number, content in segments:
            place = start + len(contents)
            if bits == 64:
                table += struct.pack("<IIQQQQQQ", number, 0, place, 0, 0, len(content), 0, 0)
            else:
                table += struct.pack("<IIIIIIII", number, place, 0, 0, len(content), 0, 0, 0)
            contents += content
        ident = b"\x7fELF" + bytes([2 if bits == 64 else 1, 1, 1]) + bytes(9)
        shape = "<HHIQQQIHHHHHH" if bits == 64 else "<HHIIIIIHHHHHH"
        rest = struct.pack(shape, kind, 62, 1, 0, header_size, 0, 0, header_size, segment_size, len(segments), 0, 0, 0)
        return ident + rest + table + contents

    def entry(name, path, interpreter="", argument=""):
        return 1, message((1, name), (2, path), (3, path), (4, interpreter), (5, argument))

    def folder(path, *children):
        return 4, message((1, path), *((2, child) for child in children))

    interp, dynamic, pie = 3, 2, struct.pack("<QQ", 0x6FFFFFFB, 0x08000000) + bytes(16)
    image = message(
        entry("bash", "/usr/bin/bash"), entry("pip", "/usr/bin/pip", "/usr/bin/env", "python3"), (2, "/usr/bin/bash"),
        (2, "/usr/bin/rm"), (3, "/lib/ld.so"), folder("/", "usr"), folder("/usr", "bin", "share"),
        folder("/usr/bin", "bash", "pip", "rm"), (5, "/usr"))
    yield "program", text(elf(3, (interp, b"/lib/ld.so\0"), (dynamic, pie))) + image
    yield "program_32", text(elf(2, (interp, b"/lib/ld.so\0"), bits=32)) + image
    yield "library", text(elf(3, (dynamic, struct.pack("<QQ", 14, 1)))) + message((2, "/b"), (2, "/a"))
    yield "cut", text(elf(3, (interp, b"/lib/ld.so\0"))[:70]) + image[:-3]
    yield "script", text("#! /usr/bin/env python3 -u\n") + message(entry("..", "/x"))
    yield "long_script", text("#!/" + "x" * 300) + message((2, "/usr/../x"))
    yield "twice", text("#!/bin/sh\0 x\n") + message(folder("/usr", "a"), folder("/usr", "b"))
    yield "busybox", text("") + message(*(entry(name, "/bin/busybox") for name in ("busybox", "ls", "sh")), (2, "/bin/busybox"))


def main():
    targets = [
        mountinfo, kernel_text, command_line, event_stream, line_diff, file_patch, hints, guest_replies, launcher_replies,
        layer_replies, layer_requests, guest_requests, launch_requests, storage_requests, command_end, kept_record, door,
        records, http_json, shell_text, document, template, policy_file, program_index, tool_call, audit_reader]
    for target in targets:
        folder = CORPUS / target.__name__
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in target():
            (folder / f"seed_{name}").write_bytes(content.encode() if isinstance(content, str) else content)


if __name__ == "__main__":
    main()
