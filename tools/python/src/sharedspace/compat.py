"""The words of multiprocessing.Queue and of filelock, over a namespace: trying it is one changed import.

    from sharedspace.compat import Queue       # instead of: from multiprocessing import Queue
    from sharedspace.compat import FileLock    # instead of: from filelock import FileLock

What differs is listed in the article "Python".
"""

from __future__ import annotations

import collections
import contextlib
import errno
import hashlib
import itertools
import logging
import os
import queue as _queue
import re
import threading
import time
import uuid
from multiprocessing.reduction import ForkingPickler
from multiprocessing.util import Finalize
from typing import TYPE_CHECKING, Any, Final

from ._errors import Deadlock, Full, NothingFound, SpaceError
from ._space import Namespace, Space
from ._templates import either

if TYPE_CHECKING:
    from types import TracebackType

    from ._sharedspace import Claim
    from ._transactions import Transaction

Empty = _queue.Empty

# --- multiprocessing.Queue ----------------------------------------------------------------------------------------------

# The namespace of a queue's own: the PID of the process that made it, when it began, a number, and a few random letters.
_OWN_NAME: Final = re.compile(r"multiprocessing\.([1-9][0-9]{0,9})\.([0-9]+)\.[0-9]+\.[0-9a-f]{8}")
# Room is made in one transaction, which has 65,536 steps at most, one of them for the number.
_MOST_ROOM: Final = 65_535
_numbers = itertools.count(1)


def _born(pid: int) -> str | None:
    """When a process began, in ticks of the kernel's; None if there is none with this number."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            return stream.read().rpartition(b")")[2].split()[19].decode()
    except OSError:
        return None


def _sweep(space: Space) -> None:
    """Deletes the queues of processes that were killed, once no process uses them. Other namespaces are not touched."""
    for name in space.names():
        own = _OWN_NAME.fullmatch(name)
        if own is None or _born(int(own[1])) == own[2]:
            continue
        with contextlib.suppress(SpaceError), space.namespace(name, owning=False) as namespace:
            if not namespace.show()["owners"]:
                space.delete(name)


def _delete(space: Space, name: str) -> None:
    # Deleting would make a root that is gone.
    if space.root is None or os.path.isdir(space.root):
        with contextlib.suppress(SpaceError):
            space.delete(name)


_forks = 0


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(before=_count_fork)


class _Own:
    """A namespace of a queue's own, as one object of a process uses it.

    When the object is dropped this process leaves the namespace. The process that made it takes the namespace away then
    if no other can have the queue: it was neither pickled, nor has this process forked since. Else a process may
    have it that has not used it yet, so the namespace stays until the end of the process that made it. That end comes
    after multiprocessing has waited for its children, and in a child, which runs nothing of `atexit`, too.
    """

    def __init__(self, namespace: Namespace, is_made_here: bool) -> None:
        self.namespace = namespace
        self.is_pickled = False
        self._forks = _forks
        self._end: Finalize | None = None
        if is_made_here:
            arguments = (Space(namespace.root), namespace.name)
            self._end = Finalize(None, _delete, arguments, exitpriority=-100)

    def leave(self) -> None:
        with contextlib.suppress(SpaceError):
            if self._end is not None and not self.is_pickled and self._forks == _forks:
                if self.namespace.is_open:
                    self.namespace.persist(False)
                self._end.cancel()
        with contextlib.suppress(SpaceError):
            self.namespace.close()


class Queue:
    """multiprocessing.Queue, without a thread and a pipe: a process killed in `get` or `put` stops no other.

    A queue without a namespace has one of its own, which goes when the process that made it ends, or when the queue is
    dropped and no other process can have it. With a namespace, and a name in it, processes that are not related share it.

    An object is a tuple. A queue with a `maxsize` has as many tuples that stand for room: `put` takes one, in the step that
    writes the object, and `get` writes one, in the step that removes it. One that is larger than 65,535 is unbounded.
    """

    def __init__(
        self, maxsize: int = 0, *, ctx: Any = None, namespace: Namespace | None = None, name: str = "queue"
    ) -> None:
        self._maxsize = max(maxsize, 0) if maxsize <= _MOST_ROOM else 0
        self._own: _Own | None = None
        if namespace is None:
            pid = os.getpid()
            own = f"multiprocessing.{pid}.{_born(pid)}.{next(_numbers)}.{uuid.uuid4().hex[:8]}"
            # A child may use it, and end, before the process that made it does: so it is persistent.
            namespace = Space().namespace(own, persistent=True)
            self._have(_Own(namespace, is_made_here=True))
        self._namespace = namespace
        self._name = name
        self._is_closed = self._is_used = False

    def _have(self, own: _Own) -> None:
        self._own = own
        Finalize(self, own.leave)

    def __getstate__(self) -> dict[str, Any]:
        if self._own is None:
            return dict(self.__dict__)
        self._own.is_pickled = True
        # A copy in this process has a handle of its own, too: each object closes its own one.
        namespace = Space(self._namespace.root).namespace(self._namespace.name, persistent=True)
        return {**self.__dict__, "_own": None, "_namespace": namespace, "_is_copy": True}

    def __setstate__(self, state: dict[str, Any]) -> None:
        is_copy = state.pop("_is_copy", False)
        self.__dict__.update(state)
        if is_copy:
            self._have(_Own(self._namespace, is_made_here=False))

    def _open(self) -> Namespace:
        if not self._is_used:
            if self._own is not None:
                _sweep(Space(self._namespace.root))
            if self._maxsize:
                with contextlib.suppress(NothingFound), self._namespace.transaction() as t:
                    t.set(f"maxsize of {self._name}", self._maxsize, if_absent=True)
                    for _ in range(self._maxsize):
                        t.write("room", self._name)
            self._is_used = True
        return self._namespace

    def _check(self) -> Namespace:
        if self._is_closed:
            raise ValueError(f"Queue {self!r} is closed")
        return self._open()

    def put(self, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        """Puts an object, which is pickled now; raises queue.Full."""
        namespace = self._check()
        pickled = bytes(ForkingPickler.dumps(obj))
        if not self._maxsize:
            self._write(pickled, None)
            return
        room = namespace.claim("room", self._name, timeout=_wait(block, timeout))
        if room is None:
            raise _queue.Full
        with room:
            self._write(pickled, room)

    def _write(self, pickled: bytes, room: Claim[Any] | None) -> None:
        if room is None:
            self._namespace.write("object", self._name, pickled)
            return
        with self._namespace.transaction() as t:
            t.complete(room)
            t.write("object", self._name, pickled)

    def _claim(self, block: bool, timeout: float | None) -> Claim[Any]:
        claim = self._check().claim("object", self._name, bytes, timeout=_wait(block, timeout))
        if claim is None:
            raise _queue.Empty
        return claim

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Removes the oldest object; raises queue.Empty."""
        claim = self._claim(block, timeout)
        if not self._maxsize:
            claim.complete()
            return ForkingPickler.loads(claim.tuple[2])
        try:
            with self._namespace.transaction() as t:
                t.complete(claim)
                t.write("room", self._name)
        except Full:
            with self._namespace.transaction() as t:
                self._make_room(t, claim)
        return ForkingPickler.loads(claim.tuple[2])

    def _make_room(self, t: Transaction, claim: Claim[Any]) -> None:
        """Puts room in the place of an object: slower than completing and writing, but also in a full namespace."""
        t.release(claim)
        t.move(*claim.tuple, to=("room", self._name))

    def put_nowait(self, obj: Any) -> None:
        self.put(obj, False)

    def get_nowait(self) -> Any:
        return self.get(False)

    def qsize(self) -> int:
        """How many objects are in it."""
        return self._open().count("object", self._name, bytes)

    def empty(self) -> bool:
        if self._is_closed and self._is_used:
            raise OSError("the queue is closed")
        return self.qsize() == 0

    def full(self) -> bool:
        return bool(self._maxsize) and self._open().count("room", self._name) == 0

    def close(self) -> None:
        """No more is put or got through this object."""
        self._is_closed = True

    def join_thread(self) -> None:
        """Nothing: there is no thread."""

    def cancel_join_thread(self) -> None:
        """Nothing: there is no thread."""


def _wait(block: bool, timeout: float | None) -> float | None:
    return 0 if not block else timeout if timeout is None else max(timeout, 0)


class JoinableQueue(Queue):
    """multiprocessing.JoinableQueue; an object that was got is back in the queue if its process ends before task_done.

    With a `maxsize` the step that makes an object one that was got gives its room away. If its process is killed it is
    back as such: the next `get` claims it before others, and gives no room. So there is as much room as before. In a full
    namespace, where that step can't be carried out, the object keeps its room until task_done.
    """

    def __init__(self, maxsize: int = 0, **options: Any) -> None:
        super().__init__(maxsize, **options)
        self._unfinished = f"unfinished of {self._name}"
        self._claims: collections.deque[Claim[Any]] = collections.deque()

    def _write(self, pickled: bytes, room: Claim[Any] | None) -> None:
        with self._namespace.transaction() as t:
            if room is not None:
                t.complete(room)
            t.write("object", self._name, pickled)
            t.add(self._unfinished)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        wait = _wait(block, timeout)
        end = None if wait is None else time.monotonic() + wait
        claim = None
        while claim is None:
            claim = self._next(None if end is None else max(0, end - time.monotonic()))
        try:
            loaded = ForkingPickler.loads(claim.tuple[-1])
        except Exception:
            self._claims += (claim,)
            raise
        # No signal is handled after this, and a claim that is dropped before goes back.
        self._claims += (claim,)
        return loaded

    def _next(self, wait: float | None) -> Claim[Any] | None:
        """Claims the next object; None if another process has claimed it since its room was given away."""
        namespace = self._check()
        got, put = ("got", self._name, bytes, bytes), ("object", self._name, bytes)
        claim: Claim[Any] | None
        if self._maxsize:
            claim = namespace.claim(*got) or namespace.claim(either(got, put), timeout=wait)
        else:
            claim = namespace.claim(*put, timeout=wait)
        if claim is None:
            raise _queue.Empty
        if claim.tuple[0] == "got" or not self._maxsize:
            return claim
        mark = uuid.uuid4().bytes
        try:
            with namespace.transaction() as t:
                t.complete(claim)
                t.write("got", self._name, mark, claim.tuple[2])
                t.write("room", self._name)
        except Full:
            return claim
        return namespace.claim("got", self._name, mark, bytes)

    def qsize(self) -> int:
        return super().qsize() + (self._open().count("got", self._name, bytes, bytes) if self._maxsize else 0)

    def task_done(self) -> None:
        """The object that this process got first, and has not called it for, is done.

        If a signal's handler raises in it, the object is done, or it is as if this had not been called.
        """
        if not self._claims:
            raise ValueError("task_done() called too many times")
        claim = None
        try:
            # No signal is handled, and no other thread runs, between these.
            claim = self._claims[0]
            del self._claims[0]
            with self._namespace.transaction() as t:
                if self._maxsize and claim.tuple[0] == "object":
                    self._make_room(t, claim)
                else:
                    t.complete(claim)
                t.add(self._unfinished, -1)
        except BaseException:
            # Dropped it would be back in the queue, and done twice.
            if claim is not None and not claim.has_ended and claim not in self._claims:
                self._claims.appendleft(claim)
            raise

    def join(self) -> None:
        """Waits until all objects are done."""
        with self._open().watch(key=self._unfinished) as watch:
            while self._namespace.get(self._unfinished, 0) > 0:
                watch.next()

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_claims": collections.deque()}


class SimpleQueue(Queue):
    """multiprocessing.SimpleQueue."""

    def __init__(self, *, ctx: Any = None, namespace: Namespace | None = None, name: str = "queue") -> None:
        super().__init__(ctx=ctx, namespace=namespace, name=name)


# --- filelock -----------------------------------------------------------------------------------------------------------


# The logger that programs with filelock know.
_log = logging.getLogger("filelock")


class Timeout(TimeoutError):
    """The lock was not free in time."""

    def __init__(self, lock_file: str) -> None:
        super().__init__()
        self._lock_file = lock_file

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._lock_file,)

    def __str__(self) -> str:
        return f"The file lock '{self._lock_file}' could not be acquired."

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.lock_file!r})"

    @property
    def lock_file(self) -> str:
        return self._lock_file


class AcquireReturnProxy:
    """What `acquire` returns: a with-block that releases."""

    def __init__(self, lock: FileLock) -> None:
        self.lock = lock

    def __enter__(self) -> FileLock:
        return self.lock

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.lock.release()


class _State:
    """How often a lock is held, and how it is waited for."""

    def __init__(self, timeout: float, poll_interval: float) -> None:
        self.counter = 0
        self.hold: Any = None
        self.timeout = timeout
        self.poll_interval = poll_interval


class _ThreadState(_State, threading.local):
    """The same for each thread."""


class FileLock(contextlib.ContextDecorator):
    """filelock.FileLock, without a file: the path is a lock's name, and a killed holder's goes to the next in line.

    It is reentrant, as filelock's is: the lock is released with the last release. When the object is dropped, its hold is, which
    lets go by itself: a method that does it could be left by a signal's handler that raises.
    """

    # That of the process and the root that were used last: a test has a root of its own, and there are many tests.
    _latest: tuple[tuple[int, str], Namespace] | None = None

    def __init__(
        self,
        lock_file: str | os.PathLike[str],
        timeout: float = -1,
        mode: int = 0o644,
        thread_local: bool = True,
        *,
        blocking: bool = True,
        is_singleton: bool = False,
        poll_interval: float = 0.05,
    ) -> None:
        self._lock_file = os.fspath(lock_file)
        if is_singleton:
            raise NotImplementedError("there are no singletons here: keep the lock, and pass it on")
        self._is_thread_local = thread_local
        self._state = (_ThreadState if thread_local else _State)(timeout, poll_interval)
        self.blocking = blocking

    @property
    def lock_file(self) -> str:
        return self._lock_file

    @property
    def timeout(self) -> float:
        return self._state.timeout

    @timeout.setter
    def timeout(self, value: float | str) -> None:
        self._state.timeout = float(value)

    @property
    def poll_interval(self) -> float:
        """What was given; nothing is polled."""
        return self._state.poll_interval

    @poll_interval.setter
    def poll_interval(self, value: float) -> None:
        self._state.poll_interval = value

    @property
    def is_locked(self) -> bool:
        """Whether it is held through this object."""
        return self._state.counter > 0

    @property
    def lock_counter(self) -> int:
        """How often it was acquired and not released."""
        return self._state.counter

    def is_thread_local(self) -> bool:
        return self._is_thread_local

    def _lock(self) -> Any:
        if "\0" in self._lock_file:
            raise ValueError("embedded null character")
        path = os.path.realpath(self._lock_file)
        if not self._lock_file or os.path.isdir(path):
            number = errno.EISDIR if self._lock_file else errno.ENOENT
            raise OSError(number, os.strerror(number), self._lock_file)
        # A name has at most 240 bytes.
        if len(os.fsencode(path)) > 200:
            path = f"{os.path.basename(path)[:40]} {hashlib.sha256(os.fsencode(path)).hexdigest()}"
        key = os.getpid(), os.environ.get("SHARED_SPACE_ROOT", "")
        latest = FileLock._latest
        if latest is None or latest[0] != key:
            latest = FileLock._latest = key, Space().namespace("filelock")
        return latest[1].lock(os.fsencode(path).decode("utf-8", "backslashreplace"))

    def acquire(
        self,
        timeout: float | None = None,
        poll_interval: float | None = None,
        *,
        blocking: bool | None = None,
    ) -> AcquireReturnProxy:
        """Acquires the lock, or raises Timeout; a negative time-out waits without limit. Nothing is polled."""
        timeout = self.timeout if timeout is None else timeout
        if not (self.blocking if blocking is None else blocking):
            timeout = 0
        state = self._state
        if state.counter == 0:
            lock = self._lock()
            _log.debug("Attempting to acquire lock %s on %s", id(self), self._lock_file)
            try:
                is_held = lock.acquire(None if timeout < 0 else timeout)
            except Deadlock as error:
                # This thread holds it through another object.
                if timeout < 0:
                    raise Deadlock(f"Deadlock: {error}", error.code, error.operation) from None
                is_held = False
            if not is_held:
                _log.debug("Timeout on acquiring lock %s on %s", id(self), self._lock_file)
                raise Timeout(self._lock_file)
            _log.debug("Lock %s acquired on %s", id(self), self._lock_file)
            # No signal is handled between these: one without the other would be a lock that is never released.
            state.hold, state.counter = lock, 1
        else:
            state.counter += 1
        return AcquireReturnProxy(self)

    def release(self, force: bool = False) -> None:
        """Releases the lock, if it was acquired once, or by force."""
        state = self._state
        if state.counter == 0:
            return
        state.counter = 0 if force else state.counter - 1
        if state.counter == 0:
            hold, state.hold = state.hold, None
            _log.debug("Attempting to release lock %s on %s", id(self), self._lock_file)
            with contextlib.suppress(SpaceError):
                hold.release()
            _log.debug("Lock %s released on %s", id(self), self._lock_file)

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()


__all__ = [
    "AcquireReturnProxy",
    "Empty",
    "FileLock",
    "JoinableQueue",
    "Queue",
    "SimpleQueue",
    "Timeout",
]
