"""The observation of Viersche: a view as one flat int8 vector, seats relative to the observer.

Version 2. Seat 0 of a slice is the observer, seat 2 its partner; side 0 is the observer's. (Version 1 also held the
unseen cards, which are those of the deck that no other slice shows.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .bits import bit, copy_bytes, spread, store4, thermometer
from .cards import FACE_DOWN, NO_CARD
from .encoding import Encoding, Piece, by_observer, card_bit, quads_by_observer, seat_bit, void_bits
from .jit import kernel
from .state import SEAT_BITS
from .viersche import (
    CARDS,
    DEAL_POINTS,
    EPISODES,
    HAND_SIZE,
    SEATS,
    TRUMPS,
    Options,
    card_points,
    led_suit,
    strength,
    suit_cards,
    suit_of,
)

VERSION = 2
TENS, UNITS = 14, 10
LADDER_STEPS = 8
TARGET_STEPS = (80, 90, 100, 110, 120, 130, 140)
COUNT_STEPS = 6
FIVE = 5  # card points in one class of the forecast


def pieces(players: int) -> list[Piece]:
    """The slices of an observation."""
    return [
        Piece("hand", CARDS, "cards held", axis="card"),
        Piece("played", SEATS * CARDS, "cards seen played in this deal, by seat", axis="card"),
        Piece("trick", CARDS, "cards seen in the current trick", axis="card"),
        Piece("best", CARDS, "the card that wins the trick as it lies", axis="card"),
        Piece("trumps", CARDS, "the ten cards that are trumps", axis="card"),
        Piece("turn_up", CARDS, "the card turned up, while the dealer still holds it", axis="card"),
        Piece("when", CARDS, "when each card was played: 1 for the first of the deal, 0 not yet", CARDS, "card"),
        Piece(
            "voids",
            16,
            "suits (C D H S) that a seat has shown not to hold, by seat; the Little Man is a trump",
            axis="suit",
        ),
        Piece("bare", 4, "seats shown to hold no trump but perhaps the Old Man"),
        Piece("mover", 4, "who is to play"),
        Piece("leader", 4, "who led the current trick"),
        Piece("winner", 4, "who would take it as it lies"),
        Piece("dealer", 4, "who dealt"),
        Piece("trump", 4, "the trump suit", axis="suit"),
        Piece("led_suit", 4, "suit led to the current trick", axis="suit"),
        Piece("face_down_lead", 4, "who led face down to the first trick"),
        Piece("flags", 4, "first trick; second deal of the round; a card lies hidden; a trick is under way"),
        Piece("points", 2 * (TENS + UNITS), "card points by side: tens as thermometer, units one-hot"),
        Piece("carried", 2 * (TENS + UNITS), "points carried from the first deal, likewise"),
        Piece("trick_points", 16, "points seen in the current trick: tens as thermometer of 6, units one-hot"),
        Piece("tricks_taken", 4, "tricks taken, by seat", HAND_SIZE),
        Piece("rungs", 2 * LADDER_STEPS, "rungs left over the ladder's length, thermometers by side"),
        Piece("marks", 2 * LADDER_STEPS, "marks over those that lose the session, thermometers by side"),
        Piece("rules", 40, "the rule options and the episode"),
    ]


def hidden(players: int) -> list[Piece]:
    """What the full state has beyond the observation."""
    return [
        Piece("other_hands", (SEATS - 1) * CARDS, "hands of the other seats", axis="card"),
        Piece("hidden_card", CARDS, "the first lead that lay face down", axis="card"),
    ]


def rule_bits(options: Options) -> int:
    """The options as 40 bits; the order is part of the encoding's version."""
    flags = [options.trump == value for value in TRUMPS]
    flags += [options.reveal_face_down == "never", options.jack_exempt]
    flags += [options.episode == value for value in EPISODES]
    flags += [options.target >= step for step in TARGET_STEPS]
    for value in (options.rungs, options.sweep_rungs, options.shutout_marks):
        flags += [value > step for step in range(1, COUNT_STEPS)]
    flags += [options.marks > step for step in range(1, COUNT_STEPS + 1)]
    return sum(1 << place for place, flag in enumerate(flags) if flag)


@kernel
def exact(points: int) -> int:
    """A count of points as a thermometer of tens and a one-hot of units: 24 bits, nothing lost up to 149."""
    return thermometer(points // 10, TENS) | bit(TENS + points % 10)


@kernel
def write(view: Any, at: int) -> int:
    """Write the observation of a view from the address `at` on; returns the address after it."""
    me = np.int64(view.observer) & SEAT_BITS
    at, trick_points = write_cards(view, at, me)
    tricks, bare, led = np.int64(0), np.int64(view.bare), led_suit(view)
    for seat in range(SEATS):
        tricks |= np.int64(np.uint8(view.tricks[seat])) << 8 * seat  # unsigned: four bytes are read as one word
    face_down = seat_bit((view.dealer + 1) & SEAT_BITS) if view.face_down != NO_CARD else 0
    flags = np.int64(view.trick_number == 0) | np.int64(view.second_deal != 0) << 1
    flags |= np.int64(view.face_down == FACE_DOWN) << 2 | np.int64(led >= 0) << 3
    quads = bare | seat_bit(view.seat) << 4 | seat_bit(view.leader) << 8 | seat_bit(view.winner) << 12
    quads = quads_by_observer(quads | seat_bit(view.dealer) << 16 | face_down << 20, SEATS, me)
    word = by_observer(void_bits(view), 4, SEATS, me) | (quads & 0xFFFFF) << 16 | bit(view.trump) << 36
    word |= seat_bit(led) << 40 | quads >> 20 << 44 | flags << 48
    at = spread(at, word, 52)
    own, other = me & 1, 1 - (me & 1)
    width = TENS + UNITS
    at = spread(at, exact(np.int64(view.points[own])) | exact(np.int64(view.points[other])) << width, 48)
    at = spread(at, exact(np.int64(view.carried[own])) | exact(np.int64(view.carried[other])) << width, 48)
    at = spread(at, thermometer(trick_points // 10, 6) | bit(6 + trick_points % 10), 16)
    at = store4(at, by_observer(tricks, 8, SEATS, me))
    ladders = steps(view.rungs[own], view.ladder) | steps(view.rungs[other], view.ladder) << LADDER_STEPS
    marks = steps(view.marks[own], view.session_marks) | steps(view.marks[other], view.session_marks) << LADDER_STEPS
    at = spread(at, ladders | marks << 2 * LADDER_STEPS, 32)
    return spread(at, view.rule_bits, 40)


@kernel
def steps(count: int, whole: int) -> int:
    """A share of a ladder in eighths, rounded up, as a thermometer."""
    return thermometer(np.int64(np.ceil(count * (1.0 * LADDER_STEPS) / whole)), LADDER_STEPS)  # exact, and faster


@kernel
def write_cards(view: Any, at: int, me: int) -> tuple[int, int]:
    """The slices that are sets of cards, and when each was played; returns the place and the trick's points."""
    played, trick, trick_points = np.int64(0), np.int64(0), np.int64(0)
    for seat in range(SEATS):
        played |= view.played[seat]
        trick |= card_bit(view.trick[seat])
        if view.trick[seat] >= 0:
            trick_points += card_points(view.trick[seat], view.trump)
    at = spread(at, view.hands[me], CARDS)
    for offset in range(SEATS):
        at = spread(at, view.played[(me + offset) & 3], CARDS)
    at = spread(at, trick, CARDS)
    at = spread(at, card_bit(view.best), CARDS)
    at = spread(at, suit_cards(view.trump, view.trump), CARDS)
    at = spread(at, card_bit(view.turn_up) & ~played, CARDS)
    return copy_bytes(at, view.when, CARDS), trick_points


@kernel
def write_hidden(state: Any, seat: int, at: int) -> int:
    """Write what the view of `seat` lacks of the state from the address `at` on; returns the address after it."""
    for offset in range(1, SEATS):
        at = spread(at, state.hands[(seat + offset) & 3], CARDS)
    return spread(at, card_bit(state.face_down), CARDS)


def forecasts(players: int) -> dict[str, tuple[str, ...]]:
    """Card points of the observer's side in fives, and its tricks."""
    fives = tuple(f"{low} to {low + FIVE - 1}" for low in range(0, DEAL_POINTS, FIVE))
    return {"points": (*fives, str(DEAL_POINTS)), "tricks": tuple(str(tricks) for tricks in range(HAND_SIZE + 1))}


@kernel
def foretold(state: Any, seat: int, out: Any) -> None:
    """The true outcomes of `forecasts` for a seat, once the deal is over."""
    out[0] = state.points[seat & 1] // FIVE
    out[1] = np.int64(state.tricks[seat]) + state.tricks[(seat + 2) & SEAT_BITS]


def constant(options: Options) -> list[str]:
    """Slices that never change under these rules."""
    found = ["rules"] + ([] if options.jack_exempt else ["bare"])
    if options.episode == "deal":
        found += ["carried"]
    return found + (["rungs", "marks"] if options.episode in ("deal", "round") else [])


def ranking() -> tuple[np.ndarray, np.ndarray]:
    """Suit and strength of each card int64[36] where the first suit is trumps."""
    cards = range(CARDS)
    return np.array([suit_of(card, 0) for card in cards]), np.array([strength(card, 0) for card in cards])


def counts() -> np.ndarray:
    """Points of each card int64[36] where the first suit is trumps."""
    return np.array([card_points(card, 0) for card in range(CARDS)])


KNOWN = (("turn_up", "dealer"),)
ENCODING = Encoding(
    VERSION, pieces, hidden, constant, write, write_hidden, forecasts, foretold, "trump", ranking, KNOWN, counts
)
