"""From a finished run to a shipped agent: the policy's weights beside the agents' code, its curve and a model card."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from torch import Tensor

from ..agents import load_agent
from ..agents.checkpoint import read_checkpoint, require_fit, save_checkpoint
from ..agents.files import write_atomically
from ..agents.shipped import WEIGHTS, weights_path
from ..envs.errors import OptionError
from ..envs.game import Game, get_game
from .config import TrainConfig, plain, train_config
from .evaluate import evaluate, standing_text
from .match import Estimate, gauntlet, owners_of, play_match
from .seeds import TEST, seed_of

MOST_BYTES = 5_000_000
COUNTED = {"moon=self": "moons"}  # goals other than the payoff, and the event that a match counts for each
KEPT = ("game", "players", "shape", "encoding", "decisions", "config", "seconds")


def ship(
    run: Path, deals: int, against: tuple[str, ...], folder: Path = WEIGHTS, say: Callable[[str], None] = print
) -> Path:
    """Copy a run's policy and learning curve into the package and write a card, with results on test deals.

    Args:
        run: Folder of a training run; weights that take too much room with 32 bits are stored with 16.
        deals: Test deals of each measurement.
        against: Agents to measure it against, in every preset that it was trained on.
        folder: Where shipped agents lie.

    Returns:
        The file of the weights.

    Raises:
        OptionError: weights too large for the package, or a goal that no match counts.
    """
    tensors, about = read_checkpoint(run / "agent.safetensors")
    game = get_game(about.get("game", ""))
    require_fit(run / "agent.safetensors", about, game)
    config = train_config({**about["config"], "device": "auto"})
    if bytes_of(tensors) > MOST_BYTES:
        tensors = {name: tensor.half() for name, tensor in tensors.items()}  # read as 32 bits again
    if bytes_of(tensors) > MOST_BYTES:
        raise OptionError(f"{run}: the weights take more than {MOST_BYTES:,} bytes. Valid: a smaller network")
    if config.goal not in ("payoff", *COUNTED):
        raise OptionError(f"{run}: agents with goal={config.goal} are not shipped. Valid: payoff, {', '.join(COUNTED)}")
    path = weights_path(game, about["players"], folder, config.goal)
    path.parent.mkdir(parents=True, exist_ok=True)
    save_checkpoint(path, tensors, {key: about[key] for key in KEPT if key in about})
    write_atomically(path.with_suffix(".csv"), (run / "curve.csv").read_bytes())
    rows = _results(path, config, deals, against, say)
    write_atomically(path.with_suffix(".md"), card(about, config, rows, deals, path.stat().st_size).encode())
    return path


def bytes_of(tensors: Mapping[str, Tensor]) -> int:
    """What tensors take in a file."""
    return sum(tensor.nbytes for tensor in tensors.values())


def _results(
    path: Path, config: TrainConfig, deals: int, against: tuple[str, ...], say: Callable[[str], None]
) -> list[tuple[str, str, str]]:
    """Preset, opponent and what the agent reaches against it, on test deals."""
    game, rows, seed = get_game(config.game), [], seed_of(TEST, config.seed)
    agent = load_agent(f"ppo:{path}", game=game)
    for preset, rules in zip(
        config.presets or (config.preset or next(iter(game.presets)),), config.all_rules(), strict=True
    ):
        for name in against:
            pair = [agent, load_agent(name, game=game)]
            if config.goal == "payoff":
                standings, _ = evaluate(game, rules, pair, ["ppo", name], deals=deals, seed=seed)
                rows.append((preset, name, standing_text(standings[0])))
            else:
                rows.append((preset, name, event_text(game, rules, pair, COUNTED[config.goal], deals, seed)))
            say(f"{preset}, against {name}: {rows[-1][2]}")
    return rows


def event_text(game: Game, rules: Any, pair: list[Any], event: str, deals: int, seed: int) -> str:
    """Two cells: in which share of deals an event comes about at the first agent's seat, and its interval."""
    owners = owners_of(gauntlet(game, rules.players).seatings, 0, deals)
    played = play_match(game, rules, pair, owners, seed=seed, first_deal=0)
    happened = played.events[..., game.events.index(event)] * (owners == 0)
    rate = Estimate.of(happened.sum((1, 2)) / owners.shape[1])
    return f"{rate.mean:.1%} | {rate.low:.1%} to {rate.high:.1%}"


def card(about: Mapping[str, Any], config: TrainConfig, rows: Any, deals: int, size: int) -> str:
    """The model card as Markdown."""
    hours = f"{about['seconds'] / 3600:.1f} hours" if "seconds" in about else "not measured"
    title = f"# `ppo` for {config.game}, {about['players']} players"
    measured = f"Head-to-head on {deals} test deals in all seatings, payoff in points per seat and deal:"
    if config.goal != "payoff":
        title += f", {config.goal}"
        measured = f"At each seat of {deals} test deals, share of them with {config.goal}:"
    head = "payoff" if config.goal == "payoff" else "share"
    lines = [
        title,
        "",
        f"Trained by `stich train` with the config below on {about['decisions']:,} cards of self-play; time: {hours}.",
        f"Commit {_commit()}, encoding {about['encoding']}, {size:,} bytes.",
        "",
        measured,
        "",
        f"| preset | against | {head} | 95 % interval |",
        "|---|---|---|---|",
        *(f"| {preset} | {name} | {text} |" for preset, name, text in rows),
    ]
    text = yaml.safe_dump(plain(config.as_dict()), sort_keys=False)
    return "\n".join([*lines, "", "```yaml", text + "```", ""])


def _commit() -> str:
    """The commit of the checkout that this runs from."""
    here = Path(__file__).parent
    found = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=here, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or "unknown"
