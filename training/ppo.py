"""Proximal policy optimisation by self-play of one shared network.

Schulman et al., "Proximal Policy Optimization Algorithms" (2017), with what trick-taking games ask for: masks
stored and applied in the update, advantages along each seat's own decisions, a critic that sees all hands,
forced cards left out, and an entropy bonus that falls. A run may begin by imitating a teacher, and then by trying
every legal card in the true deal (see `counterfactual`); rewards of the learner's own play come last.
"""

from __future__ import annotations

import copy
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..agents import load_agent
from ..agents.base import Agent
from ..agents.checkpoint import CheckpointError, load_network, network_about
from ..agents.network import ActorCritic, Anchor, NetworkAgent, Shape, masked_log_softmax, value_of
from ..agents.worlds import Likely
from ..envs.batch import Batch, Terms
from ..envs.errors import OptionError
from ..envs.game import get_game, with_episode
from . import objective
from .config import TrainConfig
from .counterfactual import continuing
from .match import gauntlet, make_design
from .objective import Losses
from .parallel import Alone
from .pool import PastSelves
from .rollout import UNKNOWN, Collector, Lesson, Rollout, advantages
from .seeds import TRAIN, seed_of

TABLE_LANES = 1 << 32  # numbers of the lanes of one table; tables differ by preset and episode


@dataclass
class Prepared:
    """What an update knows of a rollout's decisions before the network changes, each f32[K] (reference f32[K, A])."""

    log_p: Tensor
    advantage: Tensor
    target: Tensor
    weight: Tensor
    reference: Tensor


class Trainer:
    """One training run: network, optimiser, lanes and random numbers, all of which a checkpoint holds.

    Args:
        config: What to train, and how.
        team: The processes that train together, seen from this one, which has its share of the lanes.
    """

    def __init__(self, config: TrainConfig, team: Alone | None = None) -> None:
        self.config, self.game, self.rules = config, get_game(config.game), config.rules()
        self.team = team or Alone()
        self.device = pick_device("cpu" if self.team.size > 1 else config.device)
        torch.manual_seed(config.seed)
        if threads := self.team.threads(config.threads):
            torch.set_num_threads(threads)
        bonus = config.anchor_margin / config.temperature
        form = (config.hidden, config.trunk, config.unread(), config.critic, config.judges)
        shape = Shape(*form, config.anchor, bonus if config.anchor else 0.0, config.counting, config.infer)
        self.anchor = Anchor(self.game, shape)
        self.hands = self.game.encoding.layout(self.rules.players)["other_hands"]
        self.network = self._first_network(shape).to(self.device)
        self.reference = copy.deepcopy(self.network) if config.reference_weight else None
        self.optimizer = torch.optim.Adam(self.network.parameters(), lr=config.learning_rate, eps=1e-5, fused=True)
        self.generator = torch.Generator().manual_seed(self.team.seed(config.seed))
        self.teacher = load_agent(config.teacher, game=config.game) if config.teacher else None
        self.policy = continuing(config.improve_policy, self.game) if config.improve else None
        self.judge = load_agent(config.improve_judge, game=config.game) if config.improve_judge else None
        if self.judge and not hasattr(self.judge, "values"):
            raise OptionError(
                f"config key improve_judge={config.improve_judge!r} is no network. Valid: ppo, or ppo:PATH"
            )
        self.likely = None
        if config.improve_weigh:
            weigher = load_agent(config.improve_weigh, game=config.game)
            self.likely = Likely(weigher, config.improve_eps, config.improve_surplus)
        self.past = None
        if "past" in config.opponents:
            self.past = PastSelves(self.game, copy.deepcopy(self.network), self.rules.players, config.past_size)
        self.opponents = [self._opponent(name) for name in config.opponents]
        for name in config.baselines:
            load_agent(name, game=config.game)
        self.updates = 0
        self.seconds = 0.0  # spent on updates
        self.history: list[dict[str, float]] = []
        self.playing_games = False
        self.collectors = self._tables()

    def _first_network(self, shape: Shape) -> ActorCritic:
        """A new network, or the one of the checkpoint that the run starts from."""
        start, players = self.config.start, self.rules.players
        if start is None:
            return ActorCritic(self.game, players, shape)
        network, about = load_network(start, self.game)
        if about["players"] != players:
            raise CheckpointError(f"{start} was trained for {about['players']} players, not {players}")
        for name, here in asdict(shape).items():
            there = getattr(network.shape, name)
            if there != here and not (name == "infer" and not there):
                raise CheckpointError(f"{start} has a network with {name}={there!r}, but the config says {here!r}")
        if network.shape == shape:
            return network.train()
        larger = ActorCritic(self.game, players, shape)  # its inference is new, and leaves the policy as it was
        larger.load_state_dict(network.state_dict(), strict=False)
        return larger.train()

    def _opponent(self, name: str) -> Agent:
        return self.past if name == "past" and self.past else load_agent(name, game=self.config.game)

    def _tables(self) -> list[Collector]:
        """Lanes for each preset, of single episodes as the options say or of whole games."""
        config, players = self.config, self.rules.players
        design = make_design(self.game, players, 2) if config.opponent_seats == "half" else gauntlet(self.game, players)
        tables = []
        for number, rules in enumerate(config.all_rules()):
            rules = with_episode(rules, "game") if self.playing_games else rules
            first = (2 * number + self.playing_games) * TABLE_LANES
            lanes = self.team.own(np.arange(first, first + config.lanes, dtype=np.uint64))
            terms = Terms("result" if self.playing_games else "payoff")
            batch = Batch(self.game, rules, terms, seed_of(TRAIN, config.seed), lanes, np.zeros(len(lanes), np.int64))
            against = (self.opponents, config.opponent_share, design.seatings)
            tables.append(Collector(batch, config.steps, self.device, *against, config.event()))
        return tables

    @property
    def decisions(self) -> int:
        """Cards played so far."""
        return self.updates * self.config.lanes * self.config.steps

    @property
    def imitating(self) -> bool:
        """Whether the next update learns a teacher's cards rather than from rewards."""
        return self.teacher is not None and self.decisions < self.config.imitate

    @property
    def improving(self) -> bool:
        """Whether the next update learns what every legal card brings when a policy plays on."""
        return not self.imitating and self.decisions < self.config.imitate + self.config.improve

    @property
    def finished(self) -> bool:
        """Whether the config's number of decisions is reached."""
        return self.decisions >= self.config.decisions

    def scheduled(self, start: float, end: float) -> float:
        """A value on its way from start to end, once the lessons are over."""
        lessons = self.config.imitate + self.config.improve
        share = (self.decisions - lessons) / max(self.config.decisions - lessons, 1)
        return start + (end - start) * min(max(share, 0.0), 1.0)

    def learning_rate(self) -> float:
        """Adam's step size: falling to its value after the lessons, then on to the last one."""
        config, lessons = self.config, self.config.imitate + self.config.improve
        if self.decisions >= lessons:
            return self.scheduled(config.learning_rate, config.final_learning_rate)
        first = config.lesson_learning_rate or config.learning_rate
        return first + (config.learning_rate - first) * self.decisions / lessons

    def update(self) -> Losses:
        """Play a rollout and learn from it."""
        config = self.config
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate()
        self._enter_games()
        collector = self.collectors[self.updates % len(self.collectors)]
        if self.past:
            if self.updates % config.past_every == 0:
                self.past.keep(self.network)
            self.past.choose(self.generator, self.team)
        teacher, policy = self.teacher if self.imitating else None, self.policy if self.improving else None
        lesson = Lesson(teacher, policy, config.improve_worlds, self.likely, self.judge)
        rollout = collector.collect(self.network, self.generator, self.anchor, lesson)
        losses = self.learn(rollout)
        if self.past and config.opponent_share:
            self.past.judge(-self.team.mean(collector.payoff_against(config.opponents.index("past"))))
        if self.reference is not None:
            follow(self.reference, self.network, config.reference_rate)
        self.updates += 1
        return losses

    def _enter_games(self) -> None:
        """From a number of cards on, whole games instead of single deals."""
        if self.config.whole_games and not self.playing_games and self.decisions >= self.config.whole_games:
            self.playing_games = True
            self.collectors = self._tables()

    def learn(self, rollout: Rollout) -> Losses:
        """Several epochs of minibatches over the decisions of a rollout."""
        config, size = self.config, len(rollout.action)
        order = torch.randperm(size, generator=self.generator)
        ready = self.prepare(rollout, order)
        losses, lesson = Losses(), self.imitating or self.improving
        parts = 0
        for epoch in range(config.improve_epochs if self.improving else config.epochs):
            if epoch:
                order = torch.randperm(size, generator=self.generator)
            for rows in self.team.split(order, config.minibatch):
                loss, ratio = self.loss(losses, rollout, ready, rows)
                if not parts:
                    losses.first_ratio = float((ratio - 1).abs().max())
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                self.team.average(self.network, len(rows) if lesson else ready.weight[rows].sum())
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), config.gradient_norm)
                self.optimizer.step()
                parts += 1
        losses.average(parts)
        return losses

    def prepare(self, rollout: Rollout, order: Tensor) -> Prepared:
        """Advantages and targets, from the network as it is before the update.

        While a lesson is learned (imitating, improving) the critic's targets are the rewards as they came.
        """
        config, lesson = self.config, self.imitating or self.improving
        if lesson:
            log_p = value = torch.zeros(len(order))
            chosen, reference = None, torch.empty(len(order), 0)
        else:
            log_p, value, chosen, reference = self.evaluate(rollout, order)
        trace, gamma = (1.0, 1.0) if lesson else (config.trace, config.gamma)
        base = None if chosen is None else chosen.numpy()
        gain, complete = advantages(rollout, value.numpy(), gamma, trace, base)
        if lesson:  # deals without an end in the rollout have no rewards yet
            complete = (rollout.outcome[:, 0] != UNKNOWN).numpy()
        target = torch.from_numpy(gain) + (value if chosen is None else chosen)
        advantage = (target - value).numpy()
        normal = torch.from_numpy(normalised(advantage, complete, self.team))
        return Prepared(log_p, normal, target, torch.from_numpy(complete), reference)

    def evaluate(self, rollout: Rollout, order: Tensor) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
        """Before the network changes: log-probabilities of the cards chosen, values of states and of these cards
        (None where the critic values states), f32[K] each, and the reference's log-probabilities f32[K, A].

        In the very minibatches of the first epoch, so that its first ratios are exactly 1.
        """
        size = len(order)
        log_p, value, chosen = torch.empty(size), torch.empty(size), torch.empty(size)
        reference = torch.empty((size, self.game.deck.size if self.reference else 0))
        judges_cards = self.config.judges == "cards"
        with torch.no_grad():
            for rows in self.team.split(order, self.config.minibatch):
                state, mask = self.pick(rollout.state, rows), self.pick(rollout.mask, rows)
                action = self.pick(rollout.action[:, None], rows)
                logits, worth, *_ = self.network(state)
                preferred = self.pick(rollout.anchor, rows)
                all_log_p = masked_log_softmax(self.anchor(logits, preferred), mask)
                log_p[rows] = all_log_p.gather(1, action)[:, 0].cpu()
                value[rows] = value_of(worth, all_log_p).cpu()
                if judges_cards:
                    chosen[rows] = worth.gather(1, action)[:, 0].cpu()
                if self.reference:
                    reference[rows] = masked_log_softmax(
                        self.anchor(self.reference.logits(state), preferred), mask
                    ).cpu()
        return log_p, value, chosen if judges_cards else None, reference

    def pick(self, values: Tensor, rows: Tensor) -> Tensor:
        """Some decisions' rows, where the network is; several times as fast as `values[rows]`."""
        return values.index_select(0, rows).to(self.device)

    def loss(self, losses: Losses, rollout: Rollout, ready: Prepared, rows: Tensor) -> tuple[Tensor, Tensor]:
        """The objective of a minibatch, and the probability ratios of the cards chosen.

        PPO's clipped surrogate (or what stands for it while a lesson is learned), the critic's squared error, the
        entropy bonus, the forecasts and the divergence from the reference policy.
        """
        config = self.config
        here = [self.pick(x, rows) for x in (rollout.state, rollout.mask, rollout.action, rollout.outcome)]
        known = [self.pick(x, rows) for x in (ready.log_p, ready.advantage, ready.target, ready.weight)]
        (state, mask, action, outcome), (old_log_p, advantage, target, weight) = here, known
        share = weight.float() / weight.sum().clamp(min=1)
        alike = torch.full_like(share, 1 / len(share))  # lessons are learned at every decision
        logits, worth, foretold, located = self.network(state)
        log_p = masked_log_softmax(self.anchor(logits, self.pick(rollout.anchor, rows)), mask)
        chosen = log_p.gather(1, action[:, None])[:, 0]
        ratio = (chosen - old_log_p).exp()
        judged = worth if worth.dim() == 1 else worth.gather(1, action[:, None])[:, 0]
        error = ((judged - target) ** 2 * share).sum()
        entropy = objective.entropy_of(log_p, mask, share)
        total = config.value_weight * error
        if self.imitating:
            policy = objective.imitation(log_p, self.pick(rollout.label, rows), alike)
        elif self.improving:
            payoff = self.pick(rollout.payoff, rows)
            policy = objective.improvement(logits, mask, payoff, config.temperature, alike)
        else:
            policy = objective.clipped_surrogate(ratio, advantage, config.clip, share)
            total = total - self.scheduled(config.entropy, config.final_entropy) * entropy
            if self.reference is not None:
                reference = self.pick(ready.reference, rows)
                total = total + config.reference_weight * objective.divergence_from(log_p, reference, mask, share)
        if config.forecast_weight:
            forecast = objective.forecast_error(foretold, target, outcome, share)
            losses.note(forecast=forecast)
            total = total + config.forecast_weight * forecast
        if located is not None:
            holders = objective.holder_error(located.log_p, state[:, self.hands], alike)
            losses.note(holders=holders)
            total = total + config.infer_weight * holders
        with torch.no_grad():
            divergence = ((ratio - 1 - (chosen - old_log_p)) * share).sum()
            clipped = (((ratio - 1).abs() > config.clip) * share).sum()
        losses.note(policy=policy, value=error, entropy=entropy, divergence=divergence, clipped=clipped)
        return policy + total, ratio.detach()

    def agent(self, name: str = "ppo") -> NetworkAgent:
        """The present policy as an agent (its most probable cards)."""
        return NetworkAgent(name, self.game, self.network, self.rules.players)

    # ------------------------------------------------------------------------------------- checkpoints

    def about(self) -> dict[str, Any]:
        """What a checkpoint says of itself."""
        return {
            **network_about(self.game, self.rules.players, self.network.shape),
            "config": self.config.as_dict(),
            "updates": self.updates,
            "decisions": self.decisions,
            "seconds": self.seconds,
            "history": self.history,
        }

    def weights(self) -> dict[str, Tensor]:
        """The network's tensors, as a checkpoint names them."""
        return {f"model.{name}": tensor.cpu() for name, tensor in self.network.state_dict().items()}

    def tensors(self) -> dict[str, Tensor]:
        """All that training goes on from: weights, Adam's moments, lanes and random numbers, older selves.

        Lanes and random numbers are those of all processes, which must call this together.
        """
        found = self.weights()
        for number, moments in self.optimizer.state_dict()["state"].items():
            found |= {f"adam.{number}.{name}": tensor.cpu() for name, tensor in moments.items()}
        for number, table in enumerate(self.collectors):
            found[f"lanes.{number}"] = self.team.gather(torch.from_numpy(table.batch.states.view(np.uint8).copy()))
        if self.reference is not None:
            found |= {f"reference.{name}": tensor.cpu() for name, tensor in self.reference.state_dict().items()}
        found["generator"] = self.team.gather(self.generator.get_state())
        return found | (self.past.tensors() if self.past else {})

    def restore(self, tensors: dict[str, Tensor], about: dict[str, Any]) -> None:
        """Continue from a checkpoint's tensors as if never interrupted.

        Raises:
            CheckpointError: a checkpoint of a policy alone.
        """
        if not {"lanes.0", "generator"} <= set(tensors):
            raise CheckpointError("the checkpoint holds a policy alone; a run is resumed from its last.safetensors")
        self.network.load_state_dict(part_of(tensors, "model."))
        moments: dict[int, dict[str, Tensor]] = {}
        for name, tensor in part_of(tensors, "adam.").items():
            number, _, field = name.partition(".")
            moments.setdefault(int(number), {})[field] = tensor
        state = self.optimizer.state_dict()
        self.optimizer.load_state_dict({"state": moments, "param_groups": state["param_groups"]})
        if self.reference is not None:
            self.reference.load_state_dict(part_of(tensors, "reference."))
        if self.past:
            self.past.restore(tensors)
        self.generator.set_state(self.team.own(tensors["generator"]).clone())  # torch reads from the storage's start
        self.updates = about["updates"] - 1  # the stage of the update that was the last
        self._enter_games()
        self.updates += 1
        for number, table in enumerate(self.collectors):
            table.batch.states[:] = self.team.own(tensors[f"lanes.{number}"]).numpy().view(self.game.state)
            table.batch.look()
        self.seconds, self.history = about.get("seconds", 0.0), about["history"]


def part_of(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin so, without that."""
    return {name[len(prefix) :]: tensor for name, tensor in tensors.items() if name.startswith(prefix)}


def follow(reference: torch.nn.Module, network: torch.nn.Module, rate: float) -> None:
    """Move a network's weights a share of the way to another's."""
    with torch.no_grad():
        for old, new in zip(reference.parameters(), network.parameters(), strict=True):
            old.lerp_(new, rate)


def normalised(advantage: np.ndarray, complete: np.ndarray, team: Alone) -> np.ndarray:
    """Advantages with mean 0 and deviation 1 over the decisions that are learned from, in all processes.

    All are 0 where no deal has ended in the rollouts.
    """
    mean, deviation = team.spread(advantage[complete])
    return ((advantage - mean) / (deviation + 1e-8)).astype(np.float32)


def pick_device(name: str) -> torch.device:
    """The device of that name; "auto" is a GPU where there is one."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise OptionError("config key device='cuda' is not possible: torch finds no GPU. Valid: auto, cpu")
    return torch.device(name)
