"""The PettingZoo AEC face of every game: a batch of one lane, one agent to move at a time."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from pettingzoo import AECEnv
from pettingzoo.utils import OrderEnforcingWrapper

from .batch import Batch, Terms
from .errors import IllegalCardError, OptionError, unknown
from .game import Game
from .picture import MODES, SIZE, Screen
from .record import make_record
from .render import table_text

RENDER_MODES = ("ansi", *MODES)


class RawEnv(AECEnv):
    """One game at a table; `herzeln_v0` and `viersche_v0` say what it holds.

    The observation is `{"observation": int8[D], "action_mask": int8[A]}`; the mask is empty for an agent that
    is not to move. What a seat can't know is in no observation. `state()` is the full state, int8[F].
    """

    metadata: dict[str, Any] = {
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        game: Game,
        options: Any,
        terms: Terms,
        render_mode: str | None = None,
        render_view: int | None = None,
        render_size: tuple[int, int] = SIZE,
    ) -> None:
        super().__init__()
        if render_mode is not None and render_mode not in RENDER_MODES:
            raise OptionError(unknown("render_mode", render_mode, RENDER_MODES))
        if render_view is not None and (isinstance(render_view, bool) or render_view not in range(options.players)):
            raise OptionError(f"render_view={render_view!r} is not valid. Valid: None, 0 to {options.players - 1}")
        self.render_view = render_view
        fps = self.metadata["render_fps"]
        self.screen = Screen(game, str(render_mode), render_size, fps) if render_mode in MODES else None
        self.game, self.options, self.terms, self.render_mode = game, options, terms, render_mode
        self.metadata = {**type(self).metadata, "name": f"{game.name}_v0"}
        self.possible_agents = [f"player_{seat}" for seat in range(options.players)]
        self.agents: list[str] = []
        encoding, players, cards = game.encoding, options.players, game.deck.size
        highest = encoding.highest(players)
        size = encoding.size(players)
        self.state_space = spaces.Box(np.zeros_like(highest), highest, dtype=np.int8)
        self.action_spaces = {agent: spaces.Discrete(cards) for agent in self.possible_agents}
        self.observation_spaces = {
            agent: spaces.Dict(
                {
                    "observation": spaces.Box(np.zeros(size, np.int8), highest[:size], dtype=np.int8),
                    "action_mask": spaces.Box(0, 1, (cards,), np.int8),
                }
            )
            for agent in self.possible_agents
        }
        self._seats = {agent: np.array([seat], np.int8) for seat, agent in enumerate(self.possible_agents)}
        self._card_played = np.empty(1, np.int64)
        self._batch: Batch | None = None

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Discrete(A): a card by its number."""
        return self.action_spaces[agent]

    @property
    def batch(self) -> Batch:
        """The one-lane batch underneath.

        Raises:
            RuntimeError: before the first reset.
        """
        if self._batch is None:
            raise RuntimeError("reset() must be called before the environment is used")
        return self._batch

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Deal anew.

        Args:
            seed: Starts the sequence of deals of this seed; without one the next deal of the sequence follows
                (at the very first reset that of a random seed).
            options: The first deal given by hand: `hands`, `dealer`, `scores`; Herzeln `direction`, `kitty`;
                Viersche `turn_up`, `trump`.

        Raises:
            DealError: the deal can't be; the environment is left as it was.
        """
        if self._batch is None or options:
            trial = self._fresh(seed)  # the running batch is untouched until all is checked
            if options:
                trial.place(0, options)
            self._batch = trial
        else:
            self._batch.reset(seed=seed)
        self._start = self._batch.states.copy()
        self._actions: list[int] = []
        self.agents = list(self.possible_agents)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.illegal_actions = dict.fromkeys(self.agents, 0)
        self._rewarded = False
        self.agent_selection = self.possible_agents[self._batch.seat[0]]

    def _fresh(self, seed: int | None) -> Batch:
        """A batch at the start of an episode."""
        deal = 0
        if seed is None and self._batch is not None:
            seed, deal = self._batch.seed, int(self._batch.states["lane_deal"][0]) + 1
        elif seed is None:
            seed = secrets.randbits(48)
        lane, deals = np.zeros(1, np.uint64), np.full(1, deal, np.int64)
        return Batch(self.game, self.options, self.terms, seed, lane, deals, "disabled")

    def observe(self, agent: str) -> dict[str, np.ndarray]:
        """What the agent sees now; new arrays."""
        batch, seat = self.batch, self._seats[agent]
        observation = batch.observe(seat)[0]
        mask = batch.action_mask[0].copy() if seat[0] == batch.seat[0] else np.zeros(batch.actions, np.int8)
        return {"observation": observation, "action_mask": mask}

    def state(self) -> np.ndarray:
        """int8[F]: the full state relative to the agent to move; its first D entries are that agent's observation."""
        return self.batch.state[0]

    def view(self, agent: str) -> np.ndarray:
        """Structured array [1]: what the agent may know, as agents take it (`agent.act(view, keys)`)."""
        return self.batch.view(self._seats[agent])

    def keys(self, agent_number: int = 0) -> np.ndarray:
        """uint64[1]: the key of the draws of the agent to move."""
        return self.batch.keys(agent_number)

    def step(self, action: Any) -> None:
        """Pass or play a card for `agent_selection` (None for an agent whose game is over).

        Raises:
            TypeError: the action is no integer.
            ValueError: it is no card of the deck.
            IllegalCardError: it is illegal now and `illegal="raise"`; nothing has changed.
        """
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        batch = self.batch
        card = self._card(action)
        if self._rewarded:
            self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards[agent] = 0.0
        self._card_played[0] = card
        step = batch.advance(self._card_played)
        if not step.illegal[0] or self.terms.illegal == "random":
            self._actions.append(int(batch.played_card[0]))
        rewards = step.reward[0].tolist()
        self._rewarded = any(rewards)
        if self._rewarded:
            for other, reward in zip(self.agents, rewards, strict=True):
                self.rewards[other] = reward
                self._cumulative_rewards[other] += reward
        if step.illegal[0]:
            self.illegal_actions[agent] += 1
            self.infos[agent] = {"illegal_actions": self.illegal_actions[agent]}
        if step.done[0]:
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.possible_agents[batch.seat[0]]
        if self.render_mode == "human":
            self.render()

    def _card(self, action: Any) -> int:
        """The card of an action, refused before anything changes."""
        batch = self.batch
        if isinstance(action, bool) or not isinstance(action, int):
            number = np.asarray(action)
            if number.ndim or number.dtype.kind not in "iu":
                raise TypeError(f"action {action!r} is no whole number. Valid: a card, 0 to {batch.actions - 1}")
        card = int(action)
        if not 0 <= card < batch.actions:
            raise ValueError(f"action {card} is no card. Valid: 0 to {batch.actions - 1}")
        if self.terms.illegal == "raise" and not int(batch.legal[0]) >> card & 1:
            valid = ", ".join(self.game.deck.names(int(batch.legal[0])))
            raise IllegalCardError(f"{self.game.deck.name(card)} (action {card}) is illegal now. Legal: {valid}")
        return card

    def final_score(self) -> np.ndarray:
        """f32[P]: the score of an episode that is over, as the batch's `final_score`.

        After an illegal card ended it: the score as it stood, which says nothing of who was to blame.
        """
        return self.batch.final_score[0].copy()

    def record(self) -> dict[str, Any]:
        """The episode so far: config, deals and actions, to be written as one line of JSON."""
        return make_record(self.game, self.options, self._start, self._actions)

    def render(self) -> str | np.ndarray | None:
        """The table, all hands open or as seat `render_view` sees it.

        Returns:
            A text ("ansi"), an array uint8[height, width, 3] ("rgb_array"), or nothing ("human": shown in a window).
        """
        if self.render_mode is None:
            gymnasium.logger.warn(f"render() needs a render_mode: {', '.join(RENDER_MODES)}")
            return None
        view = self.render_view
        shown = self.batch.states[0] if view is None else self.view(self.possible_agents[view])[0]
        return table_text(self.game, shown) if self.screen is None else self.screen.show(shown)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self.screen is not None:
            self.screen.close()

    def __str__(self) -> str:
        return self.metadata["name"]


class OrderEnforcing(OrderEnforcingWrapper):
    """PettingZoo's wrapper, whose `last` would look eight attributes up through it at every decision."""

    def last(self, observe: bool = True) -> Any:
        """Observation, reward, terminated, truncated and info of the agent to move."""
        return self.env.last(observe) if self._has_reset else super().last(observe)

    def __str__(self) -> str:
        return str(self.env)


def make_env(
    game: Game,
    preset: str | None = None,
    *,
    raw: bool = False,
    reward: str = "points",
    illegal: str = "terminate",
    illegal_reward: float | None = None,
    render_mode: str | None = None,
    render_view: int | None = None,
    render_size: tuple[int, int] = SIZE,
    **options: Any,
) -> Any:
    """The environment of a game; `herzeln_v0.env` and its like are this with their game.

    Args:
        game: The game.
        preset: Set of default options; the game's first one by default.
        raw: Without PettingZoo's wrapper that refuses calls in the wrong order.
        reward: "points", "payoff" or "result".
        illegal: On an illegal card: "terminate" (the game ends, the mover gets `illegal_reward`, the others 0),
            "raise", or "random" (a legal card is played instead and counted in `infos`).
        illegal_reward: By default worse than what any legal line can bring.
        render_mode: "ansi" (text), "rgb_array", "human" (a window) or None; the last two need the extra `render`.
        render_view: The seat whose view is shown, the other hands face down; None: all hands open.
        render_size: Width and height of pictures in pixels.
        options: The rule options, `players` and `episode` among them; see the game's `Options`.

    Raises:
        OptionError: what is wrong and what is valid.
    """
    terms = Terms(reward, illegal, illegal_reward)
    env = RawEnv(game, game.options(preset, **options), terms, render_mode, render_view, render_size)
    return env if raw else OrderEnforcing(env)


def layout_of(game: Game, preset: str | None = None, **options: Any) -> dict[str, slice]:
    """The named slices of a game's observation, then (from D on) those that only `state()` has.

    Examples:
        >>> from stich.envs import HERZELN
        >>> layout_of(HERZELN)["hand"]
        slice(0, 52, None)
    """
    return game.encoding.layout(game.options(preset, **options).players)
