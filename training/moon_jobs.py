"""The work of the study of the moon, job by job, and how it goes on after an interruption.

A result folder holds `config.yaml`, `parts/` (the jobs done so far), and at the end what `moon_report` writes. All of
that depends on the config alone: not on the number of processes, the machine, or interruptions.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from ..agents import load_agent
from ..agents.files import write_atomically
from ..agents.moon_features import FEATURES, column, moon_features, promising
from ..envs.errors import OptionError
from .config import read_yaml
from .match import play_match
from .moon_config import CENSUS, POLICIES, Job, MoonConfig, all_jobs, config_text
from .moon_context import play_games
from .moon_forced import forced_rows, strong_rows
from .moon_play import DEALT, GAME, MOONS, PASSED, SHOOTER, Deals, dealt, play, watched_seats, with_hands
from .moon_policies import Until
from .workers import Failure, LocalPool, Pool, work_off

NEAR = 2  # hands with so many losers more than promising ones are dealt again and again, too
GIVE_UP = (2, 4, 6, 8, 10)  # tricks at which attempts are given up for comparison


class Player:
    """Does jobs; agents are loaded when they are first needed."""

    def __init__(self, config: MoonConfig) -> None:
        self.config, self.settings, self.seed = config, config.all_settings(), config.environment_seed()
        self.agents: dict[tuple[int, str], Any] = {}

    def run(self, job: Job, asking: Any) -> pl.DataFrame:
        """The rows of a job."""
        return KINDS[job.kind](self, job, asking)

    def pair(self, place: int, policy: str, asking: Any) -> list[Any]:
        """The watched agent with a policy and the opponent, of a setting."""
        setting, found = self.settings[place], []
        for number, who in enumerate((policy, "opponent")):
            if (place, who) not in self.agents:
                with asking(number):
                    config = self.config
                    made = config.opponent(setting) if who == "opponent" else config.seeker(setting, who)
                    self.agents[place, who] = made
            found.append(self.agents[place, who])
        return found

    def deals_of(self, job: Job) -> tuple[Any, np.ndarray, np.ndarray]:
        """Rules, states [N] and watched seats int64[N] of a job."""
        rules = self.settings[job.place].rules()
        return rules, dealt(rules, self.seed, job.first, job.count), watched_seats(rules, job.first, job.count)

    def main_place(self) -> int:
        """Place of the main setting."""
        return [setting.name for setting in self.settings].index(self.config.main)


def pairs(player: Player, job: Job, asking: Any) -> pl.DataFrame:
    """The same deals under all policies: a row a deal."""
    rules, states, seats = player.deals_of(job)
    if player.settings[job.place].promising:
        kept = promising(features_of(states, seats))
        states, seats = states[kept], seats[kept]
    if not len(states):
        return pl.DataFrame()
    played = {
        policy: play(rules, states, seats, player.pair(job.place, policy, asking), player.seed, asking=asking)
        for policy in POLICIES
    }
    columns: dict[str, Any] = {"deal": states["lane_deal"], "seat": seats}
    for moment, prefix in ((DEALT, "dealt"), (PASSED, "passed")):
        columns |= feature_columns(played["always"].features[:, moment], prefix)
    for policy, deals in played.items():
        columns |= outcome_columns(deals, policy)
    columns["free_tries"] = [a != b for a, b in zip(played["free"].cards, played["never"].cards, strict=True)]
    return pl.DataFrame(columns)


def features_of(states: np.ndarray, seats: np.ndarray) -> np.ndarray:
    """f32[N, F]: what a seat of each state can count."""
    views = np.empty(len(states), GAME.state)
    GAME.lanes.view(states, seats.astype(np.int8), views)
    return moon_features(views)


def feature_columns(features: np.ndarray, prefix: str) -> dict[str, np.ndarray]:
    """Features f32[N, F] as columns; all of them are small whole numbers."""
    return {f"{prefix}_{name}": features[:, place].astype(np.int8) for place, name in enumerate(FEATURES)}


def outcome_columns(deals: Deals, policy: str) -> dict[str, Any]:
    """How deals went under a policy, as columns."""
    found: dict[str, Any] = {"payoff": deals.payoff, "moon": deals.moon, "other_moon": deals.other_moon}
    found |= {"seen": deals.seen, "score": pl.Series(deals.score.tolist(), dtype=pl.List(pl.Int16))}
    return {f"{policy}_{name}": values for name, values in found.items()}


def moments(player: Player, job: Job, asking: Any) -> pl.DataFrame:
    """Attempts trick by trick: a row a moment at which the moon can still be had.

    `give_up` is the payoff of who goes for it up to there and then plays as one who never does.
    """
    rules, states, seats = player.deals_of(job)
    agents = player.pair(job.place, "always", asking)
    whole = play(rules, states, seats, agents, player.seed, asking=asking, every_trick=True)
    never = player.pair(job.place, "never", asking)[0]
    given_up = np.full(whole.features.shape[:2], np.nan)
    for trick in GIVE_UP:
        if PASSED + trick < whole.features.shape[1]:
            quitter = [Until(agents[0], never, trick), agents[1]]
            deals = play(rules, states, seats, quitter, player.seed, asking=asking)
            given_up[:, PASSED + trick] = deals.payoff
    deal, moment = np.nonzero(whole.features[:, :, column("possible")] > 0)
    rows = {"deal": states["lane_deal"][deal], "moment": moment, "moon": whole.moon[deal], "payoff": whole.payoff[deal]}
    rows |= {"give_up": given_up[deal, moment]} | feature_columns(whole.features[deal, moment], "now")
    return pl.DataFrame(rows).with_columns(pl.col("give_up").fill_nan(None))


def hands(player: Player, job: Job, asking: Any) -> pl.DataFrame:
    """Hands that are dealt again and again, the other cards at random: a row a hand, in two halves of its deals."""
    place, redeals = player.main_place(), player.config.redeals
    rules = player.settings[place].rules()
    seats = watched_seats(rules, job.first, job.count)
    given = dealt(rules, player.seed + 1, job.first, job.count)
    features = features_of(given, seats)
    kept = np.flatnonzero(promising(features, NEAR))
    if not len(kept):
        return pl.DataFrame()
    states = np.concatenate([again(rules, given[n], int(seats[n]), player.seed + 2, redeals) for n in kept])
    where = np.repeat(seats[kept], redeals)
    columns: dict[str, Any] = {"hand": job.first + kept} | feature_columns(features[kept], "dealt")
    for policy in ("never", "always"):
        found = play(rules, states, where, player.pair(place, policy, asking), player.seed, asking=asking)
        for name, values in (("payoff", found.payoff), ("moon", found.moon)):
            halves = values.reshape(len(kept), 2, -1).mean(2)
            columns |= {f"{policy}_{name}_a": halves[:, 0], f"{policy}_{name}_b": halves[:, 1]}
    return pl.DataFrame(columns)


def again(rules: Any, given: Any, seat: int, seed: int, count: int) -> np.ndarray:
    """States [count] in which a seat has the hand, and the deal the passing direction and dealer, of a state given."""
    states = dealt(rules, seed, int(given["lane_deal"]) * count, count)
    states["direction"], states["dealer"] = given["direction"], given["dealer"]
    with_hands(rules, states, np.full(count, seat), np.full(count, given["hands"][seat]), seed)
    return states


def forced(player: Player, job: Job, asking: Any) -> pl.DataFrame:
    """See `moon_forced.forced_rows`."""
    return forced_rows(open_hands(), player.seed, job.first, job.count, player.config.solver_nodes)


def strong(player: Player, job: Job, asking: Any) -> pl.DataFrame:
    """See `moon_forced.strong_rows`."""
    return strong_rows(open_hands(), player.seed + 3, job.first, job.count, player.config.solver_nodes)


def open_hands() -> Any:
    """The rules under which moons are forced: four players, no passing."""
    return GAME.options("herzeln", episode="deal")


def games(player: Player, job: Job, asking: Any) -> pl.DataFrame:
    """See `moon_context.play_games`."""
    setting = player.settings[player.main_place()]
    rules = GAME.options(setting.preset, **{**setting.options, "episode": "game", "moon": "add"})
    return play_games(rules, load_agent("rules"), player.seed + 4, job.first, job.count)


def census(player: Player, job: Job, asking: Any) -> pl.DataFrame:
    """Tables of four equal agents: a row a deal with its moons."""
    preset, agent = CENSUS[job.place]
    rules, owners = GAME.options(preset, episode="deal"), np.full((job.count, 1, 4), SHOOTER)
    found = play_match(GAME, rules, [load_agent(agent)], owners, seed=player.seed, first_deal=job.first, asking=asking)
    numbers = np.arange(job.first, job.first + job.count)
    return pl.DataFrame({"deal": numbers, "moons": found.events[..., MOONS].sum((1, 2))})


KINDS: dict[str, Callable[[Player, Job, Any], pl.DataFrame]] = {
    "pairs": pairs,
    "moments": moments,
    "hands": hands,
    "forced": forced,
    "strong": strong,
    "games": games,
    "census": census,
}


# ------------------------------------------------------------------------------------------------ doing it


@dataclass(frozen=True)
class Recipe:
    """What a worker process needs to do jobs."""

    config: MoonConfig
    asked: int = 2

    def open(self) -> Player:
        """The runner, in the worker's process."""
        return Player(self.config)


def read_rows(path: Path) -> pl.DataFrame | None:
    """The rows of a part; None where the file is damaged."""
    try:
        return pl.read_parquet(io.BytesIO(path.read_bytes()))
    except (pl.exceptions.PolarsError, OSError):
        return None


def write_rows(path: Path, rows: pl.DataFrame) -> None:
    """Write rows; they are there whole or not at all."""
    buffer = io.BytesIO()
    rows.write_parquet(buffer)
    write_atomically(path, buffer.getvalue())


def run_jobs(
    config: MoonConfig,
    out: Path,
    *,
    resume: bool = False,
    pool: Pool | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Do all jobs of a config, or those that are left, into the folder `out`.

    Raises:
        OptionError: a folder that holds something else, or an agent that fails.
    """
    claim_folder(config, out, resume)
    parts = out / "parts"
    jobs = all_jobs(config)
    left = [job for job in jobs if not (parts / f"{job.name}.parquet").exists()]
    left += [job for job in jobs if job not in left and read_rows(parts / f"{job.name}.parquet") is None]
    done, waiting = len(jobs) - len(left), iter(left)
    own = pool if pool is not None else LocalPool(Recipe(config), config.patience, config.processes)
    try:
        progress(done, len(jobs))
        for job, rows in work_off(own, lambda: next(waiting, None)):
            if isinstance(rows, Failure):
                raise OptionError(f"{job.kind} of deals from {job.first} on failed: {rows.reason}")
            write_rows(parts / f"{job.name}.parquet", rows)
            done += 1
            progress(done, len(jobs))
    finally:
        own.close()


def claim_folder(config: MoonConfig, out: Path, resume: bool) -> None:
    """Write the config into the folder, or compare it with the one that is there.

    Raises:
        OptionError: the folder holds another study, or one that is not to be resumed.
    """
    ours, file = yaml.safe_load(config_text(config)), out / "config.yaml"
    if file.exists():
        theirs = read_yaml(file)
        differ = [key for key in ours if theirs.get(key) != ours[key]]
        if differ:
            raise OptionError(f"{out} holds a study of another config: {', '.join(differ)} differ. Valid: --out")
        if not resume:
            raise OptionError(f"{out} already holds this study. Valid: --resume to go on, or another --out")
    elif resume:
        raise OptionError(f"{out} holds no study to resume")
    for setting in config.all_settings():
        config.opponent(setting)  # a wrong name is better known before hours of play
        for policy in POLICIES:
            config.seeker(setting, policy)
    write_atomically(file, config_text(config).encode())


def all_rows(config: MoonConfig, out: Path, kind: str, place: int = 0) -> pl.DataFrame:
    """The rows of all jobs of a kind and place, in order of deals."""
    frames, jobs = [], [job for job in all_jobs(config) if (job.kind, job.place) == (kind, place)]
    for job in sorted(jobs, key=lambda job: job.first):
        rows = read_rows(out / "parts" / f"{job.name}.parquet")
        if rows is None:
            raise OptionError(f"{out} lacks the part {job.name}. Valid: --resume to go on")
        if rows.width:
            frames.append(rows)
    return pl.concat(frames) if frames else pl.DataFrame()
