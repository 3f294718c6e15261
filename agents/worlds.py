"""Worlds: full states that agree with everything a seat knows. The inverse of a view, which erases the rest.

A world is consistent if its deal, played as the table saw it, makes every card legal and gives the seat exactly
its view. All consistent ways to place the unseen cards are equally probable; nothing is tried and rejected:
the unseen cards fall into classes of cards that may lie in the same places (hands, and one pile beside them), the
ways to share out the classes are counted by dynamic programming over the free places, the share of each class is
drawn in proportion to these counts and then its cards. What is not a matter of classes (who holds the lowest
club, whichever that is) is told apart in cases, which are drawn by their counts too.

What each game adds is one module `worlds_GAME` with the kernels `cases`, `lay_out`, `fill` and `rewind`.
Letters: N views, W worlds of each, A cards of the deck.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..envs.bits import bit, lowest, popcount
from ..envs.cards import NO_CARD
from ..envs.game import Game, get_game
from ..envs.jit import bind, entry, kernel, specialise
from ..envs.rng import below, combine
from ..envs.state import DEAL_OVER, NO_OBSERVER

PLACES = 4
MASKS = 1 << PLACES
MAX_CASES = 16
MAX_CARDS = 52
CHOOSE = np.ones((MAX_CARDS + 1, MAX_CARDS + 1))  # binomial coefficients
for _n in range(1, MAX_CARDS + 1):
    for _k in range(_n + 1):
        CHOOSE[_n, _k] = CHOOSE[_n - 1, _k - 1] + CHOOSE[_n - 1, _k] if 0 < _k < _n else 1.0

CASE_DRAW, SPLIT_DRAW, CARD_DRAW, FILL_DRAW, SEED_DRAW, RESAMPLE_DRAW = range(6)  # parts of a key
SPLIT_BITS, SPLIT = 8, 255  # a split: cards to each place, eight bits each
TWO_TO_53 = 2.0**53
ELEVEN = np.uint64(11)

# A game's kernels; bound by `_compiled`.
cases: Any = None
lay_out: Any = None
fill: Any = None
rewind: Any = None
legal: Any = None
play: Any = None


class Scratch(NamedTuple):
    """Arrays that the work on one view overwrites.

    Attributes:
        free: Places left in the hands and the pile.
        may: The unseen cards that each may hold.
        classes: The unseen cards by the places that may hold them, as bits.
        forced: The cards that have one place only, by place.
        held: The cards that a world has in each place.
        layers: The other classes as rows: places (bits), number of cards, cards.
        weights: The deals in each case.
    """

    free: Any
    may: Any
    classes: Any
    forced: Any
    held: Any
    layers: Any
    weights: Any


@kernel
def new_scratch() -> Any:
    """Scratch for one call."""
    places = np.empty((4, PLACES), np.int64)
    classes, layers = np.empty(MASKS, np.int64), np.empty((MASKS, 3), np.int64)
    return Scratch(places[0], places[1], classes, places[2], places[3], layers, np.empty(MAX_CASES))


# ---------------------------------------------------------------------------------------- counting deals


@kernel
def sort_cards(unseen: int, may: Any, classes: Any) -> None:
    """classes[m]: the unseen cards that may lie in exactly the places that are the bits of m."""
    for mask in range(MASKS):
        cards = unseen
        for place in range(PLACES):
            cards &= may[place] if mask >> place & 1 else ~may[place]
        classes[mask] = cards


@kernel
def place_forced(free: Any, classes: Any, forced: Any) -> bool:
    """Put the cards that have one place only there; whether all cards have a place and there is room."""
    room = classes[0] == 0
    for place in range(PLACES):
        forced[place] = classes[1 << place]
        classes[1 << place] = 0
        free[place] -= popcount(forced[place])
        room = room and free[place] >= 0
    return room


@kernel
def list_layers(classes: Any, layers: Any) -> int:
    """The classes that have cards as rows (places, number of cards, cards); returns how many there are."""
    count = 0
    for mask in range(MASKS):
        if classes[mask]:
            layers[count, 0] = mask
            layers[count, 1] = popcount(classes[mask])
            layers[count, 2] = classes[mask]
            count += 1
    return count


@kernel
def cell(free: Any, a: int, b: int, c: int) -> int:
    """Where the table has the ways for a, b, c places left in the first three; the fourth's are what remains."""
    return (a * (free[1] + 1) + b) * (free[2] + 1) + c


@kernel
def walk(ways: Any, free: Any, layers: Any, layer: int, a: int, b: int, c: int, d: int, goal: float) -> Any:
    """Add up the ways over the splits of a class among the places left, until they exceed the goal.

    Returns the sum and the last split that has any way.
    """
    mask, cards = layers[layer, 0], layers[layer, 1]
    first, second = a if mask & 1 else 0, b if mask & 2 else 0
    third, fourth = c if mask & 4 else 0, d if mask & 8 else 0
    total, split = 0.0, np.int64(0)
    for x in range(max(0, cards - second - third - fourth), min(cards, first) + 1):
        after_x = cards - x
        for y in range(max(0, after_x - third - fourth), min(after_x, second) + 1):
            after_y = after_x - y
            ways_here = CHOOSE[cards, x] * CHOOSE[after_x, y]
            for z in range(max(0, after_y - fourth), min(after_y, third) + 1):
                more = ways_here * CHOOSE[after_y, z] * ways[layer + 1, cell(free, a - x, b - y, c - z)]
                if more > 0.0:
                    total += more
                    split = x | y << SPLIT_BITS | z << 2 * SPLIT_BITS | (after_y - z) << 3 * SPLIT_BITS
                    if total > goal:
                        return total, split
    return total, split


@kernel
def count_ways(free: Any, layers: Any, count: int, ways: Any) -> float:
    """Fill the table of ways, last class first: [class, places left]; returns the number of deals in all."""
    ways[count, 0] = 1.0
    left = np.int64(0)
    for layer in range(count - 1, 0, -1):
        left += layers[layer, 1]
        for a in range(min(free[0], left) + 1):
            for b in range(min(free[1], left - a) + 1):
                rest = left - a - b
                for c in range(max(0, rest - free[3]), min(free[2], rest) + 1):
                    found, _ = walk(ways, free, layers, layer, a, b, c, rest - c, np.inf)
                    ways[layer, cell(free, a, b, c)] = found
    if count == 0:
        return 1.0
    found, _ = walk(ways, free, layers, 0, free[0], free[1], free[2], free[3], np.inf)
    return found


@kernel
def fits(free: Any, layers: Any, count: int) -> bool:
    """Whether there are as many cards as free places."""
    places, cards = np.int64(0), np.int64(0)
    for place in range(PLACES):
        places += free[place]
    for layer in range(count):
        cards += layers[layer, 1]
    return places == cards


def prepare(view: Any, case: int, scratch: Any, ways: Any) -> Any:
    """What the worlds of one case are drawn from; returns its deals, the number of classes and the table of ways."""
    free, layers = scratch.free, scratch.layers
    unseen = lay_out(view, case, free, scratch.may)
    sort_cards(unseen, scratch.may, scratch.classes)
    possible = place_forced(free, scratch.classes, scratch.forced)
    count = list_layers(scratch.classes, layers)
    if not possible or not fits(free, layers, count):
        return 0.0, count, ways
    size = (free[0] + 1) * (free[1] + 1) * (free[2] + 1)
    if size > ways.shape[1]:
        ways = np.empty((MASKS, size))
    return count_ways(free, layers, count, ways), count, ways


def prepare_all(view: Any, open_cases: int, scratch: Any, ways: Any) -> Any:
    """`prepare` for each case; returns the deals in all, and of the last case classes and table."""
    total, count = 0.0, np.int64(0)
    while open_cases:
        case = lowest(open_cases)
        open_cases &= open_cases - 1
        scratch.weights[case], count, ways = prepare(view, case, scratch, ways)
        total += scratch.weights[case]
    return total, count, ways


def count_deals(views: Any, out: Any) -> None:
    """Numbers of deals float64[N] that agree with views [N]."""
    scratch, ways = new_scratch(), np.empty((MASKS, 1))
    for i in range(len(views)):
        out[i], _, ways = prepare_all(views[i], cases(views[i]), scratch, ways)


# ---------------------------------------------------------------------------------------- drawing worlds


@kernel
def uniform(key: Any, counter: int) -> float:
    """Draw number `counter` of stream `key`, uniform in [0, 1)."""
    return np.float64(combine(key, counter) >> ELEVEN) / TWO_TO_53


@kernel
def draw_case(weights: Any, open_cases: int, total: float, key: Any) -> int:
    """A case in proportion to its deals."""
    goal, chosen = uniform(key, CASE_DRAW) * total, lowest(open_cases)
    while open_cases:
        case = lowest(open_cases)
        open_cases &= open_cases - 1
        if weights[case] > 0.0:
            chosen = case
            goal -= weights[case]
            if goal < 0.0:
                break
    return chosen


@kernel
def share_out(ways: Any, free: Any, layers: Any, count: int, total: float, key: Any, held: Any) -> None:
    """Draw the split of each class in proportion to its ways, then its cards."""
    a, b, c, d = free[0], free[1], free[2], free[3]
    splits, cards_key = combine(key, SPLIT_DRAW), combine(key, CARD_DRAW)
    for layer in range(count):
        if layer > 0:
            total = ways[layer, cell(free, a, b, c)]
        _, split = walk(ways, free, layers, layer, a, b, c, d, uniform(splits, layer) * total)
        scatter(layers[layer, 2], split, cards_key, held)
        a -= split & SPLIT
        b -= split >> SPLIT_BITS & SPLIT
        c -= split >> 2 * SPLIT_BITS & SPLIT
        d -= split >> 3 * SPLIT_BITS


@kernel
def scatter(cards: int, split: int, key: Any, held: Any) -> None:
    """Deal the cards of a class to the places, each as many as the split says."""
    one = split & SPLIT
    two = one + (split >> SPLIT_BITS & SPLIT)
    three = two + (split >> 2 * SPLIT_BITS & SPLIT)
    left = three + (split >> 3 * SPLIT_BITS)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        pick = below(key, card, left)
        place = np.int64(pick >= one) + np.int64(pick >= two) + np.int64(pick >= three)
        held[place] |= bit(card)
        one -= place == 0
        two -= place <= 1
        three -= place <= 2
        left -= 1


def finish(world: Any, held: Any, key: Any) -> None:
    """Make a copy of the view a state with the cards dealt to the places."""
    fill(world, held, combine(key, FILL_DRAW))
    world.observer = NO_OBSERVER
    world.seed = combine(key, SEED_DRAW)


def sample(views: Any, keys: Any, count: int, worlds: Any) -> int:
    """Worlds [N * W] of views [N], W = `count` of each; returns the first view that no deal agrees with, or -1."""
    scratch, ways, chosen = new_scratch(), np.empty((MASKS, 1)), np.empty(count, np.int64)
    free, layers, held, weights = scratch.free, scratch.layers, scratch.held, scratch.weights
    for i in range(len(views)):
        open_cases = cases(views[i])
        total, classes, ways = prepare_all(views[i], open_cases, scratch, ways)
        if not total > 0.0:
            return i
        for w in range(count):
            chosen[w] = draw_case(weights, open_cases, total, combine(keys[i], w))
        several = open_cases & (open_cases - 1) != 0
        while open_cases:
            case = lowest(open_cases)
            open_cases &= open_cases - 1
            if several:
                weights[case], classes, ways = prepare(views[i], case, scratch, ways)
            for w in range(count):
                if chosen[w] == case:
                    key, at = combine(keys[i], w), i * count + w
                    held[:] = scratch.forced
                    share_out(ways, free, layers, classes, weights[case], key, held)
                    worlds[at] = views[i]
                    finish(worlds[at], held, key)
    return -1


# -------------------------------------------------------------------------------------- replaying worlds


def rewind_all(worlds: Any, starts: Any, order: Any) -> None:
    """Each world before its first lead, and the cards played since, in order: int64[N, A], NO_CARD after the last."""
    order[:] = NO_CARD
    for i in range(len(worlds)):
        starts[i] = worlds[i]
        if worlds[i].phase >= DEAL_OVER or worlds[i].plays == 0:
            continue
        for card in range(len(worlds[i].when)):
            if worlds[i].when[card] > 0:
                order[i, worlds[i].when[card] - 1] = card
        rewind(starts[i])


def play_each(states: Any, cards: Any) -> None:
    """Play a card in every state; NO_CARD leaves it as it is."""
    for i in range(len(states)):
        if cards[i] != NO_CARD:
            play(states[i], cards[i])


def legal_each(states: Any, out: Any) -> None:
    """Legal cards int64[N] of the seat to move."""
    for i in range(len(states)):
        out[i] = legal(states[i])


@dataclass(frozen=True)
class Kernels:
    """The compiled loops of one game; each field is the function of that name in this module."""

    sample: Any
    count_deals: Any
    rewind_all: Any
    play_each: Any
    legal_each: Any


@functools.cache
def _compiled(name: str) -> Kernels:
    """The loops with the kernels of `worlds_NAME`; a new game is a new module of that kind."""
    own = importlib.import_module(f"{__package__}.worlds_{name}")
    rules = get_game(name).rules
    kernels = {each: getattr(own, each) for each in ("cases", "lay_out", "fill", "rewind")}
    kernels |= {"legal": rules.legal, "play": rules.play}
    for template in (prepare, prepare_all, finish):
        kernels[template.__name__] = kernel(specialise(template, name, **kernels))
    loops = (sample, count_deals, rewind_all, play_each, legal_each)
    return Kernels(**{loop.__name__: bind(loop, name, **kernels) for loop in loops})


# ------------------------------------------------------------------------------------------- public face


def sample_worlds(game: str | Game, views: np.ndarray, keys: np.ndarray, count: int) -> np.ndarray:
    """Worlds [N, W] of views [N], W = `count` of each: uniform over all placements of the unseen cards.

    A world is a state to go on with: its observer is nobody, every card has its place, and the view that the
    observer has of it is the one given. Draws after the deal (the next deal of a game, a card in place of an illegal
    one) follow a seed of its own: `seed` is made from the world's key, `lane` and `lane_deal` are 0.

    What no view shows and nothing follows from is drawn uniformly in each world: which cards the others have
    passed to each other and, while the observer waits in the passing phase, how many of its cards (none, one or
    two) the seat to move has passed.

    Args:
        game: Name or object.
        views: Any seat's, to move or not, at any time of the deal.
        keys: uint64[N]; world w of view n is a function of the view, of keys[n] and of w.
        count: W.

    Raises:
        ValueError: a state instead of a view, keys of another shape, or a view that no deal agrees with.
    """
    found, views = get_game(game), _checked(views)
    keys = np.ascontiguousarray(keys, np.uint64)
    if keys.shape != views.shape:
        raise ValueError(f"keys have shape {keys.shape}. Valid: {views.shape}, one for each view")
    worlds = np.zeros((len(views), count), found.state)
    wrong = _compiled(found.name).sample(views, keys, count, worlds.reshape(-1))
    if wrong >= 0:
        raise ValueError(f"no deal agrees with view {wrong}")
    return worlds


def count_worlds(game: str | Game, views: np.ndarray) -> np.ndarray:
    """float64[N]: in how many ways the unseen cards can be placed (exact up to 2**53); see `sample_worlds`."""
    views = _checked(views)
    out = np.empty(len(views))
    _compiled(get_game(game).name).count_deals(views, out)
    return out


def _checked(views: np.ndarray) -> np.ndarray:
    if (views["observer"] == NO_OBSERVER).any():
        raise ValueError("worlds are drawn for views; a state has no observer")
    return np.ascontiguousarray(views)


def weigh(
    game: str | Game,
    worlds: np.ndarray,
    views: np.ndarray,
    policy: Any,
    plays: int | None = None,
    eps: float = 0.1,
) -> np.ndarray:
    """float64[N, W]: how probable a policy makes the cards that the others have played, in each world of a view.

    Each row adds up to 1. The deal is replayed in every world; what counts is each play of another seat that had a
    choice, as that seat saw it. Passed cards don't count. Where no play counts, as while passing or after the end
    of a deal, all worlds of a view weigh the same.

    Args:
        game: Name or object.
        worlds: [N, W], from `sample_worlds`.
        views: [N], the views they were drawn for.
        policy: Has `log_probabilities(views) -> f32[N, A]`; or an agent, which plays its card with probability
            1 - eps and else any legal one (asked with keys of 0, so one that draws cards at random makes no sense).
        plays: Only the last so many cards on the table count; None is all.
        eps: See `policy`.
    """
    found, count = get_game(game), worlds.shape[1]
    loops, flat = _compiled(found.name), np.ascontiguousarray(worlds).reshape(-1)
    states, order = np.empty_like(flat), np.empty((len(flat), found.deck.size), np.int64)
    loops.rewind_all(flat, states, order)
    observers = np.repeat(views["observer"], count)
    first = np.zeros(len(flat), np.int64) if plays is None else flat["plays"].astype(np.int64) - plays
    logs, legals = np.zeros(len(flat)), np.empty(len(flat), np.int64)
    for turn in range(int(flat["plays"].max(initial=0))):
        cards = np.ascontiguousarray(order[:, turn])
        loops.legal_each(states, legals)
        counts = (cards != NO_CARD) & (turn >= first) & (states["seat"] != observers) & (legals & (legals - 1) != 0)
        if counts.any():
            logs[counts] += _log_likelihood(found, states[counts], cards[counts], legals[counts], policy, eps)
        loops.play_each(states, cards)
    return _normalised(logs.reshape(worlds.shape))


def _log_likelihood(
    game: Game, states: np.ndarray, cards: np.ndarray, legals: np.ndarray, policy: Any, eps: float
) -> np.ndarray:
    """float64[M]: log-probability of the card that the seat to move plays in each state."""
    views = np.empty_like(states)
    game.lanes.view(states, np.ascontiguousarray(states["seat"]), views)
    if hasattr(policy, "log_probabilities"):
        return policy.log_probabilities(views)[np.arange(len(cards)), cards].astype(np.float64)
    same = policy.act(views, np.zeros(len(views), np.uint64)) == cards
    choices = np.bitwise_count(legals)
    with np.errstate(divide="ignore"):  # eps = 0: a card that the agent doesn't play rules the world out
        return np.log(np.where(same, 1 - eps, 0) + eps / choices)


def _normalised(logs: np.ndarray) -> np.ndarray:
    """Weights that add up to 1 from log-likelihoods [N, W]; equal ones where no world is possible."""
    best = logs.max(axis=1, keepdims=True, initial=-np.inf)
    weights = np.exp(np.where(np.isfinite(best), logs - np.where(np.isfinite(best), best, 0), 0))
    return weights / weights.sum(axis=1, keepdims=True)


def resample(worlds: np.ndarray, weights: np.ndarray, keys: np.ndarray, count: int) -> np.ndarray:
    """Worlds [N, count] drawn from worlds [N, W] in proportion to weights [N, W].

    Systematic: one draw a row, from keys uint64[N], sets points at equal distances, so a world that has the share
    s of the weight comes up count * s times, rounded up or down.
    """
    picks = np.empty((len(worlds), count), np.int64)
    _pick(np.ascontiguousarray(weights, np.float64), np.ascontiguousarray(keys, np.uint64), picks)
    return np.take_along_axis(worlds, picks, axis=1)


@dataclass(frozen=True)
class Likely:
    """How worlds are weighed by what the others have played, see `weigh`.

    Attributes:
        policy: It says how probable their cards were.
        eps: Where it is an agent: the share of the plays that are taken to be any legal card rather than the agent's.
        surplus: Worlds that are drawn for each one that is kept.
    """

    policy: Any
    eps: float = 0.5
    surplus: int = 4


def likely_worlds(
    game: str | Game, views: np.ndarray, keys: np.ndarray, count: int, likely: Likely | None = None
) -> np.ndarray:
    """Worlds [N, count] of views [N]: uniform ones, or drawn from several times as many in proportion to their weights.

    Args:
        game, views, keys, count: See `sample_worlds`.
        likely: How they are weighed; None for all alike.
    """
    if likely is None:
        return sample_worlds(game, views, keys, count)
    drawn = sample_worlds(game, views, keys, likely.surplus * count)
    return resample(drawn, weigh(game, drawn, views, likely.policy, eps=likely.eps), keys, count)


@entry
def _pick(weights: Any, keys: Any, out: Any) -> None:
    """Numbers int64[N, count] of the worlds that `resample` takes."""
    for row in range(len(weights)):
        step = weights[row].sum() / out.shape[1]
        goal = uniform(keys[row], RESAMPLE_DRAW) * step
        at, reached, last = -1, 0.0, weights.shape[1] - 1
        while last > 0 and not weights[row, last] > 0.0:
            last -= 1
        for i in range(out.shape[1]):
            while at < last and reached <= goal:
                at += 1
                reached += weights[row, at]
            out[row, i] = at
            goal += step


def drawing(game: str | Game, views: np.ndarray, count: int = 30) -> Callable[[], int]:
    """A round of work for a benchmark: draw `count` worlds of each view; returns how many these are."""
    found, keys = get_game(game), np.arange(len(views), dtype=np.uint64)
    return lambda: sample_worlds(found, views, keys, count).size
