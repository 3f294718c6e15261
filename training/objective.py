"""The terms of the training objective, each a mean over the decisions of a minibatch.

Letters: `K` decisions, `A` cards. `share` f32[K] sums to 1 over the decisions that are learned from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import nll_loss

from ..agents.network import chances
from .rollout import UNKNOWN


@dataclass
class Losses:
    """Means over an update, for the log."""

    policy: float = 0.0
    value: float = 0.0
    entropy: float = 0.0
    divergence: float = 0.0
    clipped: float = 0.0
    forecast: float = 0.0
    holders: float = 0.0
    first_ratio: float = 0.0  # largest distance of the probability ratio from 1 in the first minibatch

    def note(self, **terms: Tensor) -> None:
        """Add a minibatch's terms."""
        for name, term in terms.items():
            setattr(self, name, getattr(self, name) + term.item())

    def average(self, minibatches: int) -> None:
        """Sums over minibatches as their means."""
        for name in ("policy", "value", "entropy", "divergence", "clipped", "forecast", "holders"):
            setattr(self, name, getattr(self, name) / minibatches)


def clipped_surrogate(ratio: Tensor, advantage: Tensor, clip: float, share: Tensor) -> Tensor:
    """PPO's pessimistic gain of a changed policy (Schulman et al., 2017), negated."""
    gain = torch.minimum(ratio * advantage, ratio.clamp(1 - clip, 1 + clip) * advantage)
    return -(gain * share).sum()


def imitation(log_p: Tensor, label: Tensor, share: Tensor) -> Tensor:
    """Negative log-probability of a teacher's cards."""
    return -(log_p.gather(1, label[:, None])[:, 0] * share).sum()


def improvement(logits: Tensor, mask: Tensor, payoff: Tensor, temperature: float, share: Tensor) -> Tensor:
    """Squared distance of the logits, times the temperature, from what the cards brought; both about their mean."""
    difference = temperature * centred(logits, mask) - centred(payoff, mask)
    return (difference.square().sum(1) * share).sum()


def centred(values: Tensor, mask: Tensor) -> Tensor:
    """Values f32[K, A] less their mean over the legal cards; 0 where illegal."""
    legal = mask.float()
    mean = (values * legal).sum(1, keepdim=True) / legal.sum(1, keepdim=True)
    return (values - mean) * legal


def entropy_of(log_p: Tensor, mask: Tensor, share: Tensor) -> Tensor:
    """Entropy of the policy in nats."""
    return -((chances(log_p) * log_p).masked_fill(~mask, 0.0).sum(1) * share).sum()


def divergence_from(log_p: Tensor, reference: Tensor, mask: Tensor, share: Tensor) -> Tensor:
    """Kullback-Leibler divergence of the policy from a reference policy f32[K, A], in nats."""
    return ((chances(log_p) * (log_p - reference)).masked_fill(~mask, 0.0).sum(1) * share).sum()


def forecast_error(foretold: Sequence[Tensor], target: Tensor, outcome: Tensor, share: Tensor) -> Tensor:
    """Squared error of the value from the mover's own view, and negative log-likelihoods of the outcomes."""
    total = ((foretold[0] - target) ** 2 * share).sum()
    for number, log_p in enumerate(foretold[1:]):
        total = total + nll_loss(log_p, outcome[:, number], ignore_index=UNKNOWN) / len(foretold)
    return total


def holder_error(located: Tensor, hands: Tensor, share: Tensor) -> Tensor:
    """Negative log-likelihood, a card held by another seat, of who holds it.

    Args:
        located: f32[K, S, A], log-probabilities by seat.
        hands: int8[K, S * A], the hands of the other seats.
        share: f32[K].
    """
    held = hands.unflatten(1, located.shape[1:]).float()
    return -((located * held).sum((1, 2)) / held.sum((1, 2)).clamp(min=1) * share).sum()
