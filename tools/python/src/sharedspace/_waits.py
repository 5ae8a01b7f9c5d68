"""What can be waited for, and how: apart from asyncio, which takes long to import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from . import _sharedspace

if TYPE_CHECKING:
    import asyncio

    from ._responders import Responder
    from ._space import Namespace

# SHAREDSPACE_WAIT_… of sharedspace.h; CHANGE is a watch's, and REQUEST a responder's.
CHANGE, READ, TAKE, CLAIM, CELL, LOCK, SEMAPHORE, ELECTION, BARRIER, LATCH, RATE, ITEM, REPLY = range(13)
REQUEST: Final = -1
HOLDS: Final = (LOCK, SEMAPHORE, ELECTION)


class Passed(NamedTuple):
    """The outcome of a wait whose time has passed; the PID of a holder, or 0."""

    holder: int


class Wait(NamedTuple):
    """What is waited for, and how. The extension reads the first three fields."""

    what: int
    namespace: Namespace | None
    type: type | None = None
    future: asyncio.Future[Any] | None = None
    responder: Responder | None = None


class Request(NamedTuple):
    """The arguments of a wait."""

    what: int
    namespace: Namespace
    template: tuple[Any, ...] | None = None
    names: tuple[str, ...] = ()
    timeout: float | None = None
    deadline: float | None = None
    flags: int = 0
    permits: int = 0
    wanted: int = 0
    interval: float | None = None
    value: Any = None

    def begin(self, loop: int, token: int) -> type | None:
        return _sharedspace.loop_begin(
            loop, token, self.namespace, self.what, self.template, self.names, self.timeout, self.deadline, self.flags,
            self.permits, self.wanted, self.interval, self.value,
        )  # fmt: skip
