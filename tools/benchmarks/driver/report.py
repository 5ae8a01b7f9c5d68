"""The table, readable as plain text and as Markdown."""


def number(value):
    if value is None:
        return ""
    return f"{value:,.0f}"


def latency(entry, program):
    """The median, and the percentiles of single operations if there are any."""
    found = entry.get("latencies", {}).get(program, {})
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


def text(works, results, peers, missing, verdicts):
    parts = [
        "Nanoseconds: p50 / p99 / p99.9 of single operations, one number for what is timed as a whole; medians of the"
        " rounds. Beside a peer's median, how many times ours that is.",
        "",
    ]
    rows = [["work", "ours", "floor", "ours ÷ floor", "floor with upkeep", "ring"]]
    for work in works:
        entry = results[work.name]
        rows.append([
            work.name, latency(entry, "ours"), latency(entry, "floor"), ratio(entry["ratio"], work.target),
            latency(entry, "floor with upkeep"), latency(entry, "ring"),
        ])
    parts += [table(rows), ""]
    compared = [work for work in works if results[work.name]["peers"]]
    if compared:
        rows = [["work", "ours", *peers]]
        for work in compared:
            entry = results[work.name]
            rows.append([work.name, number(entry["ours"]), *(peer_cell(entry, peer) for peer in peers)])
        parts += [table(rows), ""]
    grown = [(name, entry) for name, entry in results.items() if name.startswith("growth: ")]
    if grown:
        rows = [["growth", "ours"]] + [[name[8:], number(entry["ours"])] for name, entry in grown]
        parts += [table(rows), ""]
    if verdicts:
        rows = [["check", "is", "at most", ""]]
        rows += [[v.name, f"{v.value:,.2f}", f"{v.limit:g}", "✓" if v.holds else "✗"] for v in verdicts]
        parts += [table(rows), ""]
    if missing:
        parts.append("Missing: " + ", ".join(missing))
    return "\n".join(parts).rstrip()
