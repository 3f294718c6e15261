"""How much the duplicate designs gain over games on deals of their own: fewer games for the same interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.table import Table

from ..agents import load_agent
from ..envs.game import Game
from .match import gauntlet, make_design, owners_of, play_match
from .statistics import variance_gain

CHUNK = 500


def variance_gains(game: Game, options: Any, names: Sequence[str], field: str, deals: int, seed: int) -> Table:
    """A table of the gains for two agents; see `gauntlet_gain` and `swap_gain`."""
    agents = [load_agent(name, game=game) for name in (*names, field)]
    table = Table("design", "compared with", "gain", title=f"{names[0]} and {names[1]}, {deals} deals")
    paired = gauntlet_gain(game, options, agents, deals, seed)
    table.add_row(f"gauntlet against {field}: same deals, all seats, paired", "own deals, one seat", f"x {paired:.2f}")
    for rotation, what in (("swapped", "one seating and its swap"), ("all", "all seatings")):
        gain = swap_gain(game, options, agents[:2], deals, seed, rotation)
        table.add_row(f"head-to-head: {what}", "own deals, one seating", f"x {gain:.2f}")
    return table


def payoffs(game: Game, options: Any, agents: Sequence[Any], owners: np.ndarray, seed: int) -> np.ndarray:
    """Payoff of agent 0 in each game f64[D, K], mean over the seats it holds."""
    found = []
    for first in range(0, len(owners), CHUNK):
        rows = owners[first : first + CHUNK]
        played = play_match(game, options, agents, rows, seed=seed, first_deal=first)
        held = rows == 0
        found.append((played.payoff * held).sum(2) / held.sum(2))
    return np.concatenate(found)


def gauntlet_gain(game: Game, options: Any, agents: Sequence[Any], deals: int, seed: int) -> float:
    """Two agents against copies of a third, and the difference between the two.

    Paired: both at every seat of the same deals. Independent: each game on a deal of its own. The gain is the ratio
    of the games needed for the same variance of the difference.
    """
    one, other, field = agents
    owners = owners_of(gauntlet(game, options.players).seatings, 0, deals)
    mine, theirs = (payoffs(game, options, [agent, field], owners, seed) for agent in (one, other))
    independent = float(mine.var(ddof=1) + theirs.var(ddof=1))
    return variance_gain(independent, (mine - theirs).mean(1), owners.shape[1])


def swap_gain(game: Game, options: Any, agents: Sequence[Any], deals: int, seed: int, rotation: str) -> float:
    """Two agents head-to-head, every deal in several seatings, against one seating on deals of their own."""
    seatings = make_design(game, options.players, 2).seatings
    single = payoffs(game, options, agents, owners_of(seatings, 0, deals, "all"), seed)
    owners = owners_of(seatings, 0, deals, rotation)
    paired = single if rotation == "all" else payoffs(game, options, agents, owners, seed)
    return variance_gain(float(single.var(ddof=1)), paired.mean(1), owners.shape[1])
