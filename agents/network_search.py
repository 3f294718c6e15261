"""A network with search: `pimc:policy=ppo` tries the cards that its policy thinks of in sampled worlds.

The network is the prior (cards that it hardly ever plays are not tried), the policy of all seats after the card, and
the judge of where that leads (its critic, which sees all hands, at the mover's next decision); with `weigh=policy` it
says how probable the others' plays make each world. Needs the extra `train`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.errors import OptionError
from ..envs.game import Game
from .loader import load_agent
from .pimc import Searching
from .playing_on import play_on
from .worlds import Likely


class NetworkPIMC(Searching):
    """Perfect-information Monte Carlo by a network.

    Args:
        game: The game.
        policy: A network's agent: `ppo`, or `ppo:PATH`.
        worlds: Worlds a move.
        turns: Own decisions after which the critic judges; 0 plays on to the end of the deal.
        prior: Cards that the policy plays less often than that are not tried.
        weigh: Agent by which worlds are weighed: how probable it makes what the others played; `policy` is the network
            itself, nothing leaves all worlds alike.
        caution: Standard errors by which a card must be better than the policy's own.

    Raises:
        OptionError: an agent that is no network, or numbers that make no sense.
    """

    def __init__(
        self,
        game: Game,
        policy: str = "ppo",
        worlds: int = 30,
        turns: int = 1,
        prior: float = 0.01,
        weigh: str = "",
        caution: float = 1.0,
    ) -> None:
        super().__init__(f"pimc:policy={policy},worlds={worlds}", game)
        if worlds < 1 or turns < 0 or not 0 <= prior < 1:
            raise OptionError(
                f"pimc:worlds={worlds},turns={turns},prior={prior} is not valid. Valid: worlds from 1, turns from 0, "
                "prior from 0 to below 1"
            )
        self.policy: Any = load_agent(policy, game)
        if not hasattr(self.policy, "values"):
            raise OptionError(f"pimc:policy={policy} is no network. Valid: ppo, or ppo:PATH")
        self.count, self.turns, self.prior, self.caution = worlds, turns, prior, caution
        self.likely = Likely(self.policy if weigh == "policy" else load_agent(weigh, game)) if weigh else None

    def search(self, view: np.ndarray, cards: np.ndarray, key: np.uint64) -> int:
        """The best card; the policy's own one unless another is better by more than chance would have it."""
        log_p = self.policy.log_probabilities(view)[0]
        own = int(np.searchsorted(cards, log_p.argmax(), "right") - 1)  # of cards worth the same the one tried
        tried = np.flatnonzero((np.exp(log_p[cards]) >= self.prior) | (np.arange(len(cards)) == own))
        if len(tried) == 1:
            return int(cards[own])
        payoffs = self.payoffs(view, cards[tried], key)
        gain = payoffs - payoffs[:, tried == own]
        error = gain.std(0) / np.sqrt(max(len(gain) - 1, 1))
        return int(cards[tried[(gain.mean(0) - self.caution * error).argmax()]])

    def payoffs(self, view: np.ndarray, cards: np.ndarray, key: np.uint64) -> np.ndarray:
        """Payoff f64[W, C] of each card in each world, in units of a whole deal."""
        worlds = self.worlds(view, key, self.count)
        states, first = np.repeat(worlds, len(cards)), np.tile(cards, len(worlds))
        return play_on(self.game, self.policy, states, first, turns=self.turns).reshape(len(worlds), len(cards))
