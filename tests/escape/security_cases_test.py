#!/usr/bin/env python3
"""What security_cases.py must find, and what it must accept."""

import unittest

from security_cases import Probe, document, problems_of

PROBES = [Probe("canary_read", "A1", "read a file"), Probe("pipe_hoard", "H5", "hoard pipes")]
EXPECTATIONS = {"canary_read": ("succeeded", "ENOENT", "ENOENT"), "pipe_hoard": ("succeeded", "*", "EPERM|EAGAIN")}
CASES = [
    {"id": "A1", "what": "a path leads out", "tests": ["os.fd_test"]},
    {"id": "A8", "what": "an archive", "reason": "not built"},
    {"id": "E7", "what": "memory", "also": ["pipe_hoard"], "note": "and more"},
    {"id": "H5", "what": "pipes"},
]


def problems(cases=None, probes=None, expectations=None) -> list:
    return problems_of(
        CASES if cases is None else cases,
        PROBES if probes is None else probes,
        EXPECTATIONS if expectations is None else expectations,
        exists=lambda name: name == "os.fd_test",
    )


class ProblemsTest(unittest.TestCase):
    def test_a_sound_table_has_none(self):
        self.assertEqual(problems(), [])

    def test_a_case_that_nothing_holds(self):
        self.assertEqual(
            problems(CASES + [{"id": "B1", "what": "x"}]), ["case B1: neither a probe nor a test nor a reason"]
        )

    def test_a_probe_that_does_not_exist(self):
        case = {"id": "B1", "what": "x", "also": ["no_such"]}
        self.assertEqual(problems(CASES + [case]), ["case B1: there is no probe no_such"])

    def test_a_test_that_does_not_exist(self):
        case = {"id": "B1", "what": "x", "tests": ["os.no_such_test"]}
        self.assertEqual(problems(CASES + [case]), ["case B1: there is no test os.no_such_test"])

    def test_a_probe_without_a_case(self):
        probe = Probe("lost", "C1", "act")
        expectations = {**EXPECTATIONS, "lost": ("succeeded", "EPERM", "EPERM")}
        self.assertEqual(problems(None, PROBES + [probe], expectations), ["probe lost: there is no case C1"])

    def test_a_probe_without_an_expectation(self):
        self.assertIn("probe canary_read: no line in expectations.txt", problems(expectations={"pipe_hoard": ("-",)}))

    def test_an_expectation_without_a_probe(self):
        self.assertEqual(
            problems(expectations={**EXPECTATIONS, "gone": ("-", "-", "-")}),
            ["expectations.txt: there is no probe gone"],
        )

    def test_ids_and_fields_that_are_none(self):
        self.assertIn("case A1 is there twice", problems(CASES + CASES[:1]))
        self.assertIn("case Z1: no such section", problems(CASES + [{"id": "Z1", "what": "x", "reason": "y"}]))
        self.assertIn("case B1: unknown field why", problems(CASES + [{"id": "B1", "what": "x", "why": "y"}]))


class DocumentTest(unittest.TestCase):
    def test_holds_cases_probes_and_expectations(self):
        text = document(CASES, PROBES, EXPECTATIONS)
        self.assertIn("| A1 | a path leads out | 1 probe, `os.fd_test` |", text)
        self.assertIn("| A8 | an archive | not built |", text)
        self.assertIn("| E7 | memory | `pipe_hoard`; and more |", text)
        self.assertIn("| H5 | `pipe_hoard` | hoard pipes | succeeded | not judged | EPERM or EAGAIN |", text)
        self.assertIn("4 cases of the tier `process`, 2 probes. Held by neither probe nor test, for the reason given: 1 cases", text)


if __name__ == "__main__":
    unittest.main()
