"""A root of its own for a test.

With pytest a test asks for `shared_space`, which this package brings as a fixture:

    def test_resizing(shared_space):
        jobs = shared_space.namespace("jobs")

Other tests use `temporary_space()` in a with-block.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator

from . import _sharedspace
from ._space import Space


@contextlib.contextmanager
def temporary_space(*, environment: bool = True) -> Iterator[Space]:
    """A space in a new folder, in memory if possible, which is removed with its namespaces at the end.

    With `environment` it is the default root meanwhile, also of the processes that the test starts. At the end this
    process leaves the space's namespaces: all its objects of them are closed.
    """
    folder = tempfile.mkdtemp(prefix="shared-space-python-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
    before = os.environ.get("SHARED_SPACE_ROOT")
    space = Space(folder)
    if environment:
        os.environ["SHARED_SPACE_ROOT"] = folder
    try:
        yield space
    finally:
        if environment and before is None:
            del os.environ["SHARED_SPACE_ROOT"]
        elif environment and before is not None:
            os.environ["SHARED_SPACE_ROOT"] = before
        assert space.root is not None
        _sharedspace.leave(space.root)
        # A process that was left over finds out that its namespace is gone.
        for name in space.names():
            space.delete(name)
        shutil.rmtree(folder, ignore_errors=True)


__all__ = ["temporary_space"]
