"""Measures everything in one run, by turns, and reports medians: see tools/benchmark --help."""

import argparse
import json
import os
import statistics
import sys
import time

import checks
import plots
import report
from running import Bench, say
from works import CROWDS, GROWTH, LOCK, PEER_COUNTS, PEERS, TABLE


def arguments():
    parser = argparse.ArgumentParser(prog="benchmark")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--output", default=".")
    parser.add_argument("--plots", default="")
    parser.add_argument("--missing", default="")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--source", required=True)
    return parser.parse_args()


def results_path(output):
    return os.path.join(output, "results.json") if os.path.isdir(output) else output


class Collection:
    """Numbers under a name and a program, one for each round."""

    def __init__(self):
        self.numbers = {}

    def add(self, name, program, number):
        self.numbers.setdefault(name, {}).setdefault(program, []).append(number)

    def median(self, name, program):
        found = self.numbers.get(name, {}).get(program)
        return statistics.median(found) if found else None


def one_round(bench, works, peers, collection):
    """Each program does each work once; programs with the same work run one after the other."""
    done = set()
    for work in works:
        if work.words not in done:
            done.add(work.words)
            same = [other for other in works if other.words == work.words]
            for program in ("ours", "floor") if work.has_floor and not work.floor_line else ("ours",):
                found = bench.space(program, *work.words, disk=work.on_disk)
                for other in same:
                    collection.add(other.name, program, found[other.line])
                    if other.floor_line:
                        collection.add(other.name, "floor", found[other.floor_line])
            if work.has_upkeep:
                name, *more = work.words
                found = bench.space("floor", f"+{name}", *more)
                for other in same:
                    collection.add(other.name, "upkeep", found[other.line])
        key = (work.peer_work, *work.peer_words)
        if not work.peer_work or key in done:
            continue
        done.add(key)
        same = [other for other in works if (other.peer_work, *other.peer_words) == key]
        for peer in peers:
            if work.peer_work in PEER_COUNTS[peer]:
                try:
                    found = bench.peer(peer, work.peer_work, PEER_COUNTS[peer][work.peer_work], *work.peer_words)
                except RuntimeError as error:
                    # The table has a hole then; the measurements of the library itself do not depend on it.
                    say(str(error))
                    continue
                for other in same:
                    collection.add(other.name, peer, found[other.peer_line])


def entry(collection, work):
    ours, floor = collection.median(work.name, "ours"), collection.median(work.name, "floor")
    peers = {peer: collection.median(work.name, peer) for peer in PEERS}
    return {
        "ours": ours,
        "floor": floor,
        "floor with upkeep": collection.median(work.name, "upkeep"),
        "peers": {peer: number for peer, number in peers.items() if number is not None},
        "ratio": ours / floor if ours and floor else None,
        "target": work.target,
        "peer_targets": work.peer_targets,
    }


def fits(kind, size):
    """Whether /dev/shm has space for it."""
    if kind == "tuples" and size > 1_000_000 and not checks.has_room(6 << 30):
        say(f"growth: {size} tuples are left out, /dev/shm has less than 6 GiB free")
        return False
    return True


def growth(bench, quick, rounds):
    """kind → size → line → median; the sizes by turns, because the machine's pace changes. Large ones have one turn."""
    found = {}
    for kind, (sizes, more) in GROWTH.items():
        sizes = [size for size in (sizes if quick else sizes + more) if fits(kind, size)]
        collections = {size: Collection() for size in sizes}
        start = time.monotonic()
        for number in range(rounds):
            for size, collection in collections.items():
                if size < 1_000_000 or number == 0:
                    for line, value in bench.space("ours", kind, size).items():
                        collection.add(line, "ours", value)
        if collections:
            found[kind] = {
                size: {line: collection.median(line, "ours") for line in collection.numbers}
                for size, collection in collections.items()
            }
            say(f"growth: {kind} {', '.join(map(str, sizes))} ({time.monotonic() - start:.1f} s)")
    return found


def main():
    options = arguments()
    missing = options.missing.split()
    programs = {name: [os.path.join(options.bin, name)] for name in PEERS}
    programs["rinda"] = ["ruby", os.path.join(options.source, "peers", "rinda.rb")]
    programs["ours"] = options.ours
    programs["floor"] = os.path.join(options.bin, "floor")
    begun = time.monotonic()
    bench = Bench(programs)
    peers = [peer for peer in PEERS if peer not in missing]
    for peer in list(peers):
        try:
            bench.serve(peer)
        except (RuntimeError, OSError) as error:
            say(f"{peer} is left out: {error}")
            missing.append(peer)
            peers.remove(peer)

    works = [work for work in [*TABLE, LOCK, *CROWDS] if options.only in work.name]
    rounds = 2 if options.quick else 7
    collection = Collection()
    for number in range(rounds):
        one_round(bench, works, peers, collection)
        say(f"round {number + 1} of {rounds}: {time.monotonic() - begun:.0f} s")

    results = {work.name: entry(collection, work) for work in works}
    grown = growth(bench, options.quick, 1 if options.quick else 3) if not options.only else {}
    for kind, sizes in grown.items():
        for size, lines in sizes.items():
            for line, number in lines.items():
                results[f"growth: {kind} {size}: {line}"] = {"ours": number, "floor": None, "peers": {}, "ratio": None}
    verdicts = checks.of_growth(grown) + checks.of_locks(results)
    if not options.only:
        verdicts.append(checks.herd(bench, 20 if options.quick else 60))
    for verdict in verdicts:
        results[f"check: {verdict.name}"] = {
            "ours": verdict.value, "floor": None, "peers": {}, "ratio": None, "target": verdict.limit,
        }
    bench.end()

    print(report.text(works, results, peers, missing, verdicts))
    path = results_path(options.output)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    say(f"wrote {path}, after {time.monotonic() - begun:.0f} s")
    if options.plots:
        for plot in plots.draw(options.plots, works, results, grown):
            say(f"drew {plot}")
    return 0


sys.exit(main())
