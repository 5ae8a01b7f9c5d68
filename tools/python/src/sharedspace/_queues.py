"""Queues of work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, overload

from ._errors import Full

if TYPE_CHECKING:
    from . import _sharedspace
    from ._space import Namespace
    from ._types import Field

_STATES: Final = ("any", "ready", "delayed", "taken", "blocked", "buried")


class Listed(NamedTuple):
    """An item that is in a queue."""

    value: Any
    id: int
    deliveries: int
    state: str


class Queue:
    """A queue of work: the item of the highest priority comes first, and one that its worker does not complete comes back.

    mail.put({"to": "ada"})
    with mail.get(timeout=None) as item:
        send(item.value)
    """

    def __init__(self, namespace: Namespace, name: str, *, deliveries: int | None, bound: int | None) -> None:
        self._namespace = namespace
        self.name = name
        self._deliveries = deliveries or 0
        self._bound = bound or 0

    def put(
        self,
        value: Field,
        *,
        priority: int = 0,
        delay: float | None = None,
        group: str | None = None,
        unique: str | None = None,
        timeout: float | None = 0,
    ) -> int:
        """Puts an item; its number.

        One item of a `group` is worked on at a time. While an item with the key `unique` is in the queue nothing is put,
        and its number is returned. If the queue has as many items as its bound, `put` waits for `timeout` seconds, and
        then raises `Full`.
        """
        return self._put([value], priority, delay, group, unique, timeout)[0]

    def put_all(
        self, values: list[Field], *, priority: int = 0, delay: float | None = None, group: str | None = None
    ) -> list[int]:
        """Puts items in one transaction, all or none; their numbers."""
        return self._put(list(values), priority, delay, group, None, 0) if values else []

    def _put(
        self,
        values: list[Any],
        priority: int,
        delay: float | None,
        group: str | None,
        unique: str | None,
        timeout: float | None,
    ) -> list[int]:
        is_put, numbers = self._namespace._put(
            self.name, values, timeout, priority, delay, group, unique, self._deliveries, self._bound
        )
        if not is_put and not numbers[0]:
            raise Full(f"the queue {self.name!r} had no room in time", "limitReached", "put", self._namespace.name)
        return numbers

    @overload
    def get(self, *, timeout: None, ttr: float | None = None) -> _sharedspace.Item: ...
    @overload
    def get(self, *, timeout: float | None = 0, ttr: float | None = None) -> _sharedspace.Item | None: ...
    def get(self, *, timeout: float | None = 0, ttr: float | None = None) -> _sharedspace.Item | None:
        """Takes the next item to work on; None if none comes in `timeout` seconds. None waits without limit.

        The item comes back if this process ends before it is completed, or after `ttr` seconds (time to run).
        """
        return self._namespace._item(self.name, timeout, ttr)

    def items(self, state: str = "any", *, max: int = 0) -> list[Listed]:
        """The items in the order in which they come: any, ready, delayed, taken, blocked or buried ones."""
        if state not in _STATES:
            raise ValueError(f"there is no state {state!r}: {', '.join(_STATES)}")
        listed = self._namespace._items(self.name, _STATES.index(state), max)
        return [Listed(value, id, deliveries, _STATES[kind]) for value, id, deliveries, kind in listed]

    def counts(self) -> dict[str, int]:
        """How many items there are in each state."""
        for shown in self._namespace.show()["objects"]:
            if shown["name"] == self.name and shown["type"] == "queue":
                return dict(shown["items"])
        return dict.fromkeys(_STATES[1:], 0)

    def __repr__(self) -> str:
        return f"<sharedspace.Queue {self.name!r}>"
