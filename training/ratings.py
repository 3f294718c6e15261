"""Ratings from the results of a round robin: one row and one column an agent.

The payoff matrix is the result; each rating is a shorter story about it, with its own assumptions.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence

import numpy as np

PRIOR = 0.05  # pseudo-games of each pair, so that an agent which never loses has a finite Bradley-Terry rating


def additive(payoff: np.ndarray) -> np.ndarray:
    """Least-squares ratings f64[A] with mean 0 such that payoff[i, j] is about rating[i] - rating[j].

    Args:
        payoff: f64[A, A], mean payoff of the row against the column; NaN where they have not met.
    """
    agents = len(payoff)
    met = [(i, j) for i, j in itertools.combinations(range(agents), 2) if np.isfinite(payoff[i, j])]
    design = np.zeros((len(met) + 1, agents))
    values = np.zeros(len(met) + 1)
    for row, (i, j) in enumerate(met):
        design[row, i], design[row, j], values[row] = 1, -1, payoff[i, j]
    design[-1] = 1
    return np.linalg.lstsq(design, values, rcond=None)[0]


def bradley_terry(wins: np.ndarray) -> np.ndarray:
    """Maximum-likelihood strengths f64[A] (mean 0, natural logarithm of the odds) by library `choix`.

    Args:
        wins: f64[A, A], deals that the row has won of the column, ties half.
    """
    import choix

    met = (wins + wins.T) > 0
    return choix.ilsr_pairwise_dense(np.asarray(wins + PRIOR * met, np.float64), alpha=0.0)


def openskill(games: Sequence[tuple[int, int, float]], agents: int) -> np.ndarray:
    """OpenSkill's Plackett-Luce rating (mu, sigma) f64[A, 2] after the games in the order given.

    Args:
        games: (agent, agent, result): result above 0 where the first has won, below 0 the second, 0 a tie.
        agents: A.
    """
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    ratings = [model.rating() for _ in range(agents)]
    for first, second, result in games:
        ranks = [1.0, 1.0] if result == 0 else [1.0, 2.0] if result > 0 else [2.0, 1.0]
        (ratings[first],), (ratings[second],) = model.rate([[ratings[first]], [ratings[second]]], ranks=ranks)
    return np.array([[rating.mu, rating.sigma] for rating in ratings])


def nash_average(payoff: np.ndarray) -> np.ndarray:
    """The maximum-entropy Nash equilibrium of the meta-game f64[A] (Balduzzi et al., "Re-evaluating evaluation", 2018).

    Copies of an agent share its weight, and an agent that only beats the weak gets none.

    Args:
        payoff: f64[A, A], antisymmetric.
    """
    from scipy.optimize import minimize

    agents = len(payoff)
    scaled = payoff / max(np.abs(payoff).max(), 1e-12)
    constraints = [
        {"type": "eq", "fun": lambda p: p.sum() - 1},
        {"type": "ineq", "fun": lambda p: p @ scaled},  # nobody gains against the mixture; the value is 0
    ]

    def negative_entropy(p: np.ndarray) -> float:
        return float((p * np.log(np.maximum(p, 1e-300))).sum())

    start = _some_nash(scaled)
    best = minimize(
        negative_entropy,
        0.5 * start + 0.5 / agents,
        bounds=[(0, 1)] * agents,
        constraints=constraints,
        options={"maxiter": 1000, "ftol": 1e-12},
    )
    feasible = best.success and (best.x @ scaled > -1e-6).all()
    mixture = np.clip(best.x if feasible else start, 0, None)
    return mixture / mixture.sum()


def _some_nash(payoff: np.ndarray) -> np.ndarray:
    """Any equilibrium strategy f64[A] of an antisymmetric game, by linear programming."""
    from scipy.optimize import linprog

    agents = len(payoff)
    found = linprog(np.zeros(agents), A_ub=-payoff.T, b_ub=np.zeros(agents), A_eq=np.ones((1, agents)), b_eq=[1])
    return found.x if found.success else np.full(agents, 1 / agents)


def alpha_rank(payoff: np.ndarray) -> np.ndarray:
    """Mass f64[A] of each agent in the long run of the evolution of the meta-game (Omidshafiei et al., 2019).

    By OpenSpiel.

    Args:
        payoff: f64[A, A].
    """
    from open_spiel.python.egt import alpharank

    scaled = payoff / max(np.abs(payoff).max(), 1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # large differences overflow an exponential, harmlessly
        return np.asarray(alpharank.compute([scaled], use_inf_alpha=True)[2])


def cycles(low: np.ndarray) -> list[tuple[int, int, int]]:
    """Triples of agents of which the first beats the second, that the third, and the third the first.

    Args:
        low: f64[A, A], lower end of the interval of the row's payoff against the column.
    """
    beats = low > 0
    triples = itertools.permutations(range(len(low)), 3)
    return [t for t in triples if t[0] == min(t) and beats[t[0], t[1]] and beats[t[1], t[2]] and beats[t[2], t[0]]]
