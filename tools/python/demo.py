#!/usr/bin/env python3
"""tools/demo --python runs this: a worker is killed, with multiprocessing.Queue and with one changed import.

Three workers wait for jobs. The first is killed (SIGKILL) while it waits in get(); then come the jobs. With
multiprocessing.Queue the dead worker keeps the lock of the pipe, and no other ever gets anything (cpython#87971). With
sharedspace.compat.Queue the kernel tells that it is gone, and the others do all the jobs. Then a worker is killed in the
middle of a job: the job goes to another. The status is not 0 if a job is lost, or done twice.
"""

import argparse
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import time

import sharedspace
from sharedspace import compat
from sharedspace.testing import temporary_space

# A start method that needs no fork of a process that has used the library.
processes = multiprocessing.get_context("spawn")


def show(text):
    print(text, flush=True)


def work(queue, results):
    """Does jobs until it is told to stop."""
    results.send(("waits", os.getpid()))
    while (job := queue.get()) is not None:
        results.send(("done", job))


def heard(results, seconds):
    """What the workers say, until they say nothing for some time."""
    while multiprocessing.connection.wait(results, seconds):
        for connection in multiprocessing.connection.wait(results, 0):
            try:
                yield connection.recv()
            except EOFError:
                results.remove(connection)
        if not results:
            return


def sleeps_in_get(pid):
    """Whether a process sleeps in the kernel."""
    with open(f"/proc/{pid}/stat") as stat:
        return stat.read().rpartition(")")[2].split()[0] == "S"


def start(queue):
    reading, writing = processes.Pipe(duplex=False)
    worker = processes.Process(target=work, args=(queue, writing), daemon=True)
    worker.start()
    writing.close()
    reading.recv()
    # It says so before it waits; it has the lock, if there is one, when it sleeps for some time.
    since = time.monotonic()
    while time.monotonic() - since < 0.3:
        if not sleeps_in_get(worker.pid):
            since = time.monotonic()
        time.sleep(0.01)
    return worker, reading


def kill_a_waiting_worker(name, queue, jobs, patience):
    """How many jobs are done when a worker was killed while it waited."""
    show(f"\n{name}: three workers wait; the first is killed in get(); then come {jobs} jobs")
    workers = [start(queue) for _ in range(3)]
    first, rest = workers[0], workers[1:]
    show(f"$ kill -9 {first[0].pid}")
    os.kill(first[0].pid, signal.SIGKILL)
    first[0].join()
    for job in range(jobs):
        queue.put(job)
    done, begun = [], time.monotonic()
    for _, job in heard([results for _, results in rest], patience):
        done.append(job)
        if len(done) == jobs:
            break
    seconds = time.monotonic() - begun
    if len(done) == jobs:
        show(f"{name}: {jobs} of {jobs} jobs are done, after {seconds * 1000:.0f} ms")
    else:
        show(f"{name}: {len(done)} of {jobs} jobs are done, and nothing more came for {patience} s: the queue is dead")
    for worker, _ in rest:
        worker.kill()
        worker.join()
    return done


def work_slowly(ns, victim):
    """Does jobs; one process is killed in the middle of its first."""
    for job in ns.claims("job", int, timeout=None):
        if victim:
            os.kill(os.getpid(), signal.SIGKILL)
        with job, ns.transaction() as t:
            t.complete(job)
            t.write("done", job.tuple[1])
            t.add("count")


def kill_a_working_worker(ns, jobs):
    """The jobs that are done when workers were killed in the middle of one."""
    show(f"\nsharedspace: four workers claim {jobs} jobs; one kills itself (SIGKILL) in the middle of its first job")
    workers = [processes.Process(target=work_slowly, args=(ns, n == 0), daemon=True) for n in range(4)]
    workers[0].start()
    ns.write_all([("job", n) for n in range(jobs)])
    workers[0].join()
    show(f"process {workers[0].pid} has died with a job; {ns.count('job', int)} of {jobs} are there for the others")
    for worker in workers[1:]:
        worker.start()
    while ns.get("count", 0) < jobs:
        time.sleep(0.01)
    for worker in workers[1:]:
        worker.kill()
        worker.join()
    return sorted(found[1] for found in ns.read_all("done", int))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=200, help="how many jobs (200)")
    parser.add_argument("--patience", type=float, default=3, help="seconds after which a queue counts as dead (3)")
    arguments = parser.parse_args()
    jobs, patience = arguments.jobs, arguments.patience
    show(f"Python {sys.version.split()[0]}, sharedspace {sharedspace.__version__}")

    queue = processes.Queue()
    queue.cancel_join_thread()
    theirs = kill_a_waiting_worker("multiprocessing.Queue", queue, jobs, patience)
    if len(theirs) == jobs:
        show("This Python has mended its queue.")
    with temporary_space() as space:
        ours = kill_a_waiting_worker("sharedspace.compat.Queue", compat.Queue(namespace=space.namespace("demo")), jobs, 30)
        done = kill_a_working_worker(space.namespace("jobs"), jobs)
    show(f"sharedspace: {len(set(done))} of {jobs} jobs are done, {len(done) - len(set(done))} of them twice")
    sys.exit(0 if sorted(ours) == done == list(range(jobs)) else 1)


if __name__ == "__main__":
    main()
