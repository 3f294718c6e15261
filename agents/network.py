"""Networks that play: an actor on the observation, beside a critic that sees all hands.

Needs the extra `train` (torch, safetensors).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..envs.errors import OptionError, unknown
from ..envs.game import Game

NEVER = -1e9  # log-probability of an illegal card: exp() of it is exactly 0, and nothing becomes NaN


def masked_log_softmax(logits: Tensor, mask: Tensor) -> Tensor:
    """Log-probabilities over the legal cards only.

    Args:
        logits: f32[N, A].
        mask: bool[N, A], at least one True a row.

    Returns:
        f32[N, A]; about -1e9 where illegal, finite everywhere.
    """
    highest = logits.masked_fill(~mask, -torch.inf).amax(-1, keepdim=True)
    below = (logits - highest).masked_fill(~mask, -torch.inf)
    return (below - below.exp().sum(-1, keepdim=True).log()).masked_fill(~mask, NEVER)


class ActorCritic(nn.Module):
    """Policy logits from the observation; the value from the full state.

    The first layer of the observation serves both: the critic adds what the hidden cards contribute to it.

    Args:
        game: The game, whose encoding gives the sizes.
        players: Seats at the table.
        hidden: Width of each hidden layer.
        ignore: Slices of the observation that are not read (constant under the rules trained on).
    """

    inputs: Tensor  # columns of the observation that are read
    secrets: Tensor  # columns of the full state beyond it that are read
    scale: Tensor  # one over the largest value of each input

    def __init__(
        self, game: Game, players: int, hidden: Sequence[int] = (256, 256), ignore: Sequence[str] = ()
    ) -> None:
        super().__init__()
        encoding = game.encoding
        layout = encoding.layout(players)
        for name in ignore:
            if name not in layout:
                raise OptionError(unknown("slice of the observation", name, layout))
        self.observation_size = encoding.size(players)
        read = np.ones(encoding.state_size(players), bool)
        for name in ignore:
            read[layout[name]] = False
        highest = encoding.highest(players).astype(np.float32)
        inputs, secrets = np.flatnonzero(read[: self.observation_size]), np.flatnonzero(read[self.observation_size :])
        self.register_buffer("inputs", torch.from_numpy(inputs), persistent=False)
        self.register_buffer("secrets", torch.from_numpy(secrets + self.observation_size), persistent=False)
        self.register_buffer("scale", torch.from_numpy(1 / highest[inputs]), persistent=False)
        self.every_input = len(inputs) == self.observation_size
        self.observed = nn.Linear(len(inputs), hidden[0])
        self.unseen = nn.Linear(len(secrets), hidden[0], bias=False)
        self.actor = _layers([*hidden, game.deck.size], last_gain=0.01)
        self.critic = _layers([*hidden, 1], last_gain=1.0)
        _initialise(self.observed, 2**0.5)
        _initialise(self.unseen, 2**0.5)

    def _first(self, observation: Tensor) -> Tensor:
        rows = observation if self.every_input else observation.index_select(1, self.inputs)
        return self.observed(rows.float() * self.scale)

    def logits(self, observation: Tensor) -> Tensor:
        """f32[N, A] from observations int8[N, D]."""
        return self.actor(self._first(observation))

    def forward(self, state: Tensor) -> tuple[Tensor, Tensor]:
        """Logits f32[N, A] and values f32[N] from full states int8[N, F]."""
        first = self._first(state[:, : self.observation_size])
        value = self.critic(first + self.unseen(state.index_select(1, self.secrets).float()))
        return self.actor(first), value[:, 0]


def _layers(sizes: Sequence[int], last_gain: float) -> nn.Sequential:
    """ReLU and linear layers alternating, beginning with a ReLU."""
    parts: list[nn.Module] = []
    for number, (width, out) in enumerate(itertools.pairwise(sizes)):
        layer = nn.Linear(width, out)
        _initialise(layer, last_gain if number == len(sizes) - 2 else 2**0.5)
        parts += [nn.ReLU(), layer]
    return nn.Sequential(*parts)


def _initialise(layer: nn.Linear, gain: float) -> None:
    nn.init.orthogonal_(layer.weight, gain)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)


class NetworkAgent:
    """An agent that plays a network's policy: its most probable card, or a draw from it.

    Args:
        name: How it is called in tables.
        game: What it plays.
        network: An `ActorCritic`.
        players: The number of players it was trained for.
        sample: Draw from the policy (keyed) instead of taking the most probable card.
    """

    def __init__(self, name: str, game: Game, network: ActorCritic, players: int, sample: bool = False) -> None:
        self.name, self.game, self.network, self.players, self.sample = name, game, network, players, sample

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Cards int64[N] for views [N]."""
        if len(views) and int(views["players"][0]) != self.players:
            players = int(views["players"][0])
            raise OptionError(f"agent {self.name!r} was trained for {self.players} players, not {players}")
        log_p = self.log_probabilities(views)
        if self.sample:
            log_p = log_p + gumbel(keys, views["plays"], self.game.deck.size)
        return log_p.argmax(1)

    def log_probabilities(self, views: np.ndarray) -> np.ndarray:
        """f32[N, A]: log-probability of each card.

        A row is the same whatever else is in the batch: rows are padded to blocks of one size, for matrix
        products of different shapes may round differently.
        """
        count = len(views)
        observation, mask = self.game.encode(views), self.game.masks(views).astype(bool)
        out = np.empty(mask.shape, np.float32)
        device = self.network.observed.weight.device
        with torch.inference_mode():
            for start in range(0, count, BLOCK):
                rows = slice(start, min(start + BLOCK, count))
                block = np.zeros((BLOCK, observation.shape[1]), np.int8)
                block[: rows.stop - start] = observation[rows]
                logits = self.network.logits(torch.from_numpy(block).to(device)).cpu()[: rows.stop - start]
                out[rows] = masked_log_softmax(logits, torch.from_numpy(mask[rows])).numpy()
        return out

    def expected_payoff(self, states: np.ndarray) -> np.ndarray:
        """f32[N, P]: what the critic, which sees all hands, expects each seat to be paid (in units of a whole deal)."""
        players = int(states["players"][0])
        out = np.empty((len(states), players), np.float32)
        full = np.empty((len(states), self.game.encoding.state_size(players)), np.int8)
        for seat in range(players):
            seats = np.full(len(states), seat, np.int8)
            self.game.lanes.observe_state(states, seats, full.reshape(-1), np.zeros(1, self.game.state))
            with torch.inference_mode():
                device = self.network.observed.weight.device
                out[:, seat] = self.network(torch.from_numpy(full).to(device))[1].cpu().numpy()
        return out


BLOCK = 256


def gumbel(keys: np.ndarray, turns: Any, cards: int) -> np.ndarray:
    """Gumbel noise f32[N, cards] keyed by the agents' keys and the number of cards played."""
    turn = np.asarray(turns).astype(np.uint64)[:, None] * np.uint64(64) + np.arange(cards, dtype=np.uint64)
    x = keys[:, None] + (turn + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    uniform = ((x ^ (x >> np.uint64(31))) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54
    return (-np.log(-np.log(uniform))).astype(np.float32)
