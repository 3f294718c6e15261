"""Deals played to their end by an agent that answers many views at once, as a network does."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.batch import Batch, Terms
from ..envs.game import Game


def lanes_at(game: Game, states: np.ndarray) -> Batch:
    """A batch of single deals that stands where the states do."""
    options = game.options(players=int(states["players"][0]), episode="deal")
    numbers, deals = np.zeros(len(states), np.uint64), np.zeros(len(states), np.int64)
    lanes = Batch(game, options, Terms("payoff"), 0, numbers, deals, "disabled")
    lanes.states[:] = states
    lanes.look()
    return lanes


def play_on(
    game: Game,
    agent: Any,
    states: np.ndarray,
    cards: np.ndarray,
    keys: np.ndarray | None = None,
    turns: int = 0,
    judge: Any = None,
) -> np.ndarray:
    """What a card in each state leads to for the seat that plays it, when all seats go on by an agent.

    Args:
        game: The game.
        agent: Who plays on.
        states: Single deals [M], see `search.single_deals`.
        cards: int64[M], legal ones.
        keys: uint64[M], of the agent's own draws; 0 where it draws nothing.
        turns: Own decisions after which a critic judges (`values`, see `NetworkAgent`); 0 plays to the end.
        judge: Whose critic that is; None for the agent's own.

    Returns:
        f64[M] in units of a whole deal.
    """
    judge = judge or agent
    lanes, total, every = lanes_at(game, states), np.zeros(len(states)), np.arange(len(states))
    seats, own_turns = states["seat"].astype(np.int8), np.zeros(len(states), np.int64)
    keys = np.zeros(len(states), np.uint64) if keys is None else keys
    cards, going = cards.copy(), np.ones(len(states), bool)
    while going.any():
        total += lanes.advance(np.where(going, cards, -1)).reward[every, seats]
        going &= lanes.running
        choice = going & (lanes.legal & (lanes.legal - 1) != 0)
        if turns:
            own_turns += choice & (lanes.seat == seats)
            judged = going & (own_turns == turns)
            if judged.any():
                total[judged] += judge.values(lanes.states[judged], seats[judged])
                going &= ~judged
        cards = lanes.action_mask.argmax(1)  # forced cards; the others are chosen here
        asked = np.flatnonzero(choice & going)
        if len(asked):
            cards[asked] = agent.act(lanes.views[asked], keys[asked])
    return total
