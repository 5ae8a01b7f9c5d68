"""An asyncio worker is killed in the middle of its jobs, and another one goes on: each is done once. Prints whether."""

import asyncio
import multiprocessing

import sharedspace


async def attend(ns):
    async for job in ns.aio.claims("fetch", int):
        with job:
            await asyncio.sleep(0.001)
            # In one step: a job is either done, or back.
            with ns.transaction() as t:
                t.complete(job)
                t.write("fetched", job.tuple[1])


async def work(ns):
    await asyncio.gather(*(attend(ns) for _ in range(5)))


def worker(ns):
    asyncio.run(work(ns))


if __name__ == "__main__":
    spawn = multiprocessing.get_context("spawn")
    with sharedspace.Space().namespace("survivor") as ns:
        ns.write_all([("fetch", n) for n in range(200)])
        fetched = []
        for count in (20, 180):
            process = spawn.Process(target=worker, args=(ns,))
            process.start()
            fetched += [ns.take("fetched", int, timeout=None)[1] for _ in range(count)]
            process.kill()
            process.join()
        print(sorted(fetched) == list(range(200)), ns.count())
