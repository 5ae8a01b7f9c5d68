"""Measures calls through the C library beside the same calls in Swift, by turns, and counts their instructions.

Swift has two forms: with types, and with tuples and templates as values, as C has them. C may cost a tenth more than
either, by instructions: times differ from minute to minute.
"""

import argparse
import json
import os
import shutil
import statistics
import sys

from counts import Counter, difference, say
from running import Bench

# What is called; and for each way to call it, the program and its word.
WORKS = {
    "write, take": {"Swift": "typed-take", "Swift, untyped": "untyped-take", "C": "take"},
    "write, claim, complete": {"Swift": "typed-claim", "Swift, untyped": "untyped-claim", "C": "claim"},
}
PROGRAMS = {"Swift": "ours", "Swift, untyped": "ours", "C": "calls"}
MOST = 1.1
FEW, MANY = 2000, 6000


def times(programs, rounds, calls):
    """Nanoseconds of a call, the medians of the rounds' medians: name → way → ns."""
    bench = Bench(programs)
    found = {name: {way: [] for way in ways} for name, ways in WORKS.items()}
    for _ in range(rounds):
        for name, ways in WORKS.items():
            for way, word in ways.items():
                found[name][way].append(bench.space(PROGRAMS[way], word, calls)["call"])
    return {name: {way: statistics.median(all) for way, all in ways.items()} for name, ways in found.items()}


def instructions(programs, bin):
    """Instructions of a call: name → way → number."""
    counters = {program: Counter(path, bin) for program, path in programs.items()}
    try:
        return {
            name: {
                way: difference(counters[PROGRAMS[way]], "instructions", word, FEW, MANY) for way, word in ways.items()
            }
            for name, ways in WORKS.items()
        }
    finally:
        for counter in counters.values():
            shutil.rmtree(counter.folder, ignore_errors=True)


def show(what, found):
    print(f"{what:26}" + "".join(f"{way:>16}" for way in PROGRAMS) + f"{'C ÷ Swift':>16}{'C ÷ untyped':>16}")
    for name, ways in found.items():
        ratios = (ways["C"] / ways["Swift"], ways["C"] / ways["Swift, untyped"])
        print(f"{name:26}" + "".join(f"{ways[way]:16,.0f}" for way in PROGRAMS) + "".join(f"{one:16.2f}" for one in ratios))


def main():
    parser = argparse.ArgumentParser(prog="benchmark --c")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--output", required=True)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    programs = {"ours": options.ours, "calls": os.path.join(options.bin, "calls")}
    counted = instructions(programs, options.bin)
    show("instructions", counted)
    timed = times(programs, 3 if options.quick else 9, 20_000 if options.quick else 100_000)
    show("nanoseconds", timed)
    path = os.path.join(options.output, "results-c.json") if os.path.isdir(options.output) else options.output
    with open(path, "w", encoding="utf-8") as file:
        json.dump({name: {"instructions": counted[name], "ns": timed[name]} for name in WORKS}, file, indent=4)
        file.write("\n")
    say(f"wrote {path}")
    exceeded = 0
    for name, ways in counted.items():
        for way in ("Swift", "Swift, untyped"):
            holds = ways["C"] <= MOST * ways[way]
            exceeded += not holds
            print(f"{'✓' if holds else '✗'} {name}: C has {ways['C'] / ways[way]:.2f} × the instructions of {way}, at most {MOST}")
    return 1 if exceeded else 0


if __name__ == "__main__":
    sys.exit(main())
