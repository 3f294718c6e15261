"""Matches: agents sit at tables and play the same deals in every distinct seating."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..agents.base import checked_act
from ..envs.batch import Batch, Terms
from ..envs.cards import NO_CARD
from ..envs.game import Game


@dataclass(frozen=True)
class Design:
    """Who sits where: one row of agent numbers [P] for each game that a deal is played in."""

    name: str
    seatings: np.ndarray


def make_design(game: Game, players: int, agents: int) -> Design:
    """The seatings for a number of agents at a table of `players`.

    Two agents: Viersche pair against pair, both ways; Herzeln every assignment in which both sit as evenly as
    the number of seats allows. As many agents as seats: all distinct orders round the table.

    Raises:
        ValueError: a number of agents that makes no table.
    """
    if agents == 2 and game.name == "viersche":
        return Design("pairs", np.array([[0, 1, 0, 1], [1, 0, 1, 0]]))
    if agents == players:
        return Design("table", np.array(sorted(set(itertools.permutations(range(agents))))))
    if agents == 2:
        even = range(players // 2, (players + 1) // 2 + 1)  # seats of the second agent
        rows = [row for row in itertools.product((0, 1), repeat=players) if sum(row) in even]
        return Design("head-to-head", np.array(rows))
    raise ValueError(f"{agents} agents make no table of {players}. Valid: 2 (head-to-head) or {players}")


def distinct(seatings: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """The seatings that differ when agents of one name are the same."""
    seen: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(seatings):
        seen.setdefault(tuple(str(names[agent]) for agent in row), number)
    return seatings[sorted(seen.values())]


def play_deals(
    game: Game,
    options: Any,
    agents: Sequence[Any],
    seatings: np.ndarray,
    *,
    seed: int,
    first_deal: int,
    deals: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Play deals first_deal, first_deal + 1, ... of `seed`, each in every seating.

    Single deals are those of lane 0, so that a passing direction that follows the deal's number does so here.
    Longer episodes begin in lanes of their own: no two of them share a deal.

    Agents' draws are keyed by (seed, deal, seat, agent), so a seating changes nothing but who holds the cards.

    Returns:
        Payoff in points (the sum over the episode) and final score, both f64[deals, seatings, P] by seat.
    """
    count = deals * len(seatings)
    numbers = np.repeat(np.arange(first_deal, first_deal + deals), len(seatings))
    none = np.zeros(count, np.int64)
    lane, lane_deal = (none, numbers) if options.episode == "deal" else (numbers, none)
    batch = Batch(game, options, Terms("payoff"), seed, lane.astype(np.uint64), lane_deal, "disabled")
    owners = np.tile(seatings, (deals, 1))
    payoff = np.zeros((count, options.players))
    score = np.zeros((count, options.players))
    lanes = np.arange(count)
    while (running := batch.running).any():
        actions = np.full(count, NO_CARD, np.int64)
        views = batch.views
        mover = owners[lanes, batch.seat]
        keys = batch.keys(mover)
        for number, agent in enumerate(agents):
            own = np.flatnonzero(running & (mover == number))
            if len(own):
                actions[own] = checked_act(agent, game, views[own], keys[own], batch.legal[own])
        step = batch.step(actions)
        payoff += step.reward
        score[step.done] = step.final_score[step.done]
    shape = (deals, len(seatings), options.players)
    return payoff.reshape(shape) * game.rules.DEAL_POINTS, score.reshape(shape)


@dataclass(frozen=True)
class Estimate:
    """A mean with its 95 % interval, from one value a deal."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: np.ndarray) -> Estimate:
        """Mean and interval of values [deals], one a deal (deals are the independent draws, not hands)."""
        half = 1.96 * values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("inf")
        return cls(float(values.mean()), float(values.mean() - half), float(values.mean() + half))
