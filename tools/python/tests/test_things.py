"""Latches, counters, leaders, queues that are ruled, ordered sets."""

import pytest
import sharedspace
from conftest import until_waiting


def test_a_latch_is_counted_down(ns, child):
    latch = ns.latch("ready", 2)
    assert latch.remaining == 2 and not latch.wait(0)
    waits = child("say('waits'); ns.latch('ready', 2).wait(); say('open')")
    assert waits.hear() == "waits"
    assert latch.count_down() == 1
    assert latch.count_down(5) == 0
    assert waits.hear() == "open"
    assert latch.wait(0) and latch.remove() and not latch.remove()
    with pytest.raises(ValueError):
        latch.count_down(0)


def test_a_counter_counts(ns):
    builds = ns.counter("builds")
    assert builds.value == 0 and builds.add() == 1 and builds.add(-3) == -2 and builds.value == -2
    assert builds.remove() and not builds.remove()


def test_barriers_and_rate_limits_are_passed(ns, child):
    other = child("say(ns.barrier('noon', 2).wait())")
    assert ns.barrier("noon", 2).wait()
    assert other.hear() == "True"
    limit = ns.rate_limit("calls", 1, 3600)
    assert limit.acquire(0) and not limit.acquire(0)
    assert limit.remove() and limit.acquire(0)


def test_a_wait_at_a_gate_ends_by_interrupt(ns, child):
    waits = child(
        """
        try:
            ns.latch('never', 1).wait()
        except KeyboardInterrupt:
            say('interrupted')
        """
    )
    until_waiting(ns)
    waits.interrupt()
    assert waits.hear() == "interrupted"


def test_a_semaphore_gets_more_permits(ns):
    downloads = ns.semaphore("downloads", 1)
    assert downloads.acquire(0) and not downloads.acquire(0)
    assert downloads.set_permits(2)
    assert downloads.acquire(0) and not downloads.acquire(0)
    assert downloads.set_permits(None) and not downloads.set_permits(None)


def test_a_leader_is_seen_proclaims_and_is_deposed(ns, child):
    election = ns.election("primary", "starting")
    assert election.leader() is None
    with election:
        election.proclaim({"port": 7000})
        other = child("say(ns.election('primary').leader())")
        assert "7000" in other.hear()
        leader = election.leader()
        assert leader.value == {"port": 7000} and leader.term == election.fencing
        assert election.depose(leader.term) and not election.depose()
        with pytest.raises(sharedspace.HoldLost):
            election.proclaim("late")
        with pytest.raises(sharedspace.HoldLost):
            election.release()
        assert election.acquire()


def test_a_queue_is_paused_and_drained(ns):
    mail = ns.queue("mail")
    mail.put_all([1, 2])
    mail.pause()
    assert mail.get() is None
    mail.resume()
    with mail.get() as item:
        assert item.value == 1
    mail.pause(0.01)
    with mail.get(timeout=None) as item:
        assert item.value == 2
    mail.put_all([3, 4])
    assert mail.drain() == 2 and mail.items() == []


def test_an_item_is_taken_cancelled_extended_and_kicked_by_its_number(ns):
    mail = ns.queue("mail")
    first, second = mail.put_all(["a", "b"])
    item = mail.take(second, ttr=60)
    assert item.value == "b" and mail.take(second) is None
    assert mail.extend(second, 120) and not mail.extend(first, 120)
    assert not mail.remove(second) and mail.remove(first)
    assert mail.cancel(second) and not mail.cancel(second)
    with pytest.raises(sharedspace.HoldLost):
        item.complete()
    number = mail.put("c")
    mail.get().bury(reason="no such address")
    assert mail.kick(number) > number and mail.kick(number) is None and mail.kick_all() == 0
    mail.get().bury()
    assert mail.kick_all(max=5) == 1


def test_a_queue_s_numbers_are_set_and_it_is_deleted(ns):
    mail = ns.queue("mail")
    assert mail.delete() is None
    mail.set(deliveries=1, bound=1)
    mail.put("x")
    with pytest.raises(sharedspace.Full):
        mail.put("y")
    mail.set(bound=0)
    mail.put("y")
    mail.get().release()
    assert [listed.value for listed in mail.items("buried")] == ["x"]
    item = mail.get()
    with pytest.raises(ValueError):
        mail.delete()
    assert mail.delete(force=True) == 2
    with pytest.raises(sharedspace.HoldLost):
        item.complete()


def test_an_item_replaces_the_one_that_waits_or_comes_again(ns):
    mail = ns.queue("mail")
    number = mail.put(1, unique="report")
    assert mail.put(2, unique="report", if_present="replace") == number
    item = mail.get()
    assert item.value == 2
    assert mail.put(3, unique="report", if_present="again") > number
    with pytest.raises(ValueError, match="'never'.*keep, replace, again"):
        mail.put(3, unique="report", if_present="never")


def test_an_item_that_was_not_begun_goes_back_uncounted(ns):
    mail = ns.queue("mail")
    mail.put("x")
    mail.get().complete(keep=True)
    assert mail.get().deliveries == 0


def test_an_ordered_set_is_edited(ns):
    songs = ns.ordered_set("songs")
    assert list(songs) == [] and not songs.delete()
    assert songs.append("Blue", "Green") == 2 and songs.append("Blue") == 0
    assert songs.insert(0, "Red") == 1 and list(songs) == ["Red", "Blue", "Green"]
    assert songs.move("Green", 0) and songs.replace("Red", "Pink") and not songs.move("Red", 0)
    assert songs.elements(1, 1) == ["Pink"] and songs.elements(max=0) == []
    assert songs.index("Pink") == 1 and songs.index("Red") is None and "Blue" in songs
    songs.sort()
    assert list(songs) == ["Blue", "Green", "Pink"]
    assert songs.remove("Blue", "Red") == 1
    with pytest.raises(ValueError):
        songs.append(7)
    with pytest.raises(ValueError):
        songs.insert(9, "Grey")
    assert songs.delete() and list(songs) == []
