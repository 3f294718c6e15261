"""What networks are told of the play so far, against a slow account that watches the game being played."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from helpers import batches, play_on, random_cards

from stich.agents.checkpoint import CheckpointError, save_checkpoint
from stich.agents.counting import Counting
from stich.agents.history import DONE, LEFT, History
from stich.agents.network import ActorCritic, Shape
from stich.envs import OptionError
from stich.envs.batch import Batch
from stich.envs.state import DEAL_OVER, PLAY
from stich.training.config import TrainConfig
from stich.training.ppo import Trainer

GAMES = ["herzeln", "viersche"]
JACK = 5  # rank in Viersche
VIERSCHE_POINTS = [0, 0, 0, 0, 10, 2, 3, 4, 11]


@dataclass
class Play:
    """A card as it was played; what lay there before it by seat, the winner so far, -1 for none."""

    seat: int
    card: int
    table: dict[int, int]
    winner: int
    first_trick: bool


class Rules:
    """Suits, strength and points as a card player knows them."""

    def __init__(self, game: str, trump: int | None) -> None:
        self.game, self.trump, self.ranks = game, trump, 13 if game == "herzeln" else 9

    def suit(self, card: int) -> int:
        """The little man belongs to trumps."""
        suit, rank = divmod(card, self.ranks)
        return suit if self.trump is None or (suit, rank) != (3 - self.trump, JACK) else self.trump

    def power(self, card: int) -> int:
        """Orders the cards of a suit."""
        suit, rank = divmod(card, self.ranks)
        jack = self.trump is not None and self.suit(card) == self.trump and rank == JACK
        return 100 + (suit == self.trump) if jack else rank

    def points(self, card: int) -> int:
        """What a card counts."""
        suit, rank = divmod(card, self.ranks)
        if self.game == "herzeln":
            return 13 if (suit, rank) == (3, 10) else int(suit == 2)
        return 12 if self.power(card) >= 100 else VIERSCHE_POINTS[rank]

    def led(self, play: Play) -> int:
        """The suit led to the trick of a play; forehand is to lead a trump to the first one."""
        if self.trump is not None and play.first_trick:
            return self.trump
        return self.suit(next(iter(play.table.values()), play.card))

    def takes(self, card: int, play: Play) -> bool:
        """Whether a card would have taken the trick as it lay."""
        if play.winner < 0:
            return self.suit(card) == self.led(play)
        best = play.table[play.winner]
        if self.suit(card) == self.suit(best):
            return self.power(card) > self.power(best)
        return self.trump is not None and self.suit(card) == self.trump


def watch(batch: Batch, rng: np.random.Generator, steps: int) -> list[list[Play]]:
    """Random play; the plays of the deal under way in each lane."""
    found: list[list[Play]] = [[] for _ in range(batch.lanes)]
    for _ in range(steps):
        before, cards = batch.states.copy(), random_cards(batch, rng)
        batch.step(cards)
        for lane, state in enumerate(before):
            if cards[lane] < 0 or state["phase"] != PLAY:
                found[lane] = []
                continue
            players = int(state["players"])
            seats = [(int(state["leader"]) + offset) % players for offset in range(players)]
            table = {seat: int(state["trick"][seat]) for seat in seats if state["trick"][seat] >= 0}
            winner = int(state["winner"]) if state["best"] >= 0 else -1
            found[lane].append(Play(int(state["seat"]), int(cards[lane]), table, winner, state["trick_number"] == 0))
            if batch.states[lane]["plays"] == 0 or batch.states[lane]["phase"] >= DEAL_OVER:
                found[lane] = []
    return found


def account(view: Any, plays: list[Play], rules: Rules, sides: int) -> dict[tuple[int, int, int], float]:
    """Features that are not 0, by feature, other seat and card."""
    players, me, size = int(view["players"]), int(view["observer"]), 4 * rules.ranks
    seen = 0
    for seat in range(players):
        seen |= int(view["played"][seat])
    out = [card for card in range(size) if not (seen | int(view["hands"][me])) >> card & 1]
    found: dict[tuple[int, int, int], float] = {}
    times: Counter[tuple[int, int, int]] = Counter()
    for play in plays:
        other = (play.seat - me) % players - 1
        if other < 0 or not seen >> play.card & 1:  # our own, or face down
            continue
        led, leads = rules.led(play), not play.table
        off = rules.suit(play.card) not in (led, rules.trump)
        took = rules.takes(play.card, play) and not off
        ours = play.winner >= 0 and (play.winner - play.seat) % sides == 0
        lay = sum(rules.points(card) for card in play.table.values() if seen >> card & 1)
        for kind, said in enumerate((leads, ours and not took, took and not leads, off and not leads)):
            if said:
                found[kind, other, play.card] = 1.0
        for card in out:
            more = rules.points(card) - rules.points(play.card)
            if leads:
                if rules.trump is not None and play.first_trick and (off or rules.suit(card) != rules.trump):
                    continue
                if rules.suit(card) != rules.suit(play.card):
                    times[DONE + 6, other, card] += 1
                elif more > 0:
                    times[DONE + 5, other, card] += 1
                continue
            if (rules.suit(card) == led) if off else (rules.suit(card) not in (led, rules.trump)):
                continue
            takes = rules.takes(card, play)
            if play.winner >= 0 and not ours and not took and takes:
                times[DONE, other, card] += 1
                key = DONE + 1, other, card
                found[key] = max(found.get(key, 0.0), min(lay / 20, 1.0))
            elif ours and not took and not takes and more > 0:
                times[DONE + 2, other, card] += 1
            elif play.winner >= 0 and not ours and not took and more < 0:
                times[DONE + 3, other, card] += 1
            elif took and takes and more < 0:
                times[DONE + 4, other, card] += 1
    return {key: value for key, value in found.items() if value} | {k: min(n / 4, 1.0) for k, n in times.items()}


@pytest.mark.parametrize("game", GAMES)
def test_features_are_those_of_a_slow_account(game: str) -> None:
    kinds: Counter[int] = Counter()
    for place, (batch, rng) in enumerate(batches(game, 12)):
        plays = watch(batch, np.random.default_rng(place), rng.randrange(10, 70))
        network = ActorCritic(batch.game, batch.players, Shape((8, 8), "suits"))
        observation = torch.from_numpy(batch.observation)
        order: Any = network.trunk.suit_order(observation)  # type: ignore[operator]
        history = History(batch.game, batch.players)
        features = history(observation, order)
        torch.testing.assert_close(features, history.composed(observation, order), atol=1e-6, rtol=0)
        ranks = batch.game.deck.size // 4
        planes = features.unflatten(2, (DONE + LEFT, batch.players - 1, ranks)).numpy()
        for lane in np.flatnonzero(batch.states["phase"] == PLAY):
            view = batch.views[lane]
            rules = Rules(game, int(view["trump"]) if game == "viersche" else None)
            suits = range(4) if order is None else order[lane].tolist()
            found = {
                (int(kind), int(seat), suits[suit] * ranks + int(rank)): float(planes[lane, suit, kind, seat, rank])
                for suit, kind, seat, rank in np.argwhere(planes[lane] != 0)
            }
            expected = account(view, plays[lane], rules, batch.game.sides or batch.players)
            assert found == pytest.approx(expected, abs=1e-6)
            kinds.update(kind for kind, _, _ in expected)
    partners = {1, DONE + 2} if game == "herzeln" else set()
    assert set(kinds) == set(range(DONE + LEFT)) - partners


def test_inference_needs_counting() -> None:
    with pytest.raises(OptionError, match=r"infer=\[8, 8\] with counting=False is not valid"):
        Shape((16, 16), "suits", infer=(8, 8))
    with pytest.raises(OptionError, match=r"config key infer=\[8\] is not valid. Valid: two or more"):
        TrainConfig(trunk="suits", counting=True, infer=(8,))


@pytest.mark.parametrize("game", GAMES)
def test_a_new_inference_says_what_the_voids_say(game: str) -> None:
    """So a network that is given one plays as before; by the kernels as by the tensors."""
    for batch, rng in batches(game, 6):
        play_on(batch, np.random.default_rng(0), rng.randrange(60))
        network = ActorCritic(batch.game, batch.players, Shape((8, 8), "suits", counting=True, infer=(8, 8)))
        observation = torch.from_numpy(batch.observation)
        order: Any = network.trunk.suit_order(observation)  # type: ignore[operator]
        counting = Counting(batch.game, batch.players)
        located = network.locate(observation)
        assert located is not None
        plain, informed = counting(observation, order), counting(observation, order, located.chances)
        for one, other in zip(plain, informed, strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=0)
        chances = located.chances * torch.rand(located.chances.shape)  # others than those by voids
        kernel, tensors = counting(observation, order, chances), counting.composed(observation, order, chances)
        for one, other in zip(kernel, tensors, strict=True):
            torch.testing.assert_close(one, other, atol=1e-5, rtol=0)


@pytest.mark.parametrize("game", GAMES)
def test_a_run_may_start_from_a_network_without_inference(game: str, tmp_path: Any) -> None:
    """It begins with the same policy and critic, and learns who holds what; the other way round is refused."""
    form: dict[str, Any] = {"game": game, "trunk": "suits", "hidden": (8, 8), "counting": True}
    form |= {"lanes": 16, "steps": 12, "threads": 1}
    old = Trainer(TrainConfig(**form))
    path = str(tmp_path / "old.safetensors")
    save_checkpoint(tmp_path / "old.safetensors", old.weights(), old.about())
    new = Trainer(TrainConfig(**form, start=path, infer=(8, 8)))
    batch = new.collectors[0].batch
    state, mask = torch.from_numpy(batch.state.copy()), torch.from_numpy(batch.action_mask).bool()
    torch.testing.assert_close(old.network(state)[0], new.network(state)[0], atol=1e-5, rtol=0)
    torch.testing.assert_close(old.network.values(state, mask), new.network.values(state, mask), atol=1e-5, rtol=0)
    first = new.update().holders
    for _ in range(15):
        last = new.update().holders
    assert 0 < last < first
    view = batch.views[0]
    holders = new.agent().explain(view)["holders"]
    names = [batch.game.deck.name(card) for card in batch.game.deck.in_set(int(view["hands"][view["observer"]]))]
    played = sum(int(cards).bit_count() for cards in view["played"])
    assert len(holders) == batch.game.deck.size - len(names) - played
    assert not set(holders) & set(names)
    assert all(sum(seats.values()) == pytest.approx(1) for seats in holders.values())
    path = str(tmp_path / "new.safetensors")
    save_checkpoint(tmp_path / "new.safetensors", new.weights(), new.about())
    with pytest.raises(CheckpointError, match=r"has a network with infer=\(8, 8\), but the config says \(\)"):
        Trainer(TrainConfig(**form, start=path))
