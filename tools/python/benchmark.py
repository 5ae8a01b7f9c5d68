#!/usr/bin/env python3
"""tools/python/benchmark.py [--rounds N] [--calls N]: what a call costs from Python, beside what else there is.

Run it in an environment with the wheel of tools/wheel; peers are measured if they are installed (pip install posix_ipc
persist-queue diskcache filelock redis; redis also needs redis-server in PATH). All are measured in turn, round by round, so
that the machine's other load meets each of them. Prints, in microseconds, the least and the median of the rounds. Files of
peers lie in memory, in /dev/shm.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import shutil
import statistics
import subprocess
import tempfile
import time

import sharedspace
from sharedspace import compat
from sharedspace.testing import temporary_space

MESSAGE = ("resize", 42, "cat.png")


def ours(ns):
    def take():
        ns.write(*MESSAGE)
        ns.take("resize", int, str)

    def claim():
        ns.write(*MESSAGE)
        with ns.claim("resize", int, str):
            pass

    def lock(held=ns.lock("l")):
        with held:
            pass

    queue = compat.Queue(namespace=ns)
    file_lock = compat.FileLock("/dev/shm/benchmark.lock")

    def compatible():
        queue.put(MESSAGE)
        queue.get()

    def file_locked():
        with file_lock:
            pass

    yield "sharedspace: write, take", take
    yield "sharedspace: write, claim, complete", claim
    yield "sharedspace.compat.Queue", compatible
    yield "sharedspace: lock", lock
    yield "sharedspace.compat.FileLock", file_locked


def peers(folder, stack):
    for name, make in (
        ("multiprocessing.SimpleQueue", multiprocessing.SimpleQueue),
        ("multiprocessing.Queue", multiprocessing.Queue),
    ):
        queue = make()

        def pass_on(queue=queue):
            queue.put(MESSAGE)
            queue.get()

        yield name, pass_on
    with contextlib.suppress(ImportError, OSError):
        import posix_ipc

        messages = posix_ipc.MessageQueue(f"/benchmark-{os.getpid()}", posix_ipc.O_CREX)
        stack.callback(messages.unlink)

        def posix():
            messages.send(json.dumps(MESSAGE))
            json.loads(messages.receive()[0])

        yield "posix_ipc and json (no claims)", posix
    with contextlib.suppress(ImportError):
        import persistqueue

        persistent = persistqueue.SQLiteAckQueue(f"{folder}/persist", auto_commit=True)

        def persist():
            persistent.put(MESSAGE)
            persistent.ack(persistent.get())

        yield "persist-queue SQLiteAckQueue", persist
    with contextlib.suppress(ImportError):
        import diskcache

        deque = diskcache.Deque(directory=f"{folder}/diskcache")

        def disk():
            deque.append(MESSAGE)
            deque.popleft()

        yield "diskcache.Deque", disk
    with contextlib.suppress(ImportError):
        import filelock

        lock = filelock.FileLock(f"{folder}/filelock")

        def file_locked():
            with lock:
                pass

        yield "filelock.FileLock", file_locked
    if shutil.which("redis-server"):
        with contextlib.suppress(ImportError):
            import redis

            socket = f"{folder}/redis"
            command = ["redis-server", "--port", "0", "--unixsocket", socket, "--save", ""]
            server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
            stack.callback(lambda: (server.terminate(), server.wait()))
            client = redis.Redis(unix_socket_path=socket)
            while not os.path.exists(socket):
                time.sleep(0.01)

            def through_redis():
                client.rpush("q", json.dumps(MESSAGE))
                json.loads(client.lmove("q", "working"))
                client.lpop("working")

            yield "redis-py, unix socket: rpush, lmove, lpop", through_redis


def answer(ns):
    """The other end of a hand-off."""
    while ns.take("ping", int, timeout=None) != ("ping", -1):
        ns.write("pong", 1)


def handed_off(ns, turns):
    """Microseconds of a hand-off to another process and back: median, and 99 of 100."""
    process = multiprocessing.get_context("spawn").Process(target=answer, args=(ns,))
    process.start()
    taken = []
    for turn in range(turns):
        start = time.perf_counter_ns()
        ns.write("ping", turn)
        ns.take("pong", int, timeout=None)
        taken.append((time.perf_counter_ns() - start) / 1000)
    ns.write("ping", -1)
    process.join()
    taken = sorted(taken[turns // 10 :])
    return taken[len(taken) // 2], taken[len(taken) * 99 // 100]


async def awaited(ns):
    """Milliseconds until 1,000 tasks that wait are served, from the first write."""
    tasks = [asyncio.create_task(ns.aio.take("n", n, timeout=None)) for n in range(1000)]
    await asyncio.sleep(0.5)
    start = time.perf_counter()
    ns.write_all([("n", n) for n in range(1000)])
    await asyncio.gather(*tasks)
    return (time.perf_counter() - start) * 1000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=2000)
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(dir="/dev/shm")
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        space = stack.enter_context(temporary_space())
        ns = stack.enter_context(space.namespace("benchmark"))
        measured = {name: (call, []) for name, call in (*ours(ns), *peers(folder, stack))}
        for _ in range(arguments.rounds):
            for call, times in measured.values():
                start = time.perf_counter()
                for _ in range(arguments.calls):
                    call()
                times.append((time.perf_counter() - start) / arguments.calls * 1e6)
        print(f"sharedspace {sharedspace.__version__}, {arguments.rounds} rounds; load {os.getloadavg()[0]:.1f}")
        for name, (_, times) in measured.items():
            print(f"{name:45}{min(times):9.1f}{statistics.median(times):9.1f}")
        print("to another process and back: median %.1f, 99 of 100 %.1f" % handed_off(ns, 5000))
        print("1,000 waiting tasks are served in %.0f ms" % min(asyncio.run(awaited(ns)) for _ in range(5)))


if __name__ == "__main__":
    main()
