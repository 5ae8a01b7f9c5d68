"""The table, readable as plain text and as Markdown."""


def nanoseconds(number):
    if number is None:
        return ""
    return f"{number:,.0f}"


def ratio(number, target):
    if number is None:
        return ""
    mark = "" if target is None else (" ✓" if number <= target else f" ✗ (≤ {target:g})")
    return f"{number:.2f}{mark}"


def peer_cell(entry, peer):
    number = entry["peers"].get(peer)
    if number is None or not entry["ours"]:
        return ""
    times = number / entry["ours"]
    target = entry.get("peer_targets", {}).get(peer)
    mark = "" if target is None else (" ✓" if times >= target else f" ✗ (≥ {target:.3g} ×)")
    return f"{nanoseconds(number)} ({times:.3g} ×){mark}"


def table(rows):
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for index, row in enumerate(rows):
        lines.append("| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)) + " |")
        if index == 0:
            lines.append("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(lines)


def text(works, results, peers, missing, verdicts):
    parts = ["Nanoseconds, medians; beside a peer's, how many times ours that is.", ""]
    rows = [["work", "ours", "floor", "ours ÷ floor", "floor with upkeep"]]
    for work in works:
        if work.has_floor:
            entry = results[work.name]
            rows.append([work.name, nanoseconds(entry["ours"]), nanoseconds(entry["floor"]), ratio(entry["ratio"], work.target), nanoseconds(entry["floor with upkeep"])])
    parts += [table(rows), ""]
    compared = [work for work in works if results[work.name]["peers"]]
    if compared:
        rows = [["work", "ours", *peers]]
        for work in compared:
            entry = results[work.name]
            rows.append([work.name, nanoseconds(entry["ours"]), *(peer_cell(entry, peer) for peer in peers)])
        parts += [table(rows), ""]
    grown = [(name, entry) for name, entry in results.items() if name.startswith("growth: ")]
    if grown:
        rows = [["growth", "ours"]] + [[name[8:], nanoseconds(entry["ours"])] for name, entry in grown]
        parts += [table(rows), ""]
    if verdicts:
        rows = [["check", "is", "at most", ""]]
        rows += [[v.name, f"{v.value:,.2f}", f"{v.limit:g}", "✓" if v.holds else "✗"] for v in verdicts]
        parts += [table(rows), ""]
    if missing:
        parts.append("Missing: " + ", ".join(missing))
    return "\n".join(parts).rstrip()
