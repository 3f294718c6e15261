"""The Gymnasium faces: the checks of Gymnasium, and many lanes against single environments."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode
from helpers import label, many, variants

from stich.agents import load_agent
from stich.agents.loader import agent_names
from stich.agents.seat import SeatEnv, SeatVectorEnv
from stich.envs import DealError, IllegalCardError, OptionError
from stich.envs.game import GAMES

IDS = {game: f"stich/{game.capitalize()}-v0" for game in GAMES}
every_game = pytest.mark.parametrize("game", GAMES)
every_variant = pytest.mark.parametrize(("game", "options"), variants(), ids=label)
LANES = 3


def made(game: str, **options: Any) -> SeatEnv:
    """The environment of an id, without Gymnasium's wrappers."""
    env = gymnasium.make(IDS[game], **{"opponents": "random", **options}).unwrapped
    assert isinstance(env, SeatEnv)
    return env


def made_many(game: str, lanes: int, **options: Any) -> SeatVectorEnv:
    """The vector environment of an id."""
    env = gymnasium.make_vec(IDS[game], num_envs=lanes, **{"opponents": "random", **options})
    assert isinstance(env, SeatVectorEnv)
    return env


def pick(mask: np.ndarray, rng: np.random.Generator) -> int:
    """A random card of a mask."""
    return int(rng.choice(np.flatnonzero(mask)))


# ------------------------------------------------------------------------------------ one environment


@every_variant
def test_check_env(game: str, options: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message=".*is different from the unwrapped version.*")
        warnings.filterwarnings("ignore", message=".*not within the observation space.*", category=ImportWarning)
        check_env(made(game, **options))


@every_game
@pytest.mark.parametrize(
    "options",
    [{"seat": 0}, {"seat": 3, "illegal": "random"}, {"reward": "points"}, {"reward": "result", "episode": "deal"}],
    ids=label,
)
def test_check_env_with_options(game: str, options: dict[str, Any]) -> None:
    check_env(made(game, **options))


@every_game
def test_every_agent_is_an_opponent(game: str) -> None:
    rng = np.random.default_rng(1)
    for name in agent_names(game):
        env = made(game, opponents=name, episode="deal")
        play_episode(env, rng, seed=1)
    play_episode(made(game, opponents=["random", load_agent("random", game), "random"], episode="deal"), rng, seed=2)


def play_episode(env: SeatEnv, rng: np.random.Generator, seed: int | None) -> tuple[float, dict[str, Any]]:
    """Random legal play to the end; the return and the last info."""
    _, info = env.reset(seed=seed)
    total, terminated = 0.0, False
    while not terminated:
        assert np.array_equal(env.action_masks(), info["action_mask"])
        observation, reward, terminated, truncated, info = env.step(pick(info["action_mask"], rng))
        assert env.observation_space.contains(observation)
        assert not truncated
        total += reward
    assert not info["action_mask"].any()
    return total, info


@every_variant
def test_return_is_minus_the_final_score(game: str, options: dict[str, Any]) -> None:
    if game == "herzeln":
        total, info = play_episode(made(game, **options, reward="points"), np.random.default_rng(2), seed=3)
        assert total == -info["final_score"][info["seat"]]


@every_variant
def test_learner_sits_everywhere(game: str, options: dict[str, Any]) -> None:
    env = made(game, **options)
    env.reset(seed=4)
    assert {env.reset()[1]["seat"] for _ in range(60)} == set(range(options["players"]))
    for seat in range(options["players"]):
        fixed = made(game, **options, seat=seat)
        assert fixed.reset(seed=1)[1]["seat"] == seat == fixed._seats.batch.seat[0]


@every_variant
def test_illegal_card_ends_the_episode(game: str, options: dict[str, Any]) -> None:
    env = made(game, **options, reward="points")
    _, info = env.reset(seed=5)
    wrong = int(np.flatnonzero(info["action_mask"] == 0)[0])
    _, reward, terminated, truncated, info = env.step(wrong)
    rules = env._seats
    assert (reward, terminated, truncated) == (rules.game.illegal_reward(rules.options, "points"), True, False)
    with pytest.raises(ValueError, match="done"):
        env.step(wrong)
    play_episode(env, np.random.default_rng(6), seed=None)


@every_game
def test_illegal_card_raises_or_is_replaced(game: str) -> None:
    env = made(game, illegal="raise")
    _, info = env.reset(seed=5)
    wrong = int(np.flatnonzero(info["action_mask"] == 0)[0])
    before = env._seats.batch.states.tobytes()
    with pytest.raises(IllegalCardError, match=GAMES[game].deck.name(wrong)):
        env.step(wrong)
    assert env._seats.batch.states.tobytes() == before
    env = made(game, illegal="random")
    env.reset(seed=5)
    assert not env.step(wrong)[2]


@every_game
def test_wrong_options(game: str) -> None:
    for wrong in (
        {"seat": 4},
        {"seat": "player_0"},
        {"opponents": "nobody"},
        {"opponents": ["random"]},
        {"opponents": 5},
    ):
        with pytest.raises(OptionError, match="Valid: "):
            made(game, **wrong)
    with pytest.raises(OptionError, match="render_mode"):
        made(game, render_mode="hologram")
    with pytest.raises(OptionError, match="num_envs"):
        made_many(game, 0)
    with pytest.raises(OptionError, match="make_batch"):
        made_many(game, 2).reset(options={"dealer": 1})


@every_game
def test_deal_given_by_hand(game: str) -> None:
    env = made(game, seat=2)
    env.reset(seed=1, options={"dealer": 3})
    assert env._seats.batch.states["dealer"][0] == 3
    before, generator = env._seats.batch.states.tobytes(), env.np_random.bit_generator.state
    for seed in (None, 9):
        with pytest.raises(DealError, match="dealer"):
            env.reset(seed=seed, options={"dealer": 4})
        assert env._seats.batch.states.tobytes() == before
        assert env.np_random.bit_generator.state == generator


@every_game
def test_render_shows_no_other_hand(game: str) -> None:
    env = made(game, seat=0, render_mode="ansi")
    env.reset(seed=2)
    lines = str(env.render()).splitlines()
    assert [line.count("  | ") for line in lines[1:]] == [1, 0, 0, 0]


# ------------------------------------------------------------------------------------------- many lanes


def single_lane(game: str, lane: int, seed: int, **options: Any) -> tuple[SeatEnv, np.ndarray, dict[str, Any]]:
    """A single environment that plays what lane `lane` of many plays under a seed."""
    env = made(game, **options)
    env._seats.numbers[:] = lane
    observation, info = env.reset(seed=seed)
    return env, observation, info


@every_variant
def test_lanes_equal_single_environments(game: str, options: dict[str, Any]) -> None:
    options = options if options["episode"] in ("deal", "round") else {**options, **SHORT[game]}
    envs = made_many(game, LANES, **options)
    together, info = envs.reset(seed=6)
    singles = [single_lane(game, lane, 6, **options) for lane in range(LANES)]
    alone = [observation for _, observation, _ in singles]
    masks = [one["action_mask"] for _, _, one in singles]
    rng, ended = np.random.default_rng(7), 0
    for _ in range(many(120, 1000)):
        assert np.array_equal(together, alone)
        assert np.array_equal(info["action_mask"], masks)
        assert np.array_equal(envs.action_masks(), masks)
        cards = [pick(mask, rng) for mask in masks]
        together, rewards, done, truncated, info = envs.step(cards)
        for lane, (env, _, _) in enumerate(singles):
            alone[lane], reward, terminated, _, one = env.step(cards[lane])
            assert (rewards[lane], done[lane]) == (np.float32(reward), terminated)
            if terminated:
                ended += 1
                assert np.array_equal(info["final_obs"][lane], alone[lane])
                assert np.array_equal(info["final_info"]["final_score"][lane], one["final_score"])
                alone[lane], one = env.reset()
            assert info["seat"][lane] == one["seat"]
            masks[lane] = one["action_mask"]
        assert np.array_equal(info["_final_obs"] if done.any() else done, done)
        assert not truncated.any()
    assert ended > LANES


SHORT = {"herzeln": {"target": 1}, "viersche": {"rungs": 1, "marks": 1}}


@every_game
def test_first_lanes_do_not_depend_on_the_number_of_lanes(game: str) -> None:
    few, more = made_many(game, 2, episode="deal"), made_many(game, 5, episode="deal")
    (left, info), (right, _) = few.reset(seed=1), more.reset(seed=1)
    rng = np.random.default_rng(1)
    for _ in range(40):
        assert np.array_equal(left, right[:2])
        cards = [pick(mask, rng) for mask in info["action_mask"]]
        others = [pick(mask, rng) for mask in more.action_masks()[2:]]
        left, *_, info = few.step(cards)
        right, *_ = more.step(np.array(cards + others, np.uint8))


@every_game
def test_vector_spaces_and_autoreset_mode(game: str) -> None:
    envs = made_many(game, 4)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    observation, info = envs.reset(seed=1)
    assert envs.observation_space.contains(observation)
    assert envs.action_space.contains(info["action_mask"].argmax(axis=1))
    assert envs.single_action_space.n == GAMES[game].deck.size
    envs.close()


@every_game
def test_wrappers_of_gymnasium_count_the_episodes(game: str) -> None:
    envs = gymnasium.wrappers.vector.RecordEpisodeStatistics(
        made_many(game, 2, episode="deal", reward="points", seat=0)
    )
    _, info = envs.reset(seed=1)
    rng = np.random.default_rng(3)
    for _ in range(30):
        _, _, done, _, info = envs.step(np.array([pick(mask, rng) for mask in info["action_mask"]]))
        if done.any():
            break
    lane = int(np.flatnonzero(done)[0])
    score = info["final_info"]["final_score"][lane]
    expected = -score[0] if game == "herzeln" else score[0] - score[1]
    assert info["episode"]["r"][lane] == pytest.approx(expected)
