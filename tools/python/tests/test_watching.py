"""Watching."""

import asyncio
import itertools
import uuid

import pytest
import sharedspace
from conftest import striking


def test_every_change_comes_once_in_order(ns):
    with ns.watch() as watch:
        ns.write("x", 1)
        ns.set("k", 2)
        ns.post("note", {"a": 1})
        ns.take("x", int)
        changes = [watch.next(60) for _ in range(4)]
        assert watch.next(0) is None
    assert [change.event for change in changes] == ["write", "set", "post", "take"]
    assert [change.sequence for change in changes] == sorted(change.sequence for change in changes)
    write, set_, post, _ = changes
    assert write.tuple == ("x", 1) and write.id > 0 and write.pid > 0 and write.time > 1e9
    assert (set_.key, set_.value) == ("k", 2) and (post.name, post.value) == ("note", {"a": 1})
    assert "write" in repr(write)


def test_a_template_a_key_and_events_choose(ns):
    with (
        ns.watch("x", range(5, 9), events=["write"]) as watch,
        ns.watch(key="k") as cell,
        ns.watch(posts="n*") as posts,
    ):
        ns.write("x", 1)
        ns.write("x", 5)
        ns.write({"x": 5})
        ns.take("x", int)
        ns.set("k", 1)
        ns.set("other", 1)
        ns.post("note")
        assert watch.next(60).tuple == ("x", 5) and watch.next(0) is None
        assert cell.next(60).key == "k" and cell.next(0) is None
        assert posts.next(60).name == "note" and posts.next(0) is None


def test_records_are_watched(ns):
    with ns.watch({"kind": "resize"}) as watch:
        ns.write({"kind": "resize", "n": 1})
        assert watch.next(60).tuple == {"kind": "resize", "n": 1}


def test_a_later_watch_goes_on_where_one_has_stopped(ns):
    with ns.watch() as first:
        ns.write("a")
        ns.write("b")
        first.next(60)
        with ns.watch(start=first.point) as second:
            assert second.next(60).tuple == ("b",)
    with ns.watch(start="initial") as third:
        assert [third.next(60).tuple for _ in range(2)] == [("a",), ("b",)]


def test_a_subscription_goes_on_where_it_was_acknowledged(ns):
    with ns.watch(subscription="audit") as watch:
        ns.write("a")
        ns.write("b")
        watch.acknowledge(watch.next(60))
        watch.next(60)
    with ns.watch(subscription="audit") as watch:
        assert watch.next(60).tuple == ("b",)


def test_the_iterator_ends_with_the_namespace(ns, shared_space):
    with ns.watch() as watch:
        ns.write("a")
        shared_space.delete("test")
        assert [change.event for change in watch] == ["write", "gone"]


def test_a_closed_watch_says_so(ns):
    watch, later = ns.watch(), ns.aio.watch()
    ns.write("x")
    change = watch.next(60)
    for one in (watch, watch, later):
        one.close()
    for call in (
        lambda: watch.next(0),
        lambda: next(watch),
        lambda: watch.point,
        lambda: watch.acknowledge(change),
        lambda: asyncio.run(later.next(0)),
    ):
        with pytest.raises(ValueError, match="the watch is closed"):
            call()
    # Its handle is not that of a later one.
    with ns.watch() as other:
        watch.close()
        ns.write("y")
        assert other.next(60).tuple == ("y",)


def test_changes_of_other_processes_come(ns, child):
    with ns.watch() as watch:
        other = child("ns.write('x'); say('written')")
        assert other.hear() == "written"
        assert watch.next(60).pid == other.pid


def test_a_filter_that_is_none_says_so(ns):
    with pytest.raises(sharedspace.BadData):
        ns.watch(events=["fly"])
    with pytest.raises(sharedspace.BadData):
        ns.watch(key="a", keys="b*")


def test_a_change_stays_for_the_next_call_when_a_handler_raises(ns):
    with ns.watch("x", int) as watch:
        for place in itertools.count(1):
            ns.write("x", place)
            change = None
            with striking(place, "_watching.py") as struck:
                change = watch.next(0)
            if not struck:
                break
            with ns.watch("x", int, start=watch.point) as later:
                assert later.next(0).tuple == ("x", place)
            assert change is None and watch.next(0).tuple == ("x", place), struck
        assert change.tuple == ("x", place) and place > 4 and watch.next(0) is None


DEEPEST = [b"\x00\xff", uuid.UUID(int=5), float("inf"), float("-inf"), {"$base64": "AA=="}, {"$$": 1}, {"$": 1, "b": 2}]


@pytest.mark.parametrize("value", DEEPEST)
def test_what_is_nested_deepest_is_told_as_it_is(ns, value):
    deep = value
    for _ in range(64 - isinstance(value, dict)):
        deep = [deep]
    with ns.watch("x", ...) as watch:
        ns.write("x", deep)
        told = watch.next(60).tuple[1]
    with ns.transaction() as t:
        taken = t.take("x", ...)
    assert told == deep and taken.result == ("x", deep)
