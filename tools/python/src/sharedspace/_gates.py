"""Barriers, latches, rate limits and counters: what is passed or counted, and not held."""

from __future__ import annotations

from ._things import Kind, Rule

# Type checkers take it for true. The module typing, which has one too, takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._space import Namespace
    from ._waits import Request


class Barrier:
    """A place where so many wait for each other; one that dies or gives up is not counted."""

    def __init__(self, namespace: Namespace, name: str, parties: int) -> None:
        if parties < 1:
            raise ValueError("a barrier has at least one party")
        self._namespace, self.name, self.parties = namespace, name, parties

    def _request(self, timeout: float | None) -> Request:
        from ._waits import BARRIER, Request

        return Request(BARRIER, self._namespace, None, (self.name,), timeout, permits=self.parties)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until all have come; False if the time has passed."""
        return self._namespace._pass(Kind.BARRIER, self.name, timeout, self.parties, 0, None)


class Latch:
    """Opens for good when it was counted down so many times."""

    def __init__(self, namespace: Namespace, name: str, count: int) -> None:
        if count < 1:
            raise ValueError("a latch is counted down at least once")
        self._namespace, self.name, self.count = namespace, name, count

    def _request(self, timeout: float | None) -> Request:
        from ._waits import LATCH, Request

        return Request(LATCH, self._namespace, None, (self.name,), timeout, permits=self.count)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it is open; False if the time has passed."""
        return self._namespace._pass(Kind.LATCH, self.name, timeout, self.count, 0, None)

    def count_down(self, by: int = 1) -> int:
        """Counts it down; how often it is still to be counted down."""
        if by < 1:
            raise ValueError("a latch is counted down by at least one")
        return self._namespace._rule(Rule.DOWN, self.name, by, permits=self.count) or 0

    @property
    def remaining(self) -> int:
        """How often it is still to be counted down."""
        return self._namespace._rule(Rule.DOWN, self.name, 0, permits=self.count) or 0

    def remove(self) -> bool:
        """Removes it: the next count starts from the beginning. False if there is none."""
        return self._namespace._rule(Rule.REMOVE, self.name, Kind.LATCH) is not None


class RateLimit:
    """So many pass in any time of `per` seconds, over all processes."""

    def __init__(self, namespace: Namespace, name: str, limit: int, per: float) -> None:
        if limit < 1 or not per > 0:
            raise ValueError("a rate limit lets at least one pass, in a time that is longer than nothing")
        self._namespace, self.name, self.limit, self.per = namespace, name, limit, per

    def _request(self, timeout: float | None, count: int) -> Request:
        from ._waits import RATE, Request

        return Request(
            RATE, self._namespace, None, (self.name,), timeout, permits=self.limit, wanted=count, interval=self.per
        )

    def acquire(self, timeout: float | None = None, *, count: int = 1) -> bool:
        """Waits until it may pass; False, at once, if that takes longer than `timeout`."""
        return self._namespace._pass(Kind.RATE, self.name, timeout, self.limit, count, self.per)

    def remove(self) -> bool:
        """Removes it: the next use makes another one, perhaps with other numbers. False if there is none."""
        return self._namespace._rule(Rule.REMOVE, self.name, Kind.RATE) is not None


class Counter:
    """A number that processes count up and down; it begins with 0."""

    def __init__(self, namespace: Namespace, name: str) -> None:
        self._namespace, self.name = namespace, name

    def add(self, amount: int = 1) -> int:
        """Adds to it; the sum."""
        return self._namespace._rule(Rule.COUNT, self.name, count=amount) or 0

    @property
    def value(self) -> int:
        """The number as it is."""
        return self._namespace._rule(Rule.COUNT, self.name, count=0) or 0

    def remove(self) -> bool:
        """Removes it: the next count begins with 0. False if there is none."""
        return self._namespace._rule(Rule.REMOVE, self.name, Kind.COUNTER) is not None
