"""What `import sharedspace` imports, and what comes later."""

import pickle
import subprocess
import sys

import pytest
import sharedspace


def run(code):
    """What a new interpreter prints; its first line is the modules that the import of the package has added."""
    listing = "import sys; before = {*sys.modules}; import sharedspace; print(*sorted({*sys.modules} - before))\n"
    done = subprocess.run([sys.executable, "-c", listing + code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def test_an_import_loads_none_of_the_modules_that_take_long():
    added = run("")[0].split()
    assert "sharedspace._sharedspace" in added
    assert {one for one in added if not one.startswith("sharedspace")} <= {"__future__", "errno"}


def test_what_is_used_most_needs_none_of_them_either(shared_space):
    code = """
ns = sharedspace.Space().namespace("test")
ns.write("x", 1, 2.0)
with ns.claim("x", int, float), ns.lock("l"):
    assert ns.queue("q").get() is None and ns.counter("c").add() == 1
ns.set("k", [1])
print(*sorted(one for one in {*sys.modules} - before if not one.startswith("sharedspace")))
"""
    assert set(run(code)[1].split()) <= {"__future__", "errno"}


def test_every_name_is_there_and_in_dir():
    names = set(sharedspace.__all__)
    assert names <= set(run("print(*dir(sharedspace))")[1].split())
    assert set(run("from sharedspace import *; print(*globals())")[1].split()) >= names
    with pytest.raises(AttributeError, match="nothing"):
        sharedspace.nothing  # noqa: B018


@pytest.mark.parametrize("name", sorted(sharedspace._LATER))
def test_a_name_is_imported_when_it_is_asked_for(name):
    # The same object every time, and the one that its module has.
    code = f"print(sharedspace.{name} is sharedspace.{name} is sys.modules['sharedspace.{sharedspace._LATER[name]}'].{name})"
    assert run(code)[1] == "True"


def test_results_are_pickled(ns):
    ns.write("x")
    with ns.claim("x"), ns.election("primary", 1) as election:
        seen, leader = ns.claimed()[0], election.leader()
    ns.queue("q").put("one")
    for result in (seen, leader, ns.queue("q").items()[0], sharedspace.Between(1, 2), sharedspace.rest):
        assert pickle.loads(pickle.dumps(result)) == result
    assert seen.tuple == ("x",) and leader.value == 1


@pytest.mark.parametrize(
    "field, template",
    [("uuid.UUID(int=7)", "uuid.UUID"), ("bytearray(b'x')", "bytes"), ("(1,)", "tuple"), ("'x'", "re.compile('^x')")],
)
def test_fields_that_the_extension_asks_about_are_the_first_that_a_process_uses(shared_space, field, template):
    code = f"""
import re, uuid
ns = sharedspace.Space().namespace("test")
ns.write("x", {field})
print(ns.take("x", {template}) is not None)
"""
    assert run(code)[1] == "True"


def test_a_uuid_comes_to_a_process_that_has_not_imported_the_module(ns):
    import uuid

    ns.write("x", uuid.UUID(int=7))
    assert run("print(repr(sharedspace.Space().namespace('test').take()[1].int))")[1] == "7"
