"""Several changes in one step."""

import dataclasses
import fractions

import pytest
import sharedspace
from conftest import until


@dataclasses.dataclass
class Job:
    number: int

    def __post_init__(self):
        if self.number < 0:
            raise ValueError("negative")


def test_a_class_that_refuses_a_record_does_not_undo_the_transaction(ns):
    ns.write_all([{"number": -1}, {"number": 1}])
    with ns.transaction() as t:
        refused, taken = t.take(Job), t.take(Job)
        total = t.add("total")
    assert total.result == 1 and taken.result == Job(1) and taken.result is taken.result
    for _ in range(2):
        with pytest.raises(ValueError, match="negative"):
            refused.result


def test_a_tuple_is_moved(ns):
    ns.write("todo", 1)
    with ns.transaction() as t:
        moved, missing = t.move("todo", int, to=("doing", 1)), t.move("todo", int, to=("x",), optional=True)
    assert moved.result == ("todo", 1) and missing.result is None
    with pytest.raises(sharedspace.NothingFound), ns.transaction() as t:
        t.move("todo", int, to=("doing", 2))
    assert ns.take_all() == [("doing", 1)]


def test_all_steps_are_done_together(ns):
    ns.write("balance", "ada", 10)
    ns.set("k", "old")
    with ns.transaction() as t:
        taken = t.take("balance", "ada", 10)
        written = t.write("balance", "ada", 7)
        read = t.read("balance", str, range(7, 8))
        count = t.count()
        sum_ = t.add("transfers", 2)
        old = t.set("k", "new")
        got = t.get("k")
        missing = t.take("nothing", optional=True)
        unset = t.unset("k")
        all_ = t.take_all("balance", sharedspace.rest)
    assert taken.result == ("balance", "ada", 10) and written.result > 0
    assert read.result == ("balance", "ada", 7)
    assert (count.result, sum_.result, old.result, got.result, missing.result) == (1, 2, "old", "new", None)
    assert unset.result == "new" and all_.result == [("balance", "ada", 7)]
    assert ns.count() == 0


def test_a_step_that_finds_nothing_leaves_all_undone(ns):
    with pytest.raises(sharedspace.NothingFound, match="step 2") as error, ns.transaction() as t:
        written = t.write("x")
        t.take("nothing", int)
    assert ns.count() == 0 and isinstance(error.value, LookupError)
    with pytest.raises(RuntimeError):
        written.result


def test_an_exception_in_the_block_leaves_all_undone(ns):
    with pytest.raises(ZeroDivisionError), ns.transaction() as t:
        t.write("x")
        1 / 0
    assert ns.count() == 0


def test_a_cell_is_replaced_if_it_is_as_expected(ns):
    ns.set("k", 1)
    with ns.transaction() as t:
        first = t.replace("k", 1, 2)
        second = t.replace("k", 1, 3, optional=True)
        third = t.set("k", 4, if_absent=True, optional=True)
    assert (first.result, second.result, third.result) == (True, False, False) and ns.get("k") == 2
    with pytest.raises(sharedspace.NothingFound), ns.transaction() as t:
        t.replace("k", 1, 3)


def test_values_that_look_like_words_of_a_step(ns):
    ns.write("?int", {"$base64": "AA=="}, b"\0\xff")
    with ns.transaction() as t:
        found = t.take("?int", {"$base64": str}, bytes)
        t.write("?...", "?", {"$x": 1})
        t.set("k", "?int")
    assert found.result == ("?int", {"$base64": "AA=="}, b"\0\xff")
    assert ns.take("?...", "?", ...) == ("?...", "?", {"$x": 1}) and ns.get("k") == "?int"


def test_a_claim_that_was_lost_leaves_all_undone(ns):
    ns.write("job")
    claim = ns.claim("job")
    claim.complete()
    with pytest.raises(sharedspace.ClaimLost), ns.transaction() as t:
        t.complete(claim)
        t.write("done")
    assert ns.count() == 0


def test_a_tuple_of_a_transaction_expires(ns):
    with ns.transaction() as t:
        t.write("gone", expires=0)
        t.write("stays", expires=3600)
    until(lambda: ns.read_all() == [("stays",)])


def test_an_empty_transaction_does_nothing(ns):
    with ns.transaction():
        pass
    assert ns.count() == 0


def test_others_see_all_or_nothing(ns, child):
    other = child(
        """
        say('ready')
        while ns.get('stop') is None:
            with ns.transaction() as t:
                t.add('a')
                t.add('b')
        """
    )
    other.hear()
    for _ in range(200):
        with ns.transaction() as t:
            a, b = t.get("a", optional=True), t.get("b", optional=True)
        assert a.result == b.result
    ns.set("stop", True)
    assert other.end()[0] == 0


WORDS = ["", "-5", "1", "10000", "1e5", "3", "3.5", "9", "99999999999999999999", "?", "?int", "/", "/a", "a", "a."]
WORDS += ["a..", ".b", "<b", "b", "b/", "é", "\ud7ff", "\ue000", "\U0010ffff", "a\0", "a\nb", "[", "]", "inf"]


@pytest.mark.parametrize("half_open", [False, True])
def test_a_range_is_in_a_step_and_in_a_filter_what_it_is_in_a_call(ns, half_open):
    others = [1, 3, 10000, 1.0, 3.5, -1.0, float("inf"), float("-inf"), 1.7e308, b"1", None, True, ["3"]]
    ns.write_all([("v", value) for value in WORDS + others])
    ranges = [sharedspace.Between(lower, None) for lower in WORDS]
    ranges += [sharedspace.Between(None, upper, half_open=half_open) for upper in WORDS]
    pairs = [(lower, upper) for lower in WORDS for upper in WORDS if lower <= upper]
    ranges += [sharedspace.Between(*bounds, half_open=half_open) for bounds in pairs]
    ranges += [sharedspace.Between(1.0, 1e308), sharedspace.Between(None, 3.0), sharedspace.Between(-2, 3)]
    infinity = float("inf")
    ends = [(1.0, infinity), (-infinity, 1.0), (-infinity, infinity), (infinity, None), (None, -infinity), (None, infinity)]
    ranges += [sharedspace.Between(*bounds, half_open=half_open) for bounds in ends]
    for one in ranges:
        with ns.transaction() as t:
            found = t.count("v", one)
        assert found.result == ns.count("v", one), one
    for one in ranges[::7]:
        with ns.watch("v", one, start="initial") as watch:
            seen = iter(lambda watch=watch: watch.next(0), None)
            assert [change.tuple for change in seen if change.tuple is not None] == ns.read_all("v", one), one


@pytest.mark.parametrize(
    "bounds", [(float("nan"), None), (0.0, float("nan")), ("1" * 900, "2" * 900), ("b", "a")]
)
def test_a_range_that_a_step_cannot_say_is_refused(ns, bounds):
    for call in (ns.transaction().take, ns.watch):
        with pytest.raises(ValueError):
            call("v", sharedspace.Between(*bounds))


TIMES = [-1, pytest.param(-(10**400), id="-10**400"), -1e-9, float("-inf"), float("nan"), "1"]


@pytest.mark.parametrize("seconds", TIMES)
def test_a_step_refuses_the_times_that_write_refuses(ns, seconds):
    for refuses in (
        lambda: ns.write("x", expires=seconds),
        lambda: ns.transaction().write("x", expires=seconds),
        lambda: sharedspace.Space(timeout=seconds).namespace("test").count(),
    ):
        with pytest.raises(TypeError if seconds == "1" else ValueError):
            refuses()
    assert ns.count() == 0


LARGE = [pytest.param(kind(10**400), id=f"{kind.__name__} 10**400") for kind in (int, fractions.Fraction)]


@pytest.mark.parametrize("seconds", [*LARGE, float("inf"), 1e300, 1e13, 3600, 0.5, 0.0001, 0])
def test_a_step_takes_the_times_that_write_takes(ns, seconds):
    id_ = ns.write("x", expires=seconds)
    with ns.transaction() as t:
        step = t.write("x", expires=seconds)
    if seconds >= 3600:
        assert ns.time_left(step.result) == pytest.approx(ns.time_left(id_), abs=60)
    else:
        until(lambda: ns.count() == 0)
    assert sharedspace.Space(timeout=seconds).namespace("test").count() >= 0


def test_what_is_no_claim_ends_in_no_transaction(ns):
    class Likeness:
        number = 1

    with pytest.raises(TypeError, match="no claim"), ns.transaction() as t:
        t.write("x")
        t.complete(Likeness())
    assert ns.count() == 0
