"""The Python of README and of the article, run as it stands."""

import pathlib
import re
import sys

import pytest
import sharedspace
import sharedspace.compat  # noqa: F401

ROOT = pathlib.Path(__file__).resolve().parents[3]
DOCUMENTS = ["README.md", "tools/python/README.md", "Sources/SharedSpace/SharedSpace.docc/Python.md"]


def blocks(document):
    return re.findall(r"^```python\n(.*?)^```$", (ROOT / document).read_text(), re.MULTILINE | re.DOTALL)


def needs(block):
    """A block that asks for more than the oldest Python has."""
    return (3, 11) if "asyncio.timeout" in block else (3, 10)


def with_checks(block):
    """The block, with each expression whose comment says its value turned into a check."""
    lines = []
    for line in block.splitlines():
        said = re.match(r"^(\S.*\S)\s+# (.*)$", line)
        if said and re.match(r"^(jobs|total|queue)\.(?!set_start)[a-z_.]+(\(.*\))?$", said[1]):
            lines.append(f"check(({said[1]}), {said[2].split(';')[0]!r})")
        else:
            lines.append(line)
    return "\n".join(lines)


@pytest.mark.parametrize("document", DOCUMENTS)
def test_a_document_runs(child, document):
    found = [block for block in blocks(document) if needs(block) <= sys.version_info]
    assert found
    program = child("exec(sys.stdin.read(), globals())", document)
    checks = "checked = []\ndef check(value, said):\n    checked.append(said)\n    assert repr(value) == said, (value, said)\n"
    source = checks + "\n".join(map(with_checks, found)) + "\nprint('checked', len(checked))\n"
    out, error = program.process.communicate(source.encode(), timeout=60)
    assert program.process.returncode == 0, error.decode()
    assert int(out.decode().split()[-1]) >= (10 if "docc" in document else 0)
    for printed in re.findall(r"print\(.*\) +# (.*)", "\n".join(found)):
        assert printed in out.decode()


def snippets():
    """What the article "Coming from" names of this package: calls, and names without one."""
    text = (ROOT / "Sources/SharedSpace/SharedSpace.docc/ComingFrom.md").read_text()
    parts = [part for part in text.split("\n## ") if part.startswith(("multiprocessing", "filelock"))]
    assert len(parts) == 2
    rows = [line.split(" | ")[-1] for part in parts for line in part.splitlines() if line.startswith("| ")]
    found = [code for row in rows for code in re.findall("`([^`]*)`", row) if "…" not in code and "=)" not in code]
    # What is said of a queue, an item or a lock stands there without it.
    ours = r"(ns|q|item|lock|sharedspace)\.|Space\(|put\(|with|for"
    return [re.sub(r"^put\(", "q.put(", code) for code in found if re.match(ours, code)]


def test_what_coming_from_names_is_there(ns, shared_space, tmp_path):
    assert len(snippets()) > 35
    ns.write("state", "ready")
    known = {"ns": ns, "q": ns.queue("q"), "Space": sharedspace.Space, "sharedspace": sharedspace}
    known |= {"job": {"number": 1}, "jobs": [("x",), ("y",)], "pid": 1, "x": 1, "v": 1}
    known |= {"root": tmp_path / "root", "path": tmp_path / "lock"}
    with ns.lock("of the article") as known["lock"]:
        for code in snippets():
            if code.startswith("item."):
                known["item"] = known["q"].get()
            opened = f"{code}: break" if code.startswith("for") else f"{code}: pass" if code.startswith("with") else code
            exec(opened, dict(known))
    assert ns.count("to", 1, 1) == 0 and ns.get("n") == 1 and ns.get("k") == 1
    with pytest.raises(AttributeError):
        exec("ns.is_not_there", known)


def test_a_check_of_a_document_can_fail():
    assert "check((jobs.add(1)), '2')" in with_checks("jobs.add(1)   # 2; of all")
