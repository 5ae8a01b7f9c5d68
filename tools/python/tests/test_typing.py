"""The types: of the package, of uses of it, and of the extension against its stub."""

import pathlib
import subprocess
import sys

import pytest
import sharedspace

pytest.importorskip("mypy")
PACKAGE = pathlib.Path(sharedspace.__file__).parent
OPTIONS = ["--strict", "--python-version", "3.10", "--cache-dir"]


def run(tmp_path, *arguments):
    done = subprocess.run([sys.executable, "-m", *arguments], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_is_typed(tmp_path):
    run(tmp_path, "mypy", *OPTIONS, str(tmp_path / "cache"), "--package", "sharedspace")


def test_uses_have_the_types_they_should(tmp_path):
    run(
        tmp_path,
        "mypy",
        *OPTIONS,
        str(tmp_path / "cache"),
        str(pathlib.Path(__file__).parent / "typing_examples" / "uses.py"),
    )


def test_the_stub_says_what_the_extension_has(tmp_path):
    run(tmp_path, "mypy.stubtest", "sharedspace._sharedspace")
