"""Figures that must stay small as a namespace grows."""

import os
import random
import shutil
import statistics
import subprocess
import time
from dataclasses import dataclass

from running import say

MIB = 1 << 20


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
    lock, *pair = (results.get(name, {}).get("ours") for name in ("lock and unlock", "write", "take by the first field"))
    return [Verdict("lock and unlock ÷ write and take", lock / sum(pair), 2)] if lock and all(pair) else []


def switches(pid):
    """How often a process's first thread, which is the blocked one, has gone to sleep."""
    with open(f"/proc/{pid}/status", encoding="ascii") as file:
        for line in file:
            if line.startswith("voluntary_ctxt_switches:"):
                return int(line.split()[1])
    raise RuntimeError(f"/proc/{pid}/status has no voluntary_ctxt_switches")


def herd(bench, windows):
    """How many of 100 processes, all blocked in takes that match, a write wakes.

    Each also wakes once a tick; so windows with a write are compared with windows without one.
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
    number = max(0.0, statistics.mean(woken[True]) - statistics.mean(woken[False]))
    say(f"herd: {statistics.mean(woken[True]):.2f} of 100 woken around a write, {statistics.mean(woken[False]):.2f} without")
    return Verdict("processes that a write wakes, of 100 blocked takers that match", round(number, 2), 1.5)
