"""What all tests share: a namespace of their own, and processes that say where they are over pipes."""

import contextlib
import importlib.metadata
import linecache
import os
import pathlib
import re
import select
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import sharedspace

# How long a process may be silent: a watchdog, no measurement.
LIMIT = 20

if all(point.value != "sharedspace._pytest" for point in importlib.metadata.entry_points(group="pytest11")):
    # The tests are run from the sources.
    from sharedspace._pytest import shared_space  # noqa: F401


class Child:
    """A Python process; it speaks in lines."""

    def __init__(self, code, *arguments):
        prelude = "import sys, os, sharedspace\nfrom sharedspace import *\nns = Space().namespace('test')\n"
        prelude += "def say(*words): print(*words, flush=True)\ndef hear(): return sys.stdin.readline().strip()\n"
        self.process = subprocess.Popen(
            [sys.executable, "-c", prelude + textwrap.dedent(code), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.pid = self.process.pid

    def hear(self):
        """The next line that the process prints."""
        line = b""
        while not line.endswith(b"\n"):
            assert select.select([self.process.stdout], [], [], LIMIT)[0], "the process says nothing"
            byte = os.read(self.process.stdout.fileno(), 1)
            assert byte, f"the process has ended: {self.process.stderr.read().decode()}"
            line += byte
        return line.decode().strip()

    def say(self, word=""):
        self.process.stdin.write(word.encode() + b"\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.wait(LIMIT)

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self):
        """Waits for the end, and returns the status and what was printed."""
        out, error = self.process.communicate(timeout=LIMIT)
        return self.process.returncode, out.decode(), error.decode()

    def close(self):
        if self.process.poll() is None:
            self.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


@pytest.fixture
def child(shared_space):
    """Starts processes, and ends those that are left."""
    started = []

    def start(code, *arguments):
        started.append(Child(code, *arguments))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture(autouse=True)
def watchdog():
    """Ends a test that hangs."""

    def bark(number, frame):
        raise TimeoutError("the test hangs")

    before = signal.signal(signal.SIGALRM, bark)
    signal.alarm(2 * LIMIT)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def ns(shared_space):
    with shared_space.namespace("test") as namespace:
        yield namespace


def waiters(namespace):
    """How many places in line there are, as `show` tells."""
    return len(namespace.show()["waiters"])


def until(holds):
    """Returns when something holds that nothing tells of."""
    end = time.monotonic() + LIMIT
    while not holds():
        assert time.monotonic() < end, "it does not hold"
        os.sched_yield()


def until_waiting(namespace, count=1):
    """Returns when so many wait in the namespace: a handshake with a process that is in a call."""
    until(lambda: waiters(namespace) >= count)


class Struck(Exception):
    """What a signal's handler raises."""


@contextlib.contextmanager
def striking(place, *files):
    """Raises `Struck` once, at the place-th line of these files of the package, as a signal's handler can.

    Gives a list, which has an element when that has happened. Before a bare `return name` no signal is handled.
    """
    package = pathlib.Path(sharedspace.__file__).parent
    names = {str(package / file) for file in files}
    lines, done = 0, []

    def trace(frame, event, argument):
        nonlocal lines
        if frame.f_code.co_filename not in names:
            return None
        if event == "line" and not done:
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            lines += not re.match(r"return \w+$", line)
            if lines == place:
                done.append(line)
                sys.settrace(None)
                raise Struck
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield done
    except Struck:
        pass
    finally:
        sys.settrace(before)
