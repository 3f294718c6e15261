"""The recipes with other libraries, `docs/recipes`: at smoke size that they run to the end, by night what they reach.

Each is skipped where its library is not installed.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest
from helpers import NIGHTLY

RECIPES = Path(__file__).resolve().parent.parent / "docs" / "recipes"
LIBRARIES = {
    "sb3_maskable_ppo": ["sb3_contrib"],
    "openspiel_table": ["pyspiel"],
    "tianshou_dqn": ["tianshou"],
    "torchrl_ppo": ["torchrl", "supersuit"],
}
SMOKE = {"openspiel_table": "--deals 2 --games 4 --simulations 4"}
PAYOFF = re.compile(r"(\w+\S*) and (.+), .+ payoff [+-][\d.]+ \(([+-][\d.]+) to [+-][\d.]+\)")

pytestmark = pytest.mark.interop


def recipes() -> list[str]:
    """The names of the recipes."""
    return sorted(path.stem for path in RECIPES.glob("*.py") if path.stem != "common")


def installed(library: str) -> bool:
    """Whether a library can be imported."""
    try:
        return importlib.util.find_spec(library) is not None
    except ModuleNotFoundError:
        return False


def test_every_recipe_is_in_the_table() -> None:
    table = (RECIPES / "README.md").read_text()
    for name in recipes():
        assert name in LIBRARIES
        assert f"{name}.py" in table


@pytest.mark.parametrize("name", recipes())
def test_recipe(name: str) -> None:
    """It plays to the end; by night it beats random, with the whole interval above 0."""
    for library in LIBRARIES[name]:
        if not installed(library):
            pytest.skip(f"{library} is not installed")
    words = [] if NIGHTLY else SMOKE.get(name, "--minutes 0.05 --deals 4").split()
    command = [sys.executable, str(RECIPES / f"{name}.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    lows = [float(low) for _, opponent, low in PAYOFF.findall(done.stdout) if "random" in opponent]
    assert lows, done.stdout
    if NIGHTLY:
        assert min(lows) > 0, done.stdout
