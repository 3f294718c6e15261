"""The cards as the exact solver of Viersche numbers them: a card's number says its points whatever is trump."""

from __future__ import annotations

import numpy as np

from ..envs.bits import bit, highest, lowest, popcount
from ..envs.jit import kernel
from ..envs.viersche import CARDS

# The solver's own numbers of the cards: the suit that lacks the Little Man, the two others, and trumps on top,
# ascending in each. A trump beats what has a lower number, a plain card what has a lower one in its suit.
STARTS = (0, 8, 17, 26, 36)
TRUMP, TRUMPS_FROM = 3, STARTS[3]
OLD_MAN = CARDS - 1
ALL = (1 << CARDS) - 1
SUITS = tuple((1 << STARTS[suit + 1]) - (1 << STARTS[suit]) for suit in range(4))
TRUMPS = SUITS[TRUMP]
SHORT, LONG = (0, 0, 0, 0, 10, 3, 4, 11), (0, 0, 0, 0, 10, 2, 3, 4, 11)
POINTS = np.array([*SHORT, *LONG, *LONG, *SHORT, 12, 12], np.int64)
SUIT_OF = np.repeat(np.arange(4), np.diff(STARTS))
SUIT_START = np.array([STARTS[suit] for suit in SUIT_OF], np.int64)
SUIT_END = np.array([1 << STARTS[suit + 1] for suit in SUIT_OF], np.int64)  # the first card of the next suit, as a set
WORTH_0, WORTH_2, WORTH_3, WORTH_4, WORTH_10, WORTH_11, WORTH_12 = (
    sum(1 << card for card in range(CARDS) if POINTS[card] == points) for points in (0, 2, 3, 4, 10, 11, 12)
)
TRUMP_POINTS = np.array(
    [sum(int(POINTS[TRUMPS_FROM + i]) for i in range(10) if cards >> i & 1) for cards in range(1 << 10)], np.int64
)  # of a set of trumps
NOTHING = -1  # no card that could take the trick: before the lead, and where only a face-down one lies


@kernel
def points_of(cards: int) -> int:
    """The points of a set of cards."""
    points = 11 * popcount(cards & WORTH_11) + 10 * popcount(cards & WORTH_10) + 12 * popcount(cards & WORTH_12)
    return points + 4 * popcount(cards & WORTH_4) + 3 * popcount(cards & WORTH_3) + 2 * popcount(cards & WORTH_2)


@kernel
def beats(card: int, best: int, led: int) -> bool:
    """Whether a card takes the trick from the best one in it."""
    return card > best and (card >= TRUMPS_FROM or SUIT_OF[card] == led)


@kernel
def beaters(best: int) -> int:
    """The cards that would take a trick from its best card."""
    higher = np.int64(ALL) & ~((bit(best) << 1) - 1)
    return higher & TRUMPS | higher & (SUIT_END[best] - 1)


@kernel
def may_play(hand: int, place: int, led: int, opening: int, exempt: int) -> int:
    """The legal cards of a hand; the same rule as `legal` of the game."""
    trumps = hand & TRUMPS
    if place == 0:
        return trumps if opening and trumps else hand
    if led == TRUMP:
        return trumps if trumps and not (exempt and trumps == bit(OLD_MAN)) else hand
    suit = hand & suit_set(led)
    return suit | trumps if suit else hand


@kernel
def suit_set(suit: int) -> int:
    """The cards of a suit."""
    return SUITS[3] if suit == 3 else SUITS[2] if suit == 2 else SUITS[1] if suit == 1 else SUITS[0]


@kernel
def takes(card: int, other: int, third: int, fourth: int) -> int:
    """Which of four cards takes a trick that the first one leads: 0 to 3."""
    best, led, winner = card, SUIT_OF[card], np.int64(0)
    if beats(other, best, led):
        best, winner = other, np.int64(1)
    if beats(third, best, led):
        best, winner = third, np.int64(2)
    return np.int64(3) if beats(fourth, best, led) else winner


@kernel
def dearest(cards: int) -> int:
    """One of the cards with the most points in a set."""
    for worth in (WORTH_12, WORTH_11, WORTH_10, WORTH_4, WORTH_3, WORTH_2):
        if cards & worth:
            return lowest(cards & worth)
    return lowest(cards)


@kernel
def cheapest(cards: int) -> int:
    """One of the cards with the fewest points in a set."""
    for worth in (WORTH_0, WORTH_2, WORTH_3, WORTH_4, WORTH_10, WORTH_11):
        if cards & worth:
            return lowest(cards & worth)
    return lowest(cards)


@kernel
def same_worth(card: int) -> int:
    """All cards that count as much as a card."""
    points = POINTS[card]
    if points == 0:
        return np.int64(WORTH_0)
    return bit(card) | (np.int64(WORTH_12) if points == 12 else np.int64(0))


@kernel
def over(own: int, others: int) -> int:
    """The cards above all others."""
    return own & ~((bit(highest(others)) << 1) - 1) if others else own


@kernel
def lengths(cards: int) -> int:
    """How many cards each suit has, as one number."""
    return popcount(cards & SUITS[0]) | popcount(cards & SUITS[1]) << 4 | popcount(cards & SUITS[2]) << 8
