"""Checkpoints: safetensors files with the config and the encoding version beside the weights.

A file is written whole or not at all, and loading one runs no code of its own.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save

from ..envs.errors import OptionError, unknown
from ..envs.game import GAMES, Game
from .files import write_atomically
from .network import ActorCritic, NetworkAgent, Shape

FORMAT = "stich-checkpoint-1"
ABOUT = ("game", "players", "shape", "encoding")  # what a checkpoint must say of its network


class CheckpointError(ValueError):
    """A file that is no checkpoint, or one of another game, number of players or encoding version."""


def save_checkpoint(path: Path, tensors: Mapping[str, torch.Tensor], about: Mapping[str, Any]) -> None:
    """Write tensors and what they are about (JSON: game, players, shape, encoding, ...)."""
    metadata = {"format": FORMAT, "about": json.dumps(about)}
    contiguous = {name: tensor.detach().contiguous() for name, tensor in tensors.items()}
    write_atomically(path, save(contiguous, metadata))


def read_checkpoint(path: str | Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """The tensors and what they are about.

    Raises:
        CheckpointError: the file is missing, damaged, or no checkpoint.
    """
    file = Path(path)
    if not file.is_file():
        raise CheckpointError(f"no checkpoint at {file}")
    try:
        with safe_open(str(file), framework="pt") as opened:
            metadata = opened.metadata() or {}
            tensors = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118 (no mapping)
        if metadata.get("format") != FORMAT:
            raise CheckpointError(f"{file} is no checkpoint of this program (format {metadata.get('format')!r})")
        about = json.loads(metadata["about"])
        missing = [key for key in ABOUT if key not in about] if isinstance(about, dict) else list(ABOUT)
        if missing:
            raise CheckpointError(f"{file} is damaged: its description lacks {', '.join(missing)}")
        return tensors, about
    except (SafetensorError, OSError, KeyError, json.JSONDecodeError) as error:
        raise CheckpointError(f"{file} is damaged or no checkpoint: {error}") from None


def network_about(game: Game, players: int, shape: Shape) -> dict[str, Any]:
    """What is needed to build the network again."""
    return {
        "game": game.name,
        "players": players,
        "shape": asdict(shape),
        "encoding": game.encoding.version,
    }


def require_fit(path: str | Path, about: Mapping[str, Any], game: Game) -> None:
    """Refuse a checkpoint of another game or of another version of its encoding.

    Raises:
        CheckpointError: what it is a checkpoint of.
    """
    if about.get("game") not in GAMES:
        raise CheckpointError(f"{path}: {unknown('game', about.get('game'), GAMES)}")
    if about["game"] != game.name:
        raise CheckpointError(f"{path} is a checkpoint of {about['game']}, not of {game.name}")
    if about["encoding"] != game.encoding.version:
        raise CheckpointError(
            f"{path} was trained on encoding {about['encoding']} of {game.name}, "
            f"but this version has {game.encoding.version}"
        )


def load_network(path: str | Path, game: Game) -> tuple[ActorCritic, dict[str, Any]]:
    """The network of a checkpoint.

    Raises:
        CheckpointError: as above, or it does not fit the game or its present encoding.
    """
    tensors, about = read_checkpoint(path)
    require_fit(path, about, game)
    try:
        network = ActorCritic(game, about["players"], Shape(**{k: _frozen(v) for k, v in about["shape"].items()}))
    except (TypeError, AttributeError, OptionError) as error:
        raise CheckpointError(f"{path} has a network that this version can't build: {error}") from None
    weights = {name[6:]: tensor for name, tensor in tensors.items() if name.startswith("model.")}
    try:
        network.load_state_dict(weights)
    except RuntimeError as error:
        raise CheckpointError(f"{path} does not fit its own description: {error}") from None
    return network.eval(), about


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def load_network_agent(path: str | Path, game: Game, sample: bool = False, name: str = "ppo") -> NetworkAgent:
    """The agent of a checkpoint."""
    network, about = load_network(path, game)
    return NetworkAgent(name, game, network, about["players"], sample, about.get("config", {}).get("goal", "payoff"))
