"""What the exact solver of Viersche knows of a position without a search: sure points, and the last two tricks."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.bits import bit, highest, lowest, popcount
from ..envs.jit import inlined, kernel
from .solver_viersche_cards import (
    NOTHING,
    POINTS,
    SUIT_OF,
    SUITS,
    TRUMP_POINTS,
    TRUMPS,
    TRUMPS_FROM,
    WORTH_0,
    beaters,
    cheapest,
    may_play,
    over,
    points_of,
    takes,
)
from .solver_viersche_table import (
    BEST,
    EXEMPT,
    HANDS,
    LEFT,
    LYING,
    PLACE,
    SEAT,
    SIDE,
    TOTAL,
    WINNER,
    WORD,
    peek,
)


@kernel
def last_trick(own: int, rival: int, partner: int, other: int, leads: int) -> int:
    """What the side of `own` and `partner` takes of the last trick, which plays itself; hands in the order of play."""
    if leads == 0:
        won = takes(lowest(own), lowest(rival), lowest(partner), lowest(other)) & 1 == 0
    elif leads == 1:
        won = takes(lowest(rival), lowest(partner), lowest(other), lowest(own)) & 1 == 1
    elif leads == 2:
        won = takes(lowest(partner), lowest(other), lowest(own), lowest(rival)) & 1 == 0
    else:
        won = takes(lowest(other), lowest(own), lowest(rival), lowest(partner)) & 1 == 1
    return points_of(own | rival | partner | other) if won else np.int64(0)


@kernel
def two_tricks(own: int, rival: int, partner: int, other: int, need: int, exempt: int) -> int:
    """What the leader's side takes of the last two tricks: a bound on the side of `need` where it lies.

    Hands are in the order of play. Tried plainly: a table would cost more.
    """
    value, rest = np.int64(-1), own
    while rest and value < need:
        card = lowest(rest)
        rest &= rest - 1
        value = max(value, two_second(own & ~bit(card), rival, partner, other, card, need, exempt))
    return value


@kernel
def two_second(own: int, rival: int, partner: int, other: int, lead: int, need: int, exempt: int) -> int:
    """The same, after the lead."""
    value, rest = np.int64(1000), may_play(rival, 1, SUIT_OF[lead], 0, exempt)
    while rest and value >= need:
        card = lowest(rest)
        rest &= rest - 1
        value = min(value, two_third(own, rival & ~bit(card), partner, other, lead, card, need, exempt))
    return value


@kernel
def two_third(own: int, rival: int, partner: int, other: int, lead: int, second: int, need: int, exempt: int) -> int:
    """The same, after two cards."""
    value, rest = np.int64(-1), may_play(partner, 2, SUIT_OF[lead], 0, exempt)
    while rest and value < need:
        card = lowest(rest)
        rest &= rest - 1
        value = max(value, two_fourth(own, rival, partner & ~bit(card), other, lead, second, card, need, exempt))
    return value


@kernel
def two_fourth(
    own: int, rival: int, partner: int, other: int, lead: int, second: int, third: int, need: int, exempt: int
) -> int:
    """The same, after three cards."""
    value, rest = np.int64(1000), may_play(other, 3, SUIT_OF[lead], 0, exempt)
    lying = POINTS[lead] + POINTS[second] + POINTS[third]
    while rest and value >= need:
        card = lowest(rest)
        rest &= rest - 1
        winner = takes(lead, second, third, card)
        gain = np.int64(0) if winner & 1 else lying + POINTS[card]
        value = min(value, gain + last_trick(own, rival, partner, other & ~bit(card), winner))
    return value


@kernel
def cheap_points(hand: int, count: int) -> int:
    """The least that so many cards of a hand can bring."""
    count -= popcount(hand & WORTH_0)
    if count <= 0:
        return np.int64(0)
    rest = hand & ~WORTH_0
    if count >= popcount(rest):
        return points_of(rest)
    points = np.int64(0)
    while count > 0:
        card = cheapest(rest)
        points += POINTS[card]
        rest &= ~bit(card)
        count -= 1
    return points


@kernel
def longest_of(first: int, second: int, third: int, suit: int) -> int:
    """The most cards of a suit that one of three hands has."""
    return max(popcount(first & suit), popcount(second & suit), popcount(third & suit))


@kernel
def last_tricks(at: int, cards: int, leader: int, need: int) -> int:
    """What side 0 takes of the last two tricks or the last one: a bound on the side of `need` where it lies."""
    own = cards & peek(at + HANDS + WORD * leader)
    rival = cards & peek(at + HANDS + WORD * ((leader + 1) & 3))
    partner = cards & peek(at + HANDS + WORD * ((leader + 2) & 3))
    other = cards & peek(at + HANDS + WORD * ((leader + 3) & 3))
    total = points_of(cards)
    if popcount(cards) == 4:
        taken = last_trick(own, rival, partner, other, 0)
        return total - taken if leader & 1 else taken
    if leader & 1:
        return total - two_tricks(own, rival, partner, other, total - need + 1, peek(at + EXEMPT))
    return two_tricks(own, rival, partner, other, need, peek(at + EXEMPT))


@inlined
def sure_trumps(at: int, cards: int, best: int, winner: int) -> int:
    """The trumps above all of the other side's, which surely bring home themselves: side 0's, or less than 0: side 1's.

    A trump that lies in the trick counts for the side that played it.
    """
    trumps = cards & TRUMPS
    own = trumps & peek(at + SIDE)
    over = bit(best) & TRUMPS if best != NOTHING else np.int64(0)
    mine = own | (np.int64(0) if winner & 1 else over)
    other = trumps & ~own | (over if winner & 1 else np.int64(0))
    if mine > other:
        return own & ~((bit(highest(other)) << 1) - 1) if other else own
    return -(trumps & ~own & ~((bit(highest(mine)) << 1) - 1)) if mine else -(trumps & ~own)


@kernel
def run_points(at: int, cards: int, leader: int) -> int:
    """What the leader's side surely takes if the leader plays its winners one after another.

    Winners are the cards above all others of their suit, and all cards of a suit in which these are as many as the
    longest other hand has; of plain suits only once nobody else has a trump.
    """
    own = cards & peek(at + HANDS + WORD * leader)
    first = cards & peek(at + HANDS + WORD * ((leader + 1) & 3))
    partner = cards & peek(at + HANDS + WORD * ((leader + 2) & 3))
    second = cards & peek(at + HANDS + WORD * ((leader + 3) & 3))
    others = first | partner | second
    winners = over(own & TRUMPS, others & TRUMPS)
    if popcount(winners) >= longest_of(first, partner, second, TRUMPS):
        winners = own & TRUMPS
        for suit in SUITS[:3]:
            if own & suit:
                top = over(own & suit, others & suit)
                if top and popcount(top) >= longest_of(first, partner, second, suit):
                    top = own & suit
                winners |= top
    count = popcount(winners)
    if count == 0:
        return np.int64(0)
    if count == popcount(own):
        return points_of(cards)
    return points_of(winners) + cheap_points(first, count) + cheap_points(second, count) + cheap_points(partner, count)


@inlined
def run_bounds(at: int, frame: int, low: int, high: int) -> Any:
    """Narrow the bounds of a position before a lead by what the leader's run of winners brings."""
    leader = peek(frame + SEAT)
    run = run_points(at, peek(frame + LEFT), leader)
    if leader & 1:
        return low, min(high, peek(frame + TOTAL) - run)
    return max(low, run), high


@inlined
def simple_bounds(at: int, frame: int, best: int, winner: int) -> Any:
    """What side 0 takes at least and at most of the cards in hand, by its sure trumps or the other side's."""
    sure, total = sure_trumps(at, peek(frame + LEFT), best, winner), peek(frame + TOTAL)
    if sure >= 0:
        return TRUMP_POINTS[sure >> TRUMPS_FROM], total
    return np.int64(0), total - TRUMP_POINTS[-sure >> TRUMPS_FROM]


@inlined
def trick_bounds(at: int, frame: int) -> Any:
    """What side 0 takes at least and at most, in the middle of a trick."""
    cards, seat, place = peek(frame + LEFT), peek(frame + SEAT), peek(frame + PLACE)
    best, winner, lying = peek(frame + BEST), peek(frame + WINNER), peek(frame + LYING)
    low, high = simple_bounds(at, frame, best, winner)
    if best == NOTHING:
        return low, high + lying
    behind = peek(at + HANDS + WORD * seat) if (winner ^ seat) & 1 else np.int64(0)
    if place < 3 and (winner ^ seat) & 1 == 0:
        behind |= peek(at + HANDS + WORD * ((seat + 1) & 3))
    if place == 1 and (winner ^ seat) & 1:
        behind |= peek(at + HANDS + WORD * ((seat + 2) & 3))
    if cards & behind & beaters(best):
        return low, high + lying
    return (low, high) if winner & 1 else (low + lying, high + lying)
