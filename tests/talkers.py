"""Agents that say what they think, for the tests of explanations."""

from __future__ import annotations

from typing import Any

import numpy as np

from stich.agents import load_agent
from stich.envs.game import get_game


class Talker:
    """Plays as `random` and says something of everything."""

    name = "talker"

    def __init__(self, game: str) -> None:
        self.game = get_game(game)
        self.chance = load_agent("random", game=game)

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return self.chance.act(views, keys)

    def explain(self, view: np.ndarray) -> dict[str, Any]:
        mask = self.game.masks(view)[0]
        return {
            "probabilities": mask / mask.sum(),
            "value": np.float32(-1.5),
            "points": {0: 0.25, 26: 0.75},
            "moon": np.array([0.125]),
            "mood": "fine",  # unknown things are left out
        }


class Named(Talker):
    """The same by names of cards, and points as an array."""

    name = "named"

    def explain(self, view: np.ndarray) -> dict[str, Any]:
        cards = np.flatnonzero(self.game.masks(view)[0])
        return {
            "probabilities": {self.game.deck.name(int(card)): 1 / len(cards) for card in cards},
            "points": [0.5, 0.5],
        }
