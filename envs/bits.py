"""Sets of cards as the bits of one 64-bit integer, and their expansion into observation bytes.

A deck has at most 52 cards, so a signed int64 holds any set and is never negative; with signed sets no
kernel mixes signed and unsigned integers, which numba would turn into floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types

from .jit import kernel

intrinsic: Any = extending.intrinsic  # its own type hides the arguments
I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)


@intrinsic
def popcount(typingctx: Any, cards: Any) -> Any:
    """Number of cards in a set."""
    return types.int64(types.int64), lambda ctx, builder, sig, args: builder.ctpop(args[0])


@intrinsic
def lowest(typingctx: Any, cards: Any) -> Any:
    """The card with the lowest number in a set that is not empty."""
    zero_is_fine = ir.Constant(ir.IntType(1), 0)
    return types.int64(types.int64), lambda ctx, builder, sig, args: builder.cttz(args[0], zero_is_fine)


@intrinsic
def highest(typingctx: Any, cards: Any) -> Any:
    """The card with the highest number in a set that is not empty."""

    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.sub(ir.Constant(I64, 63), builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0)))

    return types.int64(types.int64), emit


@intrinsic
def address(typingctx: Any, array: Any, index: Any) -> Any:
    """Where array[index] (one byte an entry) lies in memory, for the writers below.

    They take an address, not an array: numba counts the references to an array at every call it is handed to,
    which costs more than the writing. The caller keeps the array alive and its end in mind.
    """

    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        data = ctx.make_array(sig.args[0])(ctx, builder, args[0]).data
        return builder.add(builder.ptrtoint(data, I64), args[1])

    return types.int64(array, types.int64), emit


@intrinsic
def store4(typingctx: Any, at: Any, word: Any) -> Any:
    """Write the low four bytes of `word` from the address `at` on; returns the address after them."""

    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(builder.trunc(args[1], I32), builder.inttoptr(args[0], I32.as_pointer()), align=1)
        return builder.add(args[0], ir.Constant(I64, 4))

    return types.int64(types.int64, types.int64), emit


@intrinsic(prefer_literal=True)
def spread(typingctx: Any, at: Any, bits: Any, width: Any) -> Any:
    """Write `width` bits (a constant, multiple of 4) as bytes 0 or 1 from an address on; returns the address after.

    The bits are widened as vectors, for which processors have instructions; a loop over bytes is half as fast.
    """
    if not isinstance(width, types.IntegerLiteral):
        return None
    whole = width.literal_value

    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        eight = builder.bitcast(args[1], ir.VectorType(I8, 8))
        for first, size in _groups(whole):
            wide = _widened(builder, eight, first, size)
            place = builder.add(args[0], ir.Constant(I64, first))
            builder.store(wide, builder.inttoptr(place, wide.type.as_pointer()), align=1)
        return builder.add(args[0], ir.Constant(I64, whole))

    return types.int64(types.int64, types.int64, width), emit


def _groups(width: int) -> list[tuple[int, int]]:
    """First bit and number of bits of each vector; the last one overlaps the one before, rather than being short."""
    size = next(each for each in (32, 16, 8, 4) if each <= width)
    starts = list(range(0, width - size + 1, size))
    return [(first, size) for first in starts + ([] if width % size == 0 else [width - size])]


def _widened(builder: Any, eight: Any, first: int, size: int) -> Any:
    """Bits first, first + 1, ... of eight bytes as bytes: the byte of each bit, that bit alone, and at most 1."""
    vector = ir.VectorType(I8, size)
    places = range(first, first + size)
    index = ir.Constant(ir.VectorType(I32, size), [place // 8 for place in places])
    alone = ir.Constant(vector, [1 << place % 8 for place in places])
    part = builder.and_(builder.shuffle_vector(eight, eight, index), alone)
    one = ir.Constant(vector, [1] * size)
    return builder.select(builder.icmp_unsigned("<", part, one), part, one)


@intrinsic(prefer_literal=True)
def copy_bytes(typingctx: Any, at: Any, source: Any, count: Any) -> Any:
    """Copy `count` (a constant) bytes of the array `source` to an address; returns the address after them.

    As one vector: in a loop, the test for negative indices would be made for every byte.
    """
    if not isinstance(count, types.IntegerLiteral):
        return None
    vector = ir.VectorType(I8, count.literal_value)

    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        origin = ctx.make_array(sig.args[1])(ctx, builder, args[1])
        content = builder.load(builder.bitcast(origin.data, vector.as_pointer()), align=1)
        builder.store(content, builder.inttoptr(args[0], vector.as_pointer()), align=1)
        return builder.add(args[0], ir.Constant(I64, count.literal_value))

    return types.int64(types.int64, source, count), emit


@kernel
def bit(card: int) -> int:
    """The set of one card."""
    return np.int64(1) << np.int64(card)


@kernel
def nth(cards: int, n: int) -> int:
    """The n-th card (from 0, ascending) of a set that has more than n.

    Halving, without branches: the processor could not guess how often a loop over the cards runs.
    """
    found, rest = np.int64(0), np.int64(cards)
    for width in (32, 16, 8, 4, 2, 1):
        low = popcount(rest & ((np.int64(1) << width) - 1))
        skip = width & -np.int64(n >= low)  # the whole width or 0
        n -= low & -np.int64(n >= low)
        rest >>= skip
        found += skip
    return found


@kernel
def thermometer(value: int, steps: int) -> int:
    """`steps` bits of which the lowest `value` are set (value clipped to 0..steps)."""
    return (np.int64(1) << np.int64(min(max(value, 0), steps))) - 1
