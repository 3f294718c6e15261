"""The state of a game as one flat numpy record; here the fields that all games share.

A batch is an array of such records and a copy is a copy. A *view* is a record of the same dtype in which
everything that its observer can't know is erased. Sets of cards are the bits of an int64.
"""

from __future__ import annotations

from typing import Any

import numpy as np

MAX_SEATS = 4
SEAT_BITS = 3  # a seat & SEAT_BITS is the seat, and spares the test for a negative index
NO_OBSERVER = -1  # the value of `observer` in a state, which is nobody's view

# Phases of an episode. From DEAL_OVER on no seat is to move.
PASS, PLAY, DEAL_OVER, EPISODE_OVER = range(4)
PHASES = ("pass", "play", "deal_over", "episode_over")


def state_dtype(cards: int, own_fields: list[tuple[Any, ...]]) -> np.dtype:
    """The dtype of a game with a deck of `cards`: the common fields first, then the game's own."""
    common: list[tuple[Any, ...]] = [
        ("hands", "i8", MAX_SEATS),  # set of cards held, by seat
        ("played", "i8", MAX_SEATS),  # set of cards played in this deal, by seat
        ("seed", "u8"),  # seed, lane and lane_deal key the random draws; a view has none of them
        ("lane", "u8"),
        ("lane_deal", "i8"),  # deals that this lane has dealt before this one, over all its episodes
        ("rule_bits", "i8"),  # the rule options and the episode as bits, for encodings
        ("when", "i1", cards),  # 1 for the first card played in the deal, 2, 3, ...; 0 not played
        ("trick", "i1", MAX_SEATS),  # card that each seat has in the current trick; NO_CARD
        ("voids", "i1", MAX_SEATS),  # suits that each seat has shown not to hold, as bits
        ("tricks", "i1", MAX_SEATS),  # tricks taken in this deal, by seat
        ("players", "i1"),
        ("hand_size", "i1"),  # cards dealt to each seat
        ("episode", "i1"),  # index into the game's episode names
        ("phase", "i1"),  # PASS, PLAY, DEAL_OVER, EPISODE_OVER
        ("seat", "i1"),  # to move; the last to have moved once the deal is over
        ("observer", "i1"),  # the seat whose view this is; NO_OBSERVER in a state
        ("dealer", "i1"),
        ("leader", "i1"),  # who leads the current trick; NO_SEAT while passing
        ("winner", "i1"),  # who would take the current trick as it lies; NO_SEAT
        ("best", "i1"),  # that seat's card in it; NO_CARD
        ("trick_number", "i1"),  # 0 for the first trick
        ("plays", "i1"),  # cards played in this deal
        ("first_winner", "i1"),  # who took the first trick; NO_SEAT before
        ("last_seat", "i1"),  # who took the last complete trick; NO_SEAT
        ("deal", "i2"),  # deals of this episode before this one
    ]
    return np.dtype(common + own_fields, align=True)
