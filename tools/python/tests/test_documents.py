"""The Python of README and of the article, run as it stands."""

import pathlib
import re
import sys

import pytest

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


def test_a_check_of_a_document_can_fail():
    assert "check((jobs.add(1)), '2')" in with_checks("jobs.add(1)   # 2; of all")
