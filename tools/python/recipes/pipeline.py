"""Tasks of asyncio in two stages, at most two fetches at a time. Prints what came out."""

import asyncio

import sharedspace


async def fetch(ns):
    async for job in ns.aio.claims("fetch", str, timeout=1):
        with job:
            async with ns.aio.semaphore("fetches", 2):
                await asyncio.sleep(0.001)
            ns.write("fetched", job.tuple[1], len(job.tuple[1]))


async def main():
    with sharedspace.Space().namespace("pipeline") as ns:
        ns.write_all([("fetch", f"page {n}") for n in range(10)])
        fetchers = [asyncio.create_task(fetch(ns)) for _ in range(5)]
        pages = [await ns.aio.take("fetched", str, int, timeout=None) for _ in range(10)]
        print(sorted(page for _, page, _ in pages))
        for fetcher in fetchers:
            fetcher.cancel()


if __name__ == "__main__":
    asyncio.run(main())
