"""The verbs of a namespace for asyncio. Waits block no thread; what a cancelled task has not got goes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from . import _sharedspace, _waits
from ._errors import no_answer, timed_out
from ._gates import Barrier, Latch, RateLimit
from ._loops import EventLoop
from ._responders import Request as Asked
from ._responders import Responder
from ._waits import Passed, Request
from ._watching import Change, Watch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Generator, Mapping
    from types import TracebackType

    from typing_extensions import Unpack

    from ._holding import Election, Holding, Lock, Semaphore
    from ._queues import Queue
    from ._sharedspace import Claim, Item
    from ._space import Namespace
    from ._types import DataClass, Field, PutOptions, Template

_T = TypeVar("_T")
_D = TypeVar("_D", bound="DataClass")
_Holding = TypeVar("_Holding", bound="Holding")

# The flags of sharedspace.h.
_NEWEST, _SHARED, _NOW = 4, 512, 131072


async def _found(request: Request) -> Any:
    """What a wait has found; None if its time has passed."""
    outcome = await EventLoop.running().wait(request)
    return None if isinstance(outcome, Passed) else outcome


class Pending(Generic[_T]):
    """A claim or an item that is waited for: `await` it, or work on it in an `async with` block.

    The block completes it, or releases it after an exception, as a cancellation is. A block whose time-out passes raises
    `Busy`, a TimeoutError. One block is entered at a time: a second one raises RuntimeError until the first has ended.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self._is_entered = False
        self._obtained: Any = None

    def __await__(self) -> Generator[Any, None, _T | None]:
        return _found(self._request).__await__()

    async def __aenter__(self) -> _T:
        if self._is_entered:
            raise RuntimeError("another block has entered this object, and has not ended: make one for each block")
        self._is_entered = True
        try:
            obtained = await _found(self._request)
            if obtained is None:
                raise timed_out("a match", self._request.namespace.name, 0)
            self._obtained = obtained
        except BaseException:
            self._is_entered = False
            raise
        entered: _T = obtained.__enter__()
        return entered

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        obtained, self._obtained, self._is_entered = self._obtained, None, False
        obtained.__exit__(kind, error, traceback)


class AsyncHolding(Generic[_Holding]):
    """A lock, semaphore or election for tasks: `async with`, or `await acquire()` and `release()`."""

    def __init__(self, holding: _Holding, request: Request) -> None:
        self._holding = holding
        self._request = request

    async def acquire(self, timeout: float | None = None) -> bool:
        """Waits in line, at most `timeout` seconds; False if it was not free."""
        return await self._attempt(timeout) is None

    async def _attempt(self, timeout: float | None) -> int | None:
        outcome = await EventLoop.running().wait(self._request._replace(timeout=timeout))
        return self._holding._keep(outcome.holder if isinstance(outcome, Passed) else outcome)

    def release(self) -> None:
        """Lets go of what was acquired last."""
        self._holding.release()

    @property
    def held(self) -> bool:
        """Whether it is held through this object."""
        return self._holding.held

    @property
    def fencing(self) -> int:
        """A number greater than that of every earlier holder."""
        return self._holding.fencing

    async def __aenter__(self) -> _Holding:
        holder = await self._attempt(self._request.timeout)
        if holder is not None:
            raise timed_out(str(self._holding), self._request.namespace.name, holder)
        return self._holding

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._holding.release()


class AsyncQueue:
    """A queue of work for tasks."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue

    async def put(self, value: Field, **options: Unpack[PutOptions]) -> int:
        """As `Queue.put`, but it never waits for room, and has no time-out: without room it raises `Full` at once."""
        return self._queue._put([value], 0, **options)[0]

    def get(self, *, timeout: float | None = 0, ttr: float | None = None) -> Pending[Item]:
        """The next item to work on: `await` it, or `async with`."""
        return Pending(Request(_waits.ITEM, self._queue._namespace, None, (self._queue.name,), timeout, ttr))


class AsyncWatch:
    """The changes of a namespace: `async for change in watch`."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    async def next(self, timeout: float | None = None) -> Change | None:
        """The next change; None if none comes in `timeout` seconds."""
        watch = self._watch
        _sharedspace.watch_check(watch._handle)
        if not watch._left and isinstance(await EventLoop.running().change(watch, timeout), Passed):
            return None
        return watch._first()

    @property
    def point(self) -> str:
        """Where a later watch goes on."""
        return self._watch.point

    def acknowledge(self, change: Change) -> None:
        """For a subscription: this change, and those before it, don't come again."""
        self._watch.acknowledge(change)

    def close(self) -> None:
        """Ends watching."""
        self._watch.close()

    def __aiter__(self) -> AsyncWatch:
        return self

    async def __anext__(self) -> Change:
        if self._watch._is_gone:
            raise StopAsyncIteration
        change = await self.next()
        assert change is not None
        return change

    async def __aenter__(self) -> AsyncWatch:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncResponder:
    """A responder for tasks: `async for request in responder`; several requests may be worked on at a time."""

    def __init__(self, responder: Responder) -> None:
        self._responder = responder

    async def next(self, timeout: float | None = None) -> Asked | None:
        """The next request; None if none comes in `timeout` seconds."""
        found = await EventLoop.running().request(self._responder, timeout)
        return None if isinstance(found, Passed) else Asked(self._responder, found)

    def close(self) -> None:
        """Ends it; what it has not answered goes to the next one."""
        self._responder.close()

    def __aiter__(self) -> AsyncResponder:
        return self

    async def __anext__(self) -> Asked:
        request = await self.next()
        assert request is not None
        return request

    async def __aenter__(self) -> AsyncResponder:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


class AsyncGate:
    """A barrier, a latch or a rate limit for tasks."""

    def __init__(self, request: Request) -> None:
        self._request = request

    async def wait(self, timeout: float | None = None) -> bool:
        """Waits until it may pass; False if the time has passed."""
        outcome = await EventLoop.running().wait(self._request._replace(timeout=timeout))
        return not isinstance(outcome, Passed)


class AsyncNamespace:
    """The verbs of a namespace, awaitable: `await ns.aio.take("resize", int, timeout=None)`.

    A task that is cancelled while it waits, also by `asyncio.timeout`, has taken nothing. Calls that don't wait for a match
    are those of the namespace itself: they take some microseconds, on the thread of the event loop.
    """

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace

    async def write(self, *fields: Field, expires: float | None = None, own_lifetime: bool = False) -> int:
        """As `Namespace.write`."""
        return self._namespace.write(*fields, expires=expires, own_lifetime=own_lifetime)

    def _finding(
        self, what: int, template: tuple[Any, ...], timeout: float | None, newest: bool, deadline: float | None = None
    ) -> Request:
        return Request(what, self._namespace, template, (), timeout, deadline, _NEWEST if newest else 0)

    @overload
    async def read(self, template: type[_D], /, *, timeout: float | None = 0, newest: bool = False) -> _D | None: ...
    @overload
    async def read(  # type: ignore[overload-overlap]
        self, template: Mapping[str, Template], /, *, timeout: float | None = 0, newest: bool = False
    ) -> dict[str, Any] | None: ...
    @overload
    async def read(
        self, *template: Template, timeout: float | None = 0, newest: bool = False
    ) -> tuple[Any, ...] | None: ...
    async def read(self, *template: Any, timeout: float | None = 0, newest: bool = False) -> Any:
        """The oldest tuple that matches; it stays."""
        return await _found(self._finding(_waits.READ, template, timeout, newest))

    @overload
    async def take(self, template: type[_D], /, *, timeout: float | None = 0, newest: bool = False) -> _D | None: ...
    @overload
    async def take(  # type: ignore[overload-overlap]
        self, template: Mapping[str, Template], /, *, timeout: float | None = 0, newest: bool = False
    ) -> dict[str, Any] | None: ...
    @overload
    async def take(
        self, *template: Template, timeout: float | None = 0, newest: bool = False
    ) -> tuple[Any, ...] | None: ...
    async def take(self, *template: Any, timeout: float | None = 0, newest: bool = False) -> Any:
        """Removes the oldest tuple that matches, if the task resumes with it; else it goes back."""
        claim = await EventLoop.running().wait(self._finding(_waits.CLAIM, template, timeout, newest))
        if isinstance(claim, Passed):
            return None
        claim.complete()
        return claim.tuple

    @overload
    def claim(
        self,
        template: type[_D],
        /,
        *,
        timeout: float | None = 0,
        newest: bool = False,
        deadline: float | None = None,
    ) -> Pending[Claim[_D]]: ...
    @overload
    def claim(  # type: ignore[overload-overlap]
        self,
        template: Mapping[str, Template],
        /,
        *,
        timeout: float | None = 0,
        newest: bool = False,
        deadline: float | None = None,
    ) -> Pending[Claim[dict[str, Any]]]: ...
    @overload
    def claim(
        self, *template: Template, timeout: float | None = 0, newest: bool = False, deadline: float | None = None
    ) -> Pending[Claim[tuple[Any, ...]]]: ...
    def claim(
        self, *template: Any, timeout: float | None = 0, newest: bool = False, deadline: float | None = None
    ) -> Any:
        """A claim of the oldest tuple that matches: `await` it, or `async with`."""
        return Pending(self._finding(_waits.CLAIM, template, timeout, newest, deadline))

    async def claims(
        self, *template: Template, timeout: float | None = None, deadline: float | None = None
    ) -> AsyncIterator[Claim[Any]]:
        """One claim after the other, until none comes for `timeout` seconds; None: without end."""
        while (claim := await self.claim(*template, timeout=timeout, deadline=deadline)) is not None:
            yield claim

    async def get(self, key: str, default: Any = None, *, timeout: float | None = 0) -> Any:
        """The value of a cell, or the default."""
        outcome = await EventLoop.running().wait(Request(_waits.CELL, self._namespace, None, (key,), timeout))
        return default if isinstance(outcome, Passed) else outcome

    async def set(self, key: str, value: Field, **options: Any) -> bool:
        """As `Namespace.set`."""
        return self._namespace.set(key, value, **options)

    async def unset(self, key: str) -> bool:
        """As `Namespace.unset`."""
        return self._namespace.unset(key)

    async def add(self, key: str, amount: int = 1) -> int:
        """As `Namespace.add`."""
        return self._namespace.add(key, amount)

    async def post(self, name: str, value: Field = None) -> None:
        """As `Namespace.post`."""
        self._namespace.post(name, value)

    def lock(self, *names: str, shared: bool = False, timeout: float | None = None) -> AsyncHolding[Lock]:
        """As `Namespace.lock`."""
        lock = self._namespace.lock(*names, shared=shared, timeout=timeout)
        flags = _SHARED if shared else 0
        return AsyncHolding(lock, Request(_waits.LOCK, self._namespace, None, names, timeout, flags=flags))

    def semaphore(self, name: str, permits: int, *, timeout: float | None = None) -> AsyncHolding[Semaphore]:
        """As `Namespace.semaphore`."""
        semaphore = self._namespace.semaphore(name, permits, timeout=timeout)
        request = Request(_waits.SEMAPHORE, self._namespace, None, (name,), timeout, permits=permits)
        return AsyncHolding(semaphore, request)

    def election(self, name: str, value: Field = None, *, timeout: float | None = None) -> AsyncHolding[Election]:
        """As `Namespace.election`."""
        election = self._namespace.election(name, value, timeout=timeout)
        return AsyncHolding(election, Request(_waits.ELECTION, self._namespace, None, (name,), timeout, value=value))

    def queue(self, name: str, *, deliveries: int | None = None, bound: int | None = None) -> AsyncQueue:
        """As `Namespace.queue`."""
        return AsyncQueue(self._namespace.queue(name, deliveries=deliveries, bound=bound))

    def barrier(self, name: str, parties: int) -> AsyncGate:
        """As `Namespace.barrier`."""
        return AsyncGate(Barrier(self._namespace, name, parties)._request(None))

    def latch(self, name: str, count: int) -> AsyncGate:
        """As `Namespace.latch`."""
        return AsyncGate(Latch(self._namespace, name, count)._request(None))

    def rate_limit(self, name: str, limit: int, per: float) -> AsyncGate:
        """As `Namespace.rate_limit`."""
        return AsyncGate(RateLimit(self._namespace, name, limit, per)._request(None, 1))

    async def request(self, name: str, argument: Field = None, *, timeout: float | None = 5, now: bool = False) -> Any:
        """As `Namespace.request`; a task that is cancelled takes its request back."""
        request = Request(
            _waits.REPLY, self._namespace, None, (name,), timeout, flags=_NOW if now else 0, value=argument
        )
        outcome = await EventLoop.running().wait(request)
        if isinstance(outcome, Passed):
            raise no_answer(name, self._namespace.name, outcome.holder)
        return outcome

    def respond(self, name: str, *, key: str | None = None, base: bool = False) -> AsyncResponder:
        """As `Namespace.respond`."""
        return AsyncResponder(Responder(self._namespace, name, key, base))

    def watch(self, *template: Template, **options: Any) -> AsyncWatch:
        """As `Namespace.watch`."""
        return AsyncWatch(self._namespace.watch(*template, **options))
