"""The memory of the exact solver of Viersche: frames, the structural table, and what refuted in like positions.

A memory is an array of which the kernels get the address, as a reference to an array would be counted at every call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types

from ..envs.bits import lowest, popcount
from ..envs.jit import inlined, kernel
from ..envs.viersche import CARDS
from .solver_viersche_cards import ALL, NOTHING, OLD_MAN, POINTS, lengths

# The solver's memory: words of eight bytes. First what a search knows, then the refutations (a byte each), then the
# frames.
WORD = 8
NODES, LIMIT, STOPPED, EXEMPT, TABLE, MASK, TURN, SIDE, HANDS = (WORD * word for word in range(9))
WEIGHTS = WORD * 16
ROWS = 32
REFUTES = WEIGHTS + WORD * ROWS * CARDS
ROUGH_REFUTES, FINE_REFUTES = 1 << 13, 1 << 14
FRAMES = REFUTES + ROUGH_REFUTES + FINE_REFUTES

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

I8, I32, I64 = (ir.IntType(bits) for bits in (8, 32, 64))


def _load_word(typingctx: Any, at: Any) -> Any:
    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load(builder.inttoptr(args[0], I64.as_pointer()))

    return types.int64(types.int64), emit


def _store_word(typingctx: Any, at: Any, word: Any) -> Any:
    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[1], builder.inttoptr(args[0], I64.as_pointer()))
        return ctx.get_dummy_value()

    return types.void(types.int64, types.int64), emit


def _load_byte(typingctx: Any, at: Any) -> Any:
    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.zext(builder.load(builder.inttoptr(args[0], I8.as_pointer())), I64)

    return types.int64(types.int64), emit


def _store_byte(typingctx: Any, at: Any, word: Any) -> Any:
    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(builder.trunc(args[1], I8), builder.inttoptr(args[0], I8.as_pointer()))
        return ctx.get_dummy_value()

    return types.void(types.int64, types.int64), emit


def _prefetch(typingctx: Any, at: Any) -> Any:
    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        i8p, i32 = I8.as_pointer(), ir.IntType(32)
        function = builder.module.declare_intrinsic(
            "llvm.prefetch", [i8p], ir.FunctionType(ir.VoidType(), [i8p, i32, i32, i32])
        )
        builder.call(function, [builder.inttoptr(args[0], i8p), i32(1), i32(3), i32(1)])
        return ctx.get_dummy_value()

    return types.void(types.int64), emit


peek: Any = extending.intrinsic(_load_word)  # peek(at): the word at an address
poke: Any = extending.intrinsic(_store_word)  # poke(at, word): write a word there
peek_byte: Any = extending.intrinsic(_load_byte)
poke_byte: Any = extending.intrinsic(_store_byte)
prefetch: Any = extending.intrinsic(_prefetch)  # prefetch(at): have a line of memory in the cache soon


@inlined
def find_bucket(at: int, frame: int) -> None:
    """Note the bucket of a frame's structure, and have it fetched while other things are looked at."""
    owners, tag = owners_of(frame), tag_of(at, frame)
    mixed = owners * np.int64(-7046029254386353131) ^ (lengths(peek(frame + LEFT)) << 3 | tag) * 7577854681
    mixed = (mixed ^ mixed >> 31) * np.int64(-4658895280553007687)
    home = peek(at + TABLE) + (mixed >> 29 & peek(at + MASK)) * BUCKET
    poke(frame + HOME, home)
    prefetch(home)


@inlined
def tag_of(at: int, frame: int) -> int:
    """What the structure has beside owners and lengths: who leads, and the rule for a bare Old Man."""
    return peek(frame + SEAT) | peek(at + EXEMPT) << 2


@inlined
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


@inlined
def look_up(at: int, frame: int) -> int:
    """Narrow the sure bounds of a frame by what the table knows; returns the card that was best, or NOTHING."""
    owners, tag, cards = owners_of(frame), tag_of(at, frame), peek(frame + LEFT)
    place = peek(frame + HOME)
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


@inlined
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


@inlined
def refutations(at: int, frame: int) -> int:
    """The cards that last refuted in like positions: very like << 8 | roughly like. Notes where to keep the next.

    Alike are: seat and place in the trick, the card to beat and whose it is (before a lead, those of the last
    trick), and roughly the number of cards left, or very alike the own hand.
    """
    cards, seat = peek(frame + LEFT), peek(frame + SEAT)
    hand = cards & peek(at + HANDS + WORD * seat)
    both = peek(frame + BEST) + 1 | (peek(frame + WINNER) & 3) << 6 | seat << 8 | peek(frame + PLACE) << 10
    mixed = (both | popcount(cards) << 12) * 2654435761
    rough = at + REFUTES + (mixed >> 12 & (ROUGH_REFUTES - 1))
    mixed = (both | hand << 12) * 114007148193231
    fine = at + REFUTES + (ROUGH_REFUTES + (mixed >> 30 & (FINE_REFUTES - 1)))
    poke(frame + ROUGH, rough)
    poke(frame + FINE, fine)
    return peek_byte(fine) << 8 | peek_byte(rough)
