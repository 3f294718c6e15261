"""What all encodings share: an observation is named slices of one flat int8 vector."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Piece:
    """One named slice.

    Attributes:
        name: Its key in `layout()`.
        size: Entries; a multiple of 4 or part of a group of pieces that is.
        meaning: One sentence for the docs.
        highest: The largest value; 1 for bits.
    """

    name: str
    size: int
    meaning: str
    highest: int = 1


@dataclass(frozen=True)
class Encoding:
    """How views of a game become vectors.

    Attributes:
        version: Raised whenever a slice changes; checkpoints carry it.
        pieces: The observation's slices by number of players.
        hidden: What the full state appends to the observation: the slices that no view shows.
        constant: `constant(options)`: slices that never change under these rules.
        write: Kernel `write(view, out, at) -> end` that writes an observation.
        write_hidden: Kernel `write_hidden(state, seat, out, at) -> end`.
    """

    version: int
    pieces: Callable[[int], list[Piece]]
    hidden: Callable[[int], list[Piece]]
    constant: Callable[[Any], list[str]]
    write: Any
    write_hidden: Any

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
