"""Proximal policy optimisation by self-play of one shared network.

Schulman et al., "Proximal Policy Optimization Algorithms" (2017), with what trick-taking games ask for: masks
stored and applied in the update, advantages along each seat's own decisions, a critic that sees all hands,
forced cards left out, and an entropy bonus that falls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..agents import load_agent
from ..agents.checkpoint import CheckpointError, network_about
from ..agents.network import ActorCritic, NetworkAgent, masked_log_softmax
from ..envs.batch import Batch, Terms
from ..envs.errors import OptionError
from ..envs.game import get_game
from .config import TrainConfig
from .match import gauntlet, make_design
from .rollout import Collector, Rollout, advantages
from .seeds import TRAIN, seed_of


@dataclass
class Losses:
    """Means over an update, for the log."""

    policy: float = 0.0
    value: float = 0.0
    entropy: float = 0.0
    divergence: float = 0.0
    clipped: float = 0.0
    first_ratio: float = 0.0  # largest distance of the probability ratio from 1 in the first minibatch


class Trainer:
    """One training run: network, optimiser, lanes and random numbers, all of which a checkpoint holds.

    Args:
        config: What to train, and how.
    """

    def __init__(self, config: TrainConfig) -> None:
        self.config, self.game, self.rules = config, get_game(config.game), config.rules()
        self.device = pick_device(config.device)
        torch.manual_seed(config.seed)
        if config.threads:
            torch.set_num_threads(config.threads)
        self.ignore = self.game.encoding.constant(self.rules) if config.ignore is None else config.ignore
        self.network = ActorCritic(self.game, self.rules.players, config.hidden, self.ignore).to(self.device)
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.learning_rate, eps=1e-5)
        self.generator = torch.Generator().manual_seed(config.seed)
        numbers = np.arange(config.lanes, dtype=np.uint64)
        seed = seed_of(TRAIN, config.seed)
        self.batch = Batch(self.game, self.rules, Terms("payoff"), seed, numbers, np.zeros(config.lanes, np.int64))
        self.teacher = load_agent(config.teacher, game=config.game) if config.teacher else None
        opponent = load_agent(config.opponent, game=config.game) if config.opponent else None
        players = self.rules.players
        half = config.opponent_seats == "half"
        design = make_design(self.game, players, 2) if half else gauntlet(self.game, players)
        share = config.opponent_share
        self.collector = Collector(self.batch, config.steps, self.device, opponent, share, design.seatings)
        for name in config.baselines:
            load_agent(name, game=config.game)  # a wrong name is better known before hours of training
        self.updates = 0
        self.history: list[dict[str, float]] = []

    @property
    def decisions(self) -> int:
        """Cards played so far."""
        return self.updates * self.config.lanes * self.config.steps

    @property
    def imitating(self) -> bool:
        """Whether the next update learns a teacher's cards rather than from rewards."""
        return self.teacher is not None and self.decisions < self.config.imitate

    @property
    def finished(self) -> bool:
        """Whether the config's number of decisions is reached."""
        return self.decisions >= self.config.decisions

    def scheduled(self, start: float, end: float) -> float:
        """A value on its way from start to end."""
        return start + (end - start) * min(self.decisions / self.config.decisions, 1.0)

    def update(self) -> Losses:
        """Play a rollout and learn from it."""
        config = self.config
        for group in self.optimizer.param_groups:
            group["lr"] = self.scheduled(config.learning_rate, config.final_learning_rate)
        entropy_weight = 0.0 if self.imitating else self.scheduled(config.entropy, config.final_entropy)
        rollout = self.collector.collect(self.network, self.generator, self.teacher if self.imitating else None)
        losses = self.learn(rollout, entropy_weight)
        self.updates += 1
        return losses

    def learn(self, rollout: Rollout, entropy_weight: float) -> Losses:
        """Several epochs of minibatches over the decisions of a rollout."""
        config = self.config
        order = torch.randperm(len(rollout.action), generator=self.generator)
        old_log_p, value = self.evaluate(rollout, order)
        advantage, complete = advantages(rollout, value.numpy(), config.gamma, config.trace)
        target = torch.from_numpy(advantage) + value
        weight = torch.from_numpy(complete)
        normal = torch.from_numpy(normalised(advantage, complete))
        losses = Losses()
        parts = 0
        for epoch in range(config.epochs):
            if epoch:
                order = torch.randperm(len(rollout.action), generator=self.generator)
            for rows in order.split(config.minibatch):
                batch = [x[rows].to(self.device) for x in (rollout.state, rollout.mask, rollout.action, rollout.label)]
                old = [x[rows].to(self.device) for x in (old_log_p, normal, target, weight)]
                loss, ratio = self.loss(losses, batch, old, entropy_weight)
                if not parts:
                    losses.first_ratio = float((ratio - 1).abs().max())
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), config.gradient_norm)
                self.optimizer.step()
                parts += 1
        for name in ("policy", "value", "entropy", "divergence", "clipped"):
            setattr(losses, name, getattr(losses, name) / parts)
        return losses

    def evaluate(self, rollout: Rollout, order: Tensor) -> tuple[Tensor, Tensor]:
        """Log-probabilities of the cards chosen and values f32[K], before the network changes.

        In the very minibatches of the first epoch, so that its first ratios are exactly 1.
        """
        log_p, value = torch.empty(len(order)), torch.empty(len(order))
        with torch.no_grad():
            for rows in order.split(self.config.minibatch):
                logits, values = self.network(rollout.state[rows].to(self.device))
                all_log_p = masked_log_softmax(logits, rollout.mask[rows].to(self.device)).cpu()
                log_p[rows] = all_log_p.gather(1, rollout.action[rows, None])[:, 0]
                value[rows] = values.cpu()
        return log_p, value

    def loss(self, losses: Losses, batch: Any, old: Any, entropy_weight: float) -> tuple[Tensor, Tensor]:
        """PPO's clipped surrogate, the critic's squared error and the entropy bonus of a minibatch.

        While a teacher is imitated, the log-probability of its card stands in for the surrogate.
        """
        (state, mask, action, label), (old_log_p, advantage, target, weight) = batch, old
        share = weight.float() / weight.sum().clamp(min=1)
        logits, value = self.network(state)
        log_p = masked_log_softmax(logits, mask)
        chosen = log_p.gather(1, action[:, None])[:, 0]
        ratio = (chosen - old_log_p).exp()
        clipped = ratio.clamp(1 - self.config.clip, 1 + self.config.clip)
        gain = torch.minimum(ratio * advantage, clipped * advantage)
        if self.imitating:
            gain = log_p.gather(1, label[:, None])[:, 0]
        policy = -(gain * share).sum()
        error = ((value - target) ** 2 * share).sum()
        entropy = -((log_p.exp() * log_p).masked_fill(~mask, 0.0).sum(1) * share).sum()
        with torch.no_grad():
            losses.policy += policy.item()
            losses.value += error.item()
            losses.entropy += entropy.item()
            losses.divergence += ((ratio - 1 - (chosen - old_log_p)) * share).sum().item()
            losses.clipped += (((ratio - 1).abs() > self.config.clip) * share).sum().item()
        return policy + self.config.value_weight * error - entropy_weight * entropy, ratio.detach()

    def agent(self, name: str = "ppo") -> NetworkAgent:
        """The present policy as an agent (its most probable cards)."""
        return NetworkAgent(name, self.game, self.network, self.rules.players)

    # ------------------------------------------------------------------------------------- checkpoints

    def about(self) -> dict[str, Any]:
        """What a checkpoint says of itself."""
        config = self.config
        return {
            **network_about(self.game, self.rules.players, config.hidden, self.ignore),
            "config": config.as_dict(),
            "updates": self.updates,
            "decisions": self.decisions,
            "history": self.history,
        }

    def weights(self) -> dict[str, Tensor]:
        """The network's tensors, as a checkpoint names them."""
        return {f"model.{name}": tensor.cpu() for name, tensor in self.network.state_dict().items()}

    def tensors(self) -> dict[str, Tensor]:
        """All that training goes on from: weights, Adam's moments, lanes and random numbers."""
        found = self.weights()
        for number, moments in self.optimizer.state_dict()["state"].items():
            found |= {f"adam.{number}.{name}": tensor.cpu() for name, tensor in moments.items()}
        found["lanes"] = torch.from_numpy(self.batch.states.view(np.uint8).copy())
        found["generator"] = self.generator.get_state()
        return found

    def restore(self, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
        """Continue from a checkpoint's tensors as if never interrupted.

        Raises:
            CheckpointError: a checkpoint of a policy alone.
        """
        if not {"lanes", "generator"} <= set(tensors):
            raise CheckpointError("the checkpoint holds a policy alone; a run is resumed from its last.safetensors")
        self.network.load_state_dict({n[6:]: t for n, t in tensors.items() if n.startswith("model.")})
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in tensors.items():
            if name.startswith("adam."):
                _, number, field = name.split(".")
                moments.setdefault(int(number), {})[field] = tensor
        state = self.optimizer.state_dict()
        self.optimizer.load_state_dict({"state": moments, "param_groups": state["param_groups"]})
        self.batch.states[:] = tensors["lanes"].numpy().view(self.game.state)
        self.batch.look()
        self.generator.set_state(tensors["generator"])
        self.updates = about["updates"]
        self.history = about["history"]


def normalised(advantage: np.ndarray, complete: np.ndarray) -> np.ndarray:
    """Advantages with mean 0 and deviation 1 over the decisions that are learned from."""
    used = advantage[complete]
    return ((advantage - used.mean()) / (used.std() + 1e-8)).astype(np.float32)


def pick_device(name: str) -> torch.device:
    """The device of that name; "auto" is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise OptionError("config key device='cuda' is not possible: torch finds no GPU. Valid: auto, cpu")
    return torch.device(name)
