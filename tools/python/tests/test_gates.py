"""Barriers, latches, rate limits."""

import asyncio
import threading

import pytest
from conftest import until


def test_all_parties_of_a_barrier_go_on_together(ns, child):
    others = [child("say(ns.barrier('b', 3).wait())") for _ in range(2)]
    assert ns.barrier("b", 3).wait() is True
    assert [other.hear() for other in others] == ["True", "True"]
    assert ns.barrier("b", 3).wait(timeout=0.01) is False


def test_tasks_and_threads_meet_at_a_barrier(ns):
    passed = []
    thread = threading.Thread(target=lambda: passed.append(ns.barrier("b", 2).wait()))
    thread.start()
    assert asyncio.run(asyncio.wait_for(ns.aio.barrier("b", 2).wait(), 60)) is True
    thread.join(60)
    assert passed == [True]


def test_a_rate_limit_lets_so_many_pass(ns):
    limit = ns.rate_limit("api", 3, 3600)
    assert [limit.acquire(timeout=0) for _ in range(4)] == [True, True, True, False]
    assert asyncio.run(ns.aio.rate_limit("api", 3, 3600).wait(timeout=0)) is False
    soon = ns.rate_limit("soon", 1, 0.01)
    assert all(soon.acquire() for _ in range(3))
    assert ns.rate_limit("many", 10, 3600).acquire(timeout=0, count=10)


def test_a_latch_that_is_not_open_is_waited_for(ns):
    assert ns.latch("ready", 2).wait(timeout=0.01) is False
    assert asyncio.run(ns.aio.latch("ready", 2).wait(timeout=0.01)) is False


@pytest.mark.parametrize("make", [lambda ns: ns.barrier("b", 0), lambda ns: ns.latch("l", 0),
                                  lambda ns: ns.rate_limit("r", 0, 1), lambda ns: ns.rate_limit("r", 1, 0)])  # fmt: skip
def test_numbers_that_mean_nothing_are_refused(ns, make):
    with pytest.raises(ValueError):
        make(ns)


def test_a_wait_at_a_barrier_ends_with_control_c(ns, child):
    waiting = child(
        """
        try:
            ns.write('waits')
            ns.barrier('b', 2).wait()
        except KeyboardInterrupt:
            say('interrupted')
        """
    )
    until(lambda: ns.count("waits") == 1)
    waiting.interrupt()
    assert waiting.hear() == "interrupted"


def test_a_cancelled_wait_for_a_rate_limit_leaves_nothing(child):
    # In a process of its own, because the bytes in use are counted. Each cancelled wait left some 700, for as long as
    # it would have waited.
    other = child(
        """
        import asyncio, ctypes, gc

        class Mallinfo2(ctypes.Structure):
            _fields_ = [(name, ctypes.c_size_t) for name in "a b c d e f g in_use i j".split()]

        mallinfo2 = ctypes.CDLL(None).mallinfo2
        mallinfo2.restype = Mallinfo2

        def in_use():
            gc.collect()
            return mallinfo2().in_use

        async def cancel(waits):
            limit = ns.aio.rate_limit("r", 1, 3600)
            for _ in range(waits):
                task = asyncio.ensure_future(limit.wait())
                await asyncio.sleep(0)
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

        async def main():
            await ns.aio.rate_limit("r", 1, 3600).wait()
            await cancel(100)
            before = in_use()
            some = [bytes(1000) for _ in range(1000)]
            assert in_use() - before > 900_000
            del some
            await cancel(1000)
            while in_use() - before > 200_000:
                await asyncio.sleep(0.01)
            say("back")

        asyncio.run(main())
        """
    )
    assert other.hear() == "back"
