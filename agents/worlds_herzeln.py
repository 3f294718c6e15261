"""What a view of Herzeln says about the unseen cards; `worlds` deals them out.

Places 0 to 2 are the hands of the seats after the observer, place 3 is the kitty or the pile out of play. What a
play says about the hand it came from holds for what is left of that hand, so all of it becomes "this seat holds
none of these cards". One thing does not: the first leader holds the lowest club in play, whichever that is. Each
possible lowest club is a case of its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.bits import bit, lowest, nth, popcount
from ..envs.cards import HEARTS, NO_CARD, NO_SEAT, SPADES
from ..envs.herzeln import (
    ALL,
    ALL_CLUBS,
    ALL_HEARTS,
    CARDS,
    CLUB_TWO,
    CLUB_TWO_LEADS,
    DIAMOND_TWO,
    DROP_DIAMOND_TWO,
    KITTY,
    LEFT_OF_DEALER_LEADS,
    PASSED,
    PENALTY,
    QUEEN,
    RANKS,
    SUIT,
    open_play,
)
from ..envs.jit import kernel
from ..envs.rng import below, combine
from ..envs.tricks import clear_table, next_seat

PILE = 3  # the place beside the hands
NO_CLUBS, NO_MATTER = RANKS, RANKS + 1  # cases beside "club number 0 to 12 is the lowest in play"
HOW_MANY = 4  # number of the draw that says how many cards the seat to move has passed; below are the seats'


# ------------------------------------------------------------------------------------------ what is known


@kernel
def handed_over(view: Any) -> bool:
    """Whether the play has begun, so that passed cards lie with their receivers."""
    return view.leader != NO_SEAT


@kernel
def cards_out(view: Any) -> int:
    """The set of cards that the view shows: the own ones, those on the table, a kitty seen, a card left out."""
    own = np.int64(view.observer)
    cards = view.hands[own] | (np.int64(0) if handed_over(view) else view.passed[own])
    for seat in range(view.players):
        cards |= view.played[seat]
    if view.kitty != NO_CARD:
        cards |= bit(view.kitty)
    if view.players == 3 and view.three_players != KITTY:
        cards |= bit(DIAMOND_TWO if view.three_players == DROP_DIAMOND_TWO else CLUB_TWO)
    return cards


@kernel
def pile_size(view: Any) -> int:
    """Unseen cards that are in no hand: the kitty, or in `half` the cards out of play."""
    if view.half:
        return np.int64(CARDS - 2 * view.hand_size)
    return np.int64(view.players == 3 and view.three_players == KITTY and view.kitty == NO_CARD)


@kernel
def known_of(view: Any, seat: int) -> int:
    """The cards that a seat is known to have begun the play with."""
    cards = view.hands[seat] | view.played[seat]
    if (view.observer + view.direction) % view.players == seat:
        cards |= view.passed[view.observer]  # empty where nothing is passed
    return cards


@kernel
def card_played(view: Any, number: int) -> int:
    """The card that was played as number 1, 2, ... of the deal; NO_CARD."""
    for card in range(CARDS):
        if view.when[card] == number:
            return card
    return NO_CARD


@kernel
def player_of(view: Any, card: int) -> int:
    """The seat that has played a card."""
    for seat in range(view.players):
        if view.played[seat] & bit(card):
            return seat
    return NO_SEAT


# --------------------------------------------------------------------------------- cases: the lowest club


@kernel
def cases(view: Any) -> int:
    """The cases to be told apart, as bits: which club is the lowest in a hand."""
    if not handed_over(view) or view.first_lead == LEFT_OF_DEALER_LEADS:
        return bit(NO_MATTER)
    lead = card_played(view, 1)
    if lead == NO_CARD:
        return lowest_clubs(view, np.int64(view.leader))  # of one type, so that it is compiled once
    if bit(lead) & ALL_CLUBS == 0:
        return bit(NO_CLUBS)
    if view.first_lead == CLUB_TWO_LEADS:
        return bit(lead)
    return lowest_clubs(view, player_of(view, lead)) & ~bit(NO_CLUBS)


@kernel
def lowest_clubs(view: Any, leader: int) -> int:
    """The clubs that may be the lowest in play, with the leader; NO_CLUBS where the dealer's left may lead for it."""
    known = np.int64(0)
    for seat in range(view.players):
        known |= known_of(view, seat) & ALL_CLUBS
    first = known & -known
    unseen = ALL_CLUBS & ~cards_out(view) & ~known
    found = first & known_of(view, leader)
    if leader != view.observer:
        found |= unseen & (first - 1) if first else unseen
    found = first_cards(found, pile_size(view) + 1)  # what is lower must lie in the pile
    if known == 0 and leader == next_seat(view, view.dealer):
        found |= bit(NO_CLUBS)
    return found


@kernel
def first_cards(cards: int, count: int) -> int:
    """The lowest cards of a set, `count` at most."""
    rest = cards
    for _ in range(count):
        rest &= rest - 1
    return cards & ~rest


@kernel
def clubs_below(case: int) -> int:
    """The clubs that are in no hand in this case."""
    return np.int64(0) if case == NO_MATTER else (np.int64(1) << np.int64(case)) - 1


# -------------------------------------------------------------------------------- places and their limits


@kernel
def lay_out(view: Any, case: int, free: Any, may: Any) -> int:
    """Free places and the unseen cards that may lie there, by place; returns the unseen cards."""
    own, players = np.int64(view.observer), np.int64(view.players)
    unseen = ALL & ~cards_out(view)
    passed = view.passed[own] & unseen
    lead_club = bit(case) & unseen & ~passed if case < NO_CLUBS else np.int64(0)
    leader = first_leader(view)
    receiver = (own + view.direction) % players
    for place in range(PILE):
        seat = (own + 1 + place) % players
        used = place < players - 1
        free[place] = view.hand_size - popcount(view.played[seat]) if used else 0
        may[place] = unseen & could_hold(view, seat) & ~clubs_below(case) if used else 0
        if seat != receiver:
            may[place] &= ~passed
        if seat != leader:
            may[place] &= ~lead_club
    free[PILE] = pile_size(view)
    may[PILE] = unseen & ~passed & ~lead_club if free[PILE] else 0
    return unseen


@kernel
def first_leader(view: Any) -> int:
    """Who leads or led to the first trick; NO_SEAT while passing."""
    lead = card_played(view, 1)
    return np.int64(view.leader) if lead == NO_CARD else player_of(view, lead)


@kernel
def could_hold(view: Any, seat: int) -> int:
    """The cards that a seat's plays have not excluded from what is left of its hand."""
    cards = np.int64(ALL)
    for suit in range(4):
        if view.voids[seat] >> suit & 1:
            cards &= ~(SUIT << RANKS * suit)
    return cards & after_first_trick(view, seat) & after_heart_lead(view, seat)


@kernel
def after_first_trick(view: Any, seat: int) -> int:
    """Who plays a penalty card to the first trick has nothing else to play: nothing else at all, or no other spade."""
    cards = view.played[seat] & PENALTY
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if view.when[card] == 1:
            return PENALTY
        if view.when[card] <= view.players and not view.points_in_first_trick:
            suit = card // RANKS
            if suit != np.int64(card_played(view, 1)) // RANKS:
                return PENALTY
            return ALL & ~(SUIT << RANKS * SPADES) if suit == SPADES else ALL
    return ALL


@kernel
def after_heart_lead(view: Any, seat: int) -> int:
    """Who leads the first heart unbroken holds hearts only, or with `hearts_instead_of_queen` the queen besides."""
    first, leads = np.int64(CARDS + 1), False
    for card in range(RANKS * HEARTS, RANKS * (HEARTS + 1)):
        if 0 < view.when[card] < first:
            first, leads = np.int64(view.when[card]), view.played[seat] & bit(card) != 0
    opened = view.queen_breaks_hearts and 0 < view.when[QUEEN] < first
    if not leads or first == 1 or (first - 1) % view.players != 0 or opened or not view.must_break_hearts:
        return ALL
    return ALL_HEARTS | bit(QUEEN) if view.hearts_instead_of_queen else ALL_HEARTS


# ------------------------------------------------------------------------------------------------- worlds


@kernel
def fill(world: Any, held: Any, key: Any) -> None:
    """Put the cards dealt to each place into a copy of the view."""
    players = np.int64(world.players)
    for place in range(players - 1):
        world.hands[(world.observer + 1 + place) % players] = held[place]
    if held[PILE] and not world.half:
        world.kitty = lowest(held[PILE])
    if world.direction != 0:
        if handed_over(world):
            fill_passed(world, key)
        else:
            fill_passing(world, key)


@kernel
def fill_passed(world: Any, key: Any) -> None:
    """Any three cards that a hand began the play with may be those it has received."""
    own = np.int64(world.observer)
    for giver in range(world.players):
        receiver = (giver + world.direction) % world.players
        if giver == own:
            cards = world.passed[own]
        elif receiver == own:
            cards = world.received[own]
        else:
            cards = some(world.hands[receiver] | world.played[receiver], PASSED, combine(key, giver))
        world.passed[giver] = cards
        world.received[receiver] = cards


@kernel
def fill_passing(world: Any, key: Any) -> None:
    """The others have passed three cards, any ones, where their turn is over; how many the mover has, no view shows."""
    turn = (world.seat - world.dealer - 1) % world.players
    for seat in range(world.players):
        if seat != world.observer:
            own_turn = (seat - world.dealer - 1) % world.players
            count = below(key, HOW_MANY, PASSED) if own_turn == turn else np.int64(PASSED)
            cards = some(world.hands[seat], count if own_turn <= turn else np.int64(0), combine(key, seat))
            world.passed[seat] = cards
            world.hands[seat] &= ~cards


@kernel
def some(cards: int, count: int, key: Any) -> int:
    """`count` cards drawn from a set."""
    rest = cards
    for number in range(count):
        rest &= ~bit(nth(rest, below(key, number, popcount(rest))))
    return cards & ~rest


@kernel
def rewind(world: Any) -> None:
    """Back to the state before the first lead."""
    for seat in range(world.players):
        world.hands[seat] |= world.played[seat]
        world.taken[seat] = 0
    clear_table(world)
    world.broken = 0
    open_play(world)
