"""What is held through an object that is dropped: while a stopped process is in the way, or a handler raises."""

import gc
import itertools
import os
import signal
import sys

import pytest
from conftest import Struck, striking, until, until_waiting
from sharedspace import _sharedspace

WRITER = """
import signal
signal.signal(signal.SIGUSR1, lambda *_: globals().update(goes_on=False))
goes_on, many = True, [('many', n) for n in range(50_000)]
say('begins')
while goes_on:
    ns.write_all(many)
    ns.take_all('many', int)
say('ends')
"""

PROBE = """
probe = Space(timeout=0.05).namespace('test').lock('probe')
while hear():
    try:
        with probe:
            pass
    except Busy:
        say('busy')
    else:
        say('free')
"""

HOLDER = """
import gc
ns = Space(timeout=0.1).namespace('test')
ns.write('job', 1)
ns.queue('queue').put('item', unique='item')
held = {
    'claim': ns.claim('job', int),
    'item': ns.queue('queue').get(),
    'lock': ns.lock('lock'),
    'permits': ns.semaphore('permits', 2),
    'leadership': ns.election('leadership'),
    'responder': ns.respond('function'),
}
for name in 'lock', 'leadership':
    assert held[name].acquire(0)
assert held['permits'].acquire(0, count=2)
assert held['responder'].next(0) is None
say('holds')
hear()
if sys.argv[1] == 'all':
    held.clear()
else:
    del held[sys.argv[1]]
gc.collect()
say('dropped')
hear()
"""


class Stopped:
    """A process that is stopped in a step of writing, so that no other one can begin one."""

    def __init__(self, start):
        self.process, self.probe = start(WRITER), start(PROBE)
        assert self.process.hear() == "begins"
        while True:
            os.kill(self.process.pid, signal.SIGSTOP)
            assert os.WIFSTOPPED(os.waitpid(self.process.pid, os.WUNTRACED)[1])
            if self.is_in_the_way():
                break
            os.kill(self.process.pid, signal.SIGCONT)

    def is_in_the_way(self):
        self.probe.say("probe")
        return self.probe.hear() == "busy"

    def go_on(self):
        """Lets the process end its step."""
        os.kill(self.process.pid, signal.SIGUSR1)
        os.kill(self.process.pid, signal.SIGCONT)
        assert self.process.hear() == "ends"


KINDS = ("claim", "item", "lock", "permits", "leadership", "responder")


def held(ns):
    """What is held in the namespace, as `show` tells."""
    shown = ns.show()
    holds = {hold["name"] for hold in shown["holds"] if hold["held"]}
    found = [kind for kind in KINDS if kind in holds]
    found += ["claim"] * bool(shown["claims"]) + ["responder"] * bool(shown["responders"])
    return {*found, *["item"] * ns.queue("queue").counts()["taken"]}


def drop_beside_a_stopped_process(ns, start, what):
    """Drops it, and waits until it has returned; whether the process was in the way until it went on."""
    holder = start(HOLDER, what)
    assert holder.hear() == "holds" and held(ns) == set(KINDS)
    stopped = Stopped(start)
    holder.say()
    assert holder.hear() == "dropped"
    was_in_the_way = held(ns) == set(KINDS) and stopped.is_in_the_way()
    stopped.go_on()
    # The process that has dropped it waits for the test, and calls nothing.
    until(lambda: held(ns) == (set() if what == "all" else set(KINDS) - {what}))
    holder.say()
    status, _, error = holder.end()
    assert status == 0, error
    return was_in_the_way


@pytest.mark.parametrize("what", ["all", *KINDS])
def test_what_is_dropped_returns_when_a_stopped_process_goes_on(ns, child, what):
    # On a busy machine the process may have been stopped outside of its step, while another one was in the way.
    assert any(drop_beside_a_stopped_process(ns, child, what) for _ in range(5))


def test_what_is_dropped_goes_to_those_who_wait(ns, child):
    holder = child(HOLDER, "all")
    assert holder.hear() == "holds"
    waits = [
        "ns.claim('job', int, timeout=None).complete()",
        "ns.queue('queue').get(timeout=None).complete()",
        "ns.lock('lock').acquire()",
        "ns.semaphore('permits', 2).acquire(count=2)",
        "ns.election('leadership').acquire()",
    ]
    waiters = [child(f"{wait}; say('obtained')") for wait in waits]
    until_waiting(ns, len(waits))
    stopped = Stopped(child)
    holder.say()
    assert holder.hear() == "dropped"
    stopped.go_on()
    assert [waiter.hear() for waiter in waiters] == ["obtained"] * len(waits)
    holder.say()
    assert holder.end()[0] == 0


def test_a_file_lock_is_released_when_a_stopped_process_goes_on(ns, child):
    holder = child(
        """
        import types
        from sharedspace import compat
        ns = Space(timeout=0.1).namespace('test')
        compat.Space = lambda: types.SimpleNamespace(namespace=lambda name: ns)
        lock = compat.FileLock('/a/path')
        lock.acquire()
        say('holds')
        hear()
        lock.release()
        say('released')
        hear()
        """
    )
    assert holder.hear() == "holds"
    stopped = Stopped(child)
    holder.say()
    assert holder.hear() == "released"
    stopped.go_on()
    until(lambda: not ns.show()["holds"])
    holder.say()
    status, _, error = holder.end()
    assert status == 0, error


@pytest.mark.parametrize("ends", ["block", "close", "drop"])
def test_a_watch_ends_wherever_a_handler_raises(ns, ends):
    # It imports the module.
    ns.watch().close()
    for place in itertools.count(1):
        watch = None
        with striking(place, "_watching.py") as struck:
            watch = ns.watch()
            if ends == "block":
                with watch:
                    assert watch.next(0) is None
            elif ends == "close":
                watch.close()
            else:
                watch = None
        watch = None
        gc.collect()
        assert ns.show()["watchers"] == [], struck
        if not struck:
            break
    assert place > 4


def test_a_watch_ends_when_a_handler_raises_as_it_has_begun(ns):
    seen = []

    def raises(frame, event, argument):
        if event == "c_return" and argument is _sharedspace.watch_open:
            sys.setprofile(None)
            seen.append(len(ns.show()["watchers"]))
            raise Struck

    before = sys.getprofile()
    sys.setprofile(raises)
    try:
        with pytest.raises(Struck):
            ns.watch()
    finally:
        sys.setprofile(before)
    gc.collect()
    assert seen == [1] and ns.show()["watchers"] == []
