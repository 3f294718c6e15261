"""What a view of Viersche says about the unseen cards; `worlds` deals them out.

Places 0 to 2 are the hands of the seats after the observer, place 3 is the first lead where it lies face down.
`voids` and `bare` hold what the plays have shown; the turn-up is with the dealer; a hidden card is no trump, and a
deal that goes on or is over tells of its points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.bits import bit, lowest, popcount
from ..envs.cards import FACE_DOWN
from ..envs.jit import kernel
from ..envs.state import DEAL_OVER
from ..envs.tricks import next_seat
from ..envs.viersche import ALL, CARDS, HAND_SIZE, SEATS, begin_deal, card_points, old_man, suit_cards

HIDDEN = 3  # the place beside the hands
ANY_POINTS = 1 << 10


@kernel
def cases(view: Any) -> int:
    """There is one case only."""
    return np.int64(1)


@kernel
def lay_out(view: Any, case: int, free: Any, may: Any) -> int:
    """Free places and the unseen cards that may lie there, by place; returns the unseen cards."""
    own, trump = np.int64(view.observer), np.int64(view.trump)
    unseen = ALL & ~view.hands[own]
    for seat in range(SEATS):
        unseen &= ~view.played[seat]
    turn_up = bit(view.turn_up) & unseen if view.turn_up >= 0 else np.int64(0)
    hidden = view.face_down == FACE_DOWN
    for place in range(HIDDEN):
        seat = (own + 1 + place) % SEATS
        free[place] = HAND_SIZE - popcount(view.played[seat])
        if hidden and seat == next_seat(view, view.dealer):
            free[place] -= 1
        may[place] = unseen & could_hold(view, seat)
        if seat != view.dealer:
            may[place] &= ~turn_up
    free[HIDDEN] = hidden
    may[HIDDEN] = could_be_hidden(view, unseen & ~suit_cards(trump, trump)) if hidden else 0
    return unseen


@kernel
def could_hold(view: Any, seat: int) -> int:
    """The cards that a seat's plays have not excluded from what is left of its hand."""
    cards, trump = np.int64(ALL), np.int64(view.trump)
    for suit in range(4):
        if view.voids[seat] >> suit & 1:
            cards &= ~suit_cards(suit, trump)
    if view.bare >> seat & 1:
        cards &= ~suit_cards(trump, trump) | bit(old_man(trump))
    return cards


@kernel
def could_be_hidden(view: Any, plain: int) -> int:
    """The plain cards with points that the hidden card may have."""
    if view.trick_number == 0:
        return plain
    least, most = np.int64(0), np.int64(ANY_POINTS)
    if view.phase >= DEAL_OVER:  # then its points are in the score
        least = most = view.points[0] + view.points[1] - points_seen(view)
    elif view.second_deal:  # with more, the deal would be over
        side = np.int64(view.first_winner) & 1
        most = np.int64(view.target) - view.carried[side] - view.points[side] - 1
    cards = np.int64(0)
    for card in range(CARDS):
        if least <= card_points(card, view.trump) <= most:
            cards |= bit(card)
    return plain & cards


@kernel
def points_seen(view: Any) -> int:
    """Points of the open cards in the tricks gathered."""
    points = np.int64(0)
    for seat in range(SEATS):
        cards = view.played[seat]
        while cards:
            card = lowest(cards)
            cards &= cards - 1
            if view.trick[seat] != card:
                points += card_points(card, view.trump)
    return points


@kernel
def fill(world: Any, held: Any, key: Any) -> None:
    """Put the cards dealt to each place into a copy of the view."""
    for place in range(HIDDEN):
        world.hands[(world.observer + 1 + place) % SEATS] = held[place]
    if held[HIDDEN]:
        card, forehand = lowest(held[HIDDEN]), next_seat(world, world.dealer)
        world.face_down = card
        world.played[forehand] |= bit(card)
        world.when[card] = 1
        if world.trick_number == 0:
            world.trick[forehand] = card
        elif world.phase < DEAL_OVER:
            world.points[world.first_winner & 1] += card_points(card, world.trump)


@kernel
def rewind(world: Any) -> None:
    """Back to the state before the first lead."""
    for seat in range(SEATS):
        world.hands[seat] |= world.played[seat]
    begin_deal(world)
