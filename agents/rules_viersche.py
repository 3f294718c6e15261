"""The rule-based agent of Viersche: `rules`.

It plays as a good club player would. It counts: what is still out in each suit and of trumps, which cards are
sure winners, who has shown void, and that the dealer holds the turn-up. For each legal card it asks how likely
its side takes the trick, given what the players behind may still hold, and what the trick is worth: the points
on the table, the card's own and what partner and rivals will add. From that it takes the worth of the card if
it is kept: the Old and the Little Man, high trumps and plain winners are saved for rich tricks, tens and aces
are fed to a trick that the partner surely takes, worthless cards go to the rivals. A lead has a plan beside the
trick: trumps are drawn with long trumps and plain winners to cash, low plain cards come from long suits without
the winner. Where points carry over or decide a round, the trick that reaches the target is worth extra.

The constants are card points, found by playing many deals against `random`, `greedy` and earlier versions of
this agent, on seeds apart from those that its strength is reported on.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from ..envs.bits import bit, lowest, popcount
from ..envs.cards import FACE_DOWN, NO_CARD
from ..envs.jit import kernel
from ..envs.viersche import (
    ALL,
    DEAL,
    HAND_SIZE,
    card_points,
    led_suit,
    legal,
    little_man,
    next_seat,
    old_man,
    suit_cards,
    suit_of,
)
from .yardsticks import wins

# What a trick and a kept card are worth, in card points (tuned).
RUFFS = 0.307  # share of the players with a trump that put it on a plain lead which they could also follow or leave
FEED = 1.46  # points that a follower adds to a trick of its own side
DUCK = 0.524  # points that a follower adds to a trick of the other side
FORCED = 0.165  # share of the mean points of the trumps still out that a follower adds to a trump lead
LEAD_WORTH = 0.923  # taking a trick and so leading to the next
POINTS_KEPT = 0.427  # share of its points that a plain card without prospects still brings if kept
SECOND_KEPT = 1.64  # a plain card that only one other still beats
LENGTH_KEPT = -0.407  # each card of its suit in hand (below 0: throw off from the long suit)
NEW_VOID = 1.07  # playing the last card of a plain suit with a trump left to ruff it
WINNER_KEPT = 1.74  # the highest card left of a plain suit
WINNER_POINTS_KEPT = 0.837  # the same, for each of its points
WINNER_RUFFED = 0.472  # the same, less this for each trump that the rivals may hold
TRUMP_KEPT = 14.1  # a trump
TRUMP_POINTS_KEPT = 0.872  # the same, for each of its points
TRUMP_BEATEN = 0.913  # the same, less this for each higher trump that the rivals may hold
TRUMPS_OUT_KEPT = 0.919  # the same, for each trump that the rivals may hold
TOP_TRUMP_KEPT = 13.1  # the highest trump left
TOP_TRUMP_POINTS_KEPT = 1.15  # the same, for each of its points
LITTLE_MAN_KEPT = 29.2  # the Little Man while the rivals may hold the Old Man
DRAWN = 5.85  # leading a trump: each rival that must follow
DRAWN_JACKS = 1.49  # the same, if only the Old and the Little Man are out; else in proportion
PARTNER_DRAWN = -2.07  # the same, if the partner must follow
DRAW_LENGTH = 4.8  # the same, for each own trump
DRAW_OUT = -1.1  # the same, for each trump out
DRAW_FOR_WINNERS = 3.23  # the same, for each plain suit whose highest card we hold
NONE_TO_DRAW = -11.8  # leading a trump when the rivals hold none
LEAD_LENGTH = 0.338  # leading a plain suit: for each of its cards in hand
UNDERLEAD = -2.42  # leading low from a plain suit whose highest card we hold
DECIDES = 40.0  # reaching the target, and with it the round
HIDDEN_POINTS = 2.0  # expected points of a card that lies face down

POOL, HELD = 28, HAND_SIZE + 1  # sizes of the table below: up to 27 cards unseen, up to 9 in a hand


def chances_of_none() -> np.ndarray:
    """Chance that h of p unseen cards hold none of w wanted ones, at (p * HELD + h) * POOL + w."""
    table = np.zeros((POOL, HELD, POOL))
    for pool in range(POOL):
        for held in range(HELD):
            hand = min(held, pool)
            for wanted in range(pool + 1):
                table[pool, held, wanted] = comb(pool - wanted, hand) / comb(pool, hand)
    return table.ravel()


NONE_OF = chances_of_none()


# ----------------------------------------------------------------------------------------- counting cards


@kernel
def jacks(trump: int) -> int:
    """The Old and the Little Man."""
    return bit(old_man(trump)) | bit(little_man(trump))


@kernel
def above(card: int, trump: int) -> int:
    """The cards of a card's own suit that beat it."""
    if card == old_man(trump):
        return np.int64(0)
    if card == little_man(trump):
        return bit(old_man(trump))
    suit = suit_of(card, trump)
    higher = suit_cards(suit, trump) & ~((bit(card) << 1) - 1)
    return higher | jacks(trump) if suit == trump else higher


@kernel
def unseen(view: Any) -> int:
    """The cards still out: neither in the own hand nor played openly."""
    played = view.played[0] | view.played[1] | view.played[2] | view.played[3]
    return np.int64(ALL) & ~(played | view.hands[view.observer])


@kernel
def may_hold(view: Any, seat: int) -> int:
    """The cards out that a seat may hold: of no suit it has shown void; the turn-up is the dealer's."""
    cards = unseen(view)
    trump = np.int64(view.trump)
    voids = np.int64(view.voids[seat])
    if voids:
        for suit in range(4):
            if voids >> suit & 1:
                cards &= ~suit_cards(suit, trump)
    if view.bare >> seat & 1:
        cards &= ~suit_cards(trump, trump) | bit(old_man(trump))
    if view.turn_up != NO_CARD and seat != view.dealer:
        cards &= ~bit(view.turn_up)
    return cards


@kernel
def rivals_hold(view: Any) -> int:
    """The cards that at least one rival may hold."""
    left = next_seat(view, view.seat)
    return may_hold(view, left) | may_hold(view, (left + 2) & 3)


@kernel
def chance_of_any(view: Any, seat: int, pool: int, wanted: int) -> float:
    """The chance that a seat, which may hold the cards `pool`, has any of the wanted ones."""
    if seat == view.dealer and view.turn_up != NO_CARD and pool & wanted & bit(view.turn_up):
        return 1.0
    held = HAND_SIZE - np.int64(view.trick_number) - np.int64(view.trick[seat] != NO_CARD)
    return 1.0 - NONE_OF[(popcount(pool) * HELD + held) * POOL + popcount(pool & wanted)]


@kernel
def has_winner(view: Any, cards: int) -> bool:
    """Whether the highest card left of a plain suit is in the own hand."""
    return view.hands[view.seat] & cards > unseen(view) & cards


@kernel
def winning_suits(view: Any, trump: int) -> int:
    """The number of plain suits whose highest card left is in the own hand."""
    count = 0
    for suit in range(4):
        if suit != trump and has_winner(view, suit_cards(suit, trump)):
            count += 1
    return count


# --------------------------------------------------------------------------------------- the trick's fate


@kernel
def followers(view: Any) -> int:
    """How many play to the trick after the seat to move."""
    return (np.int64(view.leader) - np.int64(view.seat) - 1) & 3


@kernel
def chance_to_head(view: Any, seat: int, best: int, led: int) -> float:
    """The chance that a follower beats the best card; a plain lead is not always ruffed by who could."""
    trump = np.int64(view.trump)
    pool = may_hold(view, seat)
    over = above(best, trump)
    if led == trump:
        return chance_of_any(view, seat, pool, over)
    if suit_of(best, trump) == trump:
        return RUFFS * chance_of_any(view, seat, pool, over)
    ruffs = RUFFS * chance_of_any(view, seat, pool, suit_cards(trump, trump))
    return 1.0 - (1.0 - ruffs) * (1.0 - chance_of_any(view, seat, pool, over))


@kernel
def chance_of_trick(view: Any, card: int, led: int) -> float:
    """The chance that the own side takes the trick if this card is played."""
    me = np.int64(view.seat)
    best, ours = np.int64(view.best), 0.0
    if wins(view, card):
        best, ours = np.int64(card), 1.0
    elif best == NO_CARD:  # a lead lies face down and no trump has fallen: one of the followers takes it
        return 1.0 / followers(view) if followers(view) >= 2 else 0.0
    elif (np.int64(view.winner) ^ me) & 1 == 0:
        ours = 1.0
    seat = next_seat(view, me)
    while seat != view.leader:
        heads = chance_to_head(view, seat, best, led)
        ours = ours * (1.0 - heads) if (seat ^ me) & 1 else ours + (1.0 - ours) * heads
        seat = next_seat(view, seat)
    return ours


@kernel
def points_lying(view: Any) -> float:
    """The points of the cards in the trick so far."""
    points = 0.0
    for seat in range(4):
        card = np.int64(view.trick[seat])
        if card == FACE_DOWN:
            points += HIDDEN_POINTS
        elif card != NO_CARD:
            points += card_points(card, view.trump)
    return points


@kernel
def points_to_come(view: Any, led: int, ours: bool) -> float:
    """The points that the followers add to a trick of the own side (ours) or of the rivals'."""
    behind = followers(view)
    if led == view.trump:
        return forced_points(view) * behind
    partners = np.int64(behind >= 2)
    friends = partners if ours else behind - partners
    return FEED * friends + DUCK * (behind - friends)


@kernel
def forced_points(view: Any) -> float:
    """The points that a follower adds to a trump lead, by the trumps still out."""
    cards = unseen(view) & suit_cards(view.trump, view.trump)
    count, points = popcount(cards), 0.0
    while cards:
        points += card_points(lowest(cards), view.trump)
        cards &= cards - 1
    return FORCED * points / count if count else DUCK


# -------------------------------------------------------------------------------------- the card's worth


@kernel
def worth_keeping(view: Any, card: int) -> float:
    """What a card is worth in hand, for the tricks to come."""
    trump = np.int64(view.trump)
    suit = suit_of(card, trump)
    points = card_points(card, trump)
    rivals = rivals_hold(view)
    out = popcount(rivals & suit_cards(trump, trump))
    higher = popcount(rivals & above(card, trump))
    if suit == trump:
        return trump_kept(card == little_man(trump), points, higher) + TRUMPS_OUT_KEPT * out
    if higher == 0:
        return WINNER_KEPT - WINNER_RUFFED * out + WINNER_POINTS_KEPT * points
    return plain_kept(view, suit, points, higher)


@kernel
def trump_kept(is_little: bool, points: int, higher: int) -> float:
    """The Old Man and the top trump surely win; the Little Man must not fall to the Old Man."""
    if higher == 0:
        return TOP_TRUMP_KEPT + TOP_TRUMP_POINTS_KEPT * points
    if is_little:
        return LITTLE_MAN_KEPT
    return TRUMP_KEPT - TRUMP_BEATEN * higher + TRUMP_POINTS_KEPT * points


@kernel
def plain_kept(view: Any, suit: int, points: int, higher: int) -> float:
    """A plain card that can be beaten: a little for prospects, less where a void is made to ruff."""
    hand = view.hands[view.seat]
    length = popcount(hand & suit_cards(suit, view.trump))
    value = POINTS_KEPT * points + LENGTH_KEPT * length
    if higher == 1:
        value += SECOND_KEPT
    if length == 1 and hand & suit_cards(view.trump, view.trump):
        value -= NEW_VOID
    return value


# ---------------------------------------------------------------------------------------- the plan of a lead


@kernel
def drawing(view: Any) -> float:
    """Leading a trump: with long trumps, with plain winners to cash, while the rivals must follow."""
    left = next_seat(view, view.seat)
    trump = np.int64(view.trump)
    trumps = suit_cards(trump, trump)
    if rivals_hold(view) & trumps == 0:
        return NONE_TO_DRAW
    out = unseen(view) & trumps
    each = DRAWN + DRAWN_JACKS * popcount(out & jacks(trump)) / popcount(out)
    right, partner = (left + 2) & 3, (left + 1) & 3
    drawn = chance_of_any(view, left, may_hold(view, left), trumps)
    drawn += chance_of_any(view, right, may_hold(view, right), trumps)
    value = each * drawn + PARTNER_DRAWN * chance_of_any(view, partner, may_hold(view, partner), trumps)
    value += DRAW_LENGTH * popcount(view.hands[view.seat] & trumps) + DRAW_OUT * popcount(out)
    return value + DRAW_FOR_WINNERS * winning_suits(view, trump)


@kernel
def plain_lead(view: Any, card: int, suit: int) -> float:
    """Leading a plain suit: from length, not low from a suit whose winner we hold."""
    cards = suit_cards(suit, view.trump)
    value = LEAD_LENGTH * popcount(view.hands[view.seat] & cards)
    wins_suit = above(card, view.trump) & unseen(view) == 0
    return value + UNDERLEAD if has_winner(view, cards) and not wins_suit else value


@kernel
def deciding(view: Any, stake: float, chance: float) -> float:
    """What it adds that a trick of so many points may reach the target for a side and win the round."""
    if view.episode == DEAL:
        return 0.0
    side = np.int64(view.seat) & 1
    value = 0.0
    if view.carried[side] + view.points[side] + stake >= view.target:
        value += DECIDES * chance
    if view.carried[1 - side] + view.points[1 - side] + stake >= view.target:
        value -= DECIDES * (1.0 - chance)
    return value


@kernel
def value_of(view: Any, card: int) -> float:
    """The worth of playing a card: the trick it makes, less the card that is gone, more the plan of a lead."""
    trump = np.int64(view.trump)
    suit = suit_of(card, trump)
    leads = view.seat == view.leader
    led = led_suit(view)
    if leads:
        led = trump if view.plays == 0 else suit
    chance = chance_of_trick(view, card, led)
    stake = points_lying(view) + card_points(card, trump) + LEAD_WORTH
    gain = chance * (stake + points_to_come(view, led, True))
    loss = (1.0 - chance) * (stake + points_to_come(view, led, False))
    value = gain - loss + deciding(view, stake - LEAD_WORTH, chance) - worth_keeping(view, card)
    if not leads:
        return value
    return value + drawing(view) if suit == trump else value + plain_lead(view, card, suit)


@kernel
def rules_viersche(view: Any, key: Any) -> int:
    """`rules`: the legal card of the highest value; of equal ones the lowest number. No randomness."""
    cards = legal(view)
    if cards & (cards - 1) == 0:
        return lowest(cards)
    chosen, most = np.int64(NO_CARD), 0.0
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        value = value_of(view, card)
        if chosen == NO_CARD or value > most:
            chosen, most = card, value
    return chosen
