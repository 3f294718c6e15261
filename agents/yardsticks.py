"""The yardstick agents: fixed for good, so that figures stay comparable over the years.

`random`: a uniformly random legal card. `low` and `duck` (Herzeln), `greedy` (Viersche): a few lines each, as
a beginner would play. Their rules never change; a better idea is a new agent.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs import herzeln, viersche
from ..envs.bits import bit, highest, lowest, nth, popcount
from ..envs.cards import HERZELN_DECK, NO_CARD
from ..envs.jit import kernel
from ..envs.rng import below, combine
from ..envs.state import PASS

QUEEN, KING_OF_SPADES, ACE_OF_SPADES = (HERZELN_DECK.parse(card) for card in ("SQ", "SK", "SA"))

# ------------------------------------------------------------------------------------------------ random


@kernel
def random_herzeln(view: Any, key: Any) -> int:
    """A uniformly random legal card; the draw is keyed by the cards this seat has passed and played."""
    cards = herzeln.legal(view)
    turn = popcount(view.passed[view.observer]) + 4 * popcount(view.played[view.observer])
    return nth(cards, below(combine(key, turn), 0, popcount(cards)))


@kernel
def random_viersche(view: Any, key: Any) -> int:
    """A uniformly random legal card; the draw is keyed by the cards this seat has played."""
    cards = viersche.legal(view)
    return nth(cards, below(combine(key, popcount(view.played[view.observer])), 0, popcount(cards)))


# ----------------------------------------------------------------------------------------------- Herzeln


@kernel
def lowest_rank(cards: int) -> int:
    """The card of the lowest rank; of equal ranks the first suit in the order C D H S."""
    for rank in range(herzeln.RANKS):
        for suit in range(4):
            card = suit * herzeln.RANKS + rank
            if cards >> card & 1:
                return card
    return NO_CARD


@kernel
def highest_rank(cards: int) -> int:
    """The card of the highest rank; of equal ranks the last suit in the order C D H S."""
    for rank in range(herzeln.RANKS - 1, -1, -1):
        for suit in range(3, -1, -1):
            card = suit * herzeln.RANKS + rank
            if cards >> card & 1:
                return card
    return NO_CARD


@kernel
def suit_led(view: Any) -> int:
    """The cards of the suit led to the current trick."""
    return herzeln.SUIT << herzeln.RANKS * (np.int64(view.trick[view.leader]) // herzeln.RANKS)


@kernel
def low_herzeln(view: Any, key: Any) -> int:
    """`low`: always the lowest legal card; void: the queen of spades, the highest heart, the highest card."""
    cards = herzeln.legal(view)
    if view.phase == PASS or view.seat == view.leader or cards & suit_led(view):
        return lowest_rank(cards)
    if cards & bit(QUEEN):
        return QUEEN
    hearts = cards & herzeln.ALL_HEARTS
    return highest(hearts) if hearts else highest_rank(cards)


@kernel
def duck_herzeln(view: Any, key: Any) -> int:
    """`duck`: stay under the trick, throw the queen, her guards and high hearts when void."""
    cards = herzeln.legal(view)
    if view.phase == PASS:
        return duck_throws(cards, False)
    if view.seat == view.leader:
        return lowest_rank(cards)
    if cards & suit_led(view) == 0:
        return duck_throws(cards, True)
    under = cards & (bit(view.best) - 1)
    if under:
        return highest(under)
    last = herzeln.next_seat(view, view.seat) == view.leader
    trick = np.int64(0)
    for seat in range(view.players):
        if view.trick[seat] >= 0:
            trick |= bit(view.trick[seat])
    without_queen = cards & ~bit(QUEEN) if cards & ~bit(QUEEN) else cards
    return highest(without_queen) if last and trick & herzeln.PENALTY == 0 else lowest(without_queen)


@kernel
def duck_throws(cards: int, hearts_first: bool) -> int:
    """Queen, ace, king of spades, then (void, not passing) the highest heart, then the highest card."""
    if cards & bit(QUEEN):
        return QUEEN
    if cards & bit(ACE_OF_SPADES):
        return ACE_OF_SPADES
    if cards & bit(KING_OF_SPADES):
        return KING_OF_SPADES
    hearts = cards & herzeln.ALL_HEARTS
    return highest(hearts) if hearts_first and hearts else highest_rank(cards)


# ---------------------------------------------------------------------------------------------- Viersche


@kernel
def wins(view: Any, card: int) -> bool:
    """Whether the card would lead the trick as it lies."""
    trump = np.int64(view.trump)
    suit = viersche.suit_of(card, trump)
    if view.seat == view.leader:
        return not (view.plays == 0 and suit != trump)
    if view.best == NO_CARD:
        return suit == trump
    follows = suit == viersche.led_suit(view) or suit == trump
    return follows and viersche.strength(card, trump) > viersche.strength(view.best, trump)


@kernel
def greedy_viersche(view: Any, key: Any) -> int:
    """`greedy`: partner winning: most points; else win as cheaply as possible; else fewest points.

    Cheaply: fewest points, then the weakest card. Equal cards: the lowest number.
    """
    cards = viersche.legal(view)
    partner_wins = view.winner >= 0 and (np.int64(view.winner) ^ np.int64(view.seat)) & 1 == 0
    chosen, chosen_value = NO_CARD, np.int64(0)
    can_win = False
    rest = cards
    while rest:
        can_win = can_win or wins(view, lowest(rest))
        rest &= rest - 1
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        points = viersche.card_points(card, view.trump)
        cost = 64 * points + viersche.strength(card, view.trump)
        value = 64 * points - viersche.strength(card, view.trump) if partner_wins else -cost
        if not partner_wins and can_win and not wins(view, card):
            continue
        if chosen == NO_CARD or value > chosen_value:
            chosen, chosen_value = card, value
    return chosen
