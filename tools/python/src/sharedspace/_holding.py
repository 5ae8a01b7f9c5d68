"""Locks, semaphores, elections. What a process holds ends with it, however it ends; or with the object that holds it."""

from __future__ import annotations

from . import _sharedspace
from ._errors import timed_out
from ._things import Kind, Rule

# Type checkers take it for true. The module typing, which has one too, takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, ClassVar, NoReturn

    from ._results import Leader
    from ._sharedspace import Hold
    from ._space import Namespace
    from ._types import Field


class Holding(_sharedspace.Holder):
    """What is acquired in line, held, and released: by `with`, or by `acquire` and `release`."""

    _what: ClassVar[int]
    _word: ClassVar[str]

    def __init__(self, namespace: Namespace, names: tuple[str, ...], timeout: float | None) -> None:
        if not names:
            raise TypeError(f"{self._word} wants a name")
        self._namespace = namespace
        self._names = names
        self._timeout = timeout
        self._held: list[Hold] = []

    def _acquire(
        self, timeout: float | None, shared: bool = False, permits: int = 0, count: int = 0, value: Field = None
    ) -> Hold | int:
        """The hold, or the PID of a holder if the time has passed; 0 if it is not known."""
        return self._namespace._hold(self._what, self._names, timeout, shared, permits, count, value)

    def _obtain(self, timeout: float | None) -> Hold | int:
        return self._acquire(timeout)

    def _raise_time_out(self, holder: int) -> NoReturn:
        raise timed_out(str(self), self._namespace.name, holder)

    def acquire(self, timeout: float | None = None) -> bool:
        """Waits in line, at most `timeout` seconds; 0 tries once, None waits without limit. False if it was not free."""
        return self._keep(self._obtain(timeout)) is None

    @property
    def held(self) -> bool:
        """Whether it is held through this object; False if it was taken away."""
        if not self._held:
            _sharedspace.check_process()
            return False
        return self._held[-1].is_held

    @property
    def fencing(self) -> int:
        """A number greater than that of every earlier holder, for whoever must refuse late ones."""
        if not self._held:
            raise RuntimeError(f"{self} is not held")
        return self._held[-1].number

    def __getstate__(self) -> dict[str, Any]:
        if self._held:
            raise TypeError(f"{self} is held, and can't be pickled or copied")
        return {**self.__dict__, "_held": []}

    def __str__(self) -> str:
        return f"{self._word} {', '.join(map(repr, self._names))}"


class Lock(Holding):
    """A lock, or several that are acquired together, all or none. It is not reentrant.

        with ns.lock("deploy") as lock:
            publish(lock.fencing)

    A with-block whose `timeout` has passed raises `Busy`, a TimeoutError that names the holder.
    """

    _what = 1
    _word = "the lock"

    def __init__(self, namespace: Namespace, names: tuple[str, ...], *, shared: bool, timeout: float | None) -> None:
        super().__init__(namespace, names, timeout)
        self.shared = shared

    def _obtain(self, timeout: float | None) -> Hold | int:
        return self._acquire(timeout, shared=self.shared)

    @property
    def fencings(self) -> dict[str, int]:
        """The fencing numbers of several locks, by name."""
        if not self._held:
            raise RuntimeError(f"{self} is not held")
        return dict(zip(self._names, self._held[-1].fencings))


class Semaphore(Holding):
    """Permits that processes share; all give the same number of them."""

    _what = 2
    _word = "the semaphore"

    def __init__(self, namespace: Namespace, name: str, permits: int, *, timeout: float | None) -> None:
        super().__init__(namespace, (name,), timeout)
        if permits < 1:
            raise ValueError("a semaphore has at least one permit")
        self.permits = permits

    def _obtain(self, timeout: float | None, count: int = 1) -> Hold | int:
        return self._acquire(timeout, permits=self.permits, count=count)

    def set_permits(self, permits: int | None) -> bool:
        """Sets how many permits there are from now on, whatever its users say; None takes that back.

        Holders keep what they have. False if None was to take back what was not set.
        """
        if permits is None:
            return self._namespace._rule(Rule.REMOVE, self._names[0], Kind.SEMAPHORE) is not None
        return self._namespace._rule(Rule.PERMITS, self._names[0], permits) is not None

    def acquire(self, timeout: float | None = None, *, count: int = 1) -> bool:
        """Waits for so many permits; see `Holding.acquire`."""
        if count < 1:
            raise ValueError("at least one permit is acquired")
        return self._keep(self._obtain(timeout, count)) is None


class Election(Holding):
    """Leadership: `with ns.election("primary", value)` leads in the block, after the leaders before."""

    _what = 3
    _word = "the election"

    def __init__(self, namespace: Namespace, name: str, value: Field, *, timeout: float | None) -> None:
        super().__init__(namespace, (name,), timeout)
        self.value = value

    def _obtain(self, timeout: float | None) -> Hold | int:
        return self._acquire(timeout, value=self.value)

    def leader(self) -> Leader | None:
        """Who leads now."""
        from ._results import Leader

        found = self._namespace._leader(self._names[0])
        return None if found is None else Leader(*found)

    def proclaim(self, value: Field) -> None:
        """Replaces what others see of this leader. Raises `HoldLost` if its term is over."""
        self._namespace._proclaim(self._names[0], self.fencing, value)
        self.value = value

    def depose(self, term: int | None = None) -> bool:
        """Ends the term of the leader, which may be stopped or stuck; of a `term`, only that. False if it had ended."""
        return self._namespace._rule(Rule.DEPOSE, self._names[0], term or 0) is not None
