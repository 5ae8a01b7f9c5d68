"""Errors are Python's."""

import errno
import pickle

import pytest
import sharedspace
from sharedspace import _errors


def test_an_error_says_what_where_and_what_to_do(shared_space):
    with pytest.raises(sharedspace.SpaceError) as error:
        shared_space.namespace("a/b").count()
    assert isinstance(error.value, ValueError) and isinstance(error.value, OSError)
    assert error.value.code == "invalidName" and "a/b" in str(error.value)
    with pytest.raises(KeyError) as error:
        shared_space.namespace("missing", owning=False).count()
    assert error.value.errno == errno.ENOENT and error.value.namespace == "missing" and "missing" in str(error.value)


def test_an_error_survives_pickling():
    error = _errors.make("holderBusy", "busy", "write", "jobs", None, 4711)
    back = pickle.loads(pickle.dumps(error))
    assert type(back) is sharedspace.Busy and isinstance(back, TimeoutError)
    assert (str(back), back.code, back.holder, back.errno) == ("busy", "holderBusy", 4711, errno.ETIMEDOUT)


def test_every_class_is_what_a_user_expects():
    expected = {
        "badData": ValueError, "namespaceNotFound": KeyError, "holderBusy": TimeoutError, "forked": RuntimeError,
        "permissionDenied": PermissionError, "wouldDeadlock": RuntimeError, "a new one": OSError,
    }  # fmt: skip
    for code, kind in expected.items():
        error = _errors.make(code, "text", "op", None, None, 0)
        assert isinstance(error, kind) and isinstance(error, sharedspace.SpaceError) and error.holder is None


def test_a_closed_namespace_says_so(ns):
    ns.write("x")
    claim = ns.claim("x")
    ns.close()
    ns.close()
    for call in (ns.count, lambda: ns.write("x"), lambda: ns.take("x", timeout=None), claim.complete, ns.show):
        with pytest.raises(sharedspace.Closed):
            call()
    assert not ns.is_open


def test_one_that_is_closed_before_its_first_use_says_so(shared_space):
    ns = shared_space.namespace("never")
    ns.close()
    with pytest.raises(sharedspace.Closed):
        ns.count()
    assert shared_space.names() == []


def test_a_deleted_namespace_says_so(shared_space):
    ns = shared_space.namespace("test")
    ns.write("x")
    shared_space.delete("test")
    with pytest.raises(sharedspace.NotFound) as error:
        ns.count()
    assert error.value.code == "namespaceDeleted"
    ns.close()


def test_a_full_namespace_says_so(shared_space):
    with shared_space.namespace("small", limit=16 << 20) as ns:
        with pytest.raises(sharedspace.Full) as error:
            for _ in range(40):
                ns.write(b"x" * (1 << 20))
        assert error.value.errno == errno.ENOSPC and error.value.code == "limitReached"


def test_a_root_that_can_not_be_is_an_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(sharedspace.SpaceError):
        sharedspace.Space(tmp_path / "file").namespace("x").count()
    with pytest.raises(ValueError):
        sharedspace.Space("a\0b").namespace("x").count()
    with pytest.raises(TypeError):
        sharedspace.Space(5)


def test_a_namespace_is_initialized_once(ns, shared_space):
    with pytest.raises(RuntimeError, match="already"):
        ns.__init__("other", shared_space.root)
    assert ns.name == "test" and ns.count() == 0


def test_objects_that_were_never_made_are_errors_not_crashes():
    broken = sharedspace.Namespace.__new__(sharedspace.Namespace)
    for call in (broken.count, lambda: broken.write("x"), lambda: broken.claim("x"), broken.show):
        with pytest.raises((sharedspace.SpaceError, TypeError, AttributeError)):
            call()
    with pytest.raises(TypeError):
        sharedspace.Claim()
    for number in (0, 1, 12345, 2**64 - 1):
        with pytest.raises(sharedspace.SpaceError):
            sharedspace._sharedspace.loop_cancel(number, 1)
        with pytest.raises(ValueError):
            sharedspace._sharedspace.watch_next(number, 0, [])
