"""Processes of one Linux machine coordinate through tuples, locks, queues and values, without a server.

    jobs = sharedspace.Space().namespace("jobs")
    jobs.write("resize", 42, "cat.png")
    with jobs.claim("resize", int, str, timeout=None) as job:
        print(job.tuple)

A template is made of values, types (int, str, float, bool, bytes, list, dict, uuid.UUID), `...` for anything, `range` and
`Between`, compiled patterns, and `rest`; no template at all matches any tuple. One mapping, or one instance of a data class,
is a record; a mapping or a data class as the template matches records.
"""

from typing import TYPE_CHECKING, Any

from . import _errors, _fields, _sharedspace
from ._errors import (
    BadData,
    Busy,
    ClaimLost,
    Closed,
    Deadlock,
    Denied,
    Failed,
    Forked,
    Full,
    HoldLost,
    NoAnswer,
    NoProcess,
    NotFound,
    NothingFound,
    SpaceError,
    Unavailable,
)
from ._fields import Between, either, rest
from ._gates import Barrier, Counter, Latch, RateLimit
from ._holding import Election, Leader, Lock, Semaphore
from ._ordered import OrderedSet
from ._queues import Queue
from ._responders import Request, Responder
from ._sharedspace import Claim, Item
from ._space import Namespace, Seen, Space
from ._transactions import Step, Transaction
from ._watching import Change, Watch

if TYPE_CHECKING:
    from ._aio import AsyncNamespace

_sharedspace.begin(_fields, _errors)

__version__ = _sharedspace.version()

__all__ = [
    "AsyncNamespace",
    "BadData",
    "Barrier",
    "Between",
    "Busy",
    "Change",
    "Claim",
    "ClaimLost",
    "Closed",
    "Counter",
    "Deadlock",
    "Denied",
    "Election",
    "Failed",
    "Forked",
    "Full",
    "HoldLost",
    "Item",
    "Latch",
    "Leader",
    "Lock",
    "Namespace",
    "NoAnswer",
    "NoProcess",
    "NotFound",
    "NothingFound",
    "OrderedSet",
    "Queue",
    "RateLimit",
    "Request",
    "Responder",
    "Seen",
    "Semaphore",
    "Space",
    "SpaceError",
    "Step",
    "Transaction",
    "Unavailable",
    "Watch",
    "either",
    "rest",
]


def __getattr__(name: str) -> Any:
    """AsyncNamespace is imported when it is asked for, because asyncio takes long to import."""
    if name == "AsyncNamespace":
        from ._aio import AsyncNamespace

        return AsyncNamespace
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
