"""The words of multiprocessing.Queue and filelock, against CPython's own tests and what filelock promises."""

import copy
import gc
import itertools
import multiprocessing
import os
import pathlib
import pickle
import queue
import subprocess
import sys
import threading
import unittest
import unittest.mock

import pytest
import sharedspace
from conftest import LIMIT, striking, until
from sharedspace import compat

try:
    from test import _test_multiprocessing as theirs
except ImportError:  # Debian's Python comes without its tests.
    theirs = None

CONTEXT = multiprocessing.get_context("forkserver")

if theirs is not None:

    @pytest.mark.usefixtures("shared_space")
    class TestCPythonsQueueTests(theirs._TestQueue, unittest.TestCase):
        """CPython's tests of multiprocessing.Queue, with this Queue and processes of a forkserver."""

        TYPE = "processes"
        Process = CONTEXT.Process
        Event = staticmethod(CONTEXT.Event)
        Queue = compat.Queue
        JoinableQueue = compat.JoinableQueue

        def setUp(self):
            for patch in (
                unittest.mock.patch.object(multiprocessing, "Queue", compat.Queue),
                unittest.mock.patch.object(multiprocessing, "JoinableQueue", compat.JoinableQueue),
                unittest.mock.patch.object(theirs, "close_queue", lambda queue: queue.close()),
            ):
                patch.start()
                self.addCleanup(patch.stop)

        def test_queue_feeder_donot_stop_onexc(self):
            # Different: there is no feeder thread, so what can't be pickled is an error of put.
            one = compat.Queue(maxsize=1)
            with pytest.raises(AttributeError):
                one.put(NotPicklable())
            one.put(True)
            assert one.qsize() == 1 and one.get(timeout=LIMIT) is True and one.empty()

        # Of the class multiprocessing.queues.Queue itself: its feeder thread's hook.
        test_queue_feeder_on_queue_feeder_error = None


class NotPicklable:
    def __reduce__(self):
        raise AttributeError("not picklable")


# --- Queues


def descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def die_in_get(queue, connection):
    """Stands in the middle of a get: it has the object, and has not completed it."""
    claim = queue._claim(True, None)
    connection.send("has it")
    connection.recv()
    return claim


def die_in_put(queue, connection):
    """Stands in the middle of a put: it has the room, and has not written the object."""
    claim = queue._check().claim("room", queue._name)
    connection.send("has it")
    connection.recv()
    return claim


@pytest.mark.usefixtures("shared_space")
class TestQueues:
    def test_a_process_that_is_killed_in_get_stops_no_other(self):
        # multiprocessing.Queue hangs here for ever: see the next test.
        one = compat.Queue()
        ours, its = CONTEXT.Pipe()
        killed = CONTEXT.Process(target=die_in_get, args=(one, its))
        killed.start()
        one.put("x")
        assert ours.recv() == "has it"
        os.kill(killed.pid, 9)
        killed.join(LIMIT)
        assert one.get(timeout=LIMIT) == "x"

    def test_the_same_with_multiprocessing_s_own_queue_hangs(self):
        one = CONTEXT.Queue()
        ours, its = CONTEXT.Pipe()
        killed = CONTEXT.Process(target=hold_reader, args=(one, its))
        killed.start()
        assert ours.recv() == "in get"
        os.kill(killed.pid, 9)
        killed.join(LIMIT)
        one.put("x")
        with pytest.raises(queue.Empty):
            one.get(timeout=1)
        one.cancel_join_thread()
        one.close()

    def test_unrelated_processes_share_a_named_one(self, ns, child):
        one = compat.Queue(namespace=ns, name="work")
        other = child(
            """
            from sharedspace.compat import Queue
            Queue(namespace=ns, name='work').put({'from': os.getpid()})
            """
        )
        assert one.get(timeout=LIMIT) == {"from": other.pid}

    def test_a_child_that_has_ended_leaves_what_it_put(self, child):
        parent = child(
            """
            import multiprocessing
            from sharedspace.compat import Queue
            def put(queue): queue.put('from the child')
            queue = Queue()
            process = multiprocessing.get_context('fork').Process(target=put, args=(queue,))
            process.start()
            process.join()
            say(queue.get(timeout=60))
            """
        )
        assert parent.hear() == "from the child"
        assert parent.end()[0] == 0

    def test_queues_go_with_the_process_that_made_them(self, shared_space, child):
        makes = "from sharedspace.compat import Queue; q = Queue(); q.put(1); say('made'); hear()"
        ends, killed = child(makes), child(makes)
        ends.hear(), killed.hear()
        assert len(shared_space.names()) == 2
        ends.say()
        assert ends.end()[0] == 0
        assert len(shared_space.names()) == 1
        killed.kill()
        assert len(shared_space.names()) == 1
        # The next queue that is used sweeps.
        compat.Queue().put(1)
        assert [name for name in shared_space.names() if str(killed.pid) in name] == []

    @pytest.mark.parametrize("kind", [compat.Queue, compat.JoinableQueue, compat.SimpleQueue])
    def test_a_queue_that_is_dropped_is_given_up(self, shared_space, kind):
        def use():
            one = kind()
            one.put("x")
            assert one.get() == "x" and len(shared_space.names()) == 1
            one.close()

        use()
        before = descriptors()
        for _ in range(5):
            use()
            kind()
        assert shared_space.names() == [] and descriptors() == before

    @pytest.mark.parametrize("copied", [lambda one: pickle.loads(pickle.dumps(one)), copy.copy])
    def test_a_copy_outlives_the_queue_that_is_dropped(self, shared_space, copied):
        before = descriptors()
        one = compat.Queue(maxsize=2)
        one.put("x")
        second = copied(one)
        third = copied(second)
        assert second.get() == "x"
        second.put("y")
        del one
        assert third.get() == "y"
        third.put("z")
        del second
        assert third.get() == "z"
        del third
        # A pickle may be anywhere: the namespace stays until this process ends, but no descriptor does.
        assert len(shared_space.names()) == 1 and descriptors() <= before + 1

    def test_a_child_that_has_not_used_a_queue_yet_finds_it_after_its_parent_has_dropped_it(self, child):
        parent = child(
            """
            import multiprocessing
            from sharedspace.compat import Queue
            def work(queue, connection):
                connection.recv()
                connection.send(queue.get(timeout=20))
            ours, its = multiprocessing.Pipe()
            queue = Queue()
            process = multiprocessing.get_context('fork').Process(target=work, args=(queue, its))
            process.start()
            queue.put('x')
            del queue
            ours.send('go')
            say(ours.recv())
            process.join()
            """
        )
        assert parent.hear() == "x"
        assert parent.end()[0] == 0

    @pytest.mark.parametrize("method", ["fork", "forkserver", "spawn"])
    def test_a_queue_of_a_child_goes_with_the_child(self, shared_space, tmp_path, method):
        program = tmp_path / "program.py"
        program.write_text(
            "import multiprocessing\n"
            "def make():\n"
            "    from sharedspace.compat import Queue\n"
            "    global queue\n"
            "    queue = Queue()\n"
            "    queue.put(1)\n"
            "if __name__ == '__main__':\n"
            f"    child = multiprocessing.get_context({method!r}).Process(target=make)\n"
            "    child.start()\n"
            "    child.join()\n"
            "    import sharedspace\n"
            "    print(child.exitcode, sharedspace.Space().names())\n"
        )
        ran = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=LIMIT, check=True)
        assert ran.stdout == "0 []\n"

    def test_children_that_are_waited_for_at_the_end_have_the_queue(self, shared_space, child):
        parent = child(
            """
            import multiprocessing.util
            from sharedspace.compat import Queue
            def work():
                hear_of_end.recv()
                queue.put('still there')
                say(queue.get(timeout=20), len(Space().names()))
            queue = Queue()
            hear_of_end, end = multiprocessing.Pipe()
            multiprocessing.get_context('fork').Process(target=work).start()
            queue.put('first')
            # The child goes on when this process is about to wait for it, after its functions of atexit.
            multiprocessing.util.Finalize(None, end.send, ('end',), exitpriority=0)
            """
        )
        assert parent.hear() == "first 1"
        assert parent.end()[0] == 0
        assert shared_space.names() == []

    def test_namespaces_with_such_names_are_left_alone(self, shared_space):
        names = ["multiprocessing.99999999999999999999.x", "multiprocessing.\u00b2", "multiprocessing.99999999.1"]
        for name in names:
            with shared_space.namespace(name, persistent=True) as namespace:
                namespace.write("x")
        one = compat.Queue()
        one.put(1)
        assert one.get() == 1
        del one
        assert sorted(names) == sorted(shared_space.names())

    def test_a_worker_s_unfinished_task_comes_back(self, child):
        one = compat.JoinableQueue()
        one.put("task")
        ours, its = CONTEXT.Pipe()
        killed = CONTEXT.Process(target=die_in_get, args=(one, its))
        killed.start()
        assert ours.recv() == "has it"
        os.kill(killed.pid, 9)
        killed.join(LIMIT)
        assert one.get(timeout=LIMIT) == "task"
        one.task_done()
        one.join()
        with pytest.raises(ValueError):
            one.task_done()

    @pytest.mark.parametrize("moment", ["put", "get"])
    def test_a_killed_process_takes_no_room_with_it(self, child, moment):
        one = compat.Queue(maxsize=1)
        if moment == "get":
            one.put("x")
        ours, its = CONTEXT.Pipe()
        killed = CONTEXT.Process(target=die_in_get if moment == "get" else die_in_put, args=(one, its))
        killed.start()
        assert ours.recv() == "has it"
        assert one.full() is True
        os.kill(killed.pid, 9)
        killed.join(LIMIT)
        if moment == "put":
            one.put("x", timeout=LIMIT)
        assert one.get(timeout=LIMIT) == "x"
        one.put("y", False)
        with pytest.raises(queue.Full):
            one.put("z", False)

    def test_killed_workers_leave_a_joinable_queue_its_bound(self, ns, child):
        one = compat.JoinableQueue(2, namespace=ns)
        one.put("x")
        for _ in range(4):
            worker = child("from sharedspace import compat; say(compat.JoinableQueue(2, namespace=ns).get()); hear()")
            assert worker.hear() == "x"
            worker.kill()
            until(lambda: not one.empty())
        one.put("y")
        assert (one.qsize(), one.get(timeout=LIMIT), one.get()) == (2, "x", "y")
        one.task_done()
        one.task_done()
        one.join()
        one.put(1)
        one.put(2)
        with pytest.raises(queue.Full):
            one.put(3, False)

    def test_a_handler_that_raises_changes_no_bound_and_loses_nothing(self, ns):
        one = compat.JoinableQueue(2, namespace=ns)
        for place in itertools.count(1):
            one.put(place)
            with striking(place, "compat.py", "_transactions.py") as struck:
                assert one.get() == place
                one.task_done()
            gc.collect()
            while one._claims:
                one.task_done()
            while not one.empty():
                one.get()
                one.task_done()
            assert (ns.count("room", "queue"), ns.count()) == (2, 2), struck
            if not struck:
                break
        one.join()

    @pytest.mark.parametrize("maxsize", [0, 2])
    def test_a_handler_that_raises_in_task_done_has_no_task_done_twice(self, ns, maxsize):
        one = compat.JoinableQueue(maxsize, namespace=ns)
        for place in itertools.count(1):
            one.put(place)
            assert one.get() == place
            with striking(place, "compat.py", "_transactions.py") as struck:
                one.task_done()
            gc.collect()
            assert one.empty(), struck
            assert len(one._claims) == ns.get("unfinished of queue"), struck
            if one._claims:
                one.task_done()
            one.join()
            with pytest.raises(ValueError):
                one.task_done()
            if not struck:
                break

    @pytest.mark.parametrize("kind", [compat.Queue, compat.JoinableQueue])
    def test_a_bounded_queue_can_be_emptied_while_the_namespace_is_full(self, shared_space, kind):
        ns = shared_space.namespace("full", limit=16 << 20)
        one = kind(3, namespace=ns)
        objects = [b"a", b"b" * 100_000, b"a"]
        for each in objects:
            one.put(each)
        fill(ns)
        # The protection: a step that removes an object and writes room fails.
        with pytest.raises(sharedspace.Full), ns.transaction() as t:
            t.take("object", "queue", bytes)
            t.write("room", "queue")
        got = []
        for _ in objects:
            got.append(one.get(False))
            if kind is compat.JoinableQueue:
                one.task_done()
        assert got == objects and one.empty() and ns.count("room", "queue") == 3
        with pytest.raises(queue.Empty):
            one.get(False)
        ns.take_all("filler", bytes)
        for each in range(3):
            one.put(each, False)
        with pytest.raises(queue.Full):
            one.put(3, False)

    def test_an_object_of_a_process_that_is_killed_in_a_full_namespace_keeps_its_room(self, shared_space, child):
        ns = shared_space.namespace("full", limit=16 << 20)
        one = compat.JoinableQueue(1, namespace=ns)
        one.put("x")
        fill(ns)
        worker = child(
            """
            from sharedspace import compat
            say(compat.JoinableQueue(1, namespace=Space().namespace('full')).get())
            hear()
            """
        )
        assert worker.hear() == "x"
        worker.kill()
        until(lambda: not one.empty())
        assert one.get() == "x" and ns.count("room", "queue") == 0
        one.task_done()
        assert ns.count("room", "queue") == 1
        one.join()

    def test_what_is_too_large_for_one_step_is_no_bound(self, ns):
        one = compat.Queue(2**31 - 1, namespace=ns)
        one.put(1)
        assert not one.full() and one.get() == 1 and ns.count() == 0
        one = compat.Queue(65_535, namespace=ns, name="large")
        one.put(1)
        assert ns.count("room", "large") == 65_534

    def test_simple_queues(self):
        one = compat.SimpleQueue()
        one.put([1])
        assert not one.empty() and one.get() == [1] and one.empty()
        one.close()


def fill(namespace):
    """Leaves no room for any further tuple, nor for one that a transaction writes."""
    for size in (100_000, 1_000, 1):
        with pytest.raises(sharedspace.Full):
            while True:
                with namespace.transaction() as t:
                    t.write("filler", b"x" * size)


def hold_reader(queue, connection):
    with queue._rlock:
        connection.send("in get")
        connection.recv()


# --- FileLock


@pytest.mark.usefixtures("shared_space")
class TestFileLock:
    def test_it_is_reentrant_and_released_with_the_last_release(self, tmp_path):
        lock = compat.FileLock(tmp_path / "a.lock")
        with lock as first, lock:
            assert first is lock and lock.is_locked and lock.lock_counter == 2
        assert not lock.is_locked
        lock.acquire()
        lock.acquire()
        lock.release(force=True)
        assert not lock.is_locked
        lock.release()

    def test_a_killed_holder_s_lock_is_free(self, tmp_path, child):
        path = tmp_path / "a.lock"
        holder = child("lock = compat.FileLock(sys.argv[1]); lock.acquire(); say('held'); hear()".replace(
            "lock =", "from sharedspace import compat; lock ="), path)  # fmt: skip
        assert holder.hear() == "held"
        with pytest.raises(TimeoutError, match="could not be acquired"):
            compat.FileLock(path, timeout=0.01).acquire()
        with pytest.raises(compat.Timeout):
            compat.FileLock(path, blocking=False).acquire()
        holder.kill()
        with compat.FileLock(path, timeout=LIMIT):
            pass
        assert list(tmp_path.iterdir()) == []

    def test_spellings_of_a_path_are_one_lock(self, tmp_path):
        (tmp_path / "real").mkdir()
        (tmp_path / "link").symlink_to(tmp_path / "real")
        with compat.FileLock(tmp_path / "real" / "a"):
            for spelling in (tmp_path / "link" / "a", f"{tmp_path}/real/../real/./a"):
                with pytest.raises(compat.Timeout):
                    compat.FileLock(spelling, timeout=0).acquire()

    def test_a_decorator(self, tmp_path):
        lock = compat.FileLock(tmp_path / "a")

        @lock
        def locked():
            return lock.is_locked

        assert locked() and not lock.is_locked

    def test_a_lock_is_of_its_thread_or_not(self, tmp_path):
        for is_local in (True, False):
            lock = compat.FileLock(tmp_path / "a", thread_local=is_local)
            seen = []
            with lock:
                thread = threading.Thread(target=lambda: seen.append(lock.is_locked))
                thread.start()
                thread.join(LIMIT)
            assert seen == [not is_local] and lock.is_thread_local() is is_local

    def test_a_lock_that_is_dropped_is_released(self, tmp_path):
        compat.FileLock(tmp_path / "a").acquire()
        with compat.FileLock(tmp_path / "a", timeout=0):
            pass

    def test_a_long_path(self, tmp_path):
        with compat.FileLock(tmp_path / ("x" * 250)), compat.FileLock(tmp_path / ("x" * 249)):
            pass

    def test_the_time_out_is_pickled(self):
        assert str(pickle.loads(pickle.dumps(compat.Timeout("a")))) == str(compat.Timeout("a"))

    def test_waiting_for_one_s_own_lock_is_an_error(self, tmp_path):
        with compat.FileLock(tmp_path / "a"), pytest.raises(RuntimeError):
            compat.FileLock(tmp_path / "a").acquire()


def test_the_import_is_all_that_changes(shared_space, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import multiprocessing\n"
        "from multiprocessing import Queue\n"
        "def square(inputs, outputs):\n"
        "    for n in iter(inputs.get, None):\n"
        "        outputs.put(n * n)\n"
        "if __name__ == '__main__':\n"
        "    inputs, outputs = Queue(), Queue()\n"
        "    workers = [multiprocessing.Process(target=square, args=(inputs, outputs)) for _ in range(2)]\n"
        "    for worker in workers: worker.start()\n"
        "    for n in range(10): inputs.put(n)\n"
        "    print(sorted(outputs.get() for _ in range(10)))\n"
        "    for _ in workers: inputs.put(None)\n"
        "    for worker in workers: worker.join()\n"
    )
    wanted = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
    program.write_text(
        program.read_text().replace("from multiprocessing import Queue", "from sharedspace.compat import Queue")
    )
    ours = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=LIMIT, check=True).stdout
    assert ours == wanted == f"{[n * n for n in range(10)]}\n"
    until(lambda: sharedspace.Space().names() == [])
    assert pathlib.Path(shared_space.root).exists()
