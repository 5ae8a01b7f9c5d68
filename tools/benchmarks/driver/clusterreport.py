"""The results of several machines: as an object, as a table, and what is wrong with them."""

import math
import os

import report
from checks import LEAST
from clusterworks import etcd, ours
from running import QUANTILES


def key(work):
    """Where a row's own number stands in the results."""
    return "ours" if work.program == "ours" else "etcd"


def entry(work, collection):
    """A row in the form of the other results: times in nanoseconds."""
    whole = collection.median(work.name, work.program)
    latencies = collection.latencies(work.name, "each" if work.is_rate else work.program)
    if work.floor:
        floor = collection.median(work.floor, "etcd" if work.is_rate else "each")
    else:
        floor = collection.median(work.name, "floor")
    found = {
        "ours": whole if work.program == "ours" else None,
        "floor": floor,
        "peers": {"etcd": whole} if work.program == "etcd" and whole else {},
        "ratio": whole / floor if whole and floor else None,
        "latencies": {key(work): latencies} if latencies else {},
    }
    if work.is_rate:
        found["per second"] = 1e9 / whole if whole else None
    return found


def number_of(one):
    return one["ours"] or one["peers"].get("etcd")


def median_of(one):
    """The median of single operations."""
    return next(iter(one["latencies"].values()), {}).get("p50")


def results(works, goals, collection):
    """Name → entry; the goals are numbers that stand by themselves."""
    found = {work.name: entry(work, collection) for work in works}
    for goal in goals:
        if goal.over.name not in found or goal.under not in found:
            continue
        over, under = ((number_of if goal.is_rate else median_of)(found[name]) for name in (goal.over.name, goal.under))
        if over and under:
            value = under / over if goal.is_rate else over / under
            found[f"goal: {goal.name}"] = {"ours": value, "floor": None, "peers": {}, "ratio": None, "target": goal.target}
    return found


def single(work, found):
    latencies = found["latencies"].get(key(work), {})
    return " / ".join(report.number(latencies[name]) for name in ("p50", *QUANTILES[:2]) if name in latencies)


def text(works, goals, found):
    about = found["about"]
    processors = len(os.sched_getaffinity(0))
    parts = [f"{about['machine']}; {about['mode']}; {about['version']}."]
    if about["load"] > processors / 4:
        parts.append(f"The load was {about['load']:.1f} when the run began: other work of the machine disturbs these figures.")
    parts += [
        "Operations a second of all processes together; nanoseconds: p50 / p99 / p99.9 of single operations; medians of the"
        " rounds. The floor is etcd's, or the ordinary namespace's.",
        "",
    ]
    rows = [["work", "a second", "one, ns", "÷ floor"]]
    for work in works:
        one = found[work.name]
        rows.append([work.name, report.number(one.get("per second")), single(work, one), report.ratio(one["ratio"], None)])
    parts += [report.table(rows), ""]
    rows = [["quotient", "is", "goal", ""]]
    for goal in goals:
        one = found.get(f"goal: {goal.name}")
        if one:
            sign = "≥" if goal.is_rate else "≤"
            mark = "✓" if goal.holds(one["ours"]) else "✗"
            rows.append([goal.name, f"{one['ours']:,.2f}", f"{sign} {goal.target:g}", mark])
    if len(rows) > 1:
        parts += [report.table(rows), ""]
    return "\n".join(parts).rstrip()


def of_rows(works, found):
    """What is wrong with rows that measured nothing: a line for each."""
    lines = []
    for work in works:
        one = found[work.name]
        wanted = {key(work): number_of(one)}
        if work.floor_line:
            wanted["floor"] = one["floor"]
        for program, number in wanted.items():
            if number is None or not math.isfinite(number) or number < LEAST:
                lines.append(f"{work.name}: {program} measured nothing ({number} ns)")
        latencies = one["latencies"].get(key(work), {})
        rising = [latencies[name] for name in ("p50", *QUANTILES[:2]) if name in latencies]
        if not rising or rising != sorted(rising):
            lines.append(f"{work.name}: the percentiles are missing, or fall ({rising})")
    return lines


def prove_of_rows():
    """Shows that `of_rows` finds what it has to find."""
    row, peer = ours("made up", "", (), "", floor_line="floor"), etcd("another", "", 1)
    latencies = {"p50": 60.0, "p99": 90.0}
    good = {"ours": 90.0, "floor": 60.0, "peers": {}, "latencies": {"ours": latencies}}
    bad = [
        {**good, "ours": None}, {**good, "ours": math.nan}, {**good, "ours": LEAST / 2}, {**good, "floor": None},
        {**good, "latencies": {}}, {**good, "latencies": {"ours": {"p50": 90.0, "p99": 60.0}}},
    ]
    peer_good = {"ours": None, "floor": None, "peers": {"etcd": 90.0}, "latencies": {"etcd": latencies}}
    if of_rows([row, peer], {"made up": good, "another": peer_good}) or not all(of_rows([row], {"made up": one}) for one in bad):
        raise RuntimeError("the check of rows that measured nothing does not find them")
    if not of_rows([peer], {"another": {**peer_good, "peers": {}}}):
        raise RuntimeError("the check of etcd's rows that measured nothing does not find them")
