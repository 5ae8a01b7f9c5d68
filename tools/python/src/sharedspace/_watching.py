"""Watching: every change, in order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, overload

from . import _sharedspace
from ._fields import from_json
from ._transactions import _words

if TYPE_CHECKING:
    from types import TracebackType

    from ._space import Namespace


class Change:
    """What has happened: `event` ("write", "take", "set", "gap", …), by process `pid`, at `time` (seconds since 1970).

    `data` has all of it, as `space watch` prints it; tuple, id, key, value, old and name are what an event has of them.
    """

    __slots__ = ("event", "sequence", "time", "pid", "data")

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data
        self.event: str = data["event"]
        self.sequence: int = data.get("seq", 0)
        self.time: float = data.get("time", 0) / 1000
        self.pid: int | None = data.get("pid")

    @property
    def tuple(self) -> Any:
        """The tuple, or the dictionary of a record."""
        value = self.data.get("tuple")
        return tuple(value) if isinstance(value, list) else value

    @property
    def id(self) -> int | None:
        return self.data.get("id")

    @property
    def key(self) -> str | None:
        return self.data.get("key")

    @property
    def name(self) -> str | None:
        return self.data.get("name")

    @property
    def value(self) -> Any:
        """What was set or posted."""
        return self.data.get("new", self.data.get("value"))

    @property
    def old(self) -> Any:
        return self.data.get("old")

    def __repr__(self) -> str:
        return f"<Change {self.sequence} {self.event}>"


class Watch:
    """The changes of a namespace: an iterator without end, until the namespace is deleted or the watch closed.

    It ends with its block, by `close()`, or when it is dropped.
    """

    def __init__(
        self,
        namespace: Namespace,
        template: tuple[Any, ...],
        key: str | None,
        keys: str | None,
        posts: str | None,
        events: list[str] | None,
        start: str | None,
        subscription: str | None,
    ) -> None:
        wanted = {"key": key, "keys": keys, "posts": posts, "events": events}
        chosen: dict[str, Any] = {word: value for word, value in wanted.items() if value is not None}
        if template:
            chosen["tuples"] = _words(template)[0]
        # Changes that the extension has handed out, and no call of `next` has returned.
        self._left: list[Any] = []
        self._is_gone = False
        self._handle = _sharedspace.watch_open(namespace, chosen, start, subscription)

    @overload
    def next(self, timeout: None = None) -> Change: ...
    @overload
    def next(self, timeout: float) -> Change | None: ...
    def next(self, timeout: float | None = None) -> Change | None:
        """The next change; None if none comes in `timeout` seconds. None waits without limit."""
        _sharedspace.watch_check(self._handle)
        if not self._left and not _sharedspace.watch_next(self._handle, timeout, self._left):
            return None
        return self._first()

    def _first(self) -> Change:
        """The first of the changes that are left."""
        change = Change(from_json(self._left[0]))
        self._is_gone = change.event == "gone"
        # No signal is handled after this: a handler that raises leaves the change for the next call.
        del self._left[0]
        return change

    @property
    def point(self) -> str:
        """Where a later watch goes on after the last change: its `start`."""
        point = _sharedspace.watch_point(self._handle)
        if not self._left:
            return point
        # It goes on with the first change that `next` has not returned.
        return f"{Change(from_json(self._left[0])).sequence}@{point.partition('@')[2]}"

    def acknowledge(self, change: Change) -> None:
        """For a subscription: this change, and those before it, don't come again."""
        _sharedspace.watch_acknowledge(self._handle, change.sequence)

    def close(self) -> None:
        """Ends watching; a subscription stays."""
        _sharedspace.watch_close(self._handle)

    def __reduce__(self) -> NoReturn:
        raise TypeError("a watch can't be pickled or copied: its handle belongs to this object")

    def __iter__(self) -> Watch:
        return self

    def __next__(self) -> Change:
        if self._is_gone:
            raise StopIteration
        return self.next()

    def __enter__(self) -> Watch:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
