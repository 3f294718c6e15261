"""The named benchmark: fixed deals, a fixed field of shipped agents, one score.

The number in the name goes up whenever anything here changes, so that scores of one name stay comparable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..agents import load_agent
from ..envs.game import get_game
from .match import Estimate, make_design, owners_of, play_match
from .seeds import BENCHMARK, seed_of

DEALS = 1000


@dataclass(frozen=True)
class Benchmark:
    """What is played.

    Attributes:
        name: With its version.
        game: Name of the game.
        rules: Its options.
        field: The opponents, each met head-to-head; they count alike.
    """

    name: str
    game: str
    rules: dict[str, Any]
    field: tuple[str, ...]


BENCHMARKS = {
    "herzeln": Benchmark(
        "stich-herzeln-1", "herzeln", {"preset": "hearts", "episode": "deal"}, ("low", "duck", "rules")
    ),
    "viersche": Benchmark("stich-viersche-1", "viersche", {"episode": "deal"}, ("random", "greedy", "rules")),
}


@dataclass(frozen=True)
class Score:
    """The result of a benchmark: payoff per seat and deal against each opponent, and the mean of these."""

    benchmark: Benchmark
    agent: str
    score: Estimate
    rows: list[tuple[str, Estimate]]

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        rows = [{"opponent": name, "payoff": x.mean, "low": x.low, "high": x.high} for name, x in self.rows]
        score = {"score": self.score.mean, "low": self.score.low, "high": self.score.high}
        return {"benchmark": self.benchmark.name, "agent": self.agent, "deals": DEALS, **score, "against": rows}

    def markdown(self) -> str:
        """A table to publish."""
        lines = [f"| {self.benchmark.name} | payoff | 95 % interval |", "|---|---|---|"]
        for name, value in [*self.rows, ("**score**", self.score)]:
            label = name if name.startswith("**") else f"{self.agent} against {name}"
            lines.append(f"| {label} | {value.mean:+.3f} | {value.low:+.3f} to {value.high:+.3f} |")
        return "\n".join(lines) + "\n"


def run_benchmark(name: str, agent: Any, progress: Callable[[int], None] = lambda deals: None) -> Score:
    """Play the benchmark of a game.

    Args:
        name: Name of the game.
        agent: What is measured.
        progress: Called with the number of deals each time some are done.
    """
    benchmark = BENCHMARKS[get_game(name).name]
    game = get_game(benchmark.game)
    rules = game.options(**benchmark.rules)
    seatings = make_design(game, rules.players, 2).seatings
    values = []
    for opponent in benchmark.field:
        pair, payoffs = [agent, load_agent(opponent, game=game)], []
        for first in range(0, DEALS, 250):
            owners = owners_of(seatings, first, 250)
            played = play_match(game, rules, pair, owners, seed=seed_of(BENCHMARK, 0), first_deal=first)
            payoffs.append(played.payoff_of(0))
            progress(250)
        values.append(np.concatenate(payoffs))
    rows = [(opponent, Estimate.of(payoff)) for opponent, payoff in zip(benchmark.field, values, strict=True)]
    label = str(getattr(agent, "name", type(agent).__name__))
    return Score(benchmark, label, Estimate.of(np.mean(values, 0)), rows)
