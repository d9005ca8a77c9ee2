#!/usr/bin/env python3
"""Statistics, tables and the plot, on fixed numbers. Needs no privilege."""

import json
import pathlib
import sys
import unittest
import xml.etree.ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import plot
import report


def peer(name, reason="", **facts):
    return {"name": name, "version": "1", "reason": reason, "facts": {"network": "none"} | facts}


def series(measure, name, samples, failures=0, first_failure="", unit="ms"):
    return {"measure": measure, "peer": name, "unit": unit, "samples": samples, "failures": failures,
            "first_failure": first_failure}


def collected(*all_series, peers=("no sandbox", "unshare", "bubblewrap", "caisson run")):
    options = {"rounds": 3, "seed": 1, "at_once": (16, 50)}
    return report.Data({"kernel": "6.18"}, options, [peer(name) for name in peers], all_series)


def row_of(table, name):
    return next(row for row in table.rows if row[0] == name)


class Percentiles(unittest.TestCase):
    def test_is_the_nearest_rank(self):
        samples = list(range(100, 0, -1))
        self.assertEqual([report.percentile(samples, percent) for percent in (1, 50, 99, 100)], [1, 50, 99, 100])

    def test_of_few_samples_is_one_of_them(self):
        self.assertEqual(report.percentile([7.0], 50), 7.0)
        self.assertEqual(report.percentile([1, 2, 3], 50), 2)
        self.assertEqual(report.percentile([1, 2, 3], 99), 3)
        self.assertEqual(report.percentile([1, 2, 3, 4], 50), 2)

    def test_of_none_is_none(self):
        self.assertIsNone(report.percentile([], 50))


class Numbers(unittest.TestCase):
    def test_have_three_digits_and_no_exponent(self):
        for value, text in ((None, "-"), (0, "0"), (0.0123456, "0.0123"), (1.5, "1.50"), (12.345, "12.3"),
                            (1234567.8, "1,234,568")):
            self.assertEqual(report.number(value), text)


class Tables(unittest.TestCase):
    def test_summary_has_medians_ratios_and_all_failures(self):
        data = collected(series("start", "bubblewrap", [8.0]), series("start", "caisson run", [12.0, 16.0, 30.0], failures=2),
                         series("at_once_50", "caisson run", [400.0], failures=3), series("build", "no sandbox", [100.0]),
                         series("build", "caisson run", [110.0]))
        self.assertEqual(row_of(report.summary(data), "caisson run"),
                         ["caisson run", "16.0", "2.00", "-", "-", "400", "-", "1.10", "-", "5"])

    def test_start_compares_medians(self):
        data = collected(series("start", "unshare", [2.0, 4.0, 6.0]), series("start", "bubblewrap", [8.0, 8.0, 80.0]),
                         series("start", "caisson run", [16.0, 12.0, 30.0], failures=2, first_failure="no"))
        table = report.times(data, "start", "Start", "")
        self.assertEqual(row_of(table, "caisson run"), ["caisson run", "3", "2", "12.0", "16.0", "30.0", "4.00", "2.00"])
        self.assertEqual(row_of(table, "unshare")[-2:], ["1.00", "0.500"])

    def test_a_peer_that_only_failed_has_a_row_without_times(self):
        data = collected(series("start", "bubblewrap", [], failures=3, first_failure="no"))
        self.assertEqual(report.times(data, "start", "Start", "").rows, [["bubblewrap", "0", "3", "-", "-", "-", "-", "-"]])

    def test_failures_at_once_are_counted(self):
        data = collected(series("at_once_16", "unshare", [100.0]), series("at_once_50", "unshare", [400.0], 4, "no"))
        self.assertEqual(row_of(report.crowds(data, (16, 50)), "unshare"), ["unshare", "100", "0", "400", "4"])

    def test_calls_are_percent_of_those_outside(self):
        data = collected(series("calls_getppid", "no sandbox", [1000.0]), series("calls_getppid", "caisson run", [900.0]))
        self.assertEqual(row_of(report.calls(data), "caisson run")[:3], ["caisson run", "90.0 %", "-"])
        self.assertEqual(row_of(report.calls(data), "no sandbox")[1], "1,000/s")

    def test_the_number_alive_is_said(self):
        data = collected(series("alive", "caisson run", [20]), series("alive_pss", "caisson run", [0.5], 1, "no"),
                         series("alive_start", "caisson run", [9.0]))
        self.assertEqual(report.alive(data).rows, [["caisson run", "20", "1", "0.500", "9.00"]])

    def test_columns_are_aligned(self):
        lines = report.Table("T", "", ["peer", "ms"], [["a", "1"], ["longer", "1,000"]]).as_text().splitlines()
        self.assertEqual(lines, ["T", "  peer       ms", "  a           1", "  longer  1,000"])

    def test_markdown_has_a_rule_and_no_stray_bars(self):
        lines = report.Table("T", "note", ["peer", "ms"], [["a|b", "1"]]).as_markdown().splitlines()
        self.assertEqual(lines, ["## T", "", "note", "", "| peer | ms |", "| :--- | ---: |", "| a\\|b | 1 |"])


class Reports(unittest.TestCase):
    def setUp(self):
        self.data = collected(series("start", "unshare", [2.0]), series("start", "caisson run", [4.0, 5.0], 1, "it broke"))
        self.data.peers.append(peer("gVisor", reason="runsc is not installed"))

    def test_a_peer_that_cannot_be_had_is_named_with_the_reason(self):
        for text in (report.as_text(self.data), report.as_markdown(self.data)):
            self.assertIn("runsc is not installed", text)
        self.assertNotIn("gVisor", report.differences(self.data).as_text())

    def test_the_first_failure_is_told(self):
        for text in (report.as_text(self.data), report.as_markdown(self.data)):
            self.assertIn("it broke", text)

    def test_markdown_says_what_is_not_the_same_and_where(self):
        text = report.as_markdown(self.data)
        self.assertIn("## What is not the same\n", text)
        self.assertIn("| kernel | 6.18 |", text)
        self.assertEqual(text.count("## What is not the same"), 1)

    def test_json_holds_every_sample(self):
        read = json.loads(self.data.as_json())
        self.assertEqual([one["samples"] for one in read["series"]], [[2.0], [4.0, 5.0]])

    def test_what_json_holds_gives_the_same_report(self):
        again = report.Data.from_json(self.data.as_json())
        self.assertEqual(report.as_markdown(again), report.as_markdown(self.data))

    def test_the_plot_is_xml_with_a_mark_for_each_peer_measured(self):
        root = xml.etree.ElementTree.fromstring(plot.as_svg(self.data))
        marks = root.findall("{http://www.w3.org/2000/svg}circle")
        self.assertEqual([mark.get("class") for mark in marks], ["other", "ours"])
        self.assertLess(float(marks[0].get("cx")), float(marks[1].get("cx")))
        self.assertLess(float(marks[1].get("cx")), plot.WIDTH)

    def test_an_axis_ends_at_round_numbers_and_is_logarithmic(self):
        scale = plot.Scale([3.0, 430.0])
        self.assertEqual(scale.ticks(), [2.0, 10.0, 100.0, 500.0])
        self.assertEqual(scale.at(2.0), plot.LEFT)
        self.assertEqual(scale.at(500.0), plot.WIDTH - plot.RIGHT)
        self.assertAlmostEqual(scale.at(20.0) - scale.at(2.0), scale.at(200.0) - scale.at(20.0))

    def test_an_axis_has_all_steps_when_they_are_few(self):
        self.assertEqual(plot.Scale([11000.0, 19000.0]).ticks(), [10000.0, 20000.0])
        self.assertEqual(plot.Scale([0.3, 0.3]).ticks(), [0.2, 0.5])
        self.assertEqual(plot.Scale([5.0, 5.0]).ticks(), [5.0, 10.0])


if __name__ == "__main__":
    unittest.main()
