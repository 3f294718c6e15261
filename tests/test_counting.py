"""What networks are given of card counting, against a slow account of the same in plain Python."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from helpers import batches, play_on

from stich.agents.counting import MOST, Counting
from stich.agents.network import ActorCritic, Shape
from stich.envs import OptionError
from stich.envs.batch import Batch
from stich.envs.state import PLAY

GAMES = ["herzeln", "viersche"]
JACK = 5  # rank in Viersche


class Table:
    """One view as a card player sees it; cards are numbers of the deck, seats are counted from the observer."""

    def __init__(self, game: str, view: Any) -> None:
        self.cards, self.ranks = (52, 13) if game == "herzeln" else (36, 9)
        self.players, me = int(view["players"]), int(view["observer"])
        self.trump = int(view["trump"]) if game == "viersche" else None
        seats = [(me + offset) % self.players for offset in range(self.players)]
        played = [[card for card in range(self.cards) if int(view["played"][seat]) >> card & 1] for seat in seats]
        self.gone = {card for cards in played for card in cards}
        self.hand = {card for card in range(self.cards) if int(view["hands"][me]) >> card & 1}
        self.out = set(range(self.cards)) - self.gone - self.hand
        self.left = [len(self.hand) + len(played[0]) - len(cards) for cards in played]
        self.voids = [int(view["voids"][seat]) for seat in seats]
        self.table = [int(view["trick"][seat]) for seat in seats if int(view["trick"][seat]) >= 0]
        self.best = int(view["best"])
        self.holder: dict[int, int] = {}
        if game == "viersche" and int(view["turn_up"]) in self.out:
            self.holder[int(view["turn_up"])] = seats.index(int(view["dealer"]))
        if game == "herzeln" and (to := (me + int(view["direction"])) % self.players) != me:
            passed = [card for card in range(self.cards) if int(view["passed"][me]) >> card & 1]
            self.holder |= {card: seats.index(to) for card in passed if card in self.out}

    def suit(self, card: int) -> int:
        """The little man belongs to trumps."""
        suit, rank = divmod(card, self.ranks)
        return 3 - suit if self.trump is not None and (suit, rank) == (3 - self.trump, JACK) else suit

    def power(self, card: int) -> int:
        """Orders the cards of a suit."""
        suit, rank = divmod(card, self.ranks)
        if self.trump is not None and self.suit(card) == self.trump and rank == JACK:
            return 100 + (suit == self.trump)
        return rank

    def higher(self, one: int, other: int) -> bool:
        """Whether a card is a higher one of the same suit."""
        return self.suit(one) == self.suit(other) and self.power(one) > self.power(other)

    def takes(self, one: int, other: int) -> bool:
        """Whether a card takes another that lies on the table."""
        ruffs = self.trump is not None and self.suit(one) == self.trump != self.suit(other)
        return ruffs or self.higher(one, other)

    def chance(self, seat: int, card: int) -> float:
        """That a seat holds a card."""
        if card not in self.out:
            return 0.0
        if card in self.holder:
            return float(seat == self.holder[card])
        may = [0 if self.voids[s] >> self.suit(card) & 1 else self.left[s] for s in range(self.players)]
        nobody = max(len(self.out) - sum(self.left[1:]), 0) if self.players < 4 else 0
        return may[seat] / max(sum(may[1:]) + nobody, 1)

    def lacks(self, seat: int, cards: set[int]) -> float:
        """That a seat has none of these cards, as if they were dealt apart."""
        return math.prod(1 - min(self.chance(seat, card), MOST) for card in cards)

    def spares(self, seat: int, card: int) -> float:
        """That a seat does not take a card later in this trick."""
        later = len(self.table) + seat < self.players
        return self.lacks(seat, {d for d in range(self.cards) if self.takes(d, card)}) if later else 1.0

    def stands(self, card: int, seats: range) -> float:
        """That none of these seats does."""
        return math.prod(self.spares(seat, card) for seat in seats)

    def of_card(self, card: int) -> list[float]:
        """The features of a card in their order."""
        others, live = range(1, self.players), card not in self.gone
        above = sum(self.higher(d, card) for d in self.out)
        wins = float(live and (self.best < 0 or self.takes(card, self.best)))
        sides = range(1, self.players, 2)
        found = [float(live and above <= few) for few in range(3)]
        found += [wins, wins * self.stands(card, others), wins * self.stands(card, sides)]
        found += [self.spares(seat, card) for seat in others] if self.trump is not None else []
        found += [self.chance(seat, card) for seat in others]
        every = range(self.cards)
        for seat in others:
            found += [self.lacks(seat, {d for d in every if self.higher(d, card)})]
            found += [self.lacks(seat, {d for d in every if self.higher(card, d)})]
        return found

    def of_suit(self, suit: int) -> list[float]:
        """The features of a suit in their order."""
        cards, others = {card for card in range(self.cards) if self.suit(card) == suit}, range(1, self.players)
        out = len(cards & self.out)
        found = [len(cards & self.hand) / self.ranks, out / self.ranks, float(out == 0)]
        found += [sum(self.chance(seat, card) for card in cards) / self.ranks for seat in others]
        return found + [self.lacks(seat, cards) for seat in others]


def counted(batch: Batch) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The features of a batch's observations, found alike in both ways, and the suit at each place int64[N, 4]."""
    game = batch.game
    network = ActorCritic(game, batch.players, Shape((8, 8), "suits", counting=True))
    observation = torch.from_numpy(batch.observation)
    order: Any = network.trunk.suit_order(observation)  # type: ignore[operator]
    counting = Counting(game, batch.players)
    by_suit, by_trick = counting(observation, order)
    for ours, other in zip((by_suit, by_trick), counting.composed(observation, order, None), strict=True):
        torch.testing.assert_close(ours, other, atol=1e-5, rtol=0)  # the kernel's and the tensors'
    suits = np.tile(np.arange(4), (len(observation), 1)) if order is None else order.numpy()
    return by_suit.numpy(), by_trick.numpy(), suits


def played(game: str, number: int) -> Iterator[tuple[Batch, int, int]]:
    """Batches under random options somewhere in random play, with the cards of a suit and the number of other seats."""
    for place, (batch, rng) in enumerate(batches(game, number)):
        play_on(batch, np.random.default_rng(place), rng.randrange(60))
        yield batch, batch.game.deck.size // 4, batch.players - 1


@pytest.mark.parametrize("game", GAMES)
def test_features_are_those_of_a_slow_account(game: str) -> None:
    decisions = 0
    for number, (batch, size, others) in enumerate(played(game, 6)):
        by_suit, by_trick, order = counted(batch)
        for lane in random.Random(number).sample(range(batch.lanes), 5):
            view = batch.views[lane]
            if view["phase"] != PLAY:
                continue
            table, decisions = Table(game, view), decisions + 1
            for place, suit in enumerate(order[lane]):
                planes, of_suit = np.split(by_suit[lane, place], [-3 - 2 * others])
                of_cards = [table.of_card(suit * size + rank) for rank in range(size)]
                np.testing.assert_allclose(planes.reshape(-1, size).T, of_cards, atol=1e-4)
                np.testing.assert_allclose(of_suit, table.of_suit(suit), atol=1e-4)
            seats = (range(1, batch.players), range(1, batch.players, 2))
            of_trick = [table.stands(table.best, each) if table.best >= 0 else 0.0 for each in seats]
            np.testing.assert_allclose(by_trick[lane], of_trick, atol=1e-4)
    assert decisions > 15


@pytest.mark.parametrize("game", GAMES)
def test_cards_are_where_they_may_be(game: str) -> None:
    """In positions of play the hands that nobody sees hold only cards to which a chance was given."""
    held = 0
    for batch, size, others in played(game, 20):
        by_suit, _, order = counted(batch)
        first = 6 + others * (game == "viersche")
        for lane in np.flatnonzero(batch.states["phase"] == PLAY):
            state, me = batch.states[lane], int(batch.seat[lane])
            planes = by_suit[lane, :, : -3 - 2 * others].reshape(4, -1, size)[:, first : first + others]
            for offset in range(others):
                chances = np.empty((4, size))
                chances[order[lane]] = planes[:, offset]
                hand = int(state["hands"][(me + offset + 1) % batch.players])
                cards = [card for card in range(4 * size) if hand >> card & 1]
                assert (chances.reshape(-1)[cards] > 0).all()
                held += len(cards)
    assert held > 500


def test_counting_needs_suits() -> None:
    with pytest.raises(OptionError, match="counting=True is not valid with trunk='plain'"):
        Shape((16, 16), counting=True)
