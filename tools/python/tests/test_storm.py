"""Workers that are killed at random while they work: every job is done, and once."""

import random

from conftest import until

WORKER = """
say('works')
for claim in ns.claims('job', int):
    with claim, ns.transaction() as t:
        t.complete(claim)
        t.write('done', claim.tuple[1])
        t.add('count')
"""

TASKS = """
import asyncio
async def work():
    while True:
        async with ns.aio.claim('job', int, timeout=None) as claim:
            await asyncio.sleep(0)
            with ns.transaction() as t:
                t.complete(claim)
                t.write('done', claim.tuple[1])
                t.add('count')
async def main():
    say('works')
    await asyncio.gather(*(work() for _ in range(10)))
asyncio.run(main())
"""


def test_jobs_are_done_once_while_their_workers_are_killed(ns, child):
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    jobs, kills = 3000, 24
    workers = [child(code) for code in (WORKER, WORKER, TASKS)]
    for worker in workers:
        assert worker.hear() == "works"
    written = 0
    for _ in range(kills):
        ns.write_all([("job", n) for n in range(written, written + jobs // kills)])
        written += jobs // kills
        goal = min(written, ns.get("count", 0) + chance.randrange(jobs // kills // 2))
        until(lambda goal=goal: ns.get("count", 0) >= goal)
        place = chance.randrange(len(workers))
        workers[place].kill()
        workers[place] = child(chance.choice([WORKER, TASKS]))
        assert workers[place].hear() == "works"
    until(lambda: ns.get("count", 0) >= written)
    done = [found[1] for found in ns.read_all("done", int)]
    assert sorted(done) == list(range(written)), f"seed {seed}"
    assert ns.count("job", int) == 0 and ns.get("count") == written
