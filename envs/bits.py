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
def store4(typingctx: Any, out: Any, at: Any, word: Any) -> Any:
    """Write the low four bytes of `word` to out[at : at + 4] (int8, any alignment)."""

    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = ctx.make_array(sig.args[0])(ctx, builder, args[0])
        place = builder.gep(builder.bitcast(array.data, I8.as_pointer()), [args[1]])
        builder.store(builder.trunc(args[2], I32), builder.bitcast(place, I32.as_pointer()), align=1)
        return ctx.get_dummy_value()

    return types.void(out, types.int64, types.uint64), emit


@intrinsic(prefer_literal=True)
def spread(typingctx: Any, out: Any, at: Any, bits: Any, width: Any) -> Any:
    """Write `width` bits (a constant, multiple of 4) as bytes 0 or 1 from out[at] on; returns the place after them.

    The bits are widened as vectors, for which processors have instructions; a loop over bytes is half as fast.
    """
    if not isinstance(width, types.IntegerLiteral):
        return None
    whole = width.literal_value

    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = ctx.make_array(sig.args[0])(ctx, builder, args[0])
        start = builder.gep(builder.bitcast(array.data, I8.as_pointer()), [args[1]])
        done = 0
        for size in (32, 16, 8, 4):
            while whole - done >= size:
                part = builder.lshr(args[2], ir.Constant(I64, done))
                wide = _widened(builder, builder.trunc(part, ir.IntType(size)), size)
                place = builder.gep(start, [ir.Constant(I64, done)])
                builder.store(wide, builder.bitcast(place, wide.type.as_pointer()), align=1)
                done += size
        return builder.add(args[1], ir.Constant(I64, whole))

    return types.int64(out, types.int64, types.int64, width), emit


def _widened(builder: Any, part: Any, size: int) -> Any:
    """`size` bits as bytes; four bits by one multiplication that moves bit j to place 8 j."""
    if size == 4:
        word = builder.mul(builder.zext(part, I32), ir.Constant(I32, 0x00204081))
        return builder.and_(word, ir.Constant(I32, 0x01010101))
    return builder.zext(builder.bitcast(part, ir.VectorType(ir.IntType(1), size)), ir.VectorType(I8, size))


@intrinsic(prefer_literal=True)
def copy_bytes(typingctx: Any, out: Any, at: Any, source: Any, count: Any) -> Any:
    """Copy `count` (a constant) bytes of the array `source` to out[at:]; returns the place after them.

    As one vector: in a loop, the test for negative indices would be made for every byte.
    """
    if not isinstance(count, types.IntegerLiteral):
        return None
    vector = ir.VectorType(I8, count.literal_value)

    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        target = ctx.make_array(sig.args[0])(ctx, builder, args[0])
        origin = ctx.make_array(sig.args[2])(ctx, builder, args[2])
        place = builder.gep(builder.bitcast(target.data, I8.as_pointer()), [args[1]])
        content = builder.load(builder.bitcast(origin.data, vector.as_pointer()), align=1)
        builder.store(content, builder.bitcast(place, vector.as_pointer()), align=1)
        return builder.add(args[1], ir.Constant(I64, count.literal_value))

    return types.int64(out, types.int64, source, count), emit


@kernel
def bit(card: int) -> int:
    """The set of one card."""
    return np.int64(1) << np.int64(card)


@kernel
def nth(cards: int, n: int) -> int:
    """The n-th card (from 0, ascending) of a set."""
    for _ in range(n):
        cards &= cards - 1
    return lowest(cards)


@kernel
def thermometer(value: int, steps: int) -> int:
    """`steps` bits of which the lowest `value` are set (value clipped to 0..steps)."""
    return (np.int64(1) << np.int64(min(max(value, 0), steps))) - 1
