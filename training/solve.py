"""Open-hand solutions of deals: one given card by card, or many random ones on several processes."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..agents.files import write_atomically
from ..envs.batch import make_batch
from ..envs.errors import OptionError
from ..envs.game import Game, get_game
from .seeds import TEST, seed_of
from .workers import Failure, LocalPool, work_off

CHUNK = 20  # deals of a job


def given_deal(game: Game, hands: str, options: Mapping[str, Any], about: Mapping[str, Any]) -> np.ndarray:
    """The state [1] of a deal: hands by seat, parted by `/`, their cards by spaces; ready to be played.

    Raises:
        OptionError, DealError: what is wrong and what is valid.
    """
    rows = [hand.split() for hand in hands.split("/")]
    kept = {"episode": "deal", **({"passing": "none"} if game.name == "herzeln" else {}), **options}
    batch = make_batch(game.name, 1, deals=[{"hands": rows, **about}], **kept)
    return batch.states


def solve_states(game: Game, states: np.ndarray, nodes: int = 0, line: bool = False) -> pl.DataFrame:
    """What the game's solver says of states [N], a row a state (Herzeln: a row a state and seat).

    Viersche: `low` and `high`, card points of side 0 with perfect open-hand play, equal where exact. Herzeln: `moon`,
    whether that seat can take all penalty cards against any defence: yes, no or undecided.
    """
    return SOLVE[game.name](states, nodes, line)


def _viersche(states: np.ndarray, nodes: int, line: bool) -> pl.DataFrame:
    from ..agents.solver_viersche import solve

    found = solve(states, nodes=nodes, line=line)
    columns: dict[str, Any] = {"low": found.low, "high": found.high, "nodes": found.nodes}
    if found.line is not None:
        columns["line"] = _names("viersche", found.line)
    return pl.DataFrame(columns)


def _herzeln(states: np.ndarray, nodes: int, line: bool) -> pl.DataFrame:
    from ..agents.solver_moon import NO, YES, moon

    words = {YES: "yes", NO: "no"}
    frames = []
    for seat in range(int(states["players"][0])):
        found = moon(states, seat, nodes=nodes, line=line)
        columns: dict[str, Any] = {"row": np.arange(len(states)), "seat": [seat] * len(states)}
        columns |= {"moon": [words.get(int(x), "undecided") for x in found.forced], "nodes": found.nodes}
        if found.lines is not None:
            columns["line"] = _names("herzeln", found.lines)
        frames.append(pl.DataFrame(columns))
    return pl.concat(frames).sort("row", "seat").drop("row")


SOLVE: dict[str, Callable[[np.ndarray, int, bool], pl.DataFrame]] = {"herzeln": _herzeln, "viersche": _viersche}


def _names(game: str, lines: list[list[int]]) -> list[str]:
    deck = get_game(game).deck
    return [" ".join(deck.name(card) for card in line) for line in lines]


@dataclass(frozen=True)
class SolveRecipe:
    """What a worker needs to solve random deals."""

    game: str
    options: Mapping[str, Any]
    seed: int
    nodes: int
    asked: int = 1

    def open(self) -> SolveRecipe:
        return self

    def run(self, job: tuple[int, int], asking: Any) -> pl.DataFrame:
        """The rows of some deals."""
        first, count = job
        game = get_game(self.game)
        rules = game.options(**self.options)
        states = game.new_states(rules, self.seed, np.zeros(count, np.uint64), np.arange(first, first + count))
        game.lanes.open_lanes(states, np.ones(count, bool))
        frames = []
        for place in range(count):
            started = time.process_time()
            frame = solve_states(game, states[place : place + 1], self.nodes)
            spent = 1000 * (time.process_time() - started)
            frames.append(frame.select(pl.lit(first + place).alias("deal"), pl.all(), pl.lit(spent).alias("ms")))
        return pl.concat(frames)


def solve_random(
    game: Game,
    options: Mapping[str, Any],
    deals: int,
    seed: int,
    nodes: int,
    processes: int,
    file: Path,
    progress: Callable[[int], None] = lambda deals: None,
) -> pl.DataFrame:
    """Solve random test deals on several processes; the rows are also written to `file` (Parquet)."""
    kept = {"episode": "deal", **({"passing": "none"} if game.name == "herzeln" else {}), **options}
    game.options(**kept)
    recipe = SolveRecipe(game.name, kept, seed_of(TEST, seed), nodes)
    jobs = iter([(first, min(CHUNK, deals - first)) for first in range(0, deals, CHUNK)])
    pool = LocalPool(recipe, patience=1e9, size=processes)
    found: dict[int, pl.DataFrame] = {}
    try:
        for job, frame in work_off(pool, lambda: next(jobs, None)):
            if isinstance(frame, Failure):
                raise OptionError(f"deals from {job[0]} on can't be solved: {frame.reason}")
            found[job[0]] = frame
            progress(job[1])
    finally:
        pool.close()
    rows = pl.concat([found[first] for first in sorted(found)])
    buffer = io.BytesIO()
    rows.write_parquet(buffer)
    write_atomically(file, buffer.getvalue())
    return rows
