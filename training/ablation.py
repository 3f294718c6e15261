"""What each part of a training recipe is worth: the same budget with one part changed at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..agents import load_agent
from ..agents.files import write_atomically
from ..envs.errors import OptionError
from ..envs.game import with_episode
from ..envs.options import build
from .config import TrainConfig, find_config, overrides, read_yaml, train_config
from .evaluate import evaluate
from .plots import as_png, pyplot
from .seeds import TEST, seed_of

BASE = "all parts"


@dataclass(frozen=True)
class AblationConfig:
    """A study of a recipe.

    Attributes:
        base: The training config whose parts are looked at.
        changes: Keys of it that are changed in all runs, such as a smaller budget.
        variants: By name, the keys that are changed in one run each.
        against: Agents that every variant is measured against.
        deals: Test deals of each measurement.
    """

    base: str
    changes: dict[str, Any] = field(default_factory=dict)
    variants: dict[str, Any] = field(default_factory=dict)
    against: tuple[str, ...] = ("rules",)
    deals: int = 2000

    def __post_init__(self) -> None:
        if self.deals < 2:
            raise OptionError(f"config key deals={self.deals} is not valid. Valid: 2 or more, for an interval")
        for name, keys in self.variants.items():
            if not isinstance(keys, Mapping):
                raise OptionError(f"variant {name!r} is not valid. Valid: a mapping of training config keys")

    def runs(self) -> dict[str, TrainConfig]:
        """The training configs, the whole recipe first.

        Raises:
            OptionError: a key that training does not have.
        """
        base = {**read_yaml(find_config(self.base)), "final_deals": 0, **self.changes}
        return {name: train_config({**base, **keys}) for name, keys in {BASE: {}, **self.variants}.items()}


def ablation_config(values: Mapping[str, Any], words: Sequence[str] = ()) -> AblationConfig:
    """A config from the values of a file and `key=value` words on top."""
    return build(AblationConfig, {**values, **overrides(words)}, what="config key")


def ablate(config: AblationConfig, out: Path, resume: bool = False, say: Callable[[str], None] = print) -> list[dict]:
    """Train every variant in a folder of its own, and measure all on the same test deals.

    Finished variants are kept when resumed. Writes `ablation.json`, `ablation.md` and `ablation.png`.

    Returns:
        A row a variant: its name, and by opponent the payoff with its 95 % interval.
    """
    from .run import train  # torch is slow to import

    rows = []
    for number, (name, run) in enumerate(config.runs().items()):
        folder = out / f"{number:02}_{name.replace(' ', '_')}"
        result = folder / "result.json"
        if not (resume and result.exists()):
            say(f"{name}: {run.decisions:,} cards")
            train(run, folder, resume and (folder / "last.safetensors").exists(), say)
            write_atomically(result, json.dumps(_measured(name, run, folder, config)).encode())
        rows.append(json.loads(result.read_text()))
    write_atomically(out / "ablation.json", json.dumps(rows, indent=1).encode())
    write_atomically(out / "ablation.md", markdown(rows, config.against).encode())
    write_atomically(out / "ablation.png", picture(rows, config.against))
    say(markdown(rows, config.against))
    return rows


def _measured(name: str, run: TrainConfig, folder: Path, config: AblationConfig) -> dict[str, Any]:
    agent = load_agent(f"ppo:{folder / 'agent.safetensors'}", game=run.game)
    rules = with_episode(run.rules(), "deal")
    row: dict[str, Any] = {"name": name}
    for other in config.against:
        pair, seed = [agent, load_agent(other, game=run.game)], seed_of(TEST, run.seed)
        standings, _ = evaluate(agent.game, rules, pair, ["ppo", other], deals=config.deals, seed=seed)
        payoff = standings[0].payoff
        row[other] = [payoff.mean, payoff.low, payoff.high]
    return row


def markdown(rows: Sequence[Mapping[str, Any]], against: Sequence[str]) -> str:
    """The table of the study."""
    lines = ["| recipe | " + " | ".join(f"against {name}" for name in against) + " |", "|---|" + "---|" * len(against)]
    for row in rows:
        cells = (f"{row[name][0]:+.2f} ({row[name][1]:+.2f} to {row[name][2]:+.2f})" for name in against)
        lines.append(f"| {row['name']} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def picture(rows: Sequence[Mapping[str, Any]], against: Sequence[str]) -> bytes:
    """Payoffs with their intervals, a line a variant, as a PNG."""
    plt = pyplot()
    figure, axes = plt.subplots(
        1, len(against), figsize=(3 + 3 * len(against), 1 + 0.4 * len(rows)), dpi=120, sharey=True, squeeze=False
    )
    for axis, name in zip(axes[0], against, strict=True):
        for place, row in enumerate(reversed(rows)):
            mean, low, high = row[name]
            axis.errorbar(mean, place, xerr=[[mean - low], [high - mean]], fmt="o", capsize=4, color="C0")
        axis.axvline(rows[0][name][0], color="black", linewidth=0.8)
        axis.set_xlabel(f"payoff against {name} (points)")
        axis.grid(axis="x", alpha=0.3)
    axes[0][0].set_yticks(range(len(rows)), [row["name"] for row in reversed(rows)])
    figure.tight_layout()
    return as_png(plt, figure)
