"""What can be waited for, and how: apart from asyncio, which takes long to import."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from . import _sharedspace

if TYPE_CHECKING:
    import asyncio

    from ._space import Namespace

# SHAREDSPACE_WAIT_… of sharedspace.h; CHANGE is a watch's, and REQUEST a responder's.
CHANGE, READ, TAKE, CLAIM, CELL, LOCK, SEMAPHORE, ELECTION, BARRIER, LATCH, RATE, ITEM, REPLY = range(13)
REQUEST: Final = -1
HOLDS: Final = (LOCK, SEMAPHORE, ELECTION)


class Passed(NamedTuple):
    """The outcome of a wait whose time has passed; the PID of a holder, or 0."""

    holder: int


class Wait:
    """What is waited for, and what has come. The extension reads the first five, and sets the last two.

    The outcome is 1, 0 when the time has passed, or -1 when the value is an exception; None before the end. A change
    goes to the list of its watch.
    """

    __slots__ = ("what", "namespace", "responder", "left", "type", "future", "outcome", "value")

    def __init__(
        self,
        what: int,
        future: asyncio.Future[None],
        namespace: Namespace | None = None,
        responder: object = None,
        left: list[Any] | None = None,
    ) -> None:
        self.what = what
        self.namespace = namespace
        self.responder = responder
        self.left = left
        self.type: type | None = None
        self.future = future
        self.outcome: int | None = None
        self.value: Any = None


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
