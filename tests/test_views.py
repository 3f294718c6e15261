"""What a seat sees is all that it can know, and says the truth."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from helpers import MODULES, VIEW_LANES, batches, many, observed, positions, random_options, same_records, views_for

from stich.agents import load_agent
from stich.agents.loader import agent_names
from stich.envs import make_batch
from stich.envs.batch import Batch
from stich.envs.cards import NO_CARD
from stich.envs.game import GAMES, Game
from stich.envs.state import PASS

every_game = pytest.mark.parametrize("game", GAMES)


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


@every_game
def test_the_test_would_find_a_leak(game: str) -> None:
    """Other hands of a seat that sees them are no secret: the same change is seen by their holder."""
    batch, rng = make_batch(game, VIEW_LANES), random.Random(1)
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


def two_alike(game: str, number: int, options: dict[str, Any]) -> tuple[Batch, Batch]:
    """The same deal twice; every other one of Viersche, where there is one among many, begins with a lead face down."""
    drawn, lane = make_batch(game, 100, seed=number, **options), 0
    if game == "viersche" and number % 2:
        trumps = np.array([drawn.game.rules.suit_cards(trump, trump) for trump in range(4)])
        lane = int(np.argmax(drawn.legal & trumps[drawn.states["trump"]] == 0))
    pair = [make_batch(game, 1, seed=number, autoreset="disabled", **options) for _ in range(2)]
    for batch in pair:
        batch.states[:] = drawn.states[lane]
        batch.look()
    return pair[0], pair[1]


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


def announced(view: np.ndarray) -> tuple[int, bool]:
    """Who is to move and whether a lead lies face down: deals that differ in these have no history in common."""
    lies = "face_down" in (view.dtype.names or ()) and view["face_down"][0] != NO_CARD
    return int(view["seat"][0]), bool(lies)


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
    if list(map(announced, seen)) != list(map(announced, views)):
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
        start, batch = two_alike(game, number, options)
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
