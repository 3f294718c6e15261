"""`moon:worlds=20,aim=always`: search in sampled worlds with a will of its own about shooting the moon.

As `pimc`, but what counts in a play-out depends on `aim`. `always`: whether this seat has taken all penalty cards, as
long as that happens in any world, then the payoff. `never`: the payoff, own moons counted as 26 points that are kept.
`free`: the payoff. The play-outs are by the rule-based agent, at the own seat with the same aim.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs import herzeln
from ..envs.bits import lowest, popcount
from ..envs.errors import OptionError, unknown
from ..envs.game import Game
from ..envs.jit import entry, kernel
from ..envs.state import DEAL_OVER
from .loader import load_agent
from .pimc import Searching
from .rules_herzeln import AIMS, ALWAYS, FREE, NEVER, rules_card
from .search import PAYOFF


@kernel
def play_on(state: Any, view: Any, own: int, aim: int) -> None:
    """Play a state to the end of its deal by `rules`, one seat of them with an aim; `view` is overwritten."""
    while state.phase < DEAL_OVER:
        cards = herzeln.legal(state)
        if popcount(cards) == 1:
            herzeln.play(state, lowest(cards))
        else:
            view[0] = state
            herzeln.conceal(view[0], state.seat)
            herzeln.play(state, rules_card(view[0], aim if state.seat == own else FREE, True))


@entry
def try_cards(worlds: Any, cards: Any, aim: int, scratch: Any, payoffs: Any, moons: Any) -> None:
    """Play each card [C] in each world [W] and on: the mover's payoffs f64[W, C], and whether it shot the moon."""
    reward = np.zeros(4)
    for w in range(len(worlds)):
        for c in range(len(cards)):
            scratch[0] = worlds[w]
            seat = np.int64(scratch[0].seat)
            herzeln.play(scratch[0], cards[c])
            play_on(scratch[0], scratch[1:2], seat, aim)
            herzeln.rewards(scratch[0], PAYOFF, reward)
            payoffs[w, c] = reward[seat]
            moons[w, c] = scratch[0].moon_seat == seat


class MoonSearch(Searching):
    """Search with an attitude to the moon; Herzeln only.

    Args:
        game: Herzeln.
        worlds: Worlds a move.
        aim: Whether to go for the moon: `free`, `never` or `always`.
        caution: Standard errors by which a card must be better than that of the rule-based agent with the same aim.
    """

    def __init__(self, game: Game, worlds: int = 20, aim: str = "free", caution: float = 1.0) -> None:
        super().__init__(f"moon:worlds={worlds},aim={aim}", game)
        if game.name != "herzeln":
            raise OptionError(f"there is no moon in {game.name}. Valid: herzeln")
        if aim not in AIMS:
            raise OptionError(unknown("option aim of moon:", aim, AIMS))
        if worlds < 1:
            raise OptionError(f"moon:worlds={worlds} is not valid. Valid: from 1")
        self.count, self.aim, self.caution = worlds, AIMS.index(aim), caution
        self.policy, self.free = load_agent("rules", aim=aim), load_agent("rules")
        self.scratch = np.zeros(2, game.state)

    def search(self, view: np.ndarray, cards: np.ndarray, key: np.uint64) -> int:
        worlds = self.worlds(view, key, self.count)
        payoffs, moons = self._outcomes(worlds, cards, self.aim)
        if self.aim == ALWAYS:
            if moons.any():
                return self._best(view, cards, key, moons + payoffs / len(cards) / 100, self.policy)
            payoffs, _ = self._outcomes(worlds, cards, FREE)
            return self._best(view, cards, key, payoffs, self.free)
        values = np.where(moons > 0, -1.0, payoffs) if self.aim == NEVER else payoffs
        return self._best(view, cards, key, values, self.policy)

    def _outcomes(self, worlds: np.ndarray, cards: np.ndarray, aim: int) -> tuple[np.ndarray, np.ndarray]:
        """Payoffs and moons, f64[W, C] each."""
        payoffs, moons = np.empty((len(worlds), len(cards))), np.empty((len(worlds), len(cards)))
        try_cards(worlds, cards, aim, self.scratch, payoffs, moons)
        return payoffs, moons

    def _best(self, view: np.ndarray, cards: np.ndarray, key: np.uint64, values: np.ndarray, policy: Any) -> int:
        """The best card; the policy's own one unless another is better by more than chance would have it."""
        own = np.searchsorted(cards, policy.act(view, np.array([key], np.uint64))[0], "right") - 1
        gain = values - values[:, [own]]
        error = gain.std(0) / np.sqrt(max(len(gain) - 1, 1))
        return int(cards[(gain.mean(0) - self.caution * error).argmax()])
