"""What several test files share: the registry as parameters, random options, random legal play."""

from __future__ import annotations

import functools
import os
import random
import typing
from collections.abc import Iterator
from typing import Any

import numpy as np

from stich.envs import OptionError, herzeln_v0, make_batch, viersche_v0
from stich.envs.aec import RawEnv
from stich.envs.batch import Batch
from stich.envs.cards import NO_CARD
from stich.envs.game import GAMES, Game
from stich.envs.options import choices

NIGHTLY = os.environ.get("STICH_NIGHTLY") == "1"
MODULES = {"herzeln": herzeln_v0, "viersche": viersche_v0}
NUMBERS = (1, 2, 3, 4, 26, 71, 99, 100, 140)
"""Values tried for options that are whole numbers; an option refuses those it does not take."""

VIEW_LANES = 8
Options = dict[str, Any]


def many(usual: int, nightly: int) -> int:
    """How many cases to try: more by night."""
    return nightly if NIGHTLY else usual


def variants() -> list[tuple[str, Options]]:
    """Every game with every preset, episode and number of players."""
    found = []
    for name, game in GAMES.items():
        for preset in game.presets:
            for episode in choices(game.options_class, "episode"):
                for players in sorted(choices(game.options_class, "players")):
                    found.append((name, {"preset": preset, "episode": episode, "players": players}))
    return found


def label(value: Any) -> str:
    """The id of a parameter in pytest's output."""
    return "-".join(str(item) for item in value.values()) if isinstance(value, dict) else str(value)


@functools.cache
def hints(cls: type) -> dict[str, Any]:
    """The types of the options."""
    return typing.get_type_hints(cls)


def values_of(game: Game, name: str) -> list[Any]:
    """The values of an option that are worth trying."""
    hint = hints(game.options_class)[name]
    if hint is bool:
        return [False, True]
    return list(NUMBERS) if hint is int else list(typing.get_args(hint))


def random_options(game: Game, rng: random.Random, **fixed: Any) -> Options:
    """Each option drawn among its values, in an order that favours none; what contradicts the others is left out."""
    names = [name for name in hints(game.options_class) if name not in fixed]
    found = dict(fixed)
    for name in rng.sample(names, len(names)):
        tried = {**found, name: rng.choice(values_of(game, name))}
        try:
            game.options(**tried)
        except OptionError:
            continue
        found = tried
    return found


def random_cards(batch: Batch, rng: np.random.Generator) -> np.ndarray:
    """A uniformly random legal card in each running lane, none in the others: int64[N]."""
    weights = rng.random(batch.action_mask.shape) * batch.action_mask
    return np.where(batch.action_mask.any(axis=1), weights.argmax(axis=1), NO_CARD)


def play_on(batch: Batch, rng: np.random.Generator, steps: int) -> None:
    """Some steps of random legal play."""
    for _ in range(steps):
        batch.step(random_cards(batch, rng))


def positions(batch: Batch, rng: np.random.Generator, steps: int, every: int = 1) -> Iterator[int]:
    """Step through random legal play; yields the number of each step before it is made."""
    for step in range(steps):
        if step % every == 0:
            yield step
        batch.step(random_cards(batch, rng))


def legal_card(env: Any, rng: random.Random) -> int:
    """A random legal card of the agent to move."""
    return rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist())


def illegal_card(env: Any) -> int:
    """A card that the agent to move may not play now."""
    return int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"] == 0)[0])


def play_out(env: Any, rng: random.Random) -> dict[str, float]:
    """Random legal play to the end, as PettingZoo's loop goes; each agent's return."""
    total = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        _, reward, terminated, truncated, _ = env.last(observe=False)
        total[agent] += reward
        env.step(None if terminated or truncated else legal_card(env, rng))
    return total


def raw(game: str, **options: Any) -> RawEnv:
    """The AEC environment of a game without its wrapper."""
    return MODULES[game].raw_env(**options)


def same_records(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether two arrays of states are equal in every field."""
    return left.dtype == right.dtype and all(np.array_equal(left[name], right[name]) for name in left.dtype.names)


def seats_of(states: np.ndarray, seat: int) -> np.ndarray:
    """int8[N]: the same seat for each of N states."""
    return np.full(len(states), seat, np.int8)


def views_for(game: Game, states: np.ndarray, seat: int) -> np.ndarray:
    """Views [N] of one seat, without the garbage that padding bytes may hold."""
    out = np.zeros(len(states), game.state)
    game.lanes.view(states, seats_of(states, seat), out)
    return out


def observed(game: Game, states: np.ndarray, seat: int) -> np.ndarray:
    """Observations as the faces make them, from states."""
    out = np.zeros((len(states), game.encoding.size(int(states["players"][0]))), np.int8)
    game.lanes.observe(states, seats_of(states, seat), out.reshape(-1), np.zeros(1, game.state))
    return out


def batches(game: str, number: int, seed: int = 0) -> Iterator[tuple[Batch, random.Random]]:
    """Batches under random options, each with its own generator."""
    for place in range(number):
        rng = random.Random(f"{game} {seed} {place}")
        batch = make_batch(game, VIEW_LANES, seed=place, **random_options(GAMES[game], rng))
        yield batch, rng
