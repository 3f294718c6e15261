"""The pictures and the report of the study of the moon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from ..agents.moon_features import PROMISING, PROMISING_AS_IT_IS
from .moon_play import __doc__ as definitions
from .plots import as_png, pyplot
from .report import markdown_table

PERCENT = ("success", "break_even", "free_moons", "chance", "share", "tries", "possible", "attempts", "seen", "moons")
PERCENT += ("weighted", "share_low", "share_high", "wins_normal", "wins_failed", "wins_moon", "told", "won")
PERCENT += ("seen_of_attempts", "attempts_of_seen", "always_success", "half_width", "always", "free")
KNOWN = {("hearts", "four random"): 0.011, ("hearts", "four duck"): 0.024, ("herzeln", "four duck"): 0.031}
"""Moons a deal that were counted elsewhere."""


# --------------------------------------------------------------------------------------------- pictures


def bars(axes: Any, table: pl.DataFrame, name: str, places: np.ndarray, **look: Any) -> None:
    """Points with their intervals, one a row of a table, from top to bottom."""
    middle, low, high = (table[column].to_numpy() for column in (name, f"{name}_low", f"{name}_high"))
    error = np.clip(np.array([middle - low, high - middle]), 0, None)
    axes.errorbar(middle, places, xerr=error, fmt="o", capsize=3, markersize=5, **look)


def pairs_picture(study: Any) -> bytes:
    """Chance and break-even chance, and the gain, for each setting."""
    plt = pyplot()
    table = study.tables["pairs"]
    places = np.arange(len(table))[::-1]
    figure, axes = plt.subplots(1, 2, figsize=(11, 1.6 + 0.38 * len(table)), dpi=120, layout="constrained", sharey=True)
    bars(axes[0], table, "success", places, color="tab:green", label="success of attempts")
    bars(axes[0], table, "break_even", places - 0.22, color="tab:orange", label="break-even chance")
    axes[0].set_yticks(places, table["setting"].to_list())
    axes[0].set_xlabel("chance")
    axes[0].set_xlim(-0.02, 1)
    bars(axes[1], table, "gain", places, color="tab:blue", label="always trying")
    bars(axes[1], table, "free_gain", places - 0.22, color="tab:gray", label="the free agent")
    axes[1].axvline(0, color="black", linewidth=0.8)
    axes[1].set_xlabel("gain over never trying (points a deal)")
    for each in axes:
        each.grid(axis="x", alpha=0.3)
        each.legend(loc="upper center", bbox_to_anchor=(0.5, -0.12 - 0.5 / len(table)), ncol=2, frameon=False)
    figure.suptitle("Promising hands: does going for the moon pay?")
    return as_png(plt, figure)


def losers_picture(study: Any) -> bytes:
    """Chance and gain against the number of losers, with passing and without, in the main setting."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), dpi=120, layout="constrained")
    table = study.tables["by_losers"]
    for (passing,), rows in sorted(table.group_by("passing"), reverse=True):
        rows = rows.sort("losers")
        label, color = ("three cards to pass", "tab:blue") if passing else ("no passing", "tab:orange")
        for place, name in enumerate(("success", "gain")):
            axes[place].plot(rows["losers"], rows[name], marker="o", markersize=4, label=label, color=color)
            low, high = rows[f"{name}_low"], rows[f"{name}_high"]
            axes[place].fill_between(rows["losers"], low, high, color=color, alpha=0.2, linewidth=0)
        axes[0].plot(rows["losers"], rows["break_even"], linestyle="--", color=color, linewidth=1)
    axes[0].set_ylabel("chance of the moon (dashed: break-even)")
    axes[0].set_ylim(0, 1)
    axes[1].set_ylabel("gain of trying (points)")
    axes[1].axhline(0, color="black", linewidth=0.8)
    for each in axes:
        each.set_xlabel("losers in the hand dealt, a heart counting twice")
        each.grid(alpha=0.3)
        each.legend()
    return as_png(plt, figure)


def calibration_picture(study: Any) -> bytes:
    """Reliability curves."""
    plt = pyplot()
    names = [name for name in study.curves if "trick " not in name]
    figure, axes = plt.subplots(figsize=(6.2, 5.6), dpi=120, layout="constrained")
    axes.plot([0, 1], [0, 1], color="black", linewidth=0.8)
    for name in names:
        curve = study.curves[name]
        slope = f"slope {curve.slope:.2f}, error {curve.error:.3f}"
        axes.plot(curve.told, curve.seen, marker="o", markersize=4, label=f"{name} ({slope})")
    axes.set_xlabel("chance told")
    axes.set_ylabel("share of moons on unseen deals")
    axes.set_xlim(0, 1)
    axes.set_ylim(0, 1)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7.5, loc="upper left")
    return as_png(plt, figure)


def forced_picture(study: Any) -> bytes:
    """What the cards allow against what agents achieve, by losers."""
    plt = pyplot()
    table = study.tables["forced"].filter(pl.col("hands").str.contains("loser"))
    figure, axes = plt.subplots(figsize=(8, 4.4), dpi=120, layout="constrained")
    places = np.arange(len(table))
    low, middle, high = (table[name].to_numpy() for name in ("weighted_low", "weighted", "weighted_high"))
    found = middle > 0
    error = np.array([middle - np.maximum(low, middle / 100), high - middle])
    axes.errorbar(
        places[found], middle[found], yerr=error[:, found], fmt="o", capsize=4, label="forced with open hands"
    )
    reached = study.tables["achieved"]
    for name, style in (("always", "s--"), ("free", "^:")):
        shares = reached[name].to_numpy()
        axes.plot(places, np.where(shares > 0, shares, np.nan), style, label=f"made by `rules`, {name} trying")
    axes.set_yscale("log")
    axes.set_ylim(1e-7, 2)
    axes.set_xticks(places, table["hands"].to_list(), rotation=20)
    axes.set_ylabel("share of the hands that make the moon")
    axes.set_title("Four players, no passing: moons that nobody can stop, and moons that are made")
    axes.grid(alpha=0.3)
    axes.legend()
    return as_png(plt, figure)


def moments_picture(study: Any) -> bytes:
    """After each trick: is the moon still possible, and how likely."""
    plt = pyplot()
    table = study.tables["moments"]
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.2), dpi=120, layout="constrained")
    for (name,), rows in sorted(table.group_by("setting")):
        rows = rows.sort("trick")
        line = axes[0].plot(rows["trick"], rows["possible"], linestyle=":", label=f"still possible ({name})")[0]
        axes[0].plot(rows["trick"], rows["chance"], marker="o", color=line.get_color(), label=f"chance then ({name})")
        tried = rows.filter(pl.col("break_even").is_not_nan())
        axes[0].plot(tried["trick"], tried["break_even"], "x--", color=line.get_color(), label=f"break-even ({name})")
        axes[1].plot(tried["trick"], tried["gain"], marker="o", color=line.get_color(), label=name)
        axes[1].fill_between(tried["trick"], tried["gain_low"], tried["gain_high"], alpha=0.2, linewidth=0)
    axes[0].set_ylim(0, 1.02)
    axes[0].set_ylabel("share of all attempts")
    axes[1].set_ylabel("gain of going on over giving up (points)")
    axes[1].axhline(0, color="black", linewidth=0.8)
    for each in axes:
        each.set_xlabel("tricks played")
        each.grid(alpha=0.3)
        each.legend(fontsize=8)
    return as_png(plt, figure)


def rules_picture(study: Any) -> bytes:
    """What ways to decide gain over never trying."""
    plt = pyplot()
    table = study.tables["rules"].filter(pl.col("rule") != "never")
    places = np.arange(len(table))[::-1]
    figure, axes = plt.subplots(figsize=(8, 1.4 + 0.4 * len(table)), dpi=120, layout="constrained")
    bars(axes, table, "gain", places)
    axes.set_yticks(places, [f"{r} ({t:.0%} of deals)" for r, t in zip(table["rule"], table["tries"], strict=True)])
    axes.axvline(0, color="black", linewidth=0.8)
    axes.grid(axis="x", alpha=0.3)
    axes.set_xlabel("gain over never trying, all deals (points a deal)")
    return as_png(plt, figure)


def grid_picture(study: Any) -> bytes | None:
    """Break-even chance by scores."""
    table = study.tables["grid"]
    if not table.height:
        return None
    plt = pyplot()
    variants = table["variant"].unique(maintain_order=True).to_list()
    figure, axes = plt.subplots(1, len(variants), figsize=(4.3 * len(variants), 4.4), dpi=120, layout="constrained")
    image = None
    for each, variant in zip(np.atleast_1d(axes), variants, strict=True):
        rows = table.filter(pl.col("variant") == variant).pivot("others", index="own", values="break_even").sort("own")
        values, own = rows.drop("own").to_numpy(), rows["own"].to_list()
        image = each.imshow(values.astype(float), origin="lower", cmap="RdYlGn_r", vmin=0, vmax=1)
        for row, column in zip(*np.nonzero(np.isfinite(values.astype(float))), strict=True):
            each.text(column, row, f"{100 * values[row, column]:.0f}", ha="center", va="center", fontsize=7)
        each.set_xticks(range(len(own)), rows.columns[1:])
        each.set_yticks(range(len(own)), own)
        each.set_title(f"moon: {variant}")
        each.set_xlabel("score of each of the others")
    np.atleast_1d(axes)[0].set_ylabel("own score")
    figure.colorbar(image, ax=axes, label="break-even chance", shrink=0.8)
    figure.suptitle("How likely a moon must be for trying to win more games (in %)")
    return as_png(plt, figure)


PICTURES: dict[str, Callable[[Any], bytes | None]] = {
    "pairs": pairs_picture,
    "losers": losers_picture,
    "calibration": calibration_picture,
    "forced": forced_picture,
    "moments": moments_picture,
    "rules": rules_picture,
    "grid": grid_picture,
}


def pictures(study: Any) -> dict[str, bytes]:
    """All pictures by name."""
    drawn = {name: draw(study) for name, draw in PICTURES.items()}
    return {name: png for name, png in drawn.items() if png is not None}


# ----------------------------------------------------------------------------------------------- report


def shown(table: pl.DataFrame, names: tuple[str, ...] = ()) -> pl.DataFrame:
    """A table as people read it: each figure with its interval, chances in percent."""
    names = names or tuple(name for name in table.columns if not name.endswith(("_low", "_high")))
    columns = []
    for name in (name for name in names if name in table.columns):
        ends = [table[f"{name}_{end}"].to_list() for end in ("low", "high") if f"{name}_{end}" in table.columns]
        middle = table[name].to_list()
        rows = zip(middle, *(ends if len(ends) == 2 else ()), strict=True)
        columns.append(pl.Series(name.replace("_", " "), [_figure(name, *row) for row in rows]))
    return pl.DataFrame(columns)


PLAIN = ("brier", "brier_base", "error", "slope", "auc", "log_odds")  # neither chances nor points


def _figure(name: str, value: Any, *ends: Any) -> str:
    """One figure with its interval."""
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return ""
    if not isinstance(value, float):
        return str(value)
    one = _percent if name in PERCENT else _plain if name in PLAIN else _number
    ends = tuple(end for end in ends if end is not None and not np.isnan(end))
    return one(value) + (f" ({one(ends[0])} to {one(ends[1])})" if len(ends) == 2 else "")


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %" if value == 0 or abs(value) >= 0.001 else f"{100 * value:.2g} %"


def _plain(value: float) -> str:
    return f"{value:.3f}"


def _number(value: float) -> str:
    return f"{value:+.2f}" if abs(value) >= 0.1 else f"{value:+.3f}"


IN_SHORT = ("setting", "deals", "success", "break_even", "gain", "free_gain", "rule_gain")


def sections(study: Any) -> list[tuple[str, str, list[pl.DataFrame], list[str]]]:
    """Heading, text, tables and pictures of each part of the report."""
    tables, config = study.tables, study.config
    losers = study.rules.simple.losers
    census = tables["census"].with_columns(
        pl.Series("counted elsewhere", [_known(row) for row in tables["census"].iter_rows(named=True)])
    )
    deals = {setting.name: setting.deals for setting in config.all_settings()}
    return [
        (
            "How often",
            "Moons a deal over all seats, at tables of four equal agents.",
            [shown(census)],
            [],
        ),
        (
            "Does it pay, and against whom",
            f"Promising hands (at most {PROMISING} losers with three cards to pass, {PROMISING_AS_IT_IS} without), the "
            "same deal and seat for never, free, always trying; intervals by deal. `v0`: payoff of normal play, `f`: "
            "of failed attempts, `cost`: the difference, `break even`: (v0 - f) / (26 - f), `rule gain`: going by the "
            f"break-even rule of the setting {config.main!r}. Deals looked at: "
            + ", ".join(f"{name} {count:,}" for name, count in deals.items())
            + ".",
            [
                shown(tables["pairs"], IN_SHORT),
                shown(tables["pairs"], ("setting", "v0", "f", "cost", "free_moons")),
            ],
            ["pairs"],
        ),
        (
            "All hands, with a rule fitted to the setting",
            "Hands as they are dealt; a logistic regression on few features tells the chance, and one tries where it "
            "is above the break-even chance; on deals not fitted on. `free gain`: the agent left to itself.",
            [shown(tables["everyday"])],
            [],
        ),
        (
            "What the hand says",
            f"The rule of thumb: count the cards that can lose a trick when their suit is led from the top, a heart "
            f"twice; go with up to {losers[0]} of them where three cards are passed, with up to {losers[1]} where not.",
            [shown(tables["by_losers"], ("passing", "losers", "share", "success", "break_even", "gain"))],
            ["losers"],
        ),
        (
            "Ways to decide",
            "On deals not fitted on. `regret` here is against the better of the two ways on each very deal, which "
            "nobody can know; below against the better one for each hand, dealt again and again.",
            [shown(tables["rules"]), shown(tables["regret"]), shown(tables["simple"])],
            ["rules"],
        ),
        (
            "How well the chance is told",
            "On deals not fitted on. `error`: expected calibration error; `slope`: of log-odds, 1 is right.",
            [shown(tables["calibration"], ("model", "deals", "moons", "brier", "brier_base", "error", "slope", "auc"))],
            ["calibration"],
        ),
        (
            "Trick by trick",
            "All attempts, whatever the hand: `possible`: no other seat has a penalty card yet; `chance`: of those. "
            "Then going on against giving up there: what is left at stake changes as cards are taken.",
            [shown(tables["moments"])],
            ["moments"],
        ),
        (
            "What the cards allow",
            "Four players, no passing, all hands open: can the seat take all penalty cards against any defence of the "
            "three others? `share low`, `share high`: exact interval from random deals; `weighted`: from strong hands, "
            "which count by how likely they are.",
            [
                shown(tables["forced"], ("hands", "random", "forced", "undecided", "share_low", "share_high")),
                shown(tables["forced"], ("hands", "strong", "strong_forced", "strong_undecided", "weighted")),
                shown(tables["achieved"]),
            ],
            ["forced"],
        ),
        (
            "The score",
            "Share of games to 100 won after normal play, a failed attempt and a moon, from hands for which it is a "
            "question, and the break-even chance that follows. The value of a score comes from games of four `rules`.",
            [shown(tables["context"]), shown(tables["values"])] if tables["context"].height else [],
            ["grid"] if tables["grid"].height else [],
        ),
        (
            "Seen and meant",
            "Attempts as recorded play shows them (one seat alone with half of the penalty cards) and as they are "
            "made.",
            [shown(tables["detection"])],
            [],
        ),
    ]


def _known(row: dict[str, Any]) -> str:
    known = KNOWN.get((row["preset"], row["table"]))
    return "" if known is None else _percent(known)


def markdown(study: Any) -> str:
    """The report as Markdown."""
    lines = ["# When does shooting the moon pay off?", ""]
    lines += ["## Definitions", "", str(definitions).split("\n\n", 1)[1].strip(), ""]
    for heading, text, tables, images in sections(study):
        lines += [f"## {heading}", "", text, ""]
        for name in images:
            lines += [f"![{heading}]({name}.png)", ""]
        for table in tables:
            lines += [markdown_table(table), ""]
    return "\n".join(lines)
