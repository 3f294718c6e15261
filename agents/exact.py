"""Exact open-hand values of the cards of the seat to move, for searchers: one function a game."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..envs.game import Game


def _viersche(worlds: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Own side's card points minus the other's, from the solver of Viersche."""
    from .solver_viersche import card_values

    first = card_values(worlds)[:, cards].astype(float)  # card points of side 0
    sign = np.where(worlds["seat"] & 1, -1.0, 1.0)[:, None]
    return sign * (2 * first - 140)


def _herzeln(worlds: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """The mover's payoff where every seat makes its own as large as it can."""
    from .solver_herzeln import max_n

    return max_n(worlds).card_values[:, cards]


SOLVERS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {"herzeln": _herzeln, "viersche": _viersche}


def exact_payoffs(game: Game, worlds: np.ndarray, cards: np.ndarray) -> np.ndarray:
    """Payoff f64[W, C] of the seat to move after each card in each world, in units of a whole deal."""
    return SOLVERS[game.name](worlds, cards) / game.rules.DEAL_POINTS
