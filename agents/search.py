"""What searchers share: play-outs of sampled worlds by a policy, and cards that are worth the same.

Templates as in `envs.lanes`: compiled for one game and one policy kernel.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..envs.bits import lowest, popcount
from ..envs.game import Game
from ..envs.jit import bind, kernel, specialise
from ..envs.rng import combine
from ..envs.state import DEAL_OVER

PAYOFF = 1  # kind of reward, see `game.REWARDS`

# Kernels of a game and of a policy; bound by `searcher`.
legal: Any = None
play: Any = None
conceal: Any = None
rewards: Any = None
choose_card: Any = None
play_out: Any = None


def play_out_template(state: Any, view: Any, key: Any) -> None:
    """Play a state to the end of its deal by the policy; `view` is overwritten."""
    while state.phase < DEAL_OVER:
        cards = legal(state)
        if popcount(cards) == 1:
            play(state, lowest(cards))
        else:
            view[0] = state
            conceal(view[0], state.seat)
            play(state, choose_card(view[0], combine(key, state.seat)))


def try_cards(worlds: Any, cards: Any, key: Any, scratch: Any, payoffs: Any) -> None:
    """Play each card [C] in each world [W], then on by the policy; the mover's payoffs go to f64[W, C].

    All cards meet the same worlds and the same draws.
    """
    reward = np.zeros(4)
    for w in range(len(worlds)):
        for c in range(len(cards)):
            scratch[0] = worlds[w]
            seat = np.int64(scratch[0].seat)
            play(scratch[0], cards[c])
            play_out(scratch[0], scratch[1:2], combine(key, w))
            rewards(scratch[0], PAYOFF, reward)
            payoffs[w, c] = reward[seat]


def grow_tree(
    worlds: Any, key: Any, exploration: float, scratch: Any, children: Any, visits: Any, chances: Any, sums: Any
) -> int:
    """Information-set Monte Carlo tree search of one observer (Cowling, Powley and Whitehouse, 2012).

    One descent a world: known nodes by the upper confidence bound of the seat to move over the cards that are legal in
    that world, one new node, then a play-out by the policy.

    Args:
        worlds: States [W].
        key: Of the play-outs.
        exploration: Weight of the bound's second term (payoffs of single deals lie in [-1, 1]).
        scratch: Two states.
        children: int32[W + 1, A], 0 where there is no node; node 0 is the root.
        visits, chances: int32[W + 1]: how often a node was gone to, and could have been.
        sums: f64[W + 1], payoffs to the seat that moved into the node.

    Returns:
        The number of nodes.
    """
    reward = np.zeros(4)
    path, movers = np.zeros(128, np.int64), np.zeros(128, np.int64)
    nodes = 1
    for w in range(len(worlds)):
        scratch[0] = worlds[w]
        state = scratch[0]
        depth, node, fresh = 0, 0, False
        while state.phase < DEAL_OVER and not fresh:
            best, card, cards = -1e9, np.int64(-1), legal(state)
            while cards:
                each = lowest(cards)
                cards &= cards - 1
                child = children[node, each]
                value = 1e9 if child == 0 else 0.0
                if child != 0:
                    chances[child] += 1
                    spread = np.sqrt(np.log(chances[child]) / visits[child])
                    value = sums[child] / visits[child] + exploration * spread
                if value > best:
                    best, card = value, each
            child = np.int64(children[node, card])
            if child == 0:
                child, fresh = nodes, True
                children[node, card] = child
                chances[child] = 1
                nodes += 1
            movers[depth], path[depth] = state.seat, child
            depth += 1
            node = child
            play(state, card)
        play_out(state, scratch[1:2], combine(key, w))
        rewards(state, PAYOFF, reward)
        for step in range(depth):
            visits[path[step]] += 1
            sums[path[step]] += reward[movers[step]]
    return nodes


@dataclass(frozen=True)
class Searcher:
    """Compiled loops of one game and one policy."""

    try_cards: Any
    grow_tree: Any


@functools.cache
def searcher(game: Game, policy: str) -> Searcher:
    """The loops with a shipped kernel agent as policy.

    Args:
        game: The game.
        policy: Name of a kernel agent, such as `rules`.
    """
    from .loader import kernel_of

    name = f"{game.name}_{policy}"
    kernels = {each: getattr(game.rules, each) for each in ("legal", "play", "conceal", "rewards")}
    kernels["choose_card"] = kernel_of(policy, game)
    kernels["play_out"] = kernel(specialise(play_out_template, name, **kernels))
    return Searcher(bind(try_cards, name, **kernels), bind(grow_tree, name, **kernels))


def single_deals(worlds: np.ndarray) -> np.ndarray:
    """The worlds with nothing at stake but this deal, in place: its payoff is what is searched for."""
    worlds["episode"] = 0
    if "second_deal" in (worlds.dtype.names or ()):
        worlds["second_deal"], worlds["carried"] = 0, 0
    return worlds


def candidates(game: Game, view: Any, legal_cards: int) -> np.ndarray:
    """Legal cards int64[C], of those worth the same only the lowest.

    Two cards of a hand are worth the same when they count the same and every card between them in their suit is in
    that hand or out of play.
    """
    seat = int(view["observer"])
    gone = int(np.bitwise_or.reduce(view["played"])) & ~_on_table(view)
    own = int(view["hands"][seat])
    values, size = card_values(game, view), len(game.deck.ranks)
    kept, last = [], -1
    for card in game.deck.in_set(legal_cards):
        between = bit_range(last + 1, card) if last >= 0 else -1
        same = last >= 0 and last // size == card // size and values[last] == values[card]
        if not (same and between & ~(own | gone) == 0):
            kept.append(card)
        last = card
    return np.array(kept, np.int64)


def bit_range(first: int, end: int) -> int:
    """The set of the cards first .. end - 1."""
    return (1 << end) - (1 << first)


def _on_table(view: Any) -> int:
    return sum(1 << int(card) for card in view["trick"] if card >= 0)


def card_values(game: Game, view: Any) -> list[Any]:
    """For each card what it counts; cards of different kinds never count the same."""
    if game.name == "viersche":
        trump = int(view["trump"])
        jacks = (int(game.rules.old_man(trump)), int(game.rules.little_man(trump)))
        return [(int(game.rules.card_points(card, trump)), card in jacks) for card in range(game.deck.size)]
    special = {int(game.rules.QUEEN): 1, int(game.rules.JACK): 2}
    return [special.get(card, 0) for card in range(game.deck.size)]
