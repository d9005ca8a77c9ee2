"""Seeds of the audit record: files to read, chains to spoil, and what a sandbox may make a record hold."""

import hashlib

from seed_parts import text

SANDBOX = "sb_abcdefghijklmnopqrstuvwxyz"


def chain(count):
    """Lines as src/caisson/record/chain.h describes them."""
    lines, prev = [], hashlib.sha256(f"caisson audit 1\n{SANDBOX}".encode()).hexdigest()
    for seq in range(1, count + 1):
        line = (f'{{"ts":"2027-01-01T00:00:00.000Z","seq":{seq},"sandbox":"{SANDBOX}","kind":"step","tool":"t{seq}",'
                f'"outcome":"exited","prev":"{prev}"}}')
        prev = hashlib.sha256((prev + line).encode()).hexdigest()
        lines.append(f'{line[:-1]},"hash":"{prev}"}}')
    return lines


def audit_reader():
    read, spoil, write = b"\0", b"\1", b"\2"
    lines = chain(3)
    yield "chain", read + "\n".join([*lines, ""]).encode()
    yield "torn", read + "\n".join([*lines[:2], lines[2][:50]]).encode()
    yield "swapped", read + "\n".join([lines[0], lines[2], lines[1], ""]).encode()
    yield "copied", read + "\n".join([lines[0], lines[0], "", "{}", "[]"]).encode()
    for operation in range(5):
        yield f"spoil_{operation}", spoil + bytes([6, operation, 2, 3, 80, 7])
    plain = text("run_command") + text('{"command":"echo \1","n":[1,-2.5e3,1e999],"password":"a"}') + text("a b")
    yield "plain", write + b"\0\0" + plain + "out \1 \x1b[2J\n".encode()
    yield "cut", write + b"\xff\x0f" + plain + b"x" * 4080 + b"\1" + b"y" * 40
    yield "keys", write + b"\0\0" + text("t") + text("not json \1 \\u005aq9") + text("r") + (
        "AKIAIOSFODNN7EXAMPLE ghp_" + "a" * 36 + " Authorization: Bearer x\npassword='\1' token=a&x https://u:p@h/ "
        "-----BEGIN PRIVATE KEY-----\nA\n-----END PRIVATE KEY-----eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl").encode()
    yield "bytes", write + b"\0\0" + text(b"\xff\xfe\0") + text(b'"\xc3') + text("\u202e\u2028") + b"\xed\xa0\x80%5a%71\r\n\x7f\xc2\x9b"
