"""Queues of work."""

from __future__ import annotations

from ._errors import Full
from ._things import Kind, Rule

# Type checkers take it for true. The module typing, which has one too, takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final, overload

    from typing_extensions import Unpack

    from . import _sharedspace
    from ._results import Listed
    from ._space import Namespace
    from ._types import Field, Present, PutOptions

# SHAREDSPACE_REPLACE and _AGAIN.
_PRESENT: Final = {"keep": 0, "replace": 8192, "again": 16384}
# To the library 0 leaves a number as it is.
_LIMITLESS: Final[dict[int | None, int]] = {0: -1}
_STATES: Final = ("any", "ready", "delayed", "taken", "blocked", "buried")


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

    def put(self, value: Field, *, timeout: float | None = 0, **options: Unpack[PutOptions]) -> int:
        """Puts an item; its number. Options: priority=0, delay=None, group=None, unique=None, if_present="keep".

        The highest `priority` comes first; after `delay` seconds. One item of a `group` is worked on at a time.
        While an item with the key `unique` is in the queue nothing is put, and its number is returned;
        `if_present="replace"` replaces one that waits, and "again" puts one behind that which is worked on.
        If the queue has as many items as its bound, `put` waits for `timeout` seconds, and then raises `Full`.
        """
        return self._put([value], timeout, **options)[0]

    def put_all(
        self, values: list[Field], *, priority: int = 0, delay: float | None = None, group: str | None = None
    ) -> list[int]:
        """Puts items in one transaction, all or none; their numbers."""
        return self._put(list(values), 0, priority=priority, delay=delay, group=group) if values else []

    def _put(
        self, values: list[Any], timeout: float | None, /, *, if_present: Present = "keep", **options: Any
    ) -> list[int]:
        flags = _PRESENT.get(if_present)
        if flags is None:
            raise ValueError(f"if_present can't be {if_present!r}: {', '.join(_PRESENT)}")
        is_put, numbers = self._namespace._put(
            self.name, values, timeout, self._deliveries, self._bound, flags, **options
        )
        if not is_put and not numbers[0]:
            raise Full(f"the queue {self.name!r} had no room in time", "limitReached", "put", self._namespace.name)
        return numbers

    if TYPE_CHECKING:

        @overload
        def get(self, *, timeout: None, ttr: float | None = None) -> _sharedspace.Item: ...
        @overload
        def get(self, *, timeout: float | None = 0, ttr: float | None = None) -> _sharedspace.Item | None: ...

    def get(self, *, timeout: float | None = 0, ttr: float | None = None) -> _sharedspace.Item | None:
        """Takes the next item to work on; None if none comes in `timeout` seconds. None waits without limit.

        The item comes back if this process ends before it is completed, or after `ttr` seconds (time to run).
        """
        return self._namespace._item(self.name, timeout, ttr, 0)

    def take(self, id: int, *, ttr: float | None = None) -> _sharedspace.Item | None:
        """Takes the item with a number, past priorities, delays and other waiters; None if it can't be taken."""
        return self._namespace._item(self.name, 0, ttr, id)

    def items(self, state: str = "any", *, max: int = 0) -> list[Listed]:
        """The items in the order in which they come: any, ready, delayed, taken, blocked or buried ones."""
        from ._results import Listed

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

    # --- Ruling it, and the items of others

    def pause(self, seconds: float | None = None) -> None:
        """Hands out nothing for so many seconds; None: until `resume()`."""
        self._rule(Rule.PAUSE, delay=seconds)

    def resume(self) -> None:
        """Hands out items again."""
        self._rule(Rule.RESUME)

    def kick(self, id: int) -> int | None:
        """Puts a buried item back, as a new one: its new number; None if it is not buried."""
        return self._rule(Rule.KICK, id)

    def kick_all(self, *, max: int | None = None) -> int:
        """Puts buried items back, at most so many; how many."""
        return self._rule(Rule.KICK, max=max) or 0

    def remove(self, id: int) -> bool:
        """Removes an item that no worker has; False if there is none."""
        return self._rule(Rule.DROP, id) is not None

    def cancel(self, id: int) -> bool:
        """Removes an item in any state; its worker's `complete()` raises `HoldLost`. False if there is none."""
        return self._rule(Rule.CANCEL, id) is not None

    def extend(self, id: int, seconds: float) -> bool:
        """Lets the worker that has an item have it for so many seconds from now, if that is longer; False if none has it."""
        return self._rule(Rule.EXTEND, id, deadline=seconds) is not None

    def drain(self) -> int:
        """Removes all items that are ready or delayed; how many."""
        return self._rule(Rule.DRAIN) or 0

    def set(self, *, deliveries: int | None = None, bound: int | None = None) -> None:
        """Changes the queue's numbers for all its users; 0 takes a limit away, None leaves it."""
        self._rule(Rule.QUEUE, deliveries=deliveries or _LIMITLESS.get(deliveries), bound=bound or _LIMITLESS.get(bound))

    def delete(self, *, force: bool = False) -> int | None:
        """Removes the queue with its items; how many, or None if there is no queue.

        While workers have items it raises `BadData`; with `force` these items are cancelled.
        """
        return self._rule(Rule.REMOVE, Kind.QUEUE, force=force)

    def _rule(self, rule: int, number: int = 0, **how: Any) -> int | None:
        return self._namespace._rule(rule, self.name, number, **how)

    def __repr__(self) -> str:
        return f"<sharedspace.Queue {self.name!r}>"
