"""A training run from config to files: progress, evaluations, checkpoints, resuming, the table at the end.

A run folder holds `config.yaml`, `curve.csv`, `curve.png`, `agent.safetensors` (the policy alone, the last
or the best one),
`last.safetensors` (all that training goes on from), `tensorboard/`, and at the end `table.md` and `table.json`.
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from ..agents import load_agent
from ..agents.base import Agent
from ..agents.checkpoint import CheckpointError, read_checkpoint, require_fit, save_checkpoint
from ..agents.files import write_atomically
from ..envs.errors import OptionError
from ..envs.game import with_episode
from .config import TrainConfig, plain
from .evaluate import Standing, as_json, evaluate, standing_text
from .match import Design
from .objective import Losses
from .parallel import Alone, team
from .plots import learning_curve
from .ppo import Trainer
from .seeds import TEST, VALIDATION, seed_of


def train(config: TrainConfig, out: Path, resume: bool = False, say: Callable[[str], None] = print) -> Trainer:
    """Run (or continue) a training run in the folder `out`.

    Raises:
        OptionError: the folder holds another run, or none to resume.
        CheckpointError: its checkpoint is damaged or of another config.
        ChildProcessError: with several processes, one of them has failed.
    """
    last = out / "last.safetensors"
    try:
        with team(config.processes, _learn_along, config, last if resume else None) as processes:
            trainer = _trainer(config, processes, last if resume else None)
            if resume:
                say(f"resumed at {trainer.decisions:,} decisions")
            elif last.exists():
                raise OptionError(f"{out} already holds a run. Valid: --resume to continue it, or another --out")
            write_atomically(out / "config.yaml", yaml.safe_dump(plain(config.as_dict()), sort_keys=False).encode())
            _loop(trainer, out)
    except KeyboardInterrupt:
        say("interrupted" + ("; --resume goes on from the last checkpoint" if last.exists() else ""))
        raise
    learning_curve(trainer.history, config, out / "curve.png")
    if config.final_deals:
        _final_table(trainer, out, say)
    return trainer


MAY_DIFFER = ("decisions", "final_deals", "threads")  # keys that a resumed run may have changed


def _trainer(config: TrainConfig, processes: Alone, last: Path | None) -> Trainer:
    """A new trainer, or the one of a checkpoint."""
    trainer = Trainer(config, processes)
    if last is not None:
        _restore(trainer, last)
    return trainer


def _learn_along(processes: Alone, config: TrainConfig, last: Path | None) -> None:
    """What the processes other than 0 do: play and learn."""
    trainer = _trainer(config, processes, last)
    while not trainer.finished:
        trainer.update()
        if _is_measured(trainer):
            trainer.tensors()  # for process 0, which saves them


def _is_measured(trainer: Trainer) -> bool:
    """Whether an evaluation and a checkpoint follow the last update."""
    return trainer.updates % trainer.config.evaluate_every == 0 or trainer.finished


def _restore(trainer: Trainer, last: Path) -> None:
    tensors, about = read_checkpoint(last)
    theirs = {"processes": 1, **about.get("config", {})}  # a checkpoint of before there were processes
    ours = json.loads(json.dumps(trainer.config.as_dict()))
    differ = [key for key in ours if key not in MAY_DIFFER and theirs.get(key) != ours[key]]
    if differ:
        raise CheckpointError(f"{last} belongs to another config: {', '.join(differ)} differ")
    require_fit(last, about, trainer.game)
    trainer.restore(tensors, about)


def _loop(trainer: Trainer, out: Path) -> None:
    """Update until the budget is used; evaluate and save every few updates."""
    from torch.utils.tensorboard import SummaryWriter  # slow to import

    config = trainer.config
    writer = SummaryWriter(str(out / "tensorboard"), purge_step=trainer.decisions)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress(*columns, TextColumn("{task.fields[payoff]}")) as bar:
        task = bar.add_task(config.game, total=config.decisions, completed=trainer.decisions, rate="", payoff="")
        while not trainer.finished:
            started = time.perf_counter()
            losses = trainer.update()
            spent = time.perf_counter() - started
            trainer.seconds += spent
            rate = config.lanes * config.steps / spent
            _log(writer, trainer, losses, rate)
            bar.update(task, completed=trainer.decisions, rate=f"{rate:,.0f}/s")
            if _is_measured(trainer):
                row = measure(trainer)
                trainer.history.append({**row, "entropy": losses.entropy, "value_loss": losses.value})
                for key, value in row.items():
                    writer.add_scalar(f"payoff/{key}", value, trainer.decisions)
                bar.update(task, payoff=_shown(config, row))
                save(trainer, out)
    writer.close()


def measure(trainer: Trainer) -> dict[str, float]:
    """Payoff head-to-head against each baseline on the validation deals, with its interval."""
    config = trainer.config
    row: dict[str, float] = {"decisions": trainer.decisions}
    for name in config.baselines:
        standings, _ = head_to_head(trainer, name, VALIDATION, config.evaluate_deals)
        payoff = standings[0].payoff
        row |= {name: payoff.mean, f"{name}_low": payoff.low, f"{name}_high": payoff.high}
    return row


def head_to_head(
    trainer: Trainer, name: str, part: int, deals: int, agent: Agent | None = None
) -> tuple[list[Standing], Design]:
    """The present policy (or another agent) and the agent `name` on deals of one part of the seeds, as single deals."""
    pair = [agent or trainer.agent(), load_agent(name, game=trainer.game)]
    rules, seed = with_episode(trainer.rules, "deal"), seed_of(part, trainer.config.seed)
    return evaluate(trainer.game, rules, pair, ["ppo", name], deals=deals, seed=seed)


def _shown(config: TrainConfig, row: dict[str, float]) -> str:
    return "payoff against " + ", ".join(f"{name} {row[name]:+.2f}" for name in config.baselines)


def _log(writer: Any, trainer: Trainer, losses: Losses, rate: float) -> None:
    for name, value in vars(losses).items():
        writer.add_scalar(f"loss/{name}", value, trainer.decisions)
    writer.add_scalar("speed/decisions_per_second", rate, trainer.decisions)


def save(trainer: Trainer, out: Path) -> None:
    """Write the checkpoints and the curve; each file is whole at any moment."""
    text = io.StringIO()
    rows = csv.DictWriter(text, fieldnames=list(trainer.history[0]), lineterminator="\n")
    rows.writeheader()
    rows.writerows(trainer.history)
    write_atomically(out / "curve.csv", text.getvalue().encode())
    if is_best(trainer):
        save_checkpoint(out / "agent.safetensors", trainer.weights(), trainer.about())
    save_checkpoint(out / "last.safetensors", trainer.tensors(), trainer.about())


def is_best(trainer: Trainer) -> bool:
    """Whether the last evaluation is the best so far, by the baseline that selects; without one it always is."""
    name = trainer.config.select
    return name is None or trainer.history[-1][name] >= max(row[name] for row in trainer.history)


def _final_table(trainer: Trainer, out: Path, say: Callable[[str], None]) -> None:
    """Payoffs against each baseline and `rules` on the test deals, printed and written."""
    config = trainer.config
    chosen = load_agent(f"ppo:{out / 'agent.safetensors'}", game=trainer.game)
    rows, lines = [], ["| PPO against | payoff | 95 % interval |", "|---|---|---|"]
    for name in dict.fromkeys((*config.baselines, "rules")):
        standings, design = head_to_head(trainer, name, TEST, config.final_deals, chosen)
        rows.append(as_json(trainer.game, config.final_deals, design, standings))
        lines.append(f"| {name} | {standing_text(standings[0])} |")
    write_atomically(out / "table.json", json.dumps(rows, indent=1).encode())
    write_atomically(out / "table.md", ("\n".join(lines) + "\n").encode())
    say(f"\nHead-to-head on {config.final_deals} test deals, payoff in points per seat and deal:\n")
    say("\n".join(lines))
    say(f"\nlearning curve: {out / 'curve.png'}   agent: {out / 'agent.safetensors'}")
