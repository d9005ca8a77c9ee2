#!/usr/bin/env python3
"""Writes the table of docs/fault-injection.md from the lines that fault_test --results left: table.py FILE... DOCUMENT"""

import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools"))
import document_part


def read_cases(paths):
    for path in paths:
        with open(path, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                fields = line.rstrip("\n").split("\t")
                if len(fields) >= 7:
                    yield fields


def make_table(cases):
    calls = collections.defaultdict(lambda: {"errors": set(), "runs": set(), "sites": set(), "verdicts": collections.Counter()})
    for storage, scenario, role, call, ordinal, error, verdict, *_ in cases:
        run = storage if scenario == "plain" else f"{storage} with {scenario}"
        row = calls[role, call]
        row["errors"].add(error)
        row["runs"].add(run)
        row["sites"].add((run, ordinal))
        row["verdicts"][verdict] += 1
    total = collections.Counter()
    lines = ["| Role | Call | Runs | Places | Errors | Succeeded | Refused | Collected after | Not reached |",
             "|---|---|---|---|---|---|---|---|---|"]
    for (role, call), row in sorted(calls.items()):
        verdicts = row["verdicts"]
        total.update(verdicts)
        count = lambda start: sum(n for verdict, n in verdicts.items() if verdict.startswith(start))
        collected = sum(n for verdict, n in verdicts.items() if verdict.endswith("collected"))
        lines.append(f"| {role} | `{call}` | {', '.join(sorted(row['runs']))} | {len(row['sites'])} | "
                     f"{', '.join(sorted(row['errors']))} | {count('succeeded')} | {count('refused')} | {collected} | "
                     f"{count('not reached')} |")
    summary = ", ".join(f"{n} {verdict}" for verdict, n in sorted(total.items()))
    return f"{sum(total.values())} cases: {summary}.\n\n" + "\n".join(lines) + "\n"


def main(arguments):
    *results, document = arguments
    document_part.write(pathlib.Path(document), "table", make_table(read_cases(results)))


if __name__ == "__main__":
    main(sys.argv[1:])
