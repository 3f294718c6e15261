"""Means with intervals from one value a deal; deals are the independent draws, not hands and not games."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..envs.errors import OptionError

NORMAL_95, NORMAL_80 = 1.959964, 0.841621  # quantiles of the normal distribution for 95 % and 80 % (one-sided)
LEAST_LOOK = 50  # deals before a sequential rule may first stop: its interval is valid for large numbers


def resampled(values: np.ndarray, draws: int, seed: int, statistic: Callable[[np.ndarray], Any] | None = None) -> Any:
    """Bootstrap over deals: means (or a statistic of the means) of resampled deals.

    All columns are resampled together, so that differences between them keep their pairing.

    Args:
        values: f64[D, ...], one entry a deal.
        draws: B, number of resamples.
        seed: The same seed, the same resamples.
        statistic: Applied to each resample's means [...]; the means themselves by default.

    Returns:
        An array [B, ...].
    """
    deals = len(values)
    rng = np.random.default_rng(seed)
    flat = values.reshape(deals, -1)
    means = np.empty((draws, flat.shape[1]))
    for row in range(draws):
        means[row] = np.bincount(rng.integers(0, deals, deals), minlength=deals) @ flat / deals
    means = means.reshape(draws, *values.shape[1:])
    return means if statistic is None else np.array([statistic(mean) for mean in means])


def interval(resamples: np.ndarray, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    """The percentile interval of resamples [B, ...]: low and high [...]."""
    tail = (1 - level) / 2
    low, high = np.quantile(resamples, [tail, 1 - tail], axis=0)
    return low, high


def deals_to_separate(values: np.ndarray) -> float:
    """Deals at which a difference of this size leaves 0 outside the 95 % interval in 80 % of studies.

    Args:
        values: f64[D], the paired difference on each deal.
    """
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    return math.inf if mean == 0 else ((NORMAL_95 + NORMAL_80) * spread / mean) ** 2


def confidence_sequence(values: np.ndarray, level: float = 0.95, tuned_for: int = 1000) -> np.ndarray:
    """Half-widths that hold at all numbers of deals at once, so that one may look as often as one likes.

    The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas ("Time-uniform central
    limit theory and asymptotic confidence sequences", 2021), which mixes over the normal distribution.

    Args:
        values: f64[D], one a deal in the order played.
        level: Probability that no interval of the sequence misses the truth.
        tuned_for: The number of deals at which the sequence is narrowest.

    Returns:
        f64[D]: half-width around the mean of the first 1, 2, ..., D values; infinite below `LEAST_LOOK`.
    """
    n = np.arange(1, len(values) + 1)
    mean = np.cumsum(values) / n
    variance = np.maximum(np.cumsum(values**2) / n - mean**2, 0) * n / np.maximum(n - 1, 1)
    alpha = 1 - level
    rho2 = (-2 * math.log(alpha) + math.log(-2 * math.log(alpha)) + 1) / tuned_for
    scale = np.sqrt(2 * (n * rho2 + 1) / (n**2 * rho2) * np.log(np.sqrt(n * rho2 + 1) / alpha))
    return np.where(n < LEAST_LOOK, math.inf, scale * np.sqrt(variance))


@dataclass(frozen=True)
class Stop:
    """When a match may end before its last deal; both rules may be looked at after every deal.

    Attributes:
        precision: End when the interval's half-width (points) is at most this.
        separate: End when the interval leaves 0 out.
        level: Probability that the interval at the end holds the truth.
    """

    precision: float | None = None
    separate: bool = False
    level: float = 0.95

    def __post_init__(self) -> None:
        if self.precision is not None and not 0 < self.precision < math.inf:
            raise OptionError(f"stop precision={self.precision} is not valid. Valid: points above 0, or null")
        if not 0.5 <= self.level < 1:
            raise OptionError(f"stop level={self.level} is not valid. Valid: 0.5 to below 1")

    @property
    def never(self) -> bool:
        """Whether all deals are played in any case."""
        return self.precision is None and not self.separate

    def after(self, values: np.ndarray) -> int | None:
        """Deals after which the match ends, given the values [D] so far; None to go on."""
        if self.never or not len(values):
            return None
        half = confidence_sequence(values, self.level)
        mean = np.cumsum(values) / np.arange(1, len(values) + 1)
        over = np.zeros(len(values), bool)
        if self.precision is not None:
            over |= half <= self.precision
        if self.separate:
            over |= np.abs(mean) > half
        return int(np.flatnonzero(over)[0]) + 1 if over.any() else None

    def after_all(self, values: np.ndarray) -> int | None:
        """The same for several agents [D, A]: when it is over for each of them."""
        ends = [self.after(values[:, column]) for column in range(values.shape[1])]
        return None if None in ends else max(end for end in ends if end is not None)


def control_variate(values: np.ndarray, control: np.ndarray) -> np.ndarray:
    """The values less what a control of mean 0 explains of them: the same mean, less spread.

    Args:
        values: f64[D].
        control: f64[D], known before the play and 0 on average by design, such as the value function's payoff
            of an agent's seats where these are drawn without regard to the cards.
    """
    if len(values) < 3 or not np.isfinite(control).all() or control.var() == 0:
        return values
    slope = np.cov(values, control)[0, 1] / control.var(ddof=1)
    return values - slope * control


def variance_gain(independent: float, paired: np.ndarray, games: int) -> float:
    """How many times fewer games a design needs than games on deals of their own.

    Args:
        independent: Variance of the estimate of one game (or of one pair of games of two agents) on a deal of its own.
        paired: f64[D], the design's value on each deal.
        games: Games that the design plays a deal (or pairs of games).
    """
    return independent / (games * float(paired.var(ddof=1)))
