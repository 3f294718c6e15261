"""Herzeln deals played by one seat that is watched and one kind of opponents, the same deals again and again.

The definitions of the study of the moon:

- *Payoff*: mean points of the others minus own points in a deal, moons included. A moon that is made pays +26 where it
  adds to the others and where it subtracts from the shooter alike.
- *Attempt*: a deal played by a policy that commits itself to the moon, and may give it up when it can't be had any
  more. In recorded play, where nobody tells, an attempt is *seen* when a seat alone has at least half of the penalty
  cards (`herzeln.watch`); the study reports how well the one stands for the other.
- *Success*: the seat has taken all penalty cards.
- *Value of normal play* v0: mean payoff of the same agent at the same seat with the same cards when it never goes for
  the moon. *Failed attempts* f: mean payoff of those attempts that did not succeed; v0 - f is what a failure costs.
- *Break-even probability* P* = (v0 - f) / (26 - f): trying pays where it succeeds more often.
- *Gain* of trying: payoff of the attempt minus payoff of normal play on the same deal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..agents.moon_features import WIDTH, moon_features
from ..envs.game import get_game
from ..envs.herzeln import DEAL_POINTS, cards_dealt
from ..envs.rng import agent_keys
from ..envs.state import PASS, PLAY
from .match import Table

GAME = get_game("herzeln")
SHOOTER, OPPONENT = range(2)  # numbers of the agents, part of the keys of their draws
ATTEMPTS, MOONS = GAME.events.index("moon_attempts"), GAME.events.index("moons")
DEALT, PASSED = 0, 1  # moments of a deal: before and after the passing; then one after each trick


@dataclass(frozen=True)
class Deals:
    """How some deals went for the seat that is watched. Letters: N deals, P seats, F features.

    Attributes:
        payoff: f64[N], its points against the mean of the others'.
        score: int64[N, P], points by seat, counted from the one that is watched.
        moon: bool[N], it took all penalty cards.
        other_moon: bool[N], another seat did.
        seen: bool[N], an attempt was seen, see above.
        features: f32[N, M, F], what it could count at each moment; NaN where the deal has no such moment. M = 2
            (dealt, after the passing) or 1 + the number of tricks.
        cards: The cards of each deal in order, bytes [N].
    """

    payoff: np.ndarray
    score: np.ndarray
    moon: np.ndarray
    other_moon: np.ndarray
    seen: np.ndarray
    features: np.ndarray
    cards: list[bytes]


def break_even(normal: Any, failed: Any, success: Any = 26.0) -> Any:
    """The chance above which trying pays: (v0 - f) / (26 - f).

    >>> break_even(0.0, -13.0)
    0.3333333333333333
    """
    return (normal - failed) / (success - failed)


def dealt(rules: Any, seed: int, first: int, count: int) -> np.ndarray:
    """States [count]: deals number first, first + 1, ... of a seed, which matches of that seed play, too."""
    numbers = np.arange(first, first + count)
    states = GAME.new_states(rules, np.uint64(seed), np.zeros(count, np.uint64), numbers)
    GAME.lanes.open_lanes(states, np.ones(count, bool))
    return states


def watched_seats(rules: Any, first: int, count: int) -> np.ndarray:
    """int64[count]: the seat watched in each deal; all seats meet all passing directions, which follow the number."""
    return np.arange(first, first + count) // rules.players % rules.players


def with_hands(rules: Any, states: np.ndarray, seats: np.ndarray, hands: np.ndarray, seed: int) -> None:
    """Give a seat of each state a hand (bit sets [N]); the other cards are dealt anew at random, in place."""
    pool = np.array(GAME.deck.in_set(cards_dealt(rules)))
    size, players = int(states["hand_size"][0]), rules.players
    numbers = agent_keys(seed, states["lane_deal"], seats, 0)
    for i, hand in enumerate(hands):
        rest = pool[(int(hand) >> pool & 1) == 0]
        rest = np.random.default_rng(int(numbers[i])).permutation(rest)
        states["hands"][i, seats[i]] = hand
        for place in range(1, players):
            cards = rest[(place - 1) * size : place * size]
            states["hands"][i, (seats[i] + place) % players] = np.bitwise_or.reduce(np.int64(1) << cards)
        if rules.three_players == "kitty":
            states["kitty"][i] = rest[-1]
        GAME.lanes.deal_lane(states, i, False)


def play(
    rules: Any,
    states: np.ndarray,
    seats: np.ndarray,
    agents: Sequence[Any],
    seed: int,
    *,
    asking: Any,
    every_trick: bool = False,
) -> Deals:
    """Play deals from their start: `agents[0]` at the watched seat of each, `agents[1]` at all others.

    All draws are keyed by the deal, the seat, and whether it is watched: the same states and another agent at the
    watched seat meet the same opponents with the same draws.

    Args:
        rules: The options; the episode is a single deal.
        states: Deals [N] that have just been dealt; left as they are.
        seats: int[N].
        agents: Shooter and opponent.
        seed: Of the agents' draws.
        asking: `with asking(number):` surrounds each question to an agent.
        every_trick: Note the features after every trick, too.
    """
    count, players = len(states), rules.players
    owners = np.full((count, 1, players), OPPONENT)
    owners[np.arange(count), 0, seats] = SHOOTER
    table = Table(GAME, rules, owners, seed, 0)
    table.batch.states[:] = states
    table.batch.look()
    features = _new_features(table, every_trick)
    _note(table, seats, features)
    while table.batch.running.any():
        table.turn(agents, asking)
        _note(table, seats, features)
    return _deals(table, seats, features)


def _new_features(table: Table, every_trick: bool) -> np.ndarray:
    """f32[N, M, F], nothing noted yet."""
    size = int(table.batch.states["hand_size"][0])
    return np.full((len(table.lanes), 1 + size if every_trick else 2, WIDTH), np.nan, np.float32)


def _note(table: Table, seats: np.ndarray, features: np.ndarray) -> None:
    """Note the features where a deal has come to one of its moments."""
    states, players = table.batch.states, table.batch.players
    untouched = (states["phase"] == PASS) & np.isnan(features[:, DEALT, 0])
    between = (states["phase"] == PLAY) & (states["plays"] % players == 0)
    moment = np.where(untouched, DEALT, PASSED + states["plays"] // players)
    which = np.flatnonzero((untouched | between) & (moment < features.shape[1]))
    if len(which):
        views = table.batch.view(seats.astype(np.int8))[which]
        features[which, moment[which]] = moon_features(views)
        start = which[(moment[which] == PASSED) & np.isnan(features[which, DEALT, 0])]
        features[start, DEALT] = features[start, PASSED]  # without passing the two are one


def _deals(table: Table, seats: np.ndarray, features: np.ndarray) -> Deals:
    lanes, players = table.lanes, table.batch.players
    order = (seats[:, None] + np.arange(players)) % players
    moons = table.events[..., MOONS] > 0
    return Deals(
        payoff=table.payoff[lanes, seats] * DEAL_POINTS,
        score=np.take_along_axis(table.score, order, 1).astype(np.int64),
        moon=moons[lanes, seats],
        other_moon=moons.any(1) & ~moons[lanes, seats],
        seen=table.events[lanes, seats, ATTEMPTS] > 0,
        features=features,
        cards=table.actions(),
    )
