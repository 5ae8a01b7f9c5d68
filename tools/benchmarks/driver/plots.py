"""Plots as SVG, made by hand: light, readable in a README, and without dependencies."""

import math
import os
from xml.sax.saxutils import escape

from works import COUNTED, HOGGED

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 44, 48
# Distinguishable for people who see few colours, too, and on light and dark ground.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]
INK, GRID = "#57606a", "#d0d7de"
# The ink and the grid on dark ground; the colours above do on both.
DARK = (
    f'<style>@media (prefers-color-scheme: dark) {{ text[fill="{INK}"] {{ fill: #a7b0bd; }}'
    " line { stroke: #3a424d; } }</style>"
)


def amount(nanoseconds):
    for limit, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if nanoseconds >= limit:
            return f"{nanoseconds / limit:.3g} {unit}"
    return f"{nanoseconds:.3g} ns"


def size_text(number, kind):
    if kind == "values":
        for limit, unit in ((1 << 20, "MiB"), (1 << 10, "KiB")):
            if number >= limit:
                return f"{number // limit} {unit}"
        return f"{number} B"
    for limit, unit in ((1_000_000, " M"), (1_000, " k")):
        if number >= limit:
            return f"{number / limit:g}{unit}"
    return str(number)


class Picture:
    def __init__(self, title, height=HEIGHT):
        self.height = height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
            f' font-family="system-ui, sans-serif" font-size="12" fill="{INK}" role="img">',
            f"<title>{escape(title)}</title>",
            DARK,
        ]
        self.text(LEFT, 22, title, size=14, weight="600")

    def text(self, x, y, text, anchor="start", size=12, colour=INK, weight="400"):
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}"'
            f' fill="{colour}">{escape(text)}</text>'
        )

    def line(self, x1, y1, x2, y2, colour=GRID, width=1):
        self.parts.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" stroke-width="{width}"/>'
        )

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join([*self.parts, "</svg>", ""]))
        return path


def decades(numbers):
    low, high = math.floor(math.log10(min(numbers))), math.ceil(math.log10(max(numbers)))
    return low, max(high, low + 1)


def growth_plot(folder, kind, sizes, lines, title):
    """Lines over sizes: the sizes evenly spaced, the times on a logarithmic scale."""
    picture = Picture(title)
    low, high = decades([number for values in lines.values() for number in values])
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def x(index):
        return LEFT + (right - LEFT) * (index / max(1, len(sizes) - 1))

    def y(number):
        return bottom - (bottom - TOP) * ((math.log10(number) - low) / (high - low))

    for decade in range(low, high + 1):
        picture.line(LEFT, y(10**decade), right, y(10**decade))
        picture.text(LEFT - 8, y(10**decade) + 4, amount(10**decade), "end")
    for index, size in enumerate(sizes):
        picture.text(x(index), bottom + 20, size_text(size, kind), "middle")
    picture.text((LEFT + right) / 2, bottom + 38, kind, "middle")
    # Names beside the last points, pushed apart where they would overlap.
    placed = []
    for index, (name, values) in enumerate(sorted(lines.items(), key=lambda line: -line[1][-1])):
        colour = COLOURS[index % len(COLOURS)]
        points = " ".join(f"{x(i):.1f},{y(number):.1f}" for i, number in enumerate(values))
        picture.parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for i, number in enumerate(values):
            picture.parts.append(f'<circle cx="{x(i):.1f}" cy="{y(number):.1f}" r="3" fill="{colour}"/>')
        at = y(values[-1]) + 4
        if placed and at < placed[-1] + 14:
            at = placed[-1] + 14
        placed.append(at)
        picture.text(right + 10, at, name, colour=colour)
    return picture.write(os.path.join(folder, f"growth-{kind}.svg"))


def bars(folder, file, title, groups):
    """Groups of bars on a logarithmic scale: [(name, {who: nanoseconds})]."""
    rows = sum(len(values) for _, values in groups)
    height = TOP + rows * 18 + len(groups) * 26 + 20
    picture = Picture(title, height)
    low, high = decades([number for _, values in groups for number in values.values()])
    left, right = 170, WIDTH - 90
    top = TOP
    for name, values in groups:
        picture.text(20, top + 12, name, weight="600")
        top += 20
        fastest = min(values.values())
        for who, number in values.items():
            length = max(2.0, (right - left) * ((math.log10(number) - low) / (high - low)))
            colour = COLOURS[0] if who == "SharedSpace" else "#8c959f"
            picture.text(left - 8, top + 11, who, "end")
            picture.parts.append(
                f'<rect x="{left}" y="{top + 1}" width="{length:.1f}" height="13" rx="2" fill="{colour}"/>'
            )
            picture.text(left + length + 6, top + 12, amount(number), weight="600" if number == fastest else "400")
            top += 18
        top += 6
    return picture.write(os.path.join(folder, file))


def draw(folder, works, results, grown):
    """Returns the paths of the drawn files."""
    os.makedirs(folder, exist_ok=True)
    drawn = []
    titles = {
        "tuples": "An operation, with so many tuples in the namespace",
        "waiters": "A write, with so many takers blocked that don't match",
        "namespaces": "A write, with so many namespaces open",
        "values": "An operation, by the size of the tuple",
        "ordered-set": "An operation, on an ordered set of so many elements",
    }
    for kind, sizes in grown.items():
        names = [name for name in next(iter(sizes.values())) if name not in COUNTED]
        lines = {name: [found[name] for found in sizes.values()] for name in names}
        if lines and len(sizes) > 1:
            drawn.append(growth_plot(folder, kind, list(sizes), lines, titles[kind]))
    pictures = {
        "peers.svg": ("One process, 64-byte messages: time each (logarithmic)", ("write", "take by the first field", "claim and complete")),
        "hand-off.svg": ("Two processes, a message there and one back (logarithmic)", ("hand-off and back, spinning", "hand-off and back, sleeping")),
        "busy.svg": (
            "Between processes, on an idle machine and beside two hogs a processor (logarithmic)",
            [name + hogs for name in ("hand-off and back, spinning", "1 to 1 processes, a message") for hogs in ("", HOGGED)],
        ),
        "crowd.svg": ("Producers to takers, processes of their own: time a message (logarithmic)", None),
    }
    for file, (title, names) in pictures.items():
        groups = []
        for work in works:
            entry = results[work.name]
            if work.name in names if names else work.peer_work == "crowd" and not work.name.endswith(HOGGED):
                values = {"SharedSpace": entry["ours"], **entry["peers"], "a bare ring": entry["ring"]}
                groups.append((work.name, {who: number for who, number in values.items() if number}))
        if groups:
            drawn.append(bars(folder, file, title, groups))
    return drawn
