"""The programs in recipes/."""

import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parents[1] / "recipes"
PRINTED = {
    "pool": f"{sum(n * n for n in range(20))}",
    "leader": "ada bob cyd True",
    "pipeline": str(sorted(f"page {n}" for n in range(10))),
    "once": "done, done, ran twice in this hour",
    "gpus": "[0, 1, 2, 4, 5]\nfree again: [0, 1]",
    "test_with_xdist": "12 passed",
    "warm_cache": "[1, 1, 1] [0, 0, 0, 0]",
    "build_farm": "build ada\nupgrade, fencing number True",
    "survivor": "True 0",
}


def test_every_recipe_is_tested():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(PRINTED)


@pytest.mark.parametrize("name", PRINTED)
def test_a_recipe_prints_what_it_should(shared_space, name):
    done = subprocess.run([sys.executable, FOLDER / f"{name}.py"], capture_output=True, text=True, timeout=100)
    assert (done.stdout.strip(), done.returncode) == (PRINTED[name], 0), done.stderr
    assert shared_space.names() == []
