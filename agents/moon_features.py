"""What a seat of Herzeln can count in its own hand and in the play so far that bears on shooting the moon.

All of it comes from the view, so nobody who knows it knows more than that seat. Counts of losers are those of the
rule-based agent: cards that lose a trick when their suit is led from the top and the others' cards lie unevenly.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.bits import bit, highest, popcount
from ..envs.cards import HEARTS, SPADES
from ..envs.herzeln import ALL_HEARTS, CLUB_TWO, QUEEN, RANKS
from ..envs.jit import entry, kernel
from ..envs.state import PASS
from .rules_herzeln import cards_out, holders, losers, moon_possible, of_suit

FEATURES = (
    "cards",  # in hand
    "hearts",
    "spades",
    "longest",  # cards of the longest suit
    "second",  # of the second longest
    "voids",  # suits not held
    "aces",
    "kings",
    "queens",
    "top_hearts",  # hearts that no heart out beats, from the highest down
    "top_cards",  # the same in all suits
    "heart_losers",
    "other_losers",
    "low_cards",  # below the eight
    "queen_held",  # the queen of spades
    "queen_guarded",  # ... with the ace or the king, or as the highest spade there is
    "queen_taken",
    "hearts_taken",
    "hearts_out",  # in the hands of others
    "leads",  # to this trick; before the first one: holds the two of clubs
    "trick",  # number of the trick, 0 the first
    "tricks_taken",
    "possible",  # no other seat has a penalty card
    "passing",  # the hand is the one dealt: three cards will be passed
    "direction",  # offset of the seat that gets them
)
WIDTH = len(FEATURES)
ACE, KING, LADY, LOW = RANKS - 1, RANKS - 2, RANKS - 3, RANKS - 7


def column(name: str) -> int:
    """The place of a feature."""
    return FEATURES.index(name)


@kernel
def top_cards(own: int, out: int) -> int:
    """Cards of a suit that no card out beats."""
    return popcount(own) if out == 0 else popcount(own >> highest(out))


@kernel
def write_features(view: Any, row: Any) -> None:
    """The features of a view, in order, into f32[F]."""
    me = np.int64(view.observer)
    own, out, taken = view.hands[me], cards_out(view), view.taken[me]
    longest, second, voids, tops, low, lost = 0, 0, 0, 0, 0, 0
    ranks = np.zeros(3, np.int64)
    for suit in range(4):
        held, gone = of_suit(own, suit), of_suit(out, suit)
        length = popcount(held)
        second = max(second, min(longest, length))
        longest = max(longest, length)
        voids += length == 0
        tops += top_cards(held, gone)
        low += popcount(held & (bit(LOW) - 1))
        lost += losers(held, gone, holders(view, suit))
        for place in range(3):
            ranks[place] += (held >> (ACE - place)) & 1
    hearts, spades = of_suit(own, HEARTS), of_suit(own, SPADES)
    heart_losers = losers(hearts, of_suit(out, HEARTS), holders(view, HEARTS))
    queen = own & bit(QUEEN) != 0
    guarded = queen and (own >> QUEEN > 1 or out >> QUEEN == 0)
    leads = view.seat == view.leader and view.seat == me if view.plays else own & bit(CLUB_TWO) != 0
    row[0], row[1], row[2], row[3], row[4] = popcount(own), popcount(hearts), popcount(spades), longest, second
    row[5], row[6], row[7], row[8] = voids, ranks[0], ranks[1], ranks[2]
    row[9], row[10] = top_cards(hearts, of_suit(out, HEARTS)), tops
    row[11], row[12], row[13] = heart_losers, lost - heart_losers, low
    row[14], row[15], row[16] = queen, guarded, taken & bit(QUEEN) != 0
    row[17], row[18] = popcount(taken & ALL_HEARTS), popcount(out & ALL_HEARTS)
    row[19], row[20], row[21] = leads, view.trick_number, view.tricks[me]
    row[22], row[23], row[24] = moon_possible(view), view.phase == PASS, view.direction


@entry
def _features(views: Any, out: Any) -> None:
    for i in range(len(views)):
        write_features(views[i], out[i])


def moon_features(views: np.ndarray) -> np.ndarray:
    """f32[N, F] of views [N]; the columns are `FEATURES`."""
    out = np.empty((len(views), WIDTH), np.float32)
    _features(views, out)
    return out


PROMISING, PROMISING_AS_IT_IS = 11, 7  # losers with three cards to pass, and without


def lost_cards(features: np.ndarray) -> np.ndarray:
    """int64[N]: losers of each hand, a heart counting twice."""
    return (2 * features[:, column("heart_losers")] + features[:, column("other_losers")]).astype(np.int64)


def promising(features: np.ndarray, more: int = 0) -> np.ndarray:
    """bool[N]: hands worth a second look, by a measure that needs no fitting; about one in five.

    Args:
        features: f32[N, F].
        more: So many losers more are let through.
    """
    limit = np.where(features[:, column("passing")] > 0, PROMISING, PROMISING_AS_IT_IS) + more
    return (lost_cards(features) <= limit) & (features[:, column("possible")] > 0)
