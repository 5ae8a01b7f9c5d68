"""Fields and templates: what the extension asks about values that it does not know.

It imports this module when it meets the first of them, because `re` and `typing` take long to import.
"""

from __future__ import annotations

import binascii
import contextlib
import enum
import operator
import re
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal
from uuid import UUID

from . import _ranges
from ._templates import Between, Either, Rest

# The modes and answers of codec.c.
_VALUES, _TEMPLATE, _STEP = 0, 1, 2
_AGAIN, _FORMAL, _RANGE, _PATTERN, _REST, _WORD, _UUID = range(7)


def is_dataclass(value: Any) -> bool:
    """Whether something is a data class, or an instance of one; the module dataclasses takes long to import."""
    return hasattr(value if isinstance(value, type) else type(value), "__dataclass_fields__")


def from_json(data: Any) -> Any:
    """What was given as JSON, because it is nested too deep for bytes."""
    if not isinstance(data, str):
        return data
    import json

    return json.loads(data, object_hook=_from_object)


def _from_object(found: dict[str, Any]) -> Any:
    """What an object of JSON stands for, whose only name begins with a dollar sign; any other one is itself."""
    if len(found) != 1:
        return found
    ((name, value),) = found.items()
    if name.startswith("$$"):
        return {name[1:]: value}
    if name == "$base64":
        return binascii.a2b_base64(value)
    return UUID(value) if name == "$uuid" else float(value) if name == "$double" else found


# --- Data classes -------------------------------------------------------------------------------------------------------


def _kept(cls: type, name: str, make: Callable[[type], dict[str, Any]]) -> dict[str, Any]:
    """What is made of a class once, and kept in the class itself: it ends with one that is made at run time."""
    found: dict[str, Any] | None = cls.__dict__.get(name)
    if found is None:
        found = make(cls)
        with contextlib.suppress(AttributeError, TypeError):
            setattr(cls, name, found)
    return found


def _make_hints(cls: type) -> dict[str, Any]:
    try:
        hints = typing.get_type_hints(cls)
    except NameError:
        hints = _local_hints(cls)
    names = getattr(_named_tuple(cls), "_fields", None)
    if names is not None:
        return {name: hints.get(name, Any) for name in names}
    import dataclasses

    return {field.name: hints[field.name] for field in dataclasses.fields(cls)}


def _local_hints(cls: type) -> dict[str, Any]:
    """The types of the fields of a class that a function has made, whose module does not have its name."""
    names = {base.__name__: base for base in reversed(cls.__mro__)}
    try:
        return typing.get_type_hints(cls, localns={**vars(cls), **names})
    except NameError as error:
        raise NameError(
            f"{error}: the types of the fields of {cls.__name__} are looked for in its module; "
            "define them there, or annotate with the types themselves instead of their names"
        ) from None


def _hints(cls: type) -> dict[str, Any]:
    """The types of the fields of a data class or a named tuple."""
    return _kept(cls, "__sharedspace_hints__", _make_hints)


def _named_tuple(hint: Any) -> Any:
    """The class of named tuples that a hint is, perhaps with arguments; None if it is none."""
    cls = typing.get_origin(hint) or hint
    return cls if isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields") else None


def _is_enumeration(hint: Any) -> bool:
    """Whether a hint is a class of an enumeration that has members."""
    return is_class(hint) and issubclass(hint, enum.Enum) and bool(hint.__members__)


def _formal_of(hint: Any) -> Any:
    """The formal that a field's type stands for; `...` for a type that has none of its own."""
    if is_class(hint):
        if is_dataclass(hint) or hint in _WORDS:
            return hint
        if issubclass(hint, (str, int, float)):
            return next(base for base in (str, int, float) if issubclass(hint, base))
        if _is_enumeration(hint):
            kinds = {_formal_of(type(member.value)) for member in hint}
            return kinds.pop() if len(kinds) == 1 else ...
        return list if _named_tuple(hint) else ...
    origin = typing.get_origin(hint)
    if origin is Literal and len(typing.get_args(hint)) == 1:
        return typing.get_args(hint)[0]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return list
    return ...


def _contains(cls: type, other: type) -> bool:
    """Whether fields whose whole type is a data class lead from a class to another one."""
    found = [cls]
    for one in found:
        found += [hint for hint in _hints(one).values() if is_class(hint) and is_dataclass(hint) and hint not in found]
    return other in found


def _make_template(cls: type) -> dict[str, Any]:
    """What stands for each field; anything for one whose template would contain that of its own class without end."""
    hints = _hints(cls).items()
    endless = {name for name, hint in hints if is_class(hint) and is_dataclass(hint) and _contains(hint, cls)}
    return {name: ... if name in endless else _formal_of(hint) for name, hint in hints}


def _template_of(cls: type) -> dict[str, Any]:
    return _kept(cls, "__sharedspace_template__", _make_template)


def _record_of(instance: Any) -> dict[str, Any]:
    """The fields of an instance, in which a number is what the class matches."""
    cls = instance.__class__
    numbers = _kept(cls, "__sharedspace_numbers__", _make_numbers)
    record = {name: getattr(instance, name) for name in _hints(cls)}
    for name, hint in numbers.items():
        record[name] = _written(hint, record[name], (cls, name))
    return record


def _make_numbers(cls: type) -> dict[str, Any]:
    """The fields in whose types there are numbers, which are looked at when they are written."""
    return {name: hint for name, hint in _hints(cls).items() if _has_numbers(hint, set())}


def _has_numbers(hint: Any, seen: set[type]) -> bool:
    if hint is int or hint is float:
        return True
    cls = _named_tuple(hint)
    if cls is None:
        return any(_has_numbers(one, seen) for one in typing.get_args(hint))
    if cls in seen:
        return False
    seen.add(cls)
    return any(_has_numbers(one, seen) for one in _hints(cls).values())


# The class and the name of the field that a message is about.
_Place: typing.TypeAlias = tuple[type, str]


def _field(place: _Place) -> str:
    return f"the field {place[1]!r} of {place[0].__name__}"


def _not_the_bool(hint: Any, value: bool, place: _Place) -> str:
    return f"{_field(place)} takes {hint.__name__}, not the bool {value!r}"


def _written(hint: Any, value: Any, place: _Place) -> Any:
    """A value as it is written into a field of a type: an integer where a float belongs is one, a bool is no number."""
    if hint is int or hint is float:
        if type(value) is hint:
            return value
        if isinstance(value, bool):
            raise TypeError(_not_the_bool(hint, value, place))
        return float(operator.index(value)) if hint is float and hasattr(type(value), "__index__") else value
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS:
        return _written(_written_choice(arguments, value), value, place)
    if isinstance(value, Mapping):
        if isinstance(origin, type) and issubclass(origin, Mapping) and len(arguments) == 2:
            return {name: _written(arguments[1], one, place) for name, one in value.items()}
    elif isinstance(value, (list, tuple)):
        elements = list(value)
        return [_written(kind, one, place) for kind, one in zip(_elements(hint, len(elements)), elements)]
    return value


def _written_choice(hints: Sequence[Any], value: Any) -> Any:
    """The one of several types as which a value is written; Any if there is none that is to be looked at."""
    if not isinstance(value, (Mapping, list, tuple)):
        return _choice(hints, value)
    kinds = [typing.get_origin(hint) or hint for hint in hints]
    fitting = [hint for hint, kind in zip(hints, kinds) if isinstance(kind, type) and isinstance(value, kind)]
    return fitting[0] if len(fitting) == 1 else Any


def instantiate(cls: type, record: Any) -> Any:
    """An instance of a record's fields. Fields that the class does not have are left out."""
    import dataclasses

    fields = dataclasses.fields(cls)
    hints = _hints(cls)
    made = {}
    for field in fields:
        if field.init and field.name in record:
            made[field.name] = _converted(hints[field.name], record[field.name], (cls, field.name))
    return cls(**made)


_UNIONS: Final = (typing.Union, types.UnionType)
_SELF: Final = getattr(typing, "Self", object())


def _converted(hint: Any, value: Any, place: _Place) -> Any:
    """A value of a record as its field's type has it; a value that fits no type stays as it is."""
    if type(value) is hint:
        return value
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in _UNIONS:
        return _converted(_choice(arguments, value), value, place)
    if origin is Literal:
        return next((one for one in arguments if isinstance(one, enum.Enum) and _is_value_of(one, value)), value)
    if hint is _SELF:
        hint = place[0]
    if isinstance(value, dict):
        if is_class(hint) and is_dataclass(hint):
            return instantiate(hint, value)
        if isinstance(origin, type) and issubclass(origin, Mapping) and len(arguments) == 2:
            return {
                _converted(arguments[0], name, place): _converted(arguments[1], one, place)
                for name, one in value.items()
            }
    if isinstance(value, list):
        cls = _named_tuple(hint)
        if cls is not None and not _has_length(cls, len(value)):
            raise ValueError(f"{_field(place)}: {cls.__name__} has {_lengths(cls)} elements, not {len(value)}")
        elements = _elements(hint, len(value))
        converted = [_converted(element, one, place) for element, one in zip(elements, value)]
        if cls is not None:
            return cls(*converted)
        return tuple(converted) if tuple in (origin, hint) else converted
    if hint is float or hint is int:
        if isinstance(value, bool):
            raise ValueError(_not_the_bool(hint, value, place))
        return float(value) if hint is float and isinstance(value, int) else value
    if _is_made_of_values(hint) and not isinstance(value, hint):
        try:
            if isinstance(value, bool) and not _makes(hint, value):
                raise ValueError(f"{value!r} is not a valid {hint.__name__}")
            return hint(value)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{_field(place)}: {error}") from error
    return value


def _is_value_of(one: Any, value: Any) -> bool:
    """Whether a value is that of a literal, which may be a member of an enumeration."""
    if isinstance(one, enum.Enum):
        one = one.value
    return type(one) is type(value) and bool(one == value)


def _is_made_of_values(hint: Any) -> bool:
    """Whether a hint is an enumeration, or another class of strings or numbers."""
    if not is_class(hint) or hint in _WORDS:
        return False
    return _is_enumeration(hint) or issubclass(hint, (str, int, float))


def is_class(hint: Any) -> bool:
    """Whether a hint is a class, without arguments."""
    return isinstance(hint, type) and not isinstance(hint, types.GenericAlias)


def _has_length(cls: Any, count: int) -> bool:
    """Whether a class of named tuples has one of so many elements."""
    return len(cls._fields) - len(cls._field_defaults) <= count <= len(cls._fields)


def _lengths(cls: Any) -> str:
    least, most = len(cls._fields) - len(cls._field_defaults), len(cls._fields)
    return str(most) if least == most else f"{least} to {most}"


def _elements(hint: Any, count: int) -> list[Any]:
    """The types of the elements of a list with so many."""
    cls = _named_tuple(hint)
    if cls is not None:
        return [*_hints(cls).values(), *[Any] * count][:count]
    arguments = [one for one in typing.get_args(hint) if one is not ...]
    if typing.get_origin(hint) is tuple and ... not in typing.get_args(hint):
        return (arguments + [Any] * count)[:count]
    return arguments[:1] * count if arguments else [Any] * count


def _choice(hints: Sequence[Any], value: Any) -> Any:
    """The one of several types that fits a value; of data classes rather one that has all names."""
    others = [hint for hint in hints if hint is not type(None)]
    if len(others) == 1 and value is not None:
        return others[0]
    fitting = [hint for hint in hints if _fits(hint, value)]
    if isinstance(value, dict):
        classes = [hint for hint in fitting or hints if is_class(hint) and is_dataclass(hint)]
        complete = [cls for cls in classes if value.keys() <= _hints(cls).keys()]
        fitting = complete or fitting or classes
    if not fitting and hasattr(type(value), "__index__"):
        # An integer where a float belongs; or a bool, which is refused then.
        fitting = [hint for hint in hints if hint is float or hint is int]
    return fitting[0] if fitting else Any


def _fits(hint: Any, value: Any) -> bool:
    """Whether a value of a record can be one of a type."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is None or hint is type(None):
        return value is None
    if origin is Literal:
        return any(_is_value_of(one, value) for one in arguments)
    if origin in _UNIONS:
        return any(_fits(one, value) for one in arguments)
    kind = origin or hint
    if kind is Any or not isinstance(kind, type):
        return True
    if is_dataclass(kind):
        return isinstance(value, dict) and _has_fields(kind, value)
    if _is_made_of_values(kind):
        return isinstance(value, kind) or _makes(kind, value)
    if isinstance(value, dict):
        return issubclass(dict, kind) and all(_fits(arguments[1], one) for one in value.values() if len(arguments) == 2)
    if isinstance(value, list):
        if kind is tuple and arguments and ... not in arguments and len(arguments) != len(value):
            return False
        if _named_tuple(kind) and not _has_length(kind, len(value)):
            return False
        is_sequence = issubclass(kind, tuple) or issubclass(list, kind)
        return is_sequence and all(map(_fits, _elements(hint, len(value)), value))
    return isinstance(value, kind) and (kind is bool or kind is object or not isinstance(value, bool))


def _has_fields(cls: type, record: dict[str, Any]) -> bool:
    import dataclasses

    hints = _hints(cls)
    return all(
        _fits(hints[field.name], record[field.name])
        if field.name in record
        else field.default is not dataclasses.MISSING or field.default_factory is not dataclasses.MISSING
        for field in dataclasses.fields(cls)
        if field.init
    )


def _makes(kind: type, value: Any) -> bool:
    """Whether an enumeration, or another class of strings or numbers, has one for a value."""
    try:
        made = kind(value)
    except (ValueError, TypeError):
        return False
    own = made.value if isinstance(made, enum.Enum) else made
    return bool(own == value) and isinstance(own, bool) == isinstance(value, bool) and _base(own) is _base(value)


def _base(value: Any) -> Any:
    """The type of a value without what subclasses add."""
    return next((base for base in (str, int, float) if isinstance(value, base)), type(value))


# --- What the extension asks ----------------------------------------------------------------------------------------------

# Types as formals: their codes, and their words in JSON.
_WORDS: Final[dict[Any, tuple[int, str]]] = {
    ...: (0x00, "?"),
    object: (0x00, "?"),
    bytes: (0x01, "?bytes"),
    str: (0x02, "?string"),
    list: (0x05, "?array"),
    tuple: (0x05, "?array"),
    int: (0x14, "?int"),
    float: (0x21, "?double"),
    bool: (0x26, "?bool"),
    UUID: (0x30, "?uuid"),
    dict: (0x40, "?object"),
}

_PATTERN_FLAGS: Final = ((re.IGNORECASE, "i"), (re.MULTILINE, "m"), (re.DOTALL, "s"), (re.VERBOSE, "x"))

_CARRIED: Final = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.VERBOSE | re.UNICODE | re.DEBUG


# An escape, a class, a comment's group, flags of a group, the quantifier without numbers, what may be a comment, one more.
_PARTS: Final = re.compile(
    r"\\.|(?P<class>\[\^?\]?(?:\\.|[^\]\\])*\])|\(\?\#[^)]*\)|\(\?(?P<flags>[a-z]*-?[a-z]*):"
    r"|(?P<all>\{,\})|(?P<comment>\#[^\n]*)|.",
    re.DOTALL,
)
_ESCAPE_OR_SPACE: Final = re.compile(r"\\.|[\s#\u200e\u200f]", re.DOTALL)


def _translated(text: str, is_verbose: bool) -> str:
    """A pattern as the library reads it, where the same characters would be something else to it without an error.

    In a verbose pattern the library leaves out spaces in a class, too, and outside of one more kinds than `re`.
    """

    def escaped(match: re.Match[str]) -> str:
        return match[0] if match[0][0] == "\\" else f"\\x{{{ord(match[0]):x}}}"

    def part(match: re.Match[str]) -> str:
        if "x" in (match["flags"] or ""):
            raise ValueError("a pattern as a template is verbose as a whole or not at all; give the flag re.VERBOSE")
        if match["all"]:
            return "{0,}"
        if is_verbose and match["comment"]:
            return ""
        if is_verbose and (match["class"] or not match[0].isascii()):
            return _ESCAPE_OR_SPACE.sub(escaped, match[0])
        return match[0]

    return _PARTS.sub(part, text)


def _expression(pattern: re.Pattern[Any]) -> str:
    if not isinstance(pattern.pattern, str):
        raise TypeError("a pattern as a template is one of a str")
    if pattern.flags & ~_CARRIED:
        lost = re.RegexFlag(pattern.flags & ~_CARRIED)
        raise ValueError(f"a pattern as a template can't have {lost!r}; it is searched for by the library")
    flags = "".join(letter for flag, letter in _PATTERN_FLAGS if pattern.flags & flag)
    text = pattern.pattern
    if "x" in flags or "{,}" in text or "(?" in text:
        text = _translated(text, "x" in flags)
    return f"(?{flags}){text}" if flags else text


def _formal(value: Any, mode: int) -> tuple[int, Any] | None:
    """A formal, as the mode wants it; None if the value is none."""
    if isinstance(value, range):
        if value.step != 1 or not value:
            raise ValueError(f"{value!r} is no template: a range has elements, and a step of 1")
        return _formal(Between(value.start, value.stop, half_open=True), mode)
    if isinstance(value, Between):
        if mode == _TEMPLATE:
            return _RANGE, (value.lower, value.upper, not value.half_open)
        return _WORD, _ranges.word(value.lower, value.upper, value.half_open)
    if isinstance(value, re.Pattern):
        expression = _expression(value)
        return (_PATTERN, expression) if mode == _TEMPLATE else (_WORD, f"?/{expression}/")
    if isinstance(value, Rest):
        return (_REST, None) if mode == _TEMPLATE else (_WORD, "?...")
    if value is type(None):
        return _AGAIN, None
    if value is ... or isinstance(value, type) or typing.get_origin(value) is not None:
        if isinstance(value, type) and is_dataclass(value):
            return _AGAIN, _template_of(value)
        formal = value if value is ... else _formal_of(value)
        if formal is ... and not (value is ... or value is object):
            raise TypeError(f"{value!r} is no type of fields: use one of {_NAMES}, or ...")
        if formal is not ... and formal not in _WORDS:
            return _AGAIN, formal
        code, word = _WORDS[formal]
        return (_FORMAL, code) if mode == _TEMPLATE else (_WORD, word)
    return None


_NAMES: Final = "int, float, str, bool, bytes, list, dict, uuid.UUID"


def adapt(value: Any, mode: int) -> tuple[int, Any]:
    """What a value is that the extension does not know."""
    if isinstance(value, UUID):
        return _UUID, value.bytes
    if isinstance(value, (bytearray, memoryview)):
        return _AGAIN, bytes(value)
    if mode != _VALUES:
        formal = _formal(value, mode)
        if formal is not None:
            return formal
    if isinstance(value, (type, range, Between)):
        raise TypeError(f"{value!r} is no field: it stands for fields, in templates only")
    if is_dataclass(value):
        return _AGAIN, _record_of(value)
    if isinstance(value, enum.Enum) and isinstance(value.value, (str, int, float, bytes, UUID)):
        return _AGAIN, value.value
    if isinstance(value, Mapping):
        return _AGAIN, dict(value)
    if isinstance(value, Sequence):
        return _AGAIN, list(value)
    if hasattr(value, "__index__"):
        return _AGAIN, operator.index(value)
    raise TypeError(
        f"{value!r} is no field: a field is None or one of {_NAMES}, or a data class; "
        "a datetime goes as its isoformat(), anything else as pickle.dumps() makes it"
    )


def named(dictionary: dict[Any, Any]) -> dict[str, Any]:
    """A dictionary whose names are strings: those that are of an enumeration, or another class, become such."""
    found: dict[str, Any] = {}
    for name, value in dictionary.items():
        text = name.value if isinstance(name, enum.Enum) and not isinstance(name, str) else name
        if not isinstance(text, str):
            raise TypeError(f"the names in an object are strings, not {name!r}")
        text = str.__str__(text)
        if text in found:
            raise ValueError(f"the name {text!r} stands twice in an object")
        found[text] = value
    return found


def _template(value: Any) -> tuple[Any, bool, type | None]:
    """One template: a tuple of fields or a dictionary; whether it is one of records; its data class."""
    if isinstance(value, Mapping):
        return dict(value), True, None
    if is_dataclass(value) and not isinstance(value, Between):
        if isinstance(value, type):
            return _template_of(value), True, value
        return _record_of(value), True, type(value)
    return (value,), False, None


def select(value: Any) -> tuple[list[Any], bool, type | None]:
    """What the one argument of a call stands for: its templates, whether they are for records, and what matches become."""
    if not isinstance(value, Either):
        template, is_record, cls = _template(value)
        return [template], is_record, cls
    templates = []
    kinds = set()
    for one in value.templates:
        template, is_record, _ = (tuple(one), False, None) if isinstance(one, (tuple, list)) else _template(one)
        templates.append(template)
        kinds.add(is_record)
    if len(kinds) > 1:
        raise ValueError("either() takes templates of tuples or of records, not both")
    return templates, kinds.pop(), None


def tuple_of(fields: Sequence[Any]) -> Any:
    """What a step writes: a list of fields, or the object of a record."""
    if len(fields) == 1 and (isinstance(fields[0], Mapping) or is_dataclass(fields[0])):
        return fields[0]
    return list(fields)
