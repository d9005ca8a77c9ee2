"""Reads the output of test programs: the outcome of each test that it names, and the counts.

Each format is a function from text to {name: outcome}, with an outcome of PASSED, FAILED or SKIPPED. A test that is named
twice keeps its worst outcome.
"""

import re

PASSED, SKIPPED, FAILED = "passed", "skipped", "failed"
WORST = (PASSED, SKIPPED, FAILED)


class Outcomes(dict):
    """{name: outcome}; what is added twice under one name is counted twice when the format says so."""

    def add(self, name, outcome):
        known = self.get(name, PASSED)
        self[name] = max(known, outcome, key=WORST.index)

    def count(self, outcome):
        return sum(1 for found in self.values() if found == outcome)


def by_lines(text, pattern, outcomes):
    """Outcomes of the lines that match; the pattern has the groups `name` and `word`, `outcomes` maps words."""
    found = Outcomes()
    for match in re.finditer(pattern, text, re.MULTILINE):
        word = match["word"]
        if word in outcomes:
            found.add(match["name"].strip(), outcomes[word])
    return found


def pytest(text):
    """`pytest -rA`: the lines of the short summary."""
    summary = text.rpartition("short test summary info")[2]
    found = by_lines(summary, r"^(?P<word>PASSED|XPASS|XFAIL|FAILED|ERROR) (?P<name>\S+)", {
        "PASSED": PASSED, "XPASS": PASSED, "XFAIL": SKIPPED, "FAILED": FAILED, "ERROR": FAILED})
    # Skips are folded: SKIPPED [2] tests/x_test.py:12: reason
    for match in re.finditer(r"^SKIPPED \[(\d+)\] (.*)", summary, re.MULTILINE):
        for number in range(int(match[1])):
            found.add(f"{match[2].strip()} [{number + 1}]", SKIPPED)
    return found


def tap(text):
    """The Test Anything Protocol; only tests of the outermost level."""
    found = Outcomes()
    for match in re.finditer(r"^(not ok|ok)\b *(\d*)(?: -)? *(.*)", text, re.MULTILINE):
        name, _, directive = match[3].partition(" # ")
        skipped = directive.upper().startswith(("SKIP", "TODO"))
        found.add(f"{match[2]} {name}".strip(), SKIPPED if skipped else PASSED if match[1] == "ok" else FAILED)
    return found


def tap_names(text):
    """TAP, where the number of a test depends on the order in which tests end."""
    found = Outcomes()
    for name, outcome in tap(text).items():
        found.add(name.partition(" ")[2] or name, outcome)
    return found


def automake(text):
    return by_lines(text, r"^(?P<word>PASS|XPASS|FAIL|XFAIL|SKIP|ERROR): (?P<name>.*)", {
        "PASS": PASSED, "XFAIL": PASSED, "SKIP": SKIPPED, "FAIL": FAILED, "XPASS": FAILED, "ERROR": FAILED})


def jq(text):
    """The test programs of Automake, and the numbered tests of jq's own runner: the log of each says "Test #N: ..."."""
    found = automake(text)
    failing = {int(match[1]) for match in re.finditer(r"^\*\*\* .* test program at line (\d+)", text, re.MULTILINE)}
    for match in re.finditer(r"^Test #(\d+): (.*) at line number (\d+)$", text, re.MULTILINE):
        found.add(f"{match[1]} {match[2]}", FAILED if int(match[3]) in failing else PASSED)
    return found


def jsoncpp(text):
    """Its unit tests, "Testing Suite/name: OK", and its runner's "TESTING: file OK" lines."""
    return by_lines(text, r"^(?:Testing|TESTING:) (?P<name>\S+?):? (?P<word>OK|FAILED)\b", {"OK": PASSED, "FAILED": FAILED})


def ctest(text):
    return by_lines(text, r"Test +#\d+: (?P<name>\S+) \.*(?:\*\*\*)? *(?P<word>\w+)", Words({
        "Passed": PASSED, "Skipped": SKIPPED, "Disabled": SKIPPED}, FAILED))


def go(text):
    """`go test -v`."""
    return by_lines(text, r"^ *--- (?P<word>PASS|SKIP|FAIL): (?P<name>\S+)",
                    {"PASS": PASSED, "SKIP": SKIPPED, "FAIL": FAILED})


def cargo(text):
    """`cargo test`; the name of the test program goes before each test's, since two may have the same."""
    found = Outcomes()
    program = ""
    for line in text.splitlines():
        if match := re.match(r" *(?:Running (?:unittests )?(\S+)|Doc-tests (\S+))", line):
            program = match[1] or f"doc {match[2]}"
        elif match := re.match(r"test (.*?)(?: - should panic)? \.\.\. (.*)", line):
            word = re.search(r"(ok|ignored|FAILED)\b[^.]*$", match[2])
            if word:
                found.add(f"{program} {match[1]}", {"ok": PASSED, "ignored": SKIPPED, "FAILED": FAILED}[word[1]])
    return found


def junit(text):
    """JUnit 4's text runner: counts, and names of failures only. What passed gets a number for a name."""
    found = Outcomes()
    for match in re.finditer(r"^\d+\) (\S+)$", text, re.MULTILINE):
        found.add(match[1], FAILED)
    if match := re.search(r"^OK \((\d+) tests?\)", text, re.MULTILINE):
        total = int(match[1])
    elif match := re.search(r"^Tests run: (\d+), ", text, re.MULTILINE):
        total = int(match[1])
    else:
        return Outcomes()
    for number in range(total - len(found)):
        found.add(f"#{number + 1}", PASSED)
    return found


def redis(text):
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return by_lines(plain, r"^\[(?P<word>ok|err|exception|ignore|skip)\]: (?P<name>.*?)(?: \(\d+ ms\))?$", {
        "ok": PASSED, "err": FAILED, "exception": FAILED, "ignore": SKIPPED, "skip": SKIPPED})


class Words(dict):
    """A dict that knows every word: what it does not hold has one value."""

    def __init__(self, words, other):
        super().__init__(words)
        self.other = other

    def __contains__(self, word):
        return True

    def __missing__(self, word):
        return self.other


FORMATS = {reader.__name__: reader for reader in
           (pytest, tap, tap_names, automake, ctest, go, cargo, junit, redis, jq, jsoncpp)}


def read(form, text):
    return FORMATS[form](text)
