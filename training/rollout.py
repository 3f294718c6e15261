"""Self-play over the batch: decisions with more than one legal card, and their advantages.

A forced card is no decision: it is played, and to the learner it is part of how the game goes on. Each seat's
own decisions form its trajectory; all rewards between two of them belong to the first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..agents.base import Agent
from ..agents.network import ActorCritic, masked_log_softmax
from ..envs.batch import Batch
from ..envs.jit import entry
from .match import only_card

NO_DECISION = -1


@dataclass
class Rollout:
    """T cards in each of N lanes, of which K were decisions.

    Attributes:
        state: int8[K, F], full states relative to the decider; the first D entries are its observation.
        mask: bool[K, A], legal cards.
        action: int64[K], cards chosen.
        label: int64[K], the cards a teacher would choose; the chosen ones where there is none.
        index: int32[T, N], number of the decision taken there; NO_DECISION for a forced card.
        seat: int8[T, N], who moved.
        reward: f32[T, N, P], paid after that card.
        done: bool[T, N], the episode ended with that card.
    """

    state: Tensor
    mask: Tensor
    action: Tensor
    label: Tensor
    index: np.ndarray
    seat: np.ndarray
    reward: np.ndarray
    done: np.ndarray


class Collector:
    """Plays a batch with a network's sampled cards and stores what an update needs.

    Args:
        batch: The lanes.
        steps: T.
        device: Where the network is.
        opponent: An agent whose cards are played, and not learned from, at the seats that it holds.
        share: Share of the lanes in which it holds seats, in all seatings by turns.
        seatings: 1 for each seat [P] that it holds, a row a seating.
    """

    def __init__(
        self,
        batch: Batch,
        steps: int,
        device: torch.device,
        opponent: Agent | None = None,
        share: float = 0.0,
        seatings: np.ndarray | None = None,
    ) -> None:
        n, size = batch.lanes, batch.game.encoding.state_size(batch.players)
        self.batch, self.steps, self.device, self.opponent = batch, steps, device, opponent
        rows = np.zeros((1, batch.players), bool) if seatings is None else seatings.astype(bool)
        self._opposes = rows[np.arange(n) % len(rows)] & (np.arange(n) < share * n)[:, None]
        self._lanes = np.arange(n)
        self._state = torch.empty((steps * n, size), dtype=torch.int8)
        self._mask = torch.empty((steps * n, batch.actions), dtype=torch.bool)
        self._action = torch.empty(steps * n, dtype=torch.int64)
        self._label = torch.empty(steps * n, dtype=torch.int64)
        self._index = np.empty((steps, n), np.int32)
        self._seat = np.empty((steps, n), np.int8)
        self._reward = np.empty((steps, n, batch.players), np.float32)
        self._done = np.empty((steps, n), bool)
        self._forced = np.empty(n, np.int64)

    def collect(self, network: ActorCritic, generator: torch.Generator, teacher: Agent | None = None) -> Rollout:
        """Play `steps` cards in every lane; the storage is overwritten by the next call."""
        count = 0
        for step in range(self.steps):
            count = self._step(network, generator, teacher, step, count)
        return Rollout(
            self._state[:count],
            self._mask[:count],
            self._action[:count],
            self._label[:count],
            self._index,
            self._seat,
            self._reward,
            self._done,
        )

    def _step(
        self, network: ActorCritic, generator: torch.Generator, teacher: Agent | None, step: int, count: int
    ) -> int:
        """One card in every lane; returns the number of decisions so far."""
        batch = self.batch
        only_card(batch.legal, self._forced)
        cards = self._forced.copy()
        theirs = np.flatnonzero((cards < 0) & self._opposes[self._lanes, batch.seat])
        if self.opponent is not None and len(theirs):
            cards[theirs] = self.opponent.act(batch.views[theirs], batch.keys(1)[theirs])
        lanes = np.flatnonzero(cards < 0)
        end = count + len(lanes)
        if len(lanes):
            state = torch.from_numpy(batch.state[lanes])
            mask = torch.from_numpy(batch.action_mask[lanes]).bool()
            action = draw(network, state, mask, generator, self.device)
            self._state[count:end], self._mask[count:end], self._action[count:end] = state, mask, action
            self._label[count:end] = action
            if teacher is not None:
                self._label[count:end] = torch.from_numpy(teacher.act(batch.views[lanes], batch.keys()[lanes]))
            cards[lanes] = action.numpy()
        self._index[step] = NO_DECISION
        self._index[step, lanes] = np.arange(count, end)
        self._seat[step] = batch.seat
        played = batch.step(cards)
        self._reward[step], self._done[step] = played.reward, played.done
        return end


def draw(network: ActorCritic, state: Tensor, mask: Tensor, generator: torch.Generator, device: torch.device) -> Tensor:
    """Cards int64[N] drawn from the policy by the Gumbel-max rule."""
    with torch.inference_mode():
        logits = network.logits(state[:, : network.observation_size].to(device)).cpu()
        noise = torch.empty_like(logits).exponential_(generator=generator)
        return (masked_log_softmax(logits, mask) - noise.log()).argmax(1)


@entry
def _advantages(
    index: Any, seat: Any, reward: Any, done: Any, value: Any, gamma: float, trace: float, out: Any, complete: Any
) -> None:
    steps, lanes, players = reward.shape
    paid = np.zeros(players)
    next_value = np.zeros(players)
    next_advantage = np.zeros(players)
    known = np.zeros(players, np.bool_)  # whether the seat's next decision, or the end, lies in the rollout
    for lane in range(lanes):
        paid[:] = 0.0
        known[:] = False
        for step in range(steps - 1, -1, -1):
            if done[step, lane]:
                paid[:] = 0.0
                next_value[:] = 0.0
                next_advantage[:] = 0.0
                known[:] = True
            for s in range(players):
                paid[s] += reward[step, lane, s]
            i = index[step, lane]
            if i == NO_DECISION:
                continue
            s = seat[step, lane]
            complete[i] = known[s]
            out[i] = 0.0
            if known[s]:
                out[i] = paid[s] + gamma * next_value[s] - value[i] + gamma * trace * next_advantage[s]
            paid[s] = 0.0
            next_value[s] = value[i]
            next_advantage[s] = out[i]
            known[s] = True


def advantages(rollout: Rollout, value: np.ndarray, gamma: float, trace: float) -> tuple[np.ndarray, np.ndarray]:
    """Generalised advantage estimates along each seat's own decisions.

    A seat's last decision in a rollout that breaks off has no successor yet: it serves as the value that the
    decision before it looks ahead to, and is not learned from.

    Args:
        rollout: What was played.
        value: f32[K], the critic's values of the decisions' states.
        gamma: Discount from one own decision to the next.
        trace: Lambda.

    Returns:
        Advantages f32[K], and bool[K]: decisions whose successor or end is known.
    """
    out = np.empty(len(value), np.float32)
    complete = np.empty(len(value), bool)
    _advantages(rollout.index, rollout.seat, rollout.reward, rollout.done, value, gamma, trace, out, complete)
    return out, complete
