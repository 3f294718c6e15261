"""What an agent is: something that chooses a card for each of many views."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..envs.errors import IllegalCardError
from ..envs.game import Game
from ..envs.jit import bind


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


def checked_act(agent: Agent, game: Game, views: np.ndarray, keys: np.ndarray, legal: np.ndarray) -> np.ndarray:
    """An agent's cards int64[N], refused unless each is one of the `legal` sets int64[N].

    Raises:
        IllegalCardError: an illegal card, or an answer that is no array of N whole numbers; the agent is named.
    """
    cards = np.asarray(agent.act(views, keys))
    name = getattr(agent, "name", type(agent).__name__)
    if cards.dtype.kind not in "iu" or cards.shape != (len(views),):
        raise IllegalCardError(
            f"agent {name!r} returned {cards.dtype}{list(cards.shape)} for {len(views)} views. Valid: one integer each"
        )
    inside = (cards >= 0) & (cards < game.deck.size)
    wrong = ~inside | (legal >> np.where(inside, cards, 0).astype(np.int64) & 1 == 0)
    if wrong.any():
        first = int(np.flatnonzero(wrong)[0])
        valid = ", ".join(game.deck.names(int(legal[first])))
        raise IllegalCardError(f"agent {name!r} played the illegal action {cards[first]}. Legal: {valid}")
    return cards.astype(np.int64)


class KernelAgent:
    """An agent whose choice is one numba kernel over a batch of views: `choose(views, keys, out)`."""

    def __init__(self, name: str, choose: Any) -> None:
        self.name = name
        self._choose = choose

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        out = np.empty(len(views), np.int64)
        self._choose(views, keys, out)
        return out


choose_card: Any = None  # bound by `kernel_agent`


def choose(views: Any, keys: Any, out: Any) -> None:
    """One card for each view; the loop of every agent that is a kernel."""
    for i in range(len(views)):
        out[i] = choose_card(views[i], keys[i])


def kernel_agent(name: str, game: str, card_kernel: Any) -> KernelAgent:
    """An agent from a kernel `card = f(view, key)`."""
    return KernelAgent(name, bind(choose, f"{game}_{name}", choose_card=card_kernel))
