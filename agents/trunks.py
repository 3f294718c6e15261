"""What networks are built of: a trunk that reads observations, and branches above it for the actor and the critic.

Letters as in `network`; `W` is the width of a suit, `S` are the other seats in the order of play.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from ..envs.game import Game
from .counting import Counting
from .history import History
from .reading import SUITS, Columns, Reader, home

LEAST = 1e-9  # chance of a holder that is not ruled out by a logarithm


def linear(inputs: int, outputs: int, gain: float = 2**0.5, bias: bool = True) -> nn.Linear:
    """A layer with orthogonal weights and no bias at first."""
    layer = nn.Linear(inputs, outputs, bias=bias)
    nn.init.orthogonal_(layer.weight, gain)
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


class Located(NamedTuple):
    """Who holds the cards that are out.

    Attributes:
        log_p: f32[N, S, A], log-probability that a seat holds a card, given that one of them does.
        chances: f32[N, S, A], that it does, whether or not cards are out of play.
    """

    log_p: Tensor
    chances: Tensor


class PlainTrunk(nn.Module):
    """Linear layers on everything that is read. The first one serves actor and critic alike."""

    def __init__(self, seen: Columns, unseen: Columns, hidden: Sequence[int]) -> None:
        super().__init__()
        self.read_seen, self.read_unseen = Reader(seen), Reader(unseen)
        self.seen = linear(len(seen.all), hidden[0])
        self.unseen = linear(len(unseen.all), hidden[0], bias=False)
        self.features = hidden[-1]

    def locate(self, observation: Tensor) -> Located | None:
        """Nothing is inferred."""

    def observe(self, observation: Tensor, located: Located | None = None) -> tuple[Tensor, ...]:
        """What the first layer makes of observations."""
        return (self.seen(self.read_seen.flat(observation)),)

    def reveal(self, observed: tuple[Tensor, ...], state: Tensor) -> tuple[Tensor, ...]:
        """The same with the hidden cards added."""
        return (observed[0] + self.unseen(self.read_unseen.flat(state)),)

    def branch(self, hidden: Sequence[int], cards: int, gain: float) -> nn.Module:
        """The layers above the first of an actor or a critic."""
        return PlainBranch(hidden, cards, gain)


class PlainBranch(nn.Module):
    """Features f32[N, H] and an output a card f32[N, A]."""

    def __init__(self, hidden: Sequence[int], outputs: int, gain: float) -> None:
        super().__init__()
        self.layers = nn.ModuleList([linear(a, b) for a, b in itertools.pairwise(hidden)])
        self.out = linear(hidden[-1], outputs, gain)

    def forward(self, first: Tensor) -> tuple[Tensor, Tensor]:
        features = first.relu()
        for layer in self.layers:
            features = layer(features).relu()
        return features, self.out(features)


class SuitTrunk(nn.Module):
    """One encoder for all suits, in the order that `main_suit` gives: the same weights read each suit's cards.

    Trumps come first and the other suit of their colour last; of the two between, the longer one in the hand first.
    So hands that differ by the names of suits alone look the same. Games without a main suit keep the suits' order.
    """

    trump_columns: Tensor
    hand_columns: Tensor
    order: Tensor

    def __init__(
        self,
        seen: Columns,
        unseen: Columns | None,
        hidden: Sequence[int],
        game: Game,
        players: int,
        counting: bool = False,
        history: bool = False,
        infer: Sequence[int] = (),
    ) -> None:
        super().__init__()
        self.read_seen, self.others, width = Reader(seen), len(seen.other), hidden[0]
        self.counting = Counting(game, players) if counting else None
        self.history = History(game, players) if history else None
        self.infer = Inference(seen, infer, game, players) if infer else None
        if self.counting is not None:
            self.count = linear(self.counting.by_suit, width, bias=False)
            self.others += self.counting.by_trick
        if self.history is not None:
            self.past = linear(self.history.by_suit, width, bias=False)
        self.seen = linear(seen.suits.shape[1], width)
        if unseen is not None:
            self.read_unseen = Reader(unseen)
            self.unseen = linear(unseen.suits.shape[1], width, bias=False)
        self.around = linear(self.others, width, bias=False)
        self.which = nn.Parameter(torch.zeros(SUITS, width))
        self.features = hidden[-1]
        main, layout = game.encoding.main_suit, game.encoding.layout(players)
        self.main = main is not None
        if main is not None:
            self._hold("trump_columns", np.arange(layout[main].start, layout[main].stop))
            self._hold("hand_columns", np.arange(layout["hand"].start, layout["hand"].stop))
            places, trumps = np.arange(SUITS), np.arange(SUITS)[:, None]
            self._hold("order", np.stack([places[None] ^ trumps, places[[0, 2, 1, 3]][None] ^ trumps]))

    def _hold(self, name: str, values: np.ndarray) -> None:
        self.register_buffer(name, torch.from_numpy(values), persistent=False)

    def suit_order(self, rows: Tensor) -> Tensor | None:
        """int64[N, 4]: the suit that stands at each place; None for that of the deck."""
        if not self.main:
            return None
        trump = rows.index_select(1, self.trump_columns).argmax(1)
        held = rows.index_select(1, self.hand_columns).unflatten(1, (SUITS, -1)).sum(2, dtype=torch.int64)
        first = self.order[0][trump]
        swap = held.gather(1, first[:, 2:3]) > held.gather(1, first[:, 1:2])
        return torch.where(swap, self.order[1][trump], first)

    def locate(self, observation: Tensor) -> Located | None:
        """Who holds the cards that are out; None where that is not inferred."""
        return None if self.infer is None else self.infer(observation)

    def observe(self, observation: Tensor, located: Located | None = None) -> tuple[Tensor, ...]:
        """What the encoder makes of observations: by suit, the rest, and the suits' order where it varies.

        Args:
            observation: int8[N, D].
            located: What `locate` gives, unless that is still to be found.
        """
        order, counted = self.suit_order(observation), None
        if self.counting is not None:
            located = located or self.locate(observation)
            counted = self.counting(observation, order, located.chances if located else None)
        return self.encode(observation, order, counted)

    def encode(
        self, observation: Tensor, order: Tensor | None, counted: tuple[Tensor, Tensor] | None
    ) -> tuple[Tensor, ...]:
        """`observe`, given the suits' order and what is counted."""
        suits, rest = self.read_seen(observation, order)
        first = self.seen(suits)
        if counted is not None:
            first, rest = first.add_(self.count(counted[0])), torch.cat([rest, counted[1]], 1)
        if self.history is not None:
            first = first.add_(self.past(self.history(observation, order)))
        first = first.add_(self.around(rest)[:, None]).add_(self.which)  # in place: each is as large as the layer
        return (first, rest) if order is None else (first, rest, order)

    def reveal(self, observed: tuple[Tensor, ...], state: Tensor) -> tuple[Tensor, ...]:
        """The same with the hidden cards added."""
        suits, _ = self.read_unseen(state, observed[2] if self.main else None)
        return (observed[0] + self.unseen(suits), *observed[1:])

    def branch(self, hidden: Sequence[int], cards: int, gain: float) -> nn.Module:
        """The layers above the encoder of an actor or a critic."""
        return SuitBranch(hidden, self.others, cards, gain)


class SuitBranch(nn.Module):
    """Joins the suits into features f32[N, H]; cards are valued suit by suit with what the whole adds."""

    def __init__(self, hidden: Sequence[int], others: int, outputs: int, gain: float) -> None:
        super().__init__()
        width, whole = hidden[0], hidden[1:]
        self.join = linear(SUITS * width + others, whole[0])
        self.layers = nn.ModuleList([linear(a, b) for a, b in zip(whole, [*whole[1:], whole[-1]], strict=True)])
        self.by_suit = outputs > 1
        if self.by_suit:
            self.back, self.again = linear(whole[-1], width), linear(width, width, bias=False)
            self.which = nn.Parameter(torch.zeros(SUITS, width))
            self.ranks = linear(width, outputs // SUITS, gain)
        self.out = linear(whole[-1], outputs, gain)

    def forward(self, first: Tensor, rest: Tensor, order: Tensor | None = None) -> tuple[Tensor, Tensor]:
        suits = first.relu()
        features = self.join(torch.cat([suits.flatten(1), rest], 1)).relu_()
        for layer in self.layers:
            more = layer(features).relu_()
            features = features + more if more.shape == features.shape else more
        out = self.out(features)
        if self.by_suit:
            again = self.again(suits).add_(self.back(features)[:, None]).add_(self.which).relu_()
            cards = self.ranks(again) + out.unflatten(1, (SUITS, -1))
            out = home(cards, order).flatten(1)
        return features, out


class Inference(nn.Module):
    """Infers from the play so far who holds the cards that are out: a network by suits, one output a seat and card.

    It starts from the chances that follow from the voids, which a new one leaves as they are.

    Args:
        seen: Columns that are read.
        hidden: Widths, as of a `SuitTrunk`.
        game: The game.
        players: Seats at the table.
    """

    def __init__(self, seen: Columns, hidden: Sequence[int], game: Game, players: int) -> None:
        super().__init__()
        self.trunk = SuitTrunk(seen, None, hidden, game, players, counting=True, history=True)
        self.others = players - 1
        self.branch = SuitBranch(hidden, self.trunk.others, self.others * game.deck.size, 0.0)

    def forward(self, observation: Tensor) -> Located:
        """Of observations int8[N, D]."""
        order, counting = self.trunk.suit_order(observation), self.trunk.counting
        assert counting is not None
        counted = counting(observation, order)
        logits = self.branch(*self.trunk.encode(observation, order, counted))[1]
        chances = self._by_seat(home(counted[0][:, :, counting.chances], order))
        log_p = (chances.clamp(min=LEAST).log() + self._by_seat(logits.unflatten(1, (SUITS, -1)))).log_softmax(1)
        return Located(log_p, log_p.exp() * chances.sum(1, keepdim=True))

    def _by_seat(self, suits: Tensor) -> Tensor:
        """[N, S, A] from [N, 4, S * ranks]."""
        return suits.unflatten(2, (self.others, -1)).transpose(1, 2).flatten(2)
