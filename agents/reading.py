"""How a network reads observations: the entries it is given, in [0, 1], suit by suit.

Letters as in `network`; `X` are the entries of a suit, `O` those of no suit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..envs.encoding import Piece
from ..envs.game import Game
from ..envs.jit import entry

SUITS = 4


class Columns:
    """Where the entries of a full state lie that a network reads, ordered as it reads them.

    Args:
        game: The game.
        players: Seats at the table.
        ignore: Slices that are left out.
        hidden: The slices that only the full state has, instead of the observation's.
    """

    def __init__(self, game: Game, players: int, ignore: Sequence[str], hidden: bool = False) -> None:
        encoding = game.encoding
        layout = encoding.layout(players)
        ranks = game.deck.size // SUITS
        by_suit: list[list[np.ndarray]] = [[] for _ in range(SUITS)]
        other = [np.empty(0, np.int64)]
        for piece in encoding.hidden(players) if hidden else encoding.pieces(players):
            if piece.name in ignore:
                continue
            columns = np.arange(layout[piece.name].start, layout[piece.name].stop)
            if not piece.axis:
                other.append(columns)
                continue
            for suit, found in enumerate(_suits(piece, columns, ranks)):
                by_suit[suit].append(found)
        self.other = np.concatenate(other)
        self.suits = np.stack([np.concatenate([*parts, np.empty(0, np.int64)]) for parts in by_suit])
        self.all = np.concatenate([self.suits.reshape(-1), self.other])
        self.scale = (1 / encoding.highest(players).astype(np.float32))[self.all]


def _suits(piece: Piece, columns: np.ndarray, ranks: int) -> np.ndarray:
    """The columns of a piece that belong to each suit, int64[4, ...]."""
    width = ranks if piece.axis == "card" else 1
    return columns.reshape(-1, SUITS, width).transpose(1, 0, 2).reshape(SUITS, -1)


class Reader(nn.Module):
    """Picks the columns that a network reads and brings them to [0, 1]."""

    columns: Tensor
    scale: Tensor

    def __init__(self, columns: Columns) -> None:
        super().__init__()
        self.in_suit = columns.suits.shape[1]
        self.register_buffer("columns", torch.from_numpy(columns.all), persistent=False)
        self.register_buffer("scale", torch.from_numpy(columns.scale), persistent=False)
        self.picks = columns.all.astype(np.uint16)
        self.scales = np.zeros(columns.all.max(initial=-1) + 1, np.float32)
        self.scales[columns.all] = columns.scale

    def forward(self, rows: Tensor, order: Tensor | None = None) -> tuple[Tensor, Tensor]:
        """Entries by suit f32[N, 4, X] and the others f32[N, O].

        On a CPU a kernel picks them faster than operations on tensors, which serve GPUs and exported files.

        Args:
            rows: int8[N, D or F].
            order: int64[N, 4], the suit that stands at each place; None for that of the deck.
        """
        return self._parted(self.flat(rows, order))

    def flat(self, rows: Tensor, order: Tensor | None = None) -> Tensor:
        """All entries of a row behind each other, f32[N, 4 X + O]."""
        return self.picked(rows, order) if takes_kernels(rows) else self.composed(rows, order)

    def _parted(self, found: Tensor) -> tuple[Tensor, Tensor]:
        """By suit, and the others."""
        return found[:, : SUITS * self.in_suit].unflatten(1, (SUITS, self.in_suit)), found[:, SUITS * self.in_suit :]

    def picked(self, rows: Tensor, order: Tensor | None) -> Tensor:
        """f32[N, 4 X + O] by the kernel."""
        out = torch.empty(len(rows), len(self.columns))
        pick(rows.numpy(), orders_of(order), self.picks, self.scales, self.in_suit, out.numpy())
        return out

    def composed(self, rows: Tensor, order: Tensor | None) -> Tensor:
        """f32[N, 4 X + O] by operations on tensors."""
        found = rows.float().index_select(1, self.columns) * self.scale  # columns of bytes are picked more slowly
        if order is None:
            return found
        suits, others = self._parted(found)
        return torch.cat([placed(suits, order).flatten(1), others], 1)


def takes_kernels(rows: Tensor) -> bool:
    """Whether kernels can read these rows: on a CPU, unless the operations are being recorded."""
    return rows.device.type == "cpu" and not torch.compiler.is_compiling()


def orders_of(order: Tensor | None) -> np.ndarray:
    """The suits' orders as kernels take them, int64[N or 1, 4]."""
    return np.arange(SUITS)[None] if order is None else order.numpy()


def placed(suits: Tensor, order: Tensor | None) -> Tensor:
    """Rows by suit [N, 4, X] in the order int64[N, 4] in which the suits are to stand."""
    return suits if order is None else suits.gather(1, order[:, :, None].expand(-1, -1, suits.shape[2]))


def home(places: Tensor, order: Tensor | None) -> Tensor:
    """Rows by place [N, 4, X] back to the suits of the deck."""
    return places if order is None else placed(places, order.argsort(1))


@entry
def pick(rows: Any, orders: Any, columns: Any, scale: Any, in_suit: int, out: Any) -> None:
    """Fill f32[N, C] with columns uint16[C] of int8[N, D], those of suits in the orders int64[N or 1, 4].

    Unsigned numbers need no look at whether they are negative; all entries are converted first, many at a time.
    """
    values = np.empty(rows.shape[1], np.float32)
    others = SUITS * in_suit
    for n in range(len(rows)):
        row, order, to = rows[n], orders[n % len(orders)], out[n]
        for i in range(len(scale)):
            values[i] = np.float32(row[i]) * scale[i]
        for place in range(SUITS):
            suit = order[place] * in_suit
            from_suit, to_place = columns[suit : suit + in_suit], to[place * in_suit : (place + 1) * in_suit]
            for i in range(in_suit):
                to_place[i] = values[from_suit[i]]
        for i in range(others, len(to)):
            to[i] = values[columns[i]]
