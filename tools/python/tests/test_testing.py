"""Roots of tests, and what a process gives up when one ends."""

import gc
import os
import threading

import pytest
import sharedspace
from conftest import until_waiting
from sharedspace import Space, compat
from sharedspace.testing import temporary_space


def descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


def test_a_root_that_ends_takes_its_descriptors_with_it(tmp_path):
    stays = []

    def use():
        with temporary_space() as space:
            Space().namespace("jobs").write("x")
            assert Space().namespace("jobs", owning=False).count() == 1
            stays.append(space.namespace("kept"))
            stays.append(stays[-1])
            stays[-1].write("x")
            stays.append(stays[-1].claim("x"))
            stays.append(compat.Queue())
            stays[-1].put(1)
            with compat.FileLock(tmp_path / "lock"):
                pass

    use()
    before = descriptors()
    for _ in range(3):
        use()
    assert descriptors() == before
    with pytest.raises(sharedspace.Closed):
        stays[0].count()
    stays.clear()
    use()
    assert descriptors() == before


def test_a_root_that_ends_leaves_others_as_they_are(shared_space, tmp_path):
    kept = shared_space.namespace("kept")
    kept.write("x")
    shared_space.namespace("dropped").write("x")
    with compat.FileLock(tmp_path / "lock") as lock:
        with temporary_space():
            Space().namespace("kept").write("y")
            with compat.FileLock(tmp_path / "lock", timeout=0):
                pass
        assert lock.is_locked
        with pytest.raises(compat.Timeout):
            compat.FileLock(tmp_path / "lock", timeout=0).acquire()
    assert kept.take("x") == shared_space.namespace("dropped").take("x") == ("x",)


def test_a_thread_that_waits_when_its_root_ends_gets_an_error():
    raised = []

    def wait(namespace):
        try:
            namespace.take("never", timeout=None)
        except sharedspace.SpaceError as error:
            raised.append(error.code)

    with temporary_space() as space:
        namespace = space.namespace("jobs")
        thread = threading.Thread(target=wait, args=(namespace,))
        thread.start()
        until_waiting(namespace)
    thread.join()
    assert raised == ["closed"]
