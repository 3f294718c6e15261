"""Agents that misbehave, for the tests of tournaments."""

from __future__ import annotations

import os
import time
from typing import Any

import numpy as np

from stich.agents import load_agent


class Careful:
    """Plays as `low`; the others below do so too, but for the deals in which seat 0 holds the ace of clubs."""

    name = "careful"

    def __init__(self, game: str) -> None:
        self.low = load_agent("low" if game == "herzeln" else "greedy", game=game)

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        for view in views:
            if view["observer"] == 0 and view["plays"] < 4 and int(view["hands"][0]) >> 12 & 1:
                return self.misbehave(views)
        return self.low.act(views, keys)

    def misbehave(self, views: np.ndarray) -> Any:
        return self.low.act(views, np.zeros(len(views), np.uint64))


class Raises(Careful):
    """Raises."""

    name = "raises"

    def misbehave(self, views: np.ndarray) -> Any:
        raise RuntimeError("no idea\nwhat to play")


class Illegal(Careful):
    """Plays a card that is not there."""

    name = "illegal"

    def misbehave(self, views: np.ndarray) -> Any:
        return np.full(len(views), 99)


class Hangs(Careful):
    """Never answers."""

    name = "hangs"

    def misbehave(self, views: np.ndarray) -> Any:
        time.sleep(1000)


class Crashes(Careful):
    """Takes its process with it."""

    name = "crashes"

    def misbehave(self, views: np.ndarray) -> Any:
        os._exit(7)


class Counting:
    """A recipe whose jobs are numbers to be returned; for the workers alone."""

    asked = 1

    def open(self) -> Counting:
        return self

    def run(self, job: int, asking: Any) -> int:
        if job < 0:
            with asking(0):
                time.sleep(0.4)
        return job
