"""What the processes of a training run do in tests: importable by name in each of them."""

from __future__ import annotations

import os

import numpy as np
import torch
from torch import Tensor, nn

from stich.training.config import TrainConfig
from stich.training.parallel import Alone
from stich.training.ppo import Trainer

VALUES = np.random.default_rng(0).normal(3, 2, 11)  # of all processes; the first four belong to process 0


def learn(team: Alone, config: TrainConfig) -> tuple[Tensor, Tensor, Tensor]:
    """Weights after the run, random numbers and steps of Adam: a row a process."""
    trainer = Trainer(config, team)
    while not trainer.finished:
        trainer.update()
    state = {**trainer.network.state_dict(), **(trainer.reference.state_dict() if trainer.reference else {})}
    weights = torch.cat([tensor.reshape(-1) for tensor in state.values()])
    steps = next(iter(trainer.optimizer.state.values()))["step"].reshape(1)
    chosen = [torch.tensor([float(trainer.past.chosen), *trainer.past.values])] if trainer.past else []
    rows = torch.cat([weights, *chosen]), trainer.generator.get_state(), steps
    first, second, third = (team.gather(row).reshape(team.size, -1) for row in rows)
    return first, second, third


def reduce(team: Alone) -> tuple[float, float, Tensor]:
    """Mean, deviation and the gradient of a mean over values of which the processes have unequal parts."""
    own = VALUES if team.size == 1 else np.split(VALUES, [4])[team.rank]
    mean, deviation = team.spread(own)
    network = nn.Linear(1, 1)
    nn.init.zeros_(network.weight)
    nn.init.zeros_(network.bias)
    values = torch.from_numpy(own).float()[:, None]
    ((network(values) - values.square()) ** 2).mean().backward()
    team.average(network, len(own))
    assert network.weight.grad is not None
    assert network.bias.grad is not None
    return float(mean), float(deviation), torch.cat([network.weight.grad[0], network.bias.grad])


def crash(team: Alone) -> None:
    """Process 1 ends by itself."""
    if team.rank == 1:
        team.mean(0.0)
        os._exit(7)
    while True:
        team.mean(0.0)


def err(team: Alone) -> None:
    """Process 1 raises."""
    if team.rank == 1:
        team.mean(0.0)
        raise ValueError("no idea what to play")
    while True:
        team.mean(0.0)


def refuse(team: Alone) -> None:
    """Process 1 raises before it has met the others."""
    if team.rank == 1:
        raise ValueError("no idea what to play")
    team.mean(0.0)
