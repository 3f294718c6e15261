"""What every legal card would have brought: each is played, and the deal played on by a policy.

The hands are the true ones, which one seat does not see; a learner that sees only observations and learns from many
deals learns the mean over what it can't see. Other worlds that agree with what the seat sees may be tried beside the
true one, so that a single decision says more. All cards of a decision meet the same hands and the same draws.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..agents.base import Agent
from ..agents.loader import agent_names, kernel_of, load_agent
from ..agents.playing_on import play_on
from ..agents.search import play_out_template, single_deals
from ..agents.worlds import Likely, likely_worlds
from ..envs.bits import bit, lowest
from ..envs.cards import NO_CARD
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
stand_ins: Any = None
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


def stand_ins_template(state: Any, legal_cards: int, out: Any) -> None:
    """For each legal card the lowest one that is worth the same, int8[A]; NO_CARD where a card is illegal."""
    out[:] = NO_CARD
    cards, last = legal_cards, np.int64(-1)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        out[card] = out[last] if last >= 0 and like_another(state, card, last) else card
        last = card


def all_stand_ins(states: Any, legals: Any, out: Any) -> None:
    """`stand_ins` of every state, int8[N, A]."""
    for i in range(len(states)):
        stand_ins(states[i], legals[i], out[i])


def try_every_card(states: Any, meant: Any, keys: Any, scratch: Any, payoffs: Any) -> None:
    """The mover's payoff of each card that stands for itself or others in each state, f32[N, A]."""
    reward = np.zeros(4)
    for i in range(len(states)):
        for card in range(meant.shape[1]):
            if meant[i, card] == card:
                scratch[0] = states[i]
                play(scratch[0], card)
                play_out(scratch[0], scratch[1:2], combine(keys[i], 0))
                rewards(scratch[0], PAYOFF, reward)
                payoffs[i, card] = reward[states[i].seat]


@functools.cache
def _stand_ins(game: Game) -> Any:
    kernels = {"worth": game.rules.worth, "RANKS": game.deck.size // 4}
    kernels["like_another"] = kernel(specialise(like_another_template, game.name, **kernels))
    kernels["stand_ins"] = kernel(specialise(stand_ins_template, game.name, **kernels))
    return bind(all_stand_ins, game.name, **kernels)


@functools.cache
def _compiled(game: Game, policy: str) -> Any:
    name = f"{game.name}_{policy}"
    kernels = {each: getattr(game.rules, each) for each in ("legal", "play", "conceal", "rewards")}
    kernels["choose_card"] = kernel_of(policy, game)
    kernels["play_out"] = kernel(specialise(play_out_template, name, **kernels))
    return bind(try_every_card, name, **kernels)


def continuing(name: str, game: Game) -> str | Agent:
    """Who plays on: the name of a kernel agent as it is, that of any other as the agent.

    Raises:
        OptionError: no agent of that name for that game.
        CheckpointError: the file is no checkpoint, or one of another game or encoding.
    """
    return name if name in agent_names(game) else load_agent(name, game)


def card_payoffs(
    game: Game,
    policy: str | Agent,
    states: np.ndarray,
    legals: np.ndarray,
    keys: np.ndarray,
    worlds: int = 0,
    likely: Likely | None = None,
    judge: Agent | None = None,
) -> np.ndarray:
    """What each legal card brings the mover on average when all seats go on by a policy.

    Args:
        game: The game.
        policy: See `continuing`; a kernel agent such as `rules` is the fastest by far.
        states: States [N] in the middle of a deal.
        legals: Their legal cards, int64[N].
        keys: uint64[N], of the policy's own draws.
        worlds: How many other worlds are tried beside the true one, drawn from those that the mover can't tell from it.
        likely: How these are weighed by what the others have played; None where all are alike.
        judge: Agent, no kernel, whose critic says at the mover's next decision what the deal brings, so that it needn't
            be played to the end; None plays on.

    Returns:
        f32[N, A] in units of a whole deal; 0 where a card is illegal.
    """
    tried = states[:, None]
    if worlds:
        views = np.empty_like(states)
        game.lanes.view(states, np.ascontiguousarray(states["seat"]), views)
        tried = np.concatenate([tried, likely_worlds(game, views, keys, worlds, likely)], axis=1)
    count, size = tried.shape[1], game.deck.size
    meant = np.empty((len(states), size), np.int8)
    _stand_ins(game)(states, legals, meant)
    tried = single_deals(tried.reshape(-1).copy())
    each, repeated = np.repeat(meant, count, axis=0), np.repeat(keys, count)
    out = np.zeros((len(tried), size), np.float32)
    if isinstance(policy, str) and judge is None:
        _compiled(game, policy)(tried, each, repeated, np.zeros(2, game.state), out)
    else:
        row, card = np.nonzero(each == np.arange(size))
        agent = load_agent(policy, game) if isinstance(policy, str) else policy
        out[row, card] = play_on(game, agent, tried[row], card, repeated[row], 1 if judge else 0, judge)
    mean = out.reshape(len(states), count, size).mean(1)
    return np.where(meant == NO_CARD, np.float32(0), np.take_along_axis(mean, np.maximum(meant, 0).astype(np.int64), 1))
