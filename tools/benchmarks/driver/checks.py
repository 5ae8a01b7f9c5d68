"""Figures that must stay small as a namespace grows, and rows that must have measured something."""

import math
import os
import random
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass

from running import QUANTILES, say
from works import Work

MIB = 1 << 20
# No operation of the library or of the floor takes so few nanoseconds; one that does nothing takes at most a step of the
# clock. The ring and the peers in shared memory are timed in laps of ten operations or more.
LEAST = 12
LEAST_OF_LAPS = LEAST / 10


@dataclass
class Verdict:
    name: str
    value: float
    limit: float

    @property
    def holds(self):
        return self.value <= self.limit


def has_room(count):
    return shutil.disk_usage("/dev/shm").free > count


def of_hogs(results, works):
    """Beside busy processes, a hand-off takes at most three times as long as by a message queue, by median and by mean,
    and nothing takes longer than by Redis."""
    verdicts = []
    for work in works:
        found = results[work.name]
        ours, peers, latencies = found["ours"], found["peers"], found["latencies"]
        if not ours:
            continue
        if work.peer_work == "ping-pong" and "mq" in peers:
            verdicts.append(Verdict(f"{work.name}: ours ÷ mq, median", ours / peers["mq"], 3))
            means = [latencies.get(program, {}).get("mean") for program in ("ours", "mq")]
            if all(means):
                verdicts.append(Verdict(f"{work.name}: ours ÷ mq, mean", means[0] / means[1], 3))
        if "redis" in peers:
            verdicts.append(Verdict(f"{work.name}: ours ÷ Redis", ours / peers["redis"], 1))
    return verdicts


def of_growth(grown):
    verdicts = []
    tuples = grown.get("tuples", {})
    if 10_000 in tuples and 5_000_000 in tuples:
        for line in ("write", "take by first field", "take by second field"):
            ratio = tuples[5_000_000][line] / tuples[10_000][line]
            verdicts.append(Verdict(f"{line}, 5 M tuples ÷ 10 k", ratio, 2.5))
    waiters = grown.get("waiters", {})
    if 1000 in waiters:
        ratio = waiters[1000]["write"] / waiters[0]["write"]
        verdicts.append(Verdict("write, 1,000 non-matching waiters ÷ none", ratio, 1.6))
    namespaces = grown.get("namespaces", {})
    if namespaces:
        verdicts.append(Verdict("MiB of an idle process with one namespace", namespaces[1]["RSS bytes"] / MIB, 12))
        verdicts.append(Verdict("descriptors of 500 namespaces", namespaces[500]["descriptors"], 2048))
    ordered = grown.get("ordered-set", {})
    if 100_000 in ordered:
        slowest = max(ordered[100_000].values())
        verdicts.append(Verdict("ns of the slowest operation by index on an ordered set of 100,000", slowest, 50_000))
    churn = grown.get("churn", {})
    if len(churn) > 1:
        few, many = (churn[size]["file bytes"] for size in (10_000, 1_000_000))
        verdicts.append(Verdict("bytes of the file after 1 M writes and takes ÷ after 10 k, 1,000 tuples alive", many / few, 1.1))
    return verdicts


def of_locks(results):
    """A lock is two commits, as the floor's write and take are; the library's own are none, as a rule."""
    lock = results.get("lock and unlock", {}).get("ours")
    pair = [results.get(name, {}).get("floor") for name in ("write", "take by the first field")]
    return [Verdict("lock and unlock ÷ the floor's write and take", lock / sum(pair), 2)] if lock and all(pair) else []


def of_rows(works, results):
    """What is wrong with rows that measured nothing: a line for each number."""
    found = []
    for work in works:
        entry = results.get(work.name, {})
        wanted = {"ours": True, "floor": work.has_floor, "ring": work.has_ring, "floor with upkeep": work.has_upkeep}
        numbers = {program: entry.get(program) for program, is_wanted in wanted.items() if is_wanted}
        numbers.update(entry.get("peers", {}))
        for program, number in numbers.items():
            least = LEAST_OF_LAPS if program == "ring" or program in entry.get("peers", {}) else LEAST
            if number is None or not math.isfinite(number) or number < least:
                found.append(f"{work.name}: {program} measured nothing ({number} ns)")
        for program, latencies in entry.get("latencies", {}).items():
            rising = [latencies[name] for name in QUANTILES[:3] if name in latencies]
            if rising != sorted(rising):
                found.append(f"{work.name}: the percentiles of {program} fall ({rising})")
    for name, entry in results.items():
        if name.startswith("growth: ") and not (entry["ours"] and entry["ours"] > 0):
            found.append(f"{name}: nothing was measured ({entry['ours']})")
    return found


def prove_of_rows():
    """Shows that `of_rows` finds what it has to find."""
    work = Work("made up", "", (), has_ring=True)
    good = {"ours": 90.0, "floor": 60.0, "ring": 30.0, "peers": {"peer": 900.0}, "latencies": {"ours": {"p50": 1, "p99": 2}}}
    bad = [
        {**good, "ours": None}, {**good, "ours": 0.0}, {**good, "floor": math.nan}, {**good, "ring": LEAST_OF_LAPS / 2},
        {**good, "peers": {"peer": 0.0}}, {**good, "latencies": {"ours": {"p50": 2, "p99": 1}}}, {},
    ]
    if of_rows([work], {work.name: good}) or not all(of_rows([work], {work.name: entry}) for entry in bad):
        raise RuntimeError("the check of rows that measured nothing does not find them")
    if not of_rows([], {"growth: made up": {"ours": 0.0}}):
        raise RuntimeError("the check of growth that measured nothing does not find it")


def of_nothing(bench):
    """How long an operation takes that does nothing: a row with such a number is to be found by `of_rows`."""
    times = [bench.space(program, "nothing", 5000)["nothing"] for program in ("ours", "floor")]
    return Verdict("ns of an operation that does nothing", max(times), LEAST)


def switches(pid):
    """How often a process's first thread, which is the blocked one, has gone to sleep."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("voluntary_ctxt_switches:"):
                return int(line.split()[1])
    raise RuntimeError(f"/proc/{pid}/status has no voluntary_ctxt_switches")


def herd(bench, windows):
    """How many of 100 processes, all blocked in takes that match, a write wakes.

    At a tick after a commit the one that ticks wakes all others at once, in some windows of either kind; so the medians of
    windows with and without a write are compared.
    """
    ours, root = bench.programs["ours"], os.path.join(bench.folder, "herd")
    waiters = [
        bench.start([ours, root, "wait", "100000", "job"], stdout=subprocess.PIPE) for _ in range(100)
    ]
    for waiter in waiters:
        if len(waiter.stdout.read(8)) != 8:
            raise RuntimeError("a waiter ended early")
    writer = bench.start([ours, root, "write-asked", str(windows)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    writer.stdout.read(8)
    # Until the last one has gone to sleep.
    time.sleep(1)
    woken = {True: [], False: []}
    plan = [True, False] * windows
    random.shuffle(plan)
    for writes in plan:
        before = [switches(waiter.pid) for waiter in waiters]
        if writes:
            writer.stdin.write(b".")
            writer.stdin.flush()
            writer.stdout.read(8)
        time.sleep(0.01)
        after = [switches(waiter.pid) for waiter in waiters]
        woken[writes].append(sum(a != b for a, b in zip(after, before)))
        # Processes that began together tick in step: the windows must not be in step, too.
        time.sleep(random.uniform(0, 0.02))
    for process in [writer, *waiters]:
        bench.stop(process)
    around, without = (statistics.median(woken[writes]) for writes in (True, False))
    means = [statistics.mean(woken[writes]) for writes in (True, False)]
    say(f"herd: {around:g} of 100 woken around a write, {without:g} without (means {means[0]:.2f}, {means[1]:.2f})")
    return Verdict("processes that a write wakes, of 100 blocked takers that match", max(0.0, around - without), 1.5)
