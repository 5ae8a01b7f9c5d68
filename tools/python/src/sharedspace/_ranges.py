"""Ranges as words of JSON: steps of a transaction and filters of a watch have their templates so.

The word of a range is `?LOWER...UPPER` or `?LOWER..<UPPER`. It has no quotes: bounds that are both written as numbers
are numbers, of which one beyond the doubles is infinity, and dots at the wrong place are ambiguous. Where the word of a range of strings would be read as something
else, a regular expression that finds the same strings stands for it.
"""

from __future__ import annotations

import math
from typing import Final

# TupleLimits.maximumPatternLength.
_LONGEST_PATTERN: Final = 1024
_LAST: Final = 0x10FFFF


def word(lower: int | float | str | None, upper: int | float | str | None, half_open: bool) -> str:
    """The word of a range; ValueError if JSON can't say it."""
    if isinstance(lower, str) or isinstance(upper, str):
        assert not isinstance(lower, (int, float)) and not isinstance(upper, (int, float))
        return _strings(lower or "", upper, half_open)
    for bound in (lower, upper):
        if isinstance(bound, float) and math.isnan(bound):
            raise ValueError("NaN is no bound: nothing is less or greater; None is for no bound")
    return f"?{_number(lower)}{'..<' if half_open else '...'}{_number(upper)}"


def _number(bound: int | float | None) -> str:
    if isinstance(bound, float) and math.isinf(bound):
        return "1e999" if bound > 0 else "-1e999"
    return "" if bound is None else repr(bound)


def _strings(lower: str, upper: str | None, half_open: bool) -> str:
    if upper is None:
        return "?string" if not lower else f"?{lower}..." if _is_clear(lower, "") else f"?/{_expression(lower, None)}/"
    if lower > upper:
        raise ValueError("the bounds of the range are the wrong way round")
    # The string after the upper bound: with the NUL it is no number.
    end = upper if half_open else upper + "\0"
    return f"?{lower}..<{end}" if _is_clear(lower, end) else f"?/{_expression(lower, end)}/"


def _is_clear(lower: str, end: str) -> bool:
    """Whether a word of these bounds is read as a range of strings with these bounds."""
    return (
        bool(lower or end)
        and not lower.startswith(("?", "/"))
        and not lower.endswith(".")
        and not end.startswith((".", "<"))
        and not any(dots in bound for dots in ("...", "..<") for bound in (lower, end))
        and not all(_may_be_number(bound) for bound in (lower, end))
        # A number that is too large for the reader is an error, also beside a string.
        and not any(_may_be_number(bound) and (len(bound) > 15 or "e" in bound.lower()) for bound in (lower, end))
    )


def _may_be_number(bound: str) -> bool:
    """Whether a bound consists of what numbers are written with; also no bound does."""
    return not bound.strip("0123456789+-.eE")


# --- The strings of a range as a regular expression -------------------------------------------------------------------


def _expression(lower: str, end: str | None) -> str:
    """What finds the strings from `lower` on that come before `end`; strings are ordered by their code points."""
    if end is None:
        prefix, found = "", _from(lower)
    else:
        length = next((i for i, (a, b) in enumerate(zip(lower, end)) if a != b), min(len(lower), len(end)))
        prefix, low, high = lower[:length], lower[length:], end[length:]
        if not low:
            found = _before(high)
        else:
            found = _between(ord(low[0]) + 1, ord(high[0]) - 1)
            found += [_text(low[0]) + one for one in _from(low[1:])]
            found += [_text(high[0]) + one for one in _before(high[1:])]
    expression = rf"\A{_text(prefix)}(?:{'|'.join(found)})" if found else r"\z."
    if len(expression) > _LONGEST_PATTERN:
        raise ValueError("this range of strings can't stand in a transaction or a filter: its bounds are too long")
    return expression


def _from(lower: str) -> list[str]:
    """What is found at the beginning of `lower` and all strings after it."""
    larger = [_text(lower[:i]) + one for i, letter in enumerate(lower) for one in _between(ord(letter) + 1, _LAST)]
    return [*larger, _text(lower)]


def _before(end: str) -> list[str]:
    """What is found at the beginning of all strings before `end`."""
    found = []
    for i, letter in enumerate(end):
        found.append(_text(end[:i]) + r"\z")
        found += [_text(end[:i]) + one for one in _between(0, ord(letter) - 1)]
    return found


def _between(first: int, last: int) -> list[str]:
    """The class of the code points of a range, if it has any."""
    if 0xD800 <= first <= 0xDFFF:
        first = 0xE000
    if 0xD800 <= last <= 0xDFFF:
        last = 0xD7FF
    return [f"[{_letter(first)}-{_letter(last)}]"] if first <= last else []


def _text(text: str) -> str:
    return "".join(_letter(ord(letter)) for letter in text)


def _letter(code: int) -> str:
    letter = chr(code)
    return letter if letter.isascii() and letter.isalnum() else rf"\u{{{code:X}}}"
