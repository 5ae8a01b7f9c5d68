"""Barriers, latches and rate limits: what is passed, and not held."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._loops import BARRIER, LATCH, RATE, Passed, Request, block

if TYPE_CHECKING:
    from ._space import Namespace


class Barrier:
    """A place where so many wait for each other; one that dies or gives up is not counted."""

    def __init__(self, namespace: Namespace, name: str, parties: int) -> None:
        if parties < 1:
            raise ValueError("a barrier has at least one party")
        self._namespace, self.name, self.parties = namespace, name, parties

    def _request(self, timeout: float | None) -> Request:
        return Request(BARRIER, self._namespace, None, (self.name,), timeout, permits=self.parties)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until all have come; False if the time has passed."""
        return not isinstance(block(self._request(timeout)), Passed)


class Latch:
    """Opens for good when it was counted down so many times, by `space latch --down` or a Swift program."""

    def __init__(self, namespace: Namespace, name: str, count: int) -> None:
        if count < 1:
            raise ValueError("a latch is counted down at least once")
        self._namespace, self.name, self.count = namespace, name, count

    def _request(self, timeout: float | None) -> Request:
        return Request(LATCH, self._namespace, None, (self.name,), timeout, permits=self.count)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it is open; False if the time has passed."""
        return not isinstance(block(self._request(timeout)), Passed)


class RateLimit:
    """So many pass in any time of `per` seconds, over all processes."""

    def __init__(self, namespace: Namespace, name: str, limit: int, per: float) -> None:
        if limit < 1 or not per > 0:
            raise ValueError("a rate limit lets at least one pass, in a time that is longer than nothing")
        self._namespace, self.name, self.limit, self.per = namespace, name, limit, per

    def _request(self, timeout: float | None, count: int) -> Request:
        return Request(
            RATE, self._namespace, None, (self.name,), timeout, permits=self.limit, wanted=count, interval=self.per
        )

    def acquire(self, timeout: float | None = None, *, count: int = 1) -> bool:
        """Waits until it may pass; False, at once, if that takes longer than `timeout`."""
        return not isinstance(block(self._request(timeout, count)), Passed)
