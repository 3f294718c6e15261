"""Whist at its plainest: the rules as kernels over the game's state.

Four players, partners opposite (seats 0 and 2 against 1 and 3), 52 cards, thirteen each. Forehand leads anything,
suit is followed, the highest trump or else the highest card of the suit led takes the trick. A deal is worth the
tricks that a side takes. Decided: one deal is one episode, and trumps are drawn or fixed (option `trump`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from stich.envs.bits import bit
from stich.envs.cards import HERZELN_DECK, NO_SEAT
from stich.envs.jit import kernel
from stich.envs.options import choices
from stich.envs.rng import below, combine, deal_key
from stich.envs.state import DEAL_OVER, EPISODE_OVER, NO_OBSERVER, PLAY, state_dtype
from stich.envs.tricks import clear_table, conceal_common, gather_trick, lead_next, next_seat

CARDS, RANKS, SEATS, HAND_SIZE = HERZELN_DECK.size, 13, 4, 13
SUIT, ALL = (1 << RANKS) - 1, (1 << CARDS) - 1
DEAL_POINTS = HAND_SIZE  # what a deal is worth: payoffs are divided by it


@dataclass(frozen=True)
class Options:
    """The rule options of whist; the defaults are preset `whist`.

    Attributes:
        trump: How trumps are made: a suit drawn, or a fixed one.
        players: Seats at the table.
        episode: How much one episode holds.
    """

    trump: Literal["random", "C", "D", "H", "S"] = "random"
    players: Literal[4] = 4
    episode: Literal["deal"] = "deal"


PRESETS: dict[str, dict[str, Any]] = {"whist": {}, "spades": {"trump": "S"}}
TRUMPS = choices(Options, "trump")  # the state holds the place of the option's value

STATE = state_dtype(
    CARDS,
    [
        ("score", "i2", 2),  # tricks of each side in the last deal that was scored
        ("trump", "i1"),  # the suit
        ("trump_rule", "i1"),  # the option
    ],
)


def set_options(state: Any, options: Options) -> None:
    """Write the options into a fresh state; the kernels read them only there."""
    state["players"], state["hand_size"], state["observer"] = SEATS, HAND_SIZE, NO_OBSERVER
    state["trump_rule"] = TRUMPS.index(options.trump)


@kernel
def suit_of(card: int, trump: int) -> int:
    """The suit that a card belongs to."""
    return np.int64(card) // RANKS


@kernel
def strength(card: int, trump: int) -> int:
    """By which the cards of a trick are compared, where they are trumps or of the suit led."""
    return np.int64(card) % RANKS + (RANKS if np.int64(card) // RANKS == trump else 0)


@kernel
def worth(state: Any, card: int) -> int:
    """A number that two cards share which count the same to whoever takes them: here all cards do."""
    return 0


@kernel
def open_episode(state: Any) -> None:
    """The first dealer is drawn."""
    state.deal = 0
    state.dealer = below(combine(deal_key(state.seed, state.lane, state.lane_deal), 1), 0, SEATS)


@kernel
def draw_deal(state: Any) -> None:
    """Shuffle, deal and make trumps, all by the key of (seed, lane, lane_deal)."""
    key = deal_key(state.seed, state.lane, state.lane_deal)
    deck = np.arange(CARDS)
    for left in range(CARDS, 0, -1):
        pick = below(key, left, left)
        deck[pick], deck[left - 1] = deck[left - 1], deck[pick]
    for seat in range(SEATS):
        hand = np.int64(0)
        for place in range(HAND_SIZE):
            hand |= bit(deck[seat * HAND_SIZE + place])
        state.hands[seat] = hand
    state.trump = below(combine(key, 2), 0, 4) if state.trump_rule == 0 else state.trump_rule - 1
    begin_deal(state)


@kernel
def begin_deal(state: Any) -> None:
    """Everything about a deal but its hands, dealer and trump, which are set."""
    clear_table(state)
    state.leader = next_seat(state, state.dealer)
    state.seat = state.leader
    state.phase = PLAY


@kernel
def legal(state: Any) -> int:
    """The set of cards that the seat to move may play: of the suit led, if it has any."""
    if state.phase >= DEAL_OVER:
        return np.int64(0)
    hand = state.hands[state.seat]
    if state.seat == state.leader:
        return hand
    led = np.int64(state.trick[state.leader]) // RANKS
    follows = hand & (SUIT << RANKS * led)
    return follows if follows else hand


@kernel
def play(state: Any, card: int) -> None:
    """Play a legal card; scores the deal with its last card."""
    seat, trump = np.int64(state.seat), np.int64(state.trump)
    state.hands[seat] &= ~bit(card)
    state.played[seat] |= bit(card)
    state.plays += 1
    state.when[card] = state.plays
    state.trick[seat] = card
    led = np.int64(state.trick[state.leader]) // RANKS
    suit = card // RANKS
    if suit != led:
        state.voids[seat] |= 1 << led
    if seat == state.leader or (suit in (led, trump) and strength(card, trump) > strength(state.best, trump)):
        state.best, state.winner = card, seat
    following = next_seat(state, seat)
    if following != state.leader:
        state.seat = following
    elif gather_trick(state):
        score_deal(state)
    else:
        lead_next(state)


@kernel
def score_deal(state: Any) -> None:
    """Tricks by side; the deal is the episode."""
    for side in range(2):
        state.score[side] = state.tricks[side] + state.tricks[side + 2]
    state.phase = EPISODE_OVER


@kernel
def final_score(state: Any, out: Any) -> None:
    """The episode's score by seat: tricks of its side."""
    for seat in range(SEATS):
        out[seat] = state.score[seat & 1]


@kernel
def rewards(state: Any, kind: int, out: Any) -> None:
    """Reward of each seat for the deal just scored, of kind 0 "points", 1 "payoff", 2 "result"."""
    for seat in range(SEATS):
        difference = np.float64(state.score[seat & 1] - state.score[1 - (seat & 1)])
        out[seat] = difference if kind == 0 else difference / DEAL_POINTS if kind == 1 else np.sign(difference)


@kernel
def conceal(view: Any, seat: int) -> None:
    """Erase from a copy of the state what `seat` can't know: the other hands, and what keys the draws."""
    conceal_common(view, seat)


EVENTS = ()  # names of what `watch` counts by seat


@kernel
def watch(state: Any, memory: int, out: Any) -> int:
    """Nothing in this game is counted by seat."""
    return NO_SEAT
