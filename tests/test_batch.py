"""Many lanes at once: seeds, autoreset, copies, actions of every kind, and the same games as the AEC face."""

from __future__ import annotations

import copy
import pickle
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from helpers import (
    MODULES,
    Options,
    label,
    legal_card,
    many,
    play_on,
    random_cards,
    random_options,
    raw,
    same_records,
    variants,
)

from stich.envs import IllegalCardError, OptionError, make_batch
from stich.envs.batch import Batch, Step
from stich.envs.game import GAMES

every_game = pytest.mark.parametrize("game", GAMES)
every_variant = pytest.mark.parametrize(("game", "options"), variants(), ids=label)
both_autoresets = pytest.mark.parametrize("autoreset", ["same_step", "disabled"])
DTYPES = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]


def seen(batch: Batch) -> list[np.ndarray]:
    """Copies of all that a batch shows."""
    return [
        part.copy()
        for part in (batch.observation, batch.action_mask, batch.seat, batch.state, batch.keys(), batch.running)
    ]


def equal(left: list[np.ndarray], right: list[np.ndarray]) -> bool:
    """Whether two lists of arrays hold the same."""
    return all(np.array_equal(a, b) for a, b in zip(left, right, strict=True))


def brought(step: Step) -> list[np.ndarray]:
    """Copies of what a step brings."""
    final = np.where(step.done[:, None], step.final_observation, 0), np.where(step.done[:, None], step.final_score, 0)
    return [step.reward.copy(), step.done.copy(), step.illegal.copy(), *final]


# ------------------------------------------------------------------------------------------------- seeds


@every_variant
def test_lanes_do_not_depend_on_their_number(game: str, options: Options) -> None:
    few, more = make_batch(game, 3, seed=5, **options), make_batch(game, 7, seed=5, **options)
    rng = np.random.default_rng(1)
    for _ in range(many(120, 2000)):
        assert equal(seen(few), [part[:3] for part in seen(more)])
        cards = random_cards(more, rng)
        step = brought(few.step(cards[:3]))
        assert equal(step, [part[:3] for part in brought(more.step(cards))])


@every_game
def test_lanes_and_seeds_differ(game: str) -> None:
    hands = np.concatenate([make_batch(game, 50, seed=seed).states["hands"] for seed in range(3)])
    assert len(np.unique(hands, axis=0)) == 150


@every_game
def test_reset_with_a_seed_is_a_new_batch(game: str) -> None:
    batch, rng = make_batch(game, 4, seed=1), np.random.default_rng(2)
    play_on(batch, rng, 70)
    batch.reset(seed=9)
    assert equal(seen(batch), seen(make_batch(game, 4, seed=9)))
    batch.reset()
    assert batch.states["lane_deal"].tolist() == [1] * 4


@every_game
@pytest.mark.parametrize("wrong", [[4], [-1], [0.5], ["0"], np.ones(3, bool), 9], ids=str)
def test_reset_of_lanes_that_are_not_there(game: str, wrong: Any) -> None:
    batch = make_batch(game, 4)
    before = batch.states.tobytes()
    with pytest.raises(ValueError, match=r"lanes=.*Valid: .*0 to 3"):
        batch.reset(wrong)
    with pytest.raises(ValueError, match="seed"):
        batch.reset([1], seed=3)
    for seed in (-1, 2**64, 0.5):
        with pytest.raises(OptionError, match="seed="):
            batch.reset(seed=seed)  # type: ignore[arg-type]
    assert batch.states.tobytes() == before


@every_game
def test_reset_of_some_lanes(game: str) -> None:
    for picked in ([1, 3], np.array([False, True, False, True]), (3, 1), np.array([1, 3], np.uint8)):
        batch = make_batch(game, 4, seed=1)
        before = batch.states.copy()
        batch.reset(picked)
        assert batch.states["lane_deal"].tolist() == [0, 1, 0, 1]
        assert same_records(batch.states[::2], before[::2])
        batch.reset([])
        assert batch.states["lane_deal"].tolist() == [0, 1, 0, 1]


# ---------------------------------------------------------------------------------------- the AEC face


def same_moment(env: Any, batch: Batch) -> None:
    """The AEC environment shows what lane 0 shows."""
    assert env.agent_selection == f"player_{batch.seat[0]}"
    now = env.observe(env.agent_selection)
    assert np.array_equal(now["observation"], batch.observation[0])
    assert np.array_equal(now["action_mask"], batch.action_mask[0])
    assert np.array_equal(env.state(), batch.state[0])
    assert np.array_equal(env.keys(), batch.keys()[:1])
    assert same_records(env.view(env.agent_selection), batch.views[:1])


def finish(env: Any, step: Step) -> None:
    """The end of an episode is the same too."""
    last = env.observe(env.agent_selection)["observation"]
    assert np.array_equal(last, step.final_observation[0])
    assert np.array_equal(env.final_score(), step.final_score[0])


@every_variant
@both_autoresets
def test_aec_plays_what_lane_0_plays(game: str, options: Options, autoreset: str) -> None:
    short = {"target": 30} if game == "herzeln" else {"rungs": 1, "marks": 1}
    batch = make_batch(game, 3, seed=7, autoreset=autoreset, **options, **short)
    env, rng = raw(game, **options, **short), np.random.default_rng(3)
    env.reset(seed=7)
    for _ in range(many(3, 20)):
        done = False
        while not done:
            same_moment(env, batch)
            cards = random_cards(batch, rng)
            env.step(int(cards[0]))
            step = batch.step(cards)
            assert list(env.rewards.values()) == step.reward[0].tolist()
            done = bool(step.done[0])
            assert all(env.terminations.values()) == done
        finish(env, step)
        if autoreset == "disabled":
            batch.reset([0])
        env.reset()


# ------------------------------------------------------------------------------------------- autoreset


@every_variant
def test_same_step_starts_the_next_episode(game: str, options: Options) -> None:
    short = {"target": 1} if game == "herzeln" else {"rungs": 1, "marks": 1}
    batch, rng, ended = make_batch(game, 6, seed=2, **options, **short), np.random.default_rng(4), 0
    for _ in range(150):
        deal = batch.states["lane_deal"].copy()
        step = batch.step(random_cards(batch, rng))
        assert batch.running.all()
        assert batch.action_mask.any(axis=1).all()
        new = batch.states[step.done]
        assert (new["lane_deal"] == deal[step.done] + 1).all()
        assert not new["deal"].any()
        assert not new["plays"].any()
        ended += int(step.done.sum())
        assert np.array_equal(batch.final_score[step.done], step.final_score[step.done])
    assert ended >= 6


@every_game
def test_disabled_lanes_wait(game: str) -> None:
    batch, rng = make_batch(game, 4, seed=2, autoreset="disabled", episode="deal"), np.random.default_rng(5)
    while batch.running.any():
        step = batch.step(random_cards(batch, rng))
    assert step.done.any()
    assert not batch.action_mask.any()
    before = batch.states.tobytes()
    step = batch.step(np.full(4, -1))
    assert not step.done.any()
    assert not step.reward.any()
    assert batch.states.tobytes() == before
    with pytest.raises(ValueError, match=r"lane 0 is done.*reset\(\[0\]\)"):
        batch.step(np.zeros(4, int))
    batch.reset([2])
    assert batch.running.tolist() == [False, False, True, False]
    with pytest.raises(ValueError, match="lane 3 is done"):
        batch.step([-1, -1, int(batch.action_mask[2].argmax()), 0])
    batch.step([-1, -1, int(batch.action_mask[2].argmax()), -1])


@both_autoresets
@every_game
def test_final_observation_is_of_the_last_to_move(game: str, autoreset: str) -> None:
    batch, rng = make_batch(game, 5, episode="deal", autoreset=autoreset), np.random.default_rng(6)
    twin = make_batch(game, 5, episode="deal", autoreset="disabled")
    while not (step := batch.step(cards := random_cards(batch, rng))).done.any():
        twin.step(cards)
    twin.step(cards)
    assert step.done.all()
    assert np.array_equal(step.final_observation, twin.observation)
    assert np.array_equal(step.final_score, twin.final_score)


@every_game
def test_every_lane_has_its_own_seat_to_move(game: str) -> None:
    deals = [{"dealer": seat} for seat in range(4)]
    named = {"first_lead": "left_of_dealer"} if game == "herzeln" else {}
    batch = make_batch(game, 4, deals=deals, **named)
    assert batch.seat.tolist() == [1, 2, 3, 0]
    assert batch.views["observer"].tolist() == [1, 2, 3, 0]
    rng = np.random.default_rng(1)
    for _ in range(200):
        for lane in range(4):
            view = batch.views[lane]
            assert view["hands"][batch.seat[lane]] == batch.states["hands"][lane, batch.seat[lane]]
        batch.step(random_cards(batch, rng))


@every_game
def test_state_begins_with_the_observation(game: str) -> None:
    rng = random.Random(2)
    for seed in range(many(20, 300)):
        batch = make_batch(game, 4, seed=seed, **random_options(GAMES[game], rng))
        play_on(batch, np.random.default_rng(seed), rng.randrange(60))
        size = GAMES[game].encoding.size(batch.players)
        assert batch.observation.shape == (4, size)
        assert np.array_equal(batch.state[:, :size], batch.observation)
        assert batch.state.shape == (4, GAMES[game].encoding.state_size(batch.players))


# ----------------------------------------------------------------------------------------------- copies


def copies(thing: Any) -> list[Any]:
    """Two kinds of copies."""
    return [copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))]


@every_variant
def test_copies_of_a_batch(game: str, options: Options) -> None:
    batch = make_batch(game, 3, seed=3, **options)
    play_on(batch, np.random.default_rng(7), 33)
    twins, rng = copies(batch), np.random.default_rng(8)
    for _ in range(many(70, 1000)):
        assert all(equal(seen(batch), seen(twin)) for twin in twins)
        cards = random_cards(batch, rng)
        step = brought(batch.step(cards))
        assert all(equal(step, brought(twin.step(cards))) for twin in twins)


@every_variant
@pytest.mark.parametrize("kind", ["env", "raw_env"])
def test_copies_of_an_environment(game: str, options: Options, kind: str) -> None:
    env, rng = getattr(MODULES[game], kind)(**options), random.Random(9)
    env.reset(seed=4)
    for _ in range(21):
        env.step(legal_card(env, rng))
    twins = copies(env)
    while not all(env.terminations.values()):
        card = legal_card(env, rng)
        for one in (env, *twins):
            one.step(card)
            assert one.last()[1:] == env.last()[1:]
            assert np.array_equal(one.last()[0]["observation"], env.last()[0]["observation"])
    for one in (env, *twins):
        one.reset()
        assert np.array_equal(one.state(), env.state())
        assert one.unwrapped.record() == env.unwrapped.record()


@every_game
def test_copies_of_states(game: str) -> None:
    batch = make_batch(game, 4, seed=5)
    play_on(batch, np.random.default_rng(1), 30)
    for states in [batch.states.copy(), *copies(batch.states)]:
        twin = make_batch(game, 4, seed=6)
        twin.states[:] = states
        twin.look()
        one, rng = copy.deepcopy(batch), np.random.default_rng(2)
        for _ in range(80):
            cards = random_cards(one, rng)
            assert equal(brought(one.step(cards)), brought(twin.step(cards)))
            assert np.array_equal(one.state, twin.state)
            assert same_records(one.states, twin.states)


@every_game
def test_a_copy_shares_nothing(game: str) -> None:
    batch = make_batch(game, 2)
    before, shown = batch.states.tobytes(), seen(batch)
    for twin in copies(batch):
        play_on(twin, np.random.default_rng(1), 60)
    assert batch.states.tobytes() == before
    assert equal(seen(batch), shown)


@every_game
def test_pickle_in_another_process(game: str) -> None:
    batch = make_batch(game, 2, seed=8)
    play_on(batch, np.random.default_rng(1), 10)
    program = "import pickle, sys; b = pickle.load(sys.stdin.buffer); sys.stdout.buffer.write(b.observation.tobytes())"
    done = subprocess.run([sys.executable, "-c", program], input=pickle.dumps(batch), capture_output=True, check=True)
    assert done.stdout == batch.observation.tobytes()


# ---------------------------------------------------------------------------------------------- actions


@every_game
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: dtype.__name__)
def test_any_integer_dtype(game: str, dtype: Any) -> None:
    batch, twin, rng = make_batch(game, 3), make_batch(game, 3), np.random.default_rng(1)
    for _ in range(60):
        cards = random_cards(batch, rng)
        given = cards.astype(dtype)
        assert equal(brought(batch.step(cards.tolist())), brought(twin.step(given)))
        assert np.array_equal(given, cards)
    assert same_records(batch.states, twin.states)


WRONG = [
    (lambda cards: cards.astype(float), TypeError, "dtype float64"),
    (lambda cards: cards.astype(bool), TypeError, "dtype bool"),
    (lambda cards: cards.astype(object), TypeError, "dtype object"),
    (lambda cards: [None] * len(cards), TypeError, "dtype object"),
    (lambda cards: cards[:-1], ValueError, r"shape \(3,\).*\(4,\)"),
    (lambda cards: cards[:, None], ValueError, r"shape \(4, 1\)"),
    (lambda cards: int(cards[0]), ValueError, r"shape \(\)"),
    (lambda cards: [*cards[:2], -1, cards[3]], ValueError, "action -1 of lane 2"),
    (lambda cards: [*cards[:3], 52], ValueError, "action 52 of lane 3.*Valid: 0 to"),
    (lambda cards: np.array([*cards[:1].tolist(), 2**64 - 1, 0, 0], np.uint64), ValueError, "of lane 1 is no card"),
    (lambda cards: np.array([*cards[:1].tolist(), -(2**63), 0, 0]), ValueError, "of lane 1 is no card"),
]


@every_game
@pytest.mark.parametrize("illegal", ["raise", "terminate", "random"])
@pytest.mark.parametrize(("spoil", "error", "message"), WRONG, ids=range(len(WRONG)))
def test_what_is_no_action_changes_nothing(game: str, illegal: str, spoil: Any, error: Any, message: str) -> None:
    batch, rng = make_batch(game, 4, illegal=illegal), np.random.default_rng(2)
    play_on(batch, rng, 9)
    before, shown = batch.states.tobytes(), seen(batch)
    with pytest.raises(error, match=message):
        batch.step(spoil(random_cards(batch, rng)))
    assert batch.states.tobytes() == before
    assert equal(seen(batch), shown)


@every_variant
def test_illegal_card_in_any_lane_raises_before_any_changes(game: str, options: Options) -> None:
    batch, rng = make_batch(game, 4, **options), np.random.default_rng(3)
    for step in range(60):
        cards, lane = random_cards(batch, rng), step % 4
        wrong = np.flatnonzero(batch.action_mask[lane] == 0)
        before = batch.states.tobytes()
        spoilt = cards.copy()
        spoilt[lane] = rng.choice(wrong)
        name, legal = batch.game.deck.name(spoilt[lane]), batch.game.deck.name(cards[lane])
        with pytest.raises(IllegalCardError, match=rf"^{name} .* in lane {lane}\. Legal: (.*, )?{legal}(,|$)"):
            batch.step(spoilt)
        assert batch.states.tobytes() == before
        batch.step(cards)


@every_game
def test_out_of_range_behind_an_illegal_card_raises(game: str) -> None:
    for illegal in ("terminate", "random"):
        batch = make_batch(game, 2, illegal=illegal)
        before = batch.states.tobytes()
        with pytest.raises(ValueError, match="lane 1"):
            batch.step([int(np.flatnonzero(batch.action_mask[0] == 0)[0]), 99])
        assert batch.states.tobytes() == before


@both_autoresets
@every_game
def test_illegal_card_terminates_its_lane_only(game: str, autoreset: str) -> None:
    batch, rng = make_batch(game, 3, illegal="terminate", autoreset=autoreset), np.random.default_rng(4)
    play_on(batch, rng, 11)
    cards, mover = random_cards(batch, rng), int(batch.seat[1])
    cards[1] = np.flatnonzero(batch.action_mask[1] == 0)[0]
    step = batch.step(cards)
    assert step.illegal.tolist() == step.done.tolist() == [False, True, False]
    assert step.reward[1].tolist() == [
        batch.terms.price(batch.game, batch.options) * (seat == mover) for seat in range(4)
    ]
    assert batch.running.tolist() == [True, autoreset == "same_step", True]


@every_game
def test_illegal_card_is_replaced_by_a_random_legal_one(game: str) -> None:
    batch = make_batch(game, 200, illegal="random", episode="deal")
    allowed = batch.legal.copy()
    wrong = (batch.action_mask == 0).argmax(axis=1)
    step = batch.step(wrong)
    assert step.illegal.all()
    assert not step.done.any()
    assert (allowed >> batch.played_card & 1).all()
    assert (batch.played_card != wrong).all()
