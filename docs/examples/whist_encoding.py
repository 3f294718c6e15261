"""The observation of whist: a view as one flat int8 vector, seats relative to the observer. Version 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from stich.envs.bits import bit, spread, store4
from stich.envs.encoding import Encoding, Piece, by_observer, card_bit, quads_by_observer, seat_bit, void_bits
from stich.envs.jit import kernel

from .whist import CARDS, HAND_SIZE, SEATS, TRUMPS, Options


def pieces(players: int) -> list[Piece]:
    """The slices of an observation."""
    return [
        Piece("hand", CARDS, "cards held", axis="card"),
        Piece("played", SEATS * CARDS, "cards played in this deal, by seat", axis="card"),
        Piece("trick", CARDS, "cards in the current trick", axis="card"),
        Piece("best", CARDS, "the card that wins the trick as it lies", axis="card"),
        Piece("voids", 16, "suits (C D H S) that a seat has shown not to hold, by seat", axis="suit"),
        Piece("mover", 4, "who is to play"),
        Piece("leader", 4, "who led the current trick"),
        Piece("winner", 4, "who would take it as it lies"),
        Piece("dealer", 4, "who dealt"),
        Piece("trump", 4, "the trump suit", axis="suit"),
        Piece("tricks_taken", 4, "tricks taken, by seat", HAND_SIZE),
        Piece("rules", 8, "the rule options"),
    ]


def hidden(players: int) -> list[Piece]:
    """What the full state has beyond the observation."""
    return [Piece("other_hands", (SEATS - 1) * CARDS, "hands of the other seats", axis="card")]


def rule_bits(options: Options) -> int:
    """The options as 8 bits; the order is part of the encoding's version."""
    return 1 << TRUMPS.index(options.trump)


@kernel
def write(view: Any, at: int) -> int:
    """Write the observation of a view from the address `at` on; returns the address after it."""
    me = np.int64(view.observer)
    trick, tricks = np.int64(0), np.int64(0)
    for seat in range(SEATS):
        trick |= card_bit(view.trick[seat])
        tricks |= np.int64(view.tricks[seat]) << 8 * seat
    at = spread(at, view.hands[me], CARDS)
    for offset in range(SEATS):
        at = spread(at, view.played[(me + offset) % SEATS], CARDS)
    at = spread(at, trick, CARDS)
    at = spread(at, card_bit(view.best) if trick else 0, CARDS)
    seats = seat_bit(view.seat) | seat_bit(view.leader) << 4 | seat_bit(view.winner) << 8 | seat_bit(view.dealer) << 12
    word = by_observer(void_bits(view), 4, SEATS, me) | quads_by_observer(seats, SEATS, me) << 16
    at = spread(at, word | bit(view.trump) << 32, 36)
    at = store4(at, by_observer(tricks, 8, SEATS, me))
    return spread(at, view.rule_bits, 8)


@kernel
def write_hidden(state: Any, seat: int, at: int) -> int:
    """Write what the view of `seat` lacks of the state from the address `at` on; returns the address after it."""
    for offset in range(1, SEATS):
        at = spread(at, state.hands[(seat + offset) % SEATS], CARDS)
    return at


def forecasts(players: int) -> dict[str, tuple[str, ...]]:
    """What a network may foretell of a deal: the tricks of the observer's side."""
    return {"tricks": tuple(str(tricks) for tricks in range(HAND_SIZE + 1))}


@kernel
def foretold(state: Any, seat: int, out: Any) -> None:
    """The true outcomes of `forecasts` for a seat, once the deal is over."""
    out[0] = state.score[seat & 1]


def constant(options: Options) -> list[str]:
    """Slices that never change under these rules; networks leave them out."""
    return ["rules"] + (["trump"] if options.trump != "random" else [])


ENCODING = Encoding(1, pieces, hidden, constant, write, write_hidden, forecasts, foretold, main_suit="trump")
