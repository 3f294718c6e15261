"""What every legal card would have brought: each is played, and the deal played on by a policy.

The hands are the true ones, which one seat does not see; a learner that sees only observations and learns from many
deals learns the mean over what it can't see. Other worlds that agree with what the seat sees may be tried beside the
true one, so that a single decision says more. All cards of a decision meet the same hands and the same draws.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..agents.loader import kernel_of
from ..agents.search import play_out_template, single_deals
from ..agents.worlds import sample_worlds
from ..envs.bits import bit, lowest
from ..envs.encoding import card_bit
from ..envs.game import Game
from ..envs.jit import bind, kernel, specialise
from ..envs.rng import combine
from ..envs.state import MAX_SEATS

PAYOFF = 1  # kind of reward, see `game.REWARDS`

# Kernels of a game and of a policy; bound by `_compiled`.
play: Any = None
rewards: Any = None
worth: Any = None
play_out: Any = None
like_another: Any = None
RANKS: Any = 1


def like_another_template(state: Any, card: int, other: int) -> bool:
    """Whether two cards of the mover's hand, the other one lower, are worth the same.

    They are when they count the same and every card between them in their suit is in that hand or out of play.
    """
    if other // RANKS != card // RANKS or worth(state, card) != worth(state, other):
        return False
    known = state.hands[state.seat]
    for seat in range(MAX_SEATS):
        known |= state.played[seat] & ~card_bit(state.trick[seat])
    between = bit(card) - (bit(other) << 1)
    return between & ~known == 0


def try_every_card(states: Any, legals: Any, keys: Any, scratch: Any, payoffs: Any) -> None:
    """The mover's payoff of each legal card in each state, f32[N, A]; 0 where a card is illegal."""
    reward = np.zeros(4)
    payoffs[:] = 0.0
    for i in range(len(states)):
        cards, last = legals[i], np.int64(-1)
        while cards:
            card = lowest(cards)
            cards &= cards - 1
            if last >= 0 and like_another(states[i], card, last):
                payoffs[i, card] = payoffs[i, last]
                last = card
                continue
            last = card
            scratch[0] = states[i]
            play(scratch[0], card)
            play_out(scratch[0], scratch[1:2], combine(keys[i], 0))
            rewards(scratch[0], PAYOFF, reward)
            payoffs[i, card] = reward[states[i].seat]


@functools.cache
def _compiled(game: Game, policy: str) -> Any:
    name = f"{game.name}_{policy}"
    kernels = {each: getattr(game.rules, each) for each in ("legal", "play", "conceal", "rewards", "worth")}
    kernels["RANKS"] = game.deck.size // 4
    kernels["choose_card"] = kernel_of(policy, game)
    kernels["play_out"] = kernel(specialise(play_out_template, name, **kernels))
    kernels["like_another"] = kernel(specialise(like_another_template, name, **kernels))
    return bind(try_every_card, name, **kernels)


def card_payoffs(
    game: Game, policy: str, states: np.ndarray, legals: np.ndarray, keys: np.ndarray, worlds: int = 0
) -> np.ndarray:
    """What each legal card brings the mover on average when all seats go on by a policy.

    Args:
        game: The game.
        policy: A shipped kernel agent, such as `rules`.
        states: States [N] in the middle of a deal.
        legals: Their legal cards, int64[N].
        keys: uint64[N], of the policy's own draws.
        worlds: How many other worlds are tried beside the true one, drawn from those that the mover can't tell from it.

    Returns:
        f32[N, A] in units of a whole deal; 0 where a card is illegal.
    """
    tried = states[:, None]
    if worlds:
        views = np.empty_like(states)
        game.lanes.view(states, np.ascontiguousarray(states["seat"]), views)
        tried = np.concatenate([tried, sample_worlds(game, views, keys, worlds)], axis=1)
    count = tried.shape[1]
    out = np.empty((tried.size, game.deck.size), np.float32)
    repeated = (np.repeat(legals, count), np.repeat(keys, count))
    _compiled(game, policy)(single_deals(tried.reshape(-1).copy()), *repeated, np.zeros(2, game.state), out)
    return out.reshape(len(states), count, -1).mean(1)
