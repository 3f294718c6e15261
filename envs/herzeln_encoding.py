"""The observation of Herzeln: a view as one flat int8 vector, seats relative to the observer.

Version 2. Seat 0 of a slice is the observer, seat 1 the next to play, and so on. (Version 1 also held the unseen
cards, which are those of the deck that no other slice shows.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .bits import bit, copy_bytes, popcount, spread, store4, thermometer
from .cards import HEARTS, NO_SEAT
from .encoding import Encoding, Piece, by_observer, card_bit, quads_by_observer, seat_bit, void_bits
from .herzeln import (
    CARDS,
    DEAL_POINTS,
    EPISODES,
    FIRST_LEADS,
    JACK,
    MOONS,
    PASSINGS,
    QUEEN,
    SUIT,
    Options,
    penalty_points,
    taken_by,
)
from .jit import kernel, part
from .state import MAX_SEATS, PASS, SEAT_BITS

VERSION = 2
HEARTS_IN_SUIT = 13
SCORE_STEPS, SCORE_ZERO, SCORE_TARGET = 26, 6, 20  # thermometer of score / target in steps of 1/20 from -6/20 to 1
NO_SCORE = (1 << SCORE_ZERO) - 1  # the thermometer of no points
TARGET_STEPS = (10, 25, 50, 75, 100, 150, 250, 500)


def pieces(players: int) -> list[Piece]:
    """The slices of an observation."""
    found = [
        Piece("hand", CARDS, "cards held", axis="card"),
        Piece("played", players * CARDS, "cards played in this deal, by seat", axis="card"),
        Piece("trick", CARDS, "cards in the current trick", axis="card"),
        Piece("best", CARDS, "the card that wins the trick as it lies", axis="card"),
    ]
    if players > 2:
        found += [
            Piece("passed", CARDS, "cards that the observer has passed", axis="card"),
            Piece("received", CARDS, "cards that the observer has received", axis="card"),
        ]
    if players == 3:
        found += [Piece("kitty", CARDS, "the kitty, where the observer has won it", axis="card")]
    return [
        *found,
        Piece("when", CARDS, "when each card was played: 1 for the first of the deal, 0 not yet", CARDS, "card"),
        Piece("hearts_taken", 4 * HEARTS_IN_SUIT, "hearts taken, 2 to ace, by seat (the kitty where known)"),
        Piece("voids", 16, "suits (C D H S) that a seat has shown not to hold, by seat", axis="suit"),
        Piece("queen_taken", 4, "who took the queen of spades"),
        Piece("jack_taken", 4, "who took the jack of diamonds"),
        Piece("mover", 4, "who is to pass or play"),
        Piece("leader", 4, "who led the current trick"),
        Piece("winner", 4, "who would take it as it lies"),
        Piece("dealer", 4, "who dealt"),
        Piece("receiver", 4, "who receives the observer's passed cards; the observer where nothing is passed"),
        Piece("passes", 4, "one-hot: 0, 1 or 2 cards passed, where the observer is passing; then: passing is going on"),
        Piece("flags", 4, "hearts broken; first trick; hand of the full size; a trick is under way"),
        Piece("led_suit", 4, "suit led to the current trick", axis="suit"),
        Piece("tricks_taken", 4, "tricks taken, by seat", CARDS // 2),
        Piece("scores", 4 * SCORE_STEPS, "points of the game over the target, thermometers by seat"),
        Piece("rules", 32, "the rule options and the episode"),
    ]


def hidden(players: int) -> list[Piece]:
    """What the full state has beyond the observation."""
    found = [Piece("other_hands", (players - 1) * CARDS, "hands of the other seats", axis="card")]
    if players > 2:
        found += [Piece("other_passed", (players - 1) * CARDS, "cards that the other seats have passed", axis="card")]
    if players == 3:
        found += [Piece("hidden_kitty", CARDS, "the kitty", axis="card")]
    return found


def rule_bits(options: Options) -> int:
    """The options as 32 bits; the order is part of the encoding's version."""
    flags = [options.first_lead == value for value in FIRST_LEADS]
    flags += [options.points_in_first_trick, options.must_break_hearts, options.queen_breaks_hearts]
    flags += [options.hearts_instead_of_queen]
    flags += [options.passing == value for value in PASSINGS]
    flags += [options.moon == value for value in MOONS]
    flags += [options.jack_of_diamonds, options.no_trick_bonus]
    flags += [options.three_players == "drop_club_two", options.three_players == "kitty"]
    flags += [options.two_players == "half", options.tie == "extra_deals", options.first_dealer == "last"]
    flags += [options.episode == EPISODES[1]]
    flags += [options.target >= step for step in TARGET_STEPS]
    return sum(1 << place for place, flag in enumerate(flags) if flag)


@kernel
def write(view: Any, at: int) -> int:
    """Write the observation of a view from the address `at` on; returns the address after it."""
    if view.players == MAX_SEATS:
        return write_for(view, at, MAX_SEATS)  # with a constant number of players the compiler unrolls all loops
    return write_for(view, at, np.int64(view.players))


@part
def write_for(view: Any, at: int, players: int) -> int:
    """`write` for a number of players."""
    me = np.int64(view.observer) & SEAT_BITS
    at = write_cards(view, at, players, me)
    hearts, by_seat, tricks = write_taken(view, players)
    at = spread(at, by_observer(hearts, HEARTS_IN_SUIT, players, me), 52)
    passing = view.phase == PASS
    passes = bit(popcount(view.passed[me])) | 8 if passing and view.seat == me else (8 if passing else 0)
    flags = np.int64(view.broken) | (view.trick_number == 0) << 1
    flags |= (popcount(view.hands[me]) == view.hand_size) << 2 | (view.best >= 0) << 3
    led = bit(view.trick[view.leader & SEAT_BITS] // (CARDS // 4)) if view.best >= 0 else 0
    by_seat |= seat_bit(view.seat) << 8 | seat_bit(view.leader) << 12
    by_seat |= seat_bit(view.winner) << 16 | seat_bit(view.dealer) << 20
    word = by_observer(void_bits(view), 4, players, me) | quads_by_observer(by_seat, players, me) << 16
    word |= bit(view.direction) << 40 | passes << 44 | flags << 48 | led << 52
    at = spread(at, word, 56)
    at = store4(at, by_observer(tricks, 8, players, me))
    return spread(write_scores(view, at, players, me), view.rule_bits, 32)


@part
def write_cards(view: Any, at: int, players: int, me: int) -> int:
    """The slices that are sets of cards, and when each card was played."""
    trick = np.int64(0)
    for seat in range(MAX_SEATS):  # empty seats have nothing in it; a fixed number makes no loop
        trick |= card_bit(view.trick[seat])
    at = spread(at, view.hands[me], CARDS)
    for offset in range(players):
        seat = me + offset
        at = spread(at, view.played[seat - players if seat >= players else seat], CARDS)
    at = spread(at, trick, CARDS)
    at = spread(at, card_bit(view.best), CARDS)
    if players > 2:
        at = spread(at, view.passed[me], CARDS)
        at = spread(at, view.received[me], CARDS)
    if players == 3:
        at = spread(at, card_bit(view.kitty), CARDS)
    return copy_bytes(at, view.when, CARDS)


@part
def write_taken(view: Any, players: int) -> tuple[int, int, int]:
    """By seat: hearts taken (13 bits a seat), who took the queen and the jack (4 bits each), tricks (8 bits a seat)."""
    hearts, queen, jack, tricks = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for seat in range(MAX_SEATS):
        cards = view.taken[seat]
        hearts |= (cards >> HEARTS * HEARTS_IN_SUIT & SUIT) << HEARTS_IN_SUIT * seat
        queen |= (cards >> QUEEN & 1) << seat
        jack |= (cards >> JACK & 1) << seat
        tricks |= np.int64(np.uint8(view.tricks[seat])) << 8 * seat  # unsigned: four bytes are read as one word
    if players == 3 and view.kitty >= 0 and view.first_winner >= 0:
        seat, cards = np.int64(view.first_winner), card_bit(view.kitty)
        hearts |= (cards >> HEARTS * HEARTS_IN_SUIT & SUIT) << HEARTS_IN_SUIT * seat
        queen |= (cards >> QUEEN & 1) << seat
        jack |= (cards >> JACK & 1) << seat
    return hearts, queen | jack << 4, tricks


@part
def write_scores(view: Any, at: int, players: int, me: int) -> int:
    """The thermometers of all totals; nobody has a point in most deals that are played for themselves."""
    totals = view.totals
    if (totals[0] | totals[1] | totals[2] | totals[3]) == 0:
        at = spread(at, NO_SCORE | NO_SCORE << SCORE_STEPS, 52)
        return spread(at, (NO_SCORE if players > 2 else 0) | (NO_SCORE << SCORE_STEPS if players > 3 else 0), 52)
    own, left = score_bits(view, players, me), score_bits(view, players, me + 1)
    at = spread(at, own | left << SCORE_STEPS, 52)
    third = score_bits(view, players, me + 2) if players > 2 else 0
    fourth = score_bits(view, players, me + 3) if players > 3 else 0
    return spread(at, third | fourth << SCORE_STEPS, 52)


@part
def score_bits(view: Any, players: int, seat: int) -> int:
    """The thermometer of a seat's total over the target; seats are counted on round the table."""
    total = view.totals[seat - players if seat >= players else seat]
    level = np.int64(0)
    if total != 0:
        level = np.int64(np.floor(total * (1.0 * SCORE_TARGET) / view.target))  # faster than with integers
    return thermometer(level + SCORE_ZERO, SCORE_STEPS)


@kernel
def write_hidden(state: Any, seat: int, at: int) -> int:
    """Write what the view of `seat` lacks of the state from the address `at` on; returns the address after it."""
    players = np.int64(state.players)
    for offset in range(1, players):
        at = spread(at, state.hands[(seat + offset) % players], CARDS)
    if players > 2:
        for offset in range(1, players):
            at = spread(at, state.passed[(seat + offset) % players], CARDS)
    if players == 3:
        at = spread(at, bit(state.kitty) if state.kitty >= 0 else 0, CARDS)
    return at


def forecasts(players: int) -> dict[str, tuple[str, ...]]:
    """Penalty points that the observer will have taken, and who will have taken all of them."""
    others = tuple(f"seat {offset}" for offset in range(1, players))  # in the order of play from the observer
    return {"points": tuple(str(points) for points in range(DEAL_POINTS + 1)), "moon": ("nobody", "self", *others)}


@kernel
def foretold(state: Any, seat: int, out: Any) -> None:
    """The true outcomes of `forecasts` for a seat, once the deal is over."""
    out[0] = penalty_points(taken_by(state, seat))
    out[1] = 0 if state.moon_seat == NO_SEAT else 1 + (state.moon_seat - seat) % np.int64(state.players)


def constant(options: Options) -> list[str]:
    """Slices that never change under these rules."""
    found = ["rules"] + (["scores"] if options.episode == "deal" else [])
    if options.players > 2 and options.passing == "none":
        found += ["passed", "received", "other_passed"]
    return found + (["receiver", "passes"] if options.players == 2 or options.passing == "none" else [])


def counts() -> np.ndarray:
    """Penalty points of each card int64[52] under the usual rules."""
    return np.array([penalty_points(1 << card) for card in range(CARDS)])


ENCODING = Encoding(
    VERSION,
    pieces,
    hidden,
    constant,
    write,
    write_hidden,
    forecasts,
    foretold,
    known=(("passed", "receiver"),),
    counts=counts,
)
