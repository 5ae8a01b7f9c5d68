"""The words of multiprocessing.Queue and of filelock, over a namespace: trying it is one changed import.

    from sharedspace.compat import Queue       # instead of: from multiprocessing import Queue
    from sharedspace.compat import FileLock    # instead of: from filelock import FileLock

What differs is listed in the article "Python".
"""

from __future__ import annotations

import atexit
import collections
import contextlib
import errno
import hashlib
import itertools
import os
import queue as _queue
import threading
import uuid
from multiprocessing.reduction import ForkingPickler
from typing import TYPE_CHECKING, Any, Final

from ._errors import Deadlock, Full, SpaceError
from ._space import Namespace, Space

if TYPE_CHECKING:
    from types import TracebackType

    from ._queues import Queue as _WorkQueue
    from ._sharedspace import Item

Empty = _queue.Empty

# --- multiprocessing.Queue ----------------------------------------------------------------------------------------------

_PREFIX: Final = "multiprocessing."
_numbers = itertools.count(1)


def _born(pid: int) -> str | None:
    """When a process began, in ticks of the kernel's; None if there is none with this number."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as stream:
            return stream.read().rpartition(b")")[2].split()[19].decode()
    except OSError:
        return None


def _sweep(space: Space) -> None:
    """Deletes the queues of processes that were killed, once no process uses them."""
    for name in space.names():
        pid, _, rest = name.removeprefix(_PREFIX).partition(".")
        if not name.startswith(_PREFIX) or not pid.isdigit() or _born(int(pid)) == rest.partition(".")[0]:
            continue
        with contextlib.suppress(SpaceError), space.namespace(name, owning=False) as namespace:
            if not namespace.show()["owners"]:
                space.delete(name)


def _delete(space: Space, name: str, pid: int) -> None:
    if os.getpid() == pid:
        with contextlib.suppress(SpaceError):
            space.delete(name)


class Queue:
    """multiprocessing.Queue, without a thread and a pipe: a process killed in `get` or `put` stops no other.

    A queue without a namespace has one of its own, which goes when the process that made it ends. With a namespace, and a
    name in it, processes that are not related share it.
    """

    def __init__(
        self, maxsize: int = 0, *, ctx: Any = None, namespace: Namespace | None = None, name: str = "queue"
    ) -> None:
        self._maxsize = max(maxsize, 0)
        self._is_swept = namespace is not None
        if namespace is None:
            # A child may use it, and end, before the process that made it does: so it is persistent.
            pid = os.getpid()
            own = f"{_PREFIX}{pid}.{_born(pid)}.{next(_numbers)}.{uuid.uuid4().hex[:8]}"
            space = Space()
            namespace = space.namespace(own, persistent=True)
            atexit.register(_delete, space, own, pid)
        self._namespace = namespace
        self._name = name
        self._is_closed = self._is_used = False

    @property
    def _queue(self) -> _WorkQueue:
        if not self._is_swept:
            self._is_swept = True
            _sweep(Space(self._namespace.root))
        self._is_used = True
        return self._namespace.queue(self._name, bound=self._maxsize or None)

    def _check(self) -> None:
        if self._is_closed:
            raise ValueError(f"Queue {self!r} is closed")

    def put(self, obj: Any, block: bool = True, timeout: float | None = None) -> None:
        """Puts an object, which is pickled now; raises queue.Full."""
        self._check()
        wait = 0 if not block else timeout if timeout is None else max(timeout, 0)
        try:
            self._queue.put(bytes(ForkingPickler.dumps(obj)), timeout=wait)
        except Full as error:
            if error.code != "limitReached" or not self._maxsize:
                raise
            raise _queue.Full from None

    def _get(self, block: bool, timeout: float | None) -> Item:
        self._check()
        item = self._queue.get(timeout=0 if not block else timeout if timeout is None else max(timeout, 0))
        if item is None:
            raise _queue.Empty
        return item

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Removes the oldest object; raises queue.Empty."""
        item = self._get(block, timeout)
        item.complete()
        return ForkingPickler.loads(item.value)

    def put_nowait(self, obj: Any) -> None:
        self.put(obj, False)

    def get_nowait(self) -> Any:
        return self.get(False)

    def qsize(self) -> int:
        """How many objects are in it."""
        counts = self._queue.counts()
        return counts["ready"] + counts["delayed"] + counts["blocked"]

    def empty(self) -> bool:
        if self._is_closed and self._is_used:
            raise OSError("the queue is closed")
        return self.qsize() == 0

    def full(self) -> bool:
        return bool(self._maxsize) and self.qsize() >= self._maxsize

    def close(self) -> None:
        """No more is put or got through this object."""
        self._is_closed = True

    def join_thread(self) -> None:
        """Nothing: there is no thread."""

    def cancel_join_thread(self) -> None:
        """Nothing: there is no thread."""


class JoinableQueue(Queue):
    """multiprocessing.JoinableQueue; an object that was got is back in the queue if its process ends before task_done."""

    def __init__(self, maxsize: int = 0, **options: Any) -> None:
        super().__init__(maxsize, **options)
        self._items: collections.deque[Item] = collections.deque()

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        item = self._get(block, timeout)
        self._items.append(item)
        return ForkingPickler.loads(item.value)

    def task_done(self) -> None:
        """The object that this process got first, and has not called it for, is done."""
        if not self._items:
            raise ValueError("task_done() called too many times")
        self._items.popleft().complete()
        self._namespace.post("task done", self._name)

    def join(self) -> None:
        """Waits until all objects are done."""
        with self._namespace.watch(posts="task done") as watch:
            while sum(self._queue.counts().values()) > 0:
                # A process that was killed posts nothing, but its object is not done either.
                watch.next(1)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_items": collections.deque()}


class SimpleQueue(Queue):
    """multiprocessing.SimpleQueue."""

    def __init__(self, *, ctx: Any = None, namespace: Namespace | None = None, name: str = "queue") -> None:
        super().__init__(ctx=ctx, namespace=namespace, name=name)


# --- filelock -----------------------------------------------------------------------------------------------------------


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
    """How often a lock is held, and for how long it is waited for."""

    def __init__(self, timeout: float) -> None:
        self.counter = 0
        self.hold: Any = None
        self.timeout = timeout


class _ThreadState(_State, threading.local):
    """The same for each thread."""


class FileLock(contextlib.ContextDecorator):
    """filelock.FileLock, without a file: the path is a lock's name, and a killed holder's goes to the next in line.

    It is reentrant, as filelock's is: the lock is released with the last release.
    """

    _namespaces: dict[tuple[int, str], Namespace] = {}

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
        self._state: _State = _ThreadState(timeout) if thread_local else _State(timeout)
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
        if key not in self._namespaces:
            self._namespaces[key] = Space().namespace("filelock")
        return self._namespaces[key].lock(os.fsencode(path).decode("utf-8", "backslashreplace"))

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
            try:
                is_held = lock.acquire(None if timeout < 0 else timeout)
            except Deadlock as error:
                # This thread holds it through another object.
                if timeout < 0:
                    raise Deadlock(f"Deadlock: {error}", error.code, error.operation) from None
                is_held = False
            if not is_held:
                raise Timeout(self._lock_file)
            state.hold = lock
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
            with contextlib.suppress(SpaceError):
                hold.release()

    def __enter__(self) -> FileLock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()

    def __del__(self) -> None:
        if hasattr(self, "_state"):
            self.release(force=True)


__all__ = [
    "AcquireReturnProxy",
    "Empty",
    "FileLock",
    "JoinableQueue",
    "Queue",
    "SimpleQueue",
    "Timeout",
]
