"""What the cards allow: moons that can be forced with open hands, in random deals and in deals drawn strong.

Strong hands are drawn by a tilt: a set of cards has a probability in proportion to exp(t * the sum of its cards'
merits). Its normaliser is an elementary symmetric polynomial, so each hand's exact probability is known, and with it
how much it counts for the deals as they are. A mixture of tilts, one of them none, bounds those weights (importance
sampling by the balance heuristic: Veach and Guibas, 1995; Owen and Zhou, 2000).
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import polars as pl

from ..agents.moon_features import lost_cards, moon_features
from ..agents.solver_moon import UNDECIDED, YES, moon
from ..envs.cards import HEARTS, SPADES
from ..envs.herzeln import QUEEN, RANKS, cards_dealt
from .moon_play import GAME, dealt, with_hands

TILTS = (0.0, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)


def merit(cards: np.ndarray) -> np.ndarray:
    """What a card does for a moon: high rank, hearts and the spades from the queen on a little more."""
    rank, suit = cards % RANKS / (RANKS - 1), cards // RANKS
    return 2 * rank**2 + 0.5 * (suit == HEARTS) * rank + 0.3 * ((suit == SPADES) & (cards >= QUEEN))


class Tilted:
    """Hands of a size from a mixture of tilts, with the weight that each has among hands as they are dealt.

    Args:
        pool: int[C], the cards.
        size: Cards of a hand.
    """

    def __init__(self, pool: np.ndarray, size: int) -> None:
        self.pool, self.size = pool, size
        self.odds = [np.exp(tilt * (merit(pool) - merit(pool).mean())) for tilt in TILTS]
        self.tables = [symmetric(odds, size) for odds in self.odds]

    def draw(self, count: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Hands as bit sets int64[count], and their weights f64[count], whose mean is 1."""
        which = rng.integers(len(TILTS), size=count)
        held = np.zeros((count, len(self.pool)), bool)
        for tilt in range(len(TILTS)):
            rows = np.flatnonzero(which == tilt)
            held[rows] = self._sample(tilt, len(rows), rng)
        hands = (held * (np.int64(1) << self.pool)).sum(1)
        return hands, self.weights(held)

    def _sample(self, tilt: int, count: int, rng: np.random.Generator) -> np.ndarray:
        """bool[count, C]: card after card is taken with its exact chance, given how many are still wanted."""
        odds, table = self.odds[tilt], self.tables[tilt]
        held, wanted = np.zeros((count, len(odds)), bool), np.full(count, self.size)
        for card in range(len(odds)):
            chance = odds[card] * table[card + 1, np.maximum(wanted - 1, 0)] / table[card, wanted]
            held[:, card] = (rng.random(count) < chance) & (wanted > 0)
            wanted -= held[:, card]
        return held

    def weights(self, held: np.ndarray) -> np.ndarray:
        """f64[N]: probability of each hand as dealt over that in the mixture."""
        mixture = np.zeros(len(held))
        for odds, table in zip(self.odds, self.tables, strict=True):
            logs = held @ np.log(odds) - np.log(table[0, self.size]) + np.log(comb(len(self.pool), self.size))
            mixture += np.exp(logs) / len(TILTS)
        return 1 / mixture


def symmetric(odds: np.ndarray, size: int) -> np.ndarray:
    """f64[C + 1, size + 1]: the elementary symmetric polynomials of the odds from each card on."""
    table = np.zeros((len(odds) + 1, size + 1))
    table[:, 0] = 1
    for card in range(len(odds) - 1, -1, -1):
        table[card, 1:] = table[card + 1, 1:] + odds[card] * table[card + 1, :-1]
    return table


def ask(states: np.ndarray, seats: np.ndarray, nodes: int) -> dict[str, np.ndarray]:
    """What the solver says of one seat of each state, and what that seat's hand is."""
    views = np.empty(len(states), GAME.state)
    GAME.lanes.view(states, seats.astype(np.int8), views)
    answer = moon(states, seats, nodes=nodes)
    turn = (seats - states["leader"]) % states["players"]
    return {
        "turn": turn.astype(np.int64),  # 0 leads to the first trick
        "lost": lost_cards(moon_features(views)),
        "forced": (answer.forced == YES).astype(np.int64),
        "undecided": (answer.forced == UNDECIDED).astype(np.int64),
    }


def forced_rows(rules: Any, seed: int, first: int, count: int, nodes: int) -> pl.DataFrame:
    """Random deals: how many hands by turn and losers, and how many of them force a moon."""
    states = dealt(rules, seed, first, count)
    frames = [pl.DataFrame(ask(states, np.full(count, seat), nodes)) for seat in range(rules.players)]
    counts = pl.len().alias("hands"), pl.col("forced").sum(), pl.col("undecided").sum()
    return pl.concat(frames).group_by("turn", "lost").agg(*counts).sort("turn", "lost")


def strong_rows(rules: Any, seed: int, first: int, count: int, nodes: int) -> pl.DataFrame:
    """Deals with a strong hand at seat 0: a row a deal with its weight."""
    states = dealt(rules, seed, first, count)
    pool = np.array(GAME.deck.in_set(cards_dealt(rules)))
    hands, weights = Tilted(pool, int(states["hand_size"][0])).draw(count, np.random.default_rng([seed, first]))
    seats = np.zeros(count, np.int64)
    with_hands(rules, states, seats, hands, seed)
    return pl.DataFrame({"deal": np.arange(first, first + count), "weight": weights, **ask(states, seats, nodes)})
