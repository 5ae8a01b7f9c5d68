#!/usr/bin/env python3
"""tools/python/benchmark.py [--rounds N] [--calls N] [--hogs N]: what a call costs from Python, beside what else there is.

`tools/benchmark --python` runs it in an environment with the wheel of tools/wheel and the peers; a peer that is not
installed is left out (posix_ipc persist-queue diskcache filelock redis huey; redis also needs redis-server in PATH). All are
measured in turn, round by round, so that the machine's other load meets each of them. Prints, in microseconds, the least
mean of a round, and of all calls the median and the 99th of 100. Files of peers lie in memory, in /dev/shm. With hogs, so
many processes that never sleep run beside it.
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
import sys
import time

import sharedspace
from sharedspace import compat
from sharedspace.testing import temporary_space

MESSAGE = ("resize", 42, "cat.png")
# A child made by fork could not use what this process has used.
spawning = multiprocessing.get_context("spawn")


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
        import huey

        tasks = huey.SqliteHuey(filename=f"{folder}/huey", fsync=False)

        def through_huey():
            tasks.storage.enqueue(json.dumps(MESSAGE).encode())
            json.loads(tasks.storage.dequeue())

        yield "huey, SqliteHuey's storage (no ack)", through_huey
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


# --- To another process and back ------------------------------------------------------------------------------------------


def answer_ours(ns):
    """The other end of a hand-off."""
    while ns.take("ping", int, timeout=None) != ("ping", -1):
        ns.write("pong", 1)


def answer_mq(name):
    import posix_ipc

    there, back = posix_ipc.MessageQueue(name + "-there"), posix_ipc.MessageQueue(name + "-back")
    while json.loads(there.receive()[0]) != -1:
        back.send("1")


def answer_queues(there, back):
    while there.get() != -1:
        back.put(1)


def answer_redis(socket):
    import redis

    client = redis.Redis(unix_socket_path=socket)
    while json.loads(client.blpop("there")[1]) != -1:
        client.rpush("back", "1")


@contextlib.contextmanager
def other_end(target, *arguments):
    process = spawning.Process(target=target, args=arguments, daemon=True)
    process.start()
    yield
    process.join()


def hand_offs(ns, redis_socket):
    """For each way to pass a message: a context in which a process answers, and the call that sends one and waits."""

    def ours(turn):
        ns.write("ping", turn)
        if turn >= 0:
            ns.take("pong", int, timeout=None)

    yield "sharedspace: write, take", other_end(answer_ours, ns), ours
    with contextlib.suppress(ImportError, OSError):
        import posix_ipc

        name = f"/benchmark-{os.getpid()}"
        there = posix_ipc.MessageQueue(name + "-there", posix_ipc.O_CREX)
        back = posix_ipc.MessageQueue(name + "-back", posix_ipc.O_CREX)

        def mq(turn):
            there.send(json.dumps(turn))
            if turn >= 0:
                json.loads(back.receive()[0])

        @contextlib.contextmanager
        def mq_end():
            with other_end(answer_mq, name):
                yield
            there.unlink()
            back.unlink()

        yield "posix_ipc and json", mq_end(), mq
    for name, make in (
        ("multiprocessing.SimpleQueue", spawning.SimpleQueue),
        ("multiprocessing.Queue", spawning.Queue),
    ):
        queues = make(), make()

        def through_queues(turn, queues=queues):
            queues[0].put(turn)
            if turn >= 0:
                queues[1].get()

        yield name, other_end(answer_queues, *queues), through_queues
    if redis_socket:
        import redis

        client = redis.Redis(unix_socket_path=redis_socket)

        def through_redis(turn):
            client.rpush("there", json.dumps(turn))
            if turn >= 0:
                client.blpop("back")

        yield "redis-py, unix socket: rpush, blpop", other_end(answer_redis, redis_socket), through_redis


def handed_off(end, call, turns):
    """Nanoseconds of hand-offs to another process and back, without the first ones."""
    taken = []
    with end:
        for turn in range(turns):
            start = time.perf_counter_ns()
            call(turn)
            taken.append(time.perf_counter_ns() - start)
        call(-1)
    return taken[turns // 10 :]


async def awaited(ns):
    """Milliseconds until 1,000 tasks that wait are served, from the first write."""
    tasks = [asyncio.create_task(ns.aio.take("n", n, timeout=None)) for n in range(1000)]
    await asyncio.sleep(0.5)
    start = time.perf_counter()
    ns.write_all([("n", n) for n in range(1000)])
    await asyncio.gather(*tasks)
    return (time.perf_counter() - start) * 1000


def hog():
    """Never sleeps, but ends with the process that has started it."""
    parent = os.getppid()
    while os.getppid() == parent:
        sum(range(10000))


def import_time():
    """Milliseconds that an import adds to the start of Python: the median of some runs."""

    def run(code):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return (time.perf_counter() - start) * 1000

    return statistics.median(run("import sharedspace") - run("pass") for _ in range(15))


def percentile(taken, hundredths):
    """Microseconds."""
    return sorted(taken)[min(len(taken) - 1, len(taken) * hundredths // 100)] / 1000


def row(name, taken, least=None):
    first = f"{least:9.1f}" if least is not None else " " * 9
    print(f"{name:45}{first}{percentile(taken, 50):9.1f}{percentile(taken, 99):9.1f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--hogs", type=int, default=0)
    arguments = parser.parse_args()
    folder = tempfile.mkdtemp(dir="/dev/shm")
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        space = stack.enter_context(temporary_space())
        ns = stack.enter_context(space.namespace("benchmark"))
        hogs = [spawning.Process(target=hog, daemon=True) for _ in range(arguments.hogs)]
        for process in hogs:
            process.start()
            stack.callback(process.kill)
        measured = {name: (call, [], []) for name, call in (*ours(ns), *peers(folder, stack))}
        for _ in range(arguments.rounds):
            for call, taken, rounds in measured.values():
                before = len(taken)
                for _ in range(arguments.calls):
                    start = time.perf_counter_ns()
                    call()
                    taken.append(time.perf_counter_ns() - start)
                rounds.append(statistics.mean(taken[before:]) / 1000)
        print(
            f"Python {sys.version.split()[0]}, sharedspace {sharedspace.__version__}, {arguments.rounds} rounds of "
            f"{arguments.calls} calls, {arguments.hogs} hogs; load {os.getloadavg()[0]:.1f}"
        )
        print(f"{'one process, µs':45}{'least':>9}{'median':>9}{'p99':>9}")
        for name, (_, taken, rounds) in measured.items():
            row(name, taken, min(rounds))
        print(f"{'to another process and back, µs':45}{'':9}{'median':>9}{'p99':>9}")
        redis_socket = f"{folder}/redis" if os.path.exists(f"{folder}/redis") else None
        for name, end, call in hand_offs(ns, redis_socket):
            row(name, handed_off(end, call, arguments.calls))
        print("1,000 waiting tasks are served in %.0f ms" % min(asyncio.run(awaited(ns)) for _ in range(5)))
        print("import sharedspace takes %.0f ms" % import_time())


if __name__ == "__main__":
    main()
