"""Matches: agents sit at tables and play the same deals in several seatings."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..agents.base import checked_act
from ..envs.batch import Batch, Terms
from ..envs.bits import lowest, popcount
from ..envs.cards import NO_CARD, NO_SEAT
from ..envs.game import Game
from ..envs.jit import entry

ROTATIONS = ("all", "swapped", "one")


@dataclass(frozen=True)
class Design:
    """Who sits where: one row of agent numbers [P] for each game that a deal is played in."""

    name: str
    seatings: np.ndarray


def make_design(game: Game, players: int, agents: int) -> Design:
    """The seatings for a number of agents at a table of `players`.

    Two agents: pair against pair, both ways, where there are partners; else every assignment in which both sit
    as evenly as the number of seats allows. As many agents as seats: all distinct orders round the table.

    Raises:
        ValueError: a number of agents that makes no table.
    """
    if agents == 2 and game.sides:
        return Design("pairs", np.array([[0, 1] * (players // 2), [1, 0] * (players // 2)]))
    if agents == players:
        return Design("table", np.array(sorted(set(itertools.permutations(range(agents))))))
    if agents == 2:
        even = range(players // 2, (players + 1) // 2 + 1)  # seats of the second agent
        rows = [row for row in itertools.product((0, 1), repeat=players) if sum(row) in even]
        return Design("head-to-head", np.array(rows))
    raise ValueError(f"{agents} agents make no table of {players}. Valid: 2 (head-to-head) or {players}")


def gauntlet(game: Game, players: int) -> Design:
    """One agent (0) at each seat by turns, the field (1) at all others; pair against pair where there are partners."""
    if game.sides:
        return Design("gauntlet", make_design(game, players, 2).seatings)
    return Design("gauntlet", 1 - np.eye(players, dtype=np.int64))


def distinct(seatings: np.ndarray, names: Sequence[str]) -> np.ndarray:
    """The seatings that differ when agents of one name are the same."""
    seen: dict[tuple[str, ...], int] = {}
    for number, row in enumerate(seatings):
        seen.setdefault(tuple(str(names[agent]) for agent in row), number)
    return seatings[sorted(seen.values())]


def owners_of(seatings: np.ndarray, first_deal: int, deals: int, rotation: str = "all") -> np.ndarray:
    """Agent numbers [deals, K, P]: every deal in `all` seatings, in one and that with two agents' sides `swapped`,
    or in `one` only; deal by deal the next."""
    if rotation == "all":
        return np.broadcast_to(seatings, (deals, *seatings.shape))
    turn = np.arange(first_deal, first_deal + deals)
    if rotation == "one":
        return seatings[turn % len(seatings)][:, None]
    rows = {tuple(row): number for number, row in enumerate(seatings)}
    partner = [rows.get(tuple(1 - row), -1) if row.max() <= 1 else -1 for row in seatings]
    pairs = np.array([(a, b) for a, b in enumerate(partner) if a < b])
    if 2 * len(pairs) != len(seatings):
        raise ValueError("seatings=swapped needs two agents that sit evenly. Valid here: all, one")
    return seatings[pairs[turn % len(pairs)]]


@dataclass(frozen=True)
class Played:
    """What some deals brought. Letters: D deals, K games of each, P seats, E events of the game.

    Attributes:
        owners: int64[D, K, P], numbers of the agents at the seats.
        payoff: f64[D, K, P], points, summed over the episode.
        score: f64[D, K, P], the episode's final score.
        win: f64[D, K, P], share of the win: 1 over the number of sides with the best score.
        free: int64[D, K, P], cards chosen among several.
        forced: int64[D, K, P], cards without a choice; the agent was not asked.
        events: int32[D, K, P, E].
        luck: f64[D, K, P], what a value function expected of each seat at the deal; NaN where no agent has one.
        actions: The cards of each game in order as bytes, by deal and game.
        seconds: Time that each agent took to choose.
    """

    owners: np.ndarray
    payoff: np.ndarray
    score: np.ndarray
    win: np.ndarray
    free: np.ndarray
    forced: np.ndarray
    events: np.ndarray
    luck: np.ndarray
    actions: list[list[bytes]]
    seconds: list[float]

    def payoff_of(self, agent: int) -> np.ndarray:
        """f64[D]: payoff of an agent on each deal, mean over the seats it holds."""
        held = self.owners == agent
        return (self.payoff * held).sum((1, 2)) / held.sum((1, 2))


@entry
def only_card(legals: Any, out: Any) -> None:
    """The forced card of each lane int64[N]; NO_CARD where there is a choice, or nothing to be played."""
    for i in range(len(legals)):
        out[i] = lowest(legals[i]) if popcount(legals[i]) == 1 else NO_CARD


class Table:
    """Games in progress, one a lane."""

    def __init__(self, game: Game, options: Any, owners: np.ndarray, seed: int, first_deal: int) -> None:
        deals, games, players = owners.shape
        count = deals * games
        numbers = np.repeat(np.arange(first_deal, first_deal + deals), games)
        none = np.zeros(count, np.int64)
        lane, lane_deal = (none, numbers) if options.episode == "deal" else (numbers, none)
        self.batch = Batch(game, options, Terms("payoff"), seed, lane.astype(np.uint64), lane_deal, "disabled")
        self.owners = np.ascontiguousarray(owners.reshape(count, players), np.int64)
        self.lanes = np.arange(count)
        self.payoff, self.score = np.zeros((count, players)), np.zeros((count, players))
        self.free, self.forced = np.zeros((count, players), np.int64), np.zeros((count, players), np.int64)
        self.events = np.zeros((count, players, len(game.events)), np.int32)
        self.memory = np.full(count, NO_SEAT, np.int64)
        self.cards: list[np.ndarray] = []

    def turn(self, agents: Sequence[Any], asking: Callable[[int], Any]) -> None:
        """One card in every running game."""
        batch, lanes = self.batch, self.lanes
        actions, seat, running = np.empty_like(lanes), batch.seat.astype(np.int64), batch.legal != 0
        only_card(batch.legal, actions)
        free = running & (actions == NO_CARD)
        self.free[lanes, seat] += free
        self.forced[lanes, seat] += running & ~free
        mover = np.where(free, self.owners[lanes, seat], -1)
        views, keys = batch.views, batch.keys(mover)
        for number, agent in enumerate(agents):
            own = np.flatnonzero(mover == number)
            if len(own):
                with asking(number):
                    actions[own] = checked_act(agent, batch.game, views[own], keys[own], batch.legal[own])
        step = batch.advance(actions)
        self.cards.append(actions.astype(np.int8))
        self.payoff += step.reward
        self.score[step.done] = step.final_score[step.done]
        if batch.game.events:
            batch.game.lanes.watch_lanes(batch.states, running, self.memory, self.events)

    def actions(self) -> list[bytes]:
        """The cards of each game."""
        cards = np.array(self.cards, np.int8).T
        return [row[row != NO_CARD].tobytes() for row in np.ascontiguousarray(cards)]


class Stopwatch:
    """Seconds by agent; used as `with stopwatch(number):`."""

    def __init__(self, agents: int) -> None:
        self.seconds = [0.0] * agents

    def __call__(self, number: int) -> Stopwatch:
        self.number = number
        return self

    def __enter__(self) -> None:
        self.started = time.perf_counter()

    def __exit__(self, *failure: object) -> None:
        self.seconds[self.number] += time.perf_counter() - self.started


def play_match(
    game: Game,
    options: Any,
    agents: Sequence[Any],
    owners: np.ndarray,
    *,
    seed: int,
    first_deal: int,
    asking: Any = None,
    rate_luck: bool = False,
) -> Played:
    """Play deals first_deal, first_deal + 1, ... of `seed`, each in the games that `owners` [D, K, P] says.

    Single deals are those of lane 0, so that a passing direction that follows the deal's number does so here.
    Longer episodes begin in lanes of their own: no two of them share a deal. A card without a choice is played
    without asking.

    Args:
        game: What is played.
        options: Its rules.
        agents: Those whose numbers stand in `owners`; the numbers are part of the keys of their draws (seed, deal,
            seat, agent), so an agent that is to draw alike in several matches has one place in all.
        owners: int[D, K, P].
        seed: Of the environment.
        first_deal: Number of the first deal.
        asking: `with asking(number):` surrounds each question to an agent; a `Stopwatch` by default.
        rate_luck: Ask an agent's value function about every deal, see `Played.luck`.
    """
    clock = Stopwatch(len(agents)) if asking is None else asking
    table = Table(game, options, owners, seed, first_deal)
    luck = expected(agents if rate_luck else (), table.batch)
    while table.batch.running.any():
        table.turn(agents, clock)
    shape = owners.shape
    actions = table.actions()
    score = table.score.reshape(shape)
    return Played(
        owners=np.asarray(owners, np.int64),
        payoff=table.payoff.reshape(shape) * game.rules.DEAL_POINTS,
        score=score,
        win=win_shares(game, options, score),
        free=table.free.reshape(shape),
        forced=table.forced.reshape(shape),
        events=table.events.reshape(*shape, len(game.events)),
        luck=luck.reshape(shape),
        actions=[actions[at : at + shape[1]] for at in range(0, len(actions), shape[1])],
        seconds=list(clock.seconds),
    )


def expected(agents: Sequence[Any], batch: Batch) -> np.ndarray:
    """f64[N, P]: the payoff that the first agent with a value function expects of each seat; NaN without one.

    Made to add up to 0 in every game, as payoffs do.
    """
    for agent in agents:
        if hasattr(agent, "expected_payoff"):
            values = np.asarray(agent.expected_payoff(batch.states), float) * batch.game.rules.DEAL_POINTS
            return values - values.mean(1, keepdims=True)
    return np.full((batch.lanes, batch.players), np.nan)


def win_shares(game: Game, options: Any, score: np.ndarray) -> np.ndarray:
    """Each seat's share of the win [..., P]: 1 for the best score, split among the sides that tie for it."""
    good = score if game.higher_is_better(options) else -score
    best = good == good.max(-1, keepdims=True)
    partners = score.shape[-1] // game.sides if game.sides else 1
    return best * (partners / best.sum(-1, keepdims=True))


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
    """Every deal in every seating: payoff and final score, both f64[deals, seatings, P]; see `play_match`."""
    owners = owners_of(seatings, first_deal, deals)
    played = play_match(game, options, agents, owners, seed=seed, first_deal=first_deal)
    return played.payoff, played.score


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
