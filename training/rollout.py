"""Self-play over the batch: decisions with more than one legal card, and their advantages.

A forced card is no decision: it is played, and to the learner it is part of how the game goes on. Each seat's
own decisions form its trajectory; all rewards between two of them belong to the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..agents.base import Agent
from ..agents.network import ActorCritic, Anchor, masked_log_softmax
from ..agents.worlds import Likely
from ..envs.batch import Batch
from ..envs.jit import entry
from .counterfactual import card_payoffs
from .match import only_card

NO_DECISION = -1
UNKNOWN = -1  # outcome of a deal that the rollout does not see the end of


@dataclass
class Rollout:
    """T cards in each of N lanes, of which K were decisions.

    Attributes:
        state: int8[K, F], full states relative to the decider; the first D entries are its observation.
        mask: bool[K, A], legal cards.
        action: int64[K], cards chosen.
        anchor: int64[K], the cards that the policy prefers; 0 where it has no anchor.
        label: int64[K], the cards a teacher would choose; the chosen ones where there is none.
        payoff: f32[K, A], what every legal card brings when a policy plays on; empty where that was not asked for.
        outcome: int64[K, J], the true outcomes of the game's forecasts for the decider; UNKNOWN where a deal goes on.
        index: int32[T, N], number of the decision taken there; NO_DECISION for a forced card.
        seat: int8[T, N], who moved.
        reward: f32[T, N, P], paid after that card.
        done: bool[T, N], the episode ended with that card.
    """

    state: Tensor
    mask: Tensor
    action: Tensor
    anchor: Tensor
    label: Tensor
    payoff: Tensor
    outcome: Tensor
    index: np.ndarray
    seat: np.ndarray
    reward: np.ndarray
    done: np.ndarray


@dataclass(frozen=True)
class Lesson:
    """What is noted at each decision beside the learner's own card.

    Attributes:
        teacher: An agent whose card is noted.
        policy: By whom every legal card is played on, and its payoff noted; see `counterfactual.continuing`.
        worlds: How many worlds beside the true one they are tried in.
        likely: How these are weighed.
        judge: Whose critic values where the cards lead, see `counterfactual.card_payoffs`.
    """

    teacher: Agent | None = None
    policy: str | Agent | None = None
    worlds: int = 0
    likely: Likely | None = None
    judge: Agent | None = None


class Collector:
    """Plays a batch with a network's sampled cards and stores what an update needs.

    Args:
        batch: The lanes.
        steps: T.
        device: Where the network is.
        opponents: Agents whose cards are played, and not learned from, at the seats that they hold.
        share: Share of the lanes in which they hold seats, in all seatings by turns.
        seatings: 1 for each seat [P] that they hold, a row a seating.
        event: Numbers of a forecast and of its outcome that pay 1, instead of the batch's rewards.
    """

    def __init__(
        self,
        batch: Batch,
        steps: int,
        device: torch.device,
        opponents: Sequence[Agent] = (),
        share: float = 0.0,
        seatings: np.ndarray | None = None,
        event: tuple[int, int] | None = None,
    ) -> None:
        n, size = batch.lanes, batch.game.encoding.state_size(batch.players)
        self.batch, self.steps, self.device, self.opponents, self.event = batch, steps, device, opponents, event
        rows = np.zeros((1, batch.players), bool) if seatings is None else seatings.astype(bool)
        self._lanes = np.arange(n)
        self._opposes = rows[self._lanes % len(rows)] & (self._lanes < share * n)[:, None]
        self._member = self._lanes // len(rows) % max(len(opponents), 1)
        self._state = torch.empty((steps * n, size), dtype=torch.int8)
        self._mask = torch.empty((steps * n, batch.actions), dtype=torch.bool)
        self._action = torch.empty(steps * n, dtype=torch.int64)
        self._anchor = torch.empty(steps * n, dtype=torch.int64)
        self._label = torch.empty(steps * n, dtype=torch.int64)
        self._payoff = torch.empty((0, batch.actions))
        self._index = np.empty((steps, n), np.int32)
        self._seat = np.empty((steps, n), np.int8)
        self._reward = np.empty((steps, n, batch.players), np.float32)
        self._done = np.empty((steps, n), bool)
        self._forced = np.empty(n, np.int64)
        self._ended = np.empty((steps, n), bool)
        kinds = len(batch.game.encoding.forecasts(batch.players))
        self._foretold = np.zeros((steps, n, batch.players, kinds), np.int8)
        self._scratch = np.zeros(1, batch.game.state)

    def collect(
        self, network: ActorCritic, generator: torch.Generator, anchor: Anchor, lesson: Lesson | None = None
    ) -> Rollout:
        """Play `steps` cards in every lane; the storage is overwritten by the next call."""
        lesson, count = lesson or Lesson(), 0
        if lesson.policy and not len(self._payoff):
            self._payoff = torch.empty((len(self._action), self.batch.actions))
        for step in range(self.steps):
            count = self._step(network, generator, anchor, lesson, step, count)
        outcome = np.empty((count, self._foretold.shape[3]), np.int64)
        _outcomes(self._index, self._seat, self._ended, self._foretold, outcome)
        return Rollout(
            self._state[:count],
            self._mask[:count],
            self._action[:count],
            self._anchor[:count],
            self._label[:count],
            self._payoff[:count] if lesson.policy else self._payoff[:0],
            torch.from_numpy(outcome),
            self._index,
            self._seat,
            self._reward,
            self._done,
        )

    def _step(
        self, network: ActorCritic, generator: torch.Generator, anchor: Anchor, lesson: Lesson, step: int, count: int
    ) -> int:
        """One card in every lane; returns the number of decisions so far."""
        batch = self.batch
        only_card(batch.legal, self._forced)
        cards = self._forced.copy()
        self._oppose(cards)
        lanes = np.flatnonzero(cards < 0)
        end = count + len(lanes)
        if len(lanes):
            state = torch.from_numpy(batch.state[lanes])
            mask = torch.from_numpy(batch.action_mask[lanes]).bool()
            preferred = anchor.cards(batch.views[lanes]) if anchor.agent else self._anchor[count:end].zero_()
            logits = anchor(logits_of(network, state, self.device), preferred)
            action = draw(logits, mask, generator)
            self._state[count:end], self._mask[count:end], self._action[count:end] = state, mask, action
            self._anchor[count:end] = preferred
            self._note(lesson, lanes, slice(count, end), action)
            cards[lanes] = action.numpy()
        self._index[step] = NO_DECISION
        self._index[step, lanes] = np.arange(count, end)
        self._seat[step] = batch.seat
        batch.game.lanes.foretell(batch.states, cards, self._scratch, self._ended[step], self._foretold[step])
        played = batch.step(cards)
        self._reward[step], self._done[step] = played.reward, played.done
        if self.event is not None:
            forecast, outcome = self.event
            self._reward[step] = (self._foretold[step, :, :, forecast] == outcome) & self._ended[step][:, None]
        return end

    def _oppose(self, cards: np.ndarray) -> None:
        """Fill in the cards of the seats that others hold."""
        batch = self.batch
        theirs = (cards < 0) & self._opposes[self._lanes, batch.seat]
        if not theirs.any():
            return
        views, keys = batch.views, batch.keys(1)
        for number, opponent in enumerate(self.opponents):
            lanes = np.flatnonzero(theirs & (self._member == number))
            if len(lanes):
                cards[lanes] = opponent.act(views[lanes], keys[lanes])

    def _note(self, lesson: Lesson, lanes: np.ndarray, rows: slice, action: Tensor) -> None:
        """The teacher's cards and the payoffs of all cards, where they are asked for."""
        batch = self.batch
        self._label[rows] = action
        if lesson.teacher is not None:
            self._label[rows] = torch.from_numpy(lesson.teacher.act(batch.views[lanes], batch.keys()[lanes]))
        if lesson.policy:
            here = (batch.states[lanes], batch.legal[lanes], batch.keys()[lanes])
            found = card_payoffs(batch.game, lesson.policy, *here, lesson.worlds, lesson.likely, lesson.judge)
            self._payoff[rows] = torch.from_numpy(found)

    def payoff_against(self, number: int) -> float:
        """Mean reward of an episode of the last rollout at the learner's seats against one opponent; 0 where none."""
        lanes = np.flatnonzero((self._member == number) & self._opposes.any(1))
        own = ~self._opposes[lanes]
        episodes = (self._done[:, lanes].sum(0) * own.sum(1)).sum()
        return float((self._reward[:, lanes].sum(0) * own).sum() / max(episodes, 1))


def logits_of(network: ActorCritic, state: Tensor, device: torch.device) -> Tensor:
    """Logits f32[N, A] of full states int8[N, F], of which the network sees the observation."""
    with torch.inference_mode():
        return network.logits(state[:, : network.observation_size].to(device)).cpu()


def draw(logits: Tensor, mask: Tensor, generator: torch.Generator) -> Tensor:
    """Cards int64[N] drawn from a policy by the Gumbel-max rule."""
    noise = torch.empty_like(logits).exponential_(generator=generator)
    return (masked_log_softmax(logits, mask) - noise.log()).argmax(1)


@entry
def _outcomes(index: Any, seat: Any, ended: Any, foretold: Any, out: Any) -> None:
    """The outcomes of the deal that each decision belongs to, for its decider."""
    steps, lanes = index.shape
    for lane in range(lanes):
        end = -1
        for step in range(steps - 1, -1, -1):
            if ended[step, lane]:
                end = step
            i = index[step, lane]
            if i != NO_DECISION:
                for kind in range(out.shape[1]):
                    out[i, kind] = foretold[end, lane, seat[step, lane], kind] if end >= 0 else UNKNOWN


@entry
def _advantages(
    index: Any,
    seat: Any,
    reward: Any,
    done: Any,
    value: Any,
    chosen: Any,
    gamma: float,
    trace: float,
    out: Any,
    complete: Any,
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
                out[i] = paid[s] + gamma * next_value[s] - chosen[i] + gamma * trace * next_advantage[s]
            paid[s] = 0.0
            next_value[s] = value[i]
            next_advantage[s] = out[i]
            known[s] = True


def advantages(
    rollout: Rollout, value: np.ndarray, gamma: float, trace: float, chosen: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Generalised advantage estimates along each seat's own decisions.

    A seat's last decision in a rollout that breaks off has no successor yet: it serves as the value that the
    decision before it looks ahead to, and is not learned from.

    Args:
        rollout: What was played.
        value: f32[K], the critic's values of the decisions' states.
        gamma: Discount from one own decision to the next.
        trace: Lambda.
        chosen: f32[K], the critic's values of the cards chosen, where it values cards; the result then is measured
            from these (expected SARSA(lambda): the value looked ahead to is the policy's mean over the cards).

    Returns:
        Advantages f32[K], and bool[K]: decisions whose successor or end is known.
    """
    out = np.empty(len(value), np.float32)
    complete = np.empty(len(value), bool)
    base = value if chosen is None else chosen
    _advantages(rollout.index, rollout.seat, rollout.reward, rollout.done, value, base, gamma, trace, out, complete)
    return out, complete
