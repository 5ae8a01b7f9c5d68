"""The fixture that pytest finds by this package's entry point."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ._space import Space
from .testing import temporary_space


@pytest.fixture
def shared_space() -> Iterator[Space]:
    """A space with a root of its own, which is the default root during the test."""
    with temporary_space() as space:
        yield space
