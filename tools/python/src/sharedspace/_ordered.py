"""Ordered sets: elements in an order that is given, each once."""

from __future__ import annotations

from ._things import Edit, Kind, Rule

# Type checkers take it for true. The module typing, which has one too, takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from ._space import Namespace
    from ._types import Field


class OrderedSet:
    """An ordered set, which its first element makes; all elements are of its type. Each call is one step."""

    def __init__(self, namespace: Namespace, name: str) -> None:
        self._namespace = namespace
        self.name = name

    def append(self, *values: Field) -> int:
        """Adds those that are not there, at the end; how many."""
        return self._edit(Edit.APPEND, 0, values) or 0

    def insert(self, index: int, *values: Field) -> int:
        """Adds those that are not there, at an index; how many."""
        return self._edit(Edit.INSERT, index, values) or 0

    def remove(self, *values: Field) -> int:
        """Removes elements; how many were there."""
        return self._edit(Edit.WITHOUT, 0, values) or 0

    def move(self, value: Field, index: int) -> bool:
        """Moves an element, so that it stands at an index; False if it is not there."""
        return self._edit(Edit.MOVE, index, (value,)) is not None

    def replace(self, value: Field, new: Field) -> bool:
        """Replaces an element in its place; False if it is not there."""
        return self._edit(Edit.EXCHANGE, 0, (value, new)) is not None

    def index(self, value: Field) -> int | None:
        """Where an element stands; None if it is not there."""
        return self._edit(Edit.INDEX, 0, (value,))

    def sort(self) -> None:
        """Sorts them: null, bytes, strings, lists, dictionaries, numbers, bools, UUIDs, each kind by itself."""
        self._edit(Edit.SORT, 0, ())

    def elements(self, first: int = 0, max: int | None = None) -> list[Any]:
        """The elements from an index on, at most so many."""
        return [] if max == 0 else self._namespace._elements(self.name, first, max or 0)

    def delete(self) -> bool:
        """Removes the set; False if there is none."""
        return self._namespace._rule(Rule.REMOVE, self.name, Kind.ORDERED) is not None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.elements())

    def __contains__(self, value: Field) -> bool:
        return self.index(value) is not None

    def _edit(self, edit: int, index: int, values: tuple[Field, ...]) -> int | None:
        return self._namespace._ordered(self.name, edit, index, values)

    def __repr__(self) -> str:
        return f"<sharedspace.OrderedSet {self.name!r}>"
