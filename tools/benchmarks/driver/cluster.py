"""Measures several machines beside etcd's own floors and its clients' queue recipe: see tools/benchmark --help."""

import argparse
import json
import os
import sys
import time

import clusterreport
import comparing
from clusterkeeper import ClusterKeeper
from clusterworks import GOALS, WORKS
from collecting import Collection
from running import Bench, say

MACHINES = 3


def arguments():
    parser = argparse.ArgumentParser(prog="benchmark --cluster")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--output", default=".")
    parser.add_argument("--compare", default="")
    parser.add_argument("--bin", required=True)
    parser.add_argument("--ours", required=True)
    parser.add_argument("--source", required=True)
    parser.add_argument("--commands", default="")
    return parser.parse_args()


def measure(bench, cluster, work, milliseconds):
    """The lines that a work prints."""
    count = milliseconds if work.is_rate else work.count
    if work.program == "etcd":
        return bench.peer("etcd", work.work, count, *work.more)
    first, *others = cluster.roots[: work.machines]
    return bench.run([bench.programs["ours"], first, work.work, *map(str, (count, *work.more)), *others])


def one_round(bench, cluster, works, milliseconds, collection):
    """Does each work once.

    Returns what went wrong: the row lacks a number of this round then.
    """
    failures = []
    for work in works:
        try:
            found = measure(bench, cluster, work, milliseconds)
        except RuntimeError as error:
            failures.append(f"{work.name}: {error}")
            say(failures[-1])
            continue
        collection.add_line(work.name, work.program, found, work.line)
        if work.is_rate:
            collection.add_line(work.name, "each", found, f"{work.line}, each")
        if work.floor_line:
            collection.add_line(work.name, "floor", found, work.floor_line)
    return failures


def main():
    options = arguments()
    former = comparing.load(options.compare) if options.compare else None
    clusterreport.prove_of_rows()
    load = os.getloadavg()[0]
    works = [work for work in WORKS if options.only in work.name]
    if not works:
        sys.exit(f"benchmark: no row has “{options.only}” in its name")
    rounds, milliseconds = (2, 700) if options.quick else (5, 2000)
    begun = time.monotonic()
    bench = Bench({"ours": options.ours, "etcd": [os.path.join(options.bin, "etcd")]})
    commands = ["--bin", options.commands] if options.commands else []
    try:
        cluster = ClusterKeeper(options.source, "--machines", str(MACHINES), *commands)
    except RuntimeError as error:
        sys.exit(f"benchmark: {error}")
    bench.servers["etcd"] = ",".join(cluster.etcd)
    collection = Collection()
    failures = []
    for number in range(rounds):
        failures += one_round(bench, cluster, works, milliseconds, collection)
        say(f"round {number + 1} of {rounds}: {time.monotonic() - begun:.0f} s")

    results = clusterreport.results(works, GOALS, collection)
    results["about"] = comparing.about(options.source, options.quick, options.only)
    results["about"]["mode"] += f", {MACHINES} machines and {len(cluster.etcd)} members of etcd on this one machine"
    results["about"]["version"] += f", etcd {cluster.version}"
    results["about"]["load"] = load
    cluster.end()
    bench.end()

    print(clusterreport.text(works, GOALS, results))
    path = options.output
    if os.path.isdir(path):
        path = os.path.join(path, "results-cluster.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(results, file, indent=1)
        file.write("\n")
    say(f"wrote {path}, after {time.monotonic() - begun:.0f} s")
    if former:
        print("\n" + comparing.text(results, former, options.compare, options.only))
    # A work that failed in one round has shown that something is wrong, such as a tuple that was lost.
    failures += clusterreport.of_rows(works, results)
    for line in failures:
        say(line)
    return 1 if failures else 0


sys.exit(main())
