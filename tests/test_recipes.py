"""The recipes with other libraries, `docs/recipes`: at smoke size that they run to the end, by night what they reach.

Each is skipped where its library is not installed.
"""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from helpers import NIGHTLY

RECIPES = Path(__file__).resolve().parent.parent / "docs" / "recipes"
LIBRARIES = {
    "sb3_maskable_ppo": ["sb3_contrib"],
    "openspiel_table": ["pyspiel"],
    "rllib_ppo": ["ray", "tree"],  # Ray without RLlib has no tree
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


def need(name: str) -> None:
    """Skip where a library of a recipe is not installed."""
    for library in LIBRARIES[name]:
        if not installed(library):
            pytest.skip(f"{library} is not installed")


def test_every_recipe_is_in_the_table() -> None:
    table = (RECIPES / "README.md").read_text()
    for name in recipes():
        assert name in LIBRARIES
        assert f"{name}.py" in table


@pytest.mark.parametrize("name", recipes())
def test_recipe(name: str) -> None:
    """It plays to the end; by night it beats random, with the whole interval above 0."""
    need(name)
    words = [] if NIGHTLY else SMOKE.get(name, "--minutes 0.05 --deals 4").split()
    command = [sys.executable, str(RECIPES / f"{name}.py"), *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=1800, check=False)
    if "timed out during startup" in done.stderr:  # Ray waits for its own processes for 30 seconds, never longer
        pytest.skip("this machine is too busy for Ray to start")
    assert done.returncode == 0, done.stderr[-2000:]
    lows = [float(low) for _, opponent, low in PAYOFF.findall(done.stdout) if "random" in opponent]
    assert lows, done.stdout
    if NIGHTLY:
        assert min(lows) > 0, done.stdout


def payoffs(game: str, score: np.ndarray) -> np.ndarray:
    """f32[P]: what the deal pays, from its final score."""
    if game == "herzeln":
        return ((score.sum() - score) / 3 - score) / 26
    return (score - np.roll(score, 1)) / 140


@pytest.mark.parametrize("game", ["herzeln", "viersche"])
def test_rllib_pays_every_seat(game: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What RLlib learns from: each seat's own cards, and with the last of them the deal's payoff, whoever ends it."""
    need("rllib_ppo")
    monkeypatch.syspath_prepend(RECIPES)
    import rllib_ppo  # pyright: ignore[reportMissingImports]
    from ray.rllib.env.multi_agent_env_runner import MultiAgentEnvRunner  # pyright: ignore[reportMissingImports]

    runner = MultiAgentEnvRunner(config=rllib_ppo.ppo(game).env_runners(num_envs_per_env_runner=2))
    first_hands = set()
    for _ in range(2):
        for episode, env in zip(runner.sample(), runner.env.envs, strict=True):
            paid = payoffs(game, env.unwrapped.env.unwrapped.final_score())
            assert paid.any()
            assert len(episode.agent_episodes) == 4
            for seat, name in enumerate(env.unwrapped.env.possible_agents):
                own = episode.agent_episodes[name]
                assert own.is_terminated
                assert len(own) == len(own.get_actions()) == {"herzeln": 13, "viersche": 9}[game]
                assert not np.any(own.get_rewards()[:-1])
                assert own.get_rewards()[-1] == pytest.approx(paid[seat], abs=1e-6)
                first_hands.add(own.get_observations(0)["observation"].tobytes())
    assert len(first_hands) == 2 * 2 * 4  # other cards at every table and every time
