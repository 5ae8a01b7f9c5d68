"""Tuples: writing, reading, taking, waiting."""

import threading

import pytest
import sharedspace
from conftest import until, until_waiting


def test_the_oldest_comes_first_and_the_newest_if_wanted(ns):
    ns.write_all([("n", 1), ("n", 2), ("n", 3)])
    assert ns.read("n", int) == ("n", 1)
    assert ns.read("n", int, newest=True) == ("n", 3)
    assert ns.take("n", int) == ("n", 1)
    assert ns.take_all("n", int, max=1, newest=True) == [("n", 3)]
    assert ns.read_all("n", int) == [("n", 2)]


def test_what_is_not_there_is_none(ns):
    assert ns.take("n", int) is None
    assert ns.read("n", int, timeout=0.01) is None
    assert ns.claim("n", int) is None
    assert ns.take_all("n", int) == []


def test_tuples_are_written_all_or_none_and_have_ids(ns):
    first, second = ns.write_all([("a",), ["b", 1]])
    assert second > first and ns.write("c") > second
    assert ns.write_all([]) == []
    assert ns.read_all() == [("a",), ("b", 1), ("c",)]


def test_a_tuple_expires(ns):
    ns.write("gone", expires=0)
    ns.write("stays", expires=3600)
    until(lambda: ns.count() == 1)


def test_a_waiting_take_gets_what_another_process_writes(ns, child):
    other = child("hear(); ns.write('resize', 42); hear()")
    other.say()
    assert ns.take("resize", int, timeout=None) == ("resize", 42)


def test_the_first_comer_is_served_first(ns, child):
    first = child("say(ns.take('turn', int, timeout=None))")
    until_waiting(ns, 1)
    second = child("say(ns.take('turn', int, timeout=None))")
    until_waiting(ns, 2)
    ns.write("turn", 1)
    assert first.hear() == "('turn', 1)"
    ns.write("turn", 2)
    assert second.hear() == "('turn', 2)"


def test_other_threads_run_while_one_waits(ns):
    taken = []
    waiting = threading.Thread(target=lambda: taken.append(ns.take("x", timeout=None)))
    waiting.start()
    until_waiting(ns)
    ns.write("x")
    waiting.join(60)
    assert taken == [("x",)]


def test_threads_share_one_object_and_each_tuple_is_taken_once(ns):
    taken = [[] for _ in range(4)]

    def worker(mine):
        while (found := ns.take("n", int, timeout=None)) != ("n", -1):
            mine.append(found[1])

    threads = [threading.Thread(target=worker, args=(mine,)) for mine in taken]
    for thread in threads:
        thread.start()
    for number in range(1000):
        ns.write("n", number)
    for _ in threads:
        ns.write("n", -1)
    for thread in threads:
        thread.join(60)
    assert sorted(sum(taken, [])) == list(range(1000))


def test_the_space_lists_and_deletes(shared_space):
    with shared_space.namespace("a") as a, shared_space.namespace("b", persistent=True) as b:
        a.write(1)
        b.write(1)
        assert shared_space.names() == ["a", "b"]
    assert shared_space.names() == ["b"]
    assert shared_space.delete("b") is True
    assert shared_space.delete("b") is False


def test_a_namespace_that_is_dropped_stays(shared_space):
    shared_space.namespace("kept").write("x")
    shared_space.namespace("kept").write("y")
    assert shared_space.namespace("kept").count() == 2
    assert shared_space.names() == ["kept"]


def test_an_observer_that_is_dropped_leaves_the_owner_that_was_dropped_before(shared_space):
    shared_space.namespace("jobs").write("x")
    for _ in range(2):
        assert shared_space.namespace("jobs", owning=False).count() == 1
    assert shared_space.namespace("jobs").take("x") == ("x",)


def test_one_that_only_looks_keeps_nothing_alive(shared_space):
    with pytest.raises(sharedspace.NotFound), shared_space.namespace("n", owning=False) as looking:
        looking.count()
    with shared_space.namespace("n") as owning:
        owning.write("x")
        looking = shared_space.namespace("n", owning=False)
        assert looking.count() == 1
        looking.close()


@pytest.mark.parametrize("timeout, kind", [(-1, ValueError), (float("nan"), ValueError), ("1", TypeError)])
def test_a_timeout_is_a_number_of_seconds(ns, timeout, kind):
    with pytest.raises(kind):
        ns.take("x", timeout=timeout)


def test_a_keyword_that_is_none_says_so(ns):
    with pytest.raises(TypeError, match="'timout'"):
        ns.take("x", timout=1)


def test_show_tells_what_there_is(ns):
    ns.write("x")
    assert ns.show()["name"] == "test"
