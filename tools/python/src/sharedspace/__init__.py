"""Processes of one Linux machine coordinate through tuples, locks, queues and values, without a server.

    jobs = sharedspace.Space().namespace("jobs")
    jobs.write("resize", 42, "cat.png")
    with jobs.claim("resize", int, str, timeout=None) as job:
        print(job.tuple)

A template is made of values, types (int, str, float, bool, bytes, list, dict, uuid.UUID), `...` for anything, `range` and
`Between`, compiled patterns, and `rest`; no template at all matches any tuple. One mapping, or one instance of a data class,
is a record; a mapping or a data class as the template matches records.
"""

from . import _errors, _sharedspace
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
from ._sharedspace import Claim, Item
from ._space import Namespace, Space
from ._templates import Between, either, rest

# Type checkers take it for true. The module typing, which has one too, takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._aio import AsyncNamespace
    from ._gates import Barrier, Counter, Latch, RateLimit
    from ._holding import Election, Lock, Semaphore
    from ._ordered import OrderedSet
    from ._queues import Queue
    from ._responders import Request, Responder
    from ._results import Leader, Seen
    from ._transactions import Step, Transaction
    from ._watching import Change, Watch

_sharedspace.begin(_errors)

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


# The classes that are imported when they are asked for, because what they need takes long to import; and their modules.
_LATER = {
    "AsyncNamespace": "_aio",
    "Barrier": "_gates",
    "Change": "_watching",
    "Counter": "_gates",
    "Election": "_holding",
    "Latch": "_gates",
    "Leader": "_results",
    "Lock": "_holding",
    "OrderedSet": "_ordered",
    "Queue": "_queues",
    "RateLimit": "_gates",
    "Request": "_responders",
    "Responder": "_responders",
    "Seen": "_results",
    "Semaphore": "_holding",
    "Step": "_transactions",
    "Transaction": "_transactions",
    "Watch": "_watching",
}


def __getattr__(name: str) -> "Any":
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    found = globals()[name] = getattr(importlib.import_module(f".{_LATER[name]}", __name__), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
