"""The exact open-hand solver of Viersche: what each side takes if all four play perfectly with open hands.

A search with null windows ("does side 0 take at least so many?"), asked again around the answers until two
meet. What makes it fast:

* A structural table. The tricks that can still be won depend on the owners of the remaining cards in rank
  order, suit by suit, and on who leads; only what they bring depends on the cards. So the owners are the key,
  an entry keeps its own cards beside its bounds, and where others lie in their place it is used with slack:
  the lower bound less, the upper bound more, by the points in which they differ. Suits are renumbered so that
  a card's number says its points whatever is trump; so entries are true of every deal and are never cleared.
* Dominance. Cards of one hand with no other hand's between them win the same tricks. Where the trick surely
  goes to the own side only the dearest of them is tried, where it surely does not only the cheapest, and
  otherwise one that failed by more than two of them differ speaks for the other.
* Sure points: trumps above all of the other side's bring home at least themselves. The last two tricks are
  tried plainly.
* Order: what refuted from the same hand before, what the table says, then guesses by what becomes of the trick.

The value is the card points that side 0 (seats 0 and 2) takes in the whole deal, played to its last card also
where a second deal would end early.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types

from ..envs.batch import make_batch
from ..envs.bits import bit, highest, lowest, popcount
from ..envs.cards import NO_CARD
from ..envs.jit import entry, kernel
from ..envs.state import NO_OBSERVER, PLAY
from ..envs.viersche import CARDS, HAND_SIZE, RANKS, SEATS, STATE, little_man, old_man, play

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

# The solver's memory: words of eight bytes. First what a search knows, then the refutations, then the frames.
WORD = 8
NODES, LIMIT, STOPPED, EXEMPT, TABLE, MASK, TURN, SIDE, HANDS = (WORD * word for word in range(9))
WEIGHTS = WORD * 16
ROWS = 32
REFUTES = WEIGHTS + WORD * ROWS * CARDS
ROUGH_REFUTES, FINE_REFUTES = 1 << 13, 1 << 14
FRAMES = REFUTES + WORD * (ROUGH_REFUTES + FINE_REFUTES)

# A frame: a position (the card sets are of the cards in hand), the state of its search, and its moves.
LEFT, NEED, SEAT, PLACE, LED, BEST, WINNER, LYING, OWNER_LOW, OWNER_HIGH = (WORD * word for word in range(10))
OPENING, TOTAL, VALUE, COUNT, NEXT, CARD, GAIN, SURE_LOW, SURE_HIGH, HOME, ROUGH, FINE = (
    WORD * word for word in range(10, 22)
)
MOVES = WORD * 22
FRAME = WORD * 32
MEMORY = FRAMES // WORD + (CARDS + 1) * (FRAME // WORD)

# A bucket of the table: four entries of two words, which is a line of the processor's cache.
WAYS, ENTRY, BUCKET = 4, 2 * WORD, 64
MOST_IN_TABLE = 32  # cards: the owners of so many fit one word, so only the start of a deal has no entry
LEAST_IN_TABLE = 12  # fewer are quickly tried
OPEN = -1  # no answer yet
ILLEGAL = -1  # the value of a card that may not be played
FIRST_STEP = 2  # from one answer to the next question, doubled while the answers agree
SMALL_TABLE_BITS = 13  # buckets used up to six cards each, so that they stay in the processor's cache
NO_LIMIT = 1 << 62
NO_VALUES = np.empty((0, CARDS), np.int16)

RICH = 8  # points in a trick that make it worth more
# For a lead that surely wins, of a suit whose top the partner holds, that is the top, below a rival's top.
LEAD_WEIGHTS = ((60, 4, 10, 0), (25, 2, -10, 0), (25, -2, -10, 0), (20, -2, -10, -1))
# For a card by what becomes of the trick; the second is added where the trick is rich.
FOLLOW_WEIGHTS = ((46, 36, 6, -20, -1), (32, 12, 1, -20, 1), (18, -12, -1, -20, -1), (-6, -36, -6, -20, -1))
WINS, LEADS, TRAILS, LOSES = range(4)  # what becomes of the trick for the own side: surely, so far, ...

I64 = ir.IntType(64)


def _load_word(typingctx: Any, at: Any) -> Any:
    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[0], I64.as_pointer()))

    return types.int64(types.int64), emit


def _store_word(typingctx: Any, at: Any, word: Any) -> Any:
    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], I64.as_pointer()))
        return ctx.get_dummy_value()

    return types.void(types.int64, types.int64), emit


peek: Any = extending.intrinsic(_load_word)  # peek(at): the word at an address
poke: Any = extending.intrinsic(_store_word)  # poke(at, word): write a word there


# ---------------------------------------------------------------------------------------- cards and tricks


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


@kernel
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


# -------------------------------------------------------------------------------------------------- table


@kernel
def lengths(cards: int) -> int:
    """How many cards each suit has, as one number."""
    return popcount(cards & SUITS[0]) | popcount(cards & SUITS[1]) << 4 | popcount(cards & SUITS[2]) << 8


@kernel
def bucket_of(at: int, frame: int, owners: int, tag: int) -> int:
    """The address of the bucket of a structure."""
    mixed = owners * np.int64(-7046029254386353131) ^ (lengths(peek(frame + LEFT)) << 3 | tag) * 7577854681
    mixed = (mixed ^ mixed >> 31) * np.int64(-4658895280553007687)
    return peek(at + TABLE) + (mixed >> 29 & peek(at + MASK)) * BUCKET


@kernel
def tag_of(at: int, frame: int) -> int:
    """What the structure has beside owners and lengths: who leads, and the rule for a bare Old Man."""
    return peek(frame + SEAT) | peek(at + EXEMPT) << 2


@kernel
def owners_of(frame: int) -> int:
    """The owners of the remaining cards in rank order, a bit of each seat's number in either half."""
    return peek(frame + OWNER_LOW) | peek(frame + OWNER_HIGH) << 32


@kernel
def slack(kept: int, here: int) -> int:
    """How far the points of two sets of the same structure may lie apart: loss | gain << 8; OPEN if not the same.

    Loss is the points that the kept cards have more, place by place, gain those that the cards here have more.
    """
    if lengths(kept) != lengths(here):
        return np.int64(OPEN)
    same = ~(((kept ^ here) & -(kept ^ here)) - 1)
    kept &= same
    here &= same
    less, more = np.int64(0), np.int64(0)
    while kept != here:
        difference = POINTS[lowest(here)] - POINTS[lowest(kept)]
        less += max(-difference, 0)
        more += max(difference, 0)
        kept &= kept - 1
        here &= here - 1
    return less | more << 8


@kernel
def look_up(at: int, frame: int) -> int:
    """Narrow the sure bounds of a frame by what the table knows; returns the card that was best, or NOTHING."""
    owners, tag, cards = owners_of(frame), tag_of(at, frame), peek(frame + LEFT)
    place = bucket_of(at, frame, owners, tag)
    poke(frame + HOME, place)
    low, high, card = peek(frame + SURE_LOW), peek(frame + SURE_HIGH), np.int64(NOTHING)
    for _ in range(WAYS):
        word = peek(place + WORD)
        if peek(place) == owners and word >> 52 & 7 == tag:
            kept = word & ALL
            apart = np.int64(0) if kept == cards else slack(kept, cards)
            if tag >= 4 and (kept ^ cards) >> OLD_MAN:
                apart = np.int64(OPEN)
            if apart != OPEN:
                low = max(low, (word >> 36 & 255) - (apart & 255))
                high = min(high, (word >> 44 & 255) + (apart >> 8))
                if card == NOTHING or kept == cards:
                    card = (word >> 55) - 1
        place += ENTRY
    poke(frame + SURE_LOW, low)
    poke(frame + SURE_HIGH, high)
    return card


@kernel
def keep(at: int, frame: int, card: int) -> None:
    """Put the bounds of a frame into the table, over its own entry or the one whose turn it is."""
    owners, tag, cards = owners_of(frame), tag_of(at, frame), peek(frame + LEFT)
    start = peek(frame + HOME)
    turn = peek(at + TURN)
    place = start + (turn & 3) * ENTRY
    for way in range(WAYS):
        word = peek(start + way * ENTRY + WORD)
        if peek(start + way * ENTRY) == owners and word >> 52 & 7 == tag and word & ALL == cards:
            place = start + way * ENTRY
    poke(at + TURN, turn + 1)
    bounds = peek(frame + SURE_LOW) << 36 | peek(frame + SURE_HIGH) << 44
    poke(place, owners)
    poke(place + WORD, cards | bounds | tag << 52 | (card + 1) << 55)


# -------------------------------------------------------------------------------------------------- moves


@kernel
def fate(card: int, best: int, led: int, ours: bool, rivals: int, partner: int) -> int:
    """What becomes of the trick for the own side if it plays a card, given who still plays after it."""
    if beats(card, best, led):
        return WINS if rivals & beaters(card) == 0 else LEADS
    if best == NOTHING:
        return TRAILS if partner & TRUMPS else LOSES
    if ours:
        return WINS if rivals & beaters(best) == 0 else LEADS
    return TRAILS if partner & beaters(best) else LOSES


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


BEFORE_ALL, EARLY = 1 << 21, 1 << 20  # weights of what refuted before


def move_weights() -> np.ndarray:
    """Weights [ROWS, 36] of a card by what it does to the trick, found by counting nodes."""
    rows = np.zeros((ROWS, 4))  # base, for each point, for a trump, for each rank
    rows[[0, 4]], rows[[1, 5]], rows[[2, 6]], rows[[3, 7]] = LEAD_WEIGHTS
    for place in (1, 2, 3):
        for rich in (0, 1):
            for becomes, (base, bonus, *others) in enumerate(FOLLOW_WEIGHTS):
                rows[place << 3 | rich << 2 | becomes] = (base + rich * bonus, *others)
    cards = np.arange(CARDS)
    features = np.stack([np.ones(CARDS), POINTS, cards >= TRUMPS_FROM, cards - SUIT_START])
    return (10 * (500 + rows @ features)).astype(np.int64)


@kernel
def move_word(at: int, row: int, card: int, first: int, group: int) -> int:
    """A move: its weight, by which moves are tried, the lowest card of its group, and the card."""
    weight = peek(at + WEIGHTS + WORD * (row * CARDS + card))
    weight += (card == first >> 8) * BEFORE_ALL + (card == first & 255) * EARLY
    return weight << 16 | group << 8 | card


@kernel
def lead_row(card: int, becomes: int, rivals: int, partner: int) -> int:
    """The row of weights for a lead: by who holds the top of the suit, and whether the partner is void."""
    suit = suit_set(SUIT_OF[card])
    void = (partner & suit == 0) << 2
    if becomes == WINS:
        return void
    if partner & suit > rivals & suit:
        return void | 1
    return void | 2 if bit(card) > rivals & suit else void | 3


@kernel
def write_moves(at: int, frame: int, first: int) -> int:
    """Write the moves that are worth trying into a frame; returns how many."""
    cards, seat, place = peek(frame + LEFT), peek(frame + SEAT), peek(frame + PLACE)
    led, best, lying = peek(frame + LED), peek(frame + BEST), peek(frame + LYING)
    hand = cards & peek(at + HANDS + WORD * seat)
    ours = place > 0 and (peek(frame + WINNER) ^ seat) & 1 == 0
    rivals = cards & peek(at + HANDS + WORD * ((seat + 1) & 3)) if place < 3 else np.int64(0)
    if place == 0:
        rivals |= cards & peek(at + HANDS + WORD * ((seat + 3) & 3))
    partner = cards & peek(at + HANDS + WORD * ((seat + 2) & 3)) if place < 2 else np.int64(0)
    between = cards & ~hand | (bit(best) if place and best != NOTHING else np.int64(0))
    opening, exempt = peek(frame + OPENING), peek(at + EXEMPT)
    rest = may_play(hand, place, led, opening, exempt)
    to = frame + MOVES
    if rest & (rest - 1) == 0:
        poke(to, lowest(rest) << 8 | lowest(rest))
        return np.int64(1)
    if exempt:  # then the Old Man is not like the trump below it
        between |= bit(OLD_MAN)
    while rest:
        card = lowest(rest)
        stop = between & ~((bit(card) << 1) - 1) | SUIT_END[card]
        group = rest & ((stop & -stop) - 1)
        rest &= ~group
        becomes = fate(card, best if place else NOTHING, led if place else SUIT_OF[card], ours, rivals, partner)
        if opening and card < TRUMPS_FROM:  # a lead that lies face down
            becomes = np.int64(TRAILS)
        row = lead_row(card, becomes, rivals, partner) if place == 0 else place << 3 | (lying >= RICH) << 2 | becomes
        if group & (group - 1) == 0:
            poke(to, move_word(at, row, card, first, card))
            to += WORD
        elif becomes in (WINS, LOSES):
            chosen = dearest(group) if becomes == WINS else cheapest(group)
            poke(to, move_word(at, row, chosen, first, card))
            to += WORD
        else:
            left = group
            while left:
                chosen = lowest(left)
                left &= ~same_worth(chosen)
                poke(to, move_word(at, row, chosen, first, card))
                to += WORD
    return (to - frame - MOVES) // WORD


@kernel
def same_worth(card: int) -> int:
    """All cards that count as much as a card."""
    points = POINTS[card]
    if points == 0:
        return np.int64(WORTH_0)
    return bit(card) | (np.int64(WORTH_12) if points == 12 else np.int64(0))


@kernel
def next_move(frame: int) -> int:
    """Take the heaviest move left in a frame: its card, or NOTHING."""
    place, count = peek(frame + NEXT), peek(frame + COUNT)
    if place == count:
        return np.int64(NOTHING)
    start = frame + MOVES + WORD * place
    if place + 1 == count:
        poke(frame + NEXT, count)
        return peek(start) & 255
    found = start
    word = peek(start)
    for step in range(1, count - place):
        other = peek(start + WORD * step)
        if other > word:
            word, found = other, start + WORD * step
    poke(found, peek(start))
    poke(start, word)
    poke(frame + NEXT, place + 1)
    return word & 255


# ------------------------------------------------------------------------------------------------- search


@kernel
def without(owners: int, below: int) -> int:
    """A row of bits less the one that has `below` others under it."""
    under = (np.int64(1) << below) - 1
    return owners & under | owners >> 1 & ~under


@kernel
def descend(at: int, frame: int, card: int) -> int:
    """Play a card: the frame of the position after it, which is written."""
    cards, seat, place = peek(frame + LEFT), peek(frame + SEAT), peek(frame + PLACE)
    led, best, winner = peek(frame + LED), peek(frame + BEST), peek(frame + WINNER)
    lying = peek(frame + LYING) + POINTS[card]
    if place == 0:
        led = np.int64(TRUMP) if peek(frame + OPENING) else SUIT_OF[card]
        best = np.int64(NOTHING)
    if beats(card, best, led):
        best, winner = card, seat
    after = frame + FRAME
    poke(frame + CARD, card)
    poke(after + LEFT, cards & ~bit(card))
    if popcount(cards) > LEAST_IN_TABLE:
        under = popcount(cards & (bit(card) - 1))
        poke(after + OWNER_LOW, without(peek(frame + OWNER_LOW), under))
        poke(after + OWNER_HIGH, without(peek(frame + OWNER_HIGH), under))
    poke(after + OPENING, 0)
    poke(after + TOTAL, peek(frame + TOTAL) - POINTS[card])
    gain = np.int64(0)
    if place == 3:
        gain = np.int64(0) if winner & 1 else lying
        lying, place, seat = np.int64(0), np.int64(-1), winner - 1
    poke(frame + GAIN, gain)
    poke(after + NEED, peek(frame + NEED) - gain)
    poke(after + SEAT, (seat + 1) & 3)
    poke(after + PLACE, place + 1)
    poke(after + LED, led)
    poke(after + BEST, best)
    poke(after + WINNER, winner)
    poke(after + LYING, lying)
    return after


@kernel
def enter(at: int, frame: int) -> int:
    """Answer a position from bounds and table, or prepare the search of its moves: then OPEN."""
    poke(at + NODES, peek(at + NODES) + 1)
    first = np.int64(NOTHING)
    cards, seat, place = peek(frame + LEFT), peek(frame + SEAT), peek(frame + PLACE)
    if place == 0:
        if cards == 0:
            return np.int64(0)
        if popcount(cards) == 4 and not peek(frame + OPENING):
            return last_tricks(at, cards, seat, peek(frame + NEED))
        need = peek(frame + NEED)
        low, high = simple_bounds(at, frame, cards, NOTHING, 0)
        if low >= need:
            return low
        if high < need:
            return high
        if popcount(cards) == 8 and not peek(frame + OPENING):
            return last_tricks(at, cards, seat, need)
        poke(frame + SURE_LOW, low)
        poke(frame + SURE_HIGH, high)
        if popcount(cards) <= MOST_IN_TABLE and not peek(frame + OPENING):
            first = look_up(at, frame)
            if peek(frame + SURE_LOW) >= need:
                return peek(frame + SURE_LOW)
            if peek(frame + SURE_HIGH) < need:
                return peek(frame + SURE_HIGH)
    else:
        hand = cards & peek(at + HANDS + WORD * seat)
        legal = may_play(hand, place, peek(frame + LED), 0, peek(at + EXEMPT))
        poke(frame + VALUE, 1000 * (seat & 1) - 1 + (seat & 1))
        poke(frame + NEXT, 0)
        if legal & (legal - 1) == 0:
            poke(frame + COUNT, 1)
            poke(frame + MOVES, lowest(legal) << 8 | lowest(legal))
            return np.int64(OPEN)
        low, high = trick_bounds(at, frame, cards, seat, place)
        if low >= peek(frame + NEED):
            return low
        if high < peek(frame + NEED):
            return high
    known = refutations(at, frame)
    first = known >> 8 << 8 | first if first != NOTHING else known
    poke(frame + VALUE, 1000 * (seat & 1) - 1 + (seat & 1))
    poke(frame + NEXT, 0)
    poke(frame + COUNT, write_moves(at, frame, first))
    return np.int64(OPEN)


@kernel
def simple_bounds(at: int, frame: int, cards: int, best: int, winner: int) -> Any:
    """What side 0 takes at least and at most of the cards in hand, by its sure trumps or the other side's."""
    sure, total = sure_trumps(at, cards, best, winner), peek(frame + TOTAL)
    if sure >= 0:
        return TRUMP_POINTS[sure >> TRUMPS_FROM], total
    return np.int64(0), total - TRUMP_POINTS[-sure >> TRUMPS_FROM]


@kernel
def trick_bounds(at: int, frame: int, cards: int, seat: int, place: int) -> Any:
    """What side 0 takes at least and at most, in the middle of a trick."""
    best, winner, lying = peek(frame + BEST), peek(frame + WINNER), peek(frame + LYING)
    low, high = simple_bounds(at, frame, cards, best, winner)
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


@kernel
def refutations(at: int, frame: int) -> int:
    """The cards that last refuted in like positions: very like << 8 | roughly like. Notes where to keep the next.

    Alike are: seat and place in the trick, the card to beat and whose it is (before a lead, those of the last
    trick), and roughly the number of cards left, or very alike the own hand.
    """
    cards, seat = peek(frame + LEFT), peek(frame + SEAT)
    hand = cards & peek(at + HANDS + WORD * seat)
    both = peek(frame + BEST) + 1 | (peek(frame + WINNER) & 3) << 6 | seat << 8 | peek(frame + PLACE) << 10
    mixed = (both | popcount(cards) << 12) * 2654435761
    rough = at + REFUTES + WORD * (mixed >> 12 & (ROUGH_REFUTES - 1))
    mixed = (both | hand << 12) * 114007148193231
    fine = at + REFUTES + WORD * (ROUGH_REFUTES + (mixed >> 30 & (FINE_REFUTES - 1)))
    poke(frame + ROUGH, rough)
    poke(frame + FINE, fine)
    return peek(fine) << 8 | peek(rough)


@kernel
def leave(at: int, frame: int, value: int, card: int) -> int:
    """Keep the answer of a frame, found by search."""
    if peek(frame + PLACE) == 0 and popcount(peek(frame + LEFT)) <= MOST_IN_TABLE and not peek(frame + OPENING):
        if value >= peek(frame + NEED):
            poke(frame + SURE_LOW, max(value, peek(frame + SURE_LOW)))
        else:
            poke(frame + SURE_HIGH, min(value, peek(frame + SURE_HIGH)))
        keep(at, frame, card)
    return value


@kernel
def take_up(at: int, frame: int, value: int) -> int:
    """Account for the value of the card just tried; the frame's answer, if it decides, else OPEN."""
    value += peek(frame + GAIN)
    seat, need, card, held = peek(frame + SEAT), peek(frame + NEED), peek(frame + CARD), peek(frame + VALUE)
    held = min(held, value) if seat & 1 else max(held, value)
    poke(frame + VALUE, held)
    if (held < need) == (seat & 1 == 1):
        if peek(frame + COUNT) > 1:
            poke(peek(frame + ROUGH), card)
            poke(peek(frame + FINE), card)
        return leave(at, frame, held, card)
    drop_equals(frame, value, card, seat & 1, need)
    return np.int64(OPEN)


@kernel
def drop_equals(frame: int, value: int, card: int, side: int, need: int) -> None:
    """A card failed; so do those of its group whose points are too near to make up for it."""
    place, count = peek(frame + NEXT), peek(frame + COUNT)
    group = peek(frame + MOVES + WORD * (place - 1)) >> 8 & 255
    while place < count:
        word = peek(frame + MOVES + WORD * place)
        place += 1
        if word >> 8 & 255 != group:
            continue
        apart = abs(POINTS[word & 255] - POINTS[card])
        reached = value - apart if side else value + apart
        if (reached < need) == (side == 1):
            continue
        poke(frame + VALUE, min(peek(frame + VALUE), reached) if side else max(peek(frame + VALUE), reached))
        place, count = place - 1, count - 1
        poke(frame + MOVES + WORD * place, peek(frame + MOVES + WORD * count))
    poke(frame + COUNT, count)


@kernel
def search(at: int, first: int, need: int) -> int:
    """Whether side 0 takes `need` from a frame on: a lower bound of at least that, or an upper bound below it."""
    poke(first + NEED, need)
    limit = peek(at + LIMIT)
    frame, value = first, enter(at, first)
    while True:
        if value == OPEN:
            card = next_move(frame)
            if card != NOTHING:
                frame = descend(at, frame, card)
                value = enter(at, frame)
                continue
            value = leave(at, frame, peek(frame + VALUE), np.int64(NOTHING))
        if frame == first:
            return value
        if peek(at + NODES) > limit:
            poke(at + STOPPED, 1)
            return value
        frame -= FRAME
        value = take_up(at, frame, value)


# ---------------------------------------------------------------------------------------------- positions


def renumbering() -> tuple[np.ndarray, np.ndarray]:
    """Own number of each card by trump suit, at trump * CARDS + card, and the way back."""
    inner, outer = np.zeros((4, CARDS), np.int64), np.zeros((4, CARDS), np.int64)
    for trump in range(4):
        men = [3 - trump, trump]  # printed suits of Little and Old Man
        jacks = [int(little_man.py_func(trump)), int(old_man.py_func(trump))]
        order = []
        for suit in [men[0], *(suit for suit in range(4) if suit not in men), trump]:
            order += [card for card in range(suit * RANKS, suit * RANKS + RANKS) if card not in jacks]
        outer[trump] = order + jacks
        inner[trump, outer[trump]] = np.arange(CARDS)
    return inner.ravel(), outer.ravel()


INNER, OUTER = renumbering()


@kernel
def load(at: int, state: Any) -> None:
    """Write a state into the first frame."""
    number, frame = np.int64(state.trump) * CARDS, at + FRAMES
    cards, owner_low, owner_high, lying = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for seat in range(4):
        hand, rest = np.int64(0), state.hands[seat]
        while rest:
            hand |= bit(INNER[number + lowest(rest)])
            rest &= rest - 1
        poke(at + HANDS + WORD * seat, hand)
        cards |= hand
        if state.trick[seat] != NO_CARD:
            lying += POINTS[INNER[number + state.trick[seat]]]
    rest = cards
    place = np.int64(0)
    while rest:
        card = rest & -rest
        rest &= rest - 1
        for seat in range(4):
            if peek(at + HANDS + WORD * seat) & card:
                owner_low |= (seat & 1) << place
                owner_high |= (seat >> 1) << place
        place += 1
    leader = np.int64(state.leader)
    led = np.int64(TRUMP)
    if state.trick_number and state.trick[leader] != NO_CARD:
        led = SUIT_OF[INNER[number + state.trick[leader]]]
    poke(frame + LEFT, cards)
    poke(frame + SEAT, np.int64(state.seat))
    poke(frame + PLACE, (np.int64(state.seat) - leader) & 3)
    poke(frame + LED, led)
    poke(frame + BEST, INNER[number + state.best] if state.best != NO_CARD else np.int64(NOTHING))
    poke(frame + WINNER, np.int64(state.winner))
    poke(frame + LYING, lying)
    poke(frame + OWNER_LOW, owner_low)
    poke(frame + OWNER_HIGH, owner_high)
    poke(frame + OPENING, np.int64(state.plays == 0))
    poke(frame + TOTAL, points_of(cards))
    poke(at + SIDE, peek(at + HANDS) | peek(at + HANDS + 2 * WORD))
    poke(at + EXEMPT, np.int64(state.jack_exempt != 0))


@kernel
def start_guess(at: int, frame: int) -> int:
    """Where the search starts, by counting trumps and the tops of the suits (fitted to solved deals)."""
    cards, own = peek(frame + LEFT), peek(at + SIDE)
    trumps = cards & TRUMPS
    guess = (points_of(cards) + peek(frame + LYING) + 1) // 2
    guess += 6 * (popcount(trumps & own) - popcount(trumps & ~own)) + 6 * top_holder(trumps, own)
    for suit in SUITS:
        guess += 6 * top_holder(cards & suit, own)
    return guess + 4 * (longest(at, trumps, 0) - longest(at, trumps, 1))


@kernel
def top_holder(cards: int, own: int) -> int:
    """1 where side 0 holds the highest of some cards, -1 where the other side does, 0 where there is none."""
    if cards == 0:
        return np.int64(0)
    return np.int64(1) if cards & own > cards & ~own else np.int64(-1)


@kernel
def longest(at: int, trumps: int, side: int) -> int:
    """The most trumps that one hand of a side has."""
    hand, other = peek(at + HANDS + WORD * side), peek(at + HANDS + WORD * (side + 2))
    return max(popcount(trumps & hand), popcount(trumps & other))


@kernel
def settle(at: int, frame: int, guess: int) -> Any:
    """The bounds of what side 0 takes from a frame on; they meet unless the limit of nodes was reached."""
    low, high = np.int64(0), points_of(peek(frame + LEFT)) + peek(frame + LYING)
    want, step, before = guess, FIRST_STEP, 0
    while low < high:
        want = min(max(want, low + 1), high)
        value = search(at, frame, want)
        if peek(at + STOPPED):
            break
        if value >= want:
            step = 2 * step if before == 1 else FIRST_STEP
            low, want, before = value, value + step, 1
        else:
            step = 2 * step if before == -1 else FIRST_STEP
            high, want, before = value, value + 1 - step, -1
    return low, high


@kernel
def begin(at: int, table: int, table_bits: int, limit: int) -> None:
    """Prepare the memory for the position in the first frame; few cards use few lines of the table."""
    tricks = (popcount(peek(at + FRAMES + LEFT)) + 3) >> 2
    bits = np.int64(SMALL_TABLE_BITS)
    if tricks > 6:
        bits = table_bits if tricks > 7 else (table_bits + SMALL_TABLE_BITS) >> 1
    poke(at + NODES, 0)
    poke(at + STOPPED, 0)
    poke(at + LIMIT, limit if limit > 0 else NO_LIMIT)
    poke(at + TABLE, table)
    poke(at + MASK, (np.int64(1) << min(bits, table_bits)) - 1)


@kernel
def evaluate(state: Any, at: int, table: int, table_bits: int, limit: int) -> Any:
    """Bounds (low, high) of side 0's card points in the whole deal from a state on.

    Args:
        state: A full state in phase PLAY.
        at: Address of a solver's memory.
        table: Address of its table.
        table_bits: Logarithm of its number of buckets.
        limit: Nodes after which the bounds found so far are the answer; 0 for none.
    """
    load(at, state)
    begin(at, table, table_bits, limit)
    low, high = settle(at, at + FRAMES, start_guess(at, at + FRAMES))
    return low + state.points[0], high + state.points[0]


@kernel
def evaluate_cards(state: Any, at: int, table: int, table_bits: int, out: Any) -> None:
    """Write the exact value of each legal card of a state to out[36]: side 0's card points in the whole deal."""
    load(at, state)
    begin(at, table, table_bits, 0)
    frame, taken = at + FRAMES, np.int64(state.points[0])
    number, guess = np.int64(state.trump) * CARDS, start_guess(at, at + FRAMES)
    for card in range(CARDS):
        out[card] = ILLEGAL
    hand = peek(frame + LEFT) & peek(at + HANDS + WORD * peek(frame + SEAT))
    rest = may_play(hand, peek(frame + PLACE), peek(frame + LED), peek(frame + OPENING), peek(at + EXEMPT))
    while rest:
        card = highest(rest)
        rest &= ~bit(card)
        after = descend(at, frame, card)
        gain = peek(frame + GAIN)
        low, _ = settle(at, after, guess - gain)
        guess = low + gain
        out[OUTER[number + card]] = guess + taken


def answer(
    states: Any, at: int, table: int, table_bits: int, limit: int, lows: Any, highs: Any, nodes: Any, values: Any
) -> None:
    """`evaluate` for each of many states, or `evaluate_cards` where `values` has a row for each."""
    for i in range(len(states)):
        if len(values) > 0:
            evaluate_cards(states[i], at, table, table_bits, values[i])
        else:
            lows[i], highs[i] = evaluate(states[i], at, table, table_bits, limit)
            nodes[i] = peek(at + NODES)


def play_one(states: Any, card: int) -> None:
    """Play a card in the first state; a second deal goes on to its last card."""
    states[0].second_deal = 0
    play(states[0], card)


ANSWER, PLAY_ONE = entry(answer), entry(play_one)  # one entry for both answers: the search is compiled once


# ------------------------------------------------------------------------------------------------ solver


@dataclass(frozen=True)
class Solution:
    """What open-hand play of N positions brings; low and high are equal where the answer is exact.

    Attributes:
        low: int64[N], card points that side 0 (seats 0 and 2) takes in the whole deal at least.
        high: int64[N], at most.
        exact: bool[N].
        nodes: int64[N], positions visited.
        line: The cards of perfect play from each position to the end of the deal, where asked for.
    """

    low: np.ndarray
    high: np.ndarray
    exact: np.ndarray
    nodes: np.ndarray
    line: list[list[int]] | None = None


class Solver:
    """The memory and the table that searches share; make one and keep it.

    What the table has learnt of one deal is true of every other, so nothing is cleared between calls, except
    before a search with a cap on nodes: its bounds then depend on nothing but its position.
    A solver serves one thread at a time.
    """

    def __init__(self, table_bits: int = 18) -> None:
        """A solver whose table takes 64 bytes times 2 ** table_bits (16 MiB)."""
        self.table_bits = table_bits
        self._memory = np.zeros(MEMORY, np.int64)
        self._table = np.zeros((BUCKET << table_bits) // WORD + BUCKET // WORD, np.int64)
        self._memory[WEIGHTS // WORD : WEIGHTS // WORD + ROWS * CARDS] = move_weights().ravel()

    @property
    def addresses(self) -> tuple[int, int, int]:
        """What the kernels `evaluate` and `evaluate_cards` take after the state; valid while the solver lives."""
        table = -(-self._table.ctypes.data // BUCKET) * BUCKET
        return self._memory.ctypes.data, table, self.table_bits

    def clear(self) -> None:
        """Forget everything learnt."""
        self._table[:] = 0
        self._memory[TURN // WORD] = 0
        self._memory[REFUTES // WORD :] = 0

    def solve(self, states: np.ndarray, *, nodes: int = 0, line: bool = False) -> Solution:
        """See the function `solve`."""
        states = checked(states)
        low, high, visited = (np.zeros(len(states), np.int64) for _ in range(3))
        for i in range(0, len(states), 1 if nodes else max(len(states), 1)):
            part = slice(i, i + 1 if nodes else None)
            if nodes:
                self.clear()
            ANSWER(states[part], *self.addresses, nodes, low[part], high[part], visited[part], NO_VALUES)
        lines = [self.line(state) for state in states] if line else None
        return Solution(low, high, low == high, visited, lines)

    def card_values(self, states: np.ndarray) -> np.ndarray:
        """See the function `card_values`."""
        states = checked(states)
        out = np.empty((len(states), CARDS), np.int16)
        unused = np.empty(0, np.int64)
        ANSWER(states, *self.addresses, 0, unused, unused, unused, out)
        return out

    def line(self, state: np.void) -> list[int]:
        """The cards of perfect play from a state to the end of the deal; the lowest where several are as good."""
        states, cards = np.array([state], STATE), []
        while states["phase"][0] == PLAY:
            values = self.card_values(states)[0]
            legal = np.flatnonzero(values != ILLEGAL)
            choose = np.argmin if states["seat"][0] & 1 else np.argmax
            cards.append(int(legal[choose(values[legal])]))
            PLAY_ONE(states, cards[-1])
        return cards


def checked(states: np.ndarray) -> np.ndarray:
    """States [N] that the solver takes.

    Raises:
        ValueError: a view, or a state in which no card is to be played.
    """
    states = np.atleast_1d(np.asarray(states))
    if states.dtype != STATE or states.ndim != 1:
        raise ValueError(f"solve takes states [N] of Viersche, not {states.dtype.name}{list(states.shape)}")
    if np.any(states["phase"] != PLAY):
        raise ValueError("solve takes states in phase PLAY: in the others no card is to be played")
    if np.any(states["observer"] != NO_OBSERVER):
        raise ValueError("solve takes full states: in a view the other hands are hidden")
    return states


@cache
def shared_solver() -> Solver:
    """The solver of the functions below, one in a process."""
    return Solver()


def solve(states: np.ndarray, *, nodes: int = 0, line: bool = False) -> Solution:
    """What side 0 takes of each deal if all four seats play perfectly with open hands.

    Args:
        states: Full states [N] in phase PLAY, anywhere in a deal.
        nodes: Cap on the positions visited for each state, after which the bounds proven so far are the
            answer; 0 for none.
        line: Also the cards of perfect play; always exact, so without a cap.
    """
    return shared_solver().solve(states, nodes=nodes, line=line)


def card_values(states: np.ndarray) -> np.ndarray:
    """int16[N, 36]: the exact value of each legal card of states [N], `ILLEGAL` for the other cards.

    The value is the card points that side 0 takes in the whole deal after that card and perfect open-hand play.
    """
    return shared_solver().card_values(states)


def benchmark(cards: int, deals: int, seed: int = 0) -> dict[str, float]:
    """Milliseconds of processor time per position of random deals, played at random down to `cards` each."""
    states, solver = random_positions(cards, deals, seed), Solver()
    solver.solve(states[:1])
    spent = np.empty(deals)
    solver.clear()
    for i in range(deals):
        start = time.process_time()
        solver.solve(states[i : i + 1])
        spent[i] = 1e3 * (time.process_time() - start)
    return {"mean_ms": float(spent.mean()), "p99_ms": float(np.percentile(spent, 99)), "max_ms": float(spent.max())}


def random_positions(cards: int, deals: int, seed: int, **options: Any) -> np.ndarray:
    """States [deals] of random deals, played at random down to `cards` cards each."""
    batch = make_batch("viersche", deals, seed=seed, **options)
    draws = np.random.default_rng(seed)
    for _ in range(SEATS * (HAND_SIZE - cards)):
        batch.step((draws.random(batch.action_mask.shape) * batch.action_mask).argmax(axis=1))
    return batch.states.copy()
