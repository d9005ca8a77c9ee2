#!/usr/bin/env python3
"""Tests what ./dev real reads from test programs, how it compares two runs, and what it refuses."""

import dataclasses
import sys
import unittest

sys.dont_write_bytecode = True

from real import counts, manifest, page, places  # noqa: E402

PROJECT = """
[[project]]
name = "one"
language = "C"
version = "1"
registry = "pypi"
archive = "one-1.tar.gz"
sha256 = "{digest}"
folder = "one-1"
stresses = "nothing"
format = "go"
test = "true"
{more}
"""


def project(more=""):
    return manifest.parse(PROJECT.format(digest="a" * 64, more=more))[0]


def run(status=0, **outcomes):
    return places.Run(status, 1.0, counts.Outcomes(outcomes), None)


class Formats(unittest.TestCase):
    def expect(self, form, text, expected):
        self.assertEqual(dict(counts.read(form, text)), expected)

    def test_pytest(self):
        self.expect("pytest", "x.py .Fs\n= short test summary info =\nPASSED x.py::a\nFAILED x.py::b - assert 0\n"
                    "XFAIL x.py::c\nERROR x.py::d\nSKIPPED [2] x.py:9: no gpu\n1 failed\n",
                    {"x.py::a": "passed", "x.py::b": "failed", "x.py::c": "skipped", "x.py::d": "failed",
                     "x.py:9: no gpu [1]": "skipped", "x.py:9: no gpu [2]": "skipped"})

    def test_tap(self):
        text = "1..3\nok 1 - a\n    not ok 1 - inner\nnot ok 2 - b\nok 3 - c # SKIP no tty\n"
        self.expect("tap", text, {"1 a": "passed", "2 b": "failed", "3 c": "skipped"})
        self.expect("tap_names", text, {"a": "passed", "b": "failed", "c": "skipped"})

    def test_automake(self):
        self.expect("automake", "PASS: a\nXFAIL: b\nSKIP: c\nFAIL: d.sh\n# PASS:  1\n",
                    {"a": "passed", "b": "passed", "c": "skipped", "d.sh": "failed"})

    def test_ctest(self):
        self.expect("ctest", " 1/3 Test  #1: a ......   Passed    0.01 sec\n 2/3 Test  #2: b ......***Failed    0.01 sec\n"
                    " 3/3 Test #3: c_d ....***Skipped   1.00 sec\n", {"a": "passed", "b": "failed", "c_d": "skipped"})

    def test_go(self):
        self.expect("go", "--- PASS: TestA (0.00s)\n    --- SKIP: TestA/b (0.00s)\n--- FAIL: TestC (1.00s)\nFAIL\n",
                    {"TestA": "passed", "TestA/b": "skipped", "TestC": "failed"})

    def test_cargo(self):
        self.expect("cargo", "     Running unittests src/lib.rs (target/x)\ntest a ... ok\n"
                    "     Running test/t.rs (target/y)\ntest a ... ignored\ntest b - should panic ... ok\ntest c ... FAILED\n",
                    {"src/lib.rs a": "passed", "test/t.rs a": "skipped", "test/t.rs b": "passed", "test/t.rs c": "failed"})

    def test_junit(self):
        self.expect("junit", "..E\nThere was 1 failure:\n1) testA(org.B)\njava.lang.Error\nTests run: 2,  Failures: 1\n",
                    {"testA(org.B)": "failed", "#1": "passed"})
        self.expect("junit", "..\nOK (1 test)\n", {"#1": "passed"})
        self.expect("junit", "Exception in thread main\n", {})

    def test_redis(self):
        self.expect("redis", "[\x1b[0;32mok\x1b[0m]: A b (12 ms)\n[err]: C in tests/x.tcl\n[ignore]: D: large\n",
                    {"A b": "passed", "C in tests/x.tcl": "failed", "D: large": "skipped"})

    def test_the_worst_outcome_of_a_name_counts(self):
        self.expect("go", "--- PASS: A\n--- FAIL: A\n--- PASS: A\n", {"A": "failed"})


class Comparison(unittest.TestCase):
    def test_alike(self):
        result = page.result_of(project(), run(a="passed"), run(a="passed"))
        self.assertEqual(result["differences"], [])
        self.assertEqual(page.complaints(project(), result), [])

    def test_a_difference_needs_a_reason(self):
        result = page.result_of(project(), run(a="passed", b="passed"), run(1, a="failed", b="passed"))
        self.assertEqual(result["differences"], [["a", "passed", "failed"]])
        self.assertEqual(page.complaints(project(), result), ["one: a differs and nobody says why"])
        explained = project('[[project.differences]]\ntests = "a"\nwhy = "no network"')
        self.assertEqual(page.complaints(explained, result), [])
        self.assertIn("- no network\n  `a` (passed → failed)", page.render([explained], {"one": result}))

    def test_a_reason_covers_whole_names(self):
        explained = project('[[project.differences]]\ntests = "a"\nwhy = "no network"')
        self.assertIsNone(explained.explanation("ab"))

    def test_a_test_that_is_missing_inside_differs(self):
        result = page.result_of(project(), run(a="passed", b="passed"), run(a="passed"))
        self.assertEqual(result["differences"], [["b", "passed", "absent"]])

    def test_exit_status_and_empty_runs(self):
        self.assertTrue(page.complaints(project(), page.result_of(project(), run(0, a="passed"), run(1, a="passed"))))
        self.assertTrue(page.complaints(project(), page.result_of(project(), run(), run())))

    def test_the_page_must_fit(self):
        result = page.result_of(project(), run(a="passed"), run(a="passed"))
        text = page.render([project()], {"one": result})
        self.assertEqual(page.check([project()], {"one": result}, text), [])
        self.assertTrue(page.check([project()], {"one": result}, text + " "))
        self.assertTrue(page.check([project()], {}, text))
        self.assertIn("without a result yet: one.", page.render([project()], {}))
        self.assertTrue(page.check([], {"one": result}, text))
        newer = dataclasses.replace(project(), version="2")
        self.assertTrue(page.check([newer], {"one": result}, page.render([newer], {"one": result})))


class Manifest(unittest.TestCase):
    def refused(self, text, part):
        with self.assertRaisesRegex(manifest.ManifestError, part):
            manifest.parse(text)

    def test_refused(self):
        self.refused(PROJECT.format(digest="a", more=""), "sha256")
        self.refused(PROJECT.format(digest="a" * 64, more="speed = 1"), "unknown speed")
        self.refused(PROJECT.format(digest="a" * 64, more="") * 2, "named twice: one")
        with self.assertRaisesRegex(manifest.ManifestError, "no project two"):
            manifest.select([project()], ["two"])

    def test_the_real_one(self):
        projects = manifest.load()
        self.assertGreaterEqual(len(projects), 12)
        languages = {word for one in projects for word in one.language.split(", ")}
        self.assertLessEqual({"Python", "C", "C++", "Go", "Rust", "JavaScript", "Java"}, languages)
        for one in projects:
            self.assertIn(one.format, counts.FORMATS, one.name)


if __name__ == "__main__":
    unittest.main()
