"""What the study of the moon plays, at which size: its config, and the work cut into jobs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from ..agents import load_agent
from ..envs.errors import OptionError, unknown
from ..envs.game import get_game
from ..envs.options import build
from .config import overrides, plain
from .seeds import TEST, seed_of
from .tournament import Entrant

POLICIES = ("never", "free", "always")
SEEKERS = ("rules", "search", "ppo")
MAY_DIFFER = ("processes", "patience")  # keys that change nothing in the results
CENSUS = (("hearts", "random"), ("hearts", "duck"), ("hearts", "rules"), ("herzeln", "duck"), ("herzeln", "rules"))
"""Preset and agent of the tables of four whose moons are counted."""


@dataclass(frozen=True)
class Setting:
    """Opponents and rules under which the pairs are played.

    Attributes:
        name: What it is called in the results.
        opponents: The agent at the other seats: a name for `load_agent`, `ppo` for the config's network, or a
            mapping with the keys `agent` and `options`.
        seeker: Who is watched: `rules`, `search` (the config's searcher) or `ppo` (its networks).
        preset: Set of rule options.
        options: Rule options on top of the preset.
        deals: Deals looked at, one seat of each.
        promising: Play only those in which the hand is worth a second look, about one in four.
        chunk: Deals of one job.
    """

    name: str
    opponents: Any = "rules"
    seeker: str = "rules"
    preset: str = "hearts"
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    deals: int = 1000
    promising: bool = False
    chunk: int = 2000

    def __post_init__(self) -> None:
        if self.seeker not in SEEKERS:
            raise OptionError(unknown("seeker", self.seeker, SEEKERS))
        if self.deals < 1 or self.chunk < 1:
            wrong = f"deals={self.deals}, chunk={self.chunk}"
            raise OptionError(f"setting {self.name}: {wrong} are not valid. Valid: from 1")
        self.rules()

    def rules(self) -> Any:
        """The rule options; an episode is a single deal."""
        return get_game("herzeln").options(self.preset, **{**self.options, "episode": "deal"})


@dataclass(frozen=True)
class MoonConfig:
    """Everything that the results of the study depend on.

    Attributes:
        settings: The settings, as mappings of the attributes of `Setting`.
        main: The setting that the models are fitted in.
        moments: Settings whose attempts are followed trick by trick.
        moment_deals: Deals of each of them.
        searcher: The searcher among the seekers, a name for `load_agent` that takes an `aim`.
        ppo: A checkpoint of self-play; None: the shipped agent.
        ppo_moon: A checkpoint trained on the event that one takes all penalty cards; None: the shipped one.
        census_deals: Deals of each table of four equal agents.
        solver_deals: Random deals, all seats of each, asked for a moon that can be forced with open hands.
        strong_deals: The same for hands drawn strong, which count by how likely they are.
        solver_nodes: Cap on positions searched for one of them.
        hands: Deals looked at for the hands that are dealt again and again.
        redeals: Deals of each of those, an even number.
        games: Games to 100 of four `rules`, for the value of a score.
        playouts: Games played out for each score that is valued.
        chunk: Deals of one job, where the setting does not say.
        seed: Which test deals.
        bootstrap: Resamples of the intervals.
        processes: Processes; 0 for one a core.
        patience: Seconds in which an agent must answer for all games of a chunk.
    """

    settings: tuple[Any, ...] = ({"name": "rules"},)
    main: str = "rules"
    moments: tuple[str, ...] = ("rules",)
    moment_deals: int = 1000
    searcher: str = "moon:worlds=15"
    ppo: str | None = None
    ppo_moon: str | None = None
    census_deals: int = 2000
    solver_deals: int = 2000
    strong_deals: int = 500
    solver_nodes: int = 100_000
    hands: int = 200
    redeals: int = 40
    games: int = 200
    playouts: int = 200
    chunk: int = 1000
    seed: int = 0
    bootstrap: int = 1000
    processes: int = 0
    patience: float = 600.0

    def __post_init__(self) -> None:
        for name, low, high in (
            ("moment_deals", 1, 10**8),
            ("census_deals", 2, 10**8),
            ("solver_deals", 1, 10**9),
            ("strong_deals", 10, 10**8),
            ("solver_nodes", 1, 10**9),
            ("hands", 10, 10**7),
            ("redeals", 4, 10**5),
            ("games", 10, 10**7),
            ("playouts", 10, 10**6),
            ("chunk", 1, 100_000),
            ("bootstrap", 100, 100_000),
            ("processes", 0, 1024),
            ("patience", 0.001, 1e9),
        ):
            if not low <= getattr(self, name) <= high:
                raise OptionError(f"config key {name}={getattr(self, name)} is not valid. Valid: {low} to {high}")
        if self.redeals % 2:
            raise OptionError(f"config key redeals={self.redeals} is not valid. Valid: an even number")
        seed_of(TEST, self.seed)
        names = [setting.name for setting in self.all_settings()]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise OptionError(f"settings have one name: {', '.join(twice)}. Valid: another one")
        for name in (self.main, *self.moments):
            if name not in names:
                raise OptionError(unknown("setting", name, names))
        if self.setting(self.main).promising:
            raise OptionError(f"config key main={self.main!r} needs a setting with all hands")

    def all_settings(self) -> list[Setting]:
        """The settings in the order of the config."""
        for given in self.settings:
            if not isinstance(given, Mapping) or "name" not in given:
                raise OptionError(f"setting {given!r} is not valid. Valid: a mapping with the key name")
        return [build(Setting, given, what="key of a setting") for given in self.settings]

    def setting(self, name: str) -> Setting:
        """The setting of that name."""
        return next(setting for setting in self.all_settings() if setting.name == name)

    def environment_seed(self) -> int:
        """Seed of the deals: test deals."""
        return seed_of(TEST, self.seed)

    def opponent(self, setting: Setting) -> Any:
        """The agent at the other seats."""
        if setting.opponents == "ppo":
            return self._network(self.ppo, setting)
        return Entrant.of(setting.opponents).load("herzeln")

    def seeker(self, setting: Setting, policy: str) -> Any:
        """The watched agent with one of the `POLICIES`."""
        if setting.seeker == "rules":
            return load_agent("rules", aim=policy)
        if setting.seeker == "search":
            return load_agent(self.searcher, aim=policy)
        from .moon_policies import Shunning  # torch is slow to import

        if policy == "always":
            return self._network(self.ppo_moon, setting, "moon=self")
        agent = self._network(self.ppo, setting)
        return Shunning(agent) if policy == "never" else agent

    def _network(self, path: str | None, setting: Setting, goal: str = "payoff") -> Any:
        """A checkpoint's agent, or the shipped one for the players of a setting."""
        return load_agent(f"ppo:{path}") if path else load_agent("ppo", players=setting.rules().players, goal=goal)


def moon_config(values: Mapping[str, Any], words: Sequence[str] = ()) -> MoonConfig:
    """A config from the values of a file and `key=value` words on top."""
    return build(MoonConfig, {**values, **overrides(words)}, what="config key")


def config_text(config: MoonConfig) -> str:
    """The config as YAML, without the keys that change nothing in the results."""
    kept = {key: value for key, value in dataclasses.asdict(config).items() if key not in MAY_DIFFER}
    return yaml.safe_dump(plain(kept), sort_keys=False)


# ------------------------------------------------------------------------------------------------- jobs


@dataclass(frozen=True)
class Job:
    """Some deals of one kind of work; its result depends on nothing but the config.

    Attributes:
        kind: See `moon_jobs.KINDS`.
        place: Of the setting in the config, or of the table in `CENSUS`.
        first, count: Numbers of its deals.
    """

    kind: str
    place: int
    first: int
    count: int

    @property
    def name(self) -> str:
        """The name of its file in `parts/`."""
        return f"{self.kind}{self.place:02d}_{self.first:09d}_{self.count:06d}"


def all_jobs(config: MoonConfig) -> list[Job]:
    """The whole work, the longest jobs first."""
    jobs: list[Job] = []
    settings = config.all_settings()
    for place, setting in enumerate(settings):
        jobs += _cut("pairs", place, setting.deals, setting.chunk)
    jobs += _cut("forced", 0, config.solver_deals, 10 * config.chunk)
    jobs += _cut("strong", 0, config.strong_deals, config.chunk)
    for name in config.moments:
        place = [setting.name for setting in settings].index(name)
        jobs += _cut("moments", place, config.moment_deals, min(config.chunk, settings[place].chunk))
    jobs += _cut("hands", 0, config.hands, max(1, config.chunk // config.redeals))
    jobs += _cut("games", 0, config.games, config.chunk)
    for place in range(len(CENSUS)):
        jobs += _cut("census", place, config.census_deals, 5 * config.chunk)
    return jobs


def _cut(kind: str, place: int, deals: int, chunk: int) -> list[Job]:
    return [Job(kind, place, first, min(chunk, deals - first)) for first in range(0, deals, chunk)]
