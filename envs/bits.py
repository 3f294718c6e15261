"""Sets of cards as the bits of one 64-bit integer, and their expansion into observation bytes.

A deck has at most 52 cards, so a signed int64 holds any set and is never negative; with signed sets no
kernel mixes signed and unsigned integers, which numba would turn into floats.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .jit import kernel

I8, I32, I64 = ir.IntType(8), ir.IntType(32), ir.IntType(64)

SPREAD = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.uint8).view(np.uint64).ravel()
"""SPREAD[b]: the eight bits of b as eight bytes of a little-endian word."""


@intrinsic
def popcount(typingctx: Any, cards: Any) -> Any:
    """Number of cards in a set."""
    return types.int64(types.int64), lambda ctx, builder, sig, args: builder.ctpop(args[0])


@intrinsic
def lowest(typingctx: Any, cards: Any) -> Any:
    """The card with the lowest number in a set that is not empty."""
    return types.int64(types.int64), lambda ctx, builder, sig, args: builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))


@intrinsic
def highest(typingctx: Any, cards: Any) -> Any:
    """The card with the highest number in a set that is not empty."""

    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.sub(ir.Constant(I64, 63), builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0)))

    return types.int64(types.int64), emit


def _store(width: Any) -> Any:
    def emit(ctx: Any, builder: Any, sig: Any, args: Any) -> Any:
        array = ctx.make_array(sig.args[0])(ctx, builder, args[0])
        address = builder.gep(builder.bitcast(array.data, I8.as_pointer()), [args[1]])
        word = args[2] if width is I64 else builder.trunc(args[2], width)
        builder.store(word, builder.bitcast(address, width.as_pointer()), align=1)
        return ctx.get_dummy_value()

    return emit


@intrinsic
def store8(typingctx: Any, out: Any, at: Any, word: Any) -> Any:
    """Write the eight bytes of `word` to out[at : at + 8] (int8, any alignment)."""
    return types.void(out, types.int64, types.uint64), _store(I64)


@intrinsic
def store4(typingctx: Any, out: Any, at: Any, word: Any) -> Any:
    """Write the low four bytes of `word` to out[at : at + 4]."""
    return types.void(out, types.int64, types.uint64), _store(I32)


@kernel
def spread(out: Any, at: int, bits: int, width: int) -> int:
    """Write `width` bits (a multiple of 4) as bytes 0 or 1 from out[at] on; returns the place after them."""
    for _ in range(width // 8):
        store8(out, at, SPREAD[bits & 255])
        bits >>= 8
        at += 8
    if width & 4:
        store4(out, at, SPREAD[bits & 15])
        at += 4
    return at


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
