"""Spaces and namespaces."""

from __future__ import annotations

import os

from . import _sharedspace
from ._things import Kind, Look, NamespaceRule, Rule

# Type checkers take it for true. What only they need, and what a namespace need not have used, takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import TracebackType
    from typing import Any, Literal, TypeAlias

    from ._aio import AsyncNamespace
    from ._gates import Barrier, Counter, Latch, RateLimit
    from ._holding import Election, Lock, Semaphore
    from ._ordered import OrderedSet
    from ._queues import Queue
    from ._responders import Responder
    from ._results import Seen
    from ._transactions import Transaction
    from ._types import Field, Template
    from ._watching import Watch

    Mode: TypeAlias = Literal["fast", "guarded", "durable"]

# The flags of sharedspace.h.
_OBSERVER, _PERSISTENT = 16, 32


class Namespace(_sharedspace.Namespace):
    """A namespace, which opens at its first use: a process that forks may hold one that it has not used.

    This process owns it until `close()`, the end of a with-block, or its own end; an object that is dropped is not closed.
    Made by `Space.namespace`. It can be pickled, by root and name.
    """

    def __init__(
        self,
        name: str,
        root: str | os.PathLike[str] | None = None,
        *,
        owning: bool = True,
        persistent: bool = False,
        mode: Mode | None = None,
        limit: int | None = None,
        lock_timeout: float = 5.0,
    ) -> None:
        # Resolved now: a process that gets it by pickling may have another environment, as those of a forkserver have,
        # and this one may change its folder.
        root = _resolved(root)
        flags = (0 if owning else _OBSERVER) | (_PERSISTENT if persistent else 0)
        super().__init__(root, name, mode, flags, limit or 0, _sharedspace.life(lock_timeout))
        self._root = root
        self._options = {
            "owning": owning,
            "persistent": persistent,
            "mode": mode,
            "limit": limit,
            "lock_timeout": lock_timeout,
        }

    @property
    def root(self) -> str | None:
        """The root; None for the default one."""
        return self._root

    # --- Transactions and claims

    def transaction(self) -> Transaction:
        """Several changes in one step: all or nothing.

            with ns.transaction() as t:
                t.complete(job)
                t.write("done", 42)

        The steps are collected, and carried out when the block ends without an exception.
        """
        from ._transactions import Transaction

        return Transaction(self)

    def claims(
        self, *template: Template, timeout: float | None = None, deadline: float | None = None
    ) -> Iterator[_sharedspace.Claim[Any]]:
        """One claim after the other, until none comes for `timeout` seconds; None: without end."""
        return iter(lambda: self.claim(*template, timeout=timeout, deadline=deadline), None)

    def claimed(self, *template: Template, max: int | None = None) -> list[Seen]:
        """What is claimed now, and by which process."""
        return self._seen(Look.CLAIMED, template, max)

    def buried(self, *template: Template, max: int | None = None) -> list[Seen]:
        """What is buried now."""
        return self._seen(Look.BURIED, template, max)

    def _seen(self, look: int, template: tuple[Any, ...], max: int | None) -> list[Seen]:
        from ._results import Seen

        found = [] if max == 0 else self._out_of_sight(look, max or 0, template)
        return [Seen(*one[:5], one[5] / 1000 if one[5] else None) for one in found]

    def bury_after(self, deliveries: int | None) -> None:
        """From now on, tuples that come back so often are buried; None: never."""
        self._set_rule(NamespaceRule.DELIVERIES, deliveries or 0, 0)

    # --- What is held

    def lock(self, *names: str, shared: bool = False, timeout: float | None = None) -> Lock:
        """A lock, or several that are acquired together. Waiters are served in the order in which they came."""
        from ._holding import Lock

        return Lock(self, names, shared=shared, timeout=timeout)

    def semaphore(self, name: str, permits: int, *, timeout: float | None = None) -> Semaphore:
        """A number of permits that processes share."""
        from ._holding import Semaphore

        return Semaphore(self, name, permits, timeout=timeout)

    def election(self, name: str, value: Field = None, *, timeout: float | None = None) -> Election:
        """Leadership, which one process has at a time; others see its value."""
        from ._holding import Election

        return Election(self, name, value, timeout=timeout)

    def queue(self, name: str, *, deliveries: int | None = None, bound: int | None = None) -> Queue:
        """A queue of work, with priorities, delays and groups.

        After so many `deliveries` an item is buried; with a `bound` the queue takes no more than so many items.
        """
        from ._queues import Queue

        return Queue(self, name, deliveries=deliveries, bound=bound)

    def barrier(self, name: str, parties: int) -> Barrier:
        """A place where so many processes wait for each other."""
        from ._gates import Barrier

        return Barrier(self, name, parties)

    def latch(self, name: str, count: int) -> Latch:
        """What opens for good when it was counted down so many times."""
        from ._gates import Latch

        return Latch(self, name, count)

    def rate_limit(self, name: str, limit: int, per: float) -> RateLimit:
        """At most `limit` pass in any time of `per` seconds, over all processes."""
        from ._gates import RateLimit

        return RateLimit(self, name, limit, per)

    def counter(self, name: str) -> Counter:
        """A number that processes count."""
        from ._gates import Counter

        return Counter(self, name)

    def ordered_set(self, name: str) -> OrderedSet:
        """Elements in an order that is given, each once."""
        from ._ordered import OrderedSet

        return OrderedSet(self, name)

    # --- Requests

    def request(self, name: str, argument: Field = None, *, timeout: float | None = 5, now: bool = False) -> Any:
        """The reply of the responder to a name, which is waited for, at most `timeout` seconds; `now`: not for a responder.

        Raises `NoAnswer`, a TimeoutError, if none answers, and `Failed` with its reason if it fails.
        """
        from ._responders import ask

        return ask(self, name, argument, timeout, now)

    def respond(self, name: str, *, key: str | None = None, base: bool = False) -> Responder:
        """A responder to a name: `for request in ns.respond("double"): request.reply(2 * request.argument)`.

        It replaces one with the same `key`; a `base` one answers only while there is no other.
        """
        from ._responders import Responder

        return Responder(self, name, key, base)

    def remove_responder(self, name: str, key: str) -> bool:
        """Removes the responder with a key, of any process; False if there is none."""
        return self._rule(Rule.REMOVE, name, Kind.RESPONDER, key=key) is not None

    @property
    def aio(self) -> AsyncNamespace:
        """The same verbs for asyncio: `await ns.aio.take(...)`, `async with ns.aio.claim(...) as job`."""
        from ._aio import AsyncNamespace

        return AsyncNamespace(self)

    # --- Watching

    def watch(
        self,
        *template: Template,
        key: str | None = None,
        keys: str | None = None,
        posts: str | None = None,
        events: list[str] | None = None,
        start: str | None = None,
        subscription: str | None = None,
    ) -> Watch:
        """Every change from now on, once, in order; a change whose event is "gap" says what was missed.

        A template chooses tuples, `key` a cell, `keys` and `posts` cells and notifications by a pattern with `*` and `?`,
        `events` kinds of changes. `start` is "initial", for what is there now, or the `point` of an earlier watch;
        `subscription` goes on where the subscription of this name last acknowledged.
        """
        from ._watching import Watch

        return Watch(self, template, key, keys, posts, events, start, subscription)

    # --- Its owners, and how long it lives

    def own(self, pid: int) -> None:
        """Makes another process an owner, too: the namespace stays as long as it lives. Raises `NoProcess`."""
        self._set_rule(NamespaceRule.OWNER, pid, 0)

    def disown(self, pid: int) -> bool:
        """Ends that; False if the process was no such owner."""
        return self._set_rule(NamespaceRule.NO_OWNER, pid, 0)

    def persist(self, stays: bool = True) -> None:
        """Lets the namespace stay without an owner; False: no more."""
        self._set_rule(NamespaceRule.PERSISTENT, int(stays), 0)

    def keep_history(self, changes: int | None, size: int | None = None) -> None:
        """Keeps so many changes, and so many bytes of them, also without a watcher; None: no more."""
        self._set_rule(NamespaceRule.HISTORY, changes or 0, size or 0)

    # --- Looking, and the object itself

    def show(self) -> dict[str, Any]:
        """What is in the namespace, who owns it, who holds what and who waits for whom."""
        import json

        shown: dict[str, Any] = json.loads(self._show())
        return shown

    def __enter__(self) -> Namespace:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickled, (self.name, self._root, self._options)

    def __repr__(self) -> str:
        return f"<sharedspace.Namespace {self.name!r}>"


def _resolved(root: str | os.PathLike[str] | None) -> str | None:
    """The root as an absolute path; None for the default one."""
    named = (os.environ.get("SHARED_SPACE_ROOT") or None) if root is None else os.fspath(root)
    return os.path.abspath(named) if named else named


def _unpickled(name: str, root: str | None, options: dict[str, Any]) -> Namespace:
    return Namespace(name, root, **options)


class Space:
    """A root folder with namespaces in it; processes with the same root see the same namespaces. It opens nothing.

    Without a root it is $SHARED_SPACE_ROOT, else /dev/shm/shared-space-UID. A relative one begins at the folder where
    the process is now, also after it changes its folder. `timeout` is how many seconds a call waits for a process that
    is in the way for a moment, before it raises `Busy`; a namespace that the process has open keeps the one it was
    opened with.
    """

    def __init__(self, root: str | os.PathLike[str] | None = None, *, timeout: float = 5.0) -> None:
        self.root = _resolved(root)
        self.timeout = timeout

    def namespace(
        self,
        name: str,
        *,
        owning: bool = True,
        persistent: bool = False,
        mode: Mode | None = None,
        limit: int | None = None,
    ) -> Namespace:
        """A namespace, which is created at its first use if it does not exist.

        It lives as long as a process owns it, or for ever if it is created `persistent`. `owning=False` looks at one that
        exists. `mode` and `limit`, in bytes, are of a new one.
        """
        return Namespace(
            name,
            self.root,
            owning=owning,
            persistent=persistent,
            mode=mode,
            limit=limit,
            lock_timeout=self.timeout,
        )

    def names(self) -> list[str]:
        """The names of the namespaces, sorted. Those without an owner are deleted on the way."""
        return _sharedspace.names(self.root)

    def delete(self, name: str) -> bool:
        """Deletes a namespace even if it has owners; False if there is none with this name."""
        return _sharedspace.delete(self.root, name)

    def reap(self) -> list[str]:
        """Deletes the namespaces that have no owner, as other calls do on their way; their names."""
        return _sharedspace.reap(self.root)

    def wait(self, name: str, timeout: float | None = None, *, gone: bool = False) -> bool:
        """Waits until a namespace exists, or is gone, and does not own it; False if the time has passed."""
        return _sharedspace.await_namespace(self.root, name, gone, timeout)

    def __repr__(self) -> str:
        return f"<sharedspace.Space {self.root or 'default'!r}>"
