"""Many games at once: N lanes, each at its own seat and its own point of the game.

Letters: N lanes, P seats, A cards of the deck, D observation entries, F entries of the full state.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cards import NO_CARD
from .deals import entries
from .errors import DealError, IllegalCardError, OptionError, unknown
from .game import REWARDS, Game, get_game
from .lanes import BLOCK, FINE, FINISHED, ILLEGAL, NO_SUCH_CARD, RAISE, RANDOM, TERMINATE
from .rng import agent_keys
from .state import EPISODE_OVER

ILLEGAL_MODES = {"raise": RAISE, "terminate": TERMINATE, "random": RANDOM}
AUTORESETS = ("same_step", "disabled")
LANE_DEALS = 1 << 40  # more deals than any lane ever plays; keeps the deals of two lanes apart in agents' keys


@dataclass(frozen=True)
class Step:
    """What one step of a batch brings. The arrays are the batch's own and are overwritten by its next step.

    Attributes:
        reward: f32[N, P], by absolute seat.
        done: bool[N], the lane's episode has ended with this card.
        illegal: bool[N], the action was no legal card (never where `illegal="raise"`).
        final_observation: int8[N, D], where done: what the seat that moved last sees at the end.
        final_score: f32[N, P], where done: the episode's score, see the game's `final_score`.
    """

    reward: np.ndarray
    done: np.ndarray
    illegal: np.ndarray
    final_observation: np.ndarray
    final_score: np.ndarray


@dataclass(frozen=True)
class Terms:
    """How a face pays and what it does on an illegal card; checked once for all faces."""

    reward: str = "points"
    illegal: str = "raise"
    illegal_reward: float | None = None

    def __post_init__(self) -> None:
        if self.reward not in REWARDS:
            raise OptionError(unknown("reward", self.reward, REWARDS))
        if self.illegal not in list(ILLEGAL_MODES):
            raise OptionError(unknown("illegal", self.illegal, ILLEGAL_MODES))
        price = 0 if self.illegal_reward is None else self.illegal_reward
        if isinstance(price, bool) or not isinstance(price, int | float) or not math.isfinite(price):
            raise OptionError(f"illegal_reward={price!r} is not valid. Valid: a number, or None for the default")

    def price(self, game: Game, options: Any) -> float:
        """The reward of an illegal card."""
        return game.illegal_reward(options, self.reward) if self.illegal_reward is None else float(self.illegal_reward)


class Batch:
    """N lanes of one game under one set of options; see `make_batch`."""

    def __init__(
        self,
        game: Game,
        options: Any,
        terms: Terms,
        seed: int,
        lane_numbers: np.ndarray,
        lane_deals: np.ndarray,
        autoreset: str = "same_step",
    ) -> None:
        if autoreset not in AUTORESETS:
            raise OptionError(unknown("autoreset", autoreset, AUTORESETS))
        self.game, self.options, self.terms, self.autoreset, self.seed = game, options, terms, autoreset, _seed(seed)
        n, players = len(lane_numbers), options.players
        self.lanes, self.players, self.actions = n, players, game.deck.size
        self.states = game.new_states(options, np.uint64(seed), lane_numbers, lane_deals)
        self.seat = np.empty(n, np.int8)
        self.action_mask = np.empty((n, self.actions), np.int8)
        self.legal = np.empty(n, np.int64)
        self.played_card = np.full(n, NO_CARD, np.int64)
        self._scratch = np.zeros(BLOCK, game.state)
        self._observation = np.empty((n, game.encoding.size(players)), np.int8)
        self._observed = self._read = False
        self._step = Step(
            np.zeros((n, players), np.float32),
            np.zeros(n, bool),
            np.zeros(n, bool),
            np.zeros((n, game.encoding.size(players)), np.int8),
            np.zeros((n, players), np.float32),
        )
        self._flatten()
        kind, on_illegal = REWARDS.index(terms.reward), ILLEGAL_MODES[terms.illegal]
        self._terms = (kind, on_illegal, terms.price(game, options), autoreset == "same_step")
        game.lanes.open_lanes(self.states, np.ones(n, bool))
        self.look()

    def _flatten(self) -> None:
        """The arrays of bytes as the kernels take them."""
        self._flat_mask, self._flat_observation = self.action_mask.reshape(-1), self._observation.reshape(-1)
        self._flat_final_observation = self._step.final_observation.reshape(-1)

    def __getstate__(self) -> dict[str, Any]:
        """For copies and pickles: the flat arrays are the others seen differently, not arrays of their own."""
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_flat_")}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        self.__dict__.update(saved)
        self._flatten()

    def look(self) -> None:
        """Bring seat, legal cards and mask up to date with `states`, after they were written by hand."""
        self.game.lanes.look(self.states, self.seat, self.legal, self._flat_mask)
        self._observed = False

    @property
    def observation(self) -> np.ndarray:
        """int8[N, D]: what the seat to move sees in each lane. Overwritten after the next step: copy to keep."""
        if not self._observed:
            self.game.lanes.observe(self.states, self.seat, self._flat_observation, self._scratch)
            self._observed = True
        self._read = True
        return self._observation

    def observe(self, seats: np.ndarray) -> np.ndarray:
        """int8[N, D], a new array: what the seat given for each lane (int8[N]) sees, to move or not."""
        out = np.empty(self._observation.shape, np.int8)
        self.game.lanes.observe(self.states, seats, out.reshape(-1), self._scratch)
        return out

    def view(self, seats: np.ndarray) -> np.ndarray:
        """Structured array [N], new: what the seat given for each lane (int8[N]) may know."""
        out = np.empty(self.lanes, self.game.state)
        self.game.lanes.view(self.states, seats, out)
        return out

    @property
    def state(self) -> np.ndarray:
        """int8[N, F], a new array: the full state, relative to the seat to move; its first D are the observation."""
        out = np.empty((self.lanes, self.game.encoding.state_size(self.players)), np.int8)
        self.game.lanes.observe_state(self.states, self.seat, out.reshape(-1), self._scratch)
        return out

    @property
    def views(self) -> np.ndarray:
        """Structured array [N], new: what the seat to move may know in each lane."""
        return self.view(self.seat)

    @property
    def final_score(self) -> np.ndarray:
        """f32[N, P]: the score of the last episode that each lane has ended; 0 before."""
        return self._step.final_score

    @property
    def running(self) -> np.ndarray:
        """bool[N]: lanes whose episode goes on."""
        return self.states["phase"] != EPISODE_OVER

    def keys(self, agents: Any = 0) -> np.ndarray:
        """uint64[N]: keys of the agents' own draws, from (seed, deal, seat to move, agent number or numbers [N])."""
        deals = self.states["lane"] * np.uint64(LANE_DEALS) + self.states["lane_deal"].astype(np.uint64)
        return agent_keys(self.seed, deals, self.seat, agents)

    def step(self, actions: Any) -> Step:
        """Play one card in every lane.

        With `autoreset="same_step"` a lane that ends starts its next episode at once: mask, seat and
        observation are the new episode's, `final_observation` and `final_score` the old one's. With
        "disabled" a done lane has an empty mask, and the only action it takes is -1 (none).

        Args:
            actions: Cards, any integer dtype, [N].

        Raises:
            TypeError: actions that are no integers.
            ValueError: wrong shape, a card outside the deck, or a card for a lane that is done.
            IllegalCardError: an illegal card, where `illegal="raise"`. All lanes are checked before any changes.
        """
        return self.advance(self._checked(actions))

    def advance(self, cards: np.ndarray) -> Step:
        """`step` without its checks, for callers that know: int64[N], and -1 leaves any lane as it is."""
        step = self._step
        self._observed = self._read  # who has read the observation before will read it again
        self._read = False
        self.game.lanes.advance(
            self.states,
            self.legal,
            cards,
            *self._terms,
            step.reward,
            step.done,
            step.illegal,
            self.played_card,
            step.final_score,
            self._flat_final_observation,
            self._scratch,
            self.seat,
            self._flat_mask,
            self._observed,
            self._flat_observation,
        )
        return step

    def _checked(self, actions: Any) -> np.ndarray:
        cards = np.asarray(actions)
        if cards.dtype.kind not in "iu":
            raise TypeError(f"actions have dtype {cards.dtype}. Valid: any integer dtype")
        if cards.shape != (self.lanes,):
            raise ValueError(f"actions have shape {cards.shape}. Valid: ({self.lanes},), one card a lane")
        if cards.dtype == np.uint64:
            cards = np.minimum(cards, np.uint64(1 << 32))
        cards = np.ascontiguousarray(cards, np.int64)
        lane, why = self.game.lanes.fault(self.legal, cards)
        if why == FINE or (why == ILLEGAL and self.terms.illegal != "raise" and not self._other_faults(cards)):
            return cards
        raise _fault_error(self, int(lane), int(why), int(cards[lane]))

    def _other_faults(self, cards: np.ndarray) -> bool:
        """Whether a lane behind the first illegal card has an action that always raises."""
        wrong = np.where(self.legal == 0, cards != NO_CARD, (cards < 0) | (cards >= self.actions))
        if not wrong.any():
            return False
        lane = int(np.flatnonzero(wrong)[0])
        raise _fault_error(self, lane, FINISHED if self.legal[lane] == 0 else NO_SUCH_CARD, int(cards[lane]))

    def reset(self, lanes: Any = None, seed: int | None = None) -> None:
        """Start a new episode in the given lanes (numbers or bool[N]; all by default), each with its next deal.

        With a seed, all lanes start over from their first deal under that seed.

        Raises:
            ValueError: a lane that is not there, a seed that is none, or a seed for some of the lanes only.
        """
        which = np.ones(self.lanes, bool) if lanes is None else self._picked(lanes)
        if seed is None:
            self.states["lane_deal"][which] += 1
        else:
            if lanes is not None:
                raise ValueError("a seed starts all lanes over: give reset() either lanes or a seed")
            self.seed = _seed(seed)
            self.states["seed"], self.states["lane_deal"] = np.uint64(seed), 0
        self.game.lanes.open_lanes(self.states, which)
        self.look()

    def _picked(self, lanes: Any) -> np.ndarray:
        """bool[N] from bool[N] or from numbers of lanes."""
        picked, which = np.asarray(lanes), np.zeros(self.lanes, bool)
        if picked.dtype == bool:
            valid = picked.shape == which.shape
        else:
            whole = picked.dtype.kind in "iu" or not picked.size
            valid = whole and bool(((picked >= 0) & (picked < self.lanes)).all())
        if not valid:
            valid_lanes = f"numbers from 0 to {self.lanes - 1}, or bool[{self.lanes}]"
            raise ValueError(f"lanes={lanes!r} is not valid. Valid: {valid_lanes}")
        which[picked if picked.size else []] = True
        return which

    def place(self, lane: int, given: Mapping[str, Any]) -> None:
        """Put a deal given by hand into a lane, at the start of an episode.

        Raises:
            DealError: the deal can't be; the lane is left as it was.
        """
        trial = self.states[lane : lane + 1].copy()
        self.game.lanes.open_lanes(trial, np.ones(1, bool))
        self.game.place(self.game, trial, self.options, given)
        self.states[lane] = trial[0]
        self.look()


def _seed(seed: Any) -> int:
    """A seed that is one."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 1 << 64:
        raise OptionError(f"seed={seed!r} is not valid. Valid: a whole number from 0 to 2**64 - 1")
    return int(seed)


def _fault_error(batch: Batch, lane: int, why: int, card: int) -> ValueError:
    deck = batch.game.deck
    if why == FINISHED:
        return ValueError(f"lane {lane} is done and takes no card, reset([{lane}]) starts it anew ({card} given)")
    if why == NO_SUCH_CARD:
        return ValueError(f"action {card} of lane {lane} is no card. Valid: 0 to {batch.actions - 1}")
    valid = ", ".join(deck.names(int(batch.legal[lane])))
    return IllegalCardError(f"{deck.name(card)} (action {card}) is illegal in lane {lane}. Legal: {valid}")


def make_batch(
    game: str,
    lanes: int = 1024,
    *,
    preset: str | None = None,
    seed: int = 0,
    reward: str = "points",
    illegal: str = "raise",
    illegal_reward: float | None = None,
    autoreset: str = "same_step",
    deals: Sequence[Mapping[str, Any]] | Mapping[str, Any] | None = None,
    **options: Any,
) -> Batch:
    """A batch of `lanes` independent games that are stepped together.

    Args:
        game: "herzeln" or "viersche".
        lanes: N.
        preset: Set of default options.
        seed: Lane i plays the same deals for any number of lanes; lane 0 plays what `env()` plays under this seed.
        reward: "points", "payoff" or "result".
        illegal: "raise" (all lanes are checked before any changes), "terminate" or "random".
        illegal_reward: What "terminate" pays the mover; by default worse than any legal line.
        autoreset: "same_step" or "disabled".
        deals: The first deal of each lane: N mappings as for `env.reset(options=...)`, or one mapping of
            arrays whose first axis is the lane (hands also as int64[N, P] bit sets).
        options: The rule options, `players` and `episode` among them.

    Raises:
        OptionError, DealError: what is wrong and what is valid.

    Examples:
        >>> batch = make_batch("viersche", lanes=3, episode="deal", seed=7)
        >>> batch.observation.shape, batch.action_mask.shape, batch.views.shape
        ((3, 600), (3, 36), (3,))
    """
    found = get_game(game)
    if isinstance(lanes, bool) or not isinstance(lanes, int | np.integer) or lanes < 1:
        raise OptionError(f"lanes={lanes!r} is not valid. Valid: a positive whole number")
    batch = Batch(
        found,
        found.options(preset, **options),
        Terms(reward, illegal, illegal_reward),
        seed,
        np.arange(lanes, dtype=np.uint64),
        np.zeros(lanes, np.int64),
        autoreset,
    )
    if deals is not None:
        for lane, given in enumerate(_by_lane(deals, lanes)):
            try:
                batch.place(lane, given)
            except DealError as error:
                raise DealError(f"deal of lane {lane}: {error}") from None
    return batch


def _by_lane(deals: Any, lanes: int) -> list[Mapping[str, Any]]:
    """One mapping a lane from N mappings or from a mapping of arrays."""
    if isinstance(deals, Mapping):
        sizes = {key: entries(value) for key, value in deals.items() if not isinstance(value, Mapping)}
        for key in deals.keys() - sizes.keys():
            sizes |= {f"{key}[{name!r}]": entries(value) for name, value in deals[key].items()}
        if any(size != lanes for size in sizes.values()):
            raise DealError(f"deals has {sizes} entries. Valid: one for each of the {lanes} lanes")
        return [{key: _entry(value, lane) for key, value in deals.items()} for lane in range(lanes)]
    if not isinstance(deals, Sequence) or len(deals) != lanes:
        raise DealError(f"{entries(deals)} deals given for {lanes} lanes")
    return list(deals)


def _entry(value: Any, lane: int) -> Any:
    return {name: numbers[lane] for name, numbers in value.items()} if isinstance(value, Mapping) else value[lane]
