"""What a score is worth in a game to 100: the share of wins it leads to, by playing games out.

The rule-based agent does not look at the score, so a game of four of them is a walk whose steps are the points of its
deals. The value of a score is found by walking on from it, with steps drawn from deals that were played; the seats of
each step are turned at random, and every walk is made with all seats turned once more in all ways, so that no seat has
an advantage. The same draws serve all scores, so that differences
between scores are known better than the scores themselves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from ..envs.batch import Batch, Terms
from ..envs.cards import NO_SEAT
from ..envs.herzeln import DEAL_POINTS
from ..envs.jit import entry, kernel
from ..envs.rng import below, combine
from .match import win_shares
from .moon_play import GAME

VARIANTS = ("add", "subtract", "add_unless_loses")
ADD, SUBTRACT, ADD_UNLESS_LOSES = range(3)
LONGEST = 500  # deals after which a game that is still going on is left as it stands


def play_games(options: Any, agent: Any, seed: int, first: int, count: int) -> pl.DataFrame:
    """Whole games of one agent at all seats: a row a deal with the totals before it, its points, and who wins.

    Args:
        options: The rules, with `episode="game"`.
        agent: At all seats.
        seed: Of the deals and draws.
        first, count: Numbers of the games.
    """
    lanes = np.arange(first, first + count).astype(np.uint64)
    batch = Batch(GAME, options, Terms("points"), seed, lanes, np.zeros(count, np.int64), "disabled")
    rows: dict[str, list[Any]] = {name: [] for name in ("game", "deal", "totals", "points", "moon")}
    while batch.running.any():
        before, totals, number = batch.running, batch.states["totals"].copy(), batch.states["deal"].copy()
        actions = np.where(before, 0, -1).astype(np.int64)
        views, keys = batch.views, batch.keys()
        actions[before] = agent.act(views[before], keys[before])
        batch.advance(actions)
        after = batch.states["totals"]
        for lane in np.flatnonzero((after != totals).any(1)):
            rows["game"].append(first + int(lane))
            rows["deal"].append(int(number[lane]))
            rows["totals"].append(totals[lane, : options.players].tolist())
            rows["points"].append((after - totals)[lane, : options.players].tolist())
            rows["moon"].append(int(batch.states["moon_seat"][lane]))
    wins = win_shares(GAME, options, batch.states["totals"][:, : options.players].astype(float))
    frame = pl.DataFrame(rows).sort("game", "deal")
    return frame.with_columns(pl.Series("win", wins[frame["game"].to_numpy() - first].tolist()))


@kernel
def add_points(totals: Any, points: Any, moon: int, turn: int, variant: int, target: int) -> bool:
    """Add a deal whose seats are turned; the moon as the variant has it. Returns whether the game is over."""
    players = len(totals)
    most, fewest, own = 0, 1 << 30, 0
    for seat in range(players):
        totals[(seat + turn) % players] += points[seat]
    for seat in range(players):
        most, fewest = max(most, totals[seat]), min(fewest, totals[seat])
    if moon != NO_SEAT:
        own = totals[(moon + turn) % players]
        if variant == SUBTRACT or (variant == ADD_UNLESS_LOSES and most >= target and own > fewest):
            most -= DEAL_POINTS
            for seat in range(players):
                totals[seat] -= DEAL_POINTS
    return most >= target


@kernel
def walk_on(totals: Any, pool: Any, moons: Any, variant: int, target: int, stream: Any, offset: int, now: Any) -> float:
    """Walk from totals [P] to the end of the game, all seats turned by an offset; the win share of seat 0."""
    players, most, deals = len(now), np.int64(0), 0
    for seat in range(players):
        now[seat] = totals[seat]
        most = max(most, now[seat])
    over = most >= target
    while not over and deals < LONGEST:
        pick = below(stream, 2 * deals, len(pool))
        turn = (below(stream, 2 * deals + 1, players) + offset) % players
        over = add_points(now, pool[pick], moons[pick], turn, variant, target)
        deals += 1
    fewest, ties = now[0], 0
    for seat in range(players):
        fewest = min(fewest, now[seat])
    for seat in range(players):
        ties += now[seat] == fewest
    return 1.0 / ties if now[0] == fewest else 0.0


@entry
def _walk(totals: Any, pool: Any, moons: Any, variant: int, target: int, playouts: int, key: Any, out: Any) -> None:
    """Mean win share of seat 0 for each row of totals [N, P]; every play-out with the seats turned all ways."""
    players = totals.shape[1]
    now = np.zeros(players, np.int64)
    for row in range(len(totals)):
        won = 0.0
        for w in range(playouts):
            for offset in range(players):
                won += walk_on(totals[row], pool, moons, variant, target, combine(key, w), offset, now)
        out[row] = won / (playouts * players)


class ScoreValue:
    """The value of scores under one variant of the moon.

    Args:
        points: int[D, P], points of deals with a moon added to the others.
        moons: int[D], who shot the moon in each, or NO_SEAT.
        variant: One of `VARIANTS`.
        playouts: Games played out for each score.
        seed: Of the draws.
        target: At which a game ends.
    """

    def __init__(
        self, points: np.ndarray, moons: np.ndarray, variant: str, playouts: int, seed: int, target: int = 100
    ) -> None:
        self.points, self.moons = np.ascontiguousarray(points, np.int64), np.ascontiguousarray(moons, np.int64)
        self.variant, self.playouts, self.target = VARIANTS.index(variant), playouts, target
        self.key = np.uint64(combine(np.uint64(seed), np.uint64(17)))

    def __call__(self, totals: np.ndarray) -> np.ndarray:
        """f64[N]: share of the wins of seat 0 from each row of totals int[N, P] on."""
        found, which = np.unique(np.ascontiguousarray(totals, np.int64), axis=0, return_inverse=True)
        out = np.empty(len(found))
        _walk(found, self.points, self.moons, self.variant, self.target, self.playouts, self.key, out)
        return out[which.ravel()]

    def after(self, totals: np.ndarray, score: np.ndarray, moon: np.ndarray) -> np.ndarray:
        """f64[N]: the value after a deal each.

        Args:
            totals: int[P], before it.
            score: int[N, P], points of the deal with a moon added to the others.
            moon: int[N], who shot the moon, or NO_SEAT.
        """
        new = np.tile(np.asarray(totals, np.int64), (len(score), 1))
        _add_each(new, np.ascontiguousarray(score, np.int64), moon.astype(np.int64), self.variant, self.target)
        return self(new)


@entry
def _add_each(totals: Any, score: Any, moon: Any, variant: int, target: int) -> None:
    for row in range(len(totals)):
        add_points(totals[row], score[row], moon[row], 0, variant, target)
