"""Ways to make any agent shun the moon, or give it up at a trick, for comparisons on the same deal."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..agents import load_agent
from ..agents.moon_features import column, moon_features

HALF = 7  # penalty cards: with so many alone, one is on the way to the moon


class Shunning:
    """An agent that stops when it is on the way to the moon: from then on it plays as `rules` that never shoot.

    On the way is who alone has half of the penalty cards; what the agent planned before that is its own affair.
    """

    def __init__(self, agent: Any) -> None:
        self.agent, self.name = agent, f"{agent.name} shunning"
        self.rules = load_agent("rules", aim="never")

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        rows = moon_features(views)
        taken = rows[:, column("hearts_taken")] + rows[:, column("queen_taken")]
        return _either((rows[:, column("possible")] > 0) & (taken >= HALF), self.rules, self.agent, views, keys)


class Until:
    """An agent up to a trick and another one from it on, such as one that goes for the moon and gives up there."""

    def __init__(self, before: Any, after: Any, trick: int) -> None:
        self.before, self.after, self.trick = before, after, trick
        self.name = f"{before.name} until {trick}"

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return _either(views["trick_number"] >= self.trick, self.after, self.before, views, keys)


def _either(first: np.ndarray, agent: Any, other: Any, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """Cards of one agent where `first` bool[N], of the other elsewhere."""
    cards = np.empty(len(views), np.int64)
    for who, which in ((agent, np.flatnonzero(first)), (other, np.flatnonzero(~first))):
        if len(which):
            cards[which] = who.act(views[which], keys[which])
    return cards
