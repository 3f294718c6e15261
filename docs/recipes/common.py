"""What the recipes share: the command line, a library's policy as an agent, and its measure against random."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np

from stich.agents import load_agent
from stich.envs.game import Game, get_game
from stich.training.evaluate import evaluate
from stich.training.seeds import TEST, seed_of


class PolicyAgent:
    """A policy as an agent: `choose(observations int8[N, D], masks bool[N, A])` returns N cards."""

    def __init__(self, name: str, game: str, choose: Callable[[np.ndarray, np.ndarray], Any]) -> None:
        self.name, self.game, self.choose = name, get_game(game), choose

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Cards int64[N] for views [N]; the policy takes its best card, so the keys are not needed."""
        return np.asarray(self.choose(self.game.encode(views), self.game.masks(views).astype(bool)), np.int64)


def arguments(about: str, minutes: float, **more: str) -> argparse.Namespace:
    """`--game`, `--minutes` of learning and `--deals` of the measure; `more`: further options and their help."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="herzeln", choices=["herzeln", "viersche"])
    parser.add_argument("--minutes", type=float, default=minutes, help="of learning, %(default)s by default")
    parser.add_argument("--deals", type=int, default=500, help="of the measure, each in all seatings")
    for name, text in more.items():
        parser.add_argument(f"--{name}", help=text)
    return parser.parse_args()


def measure(agent: Any, game: Game | str, deals: int, opponent: str = "random", **options: Any) -> float:
    """Play test deals against an agent and print the payoff in points a deal; returns the interval's lower end."""
    found = get_game(game)
    rules = found.options(**{"episode": "deal", **options})
    agents = [agent, load_agent(opponent, game=found.name)]
    (own, _), design = evaluate(found, rules, agents, [agent.name, opponent], deals=deals, seed=seed_of(TEST, 1))
    payoff = own.payoff
    print(
        f"{agent.name} and {opponent}, {found.name}, {design.name}, {deals} deals: "
        f"payoff {payoff.mean:+.2f} ({payoff.low:+.2f} to {payoff.high:+.2f})"
    )
    return payoff.low
