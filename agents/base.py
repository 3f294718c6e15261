"""What an agent is: something that chooses a card for each of many views."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class Agent(Protocol):
    """Chooses cards. What `act` returns for a view does not depend on the other views it is asked for."""

    name: str

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Cards int64[N] for views [N] (structured), whose observers are to move.

        Args:
            views: What each mover may know; see the state dtype of the game.
            keys: uint64[N], the only source of an agent's own random draws; constant over a deal, so mix in
                the number of cards played where a draw is needed for every card.
        """
        ...


class KernelAgent:
    """An agent whose choice is one numba kernel over a batch of views: `choose(views, keys, out)`."""

    def __init__(self, name: str, choose: Any) -> None:
        self.name = name
        self._choose = choose

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        out = np.empty(len(views), np.int64)
        self._choose(views, keys, out)
        return out
