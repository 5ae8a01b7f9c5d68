"""Several changes in one step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import _fields, _sharedspace
from ._errors import NothingFound

if TYPE_CHECKING:
    from types import TracebackType

    from ._space import Namespace
    from ._types import Field, Template

T = TypeVar("T")


class Step(Generic[T]):
    """A step of a transaction; its `result` is there when the transaction is done."""

    def __init__(self, make: Any = None) -> None:
        self._make = make
        self._results: list[T] = []

    @property
    def result(self) -> T:
        if not self._results:
            raise RuntimeError("the transaction is not done")
        # Made here and not at the end of the block: the transaction is done, also if a class refuses the record.
        if self._make is not None and self._results[0] is not None:
            self._results = [self._make(self._results[0])]
        self._make = None
        return self._results[0]

    def _give(self, value: Any) -> None:
        self._results = [value]


def _words(template: tuple[Any, ...]) -> tuple[Any, Any]:
    """A template as a step has it, and what makes the result of a match."""
    if not template:
        return "?", _tuple
    if len(template) > 1:
        return _sharedspace.words(list(template)), _tuple
    templates, is_record, cls = _fields.select(template[0])
    if len(templates) > 1:
        raise ValueError("a step of a transaction has one template")
    words = _sharedspace.words(templates[0] if is_record else list(templates[0]))
    return words, _tuple if cls is None else lambda record: _fields.instantiate(cls, record)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class Transaction:
    """Steps that are carried out together when the with-block ends; an exception in the block leaves all of them out.

    A step that finds nothing raises `NothingFound` at the end of the block, and nothing is changed; with `optional=True`
    its result is None instead.
    """

    def __init__(self, namespace: Namespace) -> None:
        self._namespace = namespace
        self._steps: list[tuple[dict[str, Any], Step[Any]]] = []
        self._claims: list[_sharedspace.Claim[Any]] = []

    def _add(self, op: str, make: Any = None, optional: bool = False, **arguments: Any) -> Step[Any]:
        step: Step[Any] = Step(make)
        if optional:
            arguments["optional"] = True
        self._steps.append(({"op": op, **arguments}, step))
        return step

    def write(self, *fields: Field, expires: float | None = None) -> Step[int]:
        """Writes a tuple or a record; the result is its id."""
        more: dict[str, Any] = {} if expires is None else {"expires": f"{_sharedspace.life(expires)}ms"}
        return self._add("write", tuple=_fields.tuple_of(fields), **more)

    def take(self, *template: Template, optional: bool = False) -> Step[Any]:
        """Removes the oldest tuple that matches."""
        words, make = _words(template)
        return self._add("take", make, optional, template=words)

    def read(self, *template: Template, optional: bool = False) -> Step[Any]:
        """The oldest tuple that matches."""
        words, make = _words(template)
        return self._add("read", make, optional, template=words)

    def take_all(self, *template: Template) -> Step[list[Any]]:
        """Removes all tuples that match."""
        words, make = _words(template)
        return self._add("take-all", lambda all: [make(one) for one in all], template=words)

    def move(self, *template: Template, to: tuple[Field, ...], optional: bool = False) -> Step[Any]:
        """Removes the oldest tuple that matches, and writes the tuple `to`; a smaller one also if the namespace is full."""
        words, make = _words(template)
        return self._add("move", make, optional, **{"from": words, "to": _fields.tuple_of(to)})

    def count(self, *template: Template) -> Step[int]:
        """How many tuples match."""
        return self._add("count", template=_words(template)[0])

    def set(self, key: str, value: Field, *, if_absent: bool = False, optional: bool = False) -> Step[Any]:
        """Sets a cell; the result is the value that it had, or with a condition whether it was set."""
        more: dict[str, Any] = {"if_absent": True} if if_absent else {}
        return self._add("set", None, optional, key=key, value=value, **more)

    def replace(self, key: str, old: Field, new: Field, *, optional: bool = False) -> Step[bool]:
        """Sets a cell that has the value `old`."""
        return self._add("set", None, optional, key=key, value=new, if_equals=old)

    def get(self, key: str, *, optional: bool = False) -> Step[Any]:
        """The value of a cell."""
        return self._add("get", None, optional, key=key)

    def unset(self, key: str, *, optional: bool = False) -> Step[Any]:
        """Unsets a cell; the result is the value that it had."""
        return self._add("unset", None, optional, key=key)

    def add(self, key: str, amount: int = 1) -> Step[int]:
        """Adds to the integer in a cell; the result is the sum."""
        return self._add("incr", key=key, by=amount)

    def post(self, name: str, value: Field = None) -> None:
        """Posts a notification."""
        self._add("post", name=name, value=value)

    def complete(self, claim: _sharedspace.Claim[Any]) -> None:
        """Completes a claim together with the other steps."""
        self._end("complete", claim)

    def release(self, claim: _sharedspace.Claim[Any]) -> None:
        """Releases a claim together with the other steps."""
        self._end("release", claim)

    def _end(self, op: str, claim: _sharedspace.Claim[Any]) -> None:
        self._claims.append(claim)
        self._add(op, id=claim.number)

    def __enter__(self) -> Transaction:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if kind is None and self._steps:
            self._run()

    def _run(self) -> None:
        steps = [description for description, _ in self._steps]
        is_done, answer = self._namespace._transact(steps, tuple(self._claims))
        if not is_done:
            raise NothingFound(answer, "nothingFound", "run a transaction", self._namespace.name)
        for (_, step), value in zip(self._steps, _fields.from_json(answer)):
            step._give(value)
        self._steps = []
