"""Fields and templates."""

import asyncio
import collections
import dataclasses
import enum
import gc
import random
import re
import sys
import typing
import uuid
import weakref

import pytest
from sharedspace import Between, either, rest

FIELDS = [
    None, True, False, 0, 1, -1, 255, 256, -255, -256, -257, 2**31, -(2**31), 2**63 - 1, -(2**63), 0.0, -0.0, 1.5, -1.5,
    float("inf"), float("-inf"), 5e-324, "", "a", "\0", "a\0b\0", "é", "日本", "\U0001f600", "\uffff", b"", b"\0", b"\0\xff\0",
    bytes(range(256)), [], [None], [None, [None, None]], [[], [[]]], {}, {"a": None}, {"b": 1, "a": {"": []}},
    {"é": 1, "z": 2, "\U0001f600": 3, "\uffff": 4}, uuid.UUID(int=0), uuid.uuid4(), "x" * 100_000, b"\0" * 10_000,
]  # fmt: skip


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: repr(field)[:20])
def test_a_field_comes_back_as_it_went(ns, field):
    ns.write("f", field)
    back = ns.read("f", field)
    assert back is not None and repr(back[1]) == repr(dict(sorted(field.items())) if type(field) is dict else field)
    assert repr(ns.take("f", ...)[1]) == repr(back[1])
    ns.set("cell", field)
    assert repr(ns.get("cell")) == repr(back[1])


def test_what_is_like_a_field_becomes_one(ns):
    class Index:
        def __index__(self):
            return 7

    class Kind(str, enum.Enum):
        CAT = "cat"

    ns.write(
        bytearray(b"a"), memoryview(b"b"), collections.OrderedDict(z=1), collections.UserDict(y=2), (1, 2),
        collections.deque([3]) if isinstance(collections.deque(), collections.abc.Sequence) else [3], Index(), Kind.CAT,
    )  # fmt: skip
    assert ns.take() == (b"a", b"b", {"z": 1}, {"y": 2}, [1, 2], [3], 7, "cat")


def cyclic():
    one = []
    one.append(one)
    return one


def cyclic_dictionary():
    one = {}
    one["self"] = one
    return one


def deep(levels):
    value = 1
    for _ in range(levels):
        value = [value]
    return value


class ShortUUID(uuid.UUID):
    @property
    def bytes(self):
        return b""


@pytest.mark.parametrize(
    "field, kind, words",
    [
        ("\ud800", UnicodeEncodeError, "surrogates"),
        ({"\udfff": 1}, UnicodeEncodeError, "surrogates"),
        (2**63, OverflowError, "64 bits"),
        (-(2**63) - 1, OverflowError, "64 bits"),
        ([1, [2**100]], OverflowError, "64 bits"),
        (float("nan"), ValueError, "NaN"),
        (cyclic(), ValueError, "contains itself"),
        (cyclic_dictionary(), ValueError, "contains itself"),
        (deep(65), ValueError, "64 levels"),
        ({1: 2}, TypeError, "strings"),
        (object(), TypeError, "no field"),
        ({1, 2}, TypeError, "no field"),
        (int, TypeError, "templates only"),
        (range(3), TypeError, "templates only"),
        (Between(1, 2), TypeError, "templates only"),
        (ShortUUID(int=1), ValueError, "16 bytes"),
    ],
    ids=lambda value: repr(value)[:20],
)
def test_what_is_no_field_says_so_and_nothing_is_written(ns, field, kind, words):
    with pytest.raises(kind, match=words):
        ns.write("before", field, "after")
    with pytest.raises(kind, match=words):
        ns.write_all([("good",), ("bad", field)])
    with pytest.raises(kind, match=words):
        ns.set("cell", field)
    with pytest.raises(kind, match=words), ns.transaction() as t:
        t.write("good")
        t.write("bad", field)
    assert ns.count() == 0 and ns.cells() == {}


def test_a_range_alone_is_a_template_and_no_record(ns):
    with pytest.raises(TypeError, match="templates only"):
        ns.write(Between(1, 2))
    ns.write(2)
    assert ns.read(Between(1, 2)) == (2,) and ns.count(Between(3, 4)) == 0


def test_the_deepest_field_comes_back(ns):
    ns.write(deep(64))
    assert ns.take() == (deep(64),)


def test_random_fields_come_back(ns):
    seed = random.randrange(1 << 30)
    chance = random.Random(seed)

    def text():
        return "".join(chance.choice("\0a\xff?é\uffff\U0001f600") for _ in range(chance.randrange(6)))

    def field(depth=0):
        kind = chance.randrange(9 if depth < 6 else 7)
        return [
            lambda: None,
            lambda: chance.random() < 0.5,
            lambda: chance.randrange(-(1 << chance.randrange(64)), 1 << chance.randrange(64)),
            lambda: chance.choice([0.0, -0.0, 1e308, -1e-308, chance.random()]),
            text,
            lambda: text().encode(),
            lambda: uuid.UUID(int=chance.randrange(1 << 128)),
            lambda: [field(depth + 1) for _ in range(chance.randrange(4))],
            lambda: {text(): field(depth + 1) for _ in range(chance.randrange(4))},
        ][kind]()

    for _ in range(2000):
        fields = tuple(field() for _ in range(chance.randrange(1, 30)))
        ns.write_all([fields])
        if len(fields) > 1:  # one dictionary alone is a record
            assert ns.read(*fields) == fields, f"seed {seed}"
        assert ns.take() == fields, f"seed {seed}"


def test_nothing_is_leaked(ns):
    field = ["x" * 50, {"a": [1.5]}]
    before = None
    for turn in range(3):
        for _ in range(2000):
            ns.write("f", field)
            ns.take("f", ...)
            with pytest.raises(OverflowError):
                ns.write("f", field, 2**64)
        blocks = sys.getallocatedblocks()
        if turn == 1:
            before = blocks
    assert blocks - before < 500


class TestTemplates:
    TUPLES = [("a", 1), ("a", 2.5), ("a", "cat"), ("a", b"b"), ("a", True), ("a", None), ("a", [1, 2]), ("a", {"x": 1, "y": 2}),
              ("a", uuid.UUID(int=1)), ("a", 1, 2), ("a",)]  # fmt: skip

    @pytest.fixture
    def full(self, ns):
        ns.write_all(self.TUPLES)
        return ns

    @pytest.mark.parametrize(
        "template, found",
        [
            (("a", int), [("a", 1)]),
            (("a", float), [("a", 2.5)]),
            (("a", str), [("a", "cat")]),
            (("a", bytes), [("a", b"b")]),
            (("a", bool), [("a", True)]),
            (("a", None), [("a", None)]),
            (("a", type(None)), [("a", None)]),
            (("a", list), [("a", [1, 2])]),
            (("a", list[int]), [("a", [1, 2])]),
            (("a", dict), [("a", {"x": 1, "y": 2})]),
            (("a", uuid.UUID), [("a", uuid.UUID(int=1))]),
            (("a", [1, int]), [("a", [1, 2])]),
            (("a", [1, rest]), [("a", [1, 2])]),
            (("a", {"x": int}), [("a", {"x": 1, "y": 2})]),
            (("a", range(0, 1)), []),
            (("a", range(0, 2)), [("a", 1)]),
            (("a", Between(1, 1)), [("a", 1)]),
            (("a", Between(0.5, None)), [("a", 2.5)]),
            (("a", Between(upper="d")), [("a", "cat")]),
            (("a", Between("b", "cat", half_open=True)), []),
            (("a", re.compile("^c.t$")), [("a", "cat")]),
            (("a", re.compile("CAT", re.IGNORECASE)), [("a", "cat")]),
            (("a", re.compile("dog")), []),
            (("a", int, ...), [("a", 1, 2)]),
            (("a", rest), TUPLES),
            ((), TUPLES),
            ((...,), [("a",)]),
            (("a", object), TUPLES[:9]),
            ((either(("a", int), ("a", str)),), [("a", 1), ("a", "cat")]),
        ],
        ids=repr,
    )
    def test_a_template_matches(self, full, template, found):
        assert full.read_all(*template) == found
        assert full.count(*template) == len(found)
        assert full.read(*template) == (found[0] if found else None)

    @pytest.mark.parametrize(
        "template",
        [t for t in [("a", int), ("a", [1, rest]), ("a", {"x": int}), ("a", range(0, 2)), ("a", Between(0.5)),
                     ("a", re.compile("^c.t$")), ("a", "cat"), ("a", uuid.UUID), ("a", ...), ()]],
        ids=repr,
    )  # fmt: skip
    def test_a_step_matches_what_a_call_matches(self, full, template):
        with full.transaction() as t:
            found = t.read(*template)
        assert found.result == full.read(*template)

    def test_a_string_that_begins_with_a_question_mark_is_a_string(self, ns):
        ns.write("?int", "??")
        ns.write("?int", 5)
        with ns.transaction() as t:
            found = t.take("?int", "??")
        assert found.result == ("?int", "??")
        assert ns.take("?int", int) == ("?int", 5)

    @pytest.mark.parametrize(
        "template, kind",
        [
            (("a", range(5, 5)), ValueError),
            (("a", range(0, 10, 2)), ValueError),
            (("a", re.compile(b"x")), TypeError),
            (("a", re.compile("(a)(?=b)")), ValueError),
            (("a", complex), TypeError),
            ((rest, "a"), ValueError),
            ((either(("a",), {"x": 1}),), ValueError),
        ],
        ids=repr,
    )
    def test_what_is_no_template_says_so(self, full, template, kind):
        with pytest.raises(kind):
            full.take(*template)
        assert full.count() == len(self.TUPLES)

    @pytest.mark.parametrize("bounds", [(None, None), (1, 2.0), (1, "a"), ([], [])], ids=repr)
    def test_a_range_has_bounds_of_one_type(self, bounds):
        with pytest.raises(ValueError):
            Between(*bounds)


@dataclasses.dataclass
class Size:
    width: int
    height: int


@dataclasses.dataclass
class Job:
    kind: typing.Literal["resize"]
    name: str
    weight: float = 0.0
    size: "Size | None" = None
    sizes: "list[Size]" = dataclasses.field(default_factory=list)
    labels: "dict[str, str]" = dataclasses.field(default_factory=dict)


class TestRecords:
    def test_a_data_class_is_a_record_and_a_template(self, ns):
        job = Job("resize", "cat.png", 1, Size(2, 3), [Size(4, 5)], {"a": "b"})
        ns.write(job)
        ns.write({"kind": "other", "name": "x"})
        ns.write("resize")
        assert ns.count(Job) == 1
        found = ns.take(Job)
        assert found == job
        assert isinstance(found.sizes[0], Size) and type(found.weight) is float
        assert ns.take(Job) is None and ns.count() == 2

    def test_an_instance_as_a_template_matches_its_equals(self, ns):
        ns.write_all([Size(1, 2), Size(1, 3)])
        assert ns.take(Size(1, 3)) == Size(1, 3)
        assert ns.take(Size(1, 3)) is None

    def test_a_mapping_matches_records_with_at_least_its_fields(self, ns):
        ns.write({"a": 1, "b": 2})
        ns.write({"a": 1}, 2)
        assert ns.read({"a": int}) == {"a": 1, "b": 2}
        assert ns.read({"c": int}) is None
        assert ns.read({"a": 1}, int) == ({"a": 1}, 2)
        assert ns.read_all(either({"a": 1}, {"a": 2})) == [{"a": 1, "b": 2}]

    def test_unknown_fields_are_left_out(self, ns):
        ns.write({"width": 1, "height": 2, "depth": 3})
        assert ns.take(Size) == Size(1, 2)

    def test_records_and_tuples_are_not_mixed(self, ns):
        with pytest.raises(ValueError, match="transaction"):
            ns.write_all([("a",), Size(1, 2)])
        with pytest.raises(TypeError):
            ns.write_all(["abc"])
        assert ns.count() == 0

    def test_records_in_transactions(self, ns):
        with ns.transaction() as t:
            t.write(Size(1, 2))
            t.write({"x": 1})
            size = t.take(Size)
            record = t.take({"x": int})
        assert size.result == Size(1, 2) and record.result == {"x": 1}


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Colour(str, enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Left:
    x: int


@dataclasses.dataclass
class Right:
    x: int
    y: int = 0


@dataclasses.dataclass
class Named:
    kind: typing.Literal["named"]
    name: str


HINTS = [
    (tuple[Left, Right], (Left(1), Right(2, 3))),
    (tuple[Level, str], (Level.HIGH, "a")),
    (tuple[Level, ...], (Level.HIGH, Level.LOW)),
    (tuple, (1, "a")),
    (typing.Optional[list[Left]], [Left(1)]),
    (typing.Optional[list[Left]], None),
    (typing.Union[Left, Right], Left(1)),
    (typing.Union[Left, Right], Right(1, 2)),
    (typing.Union[Left, Named], Named("named", "x")),
    (typing.Union[Level, str], Level.LOW),
    (typing.Union[Level, str], "low"),
    (typing.Union[Colour, str], Colour.RED),
    (typing.Union[Colour, str], "other"),
    (typing.Union[list[Named], list[Left]], [Left(1)]),
    (typing.Union[tuple[Left, int], tuple[Left, int, int]], (Left(1), 2, 3)),
    (dict[str, Left], {"k": Left(1)}),
    (dict[Colour, list[Right]], {Colour.RED: [Right(1)]}),
    (typing.Optional[dict[str, typing.Union[Left, int]]], {"k": Left(1), "l": 2}),
    (list[typing.Optional[Left]], [None, Left(1)]),
    (int | None, 3),
    (dict[str, None], {"k": None}),
    (typing.Optional[dict[str, typing.Any]], {"k": 1}),
    (typing.Optional[list[typing.Any]], [1, "a"]),
    (typing.Union[int, typing.Any], b"x"),
]


@pytest.mark.parametrize("hint, value", HINTS, ids=[f"{hint}-{value}" for hint, value in HINTS])
def test_a_field_comes_back_as_its_type(ns, hint, value):
    cls = dataclasses.make_dataclass("Made", [("field", hint)])
    ns.write(cls(value))
    back = ns.take(cls).field
    assert back == value and type(back) is type(value)
    if isinstance(value, (list, tuple, dict)):
        pairs = zip(value.values(), back.values()) if isinstance(value, dict) else zip(value, back)
        assert all(type(one) is type(other) for one, other in pairs)


def test_a_class_that_is_made_at_run_time_is_not_kept(ns):
    def use():
        cls = dataclasses.make_dataclass("Made", [("x", int), ("next", typing.Optional[Left])])
        ns.write(cls(1, Left(2)))
        assert ns.take(cls) == cls(1, Left(2))
        return weakref.ref(cls)

    reference = use()
    gc.collect()
    assert reference() is None


@pytest.mark.parametrize("flags", [re.ASCII, re.ASCII | re.IGNORECASE])
def test_a_pattern_whose_flags_can_not_be_carried_is_refused(ns, flags):
    ns.write("s", "\u0661")
    for call in (ns.read, ns.transaction().read):
        with pytest.raises(ValueError, match="ASCII"):
            call("s", re.compile(r"\d", flags))
    assert ns.read("s", re.compile(r"\d")) == ("s", "\u0661")


def test_a_template_has_any_number_of_fields_everywhere(ns):
    many = tuple(range(100))
    template = [int] * 100
    ns.write(*many)
    assert ns.read(*template) == many and asyncio.run(ns.aio.read(*template)) == many
    with ns.claim(*template):
        assert ns.claimed(*template)[0].tuple == many
        assert ns.claimed(*template[1:]) == []


@pytest.mark.parametrize(
    ("pattern", "flags", "texts"),
    [
        ("[a b]", "x", [" ", "a", "ab", "c"]),
        ("^[a b]+$", "x", ["a b", "a  b", "a-b"]),
        ("^ [^ ] $ # not [a space", "x", [" ", "a"]),
        ("^ a # one\n  b", "x", ["ab", "a b"]),
        (r"^ a\ b \# [#] [\ ] $", "x", ["a b## ", "ab##", "a b##"]),
        ("^ [^\t] [\n\r\v\f] $", "x", ["]\n", "\t\r", "a\v", "a\f", "a", "a "]),
        ("^a\u00a0b$", "x", ["ab", "a\u00a0b"]),
        ("^a\u2028[\u2028\u200e]$", "x", ["a", "a\u2028\u2028", "a\u2028\u200e"]),
        ("(?x) ^ [ ] $", "", [" ", ""]),
        ("^x{,}$", "", ["", "xx", "x{,}"]),
        (r"^x\{,}$", "", ["", "xx", "x{,}"]),
        ("^x[{,}]$", "", ["x{", "x,", "x}", "xx"]),
        ("^x {,}? $", "x", ["", "xx"]),
        ("^(?i:X{,2})y$", "", ["y", "xXy", "xxxy"]),
        ("[ #]", "", [" ", "#", "a"]),
        ("a(?#[ comment)b c", "", ["ab c", "abc"]),
    ],
)
def test_a_pattern_finds_what_it_finds_in_python(ns, pattern, flags, texts):
    compiled = re.compile(f"(?{flags}){pattern}" if flags else pattern)
    for text in texts:
        ns.write(text)
        assert (ns.take(compiled) is not None) == bool(compiled.search(text)), text
        ns.take_all()


@pytest.mark.parametrize("pattern", ["(?x: a)", "a(?i-x:b c)", "(?ix:a)", "(?:(?x:a))"])
def test_a_pattern_that_is_verbose_in_a_part_is_refused(ns, pattern):
    with pytest.raises(ValueError, match="verbose"):
        ns.count(re.compile(pattern))
    assert ns.count(re.compile(r"\(?x:|[(?x:]")) == 0


class Shade(enum.Enum):
    DARK = "dark"
    LIGHT = "light"


class Rank(enum.Enum):
    FIRST = 1
    SECOND = 2


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Mixed(enum.Enum):
    WORD = "word"
    NUMBER = 7


class Spot(typing.NamedTuple):
    x: float
    shade: Shade
    name: str = "spot"


class Track(typing.NamedTuple):
    spots: "list[Spot]"
    next: "Track | None" = None


Pair = collections.namedtuple("Pair", "a b")


@dataclasses.dataclass
class Node:
    value: int
    next: "Node | None" = None
    children: "list[Node]" = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Chain:
    value: int
    next: "Chain" = None


@dataclasses.dataclass
class Hen:
    egg: "Egg" = None


@dataclasses.dataclass
class Egg:
    hen: Hen = None


ENUMERATIONS_AND_NAMED_TUPLES = [
    (Shade, Shade.DARK),
    (Rank, Rank.SECOND),
    (Rights, Rights.READ | Rights.WRITE),
    (Mixed, Mixed.NUMBER),
    (list[Shade], [Shade.DARK, Shade.LIGHT]),
    (typing.Optional[Rank], Rank.FIRST),
    (typing.Optional[Rank], None),
    (typing.Union[Shade, str], Shade.DARK),
    (typing.Union[Shade, str], "grey"),
    (typing.Union[Rank, bool], True),
    (dict[Shade, Rank], {Shade.DARK: Rank.FIRST}),
    (typing.Literal[Shade.DARK], Shade.DARK),
    (typing.Literal[Shade.LIGHT, Rank.FIRST, "other"], Rank.FIRST),
    (typing.Literal[Shade.LIGHT, Rank.FIRST, "other"], "other"),
    (list[typing.Literal[Colour.RED]], [Colour.RED]),
    (typing.Union[int, typing.Literal[Shade.LIGHT]], Shade.LIGHT),
    (dict[str, list[Rank]], {"k": [Rank.SECOND]}),
    (Spot, Spot(1.5, Shade.LIGHT)),
    (Spot, Spot(1.5, Shade.LIGHT, "a")),
    (Pair, Pair(1, "b")),
    (list[Spot], [Spot(1.5, Shade.DARK)]),
    (tuple[Spot, int], (Spot(1.5, Shade.DARK), 2)),
    (typing.Optional[Spot], Spot(1.5, Shade.DARK)),
    (typing.Union[int, Pair, Spot], Spot(1.5, Shade.DARK, "a")),
    (dict[str, Pair], {"k": Pair(None, [1])}),
    (Track, Track([Spot(0.5, Shade.DARK)], Track([]))),
]


@pytest.mark.parametrize("hint, value", ENUMERATIONS_AND_NAMED_TUPLES, ids=repr)
def test_an_enumeration_and_a_named_tuple_come_back_as_such(ns, hint, value):
    cls = dataclasses.make_dataclass("Made", [("field", hint)])
    ns.write(cls(value))
    assert ns.count(cls) == ns.count(cls(value)) == 1
    with ns.transaction() as t:
        read = t.read(cls)
    for back in (read.result.field, ns.take(cls).field):
        assert repr(back) == repr(value)


def test_a_class_is_chosen_by_a_literal_member_of_an_enumeration(ns):
    kinds = [dataclasses.make_dataclass(f"Of{shade.name}", [("kind", typing.Literal[shade])]) for shade in Shade]
    cls = dataclasses.make_dataclass("Made", [("field", typing.Union[tuple(kinds)])])
    for kind, shade in zip(kinds, Shade):
        ns.write(cls(kind(shade)))
        assert ns.take(cls) == cls(kind(shade))
        ns.write(kind(shade))
        assert [one for one in kinds if ns.count(one)] == [kind] and ns.take(kind) == kind(shade)


def test_a_member_of_an_enumeration_is_its_value_everywhere(ns):
    ns.write("paint", Shade.DARK, {Shade.LIGHT: [Rank.FIRST]})
    assert ns.read("paint", Shade, dict) == ns.read("paint", Shade.DARK, ...) == ("paint", "dark", {"light": [1]})
    assert ns.read("paint", Rank, dict) is None
    ns.set("shade", Shade.DARK)
    assert ns.get("shade") == "dark"
    with ns.transaction() as t:
        taken = t.take("paint", Shade.DARK, {Shade.LIGHT: [Rank.FIRST]})
    assert taken.result == ("paint", "dark", {"light": [1]})
    with pytest.raises(TypeError, match="Rank.FIRST"):
        ns.write("paint", {Rank.FIRST: 1})
    with pytest.raises(ValueError, match="'dark'.*twice"):
        ns.write("paint", {Shade.DARK: 1, "dark": 2})
    with pytest.raises(TypeError, match="no field"):
        ns.write("paint", enum.Enum("Odd", {"A": (1, 2)}).A)
    assert ns.count() == 0


@dataclasses.dataclass
class Paint:
    shade: Shade


@dataclasses.dataclass
class Painting:
    title: str
    paints: "dict[str, list[Paint]]" = dataclasses.field(default_factory=dict)
    spot: "Spot | None" = None
    level: "Level | None" = Level.LOW


@pytest.mark.parametrize(
    "record, words",
    [
        ({"shade": "grey"}, "the field 'shade' of Paint: 'grey' is not a valid Shade"),
        ({"level": 5}, "the field 'level' of Painting: 5 is not a valid Level"),
        ({"level": True}, "the field 'level' of Painting: True is not a valid Level"),
        ({"level": "low"}, "the field 'level' of Painting: 'low' is not a valid Level"),
        ({"paints": {"k": [{"shade": "grey"}]}}, "the field 'shade' of Paint: 'grey'"),
        ({"spot": [1.5]}, "the field 'spot' of Painting: Spot has 2 to 3 elements, not 1"),
        ({"spot": [1.5, "grey"]}, "the field 'spot' of Painting: 'grey' is not a valid Shade"),
    ],
)
def test_a_value_that_a_field_can_not_be_names_the_field_and_stays(ns, record, words):
    cls = Paint if "shade" in record else Painting
    if cls is Painting:
        record = {"title": "a", "paints": {}, "spot": None, "level": 1, **record}
    ns.write(record)
    for call in (ns.read, ns.take, ns.claim, ns.take_all, lambda cls: asyncio.run(ns.aio.take(cls))):
        with pytest.raises(ValueError, match=words):
            call(cls)
    assert ns.read_all({}) == [record] and ns.show()["claims"] == []


@dataclasses.dataclass
class Weighed:
    weight: float = 0.0
    weights: "list[float]" = dataclasses.field(default_factory=list)
    limit: "float | None" = None
    count: int = 0
    either: "float | bool" = 0.0
    by_name: "dict[str, float]" = dataclasses.field(default_factory=dict)
    spot: "Spot | None" = None


class Unit(enum.Enum):
    KILO = 1000


class Index:
    def __index__(self):
        return 7


@pytest.mark.parametrize("number", [3, Level.HIGH, Index()], ids=repr)
def test_a_number_in_a_field_for_floats_is_a_float(ns, number):
    value = float(number.__index__())
    ns.write(Weighed(number, [number, 1.5], number, by_name={"a": number}, spot=Spot(number, Shade.DARK)))
    assert ns.count(Weighed) == 1
    back = ns.take(Weighed)
    assert back == Weighed(value, [value, 1.5], value, by_name={"a": value}, spot=Spot(value, Shade.DARK))
    numbers = (back.weight, *back.weights, back.limit, *back.by_name.values(), back.spot.x)
    assert all(type(one) is float for one in numbers)


def test_an_integer_in_a_nested_place_for_floats_is_read_as_a_float(ns):
    ns.write({**dataclasses.asdict(Weighed()), "weights": [1, 2.5], "limit": 3, "either": True, "by_name": {"a": 4}})
    back = ns.take(Weighed)
    assert back == Weighed(0.0, [1.0, 2.5], 3.0, either=True, by_name={"a": 4.0})
    assert all(type(one) is float for one in (*back.weights, back.limit, *back.by_name.values()))


@pytest.mark.parametrize(
    "given, name",
    [
        ({"weight": True}, "weight"),
        ({"weights": [1.5, False]}, "weights"),
        ({"limit": True}, "limit"),
        ({"count": True}, "count"),
        ({"by_name": {"a": True}}, "by_name"),
        ({"spot": Spot(True, Shade.DARK)}, "spot"),
    ],
    ids=repr,
)
def test_a_bool_is_no_number_in_a_data_class(ns, given, name):
    words = f"the field {name!r} of Weighed takes (float|int), not the bool (True|False)"
    with pytest.raises(TypeError, match=words):
        ns.write(Weighed(**given))
    with pytest.raises(TypeError, match=words):
        ns.write("in a list", [Weighed(**given)])
    with pytest.raises(TypeError, match=words):
        ns.count(Weighed(**given))
    with pytest.raises(TypeError, match=words), ns.transaction() as t:
        t.write(Weighed(**given))
    assert ns.count() == 0
    ns.write({**dataclasses.asdict(Weighed()), **given})
    if name in ("weight", "count"):
        assert ns.take(Weighed) is None
    else:
        with pytest.raises(ValueError, match=words):
            ns.take(Weighed)
    assert ns.count() == 1


def test_what_stands_for_values_in_an_instance_is_no_number(ns):
    ns.write(Left(1))
    assert ns.take(Left(int)) == Left(1)
    assert ns.count(Weighed(float, count=range(3))) == 0


def test_a_bool_is_a_bool_where_the_type_has_it(ns):
    ns.write(Weighed(either=True))
    assert ns.take(Weighed).either is True
    ns.write(Weighed(either=Unit.KILO))
    assert ns.take(Weighed).either == 1000


class TestRecursion:
    def test_a_class_with_a_field_of_its_own_class(self, ns):
        node = Node(1, Node(2, Node(3)), [Node(4, None, [Node(5)])])
        ns.write(node)
        assert ns.read(Node) == ns.read(node) == node
        with ns.transaction() as t:
            taken = t.take(Node)
        assert taken.result == node and ns.count() == 0

    @pytest.mark.parametrize("one", [Chain(1), Chain(1, Chain(2)), Hen(), Hen(Egg()), Hen(Egg(Hen(Egg())))], ids=repr)
    def test_a_class_whose_own_class_is_the_whole_type_of_a_field(self, ns, one):
        ns.write(one)
        assert ns.read(type(one)) == one
        with ns.transaction() as t:
            taken = t.take(type(one))
        assert taken.result == one

    def test_a_class_inside_of_a_function_knows_itself(self, ns):
        @dataclasses.dataclass
        class Local:
            value: int
            next: "Local | None" = None

        ns.write(Local(1, Local(2)))
        assert ns.take(Local) == Local(1, Local(2))

    @pytest.mark.skipif(not hasattr(typing, "Self"), reason="there is no Self")
    def test_a_class_that_names_itself_self(self, ns):
        cls = dataclasses.make_dataclass("Mine", [("next", typing.Optional[typing.Self]), ("all", list[typing.Self])])
        one = cls(cls(None, []), [cls(None, [])])
        ns.write(one)
        assert ns.take(cls) == one

    def test_a_type_that_is_not_found_says_so(self, ns):
        @dataclasses.dataclass
        class Other:
            value: int

        @dataclasses.dataclass
        class Local:
            other: "Other"

        for call in (lambda: ns.write(Local(Other(1))), lambda: ns.take(Local)):
            with pytest.raises(NameError, match="'Other' is not defined.*the types of the fields of Local"):
                call()

    def test_an_instance_that_contains_itself_is_refused(self, ns):
        node = Node(1)
        node.next = node
        with pytest.raises(ValueError, match="contains itself"):
            ns.write(node)
        long = Node(1)
        for _ in range(70):
            long = Node(1, long)
        with pytest.raises(ValueError, match="64 levels"):
            ns.write(long)
        assert ns.count() == 0


def odd(base, **methods):
    return type("Odd", (base,), methods)


def raising(self):
    raise LookupError("odd")


class Fickle:
    """A length that is another one at each call."""

    def __init__(self):
        self.calls = 0

    def __call__(self, sequence):
        self.calls += 1
        return self.calls


class Few(collections.abc.Sequence):
    def __getitem__(self, index):
        return [1, 2, 3][index]

    def __len__(self):
        return 3


LENGTHS = {"negative": lambda self: -1, "huge": lambda self: sys.maxsize, "raising": raising}


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("base", [list, tuple, Few])
def test_a_sequence_with_an_odd_length_is_refused_everywhere(ns, base, length):
    cls = odd(base, __len__=LENGTHS[length])
    one = cls() if base is Few else cls([1, 2, 3])
    calls = [
        lambda: ns.write("before", one, "after"),
        lambda: ns.write("before", [one]),
        lambda: ns.write({"a": one}),
        lambda: ns.write_all(one),
        lambda: ns.write_all([("good",), one]),
        lambda: ns.set("cell", one),
        lambda: ns.count("a", one),
        lambda: ns.read(either(("a",), ("b", one))),
        lambda: ns.queue("q").put(one),
        lambda: ns.queue("q").put_all(one),
        lambda: ns.queue("q").put_all([1, one]),
        lambda: ns.ordered_set("o").append(one),
        lambda: transact(ns, lambda t: t.write("a", one)),
        lambda: transact(ns, lambda t: t.take("a", one)),
        lambda: ns.post("n", one),
        lambda: ns.request("r", one, timeout=0),
    ]
    for call in calls:
        with pytest.raises((ValueError, LookupError, MemoryError, OverflowError, TypeError)):
            call()
        assert ns.count() == 0 and ns.cells() == {} and ns.queue("q").items() == []
    ns.write("after")
    assert ns.take() == ("after",)


def transact(ns, add):
    with ns.transaction() as t:
        add(t)


@pytest.mark.parametrize("base", [list, tuple])
@pytest.mark.parametrize("length", [lambda self: 0, lambda self: 1, lambda self: 100, Fickle()])
def test_a_length_that_is_not_true_cuts_nothing_off(ns, base, length):
    one = odd(base, __len__=length)([1, 2, 3])
    ns.write("a", one)
    ns.write_all([one])
    assert ns.take("a", ...) == ("a", [1, 2, 3]) and ns.take() == (1, 2, 3)


CHANGES = [lambda fields: fields.clear(), lambda fields: fields.append(1), lambda fields: fields.pop()]


@pytest.mark.parametrize("change", CHANGES)
def test_a_list_or_dictionary_that_changes_while_it_is_written_is_refused(ns, change):
    class Changes:
        def __index__(self):
            change(fields)
            return 1

    for call in (lambda: ns.write("f", fields), lambda: ns.write_all([fields]), lambda: ns.count("f", fields)):
        fields = [Changes(), 2, 3]
        with pytest.raises(RuntimeError, match="changed while it was written"):
            call()
    assert ns.count() == 0


def test_a_dictionary_that_grows_while_it_is_written_is_refused(ns):
    class Grows:
        def __index__(self):
            fields["z"] = 1
            return 1

    fields = {"a": Grows(), "b": 2}
    with pytest.raises(RuntimeError, match="changed while it was written"):
        ns.write("f", fields)
    assert ns.count() == 0


def test_names_of_a_class_of_their_own_are_strings(ns):
    class Backwards(str):
        def __lt__(self, other):
            return str(self) > str(other)

    class Other(str):
        def __hash__(self):
            return 7

        def __eq__(self, other):
            return self is other

    ns.write("f", {Backwards("a"): 1, Backwards("b"): 2})
    assert ns.take("f", {"b": 2, "a": 1}) == ("f", {"a": 1, "b": 2})
    with pytest.raises(ValueError, match="'a'.*twice"):
        ns.write("f", {Other("a"): 1, "a": 2})
    assert ns.count() == 0
