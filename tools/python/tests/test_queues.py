"""Queues of work."""

import asyncio

import pytest
import sharedspace
from conftest import LIMIT, until_waiting
from sharedspace._types import PutOptions


@pytest.fixture
def mail(ns):
    return ns.queue("mail")


def test_an_item_is_worked_on_and_completed(mail):
    assert sum(mail.counts().values()) == 0
    number = mail.put({"to": "ada"})
    with mail.get(timeout=None) as item:
        assert item.value == {"to": "ada"} and item.id == number and item.deliveries == 0
        assert mail.get() is None
        assert [listed.state for listed in mail.items()] == ["taken"]
    assert mail.items() == []


def test_higher_priorities_come_first_and_several_are_put_together(mail):
    numbers = mail.put_all([1, 2])
    assert len(numbers) == 2 and mail.put_all([]) == []
    mail.put(3, priority=5)
    taken = []
    while (item := mail.get()) is not None:
        with item:
            taken.append(item.value)
    assert taken == [3, 1, 2]


OPTIONS = {"priority": 5, "delay": 3600.0, "group": "g", "unique": "u", "if_present": "replace"}


def test_a_queue_for_tasks_has_the_same_options(ns, mail):
    tasks = ns.aio.queue("mail")
    assert OPTIONS.keys() == PutOptions.__annotations__.keys()
    puts = [mail.put, lambda *value, **options: asyncio.run(tasks.put(*value, **options))]
    for put in puts:
        put("early", **OPTIONS)
        number = put("x", **OPTIONS)
        assert [(one.value, one.id, one.state) for one in mail.items()] == [("x", number, "delayed")]
        assert mail.remove(number)
        put("low", priority=-1)
        put("high", priority=1, group="g")
        put("next", group="g")
        with mail.get() as item, mail.get() as other:
            assert (item.value, other.value) == ("high", "low") and mail.get() is None
        mail.drain()
        for wrong, kind in [({"priorty": 1}, TypeError), ({"priority": "x"}, TypeError), ({"group": 1}, TypeError),
                            ({"delay": -1}, ValueError), ({"if_present": "no"}, ValueError)]:  # fmt: skip
            with pytest.raises(kind):
                put("x", **wrong)
    assert mail.items() == []


def test_an_exception_returns_the_item(mail):
    mail.put("x")
    with pytest.raises(ZeroDivisionError), mail.get():
        1 / 0
    with mail.get() as item:
        assert item.deliveries == 1


def test_a_killed_worker_s_item_goes_to_the_next(ns, mail, child):
    mail.put("x")
    worker = child("item = ns.queue('mail').get(); say('has it'); hear()")
    worker.hear()
    heir = child("with ns.queue('mail').get(timeout=None) as item: say(item.value, item.deliveries)")
    until_waiting(ns)
    worker.kill()
    assert heir.hear() == "x 1"


def test_an_item_is_delayed_released_and_buried(mail):
    mail.put("x", delay=3600)
    assert mail.get() is None and mail.items("delayed")[0].value == "x"
    mail.put("y")
    with mail.get() as item:
        item.release(delay=3600, priority=3)
    assert len(mail.items("delayed")) == 2
    mail.put("z")
    with mail.get() as item:
        item.bury(reason="no such address")
    assert [listed.value for listed in mail.items("buried")] == ["z"]
    assert mail.counts() == {"ready": 0, "delayed": 2, "taken": 0, "blocked": 0, "buried": 1}
    with pytest.raises(ValueError):
        mail.items("odd")


def test_an_item_with_a_key_is_there_once(mail):
    number = mail.put("report", unique="report")
    assert mail.put("report", unique="report") == number
    assert len(mail.items()) == 1


def test_one_item_of_a_group_is_worked_on_at_a_time(mail):
    mail.put_all([1, 2], group="ada")
    with mail.get() as first:
        assert first.value == 1 and mail.get() is None
    assert mail.get().value == 2


def test_a_queue_with_a_bound_is_full(ns, child):
    small = ns.queue("small", bound=1)
    small.put(1)
    with pytest.raises(sharedspace.Full):
        small.put(2)
    with pytest.raises(sharedspace.Full):
        small.put(2, timeout=0.01)
    other = child("say(ns.queue('small', bound=1).put(2, timeout=None) > 0)")
    with small.get(timeout=None):
        pass
    assert other.hear() == "True"


def test_items_that_fail_too_often_are_buried(ns):
    mail = ns.queue("mail", deliveries=2)
    mail.put("x")
    for _ in range(2):
        mail.get().release()
    assert mail.get() is None and len(mail.items("buried")) == 1


def test_an_item_comes_back_after_its_time_to_run(mail):
    mail.put("x")
    slow = mail.get(ttr=0.01)
    with mail.get(timeout=None) as item:
        assert item.deliveries == 1
    with pytest.raises(sharedspace.SpaceError):
        slow.complete()


def test_no_time_is_not_time_without_end(ns, mail):
    async def task():
        claim = await ns.aio.claim("job", int, deadline=0)
        assert claim.tuple == ("job", 1)
        assert await ns.aio.take("job", int, timeout=LIMIT) == ("job", 1)
        item = await ns.aio.queue("mail").get(ttr=0)
        again = await ns.aio.queue("mail").get(timeout=LIMIT)
        assert again.id == item.id
        again.complete()

    ns.write("job", 1)
    mail.put("x")
    asyncio.run(task())
    mail.put("x")
    item = mail.get(ttr=0)
    with mail.get(timeout=LIMIT) as again:
        assert again.id == item.id
    mail.put("y")
    mail.pause(0)
    assert mail.get(timeout=LIMIT).value == "y"


def test_numbers_are_not_cut_to_what_fits(ns, shared_space, mail):
    number = mail.put("x")
    large = 2**64
    for call in (
        lambda: mail.take(large + number),
        lambda: mail.items(max=large + 1),
        lambda: ns.claimed(max=large + 1),
        lambda: ns.buried(max=large + 1),
        lambda: ns.ordered_set("o").elements(0, large + 1),
        lambda: ns.keep_history(10, large + (16 << 20)),
        lambda: shared_space.namespace("new", limit=large + (16 << 20)),
    ):
        with pytest.raises(OverflowError):
            call()
    for call in (
        lambda: mail.take(-1),
        lambda: mail.items(max=-1),
        lambda: ns.claimed(max=-1),
        lambda: ns.buried(max=-1),
        lambda: ns.ordered_set("o").elements(0, -1),
        lambda: shared_space.namespace("new", limit=-1),
    ):
        with pytest.raises(ValueError):
            call()
    assert mail.take(number).value == "x"
