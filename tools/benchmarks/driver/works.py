"""The measured works, and the figures that are hoped for."""

from dataclasses import dataclass, field, replace


@dataclass
class Work:
    """One row of the table."""

    name: str
    # The line to read in the output of the library's program and the floor.
    line: str
    # The words for the library's program and the floor: the work, and a count.
    words: tuple
    # The library's time divided by the floor's at most; none if there is no such promise.
    target: float | None = None
    # The words for peers, and the line to read.
    peer_work: str | None = None
    peer_line: str | None = None
    peer_words: tuple = ()
    # How many times slower a peer is at least.
    peer_targets: dict = field(default_factory=dict)
    on_disk: bool = False
    has_floor: bool = True
    # Whether the ring does the same work: the least with which processes can hand anything over.
    has_ring: bool = False
    # Whether the floor also reports its cost with the upkeep that every namespace needs.
    has_upkeep: bool = False
    # Where the library's program measures the floor too, by turns with itself: the line to read.
    floor_line: str | None = None


# How many tuples a long queue has before the first is taken.
LONG = 10_000

TABLE = [
    Work("write", "write", ("leading", 5000), 1.5, "one", "write", (), {"redis": 20, "sqlite": 5, "rinda": 100},
         has_upkeep=True, has_ring=True),
    Work("take by the first field", "take leading", ("leading", 5000), 1.5, "one", "take", (),
         {"redis": 20, "sqlite": 5, "rinda": 100}, has_upkeep=True, has_ring=True),
    Work("take by another field", "take other", ("other", 5000), 1.7, has_upkeep=True),
    Work("get a cell", "get", ("get", 100000), 2.0),
    Work("get the same cell again", "poll", ("poll", 100000), 0.3),
    Work("read a tuple", "read", ("read", 40000), 2.5),
    Work("write 100 in a batch, each", "batch", ("batch", 40000), 1.5),
    *(
        Work(f"{name}, {length:,} tuples waiting", f"queue {line}", ("queue", 2000, length), has_upkeep=True,
             has_ring=line != "claim")
        for length in (0, 10, 1000, 100_000)
        for name, line in (("write", "write"), ("take", "take"), ("claim and complete", "claim"))
    ),
    *(
        Work(f"{name} {size} MiB{more}", f"value {line}", ("values", count, size << 20), has_upkeep=True)
        for size, count in ((1, 100), (16, 8))
        for name, line, more in (
            ("write", "write", ""),
            # The median leaves out the blocks that are reserved now and then.
            ("write", "write, mean", ", on average"),
            ("read", "read", ""),
            ("take", "take", ""),
            ("write", "write again", ", on freed pages"),
        )
    ),
    Work("hand-off and back, spinning", "hand-off spinning", ("hand-off-spinning", 5000), 1.5, "ping-pong", "hand-off",
         has_ring=True),
    Work("hand-off and back, sleeping", "hand-off sleeping", ("hand-off-sleeping", 300), 1.2, "ping-pong",
         "hand-off sleeping", (), {"redis": 1, "sqlite": 1, "rinda": 1, "beanstalkd": 1, "mq": 1 / 1.2}, has_ring=True),
    *(
        Work(f"{name}{more}", f"{line}{mean}", (f"long-{work}", 5000, LONG), None if mean else target, has_upkeep=True)
        for name, line, work, target in (
            ("take, a long queue", "long take", "take", 0.6),
            ("claim and complete, a long queue", "long claim", "claim", 0.5),
            ("take, a long queue behind 100 other tuples", "long take behind others", "behind", None),
            ("take, two long queues by turns", "long take by turns", "turns", None),
            ("claim and complete, one in 20 released, a long queue", "long claim with releases", "released", None),
            ("claim and complete, one in 10 with a deadline, a long queue", "long claim with deadlines", "deadlines", None),
        )
        # The median leaves out what is done for many at once.
        for mean, more in (("", ""), (", mean", ", on average"))
    ),
    Work("claim and complete", "claim", ("claim", 5000), 2.0, "claim", "claim", (), {"beanstalkd": 10}),
    Work("durable write, 16 threads", "durable", ("durable", 3200), 0.1, on_disk=True),
    *(
        Work(f"{name}, {where}", f"{line}, {placement}", (f"notice-{placement}", 100), target,
             floor_line=f"bare, {placement}")
        for placement, where in (("apart", "another processor"), ("together", "the same processor"))
        for name, line, target in (
            ("commit to a watcher's callback", "callback", 1.5),
            ("commit to a callback, one of 1,000", "callback, one of 1,000", None),
            ("commit to a callback on an actor", "callback on an actor", None),
            ("commit to a task that awaits changes", "sequence", None),
            ("a commit without watchers", "commit alone", None),
        )
    ),
]

# Without a floor: the library's own times are compared.
LOCK = Work("lock and unlock", "lock", ("lock", 5000), has_floor=False)

MESSAGES = 100_000
CROWDS = [
    Work(f"{producers} to {takers} processes, a message", "crowd", ("crowd", MESSAGES, producers, takers), None, "crowd",
         "crowd", (producers, takers), targets, has_floor=False, has_ring=True)
    for producers, takers, targets in (
        (1, 1, {"mq": 1}), (1, 4, {}), (2, 2, {"mq": 1}), (4, 1, {}), (4, 4, {"mq": 1 / 1.5})
    )
]
# The same with a queue that is longer than the near end before the first message is taken.
SPILLED = [
    Work(f"{work.name}, spilled once", "crowd", ("crowd-spilled", *work.words[1:]), has_floor=False)
    for work in CROWDS if work.peer_words in ((1, 1), (2, 2), (4, 4))
]


HOGGED = ", two hogs a processor"


def with_hogs(work):
    """The same work with two hogs a processor: as many messages as of a crowd, which a limit in time may cut short."""
    name, _, *more = work.words
    return replace(
        work, name=work.name + HOGGED, words=(name, MESSAGES, *more), target=None,
        peer_targets=work.peer_targets if work.line == "crowd" else {}, has_floor=False, has_ring=False,
    )


HOGS = [with_hogs(work) for work in (*TABLE, *CROWDS, *SPILLED) if work.line.startswith(("hand-off", "crowd"))]
# Rinda's program knows no limit in time.
HOG_PEERS = ("redis", "sqlite", "beanstalkd", "mq", "boost", "unix", "zmq")

# Waiters of one other process that are served one after the other.
SERVED = [
    Work(f"3,000 {kind} that match, {name}", f"served {kind}{line}", (f"served-{kind}", 3000), has_floor=False,
         has_ring=kind == "threads")
    for kind in ("threads", "tasks")
    for name, line in (("the time of all ÷ 3,000", ", all"), ("from a tuple's write to the take's return", ""))
]

# Measured by the driver: it has no words. Processes that wait for what never comes.
IDLERS = 200
IDLE = Work(f"processor time of {IDLERS} idle waiting processes, in 10 s", "", (), has_floor=False)

# How many operations a peer is asked for: enough for a median, no more than a second's worth.
PEER_COUNTS = {
    "redis": {"one": 4000, "ping-pong": 400, "claim": 2000, "crowd": 8000},
    "sqlite": {"one": 4000, "ping-pong": 400, "claim": 2000, "crowd": 8000},
    "beanstalkd": {"one": 4000, "ping-pong": 400, "claim": 2000, "crowd": 8000},
    "mq": {"one": 20000, "ping-pong": 1200, "crowd": MESSAGES},
    "boost": {"one": 20000, "ping-pong": 1200, "crowd": MESSAGES},
    "unix": {"one": 20000, "ping-pong": 1200, "crowd": MESSAGES},
    "zmq": {"ping-pong": 1200, "crowd": MESSAGES},
    "rinda": {"one": 300, "ping-pong": 120, "crowd": 400},
}
PEERS = list(PEER_COUNTS)

# (kind, sizes of a quick run, further sizes of a full run), and the lines that are drawn.
GROWTH = {
    "tuples": ([0, 10_000, 1_000_000], [5_000_000]),
    "waiters": ([0, 1, 10, 1000], []),
    "namespaces": ([1, 100, 500], []),
    "values": ([64, 4096, 1 << 20], []),
    "ordered-set": ([1000, 100_000], []),
    # Writes and takes, with a thousand tuples alive: the size of the file.
    "churn": ([10_000, 1_000_000], []),
    # So many rounds; the lines say how many watchers.
    "watchers": ([], [20]),
}

# Lines of the above that are not times.
COUNTED = ("RSS bytes", "descriptors", "file bytes")
