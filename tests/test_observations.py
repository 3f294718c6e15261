"""Observations decoded: every slice says what is so, and nothing else is written."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from helpers import MODULES, VIEW_LANES, batches, many, observed, positions, random_options, views_for

from stich.envs.cards import NO_CARD
from stich.envs.game import GAMES, Game
from stich.envs.options import choices
from stich.envs.state import PASS

every_game = pytest.mark.parametrize("game", GAMES)


def bits(cards: int, width: int) -> list[int]:
    """A set as bits."""
    return [int(cards) >> place & 1 for place in range(width)]


def thermometer(value: int, width: int) -> list[int]:
    return [int(place < value) for place in range(width)]


def one_hot(place: int, width: int = 4) -> list[int]:
    return [int(place == number) for number in range(width)]


class Decoded:
    """The slices that both games have, as they should be for a seat of a state."""

    def __init__(self, game: Game, state: Any, seat: int) -> None:
        self.game, self.state, self.seat = game, state, seat
        self.players, self.cards = int(state["players"]), game.deck.size
        self.order = [(seat + offset) % self.players for offset in range(self.players)]
        self.hidden = self.hidden_card()
        self.shown = [int(cards) & ~self.hidden for cards in state["played"]]

    def hidden_card(self) -> int:
        """The set of the card that lies face down for this seat."""
        if (
            self.game.name == "herzeln"
            or self.state["face_down"] == NO_CARD
            or self.seat == (self.state["dealer"] + 1) % 4
        ):
            return 0
        hidden = self.state["trick_number"] == 0 or self.state["reveal_never"]
        return 1 << int(self.state["face_down"]) if hidden else 0

    def sets(self, values: Any, width: int) -> list[int]:
        """A field by seat, seats relative to the observer, four seats where there are fewer players."""
        found = [bit for other in self.order for bit in bits(values[other], width)]
        return found + [0] * (width * 4 - len(found)) if width < 36 else found

    def seat_bit(self, seat: int) -> list[int]:
        return one_hot((int(seat) - self.seat) % self.players if seat >= 0 else -1)

    def trick(self) -> list[int]:
        """The cards shown in the current trick."""
        return [
            int(card) for card in self.state["trick"][: self.players] if card >= 0 and not self.hidden >> int(card) & 1
        ]

    def common(self) -> dict[str, list[int]]:
        """Slices of both games."""
        state, cards = self.state, self.cards
        when = [0 if self.hidden >> card & 1 else int(state["when"][card]) for card in range(cards)]
        tricks = [int(state["tricks"][other]) for other in self.order]
        return {
            "hand": bits(state["hands"][self.seat], cards),
            "played": self.sets(self.shown, cards),
            "trick": bits(sum(1 << card for card in self.trick()), cards),
            "best": bits(1 << int(state["best"]) if state["best"] >= 0 else 0, cards),
            "when": when,
            "voids": self.sets(state["voids"], 4),
            "mover": self.seat_bit(state["seat"]),
            "leader": self.seat_bit(state["leader"]),
            "winner": self.seat_bit(state["winner"]),
            "dealer": self.seat_bit(state["dealer"]),
            "tricks_taken": tricks + [0] * (4 - self.players),
        }

    def own(self) -> dict[str, list[int]]:
        """Slices of this game."""
        return self.herzeln() if self.game.name == "herzeln" else self.viersche()

    def herzeln(self) -> dict[str, list[int]]:
        state, rules = self.state, self.game.rules
        knows = state["kitty"] >= 0 and state["first_winner"] == self.seat
        kitty = 1 << int(state["kitty"]) if knows else 0
        taken = [int(state["taken"][other]) | (kitty if other == self.seat else 0) for other in self.order]
        hearts = [cards >> 26 & 0x1FFF for cards in taken] + [0] * (4 - self.players)
        levels = [int(state["totals"][other]) * 20 // int(state["target"]) + 6 for other in self.order]
        passing = state["phase"] == PASS
        mine = passing and state["seat"] == self.seat
        found = {
            "hearts_taken": [bit for cards in hearts for bit in bits(cards, 13)],
            "queen_taken": [cards >> rules.QUEEN & 1 for cards in taken] + [0] * (4 - self.players),
            "jack_taken": [cards >> rules.JACK & 1 for cards in taken] + [0] * (4 - self.players),
            "scores": [bit for level in [*levels, *[-1] * (4 - self.players)] for bit in thermometer(level, 26)],
            "receiver": one_hot(int(state["direction"])),
            "passes": (one_hot(int(state["passed"][self.seat]).bit_count(), 3) if mine else [0, 0, 0]) + [int(passing)],
        }
        if self.players > 2:
            found |= {name: bits(state[name][self.seat], 52) for name in ("passed", "received")}
        return found | ({"kitty": bits(kitty, 52)} if self.players == 3 else {})

    def viersche(self) -> dict[str, list[int]]:
        state, rules = self.state, self.game.rules
        sides, trump = [self.seat & 1, 1 - (self.seat & 1)], int(state["trump"])
        points = [int(state["points"][side]) for side in sides]
        if self.hidden and state["trick_number"] > 0 and state["phase"] < 2:
            side = int(state["first_winner"]) & 1
            points[sides.index(side)] -= int(rules.card_points(int(state["face_down"]), trump))
        played, turn_up = sum(self.shown), int(state["turn_up"])
        lies = sum(int(rules.card_points(card, trump)) for card in self.trick())
        return {
            "points": [bit for count in points for bit in thermometer(count // 10, 14) + one_hot(count % 10, 10)],
            "carried": [bit for side in sides for bit in self.count(int(state["carried"][side]))],
            "trick_points": thermometer(lies // 10, 6) + one_hot(lies % 10, 10),
            "trump": one_hot(trump),
            "trumps": [int(rules.suit_of(card, trump) == trump) for card in range(36)],
            "turn_up": bits(1 << turn_up & ~played if turn_up >= 0 else 0, 36),
            "rungs": [
                bit
                for side in sides
                for bit in thermometer(-(-8 * int(state["rungs"][side]) // int(state["ladder"])), 8)
            ],
            "marks": [
                bit
                for side in sides
                for bit in thermometer(-(-8 * int(state["marks"][side]) // int(state["session_marks"])), 8)
            ],
            "bare": [int(state["bare"]) >> other & 1 for other in self.order],
        }

    @staticmethod
    def count(points: int) -> list[int]:
        return thermometer(points // 10, 14) + one_hot(points % 10, 10)


def hidden_slices(game: Game, state: Any, seat: int) -> dict[str, list[int]]:
    """The slices that only the full state has."""
    players, width = int(state["players"]), game.deck.size
    others = [(seat + offset) % players for offset in range(1, players)]
    found = {"other_hands": [bit for other in others for bit in bits(state["hands"][other], width)]}
    if game.name == "viersche":
        return found | {"hidden_card": bits(1 << int(state["face_down"]) if state["face_down"] >= 0 else 0, width)}
    if players > 2:
        found["other_passed"] = [bit for other in others for bit in bits(state["passed"][other], width)]
    if players == 3:
        found["hidden_kitty"] = bits(1 << int(state["kitty"]) if state["kitty"] >= 0 else 0, width)
    return found


@every_game
def test_observation_says_what_is_so(game: str) -> None:
    for batch, rng in batches(game, many(12, 300), seed=1):
        layout = batch.game.encoding.layout(batch.players)
        for _ in positions(batch, np.random.default_rng(rng.getrandbits(32)), 130, every=9):
            seat, lane = rng.randrange(batch.players), rng.randrange(VIEW_LANES)
            state = batch.states[lane]
            seen = observed(batch.game, batch.states, seat)[lane]
            expected = Decoded(batch.game, state, seat)
            for name, value in (expected.common() | expected.own()).items():
                assert seen[layout[name]].tolist() == value, name
            assert seen[layout["rules"]].tolist() == bits(
                state["rule_bits"], layout["rules"].stop - layout["rules"].start
            )
            full = batch.state[lane]
            for name, value in hidden_slices(batch.game, state, int(batch.seat[lane])).items():
                assert full[layout[name]].tolist() == value, name


@every_game
def test_values_are_within_the_highest(game: str) -> None:
    for batch, rng in batches(game, many(20, 300), seed=2):
        highest = batch.game.encoding.highest(batch.players)
        for _ in positions(batch, np.random.default_rng(rng.getrandbits(32)), 110, every=5):
            assert (batch.state <= highest).all()
            assert (batch.state >= 0).all()


@every_game
def test_writers_fill_their_slices_exactly(game: str) -> None:
    margin = 64
    for batch, rng in batches(game, many(20, 200), seed=3):
        found, players = batch.game, batch.players
        size, whole = found.encoding.size(players), found.encoding.state_size(players)
        for _ in positions(batch, np.random.default_rng(rng.getrandbits(32)), 60, every=12):
            state, seat = batch.states[:1].copy(), batch.seat[:1]
            written = []
            for sentinel in (99, -7):
                out, full = np.full(size + margin, sentinel, np.int8), np.full(whole + margin, sentinel, np.int8)
                found.lanes.encode(views_for(found, state, int(seat[0])), out)
                found.lanes.observe_state(state, seat, full, np.zeros(1, found.state))
                assert (out[size:] == sentinel).all()
                assert (full[whole:] == sentinel).all()
                written.append((out[:size].tolist(), full[:whole].tolist()))
            assert written[0] == written[1]


@every_game
def test_size_depends_on_game_and_players_only(game: str) -> None:
    rng, sizes = random.Random(4), {}
    for _ in range(many(100, 1000)):
        options = random_options(GAMES[game], rng)
        players = GAMES[game].options(**options).players
        layout = MODULES[game].layout(**options)
        assert sizes.setdefault(players, layout) == layout
        assert GAMES[game].encoding.size(players) <= 1000
        assert layout["other_hands"].start == GAMES[game].encoding.size(players)
    assert set(sizes) == set(choices(GAMES[game].options_class, "players"))


@every_game
def test_layout_covers_everything_once(game: str) -> None:
    encoding = GAMES[game].encoding
    for players in choices(GAMES[game].options_class, "players"):
        ends = [0]
        for piece in encoding.layout(players).values():
            assert piece.start == ends[-1]
            ends.append(piece.stop)
        assert ends[-1] == encoding.state_size(players) == len(encoding.highest(players))
