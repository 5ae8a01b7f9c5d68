"""What calls return that are used less than others; NamedTuple takes long to import."""

from __future__ import annotations

from typing import Any, NamedTuple


class Seen(NamedTuple):
    """A tuple that is out of sight: claimed, by the process `pid` and perhaps until `deadline` (seconds since 1970), or
    buried."""

    tuple: Any
    id: int
    deliveries: int
    number: int
    pid: int
    deadline: float | None


class Leader(NamedTuple):
    """A leader, as others see it."""

    value: Any
    pid: int
    term: int


class Listed(NamedTuple):
    """An item that is in a queue."""

    value: Any
    id: int
    deliveries: int
    state: str
