"""Requests, and responders that answer them."""

from __future__ import annotations

from . import _sharedspace
from ._errors import no_answer

# Type checkers take it for true. The module typing, which has one too, takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Any

    from ._space import Namespace
    from ._types import Field


def ask(namespace: Namespace, name: str, argument: Field, timeout: float | None, now: bool) -> Any:
    """The reply of the responder to a name; raises `NoAnswer` if none comes in time."""
    is_answered, reply, pid = _sharedspace.request(namespace, name, argument, timeout, now)
    if not is_answered:
        raise no_answer(name, namespace.name, pid)
    return reply


class Request:
    """A request that is to be answered, once: by `reply` or `fail`, or by the end of its with-block.

    An exception in the block fails it, and goes on; a block that has not replied replies None. A request that is
    dropped without an answer comes next.
    """

    def __init__(self, responder: Responder, asked: _sharedspace.Asked) -> None:
        self._responder = responder
        self._asked = asked
        self.argument: Any = asked.argument
        self.pid = asked.pid

    def reply(self, value: Field = None) -> bool:
        """Answers it; False if no reply is wanted any more."""
        return self._answer(value, None)

    def fail(self, reason: str) -> bool:
        """Lets it fail: who asks gets `Failed` with the reason. False if no reply is wanted any more."""
        return self._answer(None, reason)

    def _answer(self, value: Field, reason: str | None) -> bool:
        return _sharedspace.responder_reply(self._asked, value, reason)

    def ask_next(self, *argument: Field, timeout: float | None = None) -> Any:
        """The reply of the responder below, which is asked with another argument if one is given.

        Raises `NoAnswer` if there is none, or none answers while this request has time.
        """
        if len(argument) > 1:
            raise TypeError("ask_next() takes one argument at most")
        found = _sharedspace.responder_pass(self._asked, argument, timeout)
        if found is None:
            raise no_answer(self._responder.name, self._responder._namespace.name, 0)
        return found[0]

    def __enter__(self) -> Request:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._asked.has_ended:
            if kind is None:
                self.reply()
            else:
                self.fail(_reason(kind, error))

    def _serve(self, function: Callable[[Any], Field]) -> None:
        """Answers it with what a function makes of its argument."""
        try:
            self.reply(function(self.argument))
        except BaseException as error:
            if self._asked.has_ended:
                raise
            self.fail(_reason(type(error), error))
            if not isinstance(error, Exception):
                raise

    def __repr__(self) -> str:
        return f"<sharedspace.Request {self.argument!r} of process {self.pid}>"


def _reason(kind: type[BaseException], error: BaseException | None) -> str:
    """What is said about an exception, as text that can be passed on, whatever the exception says."""
    try:
        text = f"{kind.__name__}: {error}"
    except Exception:
        text = kind.__name__
    text = text.replace("\0", r"\x00")
    return text.encode("utf-8", "backslashreplace").decode()


class Responder:
    """What answers the requests of a name: an iterator of `Request`, or `serve(function)`.

    The newest responder of a name is asked first; what it has not answered when it ends, or its process does, the next one
    gets. It ends with its block, by `close()`, or when it is dropped.
    """

    def __init__(self, namespace: Namespace, name: str, key: str | None, base: bool) -> None:
        self._namespace = namespace
        self.name = name
        self._handle = _sharedspace.responder_open(namespace, name, key, base)

    def next(self, timeout: float | None = None) -> Request | None:
        """The next request; None if none comes in `timeout` seconds.

        Raises `HoldLost` if the responder was replaced by one with its key, or removed.
        """
        found = _sharedspace.responder_next(self._handle, timeout)
        return None if found is None else Request(self, found)

    def serve(self, function: Callable[[Any], Field], *, timeout: float | None = None) -> None:
        """Answers with what a function makes of each argument, until none comes for `timeout` seconds.

        A request fails if the function raises an exception for it, or makes what can't be passed on. What is no
        Exception, as KeyboardInterrupt, ends serving.
        """
        while (request := self.next(timeout)) is not None:
            request._serve(function)

    def close(self) -> None:
        """Ends it; what it has not answered goes to the next one."""
        _sharedspace.responder_close(self._handle)

    def __iter__(self) -> Responder:
        return self

    def __next__(self) -> Request:
        request = self.next()
        assert request is not None
        return request

    def __enter__(self) -> Responder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> str:
        raise TypeError("a responder belongs to its process, and can't be pickled or copied")
