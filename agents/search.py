"""What searchers share: play-outs of sampled worlds by a policy, and cards that are worth the same.

Templates as in `envs.lanes`: compiled for one game and one policy kernel.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..envs.bits import bit, highest, lowest, popcount
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
policy_card: Any = None
pick_card: Any = None


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


def usual_payoffs(worlds: Any, key: Any, scratch: Any, out: Any) -> None:
    """The payoffs f64[W, 4] of each world [W] if the policy plays all seats: what a search is to do better than."""
    for w in range(len(worlds)):
        scratch[0] = worlds[w]
        play_out(scratch[0], scratch[1:2], combine(key, w))
        rewards(scratch[0], PAYOFF, out[w])


def policy_card_template(state: Any, view: Any, key: Any) -> int:
    """The policy's card for the seat to move; `view` is overwritten."""
    view[0] = state
    conceal(view[0], state.seat)
    return np.int64(choose_card(view[0], combine(key, state.seat)))


def pick_card_template(
    state: Any, view: Any, key: Any, cards: int, exploration: float, nodes: Any, visits: Any, chances: Any, sums: Any
) -> int:
    """The card that a descent takes in a node whose children are `nodes` [A]: the policy's first, then by bounds.

    A card not yet tried counts as tried once with the mean of all others, so that a seat's poor cards are not all
    tried before its good ones count.
    """
    fresh, times, total, rest = False, 0, 0.0, cards
    while rest:
        child = nodes[lowest(rest)]
        rest &= rest - 1
        fresh = fresh or child == 0
        chances[child] += 1
        times += visits[child]
        total += sums[child]
    if fresh:
        own = highest(cards & ((bit(policy_card(state, view, key)) << 1) - 1))  # of candidates, that worth the same
        if nodes[own] == 0:
            return own
    best, card, rest = -1e9, lowest(cards), cards
    while rest:
        each = lowest(rest)
        rest &= rest - 1
        child = nodes[each]
        tried = max(visits[child], 1)
        mean = sums[child] / tried if child else total / max(times, 1)
        value = mean + exploration * np.sqrt(np.log(max(chances[child] if child else times, 1)) / tried)
        if value > best:
            best, card = value, each
    return card


def grow_tree(
    worlds: Any,
    usual: Any,
    cards: int,
    key: Any,
    exploration: float,
    scratch: Any,
    children: Any,
    visits: Any,
    chances: Any,
    sums: Any,
    squares: Any,
) -> int:
    """Information-set Monte Carlo tree search of one observer (Cowling, Powley and Whitehouse, 2012).

    One descent at a time, in the worlds by turns: known nodes by the upper confidence bound of the seat to move over
    the cards that are legal in that world, one new node, then a play-out by the policy. What counts is the payoff
    beyond the usual one in that world, so that the luck of the worlds falls on no card.

    Args:
        worlds: States [W].
        usual: f64[W, 4], see `usual_payoffs`.
        cards: The cards (bits) to choose from at the root.
        key: Of the play-outs.
        exploration: Weight of the bound's second term (payoffs of single deals lie in [-1, 1]).
        scratch: Two states.
        children: int32[I + 1, A] for I descents, 0 where there is no node; node 0 is the root.
        visits, chances: int32[I + 1]: how often a node was gone to, and could have been.
        sums, squares: f64[I + 1], gains of the seat that moved into the node, and their squares.

    Returns:
        The number of nodes.
    """
    reward = np.zeros(4)
    path, movers = np.zeros(128, np.int64), np.zeros(128, np.int64)
    nodes = 1
    for descent in range(len(children) - 1):
        w = descent % len(worlds)
        scratch[0] = worlds[w]
        state = scratch[0]
        depth, node, fresh = 0, np.int64(0), False
        while state.phase < DEAL_OVER and not fresh:
            choice = legal(state) if depth else np.int64(cards)
            card = pick_card(
                state, scratch[1:2], combine(key, w), choice, exploration, children[node], visits, chances, sums
            )
            node = np.int64(children[node, card])
            if node == 0:
                node, fresh = np.int64(nodes), True
                children[path[depth - 1] if depth else 0, card] = node
                chances[node] = 1
                nodes += 1
            movers[depth], path[depth] = state.seat, node
            depth += 1
            play(state, card)
        play_out(state, scratch[1:2], combine(key, w))
        rewards(state, PAYOFF, reward)
        for step in range(depth):
            visits[path[step]] += 1
            gain = reward[movers[step]] - usual[w, movers[step]]
            sums[path[step]] += gain
            squares[path[step]] += gain * gain
    return nodes


@dataclass(frozen=True)
class Searcher:
    """Compiled loops of one game and one policy."""

    try_cards: Any
    usual_payoffs: Any
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
    kernels["policy_card"] = kernel(specialise(policy_card_template, name, **kernels))
    kernels["pick_card"] = kernel(specialise(pick_card_template, name, **kernels))
    return Searcher(*(bind(loop, name, **kernels) for loop in (try_cards, usual_payoffs, grow_tree)))


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
