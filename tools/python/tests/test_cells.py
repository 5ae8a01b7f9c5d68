"""Cells: values with names."""

import threading

import pytest
import sharedspace
from conftest import until, until_waiting


def test_a_cell_is_set_and_unset(ns):
    assert ns.get("k") is None and ns.get("k", 7) == 7 and ns.get("k", default=8) == 8
    assert ns.set("k", {"a": 1}) is True
    assert ns.get("k") == {"a": 1}
    assert ns.unset("k") is True and ns.unset("k") is False


def test_a_cell_is_set_on_a_condition(ns):
    assert ns.set("k", 1, if_absent=True) is True
    assert ns.set("k", 2, if_absent=True) is False
    assert ns.set("k", 2, if_equal=0) is False
    assert ns.set("k", 2, if_equal=1) is True
    ns.set("k", None)
    assert ns.set("k", 3, if_equal=None) is True
    assert ns.get("k") == 3


def test_a_counter(ns):
    assert ns.add("n") == 1 and ns.add("n", 41) == 42 and ns.add("n", amount=-2) == 40
    ns.set("text", "x")
    with pytest.raises(ValueError):
        ns.add("text")
    ns.set("big", 2**63 - 1)
    with pytest.raises(ValueError):
        ns.add("big")
    with pytest.raises(OverflowError):
        ns.add("n", 2**64)


def test_the_cells_of_a_pattern(ns):
    ns.set("a.1", 1)
    ns.set("a.2", [2])
    ns.set("b", 3)
    assert ns.cells() == {"a.1": 1, "a.2": [2], "b": 3}
    assert ns.cells("a.*") == {"a.1": 1, "a.2": [2]}
    assert ns.cells("c*") == {}


def test_a_cell_is_waited_for(ns):
    found = []
    waiting = threading.Thread(target=lambda: found.append(ns.get("k", timeout=None)))
    waiting.start()
    until_waiting(ns)
    ns.set("k", "there")
    waiting.join(60)
    assert found == ["there"]
    assert ns.get("other", 5, timeout=0.01) == 5


def test_a_cell_goes_with_its_process(ns, child):
    other = child("ns.set('k', 1, own_lifetime=True); say('set'); hear()")
    assert other.hear() == "set"
    assert ns.get("k") == 1
    other.say()
    other.end()
    assert ns.get("k") is None


def test_a_cell_expires(ns):
    ns.set("k", 1, expires=0.001)
    until(lambda: ns.get("k") is None)
    ns.set("k", 1, expires=3600)
    assert ns.get("k") == 1


@pytest.mark.parametrize("key", ["", "a\0b", "k" * 481])
def test_a_key_that_can_not_be(ns, key):
    with pytest.raises(ValueError):
        ns.set(key, 1)


def test_a_key_is_a_string(ns):
    with pytest.raises(TypeError):
        ns.get(5)
    with pytest.raises(ValueError):
        ns.get("\ud800")


def test_a_large_value_comes_back(ns):
    value = b"x" * (1 << 20)
    ns.set("k", value)
    assert ns.get("k") == value
    with pytest.raises(sharedspace.BadData):
        ns.set("k", b"x" * (65 << 20))


def test_a_cell_is_set_if_it_has_a_version(ns):
    assert ns.versioned("k") is None and ns.set("k", 1, if_version=0)
    value, version = ns.versioned("k")
    assert value == 1 and ns.set("k", 2, if_version=version) and not ns.set("k", 3, if_version=version)
    ns.set("k", 1)
    # The same value, and another version.
    assert not ns.set("k", 4, if_version=version) and ns.get("k") == 1
    with pytest.raises(ValueError):
        ns.set("k", 1, if_version=1, if_absent=True)


def test_cells_and_tuples_get_another_end(ns):
    ns.set("lease", 1)
    number = ns.write("note")
    for subject in ("lease", number):
        assert ns.time_left(subject) is None
        assert ns.expire(subject, 3600) and 3500 < ns.time_left(subject) <= 3600
        assert ns.expire(subject, None) and ns.time_left(subject) is None
        assert ns.expire(subject, 0)
        until(lambda: "lease" not in ns.cells() if subject == "lease" else ns.read("note") is None)
        assert not ns.expire(subject, 1)
        with pytest.raises(KeyError):
            ns.time_left(subject)
