"""The host's time of day leaps: nothing that is measured follows it. Sets the clock, so only in a machine of its own."""

import contextlib
import datetime
import functools
import time
import unittest

import node
from node import Node

HOUR_S = 3600
DAY_S = 24 * HOUR_S
LEAPS = {"forward": DAY_S, "back": -DAY_S}
# More than this is no slow host but a wrong clock.
PATIENCE_S = 60


@contextlib.contextmanager
def leap(seconds):
    """The time of day is another one; afterwards it is as it would have been."""
    set_forward(seconds)
    try:
        yield
    finally:
        set_forward(-seconds)


def set_forward(seconds):
    time.clock_settime(time.CLOCK_REALTIME, time.clock_gettime(time.CLOCK_REALTIME) + seconds)


def await_over(one, box, why):
    """Until its time is over; the node has then looked at every other sandbox too."""
    if node.await_none(lambda: one.inspect(box)["state"] != "deleted", PATIENCE_S):
        raise AssertionError(f"does not end: {one.inspect(box)}")
    found = one.inspect(box)["reason"]
    if found != why:
        raise AssertionError(f"ended by {found}, not by {why}")


def both_ways(test):
    @functools.wraps(test)
    def run(self):
        for name, seconds in LEAPS.items():
            with self.subTest(name), Node() as one:
                test(self, one, seconds)
    return run


class Clock(unittest.TestCase):
    @both_ways
    def test_a_paused_command_ends_at_its_time(self, one, seconds):
        box, other = one.create(), one.create()
        start = time.monotonic()
        endless = one.begin(box, "sleep 1000", timeout_ms=3000)
        ending = one.begin(box, "sleep 1; echo done", timeout_ms=3000)
        one.post(f"/v1/sandboxes/{box}:pause")
        before = time.monotonic() - start
        self.assertLess(before, 3, "paused too late for this test")
        with leap(seconds):
            # One that is not paused takes more than what is left of its time.
            witness = one.begin(other, "sleep 1000", timeout_ms=3000)
            self.assertEqual(one.await_end(other, witness, PATIENCE_S)["outcome"], "timed_out")
            start = time.monotonic()
            one.post(f"/v1/sandboxes/{box}:resume")
            self.assertEqual(one.await_end(box, ending, PATIENCE_S)["stdout"], "done\n")
            self.assertEqual(one.await_end(box, endless, PATIENCE_S)["outcome"], "timed_out")
            self.assertGreaterEqual(before + time.monotonic() - start, 3)

    @both_ways
    def test_time_outs_do_not_follow_the_clock(self, one, seconds):
        short = one.create(max_lifetime_ms=5000)
        idle = one.create(idle_timeout_ms=5000)
        busy = one.create(max_lifetime_ms=HOUR_S * 1000)
        quiet = one.create(idle_timeout_ms=HOUR_S * 1000)
        endless = one.begin(busy, "sleep 1000", timeout_ms=5000)
        with leap(seconds):
            self.assertEqual(one.script(busy, "sleep 0.5; echo fine")["stdout"], "fine\n")
            self.assertEqual(one.command_of(busy, endless)["state"], "running")
            await_over(one, short, "max_lifetime")
            await_over(one, idle, "idle_timeout")
            ended = one.await_end(busy, endless, PATIENCE_S)
            self.assertEqual(ended["outcome"], "timed_out")
            self.assertGreaterEqual(ended["duration_ms"], 5000)
            self.assertLess(ended["duration_ms"], PATIENCE_S * 1000)
            self.assertEqual([one.inspect(box)["state"] for box in (busy, quiet)], ["running", "running"])

    @both_ways
    def test_nor_when_the_next_daemon_goes_on(self, one, seconds):
        short = one.create(max_lifetime_ms=6000)
        long = one.create(max_lifetime_ms=HOUR_S * 1000)
        endless = one.begin(long, "sleep 1000", timeout_ms=6000)
        one.kill()
        with leap(seconds):
            one.start()
            self.assertEqual(one.command_of(long, endless)["state"], "running")
            await_over(one, short, "max_lifetime")
            self.assertEqual(one.await_end(long, endless, PATIENCE_S)["outcome"], "timed_out")
            found = one.inspect(long)
            self.assertEqual(found["state"], "running")
            left = datetime.datetime.fromisoformat(found["expires_at"]).timestamp() - time.time()
            self.assertTrue(HOUR_S - PATIENCE_S < left < HOUR_S, left)


if __name__ == "__main__":
    node.require_root()
    node.require_machine("sets the time of day")
    unittest.main()
