"""Errors: one class for each thing that a program does about them."""

from __future__ import annotations

import errno

# Type checkers take it for true. The module typing, which has one too, takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


class SpaceError(OSError):
    """A call has failed; nothing was changed.

    `code` is a stable word ("storageFull"), `operation` what was attempted, `namespace` where, `holder` the PID of the
    process in the way, `advice` what to do. The text of the exception says all of it.
    """

    code: str
    operation: str
    namespace: str | None
    holder: int | None
    advice: str | None

    def __init__(
        self,
        message: str,
        code: str = "",
        operation: str = "",
        namespace: str | None = None,
        advice: str | None = None,
        holder: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.operation = operation
        self.namespace = namespace
        self.advice = advice
        self.holder = holder
        self.errno = _NUMBERS.get(code)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.code, self.operation, self.namespace, self.advice, self.holder)


class BadData(SpaceError, ValueError):
    """A name, a value or a template that can't be used."""


class NotFound(SpaceError, KeyError):
    """The namespace does not exist, or was deleted."""


class NothingFound(SpaceError, LookupError):
    """A step of a transaction has found nothing, or a cell was not as expected; nothing was changed."""


class Busy(SpaceError, TimeoutError):
    """Another process was in the way for too long; `holder` names it."""


class Denied(SpaceError, PermissionError):
    """The files belong to another user, or can't be written."""


class Full(SpaceError):
    """There is no room: in the file system, in the namespace, or in a queue with a bound."""


class Closed(SpaceError):
    """The namespace was closed."""


class ClaimLost(SpaceError):
    """The claim had already gone back: its deadline has passed, or it was ended elsewhere."""


class HoldLost(SpaceError):
    """The lock was taken away."""


class Deadlock(SpaceError, RuntimeError):
    """The caller waits for what it holds itself, so that the wait would never end."""


class Forked(SpaceError, RuntimeError):
    """A child made by fork uses the library, which its parent had already used."""


class Failed(SpaceError, RuntimeError):
    """A responder, or the program of `evaluate`, has failed; the text says why."""


class NoAnswer(SpaceError, TimeoutError):
    """No responder has answered in time, or there is none."""


class NoProcess(SpaceError, ProcessLookupError):
    """There is no such process."""


class Unavailable(SpaceError):
    """The machines that share the namespace can't agree now."""


_CLASSES: Final[dict[str, type[SpaceError]]] = {
    "invalidName": BadData,
    "invalidArgument": BadData,
    "badData": BadData,
    "tooLarge": BadData,
    "typeMismatch": BadData,
    "namespaceNotFound": NotFound,
    "namespaceDeleted": NotFound,
    "holderStopped": Busy,
    "holderBusy": Busy,
    "timedOut": Busy,
    "permissionDenied": Denied,
    "storageFull": Full,
    "limitReached": Full,
    "closed": Closed,
    "claimLost": ClaimLost,
    "holdLost": HoldLost,
    "wouldDeadlock": Deadlock,
    "forked": Forked,
    "responderFailed": Failed,
    "evaluationFailed": Failed,
    "noResponder": NoAnswer,
    "noSuchProcess": NoProcess,
    "clusterUnavailable": Unavailable,
    "outcomeUnknown": Unavailable,
}

_NUMBERS: Final[dict[str, int]] = {
    "namespaceNotFound": errno.ENOENT,
    "namespaceDeleted": errno.ENOENT,
    "holderStopped": errno.ETIMEDOUT,
    "holderBusy": errno.ETIMEDOUT,
    "timedOut": errno.ETIMEDOUT,
    "permissionDenied": errno.EACCES,
    "storageFull": errno.ENOSPC,
    "limitReached": errno.ENOSPC,
    "descriptorsExhausted": errno.EMFILE,
    "wouldDeadlock": errno.EDEADLK,
    "noSuchProcess": errno.ESRCH,
    "noResponder": errno.ETIMEDOUT,
    "inputOutput": errno.EIO,
}

_FORKED: Final = (
    'start processes by spawn or forkserver: multiprocessing.set_start_method("forkserver"); or fork before this process '
    "uses its first namespace"
)


def make(code: str, message: str, operation: str, namespace: str | None, advice: str | None, holder: int) -> SpaceError:
    """Makes the exception of an error of the library; the extension calls it."""
    if code == "forked":
        message = message.replace(advice, _FORKED) if advice and advice in message else f"{message}; {_FORKED}"
        advice = _FORKED
    return _CLASSES.get(code, SpaceError)(message, code, operation, namespace, advice, holder or None)


def timed_out(what: str, namespace: str, holder: int) -> Busy:
    """The error of a with-block whose time has passed."""
    by = f"; process {holder} holds it" if holder else ""
    return Busy(
        f"{what} in {namespace!r} was not free in time{by}", "timedOut", "acquire", namespace, None, holder or None
    )


def no_answer(name: str, namespace: str, pid: int) -> NoAnswer:
    """The error of a request that no responder has answered in time."""
    why = f"process {pid}, which was asked, has not answered in time" if pid else "no responder has answered in time"
    return NoAnswer(
        f"request {name!r} in {namespace!r}: {why}", "noResponder", f"request {name!r}", namespace, None, pid or None
    )
