"""asyncio: waits that block nothing, and cancellations that lose nothing."""

import asyncio
import dataclasses
import gc
import itertools
import os
import random
import select

import pytest
import sharedspace
from conftest import LIMIT, striking, until, until_waiting, waiters
from sharedspace import _loops, _sharedspace, _waits


def run(main):
    return asyncio.run(asyncio.wait_for(main, 100))


def test_the_verbs(ns):
    async def main():
        aio = ns.aio
        assert await aio.write("x", 1) > 0
        assert await aio.read("x", int) == ("x", 1)
        assert await aio.take("x", int) == ("x", 1)
        assert await aio.take("x", int) is None
        assert await aio.take("x", int, timeout=0.01) is None
        assert await aio.set("k", 1) and await aio.get("k") == 1 and await aio.get("other", 7) == 7
        assert await aio.add("n", 2) == 2 and await aio.unset("k")
        await aio.write({"a": 1})
        assert await aio.take({"a": int}) == {"a": 1}

    run(main())


def test_a_waiting_task_gets_what_another_process_writes(ns, child):
    other = child("hear(); ns.write('x', 1); ns.set('k', 2); ns.queue('q').put(3); hear()")

    async def main():
        waits = [
            asyncio.ensure_future(ns.aio.take("x", int, timeout=None)),
            asyncio.ensure_future(ns.aio.get("k", timeout=None)),
            asyncio.ensure_future(first(ns.aio.queue("q").get(timeout=None))),
        ]
        await asyncio.sleep(0)
        other.say()
        return await asyncio.gather(*waits)

    async def first(pending):
        async with pending as item:
            return item.value

    assert run(main()) == [("x", 1), 2, 3]
    assert ns.queue("q").items() == []


def test_a_block_completes_and_an_exception_releases(ns):
    async def main():
        ns.write("job", 7)
        with pytest.raises(ZeroDivisionError):
            async with ns.aio.claim("job", int, timeout=None) as job:
                1 / 0
        async with ns.aio.claim("job", int) as job:
            assert job.deliveries == 1
        assert ns.count() == 0
        with pytest.raises(TimeoutError):
            async with ns.aio.claim("job", int, timeout=0.01):
                pass
        assert await ns.aio.claim("job", int) is None
        ns.write_all([("job", n) for n in range(3)])
        done = []
        async for job in ns.aio.claims("job", int, timeout=0):
            with job:
                done.append(job.tuple[1])
        assert done == [0, 1, 2]

    run(main())


@pytest.mark.parametrize("kind", ["claim", "item"])
def test_a_second_block_of_one_object_is_an_error_and_loses_nothing(ns, kind):
    async def main():
        queue = ns.aio.queue("q")

        async def put(n):
            if kind == "claim":
                ns.write("job", n)
            else:
                await queue.put(n)

        await put(1)
        await put(2)
        one = ns.aio.claim("job", int) if kind == "claim" else queue.get()
        async with one as first:
            with pytest.raises(RuntimeError, match="another block"):
                async with one:
                    pass
            assert not first.has_ended
        assert first.has_ended
        # The next block has the next one, and one that found nothing leaves the object usable.
        async with one as second:
            assert (second.tuple[1] if kind == "claim" else second.value) == 2
        for _ in range(2):
            with pytest.raises(TimeoutError):
                async with one:
                    pass
        await put(3)
        async with one as third:
            assert third.number > second.number
        assert ns.claimed() == [] and ns.count() == 0 and ns.queue("q").items() == []

    run(main())


def test_a_task_that_waits_for_a_block_keeps_a_second_one_out(ns):
    async def main():
        one = ns.aio.claim("job", int, timeout=None)

        async def work():
            async with one as job:
                return job.tuple[1]

        first = asyncio.create_task(work())
        await asyncio.sleep(0)
        with pytest.raises(RuntimeError):
            await work()
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        ns.write("job", 1)
        assert await work() == 1 and ns.count() == 0

    run(main())


def test_putting_into_a_queue_has_no_time_out(ns):
    async def main():
        queue = ns.aio.queue("q", bound=1)
        await queue.put("a", priority=1, unique="a")
        with pytest.raises(TypeError, match="timeout"):
            await queue.put("b", timeout=30)
        with pytest.raises(sharedspace.Full):
            await queue.put("b")
        assert [item.value for item in ns.queue("q").items()] == ["a"]

    run(main())


def test_a_thousand_tasks_wait_without_threads(ns):
    async def main():
        tasks = [asyncio.create_task(ns.aio.take("n", n, timeout=None)) for n in range(1000)]
        await asyncio.sleep(0)
        until_waiting(ns, 1000)
        threads = len(os.listdir("/proc/self/task"))
        ns.write_all([("n", n) for n in range(1000)])
        assert await asyncio.gather(*tasks) == [("n", n) for n in range(1000)]
        return threads

    assert run(main()) < 40


async def cancelled_at_odd_moments(ns, take, turns, seed):
    """Cancels takes before, while and after their tuple comes; how many were got."""
    chance = random.Random(seed)
    got = 0
    for n in range(turns):
        task = asyncio.create_task(take("c", int))
        for _ in range(chance.randrange(3)):
            await asyncio.sleep(0)
        ns.write("c", n)
        for _ in range(chance.randrange(6)):
            await asyncio.sleep(0)
        if chance.random() < 0.5:
            await asyncio.sleep(chance.random() * 0.0005)
        task.cancel()
        try:
            await task
            got += 1
        except asyncio.CancelledError:
            pass
    return got


def left(ns):
    """How many tuples there are, when what was given up has gone back."""
    until(lambda: not ns.show()["claims"])
    gc.collect()
    return len(ns.take_all("c", int))


def test_cancelled_takes_lose_nothing(ns):
    seed = random.randrange(1 << 30)
    turns = 2000
    got = run(cancelled_at_odd_moments(ns, lambda *t: ns.aio.take(*t, timeout=None), turns, seed))
    assert got + left(ns) == turns, f"seed {seed}"


def test_plain_takes_of_cancelled_tasks_lose_tuples(ns):
    # The failure that the protection is for: a take that the library completes when it hands it out is lost if the task is
    # cancelled before it resumes.
    async def naive(*template):
        request = _waits.Request(_waits.TAKE, ns, template, timeout=None)
        return await _loops.EventLoop.running().wait(request)

    async def back(take):
        """How many of 50 tuples are back whose tasks are cancelled between the outcome and their resuming."""
        found = 0
        for _ in range(50):
            task = asyncio.create_task(take("c", int))
            await asyncio.sleep(0)
            loop = _loops.EventLoop.running()
            (wait,) = loop._waits.values()
            ns.write("c", 1)
            while not wait.future.done():
                loop._ready()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            found += len(ns.take_all("c", int))
        return found

    assert run(back(naive)) == 0
    assert run(back(lambda *template: ns.aio.take(*template, timeout=None))) == 50


def test_what_is_given_back_does_not_count_as_a_delivery(ns):
    async def main():
        for _ in range(20):
            task = asyncio.create_task(ns.aio.take("c", int, timeout=None))
            await asyncio.sleep(0)
            ns.write("c", 1)
            await asyncio.sleep(0.001)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if task.cancelled():
                async with ns.aio.claim("c", int, timeout=None) as claim:
                    assert claim.deliveries == 0

    run(main())


def test_an_item_with_which_a_task_has_not_resumed_counts_no_delivery(ns):
    mail = ns.queue("mail")

    async def get():
        return await ns.aio.queue("mail").get(timeout=None)

    async def main():
        task = asyncio.create_task(get())
        await asyncio.sleep(0)
        mail.put("x")
        waits = _loops.EventLoop.running()
        descriptor = _sharedspace.loop_descriptor(waits._number)
        until(lambda: select.select([descriptor], [], [], 0)[0])
        # The future has the item, and the task is cancelled before it resumes.
        waits._ready()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        with mail.get() as item:
            assert item.value == "x" and item.deliveries == 0

    run(main())


def test_a_change_with_which_a_task_has_not_resumed_comes_next(ns):
    async def main():
        watch = ns.aio.watch("x", int)
        for n in range(3):
            task = asyncio.create_task(watch.next())
            await asyncio.sleep(0)
            ns.write("x", n)
            waits = _loops.EventLoop.running()
            until(lambda waits=waits: select.select([_sharedspace.loop_descriptor(waits._number)], [], [], 0)[0])
            waits._ready()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            assert task.cancelled()
            with ns.watch("x", int, start=watch.point) as later:
                assert later.next(0).tuple == ("x", n)
            if n != 1:
                assert (await watch.next(0)).tuple == ("x", n)
            else:
                # The iterator, and the next change after it.
                async for change in watch:
                    assert change.tuple == ("x", n)
                    break
        assert await watch.next(0) is None

    run(main())


async def claim(ns):
    async with ns.aio.claim("x", int, timeout=None):
        pass


async def take(ns):
    await ns.aio.take("x", int, timeout=None)


async def item(ns):
    async with ns.aio.queue("q").get(timeout=None):
        pass


async def lock(ns):
    async with ns.aio.lock("l"):
        pass


async def answer(ns):
    async with ns.aio.respond("r") as responder:

        async def serve():
            with await responder.next() as request:
                request.reply(2)

        tasks = [asyncio.create_task(serve()), asyncio.create_task(ns.aio.request("r", 1, timeout=None))]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@pytest.mark.parametrize("use", [claim, take, item, lock, answer])
def test_what_a_wait_obtains_is_not_lost_when_a_handler_raises(ns, use):
    async def once(place):
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)
        await ns.aio.read("nothing")
        with striking(place, "_loops.py", "_waits.py") as struck:
            await asyncio.wait_for(use(ns), LIMIT)
        return struck

    for place in itertools.count(1):
        ns.take_all()
        ns.queue("q").drain()
        ns.write("x", place)
        ns.queue("q").put(place)
        struck = asyncio.run(once(place))
        gc.collect()
        until(lambda: not ns.claimed() and not waiters(ns))
        assert ns.queue("q").counts()["taken"] == 0 and not ns.show()["responders"], struck
        with ns.lock("l", timeout=LIMIT):
            pass
        if not struck:
            break
    assert place > 8


def test_a_time_out_of_asyncio_loses_nothing(ns):
    async def main():
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(ns.aio.take("x", timeout=None), 0.01)
        ns.write("x")
        assert await ns.aio.take("x", timeout=None) == ("x",)

    run(main())


def test_locks_of_tasks(ns, child):
    async def main():
        order = []

        async def worker(name):
            async with ns.aio.lock("l") as lock:
                order.append((name, lock.fencing))
                await asyncio.sleep(0)

        await asyncio.gather(*(worker(n) for n in range(5)))
        assert [name for name, _ in order] == list(range(5))
        assert [number for _, number in order] == sorted(number for _, number in order)
        lock = ns.aio.lock("l")
        assert await lock.acquire() and lock.held
        other = child("say(ns.lock('l').acquire(timeout=0))")
        assert other.hear() == "False"
        with pytest.raises(TimeoutError) as error:
            async with ns.aio.lock("l", timeout=0.01):
                pass
        assert error.value.holder == os.getpid()
        # A cancelled waiter gives up its place.
        waiting = asyncio.create_task(ns.aio.lock("l").acquire())
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        lock.release()
        async with ns.aio.semaphore("s", 2), ns.aio.semaphore("s", 2), ns.aio.election("e", "me"):
            assert not await ns.aio.semaphore("s", 2).acquire(timeout=0)

    run(main())


def test_a_cancelled_lock_is_free_again(ns):
    async def main():
        for turn in range(200):
            task = asyncio.create_task(ns.aio.lock("l").acquire())
            for _ in range(turn % 5):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if not task.cancelled():
                break
        return task.cancelled()

    if run(main()):
        with ns.lock("l", timeout=60):
            pass


def test_a_watch_of_a_task(ns, shared_space):
    async def main():
        async with ns.aio.watch("x", int) as watch:
            assert await watch.next(0.01) is None
            ns.write("x", 1)
            assert (await watch.next()).tuple == ("x", 1)
            waiting = asyncio.create_task(watch.next())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            ns.write("x", 2)
            shared_space.delete("test")
            assert [change.event async for change in watch] == ["write", "gone"]

    run(main())


def test_errors_come_to_their_task(ns):
    async def main():
        with pytest.raises(sharedspace.BadData):
            await ns.aio.take(sharedspace.rest, "x", timeout=None)
        with pytest.raises(OverflowError):
            await ns.aio.take(2**64)
        waiting = asyncio.create_task(ns.aio.take("x", timeout=None))
        await asyncio.sleep(0)
        ns.close()
        with pytest.raises(sharedspace.SpaceError):
            await waiting

    run(main())


def test_a_class_that_raises_stop_iteration_ends_the_wait(ns):
    @dataclasses.dataclass
    class Job:
        kind: str

        def __post_init__(self):
            next(iter(()))

    async def main():
        ns.write({"kind": "a"})
        with pytest.raises(RuntimeError) as error:
            await asyncio.wait_for(ns.aio.read(Job, timeout=0.1), 10)
        assert isinstance(error.value.__cause__, StopIteration)

    run(main())


def test_a_class_may_cancel_the_wait_that_it_is_made_for(child):
    # What the extension reads after the class has run was freed: the process crashed.
    other = child(
        """
        import asyncio, dataclasses
        waiting, junk = [], []
        @dataclasses.dataclass
        class Job:
            kind: str
            def __post_init__(self):
                if waiting:
                    waiting.pop().close()
                    junk.extend(bytearray(200) for _ in range(2000))
                    junk.extend((f'x{i}', i, None, None) for i in range(5000))
        async def main():
            for _ in range(20):
                own = Namespace('test')
                take = own.aio.claim(Job, timeout=None).__await__()
                take.send(None)
                waiting.append(take)
                del own, take
                ns.write({'kind': 'x'})
                await asyncio.sleep(0.01)
        asyncio.run(main())
        say('survived')
        """
    )
    status, out, error = other.end()
    assert (status, out) == (0, "survived\n"), error


def test_event_loops_come_and_go(ns):
    def descriptors():
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    async def main(n):
        ns.write("x", n)
        assert await ns.aio.take("x", int, timeout=None) == ("x", n)

    for n in range(3):
        run(main(n))
    before = descriptors()
    for n in range(20):
        run(main(n))
    assert descriptors() <= before + 2


@pytest.mark.parametrize("end", ["close", "drop"])
def test_a_loop_that_ends_takes_no_more(ns, end):
    loop = asyncio.new_event_loop()
    task = loop.create_task(ns.aio.take("job", int, timeout=None))
    loop.run_until_complete(asyncio.sleep(0))
    until_waiting(ns)
    if end == "close":
        loop.close()
    else:
        del loop, task
        gc.collect()
    until(lambda: waiters(ns) == 0)
    ns.write("job", 1)
    assert run(ns.aio.take("job", int)) == ("job", 1)
    assert not ns.show()["claims"]


def test_a_loop_that_is_closed_gives_back_what_no_task_has_got(ns):
    loop = asyncio.new_event_loop()
    task = loop.create_task(ns.aio.take("job", int, timeout=None))
    loop.run_until_complete(asyncio.sleep(0))
    ns.write("job", 1)
    until(lambda: ns.count() == 0)
    loop.close()
    assert ns.take("job", int, timeout=None) == ("job", 1) and not task.done()


def test_a_killed_process_loses_no_take_that_its_task_had_not_got(ns, child):
    ns.write("c", 1)
    worker = child(
        """
        import asyncio
        async def main():
            task = asyncio.create_task(ns.aio.take('c', int, timeout=None))
            await asyncio.sleep(0)
            say('waits')
            hear()      # the event loop stands still: the outcome is not handed out
        asyncio.run(main())
        """
    )
    assert worker.hear() == "waits"
    worker.kill()
    assert ns.take("c", int, timeout=None) == ("c", 1)
