"""What the study of the moon has brought: tables, pictures and a report, from the parts of its work.

Every table is a Parquet file of the folder under its name here, the pictures are PNG files, and `report.md` shows both.
`deals.parquet` holds every deal under all policies, `moments.parquet` every attempt trick by trick.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from ..agents.files import write_atomically
from ..agents.moon_features import FEATURES, column, lost_cards, promising
from ..envs.cards import NO_SEAT
from ..envs.herzeln import DEAL_POINTS
from .match import Estimate
from .moon_config import CENSUS, POLICIES, MoonConfig
from .moon_context import VARIANTS, ScoreValue
from .moon_jobs import GIVE_UP, all_rows, write_rows
from .moon_models import REPORT, Calibration, Rules, Simple, break_even_of, calibrate, part_of, strong_chance
from .moon_play import PASSED
from .statistics import interval, resampled

SCENES: tuple[tuple[str, tuple[int, ...]], ...] = (
    ("start of the game", (0, 0, 0, 0)),
    ("all at 50", (50, 50, 50, 50)),
    ("ahead, 20 against 50", (20, 50, 50, 50)),
    ("behind, 50 against 20", (50, 20, 20, 20)),
    ("one other at 80, own 40", (40, 80, 60, 50)),
    ("second, the leader far ahead", (60, 10, 70, 70)),
    ("near the end and last", (90, 40, 60, 60)),
    ("near the end and first", (40, 90, 80, 80)),
    ("all near the end", (85, 85, 85, 85)),
)
"""Scores by seat, the own first, at which the moon is weighed."""
LOSERS = ((0, 1), (2, 3), (4, 5), (6, 8), (9, 11), (12, 26))  # classes of hands by losers, a heart counting twice
AS_RULES = "as `rules` does, in mid-deal"
GRID = np.arange(0, 100, 10)
DECIDED = 0.01  # share of games that a moon must at least decide; below there is no break-even chance
OUTCOMES = 400  # deals whose points stand for normal play, and as many for failed attempts, where scores are valued


@dataclass(frozen=True)
class Study:
    """What the parts of a folder hold, put together.

    Attributes:
        config: The study.
        deals: By setting, a row a deal under all policies.
        moments: By setting, attempts trick by trick.
        rules: Ways to decide, fitted in the main setting.
        tables: What is reported, by name.
        curves: Calibrations by name, with their reliability curves.
    """

    config: MoonConfig
    deals: dict[str, pl.DataFrame]
    moments: dict[str, pl.DataFrame]
    rules: Rules
    tables: dict[str, pl.DataFrame]
    curves: dict[str, Calibration]

    @property
    def main(self) -> pl.DataFrame:
        """The deals of the main setting."""
        return self.deals[self.config.main]


def features(rows: pl.DataFrame, prefix: str) -> np.ndarray:
    """f32[N, F]: the features of rows at a moment."""
    return rows.select([f"{prefix}_{name}" for name in FEATURES]).to_numpy().astype(np.float32)


def arrays(rows: pl.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Payoff of normal play and of the attempt, and whether it succeeded."""
    return rows["never_payoff"].to_numpy(), rows["always_payoff"].to_numpy(), rows["always_moon"].to_numpy()


def collect(config: MoonConfig, out: Path) -> Study:
    """Read the parts, fit the models, make all tables."""
    settings = config.all_settings()
    places = {setting.name: place for place, setting in enumerate(settings)}
    deals = {name: all_rows(config, out, "pairs", place) for name, place in places.items()}
    moments = {name: all_rows(config, out, "moments", places[name]) for name in config.moments}
    main = deals[config.main]
    rules = Rules.fit(features(main, "dealt"), *arrays(main), part_of(main["deal"].to_numpy()))
    study = Study(config, deals, moments, rules, {}, {})
    for name, make in TABLES.items():
        study.tables[name] = make(study, out)
    return study


# ------------------------------------------------------------------------------------------------ tables


def census_table(study: Study, out: Path) -> pl.DataFrame:
    """Moons a deal over all seats at tables of four equal agents."""
    rows = []
    for place, (preset, agent) in enumerate(CENSUS):
        found = Estimate.of(all_rows(study.config, out, "census", place)["moons"].to_numpy())
        rows.append({"preset": preset, "table": f"four {agent}", **_estimate("moons", found)})
    return pl.DataFrame(rows)


def _estimate(name: str, found: Estimate) -> dict[str, float]:
    return {name: found.mean, f"{name}_low": found.low, f"{name}_high": found.high}


def pairs_table(study: Study, out: Path) -> pl.DataFrame:
    """For each setting, over the promising hands: success, gain, what failures cost, break-even."""
    config, rows = study.config, []
    for name, deals in study.deals.items():
        dealt = features(deals, "dealt")
        kept = promising(dealt)
        if kept.sum() < 10:
            continue
        never, always, moon = (values[kept] for values in arrays(deals))
        row: dict[str, Any] = {"setting": name, **break_even_of(never, always, moon, config.bootstrap, 0)}
        free = deals["free_payoff"].to_numpy()[kept]
        row |= _estimate("free_gain", Estimate.of(free - never))
        row |= {"free_moons": float(deals["free_moon"].to_numpy()[kept].mean())}
        goes = study.rules.simple.goes(dealt[kept])
        row |= _estimate("rule_gain", Estimate.of((always - never) * goes))
        rows.append(row)
    return pl.DataFrame(rows)


def everyday_table(study: Study, out: Path) -> pl.DataFrame:
    """For each setting in which all hands are played: what a rule fitted there gains over all of them."""
    rows = []
    for setting in study.config.all_settings():
        if setting.promising:
            continue
        deals = study.deals[setting.name]
        dealt, parts = features(deals, "dealt"), part_of(deals["deal"].to_numpy())
        never, always, moon = arrays(deals)
        rules, report = Simple.fit(dealt, never, always, moon, parts), parts == REPORT
        goes, gain = rules.goes(dealt)[report], always - never
        row: dict[str, Any] = {"setting": setting.name, "deals": int(report.sum()), "tries": float(goes.mean())}
        row |= {"success": float(moon[report][goes].mean()) if goes.any() else None}
        row |= _estimate("gain", Estimate.of(gain[report] * goes))
        row |= _estimate("free_gain", Estimate.of((deals["free_payoff"].to_numpy() - never)[report]))
        row |= {"break_even": rules.threshold, "losers_passing": rules.losers[0], "losers_as_it_is": rules.losers[1]}
        rows.append(row | {"always_success": float(moon.mean())})
    return pl.DataFrame(rows)


def losers_table(study: Study, out: Path) -> pl.DataFrame:
    """For each setting with all hands and each number of losers: chance, gain, values, break-even."""
    rows = []
    for name, deals in study.deals.items():
        lost = lost_cards(features(deals, "dealt"))
        never, always, moon = arrays(deals)
        for count in np.unique(lost):
            which = lost == count
            if which.sum() >= 30:
                found = break_even_of(never[which], always[which], moon[which], study.config.bootstrap, 0)
                rows.append({"setting": name, "losers": int(count), "share": float(which.mean()), **found})
    return pl.DataFrame(rows)


def by_losers_table(study: Study, out: Path) -> pl.DataFrame:
    """In the main setting, by passing and losers: chance, gain, values, break-even."""
    dealt, rows = features(study.main, "dealt"), []
    lost, passing = lost_cards(dealt), dealt[:, column("passing")] > 0
    never, always, moon = arrays(study.main)
    for passes in (True, False):
        for count in np.unique(lost):
            which = (passing == passes) & (lost == count)
            if which.sum() >= 30:
                found = break_even_of(never[which], always[which], moon[which], study.config.bootstrap, 0)
                share = float(which.sum() / (passing == passes).sum())
                rows.append({"passing": passes, "losers": int(count), "share": share, **found})
    return pl.DataFrame(rows)


def achieved_table(study: Study, out: Path) -> pl.DataFrame:
    """What agents make of the hands of `forced_table`, in the main setting's deals without passing."""
    dealt = features(study.main, "dealt")
    lost, passing = lost_cards(dealt), dealt[:, column("passing")] > 0
    rows = []
    for low, high in LOSERS:
        which = ~passing & (lost >= low) & (lost <= high)
        row: dict[str, Any] = {"hands": losers_name(low, high), "deals": int(which.sum())}
        for policy in ("always", "free"):
            moon = study.main[f"{policy}_moon"].to_numpy()[which]
            row[policy] = float(moon.mean()) if len(moon) else float("nan")
        rows.append(row)
    return pl.DataFrame(rows)


def losers_name(low: int, high: int) -> str:
    """`3 losers`, `6 to 8 losers`."""
    return f"{low} losers" if low == high else f"{low} to {high} losers"


def detection_table(study: Study, out: Path) -> pl.DataFrame:
    """How well an attempt that is seen stands for one that is made."""
    rows, main = [], study.main
    none = np.zeros(len(main), bool)
    tries = {"never": none, "free": main["free_tries"].to_numpy(), "always": ~none}
    for policy in POLICIES:
        seen, moon = main[f"{policy}_seen"].to_numpy(), main[f"{policy}_moon"].to_numpy()
        made = tries[policy]
        row: dict[str, Any] = {"policy": policy, "attempts": float(made.mean()), "seen": float(seen.mean())}
        row |= {"moons": float(moon.mean())}
        row |= {"seen_of_attempts": float(seen[made].mean()) if made.any() else None}
        row |= {"attempts_of_seen": float(made[seen].mean()) if seen.any() else None}
        rows.append(row)
    return pl.DataFrame(rows)


def forced_table(study: Study, out: Path) -> pl.DataFrame:
    """Hands of random deals that force a moon with open hands: all, by turn, by losers."""
    rows = all_rows(study.config, out, "forced")
    strong = all_rows(study.config, out, "strong")
    found = [_forced_row("all hands", rows, strong)]
    for turn in range(4):
        where = pl.col("turn") == turn
        name = f"plays as number {turn + 1} to the first trick"
        found.append(_forced_row(name, rows.filter(where), strong.filter(where)))
    for low, high in LOSERS:
        where = pl.col("lost").is_between(low, high)
        found.append(_forced_row(losers_name(low, high), rows.filter(where), strong.filter(where)))
    return pl.DataFrame(found)


def _forced_row(name: str, rows: pl.DataFrame, strong: pl.DataFrame) -> dict[str, Any]:
    """Random deals: share with an exact interval. Strong hands: share by their weights among hands of this kind."""
    hands, forced = int(rows["hands"].sum()), int(rows["forced"].sum())
    low, high = exact_interval(forced, hands)
    row: dict[str, Any] = {"hands": name, "random": hands, "forced": forced, "undecided": int(rows["undecided"].sum())}
    row |= {"share_low": low, "share_high": high}
    row |= dict(zip(("weighted", "weighted_low", "weighted_high"), _weighted(strong), strict=True))
    row |= {"strong": strong.height, "strong_forced": int(strong["forced"].sum())}
    return row | {"strong_undecided": int(strong["undecided"].sum())}


def _weighted(strong: pl.DataFrame) -> tuple[float, float, float]:
    """Share of forced moons among the hands given, by their weights, with the interval of a ratio."""
    weight, forced = strong["weight"].to_numpy(), strong["forced"].to_numpy()
    if not len(weight):
        return float("nan"), float("nan"), float("nan")
    share = float(weight @ forced / weight.sum())
    half = 1.96 * float(np.sqrt(((weight * (forced - share)) ** 2).sum())) / weight.sum()
    return share, max(0.0, share - half), min(1.0, share + half)


def exact_interval(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share; (0, 3.7 / trials) or so where nothing was found.

    >>> exact_interval(0, 1000)[0], round(exact_interval(0, 1000)[1], 4)
    (0.0, 0.0037)
    """
    from scipy.stats import beta

    tail = (1 - level) / 2
    if not trials:
        return 0.0, 1.0
    low = 0.0 if successes == 0 else float(beta.ppf(tail, successes, trials - successes + 1))
    high = 1.0 if successes == trials else float(beta.ppf(1 - tail, successes + 1, trials - successes))
    return low, high


def calibration_table(study: Study, out: Path) -> pl.DataFrame:
    """How well the models tell the chance, on deals that they have not seen."""
    main, curves = study.main, study.curves
    deals = main["deal"].to_numpy()
    report, moon = part_of(deals) == REPORT, main["always_moon"].to_numpy()
    dealt = features(main, "dealt")
    curves["dealt, few features"] = calibrate(study.rules.simple.chance(dealt[report]), moon[report])
    curves["dealt, all features"] = calibrate(study.rules.strong(dealt[report]), moon[report])
    passed, parts = features(main, "passed"), part_of(deals)
    model = strong_chance(int((parts == 0).sum())).fit(passed, moon, parts)
    curves["after the passing, all features"] = calibrate(model(passed[report]), moon[report])
    for name, rows in study.moments.items():
        curves |= _moment_curves(name, rows)
    return pl.DataFrame([{"model": name, **found.as_dict()} for name, found in curves.items()])


def _moment_curves(name: str, rows: pl.DataFrame) -> dict[str, Calibration]:
    """Calibration of the chance after every trick, all tricks together and some of them."""
    now, moon, deals = features(rows, "now"), rows["moon"].to_numpy(), rows["deal"].to_numpy()
    parts = part_of(deals)
    model = strong_chance(int((parts == 0).sum())).fit(now, moon, parts)
    report = parts == REPORT
    chance, trick = model(now[report]), rows["moment"].to_numpy()[report] - PASSED
    moon, deals = moon[report], deals[report]
    found = {f"{name}: after every trick": calibrate(chance, moon, deals)}
    for after in (3, 6, 9):
        which = trick == after
        if 0 < moon[which].sum() < which.sum():
            found[f"{name}: after trick {after}"] = calibrate(chance[which], moon[which])
    return found


def rules_table(study: Study, out: Path) -> pl.DataFrame:
    """What ways to decide gain over never trying, on deals not fitted on, and what the best of two would."""
    main = study.main
    report = part_of(main["deal"].to_numpy()) == REPORT
    never, always, _ = (values[report] for values in arrays(main))
    gain, free = always - never, main["free_payoff"].to_numpy()[report] - never
    decisions = study.rules.decisions(features(main, "dealt")[report])
    gains = {name: gain * goes for name, goes in decisions.items()}
    gains[AS_RULES] = free
    best = np.maximum(gain, 0.0)
    rows = []
    for name, values in gains.items():
        goes = decisions.get(name)
        row = {
            "rule": name,
            "tries": float(main["free_tries"].to_numpy()[report].mean() if goes is None else goes.mean()),
        }
        rows.append(row | _estimate("gain", Estimate.of(values)) | _estimate("regret", Estimate.of(best - values)))
    row = {"rule": "best of two, in hindsight", "tries": float((gain > 0).mean())}
    rows.append(row | _estimate("gain", Estimate.of(best)))
    return pl.DataFrame(rows)


def regret_table(study: Study, out: Path) -> pl.DataFrame:
    """Regret against the best of two for each hand: hands dealt again and again, the best one chosen on half of the
    deals and valued on the other half, both ways."""
    rows = all_rows(study.config, out, "hands")
    gains = [(rows[f"always_payoff_{half}"] - rows[f"never_payoff_{half}"]).to_numpy() for half in "ab"]
    both = (gains[0] + gains[1]) / 2
    best = (np.where(gains[0] > 0, gains[1], 0.0) + np.where(gains[1] > 0, gains[0], 0.0)) / 2
    table = []
    for name, goes in study.rules.decisions(features(rows, "dealt")).items():
        row = {"rule": name, "hands": len(rows), "tries": float(goes.mean())}
        regret = Estimate.of(best - both * goes)
        table.append(row | _estimate("gain", Estimate.of(both * goes)) | _estimate("regret", regret))
    row = {"rule": "best of two for each hand", "hands": len(rows), "tries": float((both > 0).mean())}
    table.append(row | _estimate("gain", Estimate.of(best)))
    return pl.DataFrame(table)


def simple_table(study: Study, out: Path) -> pl.DataFrame:
    """The logistic regression on few features, as log-odds for one more of each."""
    chance = study.rules.simple.chance
    scaler, model = chance.model.steps[0][1], chance.model.steps[1][1]
    slope, shift = float(chance.adjusted.coef_[0, 0]), float(chance.adjusted.intercept_[0])
    weights = slope * model.coef_[0] / scaler.scale_
    start = shift + slope * float(model.intercept_[0] - (model.coef_[0] * scaler.mean_ / scaler.scale_).sum())
    rows = [{"feature": "constant", "log_odds": start}]
    rows += [{"feature": name, "log_odds": float(weight)} for name, weight in zip(chance.names, weights, strict=True)]
    return pl.DataFrame(rows)


def moments_table(study: Study, out: Path) -> pl.DataFrame:
    """After each trick: how often the moon can still be had, its chance then, and the break-even of going on."""
    found = []
    for name, rows in study.moments.items():
        rows = rows.filter(pl.col("moment") >= PASSED)
        attempts = rows.filter(pl.col("moment") == PASSED).height
        for (moment,), part in sorted(rows.group_by("moment")):
            chance = Estimate.of(part["moon"].to_numpy().astype(float))
            row = {"setting": name, "trick": int(moment) - PASSED, "possible": part.height / attempts}
            row |= _estimate("chance", chance)
            found.append(row | _go_on(part, study.config.bootstrap, int(moment) - PASSED))
    return pl.DataFrame(found)


def _go_on(part: pl.DataFrame, draws: int, trick: int) -> dict[str, float]:
    """Going on against giving up, where that was tried."""
    names = ("v0", "f", "gain", "gain_low", "gain_high", "break_even", "break_even_low", "break_even_high")
    if trick not in GIVE_UP or part.height < 10:
        return dict.fromkeys(names, float("nan"))
    values = part["give_up"].to_numpy(), part["payoff"].to_numpy(), part["moon"].to_numpy()
    found = break_even_of(*values, draws, 0)
    return {name: float(found[name]) for name in names}


# ---------------------------------------------------------------------------------------------- scores


def score_values(study: Study, out: Path) -> dict[str, ScoreValue]:
    """The value of a score under each variant of the moon."""
    games = all_rows(study.config, out, "games")
    points, moons = np.array(games["points"].to_list()), games["moon"].to_numpy()
    return {name: ScoreValue(points, moons, name, study.config.playouts, study.config.seed) for name in VARIANTS}


def moon_of(score: np.ndarray) -> np.ndarray:
    """int64[N]: the seat that shot the moon by the points int[N, P] of a deal, or NO_SEAT."""
    shot = ((score == 0).sum(1) == 1) & ((score == DEAL_POINTS).sum(1) == score.shape[1] - 1)
    return np.where(shot, score.argmin(1), NO_SEAT)


def outcomes(study: Study) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points of normal play, of failed attempts and of a moon, int[N, P] each, where it is a question by the hand."""
    main, rules = study.main, study.rules
    near = rules.simple.near(features(main, "dealt"))
    moon = main["always_moon"].to_numpy()
    normal = np.array(main.filter(near)["never_score"].head(OUTCOMES).to_list())
    failed = np.array(main.filter(near & ~moon)["always_score"].head(OUTCOMES).to_list())
    return normal, failed, np.array([[0, 26, 26, 26]])


def context_table(study: Study, out: Path) -> pl.DataFrame:
    """Break-even chances in wins of a game to 100, at some scores, for each variant of the moon."""
    if study.config.setting(study.config.main).rules().players != 4:
        return pl.DataFrame()
    values, rows = score_values(study, out), []
    for variant, value in values.items():
        for name, totals in SCENES:
            row = {"variant": variant, "scores": name, "totals": ", ".join(map(str, totals))}
            rows.append(row | win_break_even(value, np.array(totals), outcomes(study), study.config.bootstrap))
    return pl.DataFrame(rows)


def win_break_even(
    value: ScoreValue, totals: np.ndarray, points: tuple[np.ndarray, np.ndarray, np.ndarray], draws: int
) -> dict[str, float]:
    """Share of wins after normal play, a failed attempt and a moon, and the break-even chance with its interval."""
    normal, failed, success = (value.after(totals, score, moon_of(score)) for score in points)
    count = min(len(normal), len(failed))
    pairs = np.stack([normal[:count], failed[:count]], 1)

    def chance(mean: np.ndarray) -> np.ndarray:
        return np.clip((mean[0] - mean[1]) / max(float(success[0]) - mean[1], 1e-9), 0, 1)

    low, high = interval(resampled(pairs, draws, 0, chance))
    found = {"wins_normal": normal.mean(), "wins_failed": failed.mean(), "wins_moon": success[0]}
    found |= {"break_even": chance(pairs.mean(0)), "break_even_low": low, "break_even_high": high}
    return {name: float(number) for name, number in found.items()}


def grid_table(study: Study, out: Path) -> pl.DataFrame:
    """The same over own scores and the scores of the three others, who stand alike; without intervals."""
    if study.config.setting(study.config.main).rules().players != 4:
        return pl.DataFrame()
    values, points = score_values(study, out), tuple(part[:150] for part in outcomes(study))
    rows = []
    for variant, value in values.items():
        for own in GRID:
            for others in GRID:
                totals = np.array([own, others, others, others])
                normal, failed, success = (value.after(totals, s, moon_of(s)).mean() for s in points)
                stake = success - failed
                chance = float(np.clip((normal - failed) / stake, 0, 1)) if stake > DECIDED else None
                rows.append({"variant": variant, "own": int(own), "others": int(others), "break_even": chance})
    return pl.DataFrame(rows, schema_overrides={"break_even": pl.Float64})


def value_table(study: Study, out: Path) -> pl.DataFrame:
    """How well the value of a score tells the wins of games that were played: a row a tenth of the values."""
    games = all_rows(study.config, out, "games")
    parity = games["game"].to_numpy() % 2
    points, moons = np.array(games["points"].to_list()), games["moon"].to_numpy()
    value = ScoreValue(points[parity == 0], moons[parity == 0], "add", study.config.playouts, study.config.seed)
    other = games.filter(parity == 1)
    number, totals = other["game"].to_numpy(), np.array(other["totals"].to_list())
    won, seats = np.array(other["win"].to_list()), totals.shape[1]
    told = np.concatenate([value(np.roll(totals, -seat, 1)) for seat in range(seats)])
    won, number = won.T.ravel(), np.tile(number, seats)
    rows = []
    for low in np.arange(0, 1, 0.1):
        which = (told >= low) & (told < low + 0.1)
        if which.sum() < 2:
            continue
        _, game = np.unique(number[which], return_inverse=True)
        excess = np.bincount(game, (won - told)[which])  # the deals of one game share their end
        half = 1.96 * float(np.sqrt((excess**2).sum())) / which.sum()
        row = {"told": float(told[which].mean()), "won": float(won[which].mean()), "deals": int(which.sum())}
        rows.append(row | {"half_width": half})
    return pl.DataFrame(rows)


TABLES: dict[str, Callable[[Study, Path], pl.DataFrame]] = {
    "census": census_table,
    "pairs": pairs_table,
    "everyday": everyday_table,
    "losers": losers_table,
    "by_losers": by_losers_table,
    "detection": detection_table,
    "forced": forced_table,
    "achieved": achieved_table,
    "calibration": calibration_table,
    "rules": rules_table,
    "regret": regret_table,
    "simple": simple_table,
    "moments": moments_table,
    "values": value_table,
    "context": context_table,
    "grid": grid_table,
}


# ---------------------------------------------------------------------------------------------- writing


def write_study(config: MoonConfig, out: Path) -> Study:
    """Write all result files of a folder from its parts."""
    from .moon_pages import markdown, pictures

    study = collect(config, out)
    for name, table in study.tables.items():
        write_rows(out / f"{name}.parquet", table)
    write_rows(out / "curves.parquet", curve_rows(study))
    write_rows(out / "deals.parquet", _named(study.deals))
    write_rows(out / "moments_rows.parquet", _named(study.moments))
    for name, png in pictures(study).items():
        write_atomically(out / f"{name}.png", png)
    write_atomically(out / "report.md", markdown(study).encode())
    return study


def curve_rows(study: Study) -> pl.DataFrame:
    """The reliability curves as rows."""
    frames = [
        pl.DataFrame({"model": [name] * len(c.told), "told": c.told, "seen": c.seen, "rows": c.counts})
        for name, c in study.curves.items()
    ]
    return pl.concat(frames)


def _named(frames: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Frames of settings as one, the name in the first column."""
    kept = [frame.select(pl.lit(name).alias("setting"), pl.all()) for name, frame in frames.items() if frame.width]
    return pl.concat(kept) if kept else pl.DataFrame()
