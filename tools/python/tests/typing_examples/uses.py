"""Uses of the package, with the types that a checker must find. Never run."""

import dataclasses
import enum
import re
import uuid
from typing import Any

import sharedspace
from sharedspace import Between, Claim, Item, Lock, either, rest
from sharedspace.compat import FileLock, Queue
from typing_extensions import assert_type


@dataclasses.dataclass
class Job:
    number: int
    file: str


class Shade(enum.Enum):
    DARK = "dark"


ns = sharedspace.Space("/tmp/x").namespace("jobs")

assert_type(ns.write("resize", 42, 1.5, None, True, b"x", uuid.uuid4(), [1, [2]], {"a": {"b": 1}}), int)
assert_type(ns.write(Job(1, "a")), int)
assert_type(ns.write("paint", Shade.DARK, [Shade.DARK]), int)
assert_type(ns.take("paint", Shade.DARK, list), tuple[Any, ...] | None)
assert_type(ns.write({"a": 1}, expires=5), int)
assert_type(ns.write_all([("a", 1), ["b"]]), list[int])
assert_type(ns.write_all([Job(1, "a")]), list[int])

assert_type(
    ns.take("resize", int, str, ..., range(1, 9), re.compile("x"), Between(1, None), uuid.UUID, rest),
    tuple[Any, ...] | None,
)
assert_type(ns.take("resize", int, timeout=None), tuple[Any, ...])
assert_type(ns.take(either(("a",), ("b", int)), timeout=1.5), tuple[Any, ...] | None)
assert_type(ns.take(Job), Job | None)
assert_type(ns.read(Job, timeout=None), Job)
assert_type(ns.read({"kind": str}), dict[str, Any] | None)
assert_type(ns.read_all(Job), list[Job])
assert_type(ns.take_all("resize", int), list[tuple[Any, ...]])
assert_type(ns.count("resize", int), int)
ns.take("resize", timout=1)  # type: ignore[call-overload]
ns.write(object())  # type: ignore[arg-type]

claim = ns.claim(Job)
if claim is not None:
    assert_type(claim, Claim[Job])
    with claim as job:
        assert_type(job.tuple, Job)
with ns.claim("resize", int, timeout=None) as one:
    assert_type(one.tuple, tuple[Any, ...])
    one.extend(5)
for found in ns.claims("resize", int):
    found.release(delay=1)

assert_type(ns.set("k", 1, if_absent=True), bool)
assert_type(ns.add("k"), int)
with ns.transaction() as t:
    total = t.add("n")
assert_type(total.result, int)

with ns.lock("a", "b", timeout=5) as lock:
    assert_type(lock, Lock)
    assert_type(lock.fencing, int)
assert_type(ns.queue("mail").get(timeout=None), Item)
assert_type(ns.queue("mail").get(), Item | None)
assert_type(ns.queue("mail").put(1, unique="x", if_present="replace"), int)
ns.queue("mail").put(1, priority="high")  # type: ignore[arg-type]
ns.queue("mail").put(1, if_present="no")  # type: ignore[arg-type]
ns.queue("mail").put(1, priorty=5)  # type: ignore[call-arg]
assert_type(ns.versioned("k"), tuple[Any, int] | None)
assert_type(ns.latch("ready", 2).count_down(), int)
assert_type(ns.election("primary").leader(), sharedspace.Leader | None)
assert_type(ns.ordered_set("songs").append("Blue"), int)
assert_type(ns.claimed("resize", int)[0].pid, int)
with ns.respond("double") as responder:
    for request in responder:
        request.reply(request.argument)
with ns.watch("x") as watch:
    for change in watch:
        assert_type(change.event, str)
    assert_type(watch.next(1.0), sharedspace.Change | None)


async def main() -> None:
    assert_type(await ns.aio.take("resize", int), tuple[Any, ...] | None)
    assert_type(await ns.aio.take(Job), Job | None)
    async with ns.aio.claim(Job, timeout=None) as job:
        assert_type(job.tuple, Job)
    assert_type(await ns.aio.queue("mail").put(1, unique="x", if_present="again"), int)
    await ns.aio.queue("mail").put(1, priority="high")  # type: ignore[arg-type]
    await ns.aio.queue("mail").put(1, timeout=5)  # type: ignore[call-arg]
    async with ns.aio.lock("a") as lock:
        assert_type(lock, Lock)
    async for change in ns.aio.watch():
        assert_type(change, sharedspace.Change)


Queue(5).put(1, timeout=2)
with FileLock("/tmp/x", timeout=1) as held:
    assert_type(held, FileLock)
