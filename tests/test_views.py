"""What a seat sees is all that it can know, and says the truth."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers import MODULES, many, positions, random_options, same_records, seats_of, views_for

from stich.agents import load_agent
from stich.agents.loader import agent_names
from stich.envs import make_batch
from stich.envs.batch import Batch
from stich.envs.cards import NO_CARD
from stich.envs.game import GAMES, Game
from stich.envs.options import choices
from stich.envs.state import PASS

every_game = pytest.mark.parametrize("game", GAMES)
LANES = 8


def batches(game: str, number: int, seed: int = 0) -> Iterator[tuple[Batch, random.Random]]:
    """Batches under random options, each with its own generator."""
    for place in range(number):
        rng = random.Random(f"{game} {seed} {place}")
        batch = make_batch(game, LANES, seed=place, **random_options(GAMES[game], rng))
        yield batch, rng


# ------------------------------------------------------------------------------- hidden cards permuted


def shuffle_hidden(game: str, state: Any, seat: int, rng: random.Random) -> None:
    """Deal everything that a seat can't see anew among the places where it may lie; sizes stay."""
    places = hidden_places(game, state, seat)
    pool = [card for _, _, cards in places for card in cards]
    rng.shuffle(pool)
    for name, index, cards in places:
        new, pool = pool[: len(cards)], pool[len(cards) :]
        if name == "face_down":
            replace_face_down(state, index, new[0])
        elif name == "kitty":
            state["kitty"] = new[0]
        else:
            state[name][index] = sum(1 << card for card in new)
    state["seed"], state["lane"], state["lane_deal"] = rng.getrandbits(64), rng.getrandbits(60), rng.getrandbits(40)
    if game == "herzeln" and state["phase"] != PASS:
        forget_passes(state, seat, rng)


def hidden_places(game: str, state: Any, seat: int) -> list[tuple[str, int, list[int]]]:
    """Where the cards lie that a seat can't see: (field, index, cards)."""
    deck, others = GAMES[game].deck, [other for other in range(state["players"]) if other != seat]
    places = [("hands", other, deck.in_set(state["hands"][other])) for other in others]
    if game == "herzeln":
        if state["phase"] == PASS:
            places += [("passed", other, deck.in_set(state["passed"][other])) for other in others]
        if state["kitty"] != NO_CARD and state["first_winner"] != seat:
            places.append(("kitty", 0, [int(state["kitty"])]))
    elif state["face_down"] != NO_CARD and (state["trick_number"] == 0 or state["reveal_never"]):
        forehand = (int(state["dealer"]) + 1) % 4
        if forehand != seat:
            places.append(("face_down", forehand, [int(state["face_down"])]))
    return places


def replace_face_down(state: Any, forehand: int, card: int) -> None:
    """Another card lies face down, wherever the state mentions it; points of a hidden card count for the winner."""
    old, points = int(state["face_down"]), GAMES["viersche"].rules.card_points
    state["face_down"] = card
    state["played"][forehand] ^= 1 << old | 1 << card
    state["when"][old], state["when"][card] = 0, state["when"][old]
    if state["trick_number"] == 0:
        state["trick"][forehand] = card
    else:
        state["points"][state["first_winner"] & 1] += points(card, state["trump"]) - points(old, state["trump"])


def forget_passes(state: Any, seat: int, rng: random.Random) -> None:
    """Others have passed other cards to each other."""
    players, direction = int(state["players"]), int(state["direction"])
    if direction == 0:
        return
    for giver in range(players):
        receiver = (giver + direction) % players
        if seat not in (giver, receiver):
            cards = sum(1 << card for card in rng.sample(range(52), 3))
            state["passed"][giver] = state["received"][receiver] = cards


@every_game
def test_nothing_hidden_changes_what_a_seat_sees(game: str) -> None:
    agents = [load_agent(name, game) for name in agent_names(game)]
    for batch, rng in batches(game, many(30, 600)):
        for _ in positions(batch, np.random.default_rng(rng.getrandbits(32)), 57, every=3):
            for seat in range(batch.players):
                other = batch.states.copy()
                for state in other:
                    if state["phase"] < 2:
                        shuffle_hidden(game, state, seat, rng)
                assert_same_sight(batch.game, batch.states, other, seat, agents)


def assert_same_sight(game: Game, left: np.ndarray, right: np.ndarray, seat: int, agents: list[Any]) -> None:
    """View, observation, mask and the agents' moves are the same in both states."""
    one, two = views_for(game, left, seat), views_for(game, right, seat)
    assert same_records(one, two)
    assert np.array_equal(game.encode(one), game.encode(two))
    assert np.array_equal(observed(game, left, seat), observed(game, right, seat))
    assert np.array_equal(game.masks(one), game.masks(two))
    movers = game.legal(one) != 0
    keys = np.arange(len(one), dtype=np.uint64)[movers]
    for agent in agents if movers.any() else ():
        assert np.array_equal(agent.act(one[movers], keys), agent.act(two[movers], keys)), agent.name


def observed(game: Game, states: np.ndarray, seat: int) -> np.ndarray:
    """Observations as the faces make them, from states."""
    out = np.zeros((len(states), game.encoding.size(int(states["players"][0]))), np.int8)
    game.lanes.observe(states, seats_of(states, seat), out.reshape(-1), np.zeros(1, game.state))
    return out


@every_game
def test_the_test_would_find_a_leak(game: str) -> None:
    """Other hands of a seat that sees them are no secret: the same change is seen by their holder."""
    batch, rng = make_batch(game, LANES), random.Random(1)
    other = batch.states.copy()
    for state in other:
        shuffle_hidden(game, state, 0, rng)
    with pytest.raises(AssertionError):
        assert_same_sight(batch.game, batch.states, other, 1, [])


# -------------------------------------------------------------------------- twins: another deal, the same game


def twin_lane(batch: Batch, hands: list[int], kitty: int, seed: int) -> Batch:
    """The same start with other hands."""
    twin = make_batch(batch.game.name, 1, seed=seed, autoreset="disabled", **vars(batch.options))
    state = twin.states
    for name in (*batch.game.deal_fields, *batch.game.match_fields):
        state[name] = batch.states[name]
    state["hands"][0] = hands
    if batch.game.name == "herzeln":
        state["kitty"] = kitty
    batch.game.lanes.deal_lane(state, 0, False)
    twin.look()
    return twin


def swap(cards: int, one: int, other: int) -> int:
    """A set with two cards changed for each other."""
    if (cards >> one & 1) != (cards >> other & 1):
        cards ^= 1 << one | 1 << other
    return cards


def swap_card(card: int, one: int, other: int) -> int:
    return {one: other, other: one}.get(card, card)


def hidden_cards(game: str, state: Any, seat: int) -> list[int]:
    """The cards that a seat can't place at this moment; those that it has passed it can."""
    known = int(state["passed"][seat]) if game == "herzeln" else 0
    if game == "viersche" and state["turn_up"] >= 0:
        known = 1 << int(state["turn_up"])
    return [card for _, _, cards in hidden_places(game, state, seat) for card in cards if not known >> card & 1]


def twins_agree(
    batch: Batch, actions: list[int], views: list[np.ndarray], seat: int, swapped: tuple[int, int], seed: int
) -> bool:
    """Replay a deal with two cards swapped that a seat hasn't seen; False where the rules don't allow it."""
    hands = [swap(int(hand), *swapped) for hand in batch.states["hands"][0]]
    kitty = swap_card(int(batch.states["kitty"][0]), *swapped) if "kitty" in batch.states.dtype.names else NO_CARD
    twin = twin_lane(batch, hands, kitty, seed)
    seen = [views_for(batch.game, twin.states, seat)]
    for action in actions:
        card = swap_card(action, *swapped)
        if not int(twin.legal[0]) >> card & 1:
            return False
        twin.step([card])
        seen.append(views_for(batch.game, twin.states, seat))
    if not np.array_equal([view["seat"] for view in seen], [view["seat"] for view in views]):
        return False
    for one, two in zip(views, seen, strict=True):
        assert same_records(one, two)
    return True


@every_game
def test_deals_with_the_same_history_look_the_same(game: str) -> None:
    """Two deals that differ in cards nobody has shown give a seat the same views at every moment."""
    agreed = 0
    for number in range(many(60, 1500)):
        rng = random.Random(f"twins {game} {number}")
        fixed = {"players": rng.choice([3, 4])} if game == "herzeln" else {}
        options = random_options(GAMES[game], rng, episode="deal", **fixed)
        start = make_batch(game, 1, seed=number, autoreset="disabled", **options)
        batch = make_batch(game, 1, seed=number, autoreset="disabled", **options)
        seat, length, actions = rng.randrange(batch.players), rng.randrange(1, 30), []
        views = [views_for(batch.game, batch.states, seat)]
        for _ in range(length):
            actions.append(rng.choice(batch.game.deck.in_set(int(batch.legal[0]))))
            batch.step([actions[-1]])
            views.append(views_for(batch.game, batch.states, seat))
        pool = hidden_cards(game, batch.states[0], seat)
        for _ in range(6):
            if len(pool) > 1:
                agreed += twins_agree(start, actions, views, seat, tuple(rng.sample(pool, 2)), number + 1)
    assert agreed > many(60, 1500)


# --------------------------------------------------------------------------------- observations decoded


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
        hearts = [(cards & rules.ALL_HEARTS).bit_count() for cards in taken] + [0] * (4 - self.players)
        levels = [int(state["totals"][other]) * 20 // int(state["target"]) + 6 for other in self.order]
        played, passing = sum(int(cards) for cards in state["played"]), state["phase"] == PASS
        dropped = {"drop_diamond_two": rules.DIAMOND_TWO, "drop_club_two": rules.CLUB_TWO}
        out = (
            dropped.get(choices(rules.Options, "three_players")[state["three_players"]]) if self.players == 3 else None
        )
        unseen = rules.ALL & ~(int(state["hands"][self.seat]) | played | kitty | (1 << out if out is not None else 0))
        mine = passing and state["seat"] == self.seat
        found = {
            "unseen": bits(unseen, 52),
            "hearts_taken": [bit for count in hearts for bit in thermometer(count, 13)],
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
            "unseen": bits(rules.ALL & ~(int(state["hands"][self.seat]) | played), 36),
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
            seat, lane = rng.randrange(batch.players), rng.randrange(LANES)
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


def test_turn_up_is_known_until_it_is_played() -> None:
    layout = MODULES["viersche"].layout()
    for reveal in ("after_trick", "never"):
        batch = make_batch("viersche", 50, seed=6, episode="deal", reveal_face_down=reveal)
        for _ in positions(batch, np.random.default_rng(1), 36):
            dealer, turn_up = batch.states["dealer"], batch.states["turn_up"].astype(np.int64)
            held = batch.states["hands"][np.arange(50), dealer] >> turn_up & 1
            expected = np.zeros((50, 36), np.int8)
            expected[np.arange(50), turn_up] = held
            for seat in range(4):
                assert np.array_equal(observed(batch.game, batch.states, seat)[:, layout["turn_up"]], expected)
                assert np.array_equal(views_for(batch.game, batch.states, seat)["turn_up"], turn_up)


@every_game
def test_a_view_of_a_view_is_the_view(game: str) -> None:
    for batch, rng in batches(game, many(10, 100), seed=5):
        for _ in positions(batch, np.random.default_rng(rng.getrandbits(32)), 40, every=4):
            for seat in range(batch.players):
                view = views_for(batch.game, batch.states, seat)
                assert same_records(views_for(batch.game, view, seat), view)
                assert np.array_equal(batch.game.encode(view), observed(batch.game, batch.states, seat))
