"""Older selves of the learner as opponents, kept while it learns."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from ..agents.network import ActorCritic, NetworkAgent
from ..envs.game import Game
from .parallel import Alone

SHARPNESS = 10.0  # of the choice by value: payoffs are in units of a whole deal
FOLLOW = 0.2  # how fast a value follows what the latest updates say


class PastSelves:
    """An opponent that is one of the older selves at a time, chosen anew for every update.

    Those who do better against the learner are chosen more often.

    Args:
        game: What is played.
        network: A network of the learner's form, for the selves' weights by turns.
        players: Seats at the table.
        size: How many selves are kept; a new one replaces the weakest.
    """

    name = "past"

    def __init__(self, game: Game, network: ActorCritic, players: int, size: int) -> None:
        self.network, self.size = network, size
        self.agent = NetworkAgent("past", game, network, players, sample=True)
        self.selves: list[dict[str, Tensor]] = []
        self.values: list[float] = []  # payoff of each against the learner
        self.chosen = 0

    def keep(self, network: ActorCritic) -> None:
        """Add the learner as it is now."""
        weights = {name: tensor.detach().cpu().clone() for name, tensor in network.state_dict().items()}
        if len(self.selves) >= self.size:
            weakest = int(np.argmin(self.values))
            del self.selves[weakest], self.values[weakest]
        self.selves.append(weights)
        self.values.append(0.0)

    def choose(self, generator: torch.Generator, team: Alone) -> None:
        """Pick the self for the next update, the better the likelier; process 0 picks for all."""
        weights = torch.softmax(torch.tensor(self.values) * SHARPNESS, 0)
        self.chosen = team.first(int(torch.multinomial(weights, 1, generator=generator)))
        self.network.load_state_dict(self.selves[self.chosen])

    def judge(self, payoff: float) -> None:
        """Note what the chosen one was paid."""
        self.values[self.chosen] += FOLLOW * (payoff - self.values[self.chosen])

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Cards int64[N] drawn from the chosen self's policy."""
        return self.agent.act(views, keys)

    def tensors(self) -> dict[str, Tensor]:
        """What a checkpoint keeps of the pool."""
        found = {f"past.{i}.{name}": t for i, self_ in enumerate(self.selves) for name, t in self_.items()}
        return found | ({"past_values": torch.tensor(self.values, dtype=torch.float64)} if self.selves else {})

    def restore(self, tensors: dict[str, Tensor]) -> None:
        """The pool of a checkpoint."""
        self.values = tensors["past_values"].tolist() if "past_values" in tensors else []
        self.selves = [{} for _ in self.values]
        for name, tensor in tensors.items():
            if name.startswith("past."):
                _, number, key = name.split(".", 2)
                self.selves[int(number)][key] = tensor
