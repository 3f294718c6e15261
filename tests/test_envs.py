"""One test of the programming interfaces for every registered game, preset, episode and number of players."""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pettingzoo
import pytest
from helpers import (
    MODULES,
    NIGHTLY,
    Options,
    illegal_card,
    label,
    legal_card,
    many,
    play_out,
    random_options,
    raw,
    variants,
)
from pettingzoo.test import api_test, render_test, seed_test
from pettingzoo.test.state_test import test_state as check_state
from pettingzoo.test.state_test import test_state_space as check_state_space

from stich.envs import IllegalCardError
from stich.envs.game import GAMES, REWARDS

every_variant = pytest.mark.parametrize(("game", "options"), variants(), ids=label)
every_game = pytest.mark.parametrize("game", GAMES)
PIECES = many(1, 10)


def quietly(check: Callable[..., Any], *arguments: Any, **named: Any) -> None:
    """Run a check of PettingZoo without its printing; its warnings about unknown environments say nothing."""
    with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        check(*arguments, **named)


# ------------------------------------------------------------------------------ the checks of PettingZoo


@every_variant
def test_pettingzoo_api(game: str, options: Options) -> None:
    quietly(api_test, MODULES[game].env(**options), num_cycles=200 * PIECES)


@every_variant
def test_pettingzoo_seed(game: str, options: Options) -> None:
    quietly(seed_test, lambda: MODULES[game].env(**options), num_cycles=100 * PIECES)


@every_variant
def test_pettingzoo_render(game: str, options: Options) -> None:
    quietly(render_test, lambda **mode: MODULES[game].env(**options, **mode))


@every_variant
def test_pettingzoo_state(game: str, options: Options) -> None:
    env = MODULES[game].env(**options, illegal="random")
    quietly(check_state_space, env)
    quietly(check_state, env, num_cycles=50 * PIECES)


@every_variant
def test_pettingzoo_make(game: str, options: Options) -> None:
    env = pettingzoo.make("aec", f"stich/{game}-v0", **options)
    env.reset(seed=5)
    same = MODULES[game].env(**options)
    same.reset(seed=5)
    assert env.last()[0]["observation"].tolist() == same.last()[0]["observation"].tolist()
    assert env.metadata["name"] == f"{game}_v0"
    assert env.metadata["is_parallelizable"] is False


@every_variant
def test_spaces_hold_every_observation(game: str, options: Options) -> None:
    env, rng = raw(game, **options), random.Random(1)
    env.reset(seed=2)
    for _ in range(120):
        for agent in env.possible_agents:
            seen = env.observe(agent)
            assert env.observation_space(agent).contains(seen)
            to_move = agent == env.agent_selection and not env.terminations[agent]
            assert seen["action_mask"].any() == to_move
        assert env.state_space.contains(env.state())
        if any(env.terminations.values()):
            break
        env.step(legal_card(env, rng))


@every_game
def test_order_is_enforced(game: str) -> None:
    env = MODULES[game].env()
    with pytest.raises(AttributeError, match="reset"):
        _ = env.agents
    with pytest.raises(RuntimeError, match="reset"):
        raw(game).observe("player_0")


# ------------------------------------------------------------------------------------------------ rewards


def returned(game: str, seed: int, **options: Any) -> tuple[Any, list[float]]:
    """A random episode: its environment and the returns by seat."""
    env = MODULES[game].env(**options)
    env.reset(seed=seed)
    return env.unwrapped, list(play_out(env, random.Random(seed)).values())


@every_variant
def test_returns_are_the_final_score(game: str, options: Options) -> None:
    for seed in range(2 * PIECES):
        env, total = returned(game, seed, **options, reward="points")
        score = env.final_score().tolist()
        if game == "herzeln":
            assert total == [-points for points in score]
        elif options["episode"] == "deal":
            assert total == [score[seat] - score[(seat + 1) % 4] for seat in range(4)]
        else:
            assert total[0] == total[2] == -total[1] == -total[3]
        assert not env.agents


@every_variant
def test_payoff_and_result_are_zero_sum(game: str, options: Options) -> None:
    for kind in ("payoff", "result"):
        env, total = returned(game, 3, **options, reward=kind)
        assert sum(total) == pytest.approx(0, abs=1e-5)
        if options["episode"] == "deal":
            assert max(map(abs, total)) <= 1
        if kind == "result":
            better = np.argsort(total)[-1]
            score = env.final_score() if env.game.higher_is_better(env.options) else -env.final_score()
            assert score[better] == score.max()


@every_game
def test_payoff_is_a_scale_of_points(game: str) -> None:
    scale = GAMES[game].rules.DEAL_POINTS
    _, points = returned(game, 4, episode="deal", reward="points")
    _, payoff = returned(game, 4, episode="deal", reward="payoff")
    if game == "herzeln":
        points = [own - (sum(points) - own) / 3 for own in points]
    assert np.allclose(np.array(payoff) * scale, points, atol=1e-4)


def test_result_of_a_game_of_herzeln_is_the_share_of_the_win() -> None:
    for seed in range(10):
        env, total = returned("herzeln", seed, reward="result", target=30)
        wins = env.final_score() == env.final_score().min()
        assert np.allclose(total, wins / wins.sum() - 0.25)


def test_result_of_viersche_is_rungs_and_marks() -> None:
    for seed in range(4):
        for episode in ("round", "game"):
            env, total = returned("viersche", seed, reward="result", episode=episode)
            score = env.final_score()
            difference = score - score[[1, 0, 1, 0]]
            assert np.allclose(total, difference if episode == "round" else -difference)
        env, total = returned("viersche", seed, reward="result", episode="session", marks=1)
        assert np.allclose(total, np.where(env.final_score() >= 1, -1, 1))


# ------------------------------------------------------------------------------------------ illegal cards


@every_variant
def test_illegal_card_at_every_seat_terminates(game: str, options: Options) -> None:
    env, rng = raw(game, **options), random.Random(5)
    env.reset(seed=6)
    for seat in range(options["players"]):
        while env.agent_selection != f"player_{seat}":
            env.step(legal_card(env, rng))
        wrong = illegal_card(env)
        env.step(wrong)
        assert all(env.terminations.values())
        assert not any(env.truncations.values())
        price = env.game.illegal_reward(env.options, "points")
        assert list(env.rewards.values()) == [price if other == seat else 0 for other in range(options["players"])]
        assert env.infos[f"player_{seat}"]["illegal_actions"] == 1
        for agent in env.agent_iter():
            assert not env.observe(agent)["action_mask"].any()
            env.step(None)
        env.reset()
        assert not any(env.illegal_actions.values())
        env.step(legal_card(env, rng))
    env.reset()
    play_out(env, rng)


@every_variant
def test_illegal_card_at_every_seat_raises(game: str, options: Options) -> None:
    env, rng = raw(game, **options, illegal="raise"), random.Random(5)
    env.reset(seed=6)
    for seat in range(options["players"]):
        while env.agent_selection != f"player_{seat}":
            env.step(legal_card(env, rng))
        wrong, before = illegal_card(env), env.batch.states.tobytes()
        with pytest.raises(IllegalCardError, match=env.game.deck.name(wrong)):
            env.step(wrong)
        assert env.batch.states.tobytes() == before
        assert env.agent_selection == f"player_{seat}"
    play_out(env, rng)
    env.reset()
    play_out(env, rng)


@every_variant
def test_illegal_card_at_every_seat_is_replaced(game: str, options: Options) -> None:
    env, rng = raw(game, **options, illegal="random"), random.Random(5)
    env.reset(seed=6)
    for seat in range(options["players"]):
        while env.agent_selection != f"player_{seat}":
            env.step(legal_card(env, rng))
        allowed, wrong = int(env.batch.legal[0]), illegal_card(env)
        env.step(wrong)
        assert allowed >> int(env.batch.played_card[0]) & 1
        assert env.infos[f"player_{seat}"]["illegal_actions"] == env.illegal_actions[f"player_{seat}"] == 1
        assert not any(env.terminations.values())
    play_out(env, rng)
    env.reset()
    assert not any(env.illegal_actions.values())


@every_game
@pytest.mark.parametrize("illegal", ["terminate", "raise", "random"])
@pytest.mark.parametrize("action", [-1, 52, 10**30, 1.0, "SQ", None, True, np.float32(1), np.array([1])], ids=str)
def test_what_is_no_card_always_raises(game: str, illegal: str, action: Any) -> None:
    env = raw(game, illegal=illegal)
    env.reset(seed=7)
    before = env.batch.states.tobytes()
    with pytest.raises((TypeError, ValueError), match="action"):
        env.step(action)
    assert env.batch.states.tobytes() == before
    assert not any(env.illegal_actions.values())


@every_game
@pytest.mark.parametrize("kind", [int, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.array])
def test_any_whole_number_is_an_action(game: str, kind: Any) -> None:
    env = raw(game)
    env.reset(seed=7)
    card = int(env.batch.legal[0]).bit_length() - 1
    env.step(kind(card))
    assert env.batch.played_card[0] == card


@every_variant
@pytest.mark.parametrize("reward", REWARDS)
def test_illegal_is_worse_than_any_legal_line(game: str, options: Options, reward: str) -> None:
    if reward == "points" or NIGHTLY or options["episode"] == "deal":
        for seed in range(2 * PIECES):
            env, total = returned(game, seed, **options, reward=reward)
            assert env.terms.price(env.game, env.options) < min(total)


@every_game
def test_illegal_is_worse_under_any_options(game: str) -> None:
    rng = random.Random(8)
    for seed in range(many(15, 300)):
        chosen = random_options(GAMES[game], rng, episode=rng.choice(["deal", "game"]))
        if chosen.get("tie") == "extra_deals" or max(chosen.get("marks", 4), chosen.get("rungs", 4)) > 4:
            continue  # no bound is promised where a tie can be played off for ever; the others take too long
        for reward in REWARDS:
            env, total = returned(game, seed, **chosen, reward=reward)
            assert env.terms.price(env.game, env.options) < min(total), chosen


@every_game
def test_own_illegal_reward(game: str) -> None:
    env = raw(game, illegal_reward=-3)
    env.reset(seed=1)
    mover = env.agent_selection
    env.step(illegal_card(env))
    assert env.rewards[mover] == -3
