"""The measured works of several machines, and the figures that are hoped for."""

from dataclasses import dataclass


@dataclass
class ClusterWork:
    """One row of the table."""

    name: str
    # Who does it: the library on a cluster, or etcd alone.
    program: str
    # The work, and what it is told behind the count or the milliseconds.
    work: str
    more: tuple
    # The line to read. The percentiles of single operations are under the line, or under it and `each`.
    line: str
    # On how many machines.
    machines: int = 1
    # How many operations; none if it goes on for the run's milliseconds.
    count: int | None = None
    # The row of etcd that is the floor under this one.
    floor: str | None = None
    # Where the library's program measures the floor too, by turns with itself: the line to read.
    floor_line: str | None = None

    @property
    def is_rate(self):
        """Whether it is measured as a whole, too."""
        return self.count is None


def ours(name, work, more, line, **rest):
    return ClusterWork(name, "ours", work, more, line, **rest)


def etcd(name, work, clients):
    return ClusterWork(name, "etcd", work, (clients,), work)


ROUND_TRIP = "etcd: a linearizable read"
APPEND = "etcd: a transaction with one compare and three puts"


def crowd(verb, who, kind, machines, members):
    many = "" if members == 1 else "s"
    name = f"{verb}, {machines} machine{'s' if machines > 1 else ''}, {members} {who}{many}"
    return ours(name, f"machines-{kind}", (members,), kind, machines=machines, floor=APPEND)


def crowds(verb, who, kind):
    return [crowd(verb, who, kind, machines, members) for machines, members in ((1, 1), (1, 16), (3, 3), (3, 16))]


def notice(way, who, holder, where):
    return ours(f"a write until a {who} blocked on another machine has it, the pen on {where}", "machines-notice",
                (holder, way), "notice", machines=3, count=100, floor=ROUND_TRIP)


ALONE = "take in a transaction's body"
WRITES = crowds("write", "writer", "write")
TAKES = crowds("take", "taker", "take")
TAKES_ALONE = [crowd(ALONE, "taker", "take-alone", machines, 16) for machines in (1, 3)]
NOTICES = [
    notice("take", "taker", 1, "the writer's"),
    notice("take", "taker", 2, "the taker's"),
    notice("take", "taker", 3, "a third"),
    notice("read", "reader", 1, "the writer's"),
]
BESIDE = [
    ours(f"write beside {takers} taker{'s' if takers > 1 else ''} on {machines - 1} other machine{'s' if machines > 2 else ''}",
         "machines-beside", (takers,), "beside", machines=machines, floor=APPEND)
    for machines, takers in ((2, 1), (3, 2), (3, 8))
]
RECIPES = [etcd(f"etcd: the Go client's queue recipe, {number} taker{'s' if number > 1 else ''}", "recipe", number)
           for number in (1, 16)]

# Works that are compared stand beside each other.
WORKS = [
    *WRITES,
    etcd("etcd: a put, 1 client", "put", 1),
    etcd("etcd: a put, 16 clients", "put", 16),
    etcd(APPEND, "append", 1),
    *TAKES,
    *TAKES_ALONE,
    *BESIDE,
    *RECIPES,
    ours("write by two machines by turns, each with the other's pen", "machines-pen", (), "pen", machines=2, count=100, floor=ROUND_TRIP),
    *NOTICES,
    etcd(ROUND_TRIP, "round-trip", 1),
    ours("read of the local replica, beside an ordinary namespace", "machines-read", (), "read replica", count=10000,
         floor_line="read ordinary"),
]


@dataclass
class Goal:
    """A quotient of two rows."""

    over: ClusterWork
    under: str
    target: float
    # Whether the quotient is of operations a second, and the target is the least; else of times, and it is the most.
    is_rate: bool

    @property
    def name(self):
        return f"{self.over.name} ÷ {self.under}"

    def holds(self, value):
        return value >= self.target if self.is_rate else value <= self.target


GOALS = [
    Goal(TAKES[1], RECIPES[1].name, 20, True),
    Goal(TAKES[3], RECIPES[1].name, 8, True),
    Goal(TAKES[1], TAKES_ALONE[0].name, 5, True),
    Goal(TAKES[3], TAKES_ALONE[1].name, 5, True),
    *(Goal(work, ROUND_TRIP, most, False) for work, most in zip(NOTICES, (2, 5, 5))),
]
