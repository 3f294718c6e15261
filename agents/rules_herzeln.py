"""The rule-based agent for Herzeln."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..envs.bits import bit, highest, lowest, popcount
from ..envs.cards import DIAMONDS, HEARTS, HERZELN_DECK, NO_CARD, NO_SEAT, SPADES
from ..envs.herzeln import (
    ALL,
    CLUB_TWO,
    DEAL_POINTS,
    DIAMOND_TWO,
    DROP_DIAMOND_TWO,
    JACK,
    JACK_POINTS,
    NO_TRICK_POINTS,
    PASSED,
    PENALTY,
    QUEEN,
    QUEEN_POINTS,
    RANKS,
    SUIT,
    legal,
    next_seat,
    penalty_points,
)
from ..envs.jit import kernel
from ..envs.state import PASS, PLAY

SPADE_QUEEN = QUEEN - SPADES * RANKS  # her rank
MISS = np.array([[1.0] * 14] + [[((k - 1) / k) ** m for m in range(14)] for k in (1, 2, 3, 4)])
"""MISS[k, m]: the chance that one of k players who share m cards of a suit evenly has none of them."""

TRICK = 0.9
HEART_TRICK = 3.0
LATER = 1.0
QUEEN_GONE = 1.0
PASS_RANK = 2.0
LEAD_RELIEF = 0.6
LEAD_RANK = 0.0
LEAD_RANK_QUEEN = 0.6
DISCARD_RANK = 0.6
LEAD_WIN = -0.6
LEAD_HEART = 1.1
LEAD_SPADE = 0.5
LEAD_LENGTH = 0.2
LEAD_TOP = 0.8
PASS_LENGTH = 0.25
PASS_HEART = 2.7
PASS_HEART_RANK = 2.0
PASS_SPADE = 1.3
PASS_DANGER = 0.5
QUEEN_THREAT = 1.5
POWER = 2.0
QUEEN_ROUNDS = 1.0
BURDEN = 1.3
DEFENCE = 0.5
VOID = 1.0
ROUNDS = 1.0
CAUGHT = 0.5
BARE_QUEEN = 0.65
LEAD = 0.15
DISCARD = 0.7
FLUSH = 0.5
LOSERS = 1
PASS_LOSERS = 1
LOSERS_WITH_QUEEN = 2
HEART_LOSER = 2
STOPPER = 0.5


# ------------------------------------------------------------------------------------------ card counting


@kernel
def cards_out(view: Any) -> int:
    """The cards that may lie in the other hands: all in play but the own and the played ones."""
    seen = view.hands[view.observer]
    for seat in range(view.players):
        seen |= view.played[seat]
    if view.players == 3 and view.three_players != 2:
        seen |= bit(DIAMOND_TWO if view.three_players == DROP_DIAMOND_TWO else CLUB_TWO)
    return ALL & ~seen


@kernel
def of_suit(cards: int, suit: int) -> int:
    """The cards of one suit as thirteen bits, the two lowest."""
    return (cards >> RANKS * suit) & SUIT


@kernel
def holders(view: Any, suit: int) -> int:
    """How many others may hold the suit; the cards out of play in `half` are one more hand."""
    count = np.int64(view.half)
    for seat in range(view.players):
        if seat != view.observer and (np.int64(view.voids[seat]) >> suit) & 1 == 0:
            count += 1
    return count


@kernel
def on_table(view: Any) -> int:
    """The cards of the current trick."""
    cards = np.int64(0)
    for seat in range(view.players):
        if view.trick[seat] >= 0:
            cards |= bit(view.trick[seat])
    return cards


@kernel
def worth(view: Any, cards: int) -> int:
    """Points of the cards for who takes them."""
    points = penalty_points(cards)
    if view.jack_of_diamonds and cards & bit(JACK):
        points += JACK_POINTS
    return points


# ------------------------------------------------------------------------------------- danger in the hand


@kernel
def suit_danger(suit: int, own: int, out: int, sharers: int, queen: bool) -> float:
    """Points that a holding is likely to cost: high cards without low ones under them."""
    if own == 0:
        return -VOID * popcount(out) / RANKS
    count = popcount(out)
    if count == 0:
        return 0.0
    rounds = count / max(sharers, 1) + ROUNDS
    queen_out = suit == SPADES and queen
    price = (HEART_TRICK if suit == HEARTS else TRICK) + (QUEEN_THREAT if queen else 0.0)
    danger, guards, rest = 0.0, 0, own
    while rest:
        rank = lowest(rest)
        rest &= rest - 1
        share = popcount(out & (bit(rank) - 1)) / count
        cost = price * share ** POWER
        if queen_out and rank > SPADE_QUEEN:
            cost = QUEEN_POINTS * CAUGHT
        if suit == SPADES and rank == SPADE_QUEEN:
            cost = QUEEN_POINTS * BARE_QUEEN
            danger += cost * max(0.0, 1 - (popcount(own) - 1) / (rounds + QUEEN_ROUNDS))
        else:
            danger += cost * max(0.0, 1 - guards / rounds)
        guards += 1
    return danger


@kernel
def relief(view: Any, card: int, own: int, out: int) -> float:
    """How much less danger is in the hand without the card."""
    suit = card // RANKS
    held, gone, sharers = of_suit(own, suit), of_suit(out, suit), holders(view, suit)
    without = held & ~bit(card - suit * RANKS)
    queen = out & bit(QUEEN) != 0
    less = suit_danger(suit, held, gone, sharers, queen) - suit_danger(suit, without, gone, sharers, queen)
    return less + QUEEN_GONE if card == QUEEN else less


# ------------------------------------------------------------------------------------ danger in the trick


@kernel
def discard_points(view: Any, out: int) -> float:
    """Points to expect from one who cannot follow."""
    if view.trick_number == 0 and not view.points_in_first_trick:
        return 0.0
    points = DISCARD if of_suit(out, HEARTS) else 0.0
    return points + (QUEEN_POINTS / (view.players - 1) if out & bit(QUEEN) else 0.0)


@kernel
def trick_risk(view: Any, card: int, out: int) -> tuple[float, float]:
    """The chance that the card takes the trick, and the points that those still to play add to it."""
    suit = card // RANKS
    gone, sharers = of_suit(out, suit), holders(view, suit)
    lower = popcount(gone & (bit(card - suit * RANKS) - 1))
    higher = popcount(gone) - lower
    void, dumped = MISS[sharers, lower + higher], discard_points(view, out)
    over = MISS[sharers, lower] * (1 - MISS[sharers, higher])
    chance, points = 1.0, 0.0
    seat = next_seat(view, view.observer)
    while seat != view.leader:
        if (np.int64(view.voids[seat]) >> suit) & 1:
            points += dumped
        else:
            chance *= 1 - over
            points += void * dumped + (1 - void if suit == HEARTS else 0.0)
            if out & bit(QUEEN) and card > QUEEN:
                points += QUEEN_POINTS / sharers
        seat = next_seat(view, seat)
    return chance, points


@kernel
def trick_cost(view: Any, card: int, out: int) -> float:
    """Points to expect in the current trick if the card is played to it."""
    if view.seat != view.leader:
        if card // RANKS != np.int64(view.best) // RANKS or card < view.best:
            return 0.0
    chance, later = trick_risk(view, card, out)
    burden = (LEAD_WIN if view.seat == view.leader else LEAD) + BURDEN * exit_cost(view, view.hands[view.observer] & ~bit(card), out)
    return chance * (worth(view, on_table(view) | bit(card)) + LATER * later + burden)


@kernel
def exit_cost(view: Any, own: int, out: int) -> float:
    """What the next lead will cost at least, from the lowest card of the best suit."""
    least, dumped = 20.0, discard_points(view, out)
    if own == 0:
        return 0.0
    for suit in range(4):
        held, gone = of_suit(own, suit), of_suit(out, suit)
        if held:
            sharers = holders(view, suit)
            low = popcount(gone & (held & -held) - 1)
            over = MISS[sharers, low] * (1 - MISS[sharers, popcount(gone) - low])
            miss = MISS[sharers, popcount(gone)]
            chance = (1 - over) ** sharers
            points = sharers * (miss * dumped + (1 - miss if suit == HEARTS else 0.0)) + (3 - sharers) * dumped
            if (held & -held) >> SPADE_QUEEN and suit == SPADES and out & bit(QUEEN):
                points += 13
            least = min(least, chance * points)
    return least


@kernel
def flush_bonus(view: Any, card: int, own: int, out: int) -> float:
    """Leading low spades drives the queen out of another hand."""
    safe = own & ~(bit(QUEEN) - 1) == 0
    return FLUSH if view.seat == view.leader and safe and out & bit(QUEEN) and card // RANKS == SPADES else 0.0


@kernel
def lead_gain(view: Any, card: int, own: int, out: int, gain: float) -> float:
    """Lead."""
    suit, rank = card // RANKS, card % RANKS
    if card == QUEEN:
        return gain
    gain *= LEAD_RELIEF
    gain -= LEAD_LENGTH * popcount(of_suit(own, suit))
    if suit == HEARTS:
        gain += LEAD_HEART
    if out & bit(QUEEN):
        gain -= LEAD_RANK_QUEEN * rank / (RANKS - 1)
        if suit == SPADES:
            gain += LEAD_SPADE
    if of_suit(out, suit) >> rank == 0:
        gain -= LEAD_TOP
    return gain


@kernel
def safest(view: Any, cards: int) -> int:
    """The card with the least cost in this trick and the least danger left in the hand."""
    own, out = view.hands[view.observer], cards_out(view)
    threat, shooter = moon_threat(view)
    chosen, least = NO_CARD, 0.0
    leading = view.seat == view.leader
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        rank = (card % RANKS) / (RANKS - 1)
        gain = relief(view, card, own, out)
        if leading:
            gain = lead_gain(view, card, own, out, gain)
        elif card // RANKS != np.int64(view.best) // RANKS:
            gain += DISCARD_RANK * rank
        cost = trick_cost(view, card, out) - gain - flush_bonus(view, card, own, out)
        if shooter != NO_SEAT:
            cost += defence(view, card, out, threat, shooter)
        if chosen == NO_CARD or cost <= least:
            chosen, least = card, cost
    return chosen


# ------------------------------------------------------------------------------------------- moon defence


@kernel
def moon_threat(view: Any) -> tuple[float, int]:
    """Points at stake through another's moon, and who threatens it: all points so far are that seat's."""
    shooter, hearts = NO_SEAT, 0
    for seat in range(view.players):
        if view.taken[seat] & PENALTY:
            if shooter != NO_SEAT or seat == view.observer:
                return 0.0, NO_SEAT
            shooter, hearts = seat, popcount(of_suit(view.taken[seat], HEARTS))
    return DEFENCE * hearts, shooter


@kernel
def defence(view: Any, card: int, out: int, threat: float, shooter: int) -> float:
    """What the card does for the shooter: negative if it takes points off, positive if it gives a stopper away."""
    suit = card // RANKS
    leading = view.seat == view.leader
    penalties = (on_table(view) | bit(card)) & PENALTY
    wins = leading or (suit == np.int64(view.best) // RANKS and card > view.best)
    if wins:
        chance, later = trick_risk(view, card, out)
        return -threat * chance * (1.0 if penalties else min(1.0, later))
    if penalties and view.winner != shooter and view.winner != NO_SEAT:
        return -threat
    stops = of_suit(out, suit) >> (card - suit * RANKS) == 0
    return threat * STOPPER if stops else 0.0


# ------------------------------------------------------------------------------------------------- moon


@kernel
def losers(own: int, out: int, sharers: int) -> int:
    """Cards of a suit that lose a trick when it is led from the top."""
    count = popcount(out)
    longest = (count + sharers - 1) // max(sharers, 1) + (1 if count > 2 else 0)
    longest = min(longest, count)
    lost, led = 0, 0
    while own and led < longest:
        rank = highest(own)
        own &= ~bit(rank)
        if popcount(out >> rank) > lost:
            lost += 1
        led += 1
    return lost


@kernel
def moon_losers(view: Any, own: int, out: int) -> tuple[int, int]:
    """Losers among the hearts and in the other suits."""
    hearts, others = 0, 0
    for suit in range(4):
        lost = losers(of_suit(own, suit), of_suit(out, suit), holders(view, suit))
        if suit == HEARTS:
            hearts = lost
        else:
            others += lost
    return hearts, others


@kernel
def shooting(view: Any) -> bool:
    """Whether to try to take all penalty cards: nobody else has one, and hardly a card of the hand loses."""
    for seat in range(view.players):
        if seat != view.observer and view.taken[seat] & PENALTY:
            return False
    if on_table(view) & PENALTY and view.best > highest_follow(view):
        return False
    own, out = view.hands[view.observer], cards_out(view)
    hearts, others = moon_losers(view, own, out)
    if view.taken[view.observer] & bit(QUEEN):
        return hearts + others <= LOSERS_WITH_QUEEN
    return HEART_LOSER * hearts + others <= LOSERS


@kernel
def highest_follow(view: Any) -> int:
    """The highest own card of the suit led; NO_CARD."""
    suit = np.int64(view.best) // RANKS
    held = of_suit(view.hands[view.observer], suit)
    return highest(held) + suit * RANKS if held else NO_CARD


@kernel
def shoot(view: Any, cards: int) -> int:
    """Take every trick: lead from the top, follow over, throw losers."""
    out = cards_out(view)
    if view.seat == view.leader:
        return lead_winner(view, cards, out)
    suit = np.int64(view.best) // RANKS
    if of_suit(cards, suit) == 0 or cards >> np.int64(view.best) == 0:
        return throw_loser(view, cards, out)
    over = cards & ~(bit(view.best) - 1)
    if over == 0:
        return lowest(cards)
    return lowest(over) if next_seat(view, view.seat) == view.leader else highest(over)


@kernel
def lead_winner(view: Any, cards: int, out: int) -> int:
    """The top card of the suit with most cards out, if none of these is higher; else of the longest suit."""
    chosen, most = NO_CARD, -1
    for suit in range(4):
        held, gone = of_suit(cards, suit), of_suit(out, suit)
        if held:
            top = highest(held)
            value = popcount(held) + (100 + popcount(gone) if gone >> top == 0 else 0)
            if value > most:
                chosen, most = top + suit * RANKS, value
    return chosen


@kernel
def throw_loser(view: Any, cards: int, out: int) -> int:
    """The lowest card, no penalty, that most cards out beat."""
    safe = cards & ~PENALTY if cards & ~PENALTY else cards
    chosen, most = NO_CARD, -1
    while safe:
        card = lowest(safe)
        safe &= safe - 1
        suit = card // RANKS
        higher = popcount(of_suit(out, suit) >> (card - suit * RANKS))
        if higher > most:
            chosen, most = card, higher
    return chosen


# ---------------------------------------------------------------------------------------------- passing


@kernel
def pass_value(view: Any, card: int, own: int, out: int) -> float:
    """Pass."""
    suit, rank = card // RANKS, (card % RANKS) / (RANKS - 1)
    gain = relief(view, card, own, out)
    if card < QUEEN:
        gain *= PASS_DANGER
    gain += PASS_RANK * rank - PASS_LENGTH * popcount(of_suit(own, suit))
    if suit == HEARTS:
        gain += PASS_HEART_RANK * rank - PASS_HEART
    if suit == SPADES:
        gain -= PASS_SPADE
    return gain


@kernel
def choose_pass(view: Any, cards: int) -> int:
    """The card whose loss takes most danger out of the hand, or a loser of a moon hand."""
    out = cards_out(view) & ~view.passed[view.observer]
    hearts, others = moon_losers(view, cards, out)
    left = PASSED - popcount(view.passed[view.observer])
    if hearts + others - left <= PASS_LOSERS:
        return throw_moon_loser(view, cards, out, hearts)
    chosen, most = NO_CARD, 0.0
    rest = cards
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        value = pass_value(view, card, cards, out)
        if chosen == NO_CARD or value >= most:
            chosen, most = card, value
    return chosen


@kernel
def throw_moon_loser(view: Any, cards: int, out: int, hearts: int) -> int:
    """Low hearts of a moon hand first."""
    if hearts:
        return lowest(of_suit(cards, HEARTS)) + HEARTS * RANKS
    return throw_loser(view, cards & ~PENALTY if cards & ~PENALTY else cards, out)


@kernel
def rules_herzeln(view: Any, key: Any) -> int:
    """`rules`: a legal card as a good club player would choose it."""
    cards = legal(view)
    if cards & (cards - 1) == 0:
        return lowest(cards)
    if view.phase == PASS:
        return choose_pass(view, cards)
    if shooting(view):
        return shoot(view, cards)
    return safest(view, cards)
