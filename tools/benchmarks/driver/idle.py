"""What processes cost that wait and are not served."""

import os
import subprocess
import time

from running import say
from works import IDLERS

WINDOW = 10


def processor_time(pid):
    """Nanoseconds that all threads of a process have run."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total


def start_idlers(bench, root):
    ours = bench.programs["ours"]
    idlers = [bench.start([ours, root, "wait", "1", "job"], stdout=subprocess.PIPE) for _ in range(IDLERS)]
    for idler in idlers:
        if len(idler.stdout.read(8)) != 8:
            raise RuntimeError("a waiter ended early")
    return idlers


def serve(bench, root, idlers):
    """Ends the waiters as a writer does: one that did not wait would not end."""
    command = [bench.programs["ours"], root, "write-asked", str(len(idlers))]
    writer = bench.start(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    writer.communicate(b"." * len(idlers), timeout=60)
    for idler in idlers:
        if idler.wait(timeout=60) != 0:
            raise RuntimeError("an idle waiter was not served")


def measure(bench, seconds):
    """Nanoseconds of processor time that all of them take in 10 s; measured for so many seconds."""
    root = os.path.join(bench.folder, "idle")
    idlers = start_idlers(bench, root)
    # Until the last one has gone to sleep.
    time.sleep(1)
    before, start = [processor_time(idler.pid) for idler in idlers], time.monotonic()
    time.sleep(seconds)
    after, elapsed = [processor_time(idler.pid) for idler in idlers], time.monotonic() - start
    serve(bench, root, idlers)
    ran = sum(after) - sum(before)
    say(f"idle: {IDLERS} waiting processes ran {ran / 1e6:.1f} ms in {elapsed:.1f} s")
    return ran * WINDOW / elapsed
