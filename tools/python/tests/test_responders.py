"""Requests, and what answers them."""

import asyncio
import copy
import gc
import select
import threading

import pytest
import sharedspace
from conftest import LIMIT, until
from sharedspace import _loops, _sharedspace


def test_a_request_is_answered_by_another_process(ns, child):
    server = child(
        """
        with ns.respond('double') as responder:
            say('responds')
            for request in responder:
                request.reply(2 * request.argument)
        """
    )
    assert server.hear() == "responds"
    assert ns.request("double", 21) == 42
    assert ns.request("double", [1, 2]) == [1, 2, 1, 2]


def test_a_request_without_an_answer_ends_in_time(ns):
    with pytest.raises(sharedspace.NoAnswer) as caught:
        ns.request("nothing", timeout=0.01)
    assert isinstance(caught.value, TimeoutError)
    with pytest.raises(sharedspace.NoAnswer):
        ns.request("nothing", timeout=None, now=True)
    with ns.respond("slow"), pytest.raises(sharedspace.NoAnswer) as caught:
        ns.request("slow", timeout=0.01)
    assert caught.value.holder > 0


def test_an_exception_fails_the_request(ns, child):
    asks = child(
        """
        for argument in ('x', 'y', 'z'):
            try:
                say(ns.request('upper', argument, timeout=None))
            except Failed as error:
                say('Failed', 'no ' + argument in str(error))
        """
    )
    responder = ns.respond("upper")
    with responder.next() as request:
        assert request.argument == "x" and request.pid == asks.pid
        assert request.reply("X")
    assert asks.hear() == "X"
    with pytest.raises(ZeroDivisionError), responder.next():
        raise ZeroDivisionError("no y")
    assert asks.hear() == "Failed True"
    responder.next().fail("no z")
    assert asks.hear() == "Failed True"


def test_a_function_serves(ns, child):
    asks = child(
        """
        say(ns.request('invert', 4, timeout=None))
        try: ns.request('invert', 0)
        except Failed as error: say('division by zero' in str(error))
        """
    )
    with ns.respond("invert") as responder:
        responder.serve(lambda number: 1 / number, timeout=1)
    assert asks.hear() == "0.25" and asks.hear() == "True"


def test_what_a_killed_responder_has_not_answered_the_next_one_gets(ns, child):
    below = ns.respond("who", base=True)
    above = child("above = ns.respond('who'); say('is above'); request = above.next(); say('has it'); hear()")
    assert above.hear() == "is above"
    asks = child("say(ns.request('who', timeout=None))")
    assert above.hear() == "has it"
    assert below.next(0) is None
    above.kill()
    below.next().reply("below")
    assert asks.hear() == "below"


def test_a_responder_asks_the_one_below(ns, child):
    below = child("with ns.respond('greet', base=True) as r:\n say('ready')\n r.serve(lambda name: 'hello ' + name)")
    assert below.hear() == "ready"
    with ns.respond("greet") as responder:
        asks = child("say(ns.request('greet', 'ada')); say(ns.request('greet', 'bob'))")
        with responder.next() as request:
            request.reply(request.ask_next().upper())
        assert asks.hear() == "HELLO ADA"
        with responder.next() as request:
            with pytest.raises(TypeError):
                request.ask_next(1, 2)
            request.reply(request.ask_next("you"))
        assert asks.hear() == "hello you"


def test_one_is_replaced_by_its_key_and_removed(ns):
    first, second = ns.respond("x", key="k"), ns.respond("x", key="k")
    with pytest.raises(sharedspace.HoldLost):
        first.next(0)
    assert second.next(0) is None
    assert ns.remove_responder("x", "k") and not ns.remove_responder("x", "k")
    with pytest.raises(sharedspace.HoldLost):
        second.next()
    with pytest.raises(TypeError):
        copy.copy(second)
    second.close()
    with pytest.raises(sharedspace.Closed):
        second.next(0)


def test_tasks_ask_and_respond(ns):
    async def main():
        async with ns.aio.respond("double") as responder:

            async def serve():
                async for request in responder:
                    request.reply(2 * request.argument)

            server = asyncio.create_task(serve())
            assert await asyncio.gather(*(ns.aio.request("double", n) for n in range(20))) == [2 * n for n in range(20)]
            server.cancel()
        with pytest.raises(sharedspace.NoAnswer):
            await ns.aio.request("double", 1, now=True)

    asyncio.run(main())


def test_a_request_with_which_a_task_has_not_resumed_comes_next(ns, child):
    async def main():
        responder = ns.aio.respond("x")
        tasks = [asyncio.create_task(responder.next()) for _ in range(2)]
        await asyncio.sleep(0)
        waits = _loops.EventLoop.running()
        tokens = list(waits._waits)
        asks = child("say(ns.request('x', 7, timeout=None))")
        descriptor = _sharedspace.loop_descriptor(waits._number)
        until(lambda: select.select([descriptor], [], [], 0)[0])
        # The future of one has the request, and its task is cancelled before it resumes. The other one waits already.
        waits._ready()
        (has_it,) = (task for task, token in zip(tasks, tokens) if token not in waits._waits)
        (waiting,) = (task for task, token in zip(tasks, tokens) if token in waits._waits)
        has_it.cancel()
        with pytest.raises(asyncio.CancelledError):
            await has_it
        request = await waiting
        assert request.argument == 7
        request.reply("done")
        return asks

    assert asyncio.run(main()).hear() == "done"


def test_one_that_is_dropped_answers_no_more(ns):
    below = ns.respond("x", base=True)
    above = ns.respond("x")
    assert above.next(0) is None
    del above
    assert len([shown for shown in ns.show()["responders"] if shown["name"] == "x"]) == 1
    below.close()
    assert ns.show()["responders"] == []


class Mute(Exception):
    def __str__(self):
        raise ZeroDivisionError


UNTOLD = [ValueError("a\0b"), ValueError("\ud800"), ValueError("x" * 100_000), Mute(), KeyboardInterrupt()]
UNTOLD.append(SystemExit(1))


def raise_(error):
    raise error


@pytest.mark.parametrize("form", ["serve", "with"])
@pytest.mark.parametrize("make", [*UNTOLD, lambda: object(), lambda: "\ud800"])
def test_every_request_is_answered_whatever_is_raised_or_replied(ns, make, form):
    responder = ns.respond("x")
    function = (lambda argument: raise_(make)) if isinstance(make, BaseException) else lambda argument: make()
    ended = []

    def serve():
        try:
            if form == "serve":
                responder.serve(function, timeout=0.5)
            else:
                with responder.next() as request:
                    request.reply(function(request.argument))
        except BaseException as error:
            ended.append(error)

    thread = threading.Thread(target=serve)
    thread.start()
    with pytest.raises(sharedspace.Failed) as error:
        ns.request("x", 1, timeout=LIMIT)
    assert type(make).__name__ in str(error.value) or callable(make)
    if form == "serve" and not isinstance(make, (KeyboardInterrupt, SystemExit)):
        with pytest.raises(sharedspace.Failed):
            ns.request("x", 2, timeout=LIMIT)
        thread.join()
        assert not ended
    thread.join()


def test_a_request_that_is_dropped_comes_next(ns, child):
    asks = child("say(ns.request('x', 7, timeout=None))")
    with ns.respond("x") as responder:
        assert responder.next().argument == 7
        gc.collect()
        with responder.next(LIMIT) as request:
            request.reply(8)
    assert asks.hear() == "8"
