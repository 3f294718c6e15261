"""Payoffs of agents at one table, with 95 % intervals by deal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..envs.game import Game
from .match import Design, Estimate, distinct, make_design, play_deals

CHUNK = 20_000  # games that are played side by side; bounds the memory


@dataclass(frozen=True)
class Standing:
    """What one agent reached: payoff per seat and episode in points; in Viersche's deals its share of the points."""

    name: str
    payoff: Estimate
    share: Estimate | None

    def as_dict(self) -> dict[str, Any]:
        """The entry of `stich evaluate --json`."""
        found = {"name": self.name, "payoff": self.payoff.mean, "low": self.payoff.low, "high": self.payoff.high}
        if self.share is not None:
            found |= {"share": self.share.mean, "share_low": self.share.low, "share_high": self.share.high}
        return found


def labels(names: Sequence[str]) -> list[str]:
    """Names made distinct: the second `rules` is `rules#2`.

    >>> labels(["rules", "duck", "rules"])
    ['rules', 'duck', 'rules#2']
    """
    earlier = [list(names[:at]).count(name) for at, name in enumerate(names)]
    return [f"{name}#{count + 1}" if count else name for name, count in zip(names, earlier, strict=True)]


def evaluate(
    game: Game,
    options: Any,
    agents: Sequence[Any],
    names: Sequence[str],
    *,
    deals: int,
    seed: int,
    progress: Callable[[int], None] = lambda deals: None,
) -> tuple[list[Standing], Design]:
    """Play the same deals in every distinct seating and compare.

    Args:
        game: What is played.
        options: Its rules; where `episode` is longer than a deal, each counts as one "deal".
        agents: The agents, in the order given by the user.
        names: What they are called; agents of one name are taken to be the same.
        deals: Number of deals.
        seed: Seed of the environment (see `seeds`).
        progress: Called with the number of deals each time some are done.

    Returns:
        One standing for each agent, and the design that was played.
    """
    design = make_design(game, options.players, len(agents))
    seatings = distinct(design.seatings, names)
    chunk = max(1, CHUNK // len(seatings))
    payoffs, scores = [], []
    for first in range(0, deals, chunk):
        count = min(chunk, deals - first)
        payoff, score = play_deals(game, options, agents, seatings, seed=seed, first_deal=first, deals=count)
        payoffs.append(payoff)
        scores.append(score)
        progress(count)
    payoff, score = np.concatenate(payoffs), np.concatenate(scores)
    shown = labels(names)
    return [_standing(game, options, shown[i], names, i, seatings, payoff, score) for i in range(len(agents))], design


def _standing(
    game: Game,
    options: Any,
    label: str,
    names: Sequence[str],
    agent: int,
    seatings: np.ndarray,
    payoff: np.ndarray,
    score: np.ndarray,
) -> Standing:
    """Mean over the seats that agents of this name hold, deal by deal."""
    same = [i for i, name in enumerate(names) if name == names[agent]]
    held = np.isin(seatings, same)
    own = payoff[:, held].mean(1)
    share = None
    if game.name == "viersche" and options.episode == "deal":
        share = Estimate.of(score[:, held].mean(1) / game.rules.DEAL_POINTS)
    return Standing(label, Estimate.of(own), share)


def standing_text(standing: Standing) -> str:
    """Two cells of a table: the payoff, with the share of the points where there is one, and its interval."""
    payoff, share = standing.payoff, standing.share
    more = f" ({share.mean:.1%} of the points)" if share is not None else ""
    return f"{payoff.mean:+.2f}{more} | {payoff.low:+.2f} to {payoff.high:+.2f}"


def as_json(game: Game, deals: int, design: Design, standings: Sequence[Standing]) -> dict[str, Any]:
    """What `stich evaluate --json` writes."""
    return {
        "game": game.name,
        "deals": deals,
        "design": design.name,
        "agents": [standing.as_dict() for standing in standings],
    }
