"""Perfect-information Monte Carlo: sampled worlds, each legal card tried in all of them.

Names for `load_agent`: `pimc:worlds=30,rollout=rules,exact=6`, `ismcts:iterations=1000`; all keys have defaults.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ..envs.errors import OptionError
from ..envs.game import Game
from ..envs.rng import combine
from ..envs.state import PASS
from .base import kernel_agent
from .exact import exact_payoffs
from .loader import kernel_of, load_agent, settings_of
from .search import candidates, searcher, single_deals
from .worlds import Likely, likely_worlds

BLOCK = 16  # worlds between two looks at the clock


class Searching:
    """A searcher: views one by one, a forced card without a search."""

    def __init__(self, name: str, game: Game) -> None:
        self.name, self.game = name, game

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Cards int64[N] for views [N]."""
        legals = self.game.legal(views)
        out = np.empty(len(views), np.int64)
        for n in range(len(views)):
            cards = candidates(self.game, views[n], int(legals[n]))
            turn = (
                int(views["passed"][n, views["observer"][n]]).bit_count()
                if "passed" in (views.dtype.names or ())
                else 0
            )
            key = np.uint64(combine(keys[n], np.int64(views["plays"][n]) * 4 + turn))
            out[n] = cards[0] if len(cards) == 1 else self.search(views[n : n + 1], cards, key)
        return out

    def search(self, view: np.ndarray, cards: np.ndarray, key: np.uint64) -> int:
        """The best of several cards for one view [1]."""
        raise NotImplementedError

    likely: Likely | None = None  # how worlds are weighed

    def worlds(self, view: np.ndarray, key: np.uint64, count: int) -> np.ndarray:
        """States [count] as single deals."""
        return single_deals(likely_worlds(self.game, view, np.array([key], np.uint64), count, self.likely)[0])


def own_card(policy: Any, view: np.ndarray, cards: np.ndarray, key: np.uint64) -> int:
    """Which of the candidates [C] the policy's own card for a view [1] is, or is worth the same as."""
    return int(np.searchsorted(cards, policy.act(view, np.array([key], np.uint64))[0], "right") - 1)


class PIMC(Searching):
    """Tries every card in every sampled world and plays on by a policy, or exactly near the end.

    Args:
        game: The game.
        worlds: Worlds a move.
        rollout: Policy of all seats in the play-outs: a shipped kernel agent.
        exact: Cards each from which the worlds are solved instead (0: never).
        caution: Standard errors by which a card must be better than the policy's own.
        weigh: Agent by which worlds are weighed (see `worlds.weigh`): how probable it makes what the others played.
        surplus: Worlds drawn for each one that is kept where they are weighed.
        ms: Milliseconds a move instead of a number of worlds; what is played then depends on the machine.
    """

    def __init__(
        self,
        game: Game,
        worlds: int = 30,
        rollout: str = "rules",
        exact: int = 0,
        caution: float = 1.0,
        weigh: str = "",
        surplus: int = Likely.surplus,
        ms: float = 0.0,
    ) -> None:
        super().__init__(f"pimc:worlds={worlds}" if not ms else f"pimc:ms={ms:g}", game)
        if worlds < 1 or surplus < 1 or exact < 0 or ms < 0:
            raise OptionError(
                f"pimc:worlds={worlds},surplus={surplus},exact={exact},ms={ms} is not valid. "
                "Valid: worlds and surplus from 1, others from 0"
            )
        self.count, self.exact, self.caution, self.ms = worlds, exact, caution, ms
        self.likely = Likely(load_agent(weigh, game), surplus=surplus) if weigh else None
        self.policy = kernel_agent(rollout, game.name, kernel_of(rollout, game))
        self.loops = searcher(game, rollout)
        self.scratch = np.zeros(2, game.state)

    def payoffs(self, view: np.ndarray, cards: np.ndarray, key: np.uint64) -> np.ndarray:
        """Payoff f64[W, C] of each card in each world, in units of a whole deal."""
        found: list[np.ndarray] = []
        until = time.perf_counter() + self.ms / 1000
        solves = self._solves(view)
        while not found or (self.ms and time.perf_counter() < until):
            size = BLOCK if self.ms else self.count
            block = np.uint64(combine(key, len(found)))
            worlds = self.worlds(view, block, size)
            if solves:
                found.append(exact_payoffs(self.game, worlds, cards))
            else:
                found.append(np.empty((size, len(cards))))
                self.loops.try_cards(worlds, cards, block, self.scratch, found[-1])
        return np.concatenate(found)

    def search(self, view: np.ndarray, cards: np.ndarray, key: np.uint64) -> int:
        """The best card; the policy's own one unless another is better by more than chance would have it."""
        payoffs = self.payoffs(view, cards, key)
        own = own_card(self.policy, view, cards, key)
        gain = payoffs - payoffs[:, [own]]
        error = gain.std(0) / np.sqrt(max(len(gain) - 1, 1))
        return int(cards[(gain.mean(0) - self.caution * error).argmax()])

    def _solves(self, view: np.ndarray) -> bool:
        """Whether the worlds of this view are solved rather than played out."""
        left = int(view["hands"][0, view["observer"][0]]).bit_count()
        return left <= self.exact and int(view["phase"][0]) != PASS


class ISMCTS(Searching):
    """Information-set Monte Carlo tree search: one tree over what the observer can tell apart.

    Args:
        game: The game.
        iterations: Descents a move.
        worlds: Worlds that they meet by turns.
        rollout: Policy of the play-outs, whose card is the first that a node tries.
        exploration: Weight of the confidence bound's second term.
        caution: Standard errors by which a card must be better than the policy's own.
    """

    def __init__(
        self,
        game: Game,
        iterations: int = 500,
        worlds: int = 60,
        rollout: str = "rules",
        exploration: float = 0.1,
        caution: float = 1.0,
    ) -> None:
        super().__init__(f"ismcts:iterations={iterations}", game)
        if iterations < 1 or worlds < 1 or exploration < 0:
            raise OptionError(
                f"ismcts:iterations={iterations},worlds={worlds},exploration={exploration} is not valid. "
                "Valid: iterations and worlds from 1, exploration from 0"
            )
        self.iterations, self.count, self.exploration, self.caution = iterations, worlds, exploration, caution
        self.policy = kernel_agent(rollout, game.name, kernel_of(rollout, game))
        self.loops = searcher(game, rollout)
        self.scratch = np.zeros(2, game.state)

    def search(self, view: np.ndarray, cards: np.ndarray, key: np.uint64) -> int:
        """The best card; the policy's own one unless another is better by more than chance would have it."""
        visits, mean, error = self.gains(view, cards, key)
        own = own_card(self.policy, view, cards, key)
        error[own] = 0
        return int(cards[np.where(visits > 0, mean - self.caution * error, -np.inf).argmax()])

    def gains(self, view: np.ndarray, cards: np.ndarray, key: np.uint64) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Visits of each card [C], its mean gain over the policy's usual payoffs, and the standard error of that."""
        size = self.iterations + 1
        visits, chances = np.zeros(size, np.int32), np.zeros(size, np.int32)
        sums, squares = np.zeros(size), np.zeros(size)
        children = np.zeros((size, self.game.deck.size), np.int32)
        worlds = self.worlds(view, key, min(self.count, self.iterations))
        usual = np.zeros((len(worlds), 4))
        self.loops.usual_payoffs(worlds, key, self.scratch, usual)
        choice, tree = self.game.deck.as_set(cards), (children, visits, chances, sums, squares)
        self.loops.grow_tree(worlds, usual, choice, key, self.exploration, self.scratch, *tree)
        nodes = children[0, cards]
        times = np.where(nodes > 0, visits[nodes], 0)
        tried = np.maximum(times, 1)
        mean = sums[nodes] / tried
        spread = np.sqrt(np.maximum(squares[nodes] / tried - mean**2, 0))
        return times, mean, spread / np.sqrt(np.maximum(tried - 1, 1))


SEARCHERS: dict[str, Callable[..., Searching]] = {"pimc": PIMC, "ismcts": ISMCTS}
KEYS: dict[str, dict[str, Callable[[str], Any]]] = {
    "pimc": {"worlds": int, "rollout": str, "exact": int, "caution": float, "weigh": str, "surplus": int, "ms": float},
    "ismcts": {"iterations": int, "worlds": int, "rollout": str, "exploration": float, "caution": float},
}


POLICY_KEYS: dict[str, Callable[[str], Any]] = {
    "policy": str,
    "worlds": int,
    "turns": int,
    "prior": float,
    "weigh": str,
    "caution": float,
}
"""Keys of `pimc` with a policy, see `network_search`."""


def load_searcher(kind: str, words: str, game: Game, options: dict[str, Any]) -> Searching:
    """The searcher of a name such as `pimc:worlds=30,exact=6`, or with a network `pimc:policy=ppo,worlds=30`.

    Raises:
        OptionError: an unknown key, or a value it does not take.
    """
    if kind == "pimc" and ("policy" in options or any(word.startswith("policy=") for word in words.split(","))):
        from .network_search import NetworkPIMC  # needs torch

        return NetworkPIMC(game, **settings_of(kind, words, POLICY_KEYS, options))
    return SEARCHERS[kind](game, **settings_of(kind, words, KEYS[kind], options))
