"""Claims: what a worker does not complete goes back."""

import asyncio
import dataclasses
import gc
import os
import sys
import time

import pytest
import sharedspace
from conftest import until_waiting


@pytest.fixture
def job(ns):
    ns.write("job", 7)
    return ns


def test_a_block_completes_its_claim(job):
    with job.claim("job", int, timeout=None) as claim:
        assert claim.tuple == ("job", 7) and claim.deliveries == 0 and claim.fencing == claim.number
        assert job.read("job", int) is None
    assert claim.has_ended and job.count() == 0


def test_an_exception_releases_it_and_goes_on(job):
    with pytest.raises(ZeroDivisionError), job.claim("job", int):
        1 / 0
    with job.claim("job", int) as again:
        assert again.deliveries == 1


def test_a_claim_that_is_dropped_goes_back(job):
    job.claim("job", int)
    assert job.count("job", int) == 1
    held = job.claim("job", int)
    assert job.count("job", int) == 0
    del held
    assert job.count("job", int) == 1


@pytest.mark.parametrize("verb, left, back", [("take", 0, None), ("claim", 1, ("job", 7))])
def test_a_killed_worker_loses_a_take_and_no_claim(job, child, verb, left, back):
    # Both halves: without a claim the job of a killed worker is lost.
    worker = child(f"mine = ns.{verb}('job', int, timeout=None); say('has it'); hear()")
    assert worker.hear() == "has it"
    assert job.count("job", int) == 0
    worker.kill()
    assert job.take("job", int, timeout=None if left else 0) == back


def test_the_next_worker_gets_what_a_killed_one_had(job, child):
    worker = child("mine = ns.claim('job', int); say('has it'); hear()")
    assert worker.hear() == "has it"
    heir = child("with ns.claim('job', int, timeout=None) as mine: say(mine.tuple, mine.deliveries)")
    until_waiting(job)
    worker.kill()
    assert heir.hear() == "('job', 7) 1"


def test_a_block_may_end_its_claim_itself(job):
    with job.claim("job", int) as claim:
        claim.release(delay=0)
    assert job.count("job", int) == 1
    with job.claim("job", int) as claim:
        claim.complete(keep=True)
    with job.claim("job", int) as claim:
        claim.bury()
    assert job.count() == 0 and len(job.show()["buried"]) == 1


def test_a_lost_claim_is_an_error_when_it_is_completed(job):
    with pytest.raises(sharedspace.ClaimLost) as error:
        with job.claim("job", int, deadline=0.01):
            assert job.take("job", int, timeout=None) == ("job", 7)
    assert error.value.code == "claimLost"


def test_a_claim_is_extended(job):
    with job.claim("job", int, deadline=60) as claim:
        claim.extend(3600)
        with pytest.raises(ValueError):
            claim.extend(-1)


def test_claims_come_one_after_the_other(ns):
    ns.write_all([("job", n) for n in range(5)])
    done = []
    for claim in ns.claims("job", int, timeout=0):
        with claim:
            done.append(claim.tuple[1])
    assert done == list(range(5))


def test_all_are_claimed_at_once(ns):
    ns.write_all([("job", n) for n in range(5)])
    claims = ns.claim_all("job", int, max=3)
    assert [claim.tuple[1] for claim in claims] == [0, 1, 2] and ns.count() == 2
    claims[0].complete()
    del claims
    assert ns.count() == 4


def test_a_claim_is_completed_together_with_its_result(job):
    with job.claim("job", int) as claim:
        with job.transaction() as t:
            t.complete(claim)
            t.write("done", 7)
        assert claim.has_ended
    assert job.read_all() == [("done", 7)]


def test_closing_returns_what_is_claimed(shared_space):
    with shared_space.namespace("test") as watching:
        watching.write("job", 7)
        with shared_space.namespace("test") as working:
            claim = working.claim("job", int)
            assert watching.count() == 0
        assert watching.count() == 1
        with pytest.raises(sharedspace.Closed):
            claim.complete()


def test_twenty_killed_workers_lose_nothing(ns, child):
    ns.write_all([("job", n) for n in range(20)])
    for _ in range(20):
        worker = child("mine = ns.claim('job', int, timeout=None); say('has it'); hear()")
        worker.hear()
        worker.kill()
    assert sorted(ns.take("job", int, timeout=None)[1] for _ in range(20)) == list(range(20))
    assert ns.count() == 0


@dataclasses.dataclass
class Job:
    number: int

    def __post_init__(self):
        if self.number < 0:
            raise ValueError("negative")


def awaited(verb):
    return lambda ns: asyncio.run(asyncio.wait_for(getattr(ns.aio, verb)(Job, timeout=1), 10))


REFUSED = {
    "claim": lambda ns: ns.claim(Job),
    "claim_all": lambda ns: ns.claim_all(Job),
    "take": lambda ns: ns.take(Job),
    "take_all": lambda ns: ns.take_all(Job),
    "aio.take": awaited("take"),
    "aio.claim": awaited("claim"),
}


@pytest.mark.parametrize("verb", REFUSED)
def test_a_record_that_its_class_refuses_stays(ns, verb):
    for number in (1, 2, -1, 3, 4) if verb.endswith("_all") else (-1, 1, 2):
        ns.write({"number": number})
    count = ns.count()
    with pytest.raises(ValueError, match="negative"):
        REFUSED[verb](ns)
    assert ns.count({"number": int}) == count and not ns.show()["claims"]
    assert ns.take({"number": -1}) == {"number": -1}


def test_a_data_class_takes_what_it_accepts(ns):
    ns.write_all([Job(number) for number in range(3000)])
    assert ns.take(Job) == Job(0) and ns.take_all(Job, max=2) == [Job(1), Job(2)]
    assert ns.take_all(Job) == [Job(number) for number in range(3, 3000)]
    assert ns.take_all(Job) == [] and ns.take(Job) is None
    assert ns.count() == 0 and not ns.show()["claims"]


def test_a_claim_in_a_cycle_goes_back(ns):
    ns.write({"list": []})
    claim = ns.claim({"list": list})
    claim.tuple["claim"] = claim
    del claim
    gc.collect()
    assert ns.count({"list": list}) == 1


def test_what_returns_none_takes_no_reference_from_it(ns):
    before = sys.getrefcount(None)
    for number in range(1000):
        ns.write("job", number)
        ns.claim("job", int).complete()
    assert sys.getrefcount(None) > before - 500


def test_what_is_claimed_and_buried_is_seen(ns):
    ns.write_all([("job", n) for n in range(3)])
    claim = ns.claim("job", 0)
    (seen,) = ns.claimed("job", int)
    assert seen.tuple == ("job", 0) and seen.number == claim.number and seen.pid == os.getpid() and seen.deadline is None
    limited = ns.claim("job", 1, deadline=60)
    assert limited.number == ns.claimed("job", 1)[0].number and ns.claimed("job", 1)[0].deadline > time.time()
    assert ns.bury("job", 2) == 1 and ns.count("job", int) == 0
    (buried,) = ns.buried()
    assert buried.tuple == ("job", 2) and buried.pid == 0 and ns.buried("other") == [] and ns.buried(max=0) == []
    assert ns.kick(id=buried.id) == 1 and ns.kick() == 0
    assert ns.bury("job", ..., max=1) == 1 and ns.kick("job", int) == 1


def test_a_tuple_that_comes_back_too_often_is_buried(ns):
    ns.bury_after(1)
    ns.write("x")
    ns.claim("x").release()
    assert ns.buried()[0].tuple == ("x",)
    ns.bury_after(None)
    ns.kick()
    ns.claim("x").release()
    assert ns.take("x") == ("x",)


def test_a_program_computes_a_tuple(ns):
    number = ns.evaluate("echo", '["rendered", 42]')
    assert number > 0 and ns.take("rendered", int) == ("rendered", 42)
    with pytest.raises(sharedspace.Failed):
        ns.evaluate("false")
    assert ns.evaluate("sleep", "60", timeout=0.01) is None


def test_no_more_time_is_no_error_for_claims_and_items_alike(ns):
    ns.write("a")
    queue = ns.queue("q")
    queue.put(1)
    claim, item = ns.claim("a", deadline=3600), queue.get(ttr=3600)
    claim.extend(0)
    item.extend(0)
    assert queue.extend(item.id, 0)
    assert ns.count("a") == 0 and queue.counts()["taken"] == 1
    for refuses in (claim.extend, item.extend, lambda seconds: queue.extend(item.id, seconds)):
        with pytest.raises(ValueError):
            refuses(-1)
    claim.complete()
    item.complete()
