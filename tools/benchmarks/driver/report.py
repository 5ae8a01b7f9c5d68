"""The table, readable as plain text and as Markdown."""

from running import COUNTS
from steadiness import ATTEMPTS, MOST

# The mark of a row that was measured while the machine changed its pace.
UNSTEADY = "≠"


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}"


def latency(entry, program):
    """The median, and the percentiles of single operations if there are any; one number for what is timed as a whole."""
    found = entry.get("latencies", {}).get(program, {})
    if found.get("p50") != entry[program]:
        found = {}
    return " / ".join([number(entry[program]), *(number(found[name]) for name in ("p99", "p99.9") if name in found)])


def ratio(value, target):
    if value is None:
        return ""
    mark = "" if target is None else (" ✓" if value <= target else f" ✗ (≤ {target:g})")
    return f"{value:.2f}{mark}"


def peer_cell(entry, peer):
    time = entry["peers"].get(peer)
    if time is None or not entry["ours"]:
        return ""
    times = time / entry["ours"]
    target = entry.get("peer_targets", {}).get(peer)
    mark = "" if target is None else (" ✓" if times >= target else f" ✗ (≥ {target:.3g} ×)")
    return f"{number(time)} ({times:.3g} ×){mark}"


def table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for index, row in enumerate(rows):
        lines.append("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if index == 0:
            lines.append("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def title(name, entry):
    """A row's name, marked if the machine did not keep its pace while it was measured."""
    return f"{name} {UNSTEADY}" if entry.get("unsteady rounds") else name


def spread(entry, program):
    """The median, the mean and the 99th percentile; the mean alone of a program that tells nothing else."""
    found = entry.get("latencies", {}).get(program)
    if not found:
        whole = entry.get(program, entry["peers"].get(program))
        return "" if whole is None else f"– / {number(whole)} / –"
    return " / ".join(number(found[name]) if name in found else "–" for name in ("p50", "mean", "p99"))


def spreads(works, results, peers):
    """The table of all that is between processes: a median alone hides what few messages wait for."""
    programs = ["ours", "floor", "ring", *peers]
    rows = [["between processes", *programs, "commits", "messages until the last commit"]]
    for work in works:
        if not work.line.startswith(("hand-off", "crowd")):
            continue
        entry = results[work.name]
        rows.append([
            title(work.name, entry), *(spread(entry, program) for program in programs),
            *(number(entry.get(count)) for count in COUNTS),
        ])
    if len(rows) == 1:
        return []
    return [
        "p50 / mean / p99: of a hand-off there and back, or of the times from one message of a crowd's takers to the next."
        " Commits: those that the library made for the messages of the row, from the first to the last.",
        "", table(rows), "",
    ]


def text(works, results, peers, missing, verdicts, pace):
    parts = [
        "Nanoseconds: p50 / p99 / p99.9 of single operations, one number for what is timed as a whole; medians of the"
        " rounds. Beside a peer's median, how many times ours that is.",
        "",
    ]
    rows = [["work", "ours", "floor", "ours ÷ floor", "floor with upkeep", "ring"]]
    for work in works:
        entry = results[work.name]
        rows.append([
            title(work.name, entry), latency(entry, "ours"), latency(entry, "floor"), ratio(entry["ratio"], work.target),
            latency(entry, "floor with upkeep"), latency(entry, "ring"),
        ])
    parts += [table(rows), ""]
    compared = [work for work in works if results[work.name]["peers"]]
    if compared:
        rows = [["work", "ours", *peers]]
        for work in compared:
            entry = results[work.name]
            rows.append([title(work.name, entry), number(entry["ours"]), *(peer_cell(entry, peer) for peer in peers)])
        parts += [table(rows), ""]
    parts += spreads(works, results, peers)
    grown = [(name, entry) for name, entry in results.items() if name.startswith("growth: ")]
    if grown:
        rows = [["growth", "ours"]] + [[title(name[8:], entry), number(entry["ours"])] for name, entry in grown]
        parts += [table(rows), ""]
    if verdicts:
        rows = [["check", "is", "at most", ""]]
        rows += [[v.name, f"{v.value:,.2f}", f"{v.limit:g}", "✓" if v.holds else "✗"] for v in verdicts]
        parts += [table(rows), ""]
    parts.append(pace)
    if any(entry.get("unsteady rounds") for entry in results.values()):
        parts.append(f"{UNSTEADY}: the additions before and after the row differed by more than {MOST - 1:.0%} in each of"
                     f" {ATTEMPTS} attempts, in at least one round.")
    if missing:
        parts.append("Missing: " + ", ".join(missing))
    return "\n".join(parts).rstrip()
