"""fork, spawn, forkserver, pickling, signals, the interpreter's end."""

import copy
import multiprocessing
import os
import pickle
import random
import signal
import threading
import time

import pytest
import sharedspace
from conftest import LIMIT, until_waiting


def in_fork(body):
    """Runs `body` in a child made by fork, and returns what it wrote and its status."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.write(writer, repr(body()).encode())
            status = 0
        except BaseException as error:
            os.write(writer, f"{type(error).__name__} {error}".encode())
        finally:
            os._exit(status)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        said = stream.read().decode()
    return said, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_parent_that_forks_may_hold_a_namespace_it_has_not_used(child):
    # In a process that has used no namespace yet.
    parent = child(
        """
        pids = []
        for n in range(3):
            pid = os.fork()
            if pid == 0:
                ns.write('from', n)
                ns.take('end', timeout=None)
                os._exit(0)
            pids.append(pid)
        say(sorted(ns.take('from', int, timeout=None)[1] for n in range(3)))
        ns.write_all([('end',)] * 3)
        say([os.waitpid(pid, 0)[1] for pid in pids])
        """
    )
    assert parent.hear() == "[0, 1, 2]"
    assert parent.hear() == "[0, 0, 0]"


def test_the_child_of_one_that_has_used_it_is_told_what_to_do(ns):
    ns.write("x")
    said, status = in_fork(ns.count)
    assert status == 1 and said.startswith("Forked") and 'multiprocessing.set_start_method("forkserver")' in said
    said, _ = in_fork(lambda: sharedspace.Space().namespace("another").count())
    assert said.startswith("Forked")
    # The child's end, also with claims and a with-block, changes nothing.
    claim = ns.claim("x")

    def leave():
        claim.__exit__(ValueError, None, None)
        ns.close()

    in_fork(leave)
    assert ns.count() == 0
    claim.complete()


def test_a_forked_child_ends_no_watch(ns):
    watches = [ns.watch()]
    for call in (lambda: watches[0].next(0), lambda: watches[0].point):
        assert in_fork(call)[0].startswith("Forked")
    for leave in (watches[0].close, watches.clear):
        assert in_fork(leave) == ("None", 0)
    ns.write("x")
    assert watches[0].next(LIMIT).tuple == ("x",)


def test_a_forked_child_is_not_told_what_its_parent_has(ns, shared_space):
    ns.write("x")
    lock, other, unused = ns.lock("l"), ns.lock("m"), shared_space.namespace("another").lock("n")
    with lock, ns.claim("x") as claim:
        for look in (
            lambda: lock.held,
            lambda: other.held,
            lambda: unused.held,
            lambda: ns.aio.lock("l").held,
            lambda: claim.has_ended,
        ):
            assert in_fork(look)[0].startswith("Forked")
        assert lock.held and not other.held and not unused.held and not claim.has_ended


def test_a_forked_child_that_ends_as_programs_do_does_not_hang(child):
    parent = child(
        """
        ns.write('x')
        claim = ns.claim('x')
        pid = os.fork()
        if pid == 0:
            sys.exit(7)
        say(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), ns.count())
        claim.complete()
        """
    )
    assert parent.hear() == "7 0"
    assert parent.end()[0] == 0


def work(ns, lock, queue):
    """What a process of multiprocessing does with objects that were passed to it."""
    with ns.claim("job", int, timeout=None) as job, lock:
        queue.put(job.tuple[1])


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_objects_are_passed_to_other_processes(ns, method):
    context = multiprocessing.get_context(method)
    ns.write("job", 1)
    ns.write("job", 2)
    lock, queue = ns.lock("l"), ns.queue("done")
    processes = [context.Process(target=work, args=(ns, lock, queue)) for _ in range(2)]
    for process in processes:
        process.start()
    done = []
    for _ in range(2):
        with queue.get(timeout=None) as item:
            done.append(item.value)
    for process in processes:
        process.join(LIMIT)
        assert process.exitcode == 0
    assert sorted(done) == [1, 2]


@pytest.mark.parametrize("named", ["Space('here').namespace('n')", "Namespace('n', 'here')", "Space().namespace('n')"])
def test_a_relative_root_stays_when_the_process_changes_its_folder(tmp_path, child, named):
    program = child(
        f"""
        os.chdir(sys.argv[1])
        os.environ['SHARED_SPACE_ROOT'] = 'here'
        first, second = {named}, {named}
        first.write('x')
        os.mkdir('other')
        os.chdir('other')
        say(second.take('x'), os.path.isabs(second.root), os.listdir())
        """,
        tmp_path,
    )
    assert program.hear() == "('x',) True []"


def test_a_namespace_is_pickled_by_root_and_name(ns, shared_space):
    ns.write("x")
    back = pickle.loads(pickle.dumps(ns))
    assert back.name == "test" and back.root == shared_space.root and not back.is_open
    assert back.count() == 1
    back.close()
    assert pickle.loads(pickle.dumps(shared_space)).root == shared_space.root
    with pytest.raises(TypeError):
        pickle.dumps(ns.claim("x"))


def test_the_extension_is_loaded_by_another_name(child):
    other = child(
        """
        import importlib.util
        for number in range(2):
            path = sharedspace._sharedspace.__file__
            spec = importlib.util.spec_from_file_location(f'other{number}._sharedspace', path)
            module = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(module)
        names = dir(module)
        assert len(names) == len(set(names)) and 'loop_next' in names
        ns.write('x', 1)
        say(ns.take('x', int), type(ns.claim('x')).__name__)
        """
    )
    assert other.end()[:2] == (0, "('x', 1) NoneType\n")


def test_a_subinterpreter_is_refused(child):
    other = child(
        """
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        try:
            inner = interpreters.create('legacy')
        except TypeError:
            inner = interpreters.create(isolated=False)
        lines = [f'import sys; sys.path[:] = {sys.path!r}', 'try: import sharedspace',
                 'except ImportError as error: print(error, flush=True)']
        interpreters.run_string(inner, '\\n'.join(lines))
        interpreters.destroy(inner)
        ns.write('x', 1)
        say(ns.take('x', int))
        """
    )
    assert "subinterpreter" in other.hear()
    assert other.hear() == "('x', 1)"


def test_held_locks_are_not_passed_on(ns):
    lock = ns.lock("l")
    back = pickle.loads(pickle.dumps(lock))
    with lock:
        assert not back.held and lock.held
        for refused in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="held"):
                refused(lock)
    copied = copy.copy(lock)
    with lock:
        assert not copied.held


def test_watches_are_not_passed_on(ns):
    with ns.watch() as watch:
        for refused in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="pickled"):
                refused(watch)
        ns.write("x")
        assert watch.next().event == "write"


WAITS = {
    "take": "ns.take('x', timeout=None)",
    "claim": "ns.claim('x', timeout=None)",
    "get": "ns.get('x', timeout=None)",
    "lock": "ns.lock('l').acquire()",
    "queue": "ns.queue('q').get(timeout=None)",
}


@pytest.mark.parametrize("wait", WAITS)
def test_a_wait_ends_with_control_c(ns, child, wait):
    lock = ns.lock("l")
    lock.acquire()
    waiting = child(
        f"""
        say('waits')
        try:
            {WAITS[wait]}
        except KeyboardInterrupt:
            say('interrupted')
        say(hear())
        """
    )
    waiting.hear()
    until_waiting(ns)
    waiting.interrupt()
    assert waiting.hear() == "interrupted"
    waiting.say("goes on")
    assert waiting.hear() == "goes on"
    lock.release()


def test_a_watch_ends_with_control_c(ns, child):
    waiting = child(
        """
        with ns.watch() as watch:
            try:
                say('watches')
                watch.next()
            except KeyboardInterrupt:
                say('interrupted')
        """
    )
    waiting.hear()
    waiting.interrupt()
    assert waiting.hear() == "interrupted"


def test_a_signal_with_a_handler_does_not_end_a_wait(ns):
    seen = []
    before = signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
    try:

        def disturb():
            until_waiting(ns)
            for n in range(20):
                signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
                end = time.monotonic() + LIMIT
                while len(seen) <= n and time.monotonic() < end:
                    os.sched_yield()
            ns.write("x")

        thread = threading.Thread(target=disturb)
        thread.start()
        assert ns.take("x", timeout=None) == ("x",)
        thread.join(LIMIT)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert len(seen) == 20


def test_an_exception_of_a_handler_ends_a_wait_and_nothing_is_taken(ns):
    class Stop(Exception):
        pass

    def stop(number, frame):
        raise Stop

    before = signal.signal(signal.SIGUSR1, stop)
    try:
        thread = threading.Thread(target=lambda: (until_waiting(ns), os.kill(os.getpid(), signal.SIGUSR1)))
        thread.start()
        with pytest.raises(Stop):
            ns.take("x", timeout=None)
        thread.join(LIMIT)
    finally:
        signal.signal(signal.SIGUSR1, before)
    ns.write("x")
    assert ns.count() == 1


def test_claims_that_are_interrupted_at_odd_moments_lose_nothing(ns):
    class Stop(Exception):
        pass

    armed = [False]

    def stop(number, frame):
        if armed[0]:
            armed[0] = False
            raise Stop

    seed = random.randrange(1 << 30)
    chance = random.Random(seed)
    jobs = 300
    finished = threading.Event()

    def disturb():
        for n in range(jobs):
            ns.write("job", n)
            for _ in range(chance.randrange(2000)):
                pass
            signal.pthread_kill(threading.main_thread().ident, signal.SIGUSR1)
        finished.set()

    def work():
        claim = ns.claim("job", int, timeout=0.01)
        if claim is None:
            return
        with claim, ns.transaction() as t:
            t.complete(claim)
            t.write("done", claim.tuple[1])

    before = signal.signal(signal.SIGUSR1, stop)
    thread = threading.Thread(target=disturb)
    thread.start()
    stopped = 0
    while not finished.is_set() or ns.count("job", int):
        try:
            armed[0] = not finished.is_set()
            work()
            armed[0] = False
        except Stop:
            stopped += 1
    thread.join(LIMIT)
    signal.signal(signal.SIGUSR1, before)
    assert sorted(found[1] for found in ns.read_all("done", int)) == list(range(jobs)), f"seed {seed}"
    assert stopped > 0


def test_a_wait_of_another_thread_ends_when_the_namespace_is_closed(ns):
    ended = []

    def wait():
        try:
            ns.take("x", timeout=None)
        except sharedspace.Closed:
            ended.append("closed")

    thread = threading.Thread(target=wait)
    thread.start()
    until_waiting(ns)
    ns.close()
    thread.join(LIMIT)
    assert ended == ["closed"]


@pytest.mark.parametrize("end", ["pass", "sys.exit(3)", "raise ValueError('x')", "os._exit(0)"])
def test_the_interpreter_ends_while_threads_wait(ns, child, end):
    program = child(
        f"""
        import threading
        for n in range(3):
            threading.Thread(target=lambda: ns.take('x', timeout=None), daemon=True).start()
        held = ns.lock('l')
        held.acquire()
        hear()
        {end}
        """
    )
    until_waiting(ns, 3)
    program.say()
    status, _, error = program.end()
    assert status == {"pass": 0, "sys.exit(3)": 3, "os._exit(0)": 0}.get(end, 1), error
    with ns.lock("l", timeout=LIMIT):
        pass


def test_threads_open_one_namespace_at_once(shared_space):
    for _ in range(20):
        with shared_space.namespace("test") as ns:
            barrier = threading.Barrier(4)
            counts = []

            def use():
                barrier.wait()
                ns.write("x")
                counts.append(1)

            threads = [threading.Thread(target=use) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(LIMIT)
            assert ns.count() == 4
        assert shared_space.names() == []


def test_another_process_owns_a_namespace(shared_space, child):
    other = child("hear()")
    ns = shared_space.namespace("kept")
    ns.own(other.pid)
    ns.close()
    assert shared_space.names() == ["kept"]
    seen = shared_space.namespace("kept", owning=False)
    assert seen.disown(other.pid)
    assert shared_space.names() == [] and shared_space.reap() == []
    other.kill()
    with pytest.raises(ProcessLookupError):
        shared_space.namespace("other").own(other.pid)
    # A number that no process can have is named as it is.
    with pytest.raises(ProcessLookupError, match="4294967297"):
        shared_space.namespace("other").own(2**32 + 1)
    assert not shared_space.namespace("other").disown(2**32 + 1)


def test_a_namespace_persists_and_keeps_history(shared_space):
    with shared_space.namespace("kept") as ns:
        ns.persist()
        ns.keep_history(100)
        ns.write("x")
        assert ns.show()["history"]["changes"] == 100
        ns.keep_history(None)
        assert ns.show()["history"] is None
    assert shared_space.names() == ["kept"]
    shared_space.namespace("kept").persist(False)


def test_a_namespace_is_waited_for(shared_space, child):
    assert not shared_space.wait("late", 0.01)
    other = child("say('waits'); say(Space().wait('late')); say(Space().wait('late', gone=True))")
    assert other.hear() == "waits"
    with shared_space.namespace("late") as ns:
        ns.write("x")
        assert other.hear() == "True"
    assert other.hear() == "True"


def test_a_subscription_ends(ns):
    with ns.watch(subscription="audit"):
        pass
    assert ns.unsubscribe("audit") and not ns.unsubscribe("audit")
