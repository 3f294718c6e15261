"""What a tournament has brought, from the parts of its work to the tables that people read."""

from __future__ import annotations

import io
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..agents.files import write_atomically
from ..envs.game import get_game
from .match import Played
from .ratings import additive, alpha_rank, bradley_terry, cycles, nash_average, openskill
from .statistics import confidence_sequence, control_variate, deals_to_separate, interval, resampled

KEY = "stich"  # key of our own entry in a Parquet file's metadata
BY_SEAT = ("payoff", "score", "win", "free", "forced", "luck")


@dataclass(frozen=True)
class Part:
    """Some deals of a match.

    Attributes:
        games: One row a game: `deal`, `game`, lists by seat (`agents`, payoff, ..., one column an event), `actions`.
        about: Match, first deal, number of deals, `failure` (agent and reason) or None, `seconds` by agent.
    """

    games: pl.DataFrame
    about: dict[str, Any]

    @classmethod
    def of(cls, match: int, first_deal: int, played: Played, events: Sequence[str]) -> Part:
        """From what was played."""
        deals, games, players = played.owners.shape
        rows = deals * games
        columns: dict[str, Any] = {
            "deal": np.repeat(np.arange(first_deal, first_deal + deals), games),
            "game": np.tile(np.arange(games), deals),
            "agents": _lists(played.owners.reshape(rows, players)),
        }
        for name in BY_SEAT:
            columns[name] = _lists(getattr(played, name).reshape(rows, players))
        for place, name in enumerate(events):
            columns[name] = _lists(played.events[..., place].reshape(rows, players))
        columns["actions"] = list(itertools.chain.from_iterable(played.actions))
        about = {"match": match, "first_deal": first_deal, "deals": deals, "failure": None, "seconds": played.seconds}
        return cls(pl.DataFrame(columns), about)

    @classmethod
    def lost(cls, match: int, first_deal: int, deals: int, agent: str, reason: str) -> Part:
        """Of deals that could not be played."""
        failure = {"agent": agent, "reason": " ".join(reason.split())}
        about = {"match": match, "first_deal": first_deal, "deals": deals, "failure": failure, "seconds": []}
        return cls(pl.DataFrame(), about)


def _lists(values: np.ndarray) -> pl.Series:
    return pl.Series(values, dtype=pl.Array(_TYPES[values.dtype.kind], values.shape[1])).arr.to_list()


_TYPES = {"f": pl.Float64, "i": pl.Int32}


def write_part(path: Path, part: Part) -> None:
    """Write a part; it is there whole or not at all."""
    buffer = io.BytesIO()
    part.games.write_parquet(buffer, metadata={KEY: json.dumps(part.about)})
    write_atomically(path, buffer.getvalue())


def read_part(path: Path) -> Part | None:
    """A part, or None where the file is damaged."""
    try:
        content = path.read_bytes()
        about = json.loads(pl.read_parquet_metadata(io.BytesIO(content))[KEY])
        games = pl.read_parquet(io.BytesIO(content))
        whole = about["failure"] is not None or games["deal"].n_unique() == about["deals"]
        return Part(games, about) if whole else None
    except (pl.exceptions.PolarsError, OSError, KeyError, ValueError, TypeError):
        return None


def _matrix(games: pl.DataFrame, column: str) -> np.ndarray:
    """A column of lists by seat as an array [rows, P]."""
    return np.array(games[column].to_list())


def agent_means(part: Part, agents: Sequence[int]) -> np.ndarray:
    """Payoff of each agent f64[D, A], mean over the seats it holds on a deal; no rows for lost deals."""
    if part.games.is_empty():
        return np.zeros((0, len(agents)))
    return by_deal(part.games, "payoff", agents)


def by_deal(games: pl.DataFrame, column: str, agents: Sequence[int]) -> np.ndarray:
    """A column's mean over the seats that each agent holds on a deal: f64[D, A], deals in order."""
    owners, values = _matrix(games, "agents"), _matrix(games, column)
    deals = games["deal"].n_unique()
    held = np.stack([owners == agent for agent in agents], -1).reshape(deals, -1, len(agents))
    values = np.nan_to_num(values.reshape(deals, -1, 1))
    return (values * held).sum(1) / held.sum(1)


@dataclass(frozen=True)
class MatchResult:
    """A match as it stands at its end.

    Attributes:
        number: Of the match.
        agents: Numbers of its agents.
        games: Its games, in order of deals.
        payoff: f64[D, A], mean payoff of each agent on each deal.
        failures: The deals that could not be played: first deal, deals, agent, reason.
        sequential: It could end early, so that its intervals must hold at any time.
    """

    number: int
    agents: tuple[int, ...]
    games: pl.DataFrame
    payoff: np.ndarray
    failures: list[dict[str, Any]]
    sequential: bool

    @property
    def deals(self) -> int:
        """Deals played."""
        return len(self.payoff)

    def mean(self, column: str) -> np.ndarray:
        """f64[A]: mean over the seats of each agent and all deals."""
        return by_deal(self.games, column, self.agents).mean(0)


def collect(config: Any, matches: Sequence[Any], folder: Path) -> list[MatchResult]:
    """The results of all matches from the parts in a folder, each up to where its rule for stopping ends it."""
    parts: dict[int, list[Part]] = {match.number: [] for match in matches}
    for path in sorted(folder.glob("*.parquet")):
        part = read_part(path)
        if part is not None:
            parts[part.about["match"]].append(part)
    return [_match_result(config, match, parts[match.number]) for match in matches]


def _match_result(config: Any, match: Any, parts: list[Part]) -> MatchResult:
    parts = sorted(parts, key=lambda part: part.about["first_deal"])
    failures = [
        {"first_deal": part.about["first_deal"], "deals": part.about["deals"], **part.about["failure"]}
        for part in parts
        if part.about["failure"]
    ]
    played = [part.games for part in parts if not part.games.is_empty()]
    if not played:
        empty = np.zeros((0, len(match.agents)))
        return MatchResult(match.number, match.agents, pl.DataFrame(), empty, failures, not config.stop.never)
    games = pl.concat(played)
    payoff = by_deal(games, "payoff", match.agents)
    end = config.stop.after_all(payoff)
    if end is not None:
        kept = games["deal"].unique().sort().head(end)
        games, payoff = games.filter(pl.col("deal").is_in(kept.implode())), payoff[:end]
    return MatchResult(match.number, match.agents, games, payoff, failures, not config.stop.never)


# ---------------------------------------------------------------------------------------------- tables


@dataclass(frozen=True)
class Tables:
    """All results of a tournament.

    Attributes:
        config: The tournament.
        names: Of the agents.
        matches: Results match by match.
        summary: A row a match and agent.
        payoff, low, high: f64[A, A], payoff of the row against the column with its interval; NaN without a match.
        ratings: A row an agent; empty where not all pairs have met.
        cycles: Names of agents that beat each other in a ring.
    """

    config: Any
    names: list[str]
    matches: list[MatchResult]
    summary: pl.DataFrame
    payoff: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ratings: pl.DataFrame
    cycles: list[tuple[str, ...]]


def tabulate(config: Any, results: Sequence[MatchResult]) -> Tables:
    """Summary, payoff matrix and ratings."""
    names = [entrant.name for entrant in config.entrants()]
    rows: list[dict[str, Any]] = []
    payoff, low, high = (np.full((len(names), len(names)), np.nan) for _ in range(3))
    for result in results:
        if not result.deals:
            continue
        mean, lows, highs = estimate = payoff_intervals(config, result)
        rows += _summary(config, names, result, estimate)
        if len(result.agents) == 2:
            i, j = result.agents
            for at, (row, column) in enumerate(((i, j), (j, i))):
                payoff[row, column], low[row, column], high[row, column] = mean[at], lows[at], highs[at]
    met = np.isfinite(payoff).sum() == len(names) * (len(names) - 1)
    complete = bool(met) and len(names) > 1 and config.design in ("round_robin", "rippoldsau", "head_to_head")
    ratings = rate(config, names, results, payoff) if complete else pl.DataFrame()
    rings = [tuple(names[agent] for agent in ring) for ring in cycles(np.nan_to_num(low))]
    return Tables(config, names, list(results), pl.DataFrame(rows), payoff, low, high, ratings, rings)


def payoff_intervals(config: Any, result: MatchResult) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Mean, low and high of each agent's payoff f64[A]: bootstrap over deals, or the interval that holds at any time.

    Where a value function has rated the deals and the seatings leave luck of the deal in the payoffs, that part of
    them which it explains is taken out.
    """
    values = adjusted(result)
    if result.sequential:
        mean = values.mean(0)
        half = np.array([confidence_sequence(column, config.stop.level)[-1] for column in values.T])
        return mean, mean - half, mean + half
    low, high = interval(resampled(values, config.bootstrap, seed=result.number))
    return values.mean(0), low, high


def adjusted(result: MatchResult) -> np.ndarray:
    """Payoffs f64[D, A] less the luck of the deal that a value function explains, where an agent has one."""
    luck = by_deal(result.games, "luck", result.agents)
    if not luck.any():
        return result.payoff
    return np.stack([control_variate(y, x) for y, x in zip(result.payoff.T, luck.T, strict=True)], -1)


def _summary(
    config: Any, names: list[str], result: MatchResult, estimate: tuple[np.ndarray, np.ndarray, np.ndarray]
) -> list[dict[str, Any]]:
    game, (mean, low, high) = get_game(config.game), estimate
    wins = by_deal(result.games, "win", result.agents)
    win_low, win_high = interval(resampled(wins, config.bootstrap, seed=result.number))
    spread = result.payoff.std(0, ddof=1) if result.deals > 1 else np.full(len(result.agents), np.nan)
    totals = {name: result.mean(name) for name in ("score", "free", "forced", *game.events)}
    rows = []
    for at, agent in enumerate(result.agents):
        others = [names[other] for other in result.agents if other != agent]
        row = {"match": result.number, "agent": names[agent], "against": ", ".join(others), "deals": result.deals}
        row |= {"payoff": mean[at], "low": low[at], "high": high[at], "deviation": spread[at]}
        row |= {"deals_to_separate": deals_to_separate(result.payoff[:, at]) if result.deals > 1 else np.nan}
        row |= {"win": wins[:, at].mean(), "win_low": win_low[at], "win_high": win_high[at]}
        if game.sides and config.rules().episode == "deal":
            row["share"] = totals["score"][at] / game.rules.DEAL_POINTS
        rows.append(
            row | {name: float(values[at]) for name, values in totals.items()} | _failures(result, names[agent])
        )
    return rows


def _failures(result: MatchResult, name: str) -> dict[str, int]:
    mine = [failure for failure in result.failures if failure["agent"] == name]
    illegal = sum(failure["deals"] for failure in mine if failure["reason"].startswith("IllegalCardError"))
    return {"failed_deals": sum(failure["deals"] for failure in mine), "illegal_deals": illegal}


def rate(config: Any, names: list[str], results: Sequence[MatchResult], payoff: np.ndarray) -> pl.DataFrame:
    """All ratings of a complete round robin; the additive one with intervals by bootstrap over the deals."""
    agents = len(names)
    samples = np.zeros((config.bootstrap, agents, agents))
    wins = np.zeros((agents, agents))
    games: list[tuple[int, int, float]] = []
    for result in results:
        i, j = result.agents
        draws = resampled(result.payoff[:, 0], config.bootstrap, seed=result.number)
        samples[:, i, j], samples[:, j, i] = draws, -draws
        better = np.sign(np.round(result.payoff[:, 0] - result.payoff[:, 1], 9))
        wins[i, j] = (better > 0).sum() + 0.5 * (better == 0).sum()
        wins[j, i] = result.deals - wins[i, j]
        games += [(i, j, float(one)) for one in better]
    order = np.random.default_rng(0).permutation(len(games))  # matches mixed, for OpenSkill's ratings drift
    skill = openskill([games[at] for at in order], agents)
    half = np.nan_to_num((payoff - payoff.T) / 2)
    low, high = interval(np.array([additive(sample) for sample in samples]))
    return pl.DataFrame(
        {
            "agent": names,
            "rating": additive(half),
            "low": low,
            "high": high,
            "bradley_terry": bradley_terry(wins),
            "openskill": skill[:, 0],
            "openskill_sigma": skill[:, 1],
            "nash_average": nash_average(half),
            "alpha_rank": alpha_rank(half),
        }
    ).sort("rating", descending=True)


def rows_by_seat(config: Any, names: Sequence[str], results: Sequence[MatchResult]) -> pl.DataFrame:
    """`deals.parquet`: one row a deal, game and seat."""
    game = get_game(config.game)
    frames = []
    for result in results:
        if result.games.is_empty():
            continue
        columns = ["agents", *BY_SEAT, *game.events]
        players = len(result.games["agents"][0])
        seats = pl.lit(list(range(players))).alias("seat")
        frame = result.games.select(pl.lit(result.number).alias("match"), "deal", "game", seats, *columns)
        frames.append(frame.explode("seat", *columns))
    if not frames:
        return pl.DataFrame()
    frame = pl.concat(frames).rename({"agents": "agent"})
    labels = pl.col("agent").replace_strict(dict(enumerate(names)), return_dtype=pl.String)
    return frame.with_columns(labels.alias("agent"), pl.col("luck").fill_nan(None))


def timings(folder: Path, names: Sequence[str]) -> pl.DataFrame:
    """Milliseconds of each agent per card chosen among several, over all parts of a folder."""
    seconds, cards = np.zeros(len(names)), np.zeros(len(names))
    for path in sorted(folder.glob("*.parquet")):
        part = read_part(path)
        if part is None or part.games.is_empty():
            continue
        seconds += part.about["seconds"]
        owners, free = _matrix(part.games, "agents"), _matrix(part.games, "free")
        cards += [free[owners == agent].sum() for agent in range(len(names))]
    each = np.divide(1000 * seconds, cards, out=np.full(len(names), np.nan), where=cards > 0)
    return pl.DataFrame({"agent": list(names), "cards": cards.astype(int), "seconds": seconds, "ms_per_card": each})
