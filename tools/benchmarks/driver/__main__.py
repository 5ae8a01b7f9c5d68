"""Measures everything in one run, by turns, and reports percentiles: see tools/benchmark --help."""

import argparse
import json
import os
import sys
import time

import checks
import comparing
import idle
import plots
import report
import steadiness as steady
from collecting import Collection
from running import COUNTS, QUANTILES, Bench, say
from steadiness import ATTEMPTS, Steadiness
from works import (
    CROWDS, GROWTH, HOG_PEERS, HOGS, IDLE, LOCK, MESSAGES, PEER_COUNTS, PEERS, SERVED, SPILLED, TABLE
)

# The programs whose numbers a row has, besides the peers.
PROGRAMS = ("ours", "floor", "floor with upkeep", "ring")


def arguments():
    parser = argparse.ArgumentParser(prog="benchmark")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--output", default=".")
    parser.add_argument("--plots", default="")
    parser.add_argument("--compare", default="")
    parser.add_argument("--missing", default="")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--source", required=True)
    return parser.parse_args()


def results_path(output):
    return os.path.join(output, "results.json") if os.path.isdir(output) else output


def groups(works):
    """The works in lists of those that are measured together, because a program or a peer measures them in one go."""
    found = []
    for work in works:
        keys = {work.words} | ({(work.peer_work, *work.peer_words)} if work.peer_work else set())
        same = [group for group in found if group[0] & keys]
        merged = (keys.union(*(group[0] for group in same)), [other for group in same for other in group[1]] + [work])
        place = found.index(same[0]) if same else len(found)
        found = [group for group in found if group not in same]
        found.insert(place, merged)
    return [group[1] for group in found]


def one_round(bench, works, peers, collection, steadiness, messages=None):
    """Each program does each work once; programs with the same work run one after the other. `messages`: how many, for
    the peers too."""
    for group in groups([work for work in works if work.words]):
        names = [work.name for work in group]
        collection.merge(steadiness.measure(names, lambda group=group: one_go(bench, group, peers, messages)))


def one_go(bench, works, peers, messages):
    """The numbers of works that are measured together."""
    collection, done = Collection(), set()
    for work in works:
        if work.words not in done:
            done.add(work.words)
            same = [other for other in works if other.words == work.words]
            for program in ("ours", "floor", "ring"):
                if program == "floor" and (not work.has_floor or work.floor_line) or program == "ring" and not work.has_ring:
                    continue
                found = bench.space(program, *work.words, disk=work.on_disk)
                for other in same:
                    if program == "ring" and not other.has_ring:
                        continue
                    collection.add_line(other.name, program, found, other.line)
                    if other.floor_line:
                        collection.add_line(other.name, "floor", found, other.floor_line)
            if work.has_upkeep:
                name, *more = work.words
                found = bench.space("floor", f"+{name}", *more)
                for other in same:
                    collection.add_line(other.name, "floor with upkeep", found, other.line)
        key = (work.peer_work, *work.peer_words)
        if not work.peer_work or key in done:
            continue
        done.add(key)
        same = [other for other in works if (other.peer_work, *other.peer_words) == key]
        for peer in peers:
            if work.peer_work in PEER_COUNTS[peer]:
                try:
                    count = messages or PEER_COUNTS[peer][work.peer_work]
                    found = bench.peer(peer, work.peer_work, count, *work.peer_words)
                except RuntimeError as error:
                    # The table has a hole then; the measurements of the library itself do not depend on it.
                    say(str(error))
                    continue
                for other in same:
                    collection.add_line(other.name, peer, found, other.peer_line)
    return collection


def round_with_hogs(bench, works, peers, collection, steadiness, seconds):
    """A round beside busy processes; each work has so many seconds for each of its parts."""
    if not works:
        return
    os.environ["BENCHMARK_SECONDS"] = str(seconds)
    try:
        # The hogs' own limit: for each work both parts of a hand-off by each program, and what is left in the queues.
        with bench.busy(60 + 10 * seconds * len(works) * (1 + len(peers)) * ATTEMPTS):
            busy_peers = [peer for peer in peers if peer in HOG_PEERS]
            one_round(bench, works, busy_peers, collection, steadiness, MESSAGES)
    finally:
        del os.environ["BENCHMARK_SECONDS"]


def entry(collection, steadiness, work):
    numbers = {program: collection.median(work.name, program) for program in PROGRAMS}
    peers = {peer: collection.median(work.name, peer) for peer in PEERS}
    latencies = {program: collection.latencies(work.name, program) for program in (*PROGRAMS, *PEERS)}
    counts = {count: collection.median(work.name, ("ours", count)) for count in COUNTS}
    return {
        **numbers,
        "peers": {peer: number for peer, number in peers.items() if number is not None},
        "ratio": numbers["ours"] / numbers["floor"] if numbers["ours"] and numbers["floor"] else None,
        "latencies": {program: found for program, found in latencies.items() if found},
        **{count: number for count, number in counts.items() if number is not None},
        **steadiness.entry(work.name),
        "target": work.target,
        "peer_targets": work.peer_targets,
    }


def number_alone(number, **more):
    """The entry of a number that stands by itself."""
    return {"ours": number, "floor": None, "peers": {}, "ratio": None, **more}


def fits(kind, size):
    """Whether /dev/shm has space for it."""
    if kind == "tuples" and size > 1_000_000 and not checks.has_room(6 << 30):
        say(f"growth: {size} tuples are left out, /dev/shm has less than 6 GiB free")
        return False
    return True


def growth_row(kind, size):
    return f"growth: {kind} {size}"


def growth(bench, steadiness, quick, rounds):
    """kind → size → the collection of its lines; the sizes by turns, because the machine's pace changes. Large ones
    have one turn."""
    found = {}
    for kind, (sizes, more) in GROWTH.items():
        sizes = [size for size in (sizes if quick else sizes + more) if fits(kind, size)]
        collections = {size: Collection() for size in sizes}
        start = time.monotonic()
        for number in range(rounds):
            for size, collection in collections.items():
                if size < 1_000_000 or number == 0:
                    row = growth_row(kind, size)
                    collection.merge(steadiness.measure([row], lambda: all_lines(bench, kind, size)))
        if collections:
            found[kind] = collections
            say(f"growth: {kind} {', '.join(map(str, sizes))} ({time.monotonic() - start:.1f} s)")
    return found


def all_lines(bench, *words):
    """All numbers that the library's program tells of a work, under their lines' names."""
    collection, lines = Collection(), bench.space("ours", *words)
    for line in lines:
        if line.rpartition(", ")[2] not in QUANTILES:
            collection.add_line(line, "ours", lines, line)
    return collection


def medians(grown):
    """kind → size → line → median."""
    return {
        kind: {
            size: {line: collection.median(line, "ours") for line in collection.numbers}
            for size, collection in collections.items()
        }
        for kind, collections in grown.items()
    }


def idle_numbers(bench, seconds):
    collection = Collection()
    collection.add(IDLE.name, "ours", idle.measure(bench, seconds))
    return collection


def main():
    options = arguments()
    former = comparing.load(options.compare) if options.compare else None
    checks.prove_of_rows()
    steady.prove()
    missing = options.missing.split()
    programs = {name: [os.path.join(options.bin, name)] for name in PEERS}
    programs["rinda"] = ["ruby", os.path.join(options.source, "peers", "rinda.rb")]
    programs["ours"] = options.ours
    for name in ("floor", "ring", "additions"):
        programs[name] = os.path.join(options.bin, name)
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

    works = [work for work in [*TABLE, LOCK, *CROWDS, *SPILLED, *SERVED, IDLE] if options.only in work.name]
    hog_works = [work for work in HOGS if options.only in work.name]
    rounds, hog_rounds = (2, 1) if options.quick else (7, 3)
    collection, steadiness = Collection(), Steadiness(bench.calibrate)
    for number in range(rounds):
        one_round(bench, works, peers, collection, steadiness)
        if number < hog_rounds:
            round_with_hogs(bench, hog_works, peers, collection, steadiness, 1 if options.quick else 3)
        say(f"round {number + 1} of {rounds}: {time.monotonic() - begun:.0f} s")

    works += hog_works
    if IDLE in works:
        seconds = 2 if options.quick else 10
        collection.merge(steadiness.measure([IDLE.name], lambda: idle_numbers(bench, seconds)))

    results = {work.name: entry(collection, steadiness, work) for work in works}
    collected = growth(bench, steadiness, options.quick, 1 if options.quick else 3) if not options.only else {}
    for kind, sizes in collected.items():
        for size, lines in sizes.items():
            for line in lines.numbers:
                latencies = lines.latencies(line, "ours")
                results[f"{growth_row(kind, size)}: {line}"] = number_alone(
                    lines.median(line, "ours"), latencies={"ours": latencies} if latencies else {},
                    **steadiness.entry(growth_row(kind, size), line),
                )
    grown = medians(collected)
    verdicts = [
        checks.of_nothing(bench), *checks.of_growth(grown), *checks.of_locks(results), *checks.of_hogs(results, hog_works)
    ]
    if not options.only:
        verdicts.append(checks.herd(bench, 20 if options.quick else 60))
    for verdict in verdicts:
        results[f"check: {verdict.name}"] = number_alone(verdict.value, target=verdict.limit)
    results["about"] = comparing.about(options.source, options.quick, options.only)
    bench.end()

    print(report.text(works, results, peers, missing, verdicts, steadiness.text()))
    path = results_path(options.output)
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    say(f"wrote {path}, after {time.monotonic() - begun:.0f} s")
    if options.plots:
        for plot in plots.draw(options.plots, works, results, grown):
            say(f"drew {plot}")
    if former:
        print("\n" + comparing.text(results, former, options.compare, options.only))
    empty = checks.of_rows(works, results)
    for line in empty:
        say(line)
    return 1 if empty else 0


sys.exit(main())
