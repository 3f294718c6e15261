"""The trained agents that come with the package: one network for each game and number of players."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..envs.errors import OptionError
from ..envs.game import Game
from .checkpoint import load_network_agent
from .network import NetworkAgent

WEIGHTS = Path(__file__).parent / "weights"


def weights_path(game: Game, players: int, folder: Path = WEIGHTS, goal: str = "payoff") -> Path:
    """The file of a shipped agent; those with a goal other than the payoff have it in their names."""
    suffix = "" if goal == "payoff" else "_" + goal.replace("=", "_")
    return folder / f"{game.name}{players}{suffix}.safetensors"


class ShippedAgent:
    """`ppo`: the network for the number of players at the table, whatever its other rules.

    Args:
        game: What is played.
        sample: Draw from the policy (keyed) instead of taking the most probable card.
        goal: What it was trained for: the deal's `payoff`, or in Herzeln with four players `moon=self`.
        options: Rule options of the table, such as `players=3`; the network for these players is loaded at once.

    Raises:
        OptionError: rule options that the game does not have, or no network for that number of players and goal.
    """

    def __init__(self, game: Game, sample: bool = False, goal: str = "payoff", **options: Any) -> None:
        self.name, self.game, self.sample, self.goal = "ppo", game, sample, goal
        self._agents: dict[int, NetworkAgent] = {}
        if options:
            self.at_table(game.options(**options).players)

    def at_table(self, players: int) -> NetworkAgent:
        """The agent for a number of players."""
        if players not in self._agents:
            path = weights_path(self.game, players, goal=self.goal)
            if not path.is_file():
                there = sorted(file.stem for file in WEIGHTS.glob(f"{self.game.name}*.safetensors"))
                raise OptionError(
                    f"no agent 'ppo' is shipped for {self.game.name} with {players} players and goal {self.goal!r}. "
                    f"Valid: {', '.join(there) or 'none'}, or ppo:PATH"
                )
            self._agents[players] = load_network_agent(path, self.game, self.sample)
        return self._agents[players]

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Cards int64[N] for views [N]."""
        return self._for(views).act(views, keys)

    def log_probabilities(self, views: np.ndarray) -> np.ndarray:
        """f32[N, A]: log-probability of each card."""
        return self._for(views).log_probabilities(views)

    def values(self, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
        """f32[N]: see `NetworkAgent.values`."""
        return self._for(states).values(states, seats)

    def expected_payoff(self, states: np.ndarray) -> np.ndarray:
        """f32[N, P]: see `NetworkAgent.expected_payoff`."""
        return self._for(states).expected_payoff(states)

    def explain(self, view: np.void) -> dict[str, Any]:
        """What the network makes of a view; see `NetworkAgent.explain`."""
        return self._for(np.atleast_1d(np.asarray(view))).explain(view)

    def _for(self, records: np.ndarray) -> NetworkAgent:
        return self.at_table(int(records["players"][0]) if len(records) else 4)
