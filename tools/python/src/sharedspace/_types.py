"""The types of fields and templates, for annotations."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any, ClassVar, Literal, Protocol, TypeAlias, TypedDict, Union
from uuid import UUID

from ._templates import Between, Either, Rest


class DataClass(Protocol):
    """An instance of a data class."""

    __dataclass_fields__: ClassVar[dict[str, Any]]


# What a tuple's field, a cell and an item can be.
Field: TypeAlias = Union[
    None,
    bool,
    int,
    float,
    str,
    bytes,
    bytearray,
    memoryview,
    UUID,
    enum.Enum,
    DataClass,
    Sequence["Field"],
    Mapping[str, "Field"],
]

# What a template's element can be.
Template: TypeAlias = Union[
    None,
    bool,
    int,
    float,
    str,
    bytes,
    UUID,
    enum.Enum,
    EllipsisType,
    type[Any],
    range,
    Between,
    Either,
    Rest,
    "re.Pattern[str]",
    DataClass,
    Sequence["Template"],
    Mapping[str, "Template"],
]


# What becomes of a unique item if there is one already.
Present: TypeAlias = Literal["keep", "replace", "again"]


class PutOptions(TypedDict, total=False):
    """What a queue's `put` takes beside the value."""

    priority: int
    delay: float | None
    group: str | None
    unique: str | None
    if_present: Present
