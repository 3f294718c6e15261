"""What a player can know: the chance of a moon and the gain of trying, from what is in the hand.

Three models of the chance: a rule of thumb (losers are counted), a logistic regression on a few features, and boosted
trees on all of them; of the gain boosted trees. Deals are split by number into those that models are fitted on, those
that their probabilities are adjusted on, and those on which all figures are reported.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..agents.moon_features import FEATURES, column, lost_cards
from ..envs.errors import OptionError
from .moon_play import break_even
from .statistics import interval, resampled

FIT, ADJUST, REPORT = range(3)
PARTS = 5  # of the deals, three are for fitting
SIMPLE = ("heart_losers", "other_losers", "top_cards", "hearts", "longest", "queen_guarded", "low_cards", "passing")
"""Features of the logistic regression: what a player counts at the table."""
BINS = 15  # of a reliability curve, with as many deals each
NEAR = 0.15  # hands whose chance is within that of the break-even chance are those for which it is a question
ROUNDS, FEWEST = 5, 20  # in which the break-even chance is found; from so many failures on
ALMOST = 1e-6  # probabilities are kept that far from 0 and 1


def part_of(deals: np.ndarray) -> np.ndarray:
    """int64[N]: which part of the work each deal serves, by its number; all directions of passing serve in each."""
    place = deals // 16 % PARTS
    return np.where(place < 3, FIT, np.where(place == 3, ADJUST, REPORT))


def logit(chance: np.ndarray) -> np.ndarray:
    """Log-odds."""
    kept = np.clip(chance, ALMOST, 1 - ALMOST)
    return np.log(kept / (1 - kept))


@dataclass
class Chance:
    """A model of the chance of a moon.

    Args:
        names: The features it looks at.
        model: Anything with `fit` and `predict_proba`.
    """

    names: Sequence[str]
    model: Any

    def fit(self, features: np.ndarray, moon: np.ndarray, parts: np.ndarray) -> Chance:
        """Fit on one part of the rows, adjust the log-odds linearly on another."""
        fit, adjust = parts == FIT, parts == ADJUST
        if len(np.unique(moon[adjust])) < 2:
            adjust = np.ones(len(moon), bool)  # too few deals to keep some apart
        if len(np.unique(moon[fit])) < 2:
            raise OptionError(f"{moon.sum()} moons in {len(moon)} deals are too few to learn from. Valid: more deals")
        self.model.fit(self._x(features[fit]), moon[fit])
        raw = logit(self.model.predict_proba(self._x(features[adjust]))[:, 1])[:, None]
        self.adjusted = LogisticRegression(C=1e6).fit(raw, moon[adjust])
        return self

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """f64[N]: the chance of each row f32[N, F]."""
        raw = logit(self.model.predict_proba(self._x(features))[:, 1])[:, None]
        return self.adjusted.predict_proba(raw)[:, 1]

    def _x(self, features: np.ndarray) -> np.ndarray:
        return features[:, [column(name) for name in self.names]]


def simple_chance() -> Chance:
    """The model that a person can write down."""
    return Chance(SIMPLE, make_pipeline(StandardScaler(), LogisticRegression(C=1.0, max_iter=1000)))


def strong_chance(rows: int) -> Chance:
    """The model that gets all it can from the features."""
    return Chance(FEATURES, HistGradientBoostingClassifier(**_trees(rows)))


def gain_model(rows: int) -> Any:
    """Boosted trees for the gain of trying, or for another payoff."""
    return HistGradientBoostingRegressor(**_trees(rows))


def _trees(rows: int) -> dict[str, Any]:
    """Small trees, large leaves: payoffs are noisy."""
    leaf = max(20, min(400, rows // 100))
    return {"learning_rate": 0.06, "max_iter": 150, "max_leaf_nodes": 15, "min_samples_leaf": leaf, "random_state": 0}


# ------------------------------------------------------------------------------------------- calibration


@dataclass(frozen=True)
class Calibration:
    """How well chances are told.

    Attributes:
        deals, moons: Rows, and successes among them.
        brier: Mean squared error of the chance; `brier_base` of one chance for all.
        error: Expected calibration error: mean distance of chance and share over bins of equal size.
        slope, slope_low, slope_high: Of the log-odds regressed on those told; 1 is right, below it overconfident.
        auc: Probability that a success was given the higher chance.
        told, seen: f64[bins], mean chance told and share of moons in each bin.
        counts: int[bins].
    """

    deals: int
    moons: int
    brier: float
    brier_base: float
    error: float
    slope: float
    slope_low: float
    slope_high: float
    auc: float
    told: np.ndarray
    seen: np.ndarray
    counts: np.ndarray

    def as_dict(self) -> dict[str, Any]:
        """The figures without the curve."""
        return {name: value for name, value in self.__dict__.items() if name not in ("told", "seen", "counts")}


def calibrate(chance: np.ndarray, moon: np.ndarray, deals: np.ndarray | None = None) -> Calibration:
    """Compare chances f64[N] with what happened bool[N].

    Args:
        chance, moon: One a row.
        deals: Number of the deal of each row, where several rows are of one deal; intervals are by deal.
    """
    from sklearn.metrics import roc_auc_score

    chance, moon = chance.astype(float), moon.astype(float)
    order = np.argsort(chance, kind="stable")
    bins = [rows for rows in np.array_split(order, BINS) if len(rows)]
    told, seen = np.array([chance[b].mean() for b in bins]), np.array([moon[b].mean() for b in bins])
    counts = np.array([len(b) for b in bins])
    slope, error = _slope(chance, moon, deals)
    both = 0 < moon.sum() < len(moon)
    return Calibration(
        deals=len(moon),
        moons=int(moon.sum()),
        brier=float(((chance - moon) ** 2).mean()),
        brier_base=float(moon.mean() * (1 - moon.mean())),
        error=float(np.abs(told - seen) @ counts / counts.sum()),
        slope=slope,
        slope_low=slope - 1.96 * error,
        slope_high=slope + 1.96 * error,
        auc=float(roc_auc_score(moon, chance)) if both else float("nan"),
        told=told,
        seen=seen,
        counts=counts,
    )


def _slope(chance: np.ndarray, moon: np.ndarray, deals: np.ndarray | None) -> tuple[float, float]:
    """Slope of the calibration and its standard error, rows of one deal taken together."""
    x = np.stack([np.ones(len(chance)), logit(chance)], 1)
    model = LogisticRegression(C=1e9, max_iter=1000).fit(x[:, 1:], moon)
    beta = np.array([model.intercept_[0], model.coef_[0, 0]])
    p = 1 / (1 + np.exp(-x @ beta))
    bread = np.linalg.inv((x * (p * (1 - p))[:, None]).T @ x)
    scores = x * (moon - p)[:, None]
    if deals is not None:
        _, which = np.unique(deals, return_inverse=True)
        summed = np.zeros((which.max() + 1, 2))
        np.add.at(summed, which, scores)
        scores = summed
    return float(beta[1]), float(np.sqrt((bread @ (scores.T @ scores) @ bread)[1, 1]))


# ------------------------------------------------------------------------------------ break-even, rules


def break_even_of(never: np.ndarray, always: np.ndarray, moon: np.ndarray, draws: int, seed: int) -> dict[str, float]:
    """Values of normal play and of failed attempts and the break-even chance, with intervals by deal.

    Args:
        never, always: f64[N], payoffs of the same deals.
        moon: bool[N], whether the attempt succeeded.
        draws, seed: Of the bootstrap.
    """
    fail = ~moon
    values = np.stack([never, np.where(fail, always, 0.0), fail, moon, always - never], 1).astype(float)
    names = ("v0", "f", "success", "gain", "cost", "break_even")

    def figures(mean: np.ndarray) -> np.ndarray:
        failed = mean[1] / mean[2] if mean[2] > 0 else np.nan
        return np.array([mean[0], failed, mean[3], mean[4], mean[0] - failed, break_even(mean[0], failed)])

    found = figures(values.mean(0))
    low, high = interval(resampled(values, draws, seed, figures))
    row: dict[str, float] = {"deals": len(never)}
    for place, name in enumerate(names):
        row |= {name: found[place], f"{name}_low": low[place], f"{name}_high": high[place]}
    return row


def level(chance: np.ndarray, never: np.ndarray, always: np.ndarray, moon: np.ndarray) -> float:
    """The break-even chance where it matters: of the hands whose chance is near it."""
    found, near = 0.0, np.ones(len(chance), bool)
    for _ in range(ROUNDS):
        if (near & ~moon).sum() >= FEWEST:
            found = float(break_even(never[near].mean(), always[near & ~moon].mean()))
        near = np.abs(chance - found) < NEAR
    return found


def best_threshold(score: np.ndarray, gain: np.ndarray) -> int:
    """The whole number up to which going for it gains most."""
    levels = np.arange(int(score.min()) - 1, int(score.max()) + 1)
    return int(levels[np.argmax([gain[score <= level].sum() for level in levels])])


@dataclass(frozen=True)
class Simple:
    """What a player can carry to the table.

    Attributes:
        chance: The chance from a few features.
        threshold: The break-even chance, one for all hands.
        losers: (three cards to pass, none): go with up to so many losers, a heart counting twice.
    """

    chance: Chance
    threshold: float
    losers: tuple[int, int]

    @classmethod
    def fit(cls, features: np.ndarray, never: np.ndarray, always: np.ndarray, moon: np.ndarray, parts: Any) -> Simple:
        """From one part of the deals: features f32[N, F], payoffs of normal play and attempt, success, parts [N]."""
        fit, gain = parts == FIT, always - never
        chance = simple_chance().fit(features, moon, parts)
        threshold = level(chance(features)[fit], never[fit], always[fit], moon[fit])
        lost, passing = lost_cards(features), features[:, column("passing")] > 0
        losers = [best_threshold(lost[fit & which], gain[fit & which]) for which in _halves(fit, passing)]
        return cls(chance, threshold, (losers[0], losers[1]))

    def goes(self, features: np.ndarray) -> np.ndarray:
        """bool[N]: the chance is above the break-even chance."""
        return self.chance(features) > self.threshold

    def counts(self, features: np.ndarray) -> np.ndarray:
        """bool[N]: the losers are few enough."""
        return lost_cards(features) <= np.where(features[:, column("passing")] > 0, *self.losers)

    def near(self, features: np.ndarray) -> np.ndarray:
        """bool[N]: hands for which it is a question."""
        return np.abs(self.chance(features) - self.threshold) < NEAR


@dataclass(frozen=True)
class Rules:
    """Ways to decide by the hand, all fitted on the same deals.

    Attributes:
        simple: What a player can carry to the table.
        strong: The chance from all features.
        gain: The gain from all features.
    """

    simple: Simple
    strong: Chance
    gain: Any

    @classmethod
    def fit(cls, features: np.ndarray, never: np.ndarray, always: np.ndarray, moon: np.ndarray, parts: Any) -> Rules:
        """As for `Simple`."""
        fit = parts == FIT
        simple = Simple.fit(features, never, always, moon, parts)
        strong = strong_chance(int(fit.sum())).fit(features, moon, parts)
        return cls(simple, strong, gain_model(int(fit.sum())).fit(features[fit], (always - never)[fit]))

    def decisions(self, features: np.ndarray) -> dict[str, np.ndarray]:
        """bool[N] by the name of each rule: go for the moon."""
        return {
            "never": np.zeros(len(features), bool),
            "always": np.ones(len(features), bool),
            "count losers": self.simple.counts(features),
            "break-even, few features": self.simple.goes(features),
            "break-even, all features": self.strong(features) > self.simple.threshold,
            "gain, all features": self.gain.predict(features) > 0,
        }


def _halves(fit: np.ndarray, passing: np.ndarray) -> list[np.ndarray]:
    """Deals with and without passing; where there are only some of one kind, they speak for the other."""
    return [which if (fit & which).any() else np.ones(len(fit), bool) for which in (passing, ~passing)]
