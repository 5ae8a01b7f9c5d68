"""Tests in several processes (pytest -n 3) share a range of ports and one database. Prints how many passed.

The fixtures belong into conftest.py. The database here is a process that only waits.
"""

import re
import subprocess
import sys

import pytest
import sharedspace


@pytest.fixture(scope="session")
def shared(testrun_uid):
    """A namespace of this run, for all its workers. It is gone when the last of them ends."""
    with sharedspace.Space().namespace(f"tests {testrun_uid}") as ns:
        yield ns


@pytest.fixture
def port(shared):
    """A port that no other test has at this time; also a killed worker's is free again."""
    with shared.lock("the ports are there"):
        if shared.set("ports", True, if_absent=True):
            shared.write_all([("port", number) for number in range(54_320, 54_330)])
    with shared.claim("port", int, timeout=60) as claim:
        yield claim.tuple[1]
        claim.complete(keep=True)


@pytest.fixture(scope="session")
def database(shared):
    """The address of the one database. The worker that starts it stops it, when no other one uses it any more."""
    process = None
    in_use = shared.lock("database in use", shared=True)
    in_use.acquire()
    with shared.lock("database"):
        if shared.get("database") is None:
            process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
            # The address goes with this process: if it is killed, the next test starts another database.
            shared.set("database", f"database {process.pid}", own_lifetime=True)
            shared.add("running")
        address = shared.get("database")
    yield address
    in_use.release()
    if process is not None:
        with shared.lock("database in use"):
            process.communicate()
            with shared.transaction() as t:
                t.unset("database")
                t.add("running", -1)


@pytest.mark.parametrize("number", range(12))
def test_something(number, port, database, shared):
    assert shared.set(f"in use/{port}", number, if_absent=True), "another test has this port"
    assert (shared.get("database"), shared.get("running")) == (database, 1)
    shared.unset(f"in use/{port}")


if __name__ == "__main__":
    command = [sys.executable, "-m", "pytest", "-n", "3", "-p", "no:cacheprovider", __file__]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(*re.findall("[0-9]+ passed|[0-9]+ failed|[0-9]+ errors?", done.stdout))
