"""What stands for fields in templates, beside values, types and `...`."""

from __future__ import annotations

# Type checkers take it for true. The module typing, which has one too, takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Final


class Rest:
    """Stands for any further fields, or any further elements, as the last of a template or a list."""

    def __repr__(self) -> str:
        return "sharedspace.rest"

    def __reduce__(self) -> str:
        return "rest"


rest: Final = Rest()


class Between:
    """A range of integers, floats or strings; both bounds belong to it, unless it is half open. None: no bound.

    `range(1, 9)` is a template too, for integers.
    """

    __slots__ = ("lower", "upper", "half_open")

    def __init__(
        self, lower: int | float | str | None = None, upper: int | float | str | None = None, *, half_open: bool = False
    ) -> None:
        bounds = {type(bound) for bound in (lower, upper) if bound is not None}
        if len(bounds) != 1 or not bounds <= {int, float, str}:
            raise ValueError("the bounds of a range are integers, floats or strings, and both of one type")
        self.lower: Final = lower
        self.upper: Final = upper
        self.half_open: Final = half_open

    def _parts(self) -> tuple[Any, ...]:
        return self.lower, self.upper, self.half_open

    def __eq__(self, other: object) -> bool:
        return self._parts() == other._parts() if isinstance(other, Between) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._parts())

    def __repr__(self) -> str:
        return f"Between({self.lower!r}, {self.upper!r}{', half_open=True' if self.half_open else ''})"


class Either:
    """Several templates: what any of them matches."""

    def __init__(self, *templates: Any) -> None:
        if not templates:
            raise ValueError("either() wants at least one template")
        self.templates = templates

    def __repr__(self) -> str:
        return f"either{self.templates!r}"


def either(*templates: Any) -> Either:
    """Several templates in one: `ns.claim(either(("resize", int, str), ("stop",)))`."""
    return Either(*templates)
