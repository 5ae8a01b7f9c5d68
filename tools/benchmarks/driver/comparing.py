"""What a run measured on, and its ratios to a former run."""

import json
import os
import subprocess
import sys

import report

NAMES = ("machine", "mode", "version")


def first_line(command):
    try:
        lines = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True).stdout.splitlines()
        return lines[0].strip() if lines else "unknown"
    except (OSError, subprocess.SubprocessError):
        return "unknown"


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return os.uname().machine


def about(source, quick, only):
    """The machine, the mode and the version, each as a text to be compared as a whole."""
    system, count = os.uname(), len(os.sched_getaffinity(0))
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / (1 << 30)
    version = first_line(["git", "-C", source, "describe", "--always", "--dirty", "--abbrev=12"])
    lmdb = first_line(["pkg-config", "--modversion", "lmdb"])
    return {
        "machine": f"{processor()}, {count} processors, {memory:.0f} GiB, {system.sysname} {system.release}",
        "mode": ("quick" if quick else "full") + (f", only “{only}”" if only else ""),
        "version": f"{version}, LMDB {lmdb}, {first_line(['swift', '--version'])}",
    }


def load(path):
    """The results of a former run; ends the program if there are none."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError) as error:
        sys.exit(f"benchmark: {path} is not to be compared with: {error}")
    if not isinstance(found, dict) or not any(isinstance(entry, dict) and entry.get("ours") for entry in found.values()):
        sys.exit(f"benchmark: {path} is not to be compared with: it has no results")
    return found


def differences(now, then):
    """The lines that say how the runs differ."""
    if "about" not in then:
        return ["The former run does not say its machine, its mode and its version."]
    return [
        f"Another {name}: {now['about'][name]}; it was: {then['about'].get(name, 'unknown')}"
        for name in NAMES
        if now["about"][name] != then["about"].get(name)
    ]


def quotient(now, then):
    return f"{now / then:.3g}" if now and then else ""


def cells(entry, former):
    p99, former_p99 = (one.get("latencies", {}).get("ours", {}).get("p99") for one in (entry, former))
    return [
        report.number(entry["ours"]), report.number(former["ours"]), quotient(entry["ours"], former["ours"]),
        quotient(p99, former_p99), quotient(entry.get("floor"), former.get("floor")),
        quotient(entry.get("ring"), former.get("ring")), quotient(entry.get("ratio"), former.get("ratio")),
    ]


def text(now, then, path, only):
    """A table of each row's ratios; the floor's shows how much of a difference is the machine's."""
    parts = [f"Against {path}: this run's number ÷ the former one's.", "", *differences(now, then)]
    measured = {name: entry for name, entry in now.items() if name != "about" and entry["ours"]}
    former = {name: entry for name, entry in then.items() if name != "about" and entry.get("ours")}
    rows = [["row", "ours", "it was", "ours ÷", "p99 ÷", "floor ÷", "ring ÷", "(ours ÷ floor) ÷"]]
    rows += [[report.title(name, entry), *cells(entry, former[name])] for name, entry in measured.items() if name in former]
    if len(rows) > 1:
        parts += ["", report.table(rows)]
    for title, some, others in (("Only in this run", measured, former), ("Only in the former run", former, measured)):
        # What was left out on purpose is not missing.
        names = [name for name in some if name not in others and not (only and (only not in name or ": " in name))]
        if names:
            parts += ["", f"{title}: " + "; ".join(names)]
    return "\n".join(parts)
