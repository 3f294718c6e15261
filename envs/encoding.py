"""What all encodings share: an observation is named slices of one flat int8 vector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .bits import bit
from .jit import kernel, part
from .state import MAX_SEATS

EVERY_CARD = (1 << 60) - 1  # wide enough for every deck


@dataclass(frozen=True)
class Piece:
    """One named slice.

    Attributes:
        name: Its key in `layout()`.
        size: Entries; a multiple of 4 or part of a group of pieces that is.
        meaning: One sentence for the docs.
        highest: The largest value; 1 for bits.
        axis: "card" for one entry a card of the deck (once or several times), "suit" for one a suit, "" for others.
    """

    name: str
    size: int
    meaning: str
    highest: int = 1
    axis: str = ""


@dataclass(frozen=True)
class Encoding:
    """How views of a game become vectors.

    Attributes:
        version: Raised whenever a slice changes; checkpoints carry it.
        pieces: The observation's slices by number of players.
        hidden: What the full state appends to the observation: the slices that no view shows.
        constant: `constant(options)`: slices that never change under these rules.
        write: Kernel `write(view, at) -> end` that writes an observation from an address on.
        write_hidden: Kernel `write_hidden(state, seat, at) -> end`.
        forecasts: What a seat may foretell of a deal, by name: its possible outcomes, for a number of players.
        foretold: Kernel `foretold(state, seat, out)`: after a deal, the index of each forecast's true outcome.
        main_suit: The slice that shows the suit by which a game's suits differ (trumps); None where there is none.
        ranking: `ranking()`: suit and strength of each card int64[A], the first suit being the main one; None where
            they are those printed.
        known: Slices of cards whose holder everybody, or the observer, knows, each with the slice of that seat.
        counts: `counts()`: what each card counts for who takes it, int64[A], the first suit being the main one; None
            where all count alike.
    """

    version: int
    pieces: Callable[[int], list[Piece]]
    hidden: Callable[[int], list[Piece]]
    constant: Callable[[Any], list[str]]
    write: Any
    write_hidden: Any
    forecasts: Callable[[int], dict[str, tuple[str, ...]]]
    foretold: Any
    main_suit: str | None = None
    ranking: Callable[[], tuple[np.ndarray, np.ndarray]] | None = None
    known: tuple[tuple[str, str], ...] = ()
    counts: Callable[[], np.ndarray] | None = None

    def size(self, players: int) -> int:
        """D, the length of an observation."""
        return sum(piece.size for piece in self.pieces(players))

    def state_size(self, players: int) -> int:
        """F, the length of the full state's vector; its first D entries are the observation."""
        return self.size(players) + sum(piece.size for piece in self.hidden(players))

    def layout(self, players: int) -> dict[str, slice]:
        """The slices of the observation, then those of the full state beyond it, by name."""
        found, at = {}, 0
        for piece in self.pieces(players) + self.hidden(players):
            found[piece.name] = slice(at, at + piece.size)
            at += piece.size
        return found

    def highest(self, players: int) -> np.ndarray:
        """The largest value of each entry of the full state's vector, int8[F]; networks divide by it."""
        return np.concatenate(
            [np.full(p.size, p.highest, np.int8) for p in self.pieces(players) + self.hidden(players)]
        )


@kernel
def card_bit(card: int) -> int:
    """The set of one card; the empty set for NO_CARD and FACE_DOWN, whose bits 63 and 62 no card has."""
    return bit(np.int64(card) & 63) & EVERY_CARD


@kernel
def seat_bit(seat: int) -> int:
    """One bit of four for a seat; none for NO_SEAT, whose bit 63 no seat has."""
    return bit(np.int64(seat) & 63) & 15


@part
def by_observer(packed: int, width: int, players: int, me: int) -> int:
    """Fields of `width` bits in the order of the seats, as fields in the order of play from the observer."""
    shift, whole = width * me, width * players
    return (packed >> shift | packed << (whole - shift)) & ((np.int64(1) << whole) - 1)


@part
def quads_by_observer(quads: int, players: int, me: int) -> int:
    """Six times four bits, one a seat, each four in the order of play from the observer."""
    low = 0x111111 * ((1 << (players - me)) - 1)  # in each four the seats from the observer to the last one
    return quads >> me & low | quads << (players - me) & 0x111111 * ((1 << players) - 1) & ~low


@kernel
def void_bits(view: Any) -> int:
    """The suits that each seat has shown not to hold, four bits a seat."""
    voids = np.int64(0)
    for seat in range(MAX_SEATS):
        voids |= np.int64(view.voids[seat]) << 4 * seat
    return voids
