"""What holds in every game under any options, at every moment."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pytest
from helpers import NIGHTLY, Options, legal_card, play_out, random_cards, random_options, raw, same_records
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stich.envs import make_batch, replay
from stich.envs.bits import nth
from stich.envs.cards import FACE_DOWN, NO_CARD, SUITS, SYMBOLS, Deck
from stich.envs.game import GAMES
from stich.envs.herzeln import JACK, PASSED, cards_dealt
from stich.envs.state import EPISODE_OVER, PASS, PLAY

every_game = pytest.mark.parametrize("game", GAMES)
LANES = 4
seeds = st.integers(0, 2**64 - 1)
generators = st.randoms(use_true_random=False)
law = settings(
    max_examples=1000 if NIGHTLY else 40,
    deadline=None,
    derandomize=not NIGHTLY,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def drawn_options(game: str, rng: random.Random, **fixed: Any) -> Options:
    return random_options(GAMES[game], rng, **fixed)


def out_of_play(batch: Any, state: Any) -> int:
    """The cards of the deck that lie with nobody: dropped, or the unseen ones of `half`."""
    if batch.game.name == "viersche" or state["half"]:
        return 0
    return ((1 << 52) - 1) & ~cards_dealt(batch.options)


def check_cards(batch: Any) -> None:
    """Every card is in one place: a hand, played, passed and not yet received, the kitty, or out of play."""
    for state in batch.states:
        places = [*state["hands"].tolist(), *state["played"].tolist(), out_of_play(batch, state)]
        if batch.game.name == "herzeln":
            places += state["passed"].tolist() if state["phase"] == PASS else []
            places += [1 << int(state["kitty"])] if state["kitty"] != NO_CARD else []
        together = 0
        for cards in places:
            assert together & cards == 0
            together |= cards
        whole = 26 if batch.game.name == "herzeln" and state["half"] else batch.game.deck.size
        assert together.bit_count() == whole


def check_legal(batch: Any) -> None:
    """A running lane has legal cards, all of them in the hand of the seat to move; the mask says the same."""
    for lane, state in enumerate(batch.states):
        legal, hand = int(batch.legal[lane]), int(state["hands"][state["seat"]])
        assert legal & ~hand == 0
        assert (legal != 0) == (state["phase"] in (PASS, PLAY))
        assert np.flatnonzero(batch.action_mask[lane]).tolist() == batch.game.deck.in_set(legal)
        assert batch.seat[lane] == state["seat"]


def check_tricks(batch: Any) -> None:
    """The trick, the counts and when each card was played fit together."""
    for state in batch.states:
        players = int(state["players"])
        played = sum(int(cards).bit_count() for cards in state["played"])
        assert played == state["plays"]
        assert sorted(state["when"][state["when"] > 0].tolist()) == list(range(1, played + 1))
        assert state["tricks"].sum() == state["trick_number"] == played // players
        assert sum(card != NO_CARD for card in state["trick"]) == played % players
        for seat in range(players):
            for card in batch.game.deck.in_set(state["played"][seat]):
                assert state["when"][card] > 0


@every_game
@law
@given(rng=generators, seed=seeds)
def test_cards_are_conserved_and_legal(game: str, rng: random.Random, seed: int) -> None:
    batch = make_batch(game, LANES, seed=seed, **drawn_options(game, rng))
    numbers = np.random.default_rng(rng.getrandbits(32))
    for _ in range(rng.choice([60, 130])):
        check_cards(batch)
        check_legal(batch)
        check_tricks(batch)
        batch.step(random_cards(batch, numbers))


@every_game
@law
@given(rng=generators, seed=seeds)
def test_same_seed_same_game(game: str, rng: random.Random, seed: int) -> None:
    options, number = drawn_options(game, rng), rng.getrandbits(32)
    histories = []
    for _ in range(2):
        batch, numbers, history = make_batch(game, 2, seed=seed, **options), np.random.default_rng(number), []
        for _ in range(80):
            history.append(batch.step(random_cards(batch, numbers)).reward.tobytes() + batch.state.tobytes())
        histories.append((history, batch.states.tobytes()))
    assert histories[0] == histories[1]


@law
@given(rng=generators, seed=seeds)
def test_herzeln_has_26_points_a_deal(rng: random.Random, seed: int) -> None:
    batch = make_batch(
        "herzeln", LANES, seed=seed, autoreset="disabled", **drawn_options("herzeln", rng, episode="deal")
    )
    rules, numbers = batch.game.rules, np.random.default_rng(rng.getrandbits(32))
    start, steps = batch.states.copy(), 0
    while batch.running.any():
        batch.step(random_cards(batch, numbers))
        steps += 1
    for state, first in zip(batch.states, start, strict=True):
        taken = [rules.taken_by(state, seat) for seat in range(batch.players)]
        points = [rules.penalty_points(cards) for cards in taken]
        dealt = sum(first["hands"].tolist()) & rules.PENALTY
        assert sum(points) == (rules.penalty_points(dealt) if state["half"] else 26)
        assert state["plays"] == batch.players * state["hand_size"]
        passes = PASSED * batch.players if state["direction"] else 0
        assert steps >= state["plays"] + passes
        check_score(batch, state, taken, points)


def check_score(batch: Any, state: Any, taken: list[int], points: list[int]) -> None:
    """The score is the points, but for the moon and the bonuses."""
    options, whole = batch.options, sum(points)
    shooters = [seat for seat, count in enumerate(points) if whole and count == whole]
    assert state["moon_seat"] == (shooters[0] if shooters else -1)
    for seat, count in enumerate(points):
        expected = count
        if shooters:
            subtract = options.moon == "subtract"
            own, others = (-whole, 0) if subtract else (0, whole)
            expected = own if seat == shooters[0] else others
        if options.jack_of_diamonds and taken[seat] >> JACK & 1:
            expected -= 10
        if options.no_trick_bonus and not state["tricks"][seat] and not shooters:
            expected -= 5
        if not (shooters and options.moon == "add_unless_loses"):
            assert state["score"][seat] == expected == batch.final_score[batch.states["lane"] == state["lane"]][0][seat]


@law
@given(rng=generators, seed=seeds)
def test_viersche_has_140_points_a_deal(rng: random.Random, seed: int) -> None:
    options = drawn_options("viersche", rng, episode=rng.choice(["deal", "round"]))
    batch = make_batch("viersche", LANES, seed=seed, autoreset="disabled", **options)
    numbers = np.random.default_rng(rng.getrandbits(32))
    while batch.running.any():
        batch.step(random_cards(batch, numbers))
    for state in batch.states:
        target, score = batch.options.target, state["score"] + state["carried"]
        assert state["phase"] == EPISODE_OVER
        if not state["second_deal"]:
            assert state["points"].sum() == 140
            assert state["plays"] == 36
            assert batch.options.episode == "deal" or score.max() >= target
        else:
            assert state["carried"].sum() == 140
            assert score.max() >= target > score.min()
            assert state["trick_number"] <= 8 or target > 100


@every_game
@law
@given(rng=generators, seed=seeds)
def test_record_replays_every_observation(game: str, rng: random.Random, seed: int) -> None:
    env = raw(game, **drawn_options(game, rng), illegal=rng.choice(["terminate", "random"]))
    env.reset(seed=seed)
    for _ in range(rng.randrange(3)):
        env.reset()
    seen, over = [], False
    for _ in range(rng.randrange(1, 200)):
        seen.append([env.observe(agent)["observation"] for agent in env.possible_agents])
        over = env.terminations[env.agent_selection]
        if over:
            break
        card = legal_card(env, rng) if rng.random() < 0.95 or env.terms.illegal == "terminate" else rng.randrange(36)
        env.step(card)
    if not over:
        seen.append([env.observe(agent)["observation"] for agent in env.possible_agents])
    again = replay(json.loads(json.dumps(env.record())))
    for moment, batch in zip(seen, again, strict=True):
        views = np.repeat(batch.states, batch.players)
        out = np.zeros((batch.players, len(moment[0])), np.int8)
        batch.game.lanes.observe(
            views, np.arange(batch.players, dtype=np.int8), out.reshape(-1), np.zeros(1, batch.game.state)
        )
        assert np.array_equal(out, moment)


@every_game
def test_record_of_a_whole_episode(game: str) -> None:
    env = raw(game)
    env.reset(seed=3)
    play_out(env, random.Random(1))
    record = json.loads(json.dumps(env.record()))
    *_, last = replay(record)
    assert not last.running[0]
    assert np.array_equal(last.final_score[0], env.final_score())
    assert same_records(last.states, env.batch.states)


@every_game
def test_record_does_not_depend_on_the_generator(game: str) -> None:
    env = raw(game)
    env.reset(seed=3)
    play_out(env, random.Random(1))
    record = json.loads(json.dumps(env.record()))
    left, right = [list(map(sight, replay({**record, "seed": seed}))) for seed in (3, 4)]
    assert left == right


def sight(batch: Any) -> bytes:
    """All that a one-lane batch shows."""
    return batch.state.tobytes() + batch.action_mask.tobytes()


@every_game
def test_record_of_an_illegal_end(game: str) -> None:
    env, rng = raw(game, illegal="terminate"), random.Random(2)
    env.reset(seed=1)
    for _ in range(5):
        env.step(legal_card(env, rng))
    env.step(int(np.flatnonzero(env.batch.action_mask[0] == 0)[0]))
    record = env.record()
    assert len(record["actions"]) == 5
    assert len(list(replay(record))) == 6


@every_game
def test_what_is_no_record_is_refused(game: str) -> None:
    env, rng = raw(game), random.Random(2)
    env.reset(seed=1)
    first = legal_card(env, rng)
    env.step(first)
    record = env.record()
    for wrong in ({}, {**record, "version": 0}, {key: value for key, value in record.items() if key != "deals"}):
        with pytest.raises(ValueError, match="no game record"):
            list(replay(wrong))
    for actions in ([first, first], [-1], [99]):
        with pytest.raises(ValueError, match="illegal"):
            list(replay({**record, "actions": actions}))


# ------------------------------------------------------------------------------------------------- cards


@every_game
def test_names_of_cards(game: str) -> None:
    deck = GAMES[game].deck
    names = [deck.name(card) for card in range(deck.size)]
    assert len(set(names)) == deck.size
    for card, name in enumerate(names):
        symbol = deck.name(card, symbols=True)
        spellings = [
            name,
            name.lower(),
            symbol,
            symbol.lower(),
            f" {name} ",
            name.replace("10", "T"),
            symbol.replace("10", "t"),
        ]
        assert {deck.parse(spelling) for spelling in spellings} == {card}
        assert SUITS[card // len(deck.ranks)] == name[0]
        assert SYMBOLS[card // len(deck.ranks)] == symbol[0]
    assert [deck.name(NO_CARD), deck.name(FACE_DOWN)] == ["--", "??"]


@every_game
@pytest.mark.parametrize(("text", "name"), [("HT", "H10"), ("h10", "H10"), ("ht", "H10"), ("♠q", "SQ"), ("♠T", "S10")])
def test_spellings(game: str, text: str, name: str) -> None:
    deck = GAMES[game].deck
    assert deck.name(deck.parse(text)) == name


@every_game
@pytest.mark.parametrize(
    "text", ["", " ", "S", "Q", "QS", "S1", "S0", "S11", "XQ", "SQQ", "CH", "10H", "♠", "--", "??", None, 5]
)
def test_no_such_card(game: str, text: Any) -> None:
    deck = GAMES[game].deck
    with pytest.raises(ValueError, match=r"no such card: .*C D H S"):
        deck.parse(text)


@every_game
@law
@given(rng=generators)
def test_sets_of_cards(game: str, rng: random.Random) -> None:
    deck: Deck = GAMES[game].deck
    cards = rng.sample(range(deck.size), rng.randrange(deck.size))
    mixed = [rng.choice([card, np.int8(card), deck.name(card), deck.name(card, True).lower()]) for card in cards]
    found = deck.as_set(mixed)
    assert deck.in_set(found) == sorted(cards)
    assert deck.names(found) == [deck.name(card) for card in sorted(cards)]
    if cards:
        with pytest.raises(ValueError, match=f"{deck.name(cards[0])} is named twice"):
            deck.as_set([*mixed, cards[0]])
    for wrong in (-1, deck.size, "X"):
        with pytest.raises(ValueError, match="no such card"):
            deck.as_set([*mixed, wrong])
    with pytest.raises(TypeError):
        deck.as_set([1.5])  # type: ignore[list-item]


@law
@given(st.sets(st.integers(0, 51), min_size=1), st.data())
def test_nth_is_the_nth_lowest_card(cards: set[int], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(cards) - 1))
    assert nth(sum(1 << card for card in cards), place) == sorted(cards)[place]
