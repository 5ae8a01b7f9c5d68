"""Waits that need no thread: of asyncio's tasks, and of what the library waits for in no other way.

An asyncio task that is cancelled must lose nothing. Its wait ends in the library, the event loop hands the result to a
future, and the task resumes later; it can be cancelled at each of these moments. So what a wait obtains is given back
unless the task has really resumed with it: a take is a claim until then.

A handler of a signal that raises can do so between any two lines. So a wait is known before it begins, the extension
gives it what it has obtained and tells its task in one call, and what it has obtained goes back when it is dropped.
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
    from collections.abc import Callable, Coroutine

    from ._responders import Responder
    from ._watching import Watch


def give_back(wait: Wait) -> None:
    """Gives back what a wait has obtained and no task has got; a change is with its watch."""
    value, wait.value = wait.value, None
    try:
        if wait.what == CLAIM or wait.what == ITEM:
            value.complete(keep=True)
        elif wait.what in HOLDS:
            value.release()
        elif wait.what == REQUEST:
            _sharedspace.responder_give_back(value)
    except SpaceError:
        # The namespace was closed or deleted meanwhile, and what was obtained went back with it; or a process is in the way, and
        # it goes back when the object is dropped.
        pass


def _raisable(error: BaseException) -> BaseException:
    """StopIteration becomes RuntimeError, as in a coroutine, and says why."""
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
    # How many outcomes are handed out before their tasks run. A take costs less if its claim is completed soon: before
    # 64 claims are open, none has a row in the database.
    _MOST = 32

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
        _sharedspace.loop_next(self._number, self._waits, self._MOST)

    def wait(self, request: Request) -> Coroutine[Any, Any, Any]:
        """The outcome of a wait, `Passed` if its time has passed."""
        wait = Wait(request.what, asyncio.get_running_loop().create_future(), request.namespace)
        return self._outcome(wait, request.begin)

    def change(self, watch: Watch, timeout: float | None) -> Coroutine[Any, Any, Any]:
        """Waits until the watch has a change in its list; `Passed` if none came in time."""
        wait = Wait(CHANGE, asyncio.get_running_loop().create_future(), left=watch._left)
        handle = watch._handle
        return self._outcome(wait, lambda loop, token: _sharedspace.loop_watch(loop, token, handle, timeout))

    def request(self, responder: Responder, timeout: float | None) -> Coroutine[Any, Any, Any]:
        """The next request of a responder, `Passed` if none came in time."""
        handle = responder._handle
        wait = Wait(REQUEST, asyncio.get_running_loop().create_future(), responder=handle)
        return self._outcome(wait, lambda loop, token: _sharedspace.loop_responder(loop, token, handle, timeout))

    async def _outcome(self, wait: Wait, begin: Callable[[int, int], type | None]) -> Any:
        token = next(self._tokens)
        try:
            self._waits[token] = wait
            wait.type = begin(self._number, token)
            await wait.future
        except BaseException:
            self._abandon(token, wait)
            raise
        if wait.outcome == 1:
            return wait.value
        if wait.outcome == 0:
            return Passed(wait.value)
        raise _raisable(wait.value)

    def _abandon(self, token: int, wait: Wait) -> None:
        if token in self._waits:
            if self._end.alive:
                _sharedspace.loop_cancel(self._number, token)
            self._waits.pop(token, None)
        elif wait.outcome == 1:
            give_back(wait)
