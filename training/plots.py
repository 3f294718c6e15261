"""Plots as PNG files."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..agents.checkpoint import write_atomically


def learning_curve(history: Sequence[dict[str, float]], config: Any, path: Path) -> None:
    """Payoff against each baseline over the cards played, with 95 % intervals, as a PNG."""
    if not history:
        return
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

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
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    plt.close(figure)
    write_atomically(path, buffer.getvalue())
