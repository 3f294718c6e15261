"""Plots as PNG files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..agents.files import write_atomically


def pyplot() -> Any:
    """matplotlib's pyplot, for files rather than windows; slow to import."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    return plt


def as_png(plt: Any, figure: Any) -> bytes:
    """A figure as the content of a PNG file; the figure is closed."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    plt.close(figure)
    return buffer.getvalue()


def cross_table(tables: Any) -> bytes:
    """Heat map of the payoff of the row's agent against the column's, as a PNG."""
    plt = pyplot()
    size = len(tables.names)
    figure, axes = plt.subplots(figsize=(2.5 + 0.9 * size, 1.5 + 0.7 * size), dpi=120, layout="constrained")
    limit = np.nanmax(np.abs(tables.payoff)) or 1.0
    image = axes.imshow(tables.payoff, cmap="RdBu", vmin=-limit, vmax=limit)
    for row, column in zip(*np.nonzero(np.isfinite(tables.payoff)), strict=True):
        value, low, high = (x[row, column] for x in (tables.payoff, tables.low, tables.high))
        axes.text(column, row, f"{value:+.2f}\n\u00b1{(high - low) / 2:.2f}", ha="center", va="center", fontsize=9)
    axes.set_xticks(range(size), tables.names, rotation=30, ha="right")
    axes.set_yticks(range(size), tables.names)
    figure.colorbar(image, ax=axes, label="payoff of the row (points)")
    return as_png(plt, figure)


def rating_intervals(tables: Any) -> bytes:
    """Additive ratings with their 95 % intervals, as a PNG."""
    plt = pyplot()
    ratings = tables.ratings.reverse()
    figure, axes = plt.subplots(figsize=(7, 1 + 0.45 * len(ratings)), dpi=120, layout="constrained")
    low, middle, high = (ratings[name].to_numpy() for name in ("low", "rating", "high"))
    axes.errorbar(middle, range(len(ratings)), xerr=np.array([middle - low, high - middle]), fmt="o", capsize=4)
    axes.set_yticks(range(len(ratings)), ratings["agent"].to_list())
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("rating (points per seat and deal above the mean agent)")
    axes.grid(axis="x", alpha=0.3)
    return as_png(plt, figure)


def payoff_distributions(tables: Any) -> bytes:
    """Payoffs of each agent on single deals, over all its matches, as a PNG."""
    plt = pyplot()
    by_agent: dict[str, list[np.ndarray]] = {name: [] for name in tables.names}
    for result in tables.matches:
        for at, agent in enumerate(result.agents):
            by_agent[tables.names[agent]].append(result.payoff[:, at])
    played = {name: np.concatenate(values) for name, values in by_agent.items() if sum(map(len, values))}
    figure, axes = plt.subplots(figsize=(8, 1.2 + 0.5 * len(played)), dpi=120, layout="constrained")
    axes.boxplot(list(played.values()), orientation="horizontal", whis=(2.5, 97.5), showfliers=False, showmeans=True)
    axes.set_yticks(range(1, len(played) + 1), list(played))
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlabel("payoff on a deal (points; box: half of the deals, whiskers: 95 %, triangle: mean)")
    axes.grid(axis="x", alpha=0.3)
    return as_png(plt, figure)


def learning_curve(history: Sequence[dict[str, float]], config: Any, path: Path) -> None:
    """Payoff against each baseline over the cards played, with 95 % intervals, as a PNG."""
    if not history:
        return
    plt = pyplot()
    figure, axes = plt.subplots(figsize=(8, 4.5), dpi=120, layout="constrained")
    x = [row["decisions"] / 1e6 for row in history]
    for name in config.baselines:
        line = axes.plot(x, [row[name] for row in history], label=f"against {name}", marker=".")[0]
        low, high = [row[f"{name}_low"] for row in history], [row[f"{name}_high"] for row in history]
        axes.fill_between(x, low, high, alpha=0.2, color=line.get_color(), linewidth=0)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xlabel("cards played in self-play (million)")
    axes.set_ylabel("payoff per seat and deal (points)")
    axes.set_title(f"PPO learns {config.game.capitalize()}: head-to-head on validation deals")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.grid(alpha=0.3)
    write_atomically(path, as_png(plt, figure))
