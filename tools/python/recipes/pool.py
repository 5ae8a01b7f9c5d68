"""A pool of workers, one of which is killed in its work: every job is done, and once. Prints the sum of the squares."""

import multiprocessing
import os
import signal

import sharedspace


def work(ns):
    for job in ns.claims("square", int):
        with job, ns.transaction() as t:
            number = job.tuple[1]
            if number == 7 and ns.add("tried 7") == 1:
                os.kill(os.getpid(), signal.SIGKILL)  # the job goes to another worker
            t.complete(job)
            t.write("squared", number, number * number)


if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    with sharedspace.Space().namespace("pool") as ns:
        workers = [spawn.Process(target=work, args=(ns,), daemon=True) for _ in range(3)]
        for worker in workers:
            worker.start()
        ns.write_all([("square", n) for n in range(20)])
        print(sum(ns.take("squared", n, int, timeout=None)[2] for n in range(20)))
        for worker in workers:
            worker.terminate()
            worker.join()
