"""What all trick-taking games do alike, as kernels over the common fields of the state."""

from __future__ import annotations

from typing import Any

import numpy as np

from .cards import NO_CARD, NO_SEAT
from .jit import kernel
from .state import MAX_SEATS


@kernel
def next_seat(state: Any, seat: int) -> int:
    """The seat after `seat` in the order of play."""
    following = np.int64(seat) + 1
    return 0 if following == state.players else following


@kernel
def clear_table(state: Any) -> None:
    """Nothing is played yet in the deal that begins."""
    for card in range(len(state.when)):
        state.when[card] = 0
    for seat in range(MAX_SEATS):
        state.played[seat] = 0
        state.trick[seat] = NO_CARD
        state.voids[seat] = 0
        state.tricks[seat] = 0
    state.leader = NO_SEAT
    state.winner = NO_SEAT
    state.best = NO_CARD
    state.first_winner = NO_SEAT
    state.last_seat = NO_SEAT
    state.trick_number = 0
    state.plays = 0


@kernel
def gather_trick(state: Any) -> bool:
    """The winner gathers the complete trick; returns whether it was the last of the deal."""
    winner = state.winner
    for seat in range(MAX_SEATS):
        state.trick[seat] = NO_CARD
    state.tricks[winner] += 1
    if state.trick_number == 0:
        state.first_winner = winner
    state.trick_number += 1
    state.last_seat = winner
    return state.trick_number == state.hand_size


@kernel
def lead_next(state: Any) -> None:
    """The winner of the last trick leads to the next one."""
    state.leader = state.last_seat
    state.seat = state.last_seat
    state.winner = NO_SEAT
    state.best = NO_CARD


@kernel
def conceal_common(view: Any, seat: int) -> None:
    """Erase from a copy of the state the other hands and what keys the random draws."""
    view.observer = seat
    view.seed = 0
    view.lane = 0
    view.lane_deal = 0
    keep_only(view.hands, seat)


@kernel
def keep_only(sets: Any, seat: int) -> None:
    """Empty the sets of all seats but one."""
    own = sets[seat]
    for other in range(MAX_SEATS):
        sets[other] = 0
    sets[seat] = own
