"""Waits that need no thread: of asyncio's tasks, and of what the library waits for in no other way.

An asyncio task that is cancelled must lose nothing. Its wait ends in the library, the event loop hands the result to a
future, and the task resumes later; it can be cancelled at each of these moments. So what a wait obtains is given back
unless the task has really resumed with it: a take is a claim until then.
"""

from __future__ import annotations

import asyncio
import itertools
import weakref
from typing import TYPE_CHECKING, Any

from . import _sharedspace
from ._errors import SpaceError
from ._waits import CHANGE, CLAIM, HOLDS, ITEM, REQUEST, Passed, Request, Wait

if TYPE_CHECKING:
    from ._responders import Responder

def give_back(wait: Wait, value: Any) -> None:
    """Gives back what a wait has obtained and no task has got."""
    try:
        if wait.what == CLAIM or wait.what == ITEM:
            value.complete(keep=True)
        elif wait.what in HOLDS:
            value.release()
        elif wait.what == REQUEST and wait.responder is not None:
            _sharedspace.responder_give_back(wait.responder._handle, value[1])
    except SpaceError:
        # The namespace was closed or deleted meanwhile, and what was obtained went back with it.
        pass


def _raisable(error: BaseException) -> BaseException:
    """A future refuses StopIteration; it becomes RuntimeError, as in a coroutine."""
    if not isinstance(error, StopIteration):
        return error
    raised = RuntimeError("the class of a record raised StopIteration")
    raised.__cause__ = error
    return raised


class _Reader:
    """What asyncio calls. Only its loop holds it, until the loop is closed or dropped: the waits end with it."""

    def __init__(self, waits: EventLoop) -> None:
        self._waits = waits

    def __call__(self) -> None:
        self._waits._ready()


class EventLoop:
    """The waits of one asyncio loop."""

    # Weak, because the futures of the waits hold their loop.
    _all: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, weakref.ref[EventLoop]] = weakref.WeakKeyDictionary()
    # How many outcomes are handed out before other callbacks of the loop run.
    _MOST = 256

    @classmethod
    def running(cls) -> EventLoop:
        loop = asyncio.get_running_loop()
        reference = cls._all.get(loop)
        found = None if reference is None else reference()
        if found is None:
            found = cls(loop)
            cls._all[loop] = weakref.ref(found)
        return found

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._number = _sharedspace.loop_open()
        self._tokens = itertools.count(1)
        self._waits: dict[int, Wait] = {}
        reader = _Reader(self)
        self._end = weakref.finalize(reader, _sharedspace.loop_close, self._number)
        loop.add_reader(_sharedspace.loop_descriptor(self._number), reader)

    def _ready(self) -> None:
        for _ in range(self._MOST):
            ended = _sharedspace.loop_next(self._number, self._waits)
            if ended is None:
                return
            token, outcome, value = ended
            wait = self._waits.pop(token, None)
            if wait is None or wait.future is None or wait.future.done():
                # The task was cancelled, and does not know yet that the wait has ended.
                if wait is not None and outcome == 1:
                    give_back(wait, value)
            elif outcome < 0:
                wait.future.set_exception(_raisable(value))
            else:
                wait.future.set_result(value if outcome == 1 else Passed(value))

    async def wait(self, request: Request) -> Any:
        """The outcome of a wait, `Passed` if its time has passed."""
        token = next(self._tokens)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        cls = request.begin(self._number, token)
        wait = self._waits[token] = Wait(request.what, request.namespace, cls, future)
        return await self._outcome(token, wait, future)

    async def change(self, watch: int, timeout: float | None) -> Any:
        """The next change of a watch, `Passed` if none came in time."""
        token = next(self._tokens)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        _sharedspace.loop_watch(self._number, token, watch, timeout)
        wait = self._waits[token] = Wait(CHANGE, None, None, future)
        return await self._outcome(token, wait, future)

    async def request(self, responder: Responder, timeout: float | None) -> Any:
        """The next request of a responder, `Passed` if none came in time."""
        token = next(self._tokens)
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        _sharedspace.loop_responder(self._number, token, responder._handle, timeout)
        wait = self._waits[token] = Wait(REQUEST, None, None, future, responder)
        return await self._outcome(token, wait, future)

    async def _outcome(self, token: int, wait: Wait, future: asyncio.Future[Any]) -> Any:
        try:
            return await future
        except BaseException:
            if token in self._waits:
                del self._waits[token]
                if self._end.alive:
                    _sharedspace.loop_cancel(self._number, token)
            elif not future.cancelled() and future.exception() is None and not isinstance(future.result(), Passed):
                give_back(wait, future.result())
            raise
