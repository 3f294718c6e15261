"""The Gymnasium face: one seat is the learner's, agents sit at the others.

All rewards between two turns of the learner belong to its last card.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from ..envs.batch import Batch, Terms
from ..envs.cards import NO_CARD
from ..envs.errors import DealError, OptionError, unknown
from ..envs.game import get_game
from ..envs.picture import MODES, SIZE, Screen
from ..envs.render import table_text
from .base import Agent, checked_act
from .loader import load_agent

SEAT_DRAW = 255  # number of the draw of the learner's seat in the agents' keys; the learner is 0, the others 1


class Seats:
    """N lanes in which one seat each is the learner's and the other seats play by themselves.

    Args:
        game: "herzeln" or "viersche".
        lanes: N.
        opponents: An agent, a name for `load_agent`, or one of these for each other seat in the order of play
            from the learner's left.
        seat: The learner's seat, or "random": drawn anew for every episode.
        terms: How the environment pays.
        preset, options: The rules.
    """

    def __init__(
        self,
        game: str,
        lanes: int,
        opponents: Any,
        seat: int | str,
        terms: Terms,
        preset: str | None = None,
        **options: Any,
    ) -> None:
        self.game = get_game(game)
        self.options = self.game.options(preset, **options)
        self.players, self.lanes, self.terms, self.seat = self.options.players, lanes, terms, seat
        if seat != "random" and (isinstance(seat, bool) or seat not in range(self.players)):
            raise OptionError(f"seat={seat!r} is not valid. Valid: 'random', 0 to {self.players - 1}")
        self.opponents = self._agents(opponents)
        self.batch: Batch | None = None
        self.learner = np.zeros(lanes, np.int64)
        self.illegal_actions = np.zeros(lanes, np.int64)  # of the learner, in the present episode
        self.numbers = np.arange(lanes, dtype=np.uint64)

    def _agents(self, opponents: Any) -> list[Agent]:
        """One agent for each seat after the learner's."""
        given = list(opponents) if isinstance(opponents, Sequence) and not isinstance(opponents, str) else None
        if given is None:
            given = [opponents] * (self.players - 1)
        if len(given) != self.players - 1:
            raise OptionError(f"{len(given)} opponents given. Valid: one for all, or {self.players - 1}")
        found = [load_agent(agent, game=self.game.name) if isinstance(agent, str) else agent for agent in given]
        for agent in found:
            if not hasattr(agent, "act"):
                raise OptionError(f"opponent {agent!r} is no agent. Valid: a name, or an object with act()")
        return found

    def start(self, seed: int | None, given: Mapping[str, Any] | None = None) -> None:
        """Begin the episodes of a seed in every lane, or (None) the next episode in every lane.

        Raises:
            DealError: the deal `given` for lane 0 can't be; everything is left as it was.
        """
        deals = np.zeros(self.lanes, np.int64)
        if seed is None:
            assert self.batch is not None
            seed, deals = self.batch.seed, self.batch.states["lane_deal"] + 1
        batch = Batch(self.game, self.options, self.terms, seed, self.numbers, deals, "disabled")
        if given:
            batch.place(0, given)
        self.batch = batch
        self.draw_seats(np.ones(self.lanes, bool))

    def draw_seats(self, which: np.ndarray) -> None:
        """Where the learner sits in the episodes that begin in these lanes; then play up to its turn."""
        assert self.batch is not None
        self.illegal_actions[which] = 0
        if self.seat == "random":
            drawn = self.batch.keys(SEAT_DRAW) % np.uint64(self.players)
            self.learner[which] = drawn[which].astype(np.int64)
        else:
            self.learner[which] = int(self.seat)
        self.run_opponents(np.zeros(self.lanes, np.float32))

    def run_opponents(self, reward: np.ndarray) -> None:
        """Let the others play until each running lane waits for the learner; its rewards are added up."""
        batch = self.batch
        assert batch is not None
        while (waiting := batch.running & (batch.seat != self.learner)).any():
            cards = np.full(self.lanes, NO_CARD, np.int64)
            views, keys = batch.views, batch.keys(1)
            offset = (batch.seat - self.learner) % self.players
            for number, agent in enumerate(self.opponents):
                own = np.flatnonzero(waiting & (offset == number + 1))
                if len(own):
                    cards[own] = checked_act(agent, self.game, views[own], keys[own], batch.legal[own])
            reward += batch.advance(cards).reward[np.arange(self.lanes), self.learner]

    def step(self, actions: Any) -> np.ndarray:
        """The learner's cards in all lanes, then the others'; returns its rewards f32[N]."""
        batch = self.batch
        assert batch is not None
        step = batch.step(actions)
        self.illegal_actions += step.illegal
        reward = step.reward[np.arange(self.lanes), self.learner].copy()
        self.run_opponents(reward)
        return reward

    def observation(self) -> np.ndarray:
        """int8[N, D], new: what the learner sees."""
        assert self.batch is not None
        return self.batch.observe(self.learner.astype(np.int8))

    def spaces(self) -> tuple[spaces.Box, spaces.Discrete]:
        """Observation and action space of one lane."""
        size = self.game.encoding.size(self.players)
        high = self.game.encoding.highest(self.players)[:size]
        return spaces.Box(np.zeros(size, np.int8), high, dtype=np.int8), spaces.Discrete(self.game.deck.size)


class SeatEnv(gymnasium.Env[np.ndarray, np.int64]):
    """`gymnasium.make("stich/Herzeln-v0", opponents="rules")`: one seat of one game.

    The observation is int8[D]; the legal cards are `action_masks()` and `info["action_mask"]`, int8[A].
    An illegal card ends the episode (`illegal="terminate"`) unless another option is given.
    """

    metadata: dict[str, Any] = {"render_modes": ["ansi", *MODES], "render_fps": 2}

    def __init__(
        self,
        game: str,
        opponents: Any = "rules",
        seat: int | str = "random",
        *,
        preset: str | None = None,
        reward: str = "payoff",
        illegal: str = "terminate",
        illegal_reward: float | None = None,
        render_mode: str | None = None,
        render_size: tuple[int, int] = SIZE,
        **options: Any,
    ) -> None:
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise OptionError(unknown("render_mode", render_mode, self.metadata["render_modes"]))
        self.render_mode = render_mode
        self._seats = Seats(game, 1, opponents, seat, Terms(reward, illegal, illegal_reward), preset, **options)
        self.observation_space, self.action_space = self._seats.spaces()
        drawn, fps = render_mode in MODES, self.metadata["render_fps"]
        self._screen = Screen(self._seats.game, str(render_mode), render_size, fps) if drawn else None

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """The next episode, or the first one of a seed; `options` as for the AEC face's reset.

        Raises:
            DealError: the deal in `options` can't be; the environment is left as it was.
        """
        generator = self._np_random, self._np_random_seed
        super().reset(seed=seed)
        first = seed is not None or self._seats.batch is None
        try:
            self._seats.start(int(self.np_random.integers(1 << 48)) if first else None, options)
        except DealError:
            self._np_random, self._np_random_seed = generator
            raise
        self._show()
        return self._seats.observation()[0], self._info()

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play a card; the others follow up to the next own turn or the end."""
        assert self._seats.batch is not None, "reset() must be called before step()"
        reward = self._seats.step(np.asarray([action]))
        done = not self._seats.batch.running[0]
        self._show()
        return self._seats.observation()[0], float(reward[0]), bool(done), False, self._info()

    def action_masks(self) -> np.ndarray:
        """bool[A]: the legal cards, by the name that sb3-contrib's MaskablePPO looks for."""
        assert self._seats.batch is not None, "reset() must be called before action_masks()"
        return self._seats.batch.action_mask[0].astype(bool)

    def _info(self) -> dict[str, Any]:
        batch = self._seats.batch
        assert batch is not None
        info = {"action_mask": batch.action_mask[0].copy(), "seat": int(self._seats.learner[0])}
        info["illegal_actions"] = int(self._seats.illegal_actions[0])
        return info if batch.running[0] else info | {"final_score": batch.final_score[0].copy()}

    def _show(self) -> None:
        """In "human" the window follows by itself."""
        if self.render_mode == "human":
            self.render()

    def render(self) -> str | np.ndarray | None:  # type: ignore[override]
        """The table as the learner sees it: a text, an array uint8[height, width, 3], or (human) a window."""
        batch = self._seats.batch
        if self.render_mode is None or batch is None:
            return None
        view = batch.view(self._seats.learner.astype(np.int8))[0]
        return table_text(self._seats.game, view) if self._screen is None else self._screen.show(view)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._screen is not None:
            self._screen.close()


class SeatVectorEnv(VectorEnv):
    """`gymnasium.make_vec("stich/Viersche-v0", num_envs=64)`: one seat in each of N lanes of the batch.

    Autoreset mode SAME_STEP: where an episode ends, the observation returned is the next episode's first and
    `info` has `final_obs` and `final_info`. `info["action_mask"]` int8[N, A] comes with every step.
    """

    metadata: dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.SAME_STEP}

    def __init__(
        self,
        num_envs: int = 1,
        game: str = "herzeln",
        opponents: Any = "rules",
        seat: int | str = "random",
        *,
        preset: str | None = None,
        reward: str = "payoff",
        illegal: str = "terminate",
        illegal_reward: float | None = None,
        render_mode: None = None,
        **options: Any,
    ) -> None:
        super().__init__()
        if isinstance(num_envs, bool) or not isinstance(num_envs, int | np.integer) or num_envs < 1:
            raise OptionError(f"num_envs={num_envs!r} is not valid. Valid: a positive whole number")
        self.num_envs, self.render_mode = num_envs, render_mode
        self._seats = Seats(game, num_envs, opponents, seat, Terms(reward, illegal, illegal_reward), preset, **options)
        self.single_observation_space, self.single_action_space = self._seats.spaces()
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """New episodes in all lanes; with a seed, lane i always gets the same ones.

        Raises:
            OptionError: any `options`; deals given by hand are for single environments and `make_batch`.
        """
        if options:
            raise OptionError(f"reset options {dict(options)!r} are for one lane. Valid: make_batch(deals=...)")
        super().reset(seed=seed)
        first = seed is not None or self._seats.batch is None
        self._seats.start(int(self.np_random.integers(1 << 48)) if first else None)
        return self._seats.observation(), self._info()

    def step(self, actions: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Play a card in every lane."""
        seats, batch = self._seats, self._seats.batch
        assert batch is not None, "reset() must be called before step()"
        reward = seats.step(np.asarray(actions))
        done = ~batch.running
        observation, final = seats.observation(), {}
        if done.any():
            final = {
                "final_obs": _per_lane(observation, done),
                "_final_obs": done,
                "final_info": {"final_score": batch.final_score.copy(), "_final_score": done},
                "_final_info": done,
            }
            batch.reset(done)
            seats.draw_seats(done)
            observation = seats.observation()
        return observation, reward, done, np.zeros(self.num_envs, bool), {**self._info(), **final}

    def _info(self) -> dict[str, Any]:
        assert self._seats.batch is not None
        every = np.ones(self.num_envs, bool)
        mask, seat = self._seats.batch.action_mask.copy(), self._seats.learner.copy()
        illegal = self._seats.illegal_actions.copy()
        info = {"action_mask": mask, "seat": seat, "illegal_actions": illegal}
        return info | {f"_{name}": every for name in info}

    def action_masks(self) -> np.ndarray:
        """bool[N, A]: the legal cards of every lane."""
        assert self._seats.batch is not None, "reset() must be called before action_masks()"
        return self._seats.batch.action_mask.astype(bool)


def _per_lane(observation: np.ndarray, done: np.ndarray) -> np.ndarray:
    """An object array with the observation of each lane that is done, None elsewhere."""
    out = np.full(len(done), None, dtype=object)
    for lane in np.flatnonzero(done):
        out[lane] = observation[lane].copy()
    return out
