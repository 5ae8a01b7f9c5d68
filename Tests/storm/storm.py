#!/usr/bin/env python3
"""tools/storm runs this: workers of four languages share the jobs of one namespace, and are killed at random.

A worker claims a job, and completes, notes and counts it in one transaction. At the end every job must be noted, and once.
"""

import argparse
import collections
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

from sharedspace.testing import temporary_space

FOLDER = pathlib.Path(__file__).resolve().parent


class Worker:
    """A process of its own group, whose children outlive a kill, as those of a killed shell do."""

    def __init__(self, kind, command):
        self.kind, self.command = kind, command
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, start_new_session=True)

    def kill(self):
        # One that has ended by itself has failed, and has said why.
        ended = self.process.poll()
        self.process.kill()
        self.process.wait()
        return ended is None

    def end(self):
        self.process.kill()
        self.process.wait()
        # What a killed shell has left.
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=600, help="how long (600)")
    parser.add_argument("--workers", type=int, default=1, help="how many of each kind (1)")
    parser.add_argument("--seed", type=int, default=time.time_ns() % (1 << 30), help="of the kills (the time)")
    parser.add_argument("--c", required=True, help="the worker in C")
    parser.add_argument("--swift", required=True, help="the worker in Swift")
    parser.add_argument("--bin", required=True, help="the folder with the command space")
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    commands = {
        "c": [arguments.c],
        "swift": [arguments.swift],
        "python": [sys.executable, FOLDER / "worker.py"],
        "shell": ["bash", FOLDER / "worker.sh"],
    }
    os.environ["PATH"] = f"{arguments.bin}:{os.environ['PATH']}"
    with temporary_space() as space, space.namespace("jobs") as jobs:
        workers = [Worker(kind, command) for kind, command in commands.items() for _ in range(arguments.workers)]
        noted, by, kills = collections.Counter(), collections.Counter(), collections.Counter()
        failed = written = 0

        def note():
            for _, number, kind in jobs.take_all("done", int, str):
                noted[number] += 1
                by[kind] += 1

        end = time.monotonic() + arguments.seconds
        last_told = time.monotonic()
        while time.monotonic() < end:
            # So many wait that no worker is idle, and not more.
            missing = 500 - jobs.count("job", int)
            if missing > 0:
                jobs.write_all([("job", number) for number in range(written, written + missing)])
                written += missing
            time.sleep(chance.random() * 0.4)
            worker = chance.choice(workers)
            if worker.kill():
                kills[worker.kind] += 1
            else:
                failed += 1
            worker.start()
            note()
            if time.monotonic() - last_told > 10:
                last_told = time.monotonic()
                print(f"storm: {written} jobs, {sum(kills.values())} kills", file=sys.stderr, flush=True)
        patience = time.monotonic() + 120
        while sum(noted.values()) < written and time.monotonic() < patience:
            time.sleep(0.05)
            note()
        for worker in workers:
            worker.end()
        note()
        lost = sum(1 for number in range(written) if noted[number] == 0)
        twice = sum(1 for times in noted.values() if times > 1)
        counted = jobs.get("count", 0)
        print(
            f"seed {arguments.seed}: {arguments.seconds:.0f} s, {written} jobs, done by "
            + ", ".join(f"{kind} {number}" for kind, number in sorted(by.items()))
            + f"; {sum(kills.values())} kills ({', '.join(f'{kind} {number}' for kind, number in sorted(kills.items()))}), "
            f"{failed} ended by themselves; lost {lost}, twice {twice}, counted {counted}"
        )
    sys.exit(0 if lost == twice == failed == 0 and counted == written and len(by) == len(commands) else 1)


if __name__ == "__main__":
    main()
