"""Tournaments: which matches there are, who plays them where, and how the work goes on after an interruption.

A result folder holds `config.yaml`, `parts/` (the chunks of deals played so far), and at the end `deals.parquet`
(a row a deal, game and seat), `games.parquet` (a row a game with its cards), `summary.csv`, `matrix.csv`,
`ratings.csv`, `failures.csv`, `report.md` and `report.html`. They depend on the config alone: not on the number of
processes, the machine, or interruptions. What does, the time per decision, is in `timing.csv`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml

from ..agents import load_agent
from ..agents.files import write_atomically
from ..envs.errors import OptionError, unknown
from ..envs.game import get_game
from ..envs.options import build
from .config import plain, read_yaml, split_words
from .match import Design, distinct, gauntlet, make_design, owners_of, play_match
from .results import Part, agent_means, read_part, write_part
from .seeds import TEST, seed_of
from .statistics import Stop
from .workers import Failure, LocalPool, Pool, work_off

DESIGNS = ("round_robin", "head_to_head", "gauntlet", "table", "rippoldsau")
MAY_DIFFER = ("processes", "patience")  # keys that change nothing in the results
STUCK_LIMIT = 3  # crashes and hangs of an agent in a match before the rest of it is given up


@dataclass(frozen=True)
class Entrant:
    """One agent of a tournament.

    Attributes:
        name: What it is called in the results.
        agent: What `load_agent` makes it from.
        own_process: Run it in a process of its own, which sees nothing but views.
        options: Passed on to `load_agent`.
    """

    name: str
    agent: str
    own_process: bool = False
    options: dict[str, Any] = dataclasses.field(default_factory=dict)

    @classmethod
    def of(cls, given: Any) -> Entrant:
        """From a config: `rules`, `mine=module:Class`, or a mapping of the attributes."""
        if isinstance(given, str):
            name, equals, agent = given.partition("=")
            if equals and name.isidentifier():
                return cls(name, agent)
            return cls("ppo" if given.startswith("ppo:") else given, given)
        if not isinstance(given, Mapping) or "agent" not in given:
            raise OptionError(f"agent {given!r} is not valid. Valid: a name, name=agent, or a mapping with key agent")
        return build(cls, {"name": str(given["agent"]), **given}, what="key of an agent")

    def load(self, game: str) -> Any:
        """The agent."""
        if self.own_process:
            from ..agents.guest import Guest

            return Guest(self.agent, game, self.options)
        return load_agent(self.agent, game=game, **self.options)


@dataclass(frozen=True)
class TournamentConfig:
    """Everything that the results of a tournament depend on.

    Attributes:
        game: What is played.
        preset: Set of rule options; None for the game's default.
        options: Rule options on top of the preset, `players` and `episode` among them.
        agents: Names for `load_agent`; `name=agent` gives one another name; or mappings with the keys `name`,
            `agent`, `own_process` and `options`.
        design: `round_robin` (every pair head-to-head), `head_to_head` (two agents), `gauntlet` (each agent against
            copies of `field`), `table` (all agents at one table), `rippoldsau` (Viersche: pairs meet in sessions).
        field: The agent at the other seats of a gauntlet.
        deals: Deals (or longer episodes) of each match; with `stop` the most. `rippoldsau`: tournaments.
        meetings: Sessions in which two pairs meet in a `rippoldsau` tournament.
        seatings: Every deal in `all` seatings, in one and that with the sides `swapped`, or in `one`.
        stop: `precision` and `separate` end a match early, see `statistics.Stop`.
        chunk: Deals that are played side by side, and that an interruption can cost.
        seed: Which test deals.
        bootstrap: Resamples of the intervals.
        processes: Processes; 0 for one a core.
        patience: Seconds in which an agent must answer for all games of a chunk.
    """

    game: Literal["herzeln", "viersche"] = "herzeln"
    preset: str | None = None
    options: dict[str, Any] = dataclasses.field(default_factory=dict)
    agents: tuple[Any, ...] = ("random", "rules")
    design: Literal["round_robin", "head_to_head", "gauntlet", "table", "rippoldsau"] = "round_robin"
    field: str | None = None
    deals: int = 1000
    meetings: int = 1
    seatings: Literal["all", "swapped", "one"] = "all"
    stop: Stop = dataclasses.field(default_factory=Stop)
    chunk: int = 250
    seed: int = 0
    bootstrap: int = 2000
    processes: int = 0
    patience: float = 60.0

    def __post_init__(self) -> None:
        for name, low, high in (
            ("deals", 2, 10**9),
            ("meetings", 1, 1000),
            ("chunk", 1, 100_000),
            ("bootstrap", 100, 100_000),
            ("processes", 0, 1024),
            ("patience", 0.001, 1e9),
        ):
            if not low <= getattr(self, name) <= high:
                raise OptionError(f"config key {name}={getattr(self, name)} is not valid. Valid: {low} to {high}")
        seed_of(TEST, self.seed)
        names = [entrant.name for entrant in self.entrants()]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise OptionError(f"agents have one name: {', '.join(twice)}. Valid: another one, as in other={twice[0]}")
        matches(self)

    def rules(self) -> Any:
        """The rule options; a single deal an episode unless said otherwise."""
        episode = "session" if self.design == "rippoldsau" else "deal"
        return get_game(self.game).options(self.preset, **{"episode": episode, **self.options})

    def entrants(self) -> list[Entrant]:
        """The agents in the order of the config."""
        return [Entrant.of(given) for given in self.agents]

    def environment_seed(self) -> int:
        """Seed of the environment: test deals."""
        return seed_of(TEST, self.seed)

    def as_dict(self) -> dict[str, Any]:
        """The config as plain values."""
        return dataclasses.asdict(self)


@dataclass(frozen=True)
class Match:
    """Agents that meet on the same deals.

    Attributes:
        number: Its place in the tournament.
        agents: Places of its agents in the config.
        seatings: int[G, P], places in `agents`.
        deals: The most deals.
        rotation: See `owners_of`.
    """

    number: int
    agents: tuple[int, ...]
    seatings: np.ndarray
    deals: int
    rotation: str


def matches(config: TournamentConfig) -> list[Match]:
    """The matches of a tournament.

    Raises:
        OptionError: agents that do not fit the design.
    """
    names = [entrant.name for entrant in config.entrants()]
    game, rules = get_game(config.game), config.rules()
    deals, rotation = config.deals, config.seatings
    if config.design == "table":
        design = _table(config, game, rules)
        groups: list[tuple[int, ...]] = [tuple(range(len(names)))]
    elif config.design == "gauntlet":
        design, groups = gauntlet(game, rules.players), _against_field(config, names)
    else:
        design, groups = make_design(game, rules.players, 2), _pairs(config, names)
    if config.design != "gauntlet" and config.field is not None:
        raise OptionError(f"config key field={config.field!r} needs design=gauntlet, not {config.design}")
    if config.design == "rippoldsau":
        if not game.sides or rules.episode != "session":
            raise OptionError("design=rippoldsau needs game=viersche and episode=session")
        deals, rotation = deals * config.meetings, "one"
    elif config.meetings != 1:
        raise OptionError(f"config key meetings={config.meetings} needs design=rippoldsau, not {config.design}")
    try:
        owners_of(design.seatings, 0, 1, rotation)
    except ValueError as error:
        raise OptionError(f"config key {error}") from None
    return [Match(n, group, design.seatings, deals, rotation) for n, group in enumerate(groups)]


def _table(config: TournamentConfig, game: Any, rules: Any) -> Design:
    """All agents at one table; fewer than seats: the last one sits at the seats that are left."""
    count = len(config.agents)
    if not 2 <= count <= rules.players:
        raise OptionError(f"{count} agents make no table of {rules.players}. Valid: 2 to {rules.players}")
    seats = [*range(count), *[count - 1] * (rules.players - count)]
    return Design("table", distinct(np.array(list(itertools.permutations(seats))), [str(n) for n in range(count)]))


def _against_field(config: TournamentConfig, names: Sequence[str]) -> list[tuple[int, ...]]:
    if config.field is None:
        raise OptionError(f"design=gauntlet needs the config key field. Valid: {', '.join(names)}")
    if config.field not in names:
        raise OptionError(unknown("agent of config key field:", config.field, names))
    place = list(names).index(config.field)
    return [(agent, place) for agent in range(len(names)) if agent != place]


def _pairs(config: TournamentConfig, names: Sequence[str]) -> list[tuple[int, ...]]:
    few = 2 if config.design == "head_to_head" else 3 if config.design == "rippoldsau" else 2
    if len(names) < few or (config.design == "head_to_head" and len(names) > 2):
        valid = "exactly 2" if config.design == "head_to_head" else f"{few} or more"
        raise OptionError(f"design={config.design} with {len(names)} agents is not valid. Valid: {valid}")
    return list(itertools.combinations(range(len(names)), 2))


def tournament_config(values: Mapping[str, Any], words: Sequence[str] = ()) -> TournamentConfig:
    """A config from the values of a file and `key=value` words on top (config keys or rule options)."""
    return build(TournamentConfig, split_words(TournamentConfig, values, words), what="config key")


# --------------------------------------------------------------------------------------------- playing


@dataclass(frozen=True)
class Chunk:
    """Some deals of a match, the unit of work: its result depends on nothing but the config."""

    match: int
    first_deal: int
    deals: int

    @property
    def name(self) -> str:
        """The name of its file in `parts/`."""
        return f"match{self.match:04d}_deal{self.first_deal:08d}_{self.deals:05d}"


@dataclass(frozen=True)
class Recipe:
    """What a worker process needs to play chunks."""

    config: TournamentConfig

    @property
    def asked(self) -> int:
        """Number of agents."""
        return len(self.config.agents)

    def open(self) -> Player:
        """The runner, in the worker's process."""
        return Player(self.config)


class Player:
    """Plays chunks; agents are loaded when they are first needed."""

    def __init__(self, config: TournamentConfig) -> None:
        self.config, self.game, self.rules = config, get_game(config.game), config.rules()
        self.matches, self.entrants = matches(config), config.entrants()
        self.agents: dict[int, Any] = {}

    def run(self, chunk: Chunk, asking: Any) -> Part:
        """The rows of a chunk."""
        match = self.matches[chunk.match]
        for number in match.agents:
            if number not in self.agents:
                with asking(number):
                    self.agents[number] = self.entrants[number].load(self.config.game)
        places = np.asarray(match.agents)
        owners = places[owners_of(match.seatings, chunk.first_deal, chunk.deals, match.rotation)]
        agents = [self.agents.get(number) for number in range(len(self.entrants))]
        played = play_match(
            self.game,
            self.rules,
            agents,
            owners,
            seed=self.config.environment_seed(),
            first_deal=chunk.first_deal,
            asking=asking,
            rate_luck=match.rotation == "one",  # in all others every agent holds every hand
        )
        return Part.of(chunk.match, chunk.first_deal, played, self.game.events)


class Schedule:
    """Which chunk comes next, what has been played, and where each match ends."""

    def __init__(self, config: TournamentConfig, folder: Path) -> None:
        self.config, self.parts = config, folder / "parts"
        self.matches = matches(config)
        self.names = [entrant.name for entrant in config.entrants()]
        self.todo = {match.number: self._chunks(match) for match in self.matches}
        self.again: list[Chunk] = []
        self.means: dict[int, dict[int, tuple[int, np.ndarray]]] = {match.number: {} for match in self.matches}
        self.ends: dict[int, int] = {match.number: match.deals for match in self.matches}
        self.stuck: dict[tuple[int, int], int] = {}
        self.played = 0
        self.damaged: list[str] = []

    def _chunks(self, match: Match) -> list[Chunk]:
        size = self.config.chunk
        starts = range(0, match.deals, size)
        return [Chunk(match.number, first, min(size, match.deals - first)) for first in starts]

    @property
    def total(self) -> int:
        """Deals still thought to be needed, those played included."""
        return sum(self.ends.values())

    def next(self) -> Chunk | None:
        """The next chunk to be played, match by match in turns; None when all are given out."""
        if self.again:
            return self.again.pop(0)
        waiting = [
            number for number, chunks in self.todo.items() if chunks and chunks[0].first_deal < self.ends[number]
        ]
        if not waiting:
            return None
        number = min(waiting, key=lambda each: (self.todo[each][0].first_deal, each))
        return self.todo[number].pop(0)

    def recover(self) -> None:
        """Take in the parts that are there; damaged ones are played again."""
        found = {path.stem for path in self.parts.glob("*.parquet")} if self.parts.is_dir() else set()
        for chunks in list(self.todo.values()):
            for chunk in list(chunks):
                pieces = [Chunk(chunk.match, chunk.first_deal + n, 1) for n in range(chunk.deals)]
                if chunk.name in found:
                    self._recover(chunk, chunks, [chunk])
                elif any(piece.name in found for piece in pieces):
                    chunks.remove(chunk)
                    there = [piece for piece in pieces if piece.name in found]
                    self.again += [piece for piece in pieces if piece.name not in found]
                    self._recover(None, chunks, there)

    def _recover(self, whole: Chunk | None, chunks: list[Chunk], there: list[Chunk]) -> None:
        for chunk in there:
            part = read_part(self.parts / f"{chunk.name}.parquet")
            if part is None:
                self.damaged.append(chunk.name)
                if whole is None:
                    self.again.append(chunk)
                continue
            if whole is not None:
                chunks.remove(whole)
            self.take(chunk, part)

    def take(self, chunk: Chunk, part: Part) -> None:
        """Count a finished part, and see whether its match may end."""
        self.played += chunk.deals
        if self.config.stop.never:
            return
        self.means[chunk.match][chunk.first_deal] = chunk.deals, agent_means(part, self.matches[chunk.match].agents)
        ordered, expected = [], 0
        for first, (deals, means) in sorted(self.means[chunk.match].items()):
            if first != expected:
                break
            ordered.append(means)
            expected = first + deals
        if ordered:
            self._maybe_end(chunk.match, np.concatenate(ordered))

    def _maybe_end(self, match: int, means: np.ndarray) -> None:
        end = self.config.stop.after_all(means)
        if end is not None:
            self.ends[match] = min(self.ends[match], end)

    def failed(self, chunk: Chunk, failure: Failure) -> Part | None:
        """After a failure: the deals of a chunk one by one; a single deal is given up. Returns its empty part."""
        if failure.stuck:
            key = (chunk.match, failure.asked)
            self.stuck[key] = self.stuck.get(key, 0) + 1
        given_up = self.stuck.get((chunk.match, failure.asked), 0) >= STUCK_LIMIT
        if chunk.deals > 1 and not given_up:
            pieces = [Chunk(chunk.match, chunk.first_deal + n, 1) for n in range(chunk.deals)]
            self.again = pieces + self.again
            return None
        if given_up:
            self._give_up(chunk.match)
        return Part.lost(chunk.match, chunk.first_deal, chunk.deals, self.names[failure.asked], failure.reason)

    def _give_up(self, match: int) -> None:
        """An agent that keeps crashing or hanging: what is left of the match is not tried."""
        self.ends[match] = 0
        self.todo[match] = []
        self.again = [chunk for chunk in self.again if chunk.match != match]


def run_tournament(
    config: TournamentConfig,
    out: Path,
    *,
    resume: bool = False,
    pool: Pool | None = None,
    progress: Callable[[int, int], None] = lambda played, total: None,
    say: Callable[[str], None] = print,
) -> Path:
    """Play a tournament, or go on with one, and write its results to the folder `out`.

    Args:
        config: What to play.
        out: The result folder.
        resume: Go on with what is in the folder.
        pool: Who plays; processes of this machine by default.
        progress: Called with the deals played and the deals in all.
        say: Gets one line for each thing the user should know.

    Raises:
        OptionError: an agent that can't be loaded, or a folder that holds something else.
    """
    claim_folder(config, out, resume)
    schedule = Schedule(config, out)
    schedule.recover()
    for name in schedule.damaged:
        say(f"part {name} is damaged and is played again")
    own = pool if pool is not None else LocalPool(Recipe(config), config.patience, config.processes)
    try:
        progress(schedule.played, schedule.total)
        for chunk, result in work_off(own, schedule.next):
            part = schedule.failed(chunk, result) if isinstance(result, Failure) else result
            if part is not None:
                write_part(schedule.parts / f"{chunk.name}.parquet", part)
                schedule.take(chunk, part)
            if isinstance(result, Failure) and part is not None:
                say(f"agent {schedule.names[result.asked]!r} failed in deal {chunk.first_deal}: {result.reason}")
            progress(schedule.played, schedule.total)
    finally:
        own.close()
    from .report import write_results  # matplotlib is slow to import

    write_results(config, out)
    return out


def claim_folder(config: TournamentConfig, out: Path, resume: bool) -> None:
    """Write the config into the folder, or compare it with the one that is there.

    Raises:
        OptionError: the folder holds another tournament, or one that is not to be resumed.
    """
    ours = yaml.safe_load(config_text(config))
    file = out / "config.yaml"
    if file.exists():
        theirs = read_yaml(file)
        differ = [key for key in ours if theirs.get(key) != ours[key]]
        if differ:
            raise OptionError(f"{out} holds a tournament of another config: {', '.join(differ)} differ. Valid: --out")
        if not resume:
            raise OptionError(f"{out} already holds this tournament. Valid: --resume to go on, or another --out")
    elif resume:
        raise OptionError(f"{out} holds no tournament to resume")
    for entrant in config.entrants():
        if not entrant.own_process:
            entrant.load(config.game)  # a wrong name is better known before hours of play
    write_atomically(file, config_text(config).encode())


def config_text(config: TournamentConfig) -> str:
    """The config as YAML, without the keys that change nothing in the results."""
    kept = {key: value for key, value in config.as_dict().items() if key not in MAY_DIFFER}
    return yaml.safe_dump(plain(kept), sort_keys=False)
