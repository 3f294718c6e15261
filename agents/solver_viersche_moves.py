"""Which cards the exact solver of Viersche tries, and in which order."""

from __future__ import annotations

import numpy as np

from ..envs.bits import bit, lowest
from ..envs.jit import inlined, kernel
from ..envs.viersche import CARDS
from .solver_viersche_cards import (
    NOTHING,
    OLD_MAN,
    POINTS,
    SUIT_END,
    SUIT_OF,
    SUIT_START,
    TRUMPS,
    TRUMPS_FROM,
    beaters,
    beats,
    cheapest,
    dearest,
    may_play,
    same_worth,
    suit_set,
)
from .solver_viersche_table import (
    BEST,
    COUNT,
    EXEMPT,
    HANDS,
    LED,
    LEFT,
    LYING,
    MOVES,
    NEXT,
    OPENING,
    PLACE,
    ROWS,
    SEAT,
    VALUE,
    WEIGHTS,
    WINNER,
    WORD,
    peek,
    poke,
)

RICH = 8  # points in a trick that make it worth more
# For a lead that surely wins, of a suit whose top the partner holds, that is the top, below a rival's top.
LEAD_WEIGHTS = ((60, 4, 10, 0), (25, 2, -10, 0), (25, -2, -10, 0), (20, -2, -10, -1))
# For a card by what becomes of the trick; the second is added where the trick is rich.
FOLLOW_WEIGHTS = ((46, 36, 6, -20, -1), (32, 12, 1, -20, 1), (18, -12, -1, -20, -1), (-6, -36, -6, -20, -1))
WINS, LEADS, TRAILS, LOSES = range(4)  # what becomes of the trick for the own side: surely, so far, ...
BEFORE_ALL, EARLY = 1 << 21, 1 << 20  # weights of what refuted before


@inlined
def fate(card: int, best: int, led: int, ours: bool, rivals: int, partner: int) -> int:
    """What becomes of the trick for the own side if it plays a card, given who still plays after it."""
    if beats(card, best, led):
        return WINS if rivals & beaters(card) == 0 else LEADS
    if best == NOTHING:
        return TRAILS if partner & TRUMPS else LOSES
    if ours:
        return WINS if rivals & beaters(best) == 0 else LEADS
    return TRAILS if partner & beaters(best) else LOSES


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


@inlined
def move_word(at: int, row: int, card: int, first: int, group: int) -> int:
    """A move: its weight, by which moves are tried, the lowest card of its group, and the card."""
    weight = peek(at + WEIGHTS + WORD * (row * CARDS + card))
    weight += (card == first >> 8) * BEFORE_ALL + (card == first & 255) * EARLY
    return weight << 16 | group << 8 | card


@inlined
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


@inlined
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


@inlined
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
