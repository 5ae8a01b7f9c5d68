"""Locks, semaphores, elections."""

import gc
import itertools
import signal
import threading
import time

import pytest
import sharedspace
from conftest import striking, until_waiting
from sharedspace.compat import FileLock


def test_a_lock_is_held_in_its_block(ns):
    lock = ns.lock("l")
    assert not lock.held
    with lock as held:
        assert held is lock and lock.held and lock.fencing > 0
    assert not lock.held
    with pytest.raises(RuntimeError):
        lock.release()
    with pytest.raises(RuntimeError):
        lock.fencing


def test_the_next_holder_has_a_greater_number(ns):
    numbers = []
    for _ in range(3):
        with ns.lock("l") as lock:
            numbers.append(lock.fencing)
    assert numbers == sorted(set(numbers))


def test_a_held_lock_is_not_free_and_its_holder_is_named(ns, child):
    holder = child("lock = ns.lock('l'); lock.acquire(); say('held'); hear()")
    holder.hear()
    assert ns.lock("l").acquire(timeout=0) is False
    with pytest.raises(TimeoutError, match=str(holder.pid)) as error, ns.lock("l", timeout=0.01):
        pass
    assert error.value.holder == holder.pid and error.value.code == "timedOut"


def test_a_killed_holder_is_followed_by_the_next_in_line(ns, child):
    holder = child("lock = ns.lock('l'); lock.acquire(); say('held'); hear()")
    holder.hear()
    heir = child("with ns.lock('l') as lock: say('held')")
    until_waiting(ns)
    holder.kill()
    assert heir.hear() == "held"


def test_waiting_for_what_one_holds_is_an_error(ns):
    with ns.lock("l"), pytest.raises(sharedspace.Deadlock):
        ns.lock("l").acquire()


def test_a_shared_lock_is_shared(ns, child):
    with ns.lock("l", shared=True):
        other = child("say(ns.lock('l', shared=True).acquire(timeout=0), ns.lock('l').acquire(timeout=0))")
        assert other.hear() == "True False"


def test_several_locks_are_acquired_together(ns, child):
    with ns.lock("b", "a") as locks:
        assert set(locks.fencings) == {"a", "b"}
        other = child("say([ns.lock(name).acquire(timeout=0) for name in 'abc'])")
        assert other.hear() == "[False, False, True]"
    with pytest.raises(TypeError):
        ns.lock()


def test_a_semaphore_has_permits(ns):
    semaphore = ns.semaphore("s", 2)
    with semaphore, semaphore:
        assert ns.semaphore("s", 2).acquire(timeout=0) is False
    assert semaphore.acquire(timeout=0, count=2)
    semaphore.release()
    with pytest.raises(ValueError):
        ns.semaphore("s", 0)
    with pytest.raises(ValueError):
        semaphore.acquire(count=0)


def test_one_leads_at_a_time(ns, child):
    with ns.election("primary", {"host": "a"}):
        other = child(
            """
            say(ns.election('primary').acquire(timeout=0))
            with ns.election('primary'): say('leads')
            """
        )
        assert other.hear() == "False"
        until_waiting(ns)
    assert other.hear() == "leads"


def test_a_name_of_another_kind_says_so(ns):
    with ns.lock("x"), pytest.raises(sharedspace.BadData):
        ns.semaphore("x", 2).acquire(timeout=0)


def test_a_lock_that_is_dropped_is_released(ns, child):
    lock = ns.lock("l")
    assert lock.acquire()
    del lock
    assert child("say(ns.lock('l').acquire(timeout=0))").hear() == "True"
    assert not ns.show()["holds"]


@pytest.mark.parametrize("what", ["lock", "kept lock", "semaphore", "FileLock"])
def test_a_signal_at_any_moment_leaves_nothing_held(shared_space, tmp_path, what):
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    main = threading.get_ident()

    def interrupt():
        time.sleep(0.0005)
        signal.pthread_kill(main, signal.SIGUSR1)

    def repeat(make):
        while True:
            with make():
                pass

    try:
        with shared_space.namespace("filelock") as ns:
            kept = ns.lock("l")
            makes = {
                "lock": lambda: ns.lock("l"),
                "kept lock": lambda: kept,
                "semaphore": lambda: ns.semaphore("s", 1),
                "FileLock": lambda: FileLock(tmp_path / "lock"),
            }
            for _ in range(300):
                thread = threading.Thread(target=interrupt)
                try:
                    thread.start()
                    repeat(makes[what])
                except KeyboardInterrupt:
                    pass
                thread.join()
                assert not kept.held and not ns.show()["holds"]
    finally:
        signal.signal(signal.SIGUSR1, before)
        FileLock._latest = None


@pytest.mark.parametrize("what", ["lock", "semaphore", "election"])
def test_a_block_that_a_handler_ends_holds_nothing(ns, what):
    one = {"lock": ns.lock("l"), "semaphore": ns.semaphore("s", 1), "election": ns.election("e")}[what]
    for place in itertools.count(1):
        with striking(place, "_holding.py") as struck:
            with one:
                pass
        gc.collect()
        assert not one.held and not ns.show()["holds"], struck
        if not struck:
            break
    assert place > 2


def test_a_lock_in_a_cycle_is_released(shared_space, ns):
    own = shared_space.namespace("test")
    own.mine = own.lock("l")
    assert own.mine.acquire()
    del own
    gc.collect()
    assert not ns.show()["holds"]
