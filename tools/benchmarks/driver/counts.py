"""Counts instructions and system calls an operation, and compares them with the limits on file.

Times differ from machine to machine and from minute to minute; these counts hardly do. Each work is run with two numbers
of operations, and the difference is divided: the cost of opening and preparing drops out. (Many virtual machines have no
hardware counters, so valgrind counts the instructions, and strace the calls.)
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

# The works, the two counts of operations, and what else the work is told.
WORKS = {
    "write": ("write-only", 2000, 6000),
    "write, then take by the first field": ("leading", 2000, 6000),
    "write, then take by another field": ("other", 2000, 6000),
    "write in a batch, claim and complete": ("claim", 2000, 6000),
    "get a cell": ("get", 4000, 12000),
    "get the same cell again": ("poll", 4000, 12000),
    "read a tuple": ("read", 2000, 6000),
    "write in a batch of 100": ("batch", 4000, 12000),
    "an empty queue: write, take, write, claim and complete": ("queue", 2000, 6000, 0),
    "an empty queue: write, claim and complete": ("near-claim", 2000, 6000),
    "an empty queue: write and take, prepared": ("prepared-take", 2000, 6000),
    "a long queue: take": ("long-take", 2000, 6000, 10000),
    "a long queue: claim and complete": ("long-claim", 2000, 6000, 10000),
    "an empty queue: write and await a take": ("await-take", 2000, 6000),
    "an empty queue: write, await a claim and complete": ("await-claim", 2000, 6000),
    "write, with 1,000 waiters for something else": ("write-only", 2000, 6000),
    "write, granted to one of 3,000 waiters": ("write-only", 500, 2500),
}
# Works with waiters: the work of the process that has them, and their number. It is stopped once they wait, so that no
# tick of it disturbs the count.
WAITERS = {
    "write, with 1,000 waiters for something else": ("block", 1000),
    "write, granted to one of 3,000 waiters": ("block-alike", 3000),
}
SLACK = 1.05


def say(message):
    print(f"benchmark: {message}", file=sys.stderr, flush=True)


class Counter:
    # The program then does not time its operations.
    COUNTED = {"BENCHMARK_COUNTED": "1"}

    def __init__(self, program, bin):
        self.folder = tempfile.mkdtemp(prefix="shared-space-counts-", dir="/dev/shm")
        # Valgrind of Debian 12 can't read the debug information of Swift's compiler.
        self.program = os.path.join(self.folder, "ours")
        subprocess.run(["objcopy", "--strip-debug", program, self.program], check=True)
        self.preload = os.path.join(bin, "small-map.so")
        self.waiters = None

    def run(self, command, *words, **variables):
        root = os.path.join(self.folder, "root")
        waiting = None
        try:
            if self.waiters:
                kind, number = self.waiters
                waiting = subprocess.Popen([self.program, root, kind, str(number)], stdout=subprocess.PIPE)
                if len(waiting.stdout.read(8)) != 8:
                    raise RuntimeError("the waiting process ended early")
                waiting.send_signal(signal.SIGSTOP)
            return subprocess.run(
                [*command, self.program, root, *map(str, words)],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True, timeout=300,
                env={**os.environ, **self.COUNTED, **variables},
            ).stderr
        finally:
            if waiting:
                waiting.kill()
                waiting.wait()
            shutil.rmtree(root, ignore_errors=True)

    def instructions(self, *words):
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={self.folder}/callgrind.out"]
        output = self.run(command, *words, LD_PRELOAD=self.preload)
        return int(re.search(r"Collected : (\d+)", output)[1])

    def system_calls(self, *words):
        path = os.path.join(self.folder, "calls")
        self.run(["strace", "-f", "-c", "-o", path], *words)
        with open(path, encoding="ascii") as file:
            # The columns: % time, seconds, usecs/call, calls, …; the last line is the sum.
            return int(file.read().splitlines()[-1].split()[3])


def difference(counter, kind, work, few, many, *more):
    """An operation's instructions or system calls."""
    count = getattr(counter, kind)
    return (count(work, many, *more) - count(work, few, *more)) / (many - few)


def count(counter):
    found = {}
    for name, (work, few, many, *more) in WORKS.items():
        counts = {}
        counter.waiters = WAITERS.get(name)
        for kind in ("instructions", "system_calls"):
            counts[kind] = round(difference(counter, kind, work, few, many, *more), 3)
        found[name] = counts
        say(f"{name}: {counts['instructions']:,.0f} instructions, {counts['system_calls']:.3f} system calls")
    return found


def main():
    parser = argparse.ArgumentParser(prog="benchmark --counts")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--accept", action="store_true")
    options = parser.parse_args()
    path = os.path.join(options.source, "counts.json")
    counter = Counter(options.ours, options.bin)
    try:
        found = count(counter)
    finally:
        shutil.rmtree(counter.folder, ignore_errors=True)
    if options.accept:
        # A reservation of blocks is a few calls in thousands of operations; the check must show one more call an
        # operation.
        limits = {
            name: {"instructions": round(counts["instructions"] * SLACK), "system_calls": round(counts["system_calls"] + 0.02, 2)}
            for name, counts in found.items()
        }
        with open(path, "w", encoding="utf-8") as file:
            json.dump(limits, file, indent=4)
            file.write("\n")
        say(f"wrote {path}")
        return 0
    with open(path, encoding="utf-8") as file:
        limits = json.load(file)
    exceeded = 0
    for name, counts in found.items():
        for kind, number in counts.items():
            limit = limits.get(name, {}).get(kind)
            holds = limit is not None and number <= limit
            exceeded += not holds
            words = kind.replace("_", " ")
            print(f"{'✓' if holds else '✗'} {name}: {number:,.2f} {words}, at most {limit if limit is not None else 'nothing on file'}")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
