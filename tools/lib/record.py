"""record.py --output FILE --folder DIR [--keep FILE] [--from FILE] [--at SECONDS] -- COMMAND…: for tools/record.

Runs the command in DIR in a pseudo terminal, and writes its output as an animated SVG. All lines are laid out below each
other once; an animation moves them up as a terminal would, and each line becomes visible at its time. A line that is
written over (a carriage return) has several versions, each with a time of its own.
"""
import argparse
import codecs
import fcntl
import html
import json
import os
import pty
import re
import shlex
import struct
import sys
import termios
import time

COLUMNS, ROWS = 112, 30

# How the times of the recording become those of the picture, in seconds.
LONGEST_WAIT = 1.0  # a longer one is cut to this
LINE = 0.045  # at least, from one line to the next
COMMAND = 1.2  # before a command is shown, if the one before it has printed anything
VERSION = 0.1  # at least, from one version of a line to the next
END = 6.0  # how long the last screen stays

FONT, ADVANCE, LEADING, MARGIN = 12, 7.25, 16, 14
DESCENT = 4  # of a line's height, below the baseline
LIMIT = 200_000  # bytes


def record(command, folder):
    """Runs a command in a terminal of its own; returns [seconds, text] pieces, and its exit status."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(folder)
        os.environ.update(TERM="xterm", LINES=str(ROWS), COLUMNS=str(COLUMNS))
        # The child's terminal is its standard input, so the size is there before the command looks.
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        os.execvp(command[0], command)
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    begin, pieces, rest = time.monotonic(), [], ""
    while True:
        try:
            data = os.read(terminal, 65536)
        except OSError:  # EIO: every process has closed the terminal
            break
        if not data:
            break
        text = rest + decoder.decode(data)
        rest = text[text.rfind("\x1b") :] if re.search(r"\x1b\[?$", text) else ""  # half of an escape sequence
        text = text[: len(text) - len(rest)]
        print(text, end="", flush=True, file=sys.stderr)
        pieces.append([round(time.monotonic() - begin, 3), text])
    _, status = os.waitpid(pid, 0)
    return pieces, os.waitstatus_to_exitcode(status)


class Paper:
    """A terminal without a lower edge: every line that was ever there, and when it looked how."""

    def __init__(self):
        self.lines = [[]]  # of each line: (time, text), in order
        self.text, self.column = "", 0

    def show(self, now):
        versions = self.lines[-1]
        if versions and now - versions[-1][0] < VERSION:
            now, _ = versions.pop()
        if not versions or versions[-1][1] != self.text:
            versions.append((now, self.text))

    def feed(self, now, character):
        if character == "\n":
            self.show(now)
            self.lines.append([])
            self.text, self.column = "", 0
        elif character == "\r":
            self.column = 0
        elif character == "\x1b[K":
            self.text = self.text[: self.column]
        elif len(character) == 1 and character.isprintable():
            if self.column == COLUMNS:
                self.feed(now, "\n")
            self.text = self.text[: self.column].ljust(self.column) + character + self.text[self.column + 1 :]
            self.column += 1
        else:
            sys.exit(f"record: the demo wrote {character!r}, which is not understood here")


def play(pieces, title):
    """Writes the pieces on paper, with the picture's times; returns the paper and the time of its end."""
    paper, now, last, was_command = Paper(), 0.5, 0.0, False
    for character in f"$ {title}\n":
        paper.feed(now, character)
    for then, text in pieces:
        now += min(then - last, LONGEST_WAIT)
        last = then
        for line in re.findall(r"[^\n]*\n|[^\n]+", text):
            is_command = line.startswith("$ ")
            now += COMMAND if is_command and not was_command else 0
            was_command = is_command
            for character in re.findall(r"\x1b\[K|[\s\S]", line):
                paper.feed(now, character)
            if line.endswith("\n"):
                now += LINE
            else:
                paper.show(now)
    if not paper.text:
        paper.lines.pop()  # what comes after the last line break
    return paper, now + END


def colour(text, is_listing):
    """The class of a line: a command, a message, or the listing of the scripts that the demo begins with."""
    if text.startswith("$ "):
        return "c"
    if text.startswith("demo: "):
        return "w"
    return "s" if is_listing else ""


def draw(paper, end, at=None):
    """The picture: an animated one, or the screen of one time."""
    moves, spans, times, is_listing = [], [], {}, True

    def percent(moment):
        return f"{100 * moment / end:.2f}".rstrip("0").rstrip(".")

    for row, versions in enumerate(paper.lines):
        if row >= ROWS:
            moves.append((versions[0][0], row - ROWS + 1))
        for index, (begin, text) in enumerate(versions):
            is_listing = is_listing and not (row > 0 and text.startswith("$ "))
            stop = versions[index + 1][0] if index + 1 < len(versions) else None
            if not text.strip() or at is not None and not (begin <= at and (stop is None or at < stop)):
                continue
            name = ""
            if at is None:
                name = times.setdefault((begin, stop), f"t{len(times)}")
            classes = " ".join(filter(None, [colour(text, is_listing), name, "o" if stop is not None and at is None else ""]))
            attribute = f' class="{classes}"' if classes else ""
            baseline = (row + 1) * LEADING - DESCENT
            spans.append(f'<text y="{baseline}"{attribute}>{html.escape(text.rstrip(), quote=False)}</text>')
    if at is not None:
        moves = [move for move in moves if move[0] <= at]
    top = max(len(paper.lines) - ROWS, 0) if at is None else moves[-1][1] if moves else 0

    width, height = round(COLUMNS * ADVANCE + 2 * MARGIN), ROWS * LEADING + 2 * MARGIN
    style = [
        f"text{{font:{FONT}px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;"
        "white-space:pre;fill:#1f2328}",
        ".b{fill:#f6f8fa;stroke:#d0d7de}.c{fill:#0550ae;font-weight:600}.s{fill:#6e7781}.w{fill:#bc4c00}",
        "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.b{fill:#0d1117;stroke:#30363d}"
        ".c{fill:#79c0ff}.s{fill:#8b949e}.w{fill:#ffa657}}",
        f".m{{transform:translateY({-top * LEADING}px)}}.o{{opacity:0}}",
    ]
    if at is None:
        # Several lines may move at one time: the last one counts.
        steps = "".join(f"{percent(t)}%{{transform:translateY({-n * LEADING}px)}}" for t, n in dict(moves).items())
        frames = [f"@keyframes m{{0%{{transform:none}}{steps}}}"] if moves else []
        rules = [f".m{{animation:m {end:.1f}s step-end infinite}}"] if moves else []
        for (begin, stop), name in times.items():
            after = f"{percent(stop)}%{{opacity:0}}" if stop is not None else ""
            frames.append(f"@keyframes {name}{{0%{{opacity:0}}{percent(begin)}%{{opacity:1}}{after}}}")
            rules.append(f".{name}{{animation:{name} {end:.1f}s step-end infinite}}")
        style.append("@media (prefers-reduced-motion:no-preference){" + "\n".join(frames + rules) + "}")
    style = "\n".join(style)
    return f"""<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" \
role="img">
<title>A recording of tools/demo: a writer, workers, one of them killed, and a collector share a job</title>
<style>
{style}
</style>
<rect class="b" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="6"/>
<svg x="{MARGIN}" y="{MARGIN}" width="{width - 2 * MARGIN}" height="{ROWS * LEADING}">
<g class="m" xml:space="preserve">
{chr(10).join(spans)}
</g>
</svg>
</svg>
"""


def main():
    parser = argparse.ArgumentParser()
    for option in ("--output", "--folder", "--keep", "--from", "--at"):
        parser.add_argument(option)
    parser.add_argument("command", nargs="+")
    options = parser.parse_args()
    kept = getattr(options, "from")
    if kept:
        with open(kept, encoding="utf-8") as file:
            pieces = [json.loads(line) for line in file]
        title = pieces.pop(0)[1]
    else:
        title = shlex.join(options.command)
        pieces, status = record(options.command, options.folder)
        if status != 0:
            sys.exit(f"record: {title} failed with status {status}; nothing was written")
    if options.keep:
        with open(options.keep, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(piece, ensure_ascii=False) + "\n" for piece in [[0, title], *pieces])
    paper, end = play(pieces, title)
    picture = draw(paper, end, float(options.at) if options.at else None)
    if len(picture.encode()) > LIMIT:
        sys.exit(f"record: the picture has {len(picture.encode())} bytes, more than {LIMIT}; try a smaller --limit")
    with open(options.output, "w", encoding="utf-8") as file:
        file.write(picture)
    print(f"{options.output}: {len(picture.encode())} bytes, {end:.0f} s", file=sys.stderr)


main()
