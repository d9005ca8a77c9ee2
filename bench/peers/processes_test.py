#!/usr/bin/env python3
"""Programs with a deadline, and nothing left of them. Needs no privilege."""

import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import processes
from processes import Failed

SHORT_S = 0.05
LONG_S = 50


class Processes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        processes.become_subreaper()

    def tearDown(self):
        processes.reap_orphans()
        self.assertEqual(processes.descendants(os.getpid()), set())

    def test_what_exits_with_0_has_a_time(self):
        with processes.Diagnostics() as diagnostics:
            self.assertGreater(processes.time_once(["/bin/true"], diagnostics, LONG_S), 0)

    def test_a_failure_has_a_status_and_what_was_said(self):
        with processes.Diagnostics() as diagnostics:
            for _ in range(2):  # what was said is taken once
                with self.assertRaisesRegex(Failed, "^status 3: so it  ?is$"):
                    processes.time_once(["/bin/sh", "-c", "echo 'so it is' >&2; exit 3"], diagnostics, LONG_S)
            with self.assertRaisesRegex(Failed, "^status 137: $"):
                processes.time_once(["/bin/sh", "-c", "kill -KILL $$"], diagnostics, LONG_S)

    def test_a_program_that_is_not_there_is_a_failure(self):
        with processes.Diagnostics() as diagnostics, self.assertRaisesRegex(Failed, "cannot start /nonexistent"):
            processes.time_once(["/nonexistent"], diagnostics, LONG_S)
        with self.assertRaisesRegex(Failed, "cannot start /nonexistent"):
            processes.output_of(["/nonexistent"], LONG_S)

    def test_at_the_deadline_it_ends_with_all_below_it(self):
        script = "sleep 1000 & setsid sleep 1000 & wait"
        with processes.Diagnostics() as diagnostics, self.assertRaisesRegex(Failed, "did not end"):
            processes.time_once(["/bin/sh", "-c", script], diagnostics, SHORT_S)
        with self.assertRaisesRegex(Failed, "did not end"):
            processes.output_of(["/bin/sh", "-c", script], SHORT_S)

    def test_output_is_what_was_printed(self):
        out, took_s = processes.output_of(["/bin/echo", "said"], LONG_S)
        self.assertEqual(out, "said\n")
        self.assertGreater(took_s, 0)

    def test_a_background_program_is_ready_when_it_says_so_and_then_stops(self):
        program = processes.Background(["/bin/sh", "-c", "sleep 1000 & echo ready; sleep 1000"], LONG_S)
        self.assertEqual(program.first_line, "ready")
        self.assertGreater(processes.pss_bytes(program.pid), 0)
        program.stop()

    def test_a_background_program_that_is_never_ready_is_a_failure(self):
        with self.assertRaisesRegex(Failed, "before it was ready: it broke"):
            processes.Background(["/bin/sh", "-c", "echo it broke >&2"], LONG_S)
        with self.assertRaisesRegex(Failed, "was not ready"):
            processes.Background(["/bin/sleep", "1000"], SHORT_S)

    def test_what_left_its_parent_is_still_found(self):
        script = "(setsid sleep 1000 >/dev/null &); echo ready; exec sleep 1000"
        program = processes.Background(["/bin/sh", "-c", script], LONG_S)
        found = processes.descendants(os.getpid())
        program.stop()
        left = processes.descendants(os.getpid())
        processes.end(left)
        self.assertEqual((len(found), len(left)), (2, 1))

    def test_who_waits_for_an_orphan_sees_its_end(self):
        script = "(setsid sleep 1000 >/dev/null & echo $!); sleep 1000"
        program = processes.Background(["/bin/sh", "-c", script], LONG_S)
        orphan = program.first_line
        program.stop()
        script = f"kill {orphan}; while kill -0 {orphan} 2>/dev/null; do sleep 0.01; done"
        processes.run_and_reap(["/bin/sh", "-c", script], LONG_S)
        with self.assertRaisesRegex(Failed, "status 4: so"):
            processes.run_and_reap(["/bin/sh", "-c", "echo so >&2; exit 4"], LONG_S)


if __name__ == "__main__":
    unittest.main()
