"""From what was measured to tables: as text, as Markdown, as JSON. Decides nothing and measures nothing."""

import json
import math
import textwrap

FLOOR, BUBBLEWRAP, NATIVE = "unshare", "bubblewrap", "no sandbox"
NOTHING = "-"
TEXT_WIDTH = 110
CALLS = {
    "getppid": "getppid", "clock_gettime": "clock_gettime", "open_close": "open, close", "pipe_round_trip": "pipe",
    "process": "process", "small_file": "4 KiB file", "write_mib": "write", "read_mib": "read",
}
INTRODUCTION = """\
# Caisson and its peers, side by side

Written by `./dev bench --peers --write-docs`; do not edit. All peers were measured in one run, in a new order each round,
as root, with the same files: the host's `/usr` and `/etc`, read-only, and a `/tmp` in memory. Numbers are medians unless
a column says otherwise. A number here is true of the machine below on that day; ratios carry further than milliseconds.
A failure is counted, and has no time. Docker Engine and gVisor take part in every fifth round, and the library's benchmark
takes ten samples at a time.

![Plot of the tables below](peers.svg)
"""
NOTES = """\
## What is not the same

A number is only fair beside what it buys. What is here is set up by the command lines that were measured, which is not
all that each can do.
"""


class Data:
    """What main.py collected, or read back from JSON."""

    def __init__(self, machine, options, peers, series):
        self.machine, self.options, self.peers = machine, options, peers
        self.series = {(one["measure"], one["peer"]): one for one in series}

    @classmethod
    def from_json(cls, text):
        read = json.loads(text)
        return cls(read["machine"], read["options"], read["peers"], read["series"])

    def samples(self, measure, peer):
        return self.series.get((measure, peer), {}).get("samples", [])

    def failures(self, measure, peer):
        return self.series.get((measure, peer), {}).get("failures", 0)

    def measured(self):
        return [peer for peer in self.peers if not peer["reason"]]

    def median(self, measure, peer):
        return percentile(self.samples(measure, peer), 50)

    def ratio(self, measure, peer, base):
        own, other = self.median(measure, peer), self.median(measure, base)
        return own / other if own is not None and other else None

    def as_json(self):
        return json.dumps({"machine": self.machine, "options": self.options, "peers": self.peers,
                           "series": list(self.series.values())}, indent=1) + "\n"


def percentile(samples, percent):
    """The nearest rank: the smallest sample that at least so many percent do not exceed. None without samples."""
    if not samples:
        return None
    return sorted(samples)[max(0, math.ceil(len(samples) * percent / 100) - 1)]


def number(value, digits=3):
    """A number with so many significant digits, never with an exponent."""
    if value is None:
        return NOTHING
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    return f"{value:,.{decimals}f}"


class Table:
    """Rows of text; the first column is a name, the others are numbers unless `words`."""

    def __init__(self, title, note, columns, rows, words=False):
        self.title, self.note, self.columns, self.rows, self.words = title, note, columns, rows, words

    def as_text(self):
        widths = [max(len(row[i]) for row in [self.columns, *self.rows]) for i in range(len(self.columns))]
        lines = [self.title, *textwrap.wrap(self.note, TEXT_WIDTH)]
        for row in [self.columns, *self.rows]:
            cells = [cell.ljust(width) if self.words or i == 0 else cell.rjust(width)
                     for i, (cell, width) in enumerate(zip(row, widths))]
            lines.append("  " + "  ".join(cells).rstrip())
        return "\n".join(lines) + "\n"

    def as_markdown(self):
        lines = [f"## {self.title}", ""] + ([self.note, ""] if self.note else [])
        return "\n".join(lines) + "\n" + self.grid_as_markdown()

    def grid_as_markdown(self):
        """The rows alone."""
        rule = [":---" if self.words or i == 0 else "---:" for i in range(len(self.columns))]
        return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |\n"
                       for row in [self.columns, rule, *self.rows])


def times(data, measure, title, note):
    rows = []
    for peer in data.measured():
        name = peer["name"]
        samples, failures = data.samples(measure, name), data.failures(measure, name)
        if samples or failures:
            rows.append([name, str(len(samples)), str(failures), number(min(samples, default=None))]
                        + [number(percentile(samples, percent)) for percent in (50, 99)]
                        + [number(data.ratio(measure, name, base)) for base in (FLOOR, BUBBLEWRAP)])
    columns = ["peer", "n", "failed", "min ms", "p50 ms", "p99 ms", "× unshare", "× bubblewrap"]
    return Table(title, note, columns, rows)


def crowds(data, counts):
    columns = ["peer"] + [text for count in counts for text in (f"{count}: ms", "failed")]
    rows = []
    for peer in data.measured():
        cells = [text for count in counts for text in (number(data.median(f"at_once_{count}", peer["name"])),
                                                       str(data.failures(f"at_once_{count}", peer["name"])))]
        rows.append([peer["name"], *cells])
    note = "Started together, each runs `true`: until the last has ended. A failure is one sandbox."
    return Table("At once", note, columns, rows)


def alive(data):
    rows = []
    for peer in data.measured():
        name = peer["name"]
        failures = data.failures("alive_pss", name)
        if failures or data.samples("alive_pss", name):
            rows.append([name, number(data.median("alive", name), 1), str(failures),
                         number(data.median("alive_pss", name)), number(data.median("alive_start", name))])
    note = ("Each with a `sleep` in it. PSS: the memory of all processes that belong to them, a page that several share "
            "counted in parts, without the `sleep` (gVisor's is a part of its kernel) and without Docker's daemon. runc "
            "and crun leave nothing running but the `sleep`: whoever uses them has a supervisor, which is not counted.")
    return Table("Alive", note, ["peer", "alive", "failed", "PSS each, MiB", "to start one, ms"], rows)


def calls(data):
    columns = ["peer", *CALLS.values()]
    measures = ["calls_" + name for name in CALLS]
    rows = []
    native = [data.median(measure, NATIVE) for measure in measures]
    if any(native):
        units = [" MiB/s" if measure.endswith("_mib") else "/s" for measure in measures]
        rows.append([NATIVE, *(number(value) + unit if value else NOTHING for value, unit in zip(native, units))])
    for peer in data.measured():
        ratios = [data.ratio(measure, peer["name"], NATIVE) for measure in measures]
        if peer["name"] != NATIVE and any(ratios):
            cells = [number(ratio * 100) + " %" if ratio is not None else NOTHING for ratio in ratios]
            rows.append([peer["name"], *cells])
    note = ("How often a second one process gets a thing done; for the peers, in percent of that without a sandbox. pipe: a "
            "byte to another process and back; process: started and ended; 4 KiB file: made, written, removed; write, "
            "read: blocks of 1 MiB.")
    return Table("Inside", note, columns, rows)


def work(data):
    rows = []
    for peer in data.measured():
        name = peer["name"]
        cells = []
        for measure in ("build", "tests"):
            cells += [number(data.median(measure, name)), number(data.ratio(measure, name, NATIVE)),
                      str(data.failures(measure, name))]
        if any(data.samples(measure, name) or data.failures(measure, name) for measure in ("build", "tests")):
            rows.append([name, *cells])
    note = ("A program of 25 C files built with `make -j2`, and the test suite of a Python project, each in a fresh "
            "sandbox.")
    return Table("Real work", note,
                 ["peer", "build ms", "× outside", "failed", "tests ms", "× outside", "failed"], rows)


def measured_tables(data):
    """All tables that have a row."""
    return [table for table in (
        times(data, "start", "Start", "A sandbox made, `true` run in it, removed. `caisson library`: one engine makes them "
                                      "all, as a daemon does; the others are a process each time."),
        times(data, "exec", "Another command", "`true` in a sandbox that is there. `unshare`: with `nsenter`, which "
                                               "confines nothing."),
        crowds(data, data.options["at_once"]), alive(data), calls(data), work(data)) if table.rows]


def summary(data):
    """One row for each peer, of the medians that say most."""
    first, last = data.options["at_once"][0], data.options["at_once"][-1]
    columns = ["peer", "start, ms", "× bubblewrap", "another command, ms", f"{first} at once, ms", f"{last} at once, ms",
               "PSS each, MiB", "build × outside", "tests × outside", "failed"]
    rows = []
    for peer in data.measured():
        name = peer["name"]
        values = [data.median("start", name), data.ratio("start", name, BUBBLEWRAP), data.median("exec", name),
                  data.median(f"at_once_{first}", name), data.median(f"at_once_{last}", name),
                  data.median("alive_pss", name), data.ratio("build", name, NATIVE), data.ratio("tests", name, NATIVE)]
        failures = sum(one["failures"] for (_, owner), one in data.series.items() if owner == name)
        rows.append([name, *(number(value) for value in values), str(failures)])
    return Table("", "", columns, rows)


def versions(data):
    rows = [[peer["name"], peer["version"] or NOTHING, peer["reason"] or "yes"] for peer in data.peers]
    return Table("Versions", "", ["peer", "version", "measured"], rows, words=True)


def differences(data):
    peers = data.measured()
    columns = ["peer", *(peers[0]["facts"] if peers else ())]
    rows = [[peer["name"], *peer["facts"].values()] for peer in peers]
    return Table("What is not the same", "", columns, rows, words=True)


def first_failures(data):
    rows = [[one["peer"], one["measure"], str(one["failures"]), one["first_failure"].replace("`", "'")]
            for one in data.series.values() if one["failures"]]
    return Table("Failures", "", ["peer", "measure", "failed", "the first one's reason"], rows, words=True)


def as_text(data):
    tables = [*measured_tables(data), versions(data), first_failures(data)]
    return "\n".join(table.as_text() for table in tables if table.rows)


def as_markdown(data):
    facts = [[key, str(value)] for key, value in data.machine.items()]
    machine = Table("Machine", "", ["what", "value"], facts, words=True)
    unlike = differences(data).grid_as_markdown()
    parts = [INTRODUCTION, *(table.as_markdown() for table in measured_tables(data)), NOTES + "\n" + unlike]
    parts += [table.as_markdown() for table in (machine, versions(data), first_failures(data)) if table.rows]
    return "\n".join(parts)
