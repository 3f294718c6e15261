"""The tournament as held in Bad Rippoldsau: pairs, sessions, marks, a Bollenkönig (RULES, section 2.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from .results import MatchResult, by_deal
from .statistics import interval, resampled


def standings(config: Any, names: Sequence[str], matches: Sequence[MatchResult]) -> pl.DataFrame:
    """Marks, share of the wins and of the Bollenkönige of each pair, means over the tournaments played in full.

    Every pair meets every other in `meetings` sessions; the marks are summed. The fewest win, ties share; all
    pairs with the most are Bollenkönige.
    """
    marks = tournament_marks(config, len(names), matches)
    if not len(marks):
        return pl.DataFrame()
    fewest = marks == marks.min(1, keepdims=True)
    wins = fewest / fewest.sum(1, keepdims=True)
    kings = (marks == marks.max(1, keepdims=True)).astype(float)
    low, high = interval(resampled(np.stack([marks, wins, kings], 1), config.bootstrap, seed=0))
    columns: dict[str, Any] = {"pair": list(names)}
    for place, (name, values) in enumerate((("marks", marks), ("wins", wins), ("bollenkoenig", kings))):
        columns |= {name: values.mean(0), f"{name}_low": low[place], f"{name}_high": high[place]}
    return pl.DataFrame(columns).sort("marks")


def tournament_marks(config: Any, pairs: int, matches: Sequence[MatchResult]) -> np.ndarray:
    """f64[T, A]: marks of each pair in each tournament whose sessions have all been played."""
    marks = np.zeros((config.deals, pairs))
    sessions = np.zeros(config.deals, int)
    for result in matches:
        if not result.deals:
            continue
        tournament = np.sort(result.games["deal"].unique().to_numpy()) // config.meetings
        np.add.at(sessions, tournament, 1)
        scores = by_deal(result.games, "score", result.agents)
        for at, agent in enumerate(result.agents):
            np.add.at(marks[:, agent], tournament, scores[:, at])
    return marks[sessions == config.meetings * len(matches)]
