"""A game as one small object, and the registry: the faces, agents, matches and solvers see only this."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .cards import Deck
from .encoding import Encoding
from .errors import OptionError, unknown
from .lanes import Lanes, bind_lanes
from .options import with_preset

REWARDS = ("points", "payoff", "result")


@dataclass(frozen=True, eq=False)
class Game:
    """Everything that the rest of the package knows of a game.

    Attributes:
        name: `herzeln`, `viersche`.
        deck: Its cards; an action is a card's number.
        options_class: Frozen dataclass of the rule options, `players` and `episode` among them.
        presets: Names of sets of defaults; the first is the default preset.
        state: dtype of the state and of views.
        encoding: How views become observations.
        rules: Module of the rules.
        lanes: Compiled loops over lanes.
        place: `place(game, state, options, given)` puts a deal given by hand into a state.
        deal_fields: Fields of the state that say how a deal begins, beside the hands.
        match_fields: Fields of the state that say how the match stands.
        illegal_reward: `illegal_reward(options, kind)`: worse than what any legal line can bring.
        rule_bits: `rule_bits(options)`: the options as bits for the encoding.
        higher_is_better: Whether the final score of an episode is better the higher it is.
        score_unit: What the final score of an episode counts.
        sides: Number of sides; seats whose numbers leave one remainder by it are partners. None: each for itself.
    """

    name: str
    deck: Deck
    options_class: type
    presets: Mapping[str, Mapping[str, Any]]
    state: np.dtype
    encoding: Encoding
    rules: Any
    lanes: Lanes
    place: Callable[..., None]
    deal_fields: tuple[str, ...]
    match_fields: tuple[str, ...]
    illegal_reward: Callable[[Any, str], float]
    rule_bits: Callable[[Any], int]
    higher_is_better: Callable[[Any], bool]
    score_unit: Callable[[Any], str] = lambda options: "points"
    sides: int | None = None

    def options(self, preset: str | None = None, **given: Any) -> Any:
        """The rule options: a preset's defaults with the given ones on top.

        Raises:
            OptionError: unknown preset or option, a value it does not take, or a contradiction.
        """
        name = next(iter(self.presets)) if preset is None else preset
        return with_preset(self.options_class, self.presets, name, given)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied and pickled by name: a game is there once in a process, and its kernels can't be pickled."""
        return get_game, (self.name,)

    @property
    def events(self) -> tuple[str, ...]:
        """What is counted by seat in matches, in the order of `lanes.watch_lanes`."""
        return self.rules.EVENTS

    def new_states(self, options: Any, seeds: Any, lanes: Any, lane_deals: Any) -> np.ndarray:
        """States [N] before their first deal, keyed by seed, lane and number of the lane's deal, each [N]."""
        states = np.zeros(len(lanes), self.state)
        self.rules.set_options(states, options)
        states["rule_bits"] = self.rule_bits(options)
        states["seed"], states["lane"], states["lane_deal"] = seeds, lanes, lane_deals
        return states

    def encode(self, views: np.ndarray) -> np.ndarray:
        """Observations int8[N, D] of views [N], which have one number of players."""
        size = self.encoding.size(int(views["players"][0]) if len(views) else 4)
        out = np.empty((len(views), size), np.int8)
        self.lanes.encode(views, out.reshape(-1))
        return out

    def legal(self, views: np.ndarray) -> np.ndarray:
        """Legal cards int64[N] of views [N] as bit sets; empty where the observer is not to move."""
        out = np.empty(len(views), np.int64)
        self.lanes.legal_sets(views, out)
        return out

    def masks(self, views: np.ndarray) -> np.ndarray:
        """Legal-action masks int8[N, A] of views [N]."""
        return (self.legal(views)[:, None] >> np.arange(self.deck.size) & 1).astype(np.int8)


GAMES: dict[str, Game] = {}


def register(name: str, deck: Deck, rules: Any, encoding_module: Any, **parts: Any) -> Game:
    """Make a game known: its rules module (kernels, STATE, Options, PRESETS) and its encoding module."""
    encoding = encoding_module.ENCODING
    GAMES[name] = Game(
        name=name,
        deck=deck,
        options_class=rules.Options,
        presets=rules.PRESETS,
        state=rules.STATE,
        encoding=encoding,
        rules=rules,
        lanes=bind_lanes(name, rules, encoding, deck.size),
        rule_bits=encoding_module.rule_bits,
        **parts,
    )
    return GAMES[name]


def get_game(name: str | Game) -> Game:
    """The game of that name.

    Raises:
        OptionError: there is none.
    """
    if isinstance(name, Game):
        return name
    if name not in list(GAMES):
        raise OptionError(unknown("game", name, GAMES))
    return GAMES[name]


def with_episode(options: Any, episode: str) -> Any:
    """The same rules with another episode length."""
    return replace(options, episode=episode)
