"""What is done with each peer, and how often: every function here fills series, and none stops for a failure."""

import json
import os
import time

import processes
from peers import CaissonLibrary
from processes import Failed

DEADLINE_S = 60
WORK_DEADLINE_S = 120
AT_ONCE_DEADLINE_S = 120
ALIVE_DEADLINE_S = 120
CALLS_MS = 100
COSTLY_SHARE = 5  # a costly peer takes part in every fifth round
LIBRARY_SHARE = 10  # its benchmark takes ten samples at a time
TRUE = ["/bin/true"]


class Series:
    """What one measure of one peer gave. A failed repetition has no sample; the first one's reason is kept."""

    def __init__(self, measure, peer, unit):
        self.measure, self.peer, self.unit = measure, peer, unit
        self.samples, self.failures, self.first_failure = [], 0, ""

    def fail(self, reason, count=1):
        self.failures += count
        self.first_failure = self.first_failure or str(reason)

    def as_json(self):
        return vars(self)


class Run:
    """The peers that can be had, the order of rounds, and every series so far."""

    def __init__(self, peers, place, rounds, random, say):
        self.peers, self.place, self.rounds, self.random, self.say = peers, place, rounds, random, say
        self.series = {}
        self.alive = frozenset()

    def get(self, measure, peer, unit):
        return self.series.setdefault((measure, peer.name), Series(measure, peer.name, unit))

    def interleave(self, title, rounds, act, peers=None, costly_share=COSTLY_SHARE, library_share=LIBRARY_SHARE):
        """`act` for each peer in each round, in a new order each time."""
        self.say(f"{title}, {rounds} rounds")
        for number in range(rounds):
            order = list(self.peers if peers is None else peers)
            self.random.shuffle(order)
            for peer in order:
                share = library_share if isinstance(peer, CaissonLibrary) else costly_share if peer.costly else 1
                if number % share == 0:
                    act(peer)
                processes.reap_orphans(self.keep())

    def keep(self):
        """Children of this program whose end somebody waits for."""
        return self.alive.union(*(peer.holders() for peer in self.peers))


def library_samples(run, peer, name, measure):
    """Ten samples of a series of caisson-bench."""
    series = run.get(measure, peer, "ms")
    try:
        # It exits with 1 for a promise that is not kept, which is not what is asked here.
        argv = ["/bin/sh", "-c", '"$@"; test $? -le 1', "sh", peer.bench, "--only", name,
                "--rounds", str(LIBRARY_SHARE), "--quiet-rounds", "0", "--json", "-"]
        for one in json.loads(processes.output_of(argv, DEADLINE_S)[0])["series"]:
            series.samples += one["samples_ms"]
            if one["failures"] or one["skipped"]:
                series.fail(one["first_failure"] or one["skipped"], max(1, one["failures"]))
    except (Failed, KeyError, ValueError) as error:
        series.fail(error)


def timed(series, argv, deadline_s=DEADLINE_S):
    with processes.Diagnostics() as diagnostics:
        try:
            series.samples.append(processes.time_once(argv, diagnostics, deadline_s) * 1000)
        except Failed as error:
            series.fail(error)


def start(run):
    """Create, true, destroy."""

    def act(peer):
        if isinstance(peer, CaissonLibrary):
            library_samples(run, peer, "engine_cold", "start")
        else:
            timed(run.get("start", peer, "ms"), peer.once(TRUE))

    run.interleave("start", run.rounds, act)


def stop(peer, alive):
    try:
        alive.stop()
    except Failed as error:
        return error
    return None


def execute(run):
    """True in a sandbox that is there."""
    alive = {}

    def act(peer):
        if isinstance(peer, CaissonLibrary):
            library_samples(run, peer, "exec_running", "exec")
        elif peer.name in alive:
            timed(run.get("exec", peer, "ms"), peer.inside(alive[peer.name], TRUE))

    try:
        for peer in run.peers:
            if peer.joins:
                try:
                    alive[peer.name] = peer.keep_alive(DEADLINE_S)
                except Failed as error:
                    run.get("exec", peer, "ms").fail(error)
        run.alive = frozenset(one.pid for one in alive.values() if hasattr(one, "pid"))
        run.interleave("exec", run.rounds, act)
    finally:
        run.alive = frozenset()
        for peer in run.peers:
            if peer.name in alive and (error := stop(peer, alive[peer.name])):
                run.get("exec", peer, "ms").fail(error)


def at_once(run, count, rounds):
    """So many sandboxes started together: until the last has ended. One failure is one sandbox."""
    measure = f"at_once_{count}"

    def act(peer):
        series = run.get(measure, peer, "ms")
        if isinstance(peer, CaissonLibrary):
            try:
                microseconds, failures = processes.output_of([peer.crowd, "once", str(count)],
                                                             AT_ONCE_DEADLINE_S)[0].split()
            except (Failed, ValueError) as error:
                series.fail(error, count)
                return
            if int(failures):
                series.fail("a sandbox failed", int(failures))
            series.samples.append(int(microseconds) / 1000)
            return
        together(series, [peer.once(TRUE) for _ in range(count)])

    run.interleave(f"{count} at once", rounds, act, costly_share=rounds, library_share=1)


def together(series, command_lines):
    pids = []
    with processes.Diagnostics() as diagnostics:
        try:
            begin = time.perf_counter()
            pids = [processes.spawn(argv, diagnostics) for argv in command_lines]
            late = False
            while pids:
                left_s = max(0.001, AT_ONCE_DEADLINE_S + begin - time.perf_counter())
                try:
                    status = processes.wait_for_end(pids.pop(), left_s)
                except Failed:
                    late = True
                    series.fail(f"did not end within {AT_ONCE_DEADLINE_S} s of the first one's start")
                else:
                    if status != 0:
                        series.fail(f"status {status}: {diagnostics.take()}")
            if not late:
                series.samples.append((time.perf_counter() - begin) * 1000)
        finally:
            processes.end(pids)


def stay(run, count, costly_count):
    """Many alive with a sleep in each: the memory of all that belongs to them but the sleep; the time to start one."""
    run.say(f"{count} alive, {costly_count} of the costly ones")
    order = [peer for peer in run.peers if peer.name != "no sandbox"]
    run.random.shuffle(order)
    for peer in order:
        memory, ready = run.get("alive_pss", peer, "MiB"), run.get("alive_start", peer, "ms")
        counted = run.get("alive", peer, "sandboxes")
        before = processes.descendants(os.getpid())
        alive = []
        try:
            begin = time.perf_counter()
            fill(peer, alive, costly_count if peer.costly else count, begin + ALIVE_DEADLINE_S, memory)
            number = sum(getattr(one, "count", 1) for one in alive)
            if number:
                ready.samples.append((time.perf_counter() - begin) * 1000 / number)
                belong = (processes.descendants(os.getpid()) - before) | peer.processes_besides_ours()
                ours = [pid for pid in belong if processes.command_name(pid) != "sleep"]
                memory.samples.append(sum(map(processes.pss_bytes, ours)) / number / (1 << 20))
                counted.samples.append(number)
        finally:
            for one in alive:
                if error := stop(peer, one):
                    memory.fail(error)
            processes.reap_orphans(run.keep())


class Crowd:
    """The sandboxes of one engine: bench-crowd keeps them until its input ends."""

    def __init__(self, peer, count, deadline_s):
        self.count = count
        self.program = processes.Background([peer.crowd, "alive", str(count)], deadline_s)

    def stop(self):
        self.program.stop(with_signal=0, patience_s=30)


def fill(peer, alive, count, deadline, series):
    """Starts sandboxes until there are so many, one fails or time is up."""
    try:
        if isinstance(peer, CaissonLibrary):
            alive.append(Crowd(peer, count, ALIVE_DEADLINE_S))
            return
        while len(alive) < count:
            if time.perf_counter() > deadline:
                raise Failed(f"{len(alive)} of {count} were there after {ALIVE_DEADLINE_S} s")
            alive.append(peer.keep_alive(DEADLINE_S))
    except Failed as error:
        series.fail(error)


def inside(run, peer, program, *arguments):
    """Output and seconds of a program of the workspace in a fresh sandbox of this peer."""
    return processes.output_of(peer.once([f"{peer.workspace}/{program}", *arguments]), WORK_DEADLINE_S)


def work(run, rounds, missing):
    """What programs get inside: system calls and file work, a C build, a test suite."""

    def calls(peer):
        try:
            for line in inside(run, peer, "bench-calls", peer.scratch, str(CALLS_MS))[0].splitlines():
                name, rate = line.split()
                run.get("calls_" + name, peer, "MiB/s" if name.endswith("_mib") else "1/s").samples.append(float(rate))
        except (Failed, ValueError) as error:
            run.get("calls_getppid", peer, "1/s").fail(error)

    def script(peer, measure):
        series = run.get(measure, peer, "ms")
        try:
            out, took_s = inside(run, peer, f"{measure}.sh", peer.workspace, peer.scratch)
            if measure == "tests" and "OK" not in out:
                raise Failed("not all tests passed: " + processes.one_line(out))
            series.samples.append(took_s * 1000)
        except Failed as error:
            series.fail(error)

    def act(peer):
        if "calls" not in missing:
            calls(peer)
        for measure in ("build", "tests"):
            if measure not in missing:
                script(peer, measure)

    # The library starts a command just as `caisson run` does.
    run.interleave("system calls, a C build, a test suite", rounds, act, costly_share=rounds,
                   peers=[peer for peer in run.peers if not isinstance(peer, CaissonLibrary)])
