"""Exact values of Herzeln endings with all hands open, in payoff points of the deal.

A seat's payoff is the mean points of the others minus its own, at the end of the deal: what was taken before,
the moon and the bonuses included. Both ways to score a moon pay the same, so no total matters.

- `max_n`: every seat makes its own payoff as large as it can; of cards that pay it the same it plays the lowest.
- `paranoid`: one seat against all others, who make its payoff as small as they can.
- `two_player`: the same with one other, which is then the value of the game.

The rules are those of the kernels: a node of the search is a state. Values are kept relative to the points taken
so far, so that positions whose remaining cards lie alike share an entry of the table, whatever came before, as long
as the same seat can still shoot the moon. Cards between which nobody else holds one are one choice.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..envs import herzeln
from ..envs.bits import bit, lowest, popcount
from ..envs.cards import CLUBS, DIAMONDS, HEARTS, NO_CARD, SPADES
from ..envs.game import get_game
from ..envs.herzeln import (
    JACK,
    JACK_POINTS,
    NO_TRICK_POINTS,
    PENALTY,
    QUEEN,
    RANKS,
    SUIT,
    legal,
    penalties_in_play,
    penalty_points,
    play,
    taken_by,
)
from ..envs.jit import entry, kernel, part
from ..envs.state import DEAL_OVER, PLAY
from .solver_moon import between, biased_deals, owners, slot_of, step

ILLEGAL = float("-inf")  # the value of a card that can't be played
NO_CHILD = -1  # the card is not legal
NO_VALUE = 1 << 40  # not known yet
FAR = 1 << 20  # beyond all values
NOBODY, SEVERAL = 4, 5  # holders of penalty cards beside a single seat
DEEPEST = herzeln.CARDS + 1
MOST_MOVES = herzeln.CARDS // 2

NODES, CAP, ROOT, SEAT, TARGET = range(5)  # entries of `work`; a root numbers the values that belong together

SIDE = np.dtype(
    [
        ("best", "i8", 4),  # the best value so far: for each seat in max-n, else the first only
        ("base", "i8", 4),  # what the points taken so far would pay
        ("first", "i8"),  # the key and its place in the table, -1 for none
        ("second", "i8"),
        ("slot", "i8"),
        ("lower", "i8"),  # what the table knows
        ("upper", "i8"),
        ("count", "i8"),  # moves listed
        ("next", "i8"),  # the next of them to try
    ]
)


@dataclass(frozen=True)
class Values:
    """What `paranoid` and `two_player` found, in payoff points of the seat asked for.

    Attributes:
        lower: f64[N], the value is at least that,
        upper: f64[N], and at most that; the same unless the cap on nodes was hit.
        card_values: f64[N, A] on request: the value after each card of the seat to move, ILLEGAL for others; NaN where
            the cap was hit.
        nodes: int64[N], positions searched.
    """

    lower: np.ndarray
    upper: np.ndarray
    card_values: np.ndarray | None
    nodes: np.ndarray


@dataclass(frozen=True)
class MaxN:
    """What `max_n` found.

    Attributes:
        payoffs: f64[N, 4] by seat, 0 for seats that are not there; NaN where the cap on nodes was hit.
        cards: int64[N], the card that the seat to move plays; NO_CARD where the cap was hit.
        card_values: f64[N, A], the mover's payoff after each of its cards, ILLEGAL for others.
        nodes: int64[N], positions searched.
    """

    payoffs: np.ndarray
    cards: np.ndarray
    card_values: np.ndarray
    nodes: np.ndarray


@dataclass
class Solver:
    """The memory of the search, to be used again and again: `bits` is the logarithm of the table's size."""

    bits: int = 18
    table: np.ndarray = field(init=False)
    nodes: np.ndarray = field(init=False)
    sides: np.ndarray = field(init=False)
    moves: np.ndarray = field(init=False)
    work: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.table = np.zeros((1 << self.bits, 4), np.int64)  # two words of key, root, value
        self.nodes = np.zeros(DEEPEST + 1, herzeln.STATE)
        self.sides = np.zeros(DEEPEST + 1, SIDE)
        self.moves = np.zeros((DEEPEST + 1, MOST_MOVES), np.int64)
        self.work = np.zeros(5, np.int64)

    @property
    def memory(self) -> tuple[np.ndarray, ...]:
        """All of it, as the kernels take it."""
        return self.table, self.nodes, self.sides, self.moves, self.work


# -------------------------------------------------------------------------------------------- one state
# Values are whole numbers here: the payoff times the number of others, which is the points of all minus the seat's
# own once for each player.


@kernel
def points_of(state: Any, seat: int) -> int:
    """Points that a seat has taken so far, the jack included."""
    cards = taken_by(state, seat)
    return penalty_points(cards) + (JACK_POINTS if state.jack_of_diamonds and cards & bit(JACK) else 0)


@kernel
def write_base(state: Any, base: Any) -> None:
    """For each seat what the points taken so far would pay it."""
    players, total = np.int64(state.players), np.int64(0)
    for seat in range(players):
        base[seat] = points_of(state, seat)
        total += base[seat]
    for seat in range(players):
        base[seat] = total - players * base[seat]


@kernel
def final_value(state: Any, seat: int) -> int:
    """What the deal that is over pays a seat."""
    total = np.int64(0)
    for other in range(state.players):
        total += state.score[other]
    return total - np.int64(state.players) * state.score[seat]


@kernel
def holder(state: Any) -> int:
    """The only seat that has taken penalty cards, NOBODY or SEVERAL."""
    found = NOBODY
    for seat in range(state.players):
        if taken_by(state, seat) & PENALTY:
            found = seat if found == NOBODY else SEVERAL
    return found


@kernel
def limits(state: Any, seat: int) -> tuple[int, int]:
    """The least and the most that a seat can still be paid; the same once nothing is left to win or lose."""
    low, high = penalty_limits(state, seat)
    if state.jack_of_diamonds:
        least, most = jack_limits(state, seat)
        low, high = low + least, high + most
    if state.no_trick_bonus:
        for each in range(state.players):
            if state.tricks[each] == 0 and each == seat:
                high += NO_TRICK_POINTS * (1 - np.int64(state.players))
            elif state.tricks[each] == 0:
                low += NO_TRICK_POINTS
    return low, high


@kernel
def jack_limits(state: Any, seat: int) -> tuple[int, int]:
    """What the jack of diamonds pays a seat at least and at most."""
    own = JACK_POINTS * (1 - np.int64(state.players))
    there = bit(state.kitty) if state.kitty >= 0 else np.int64(0)
    for each in range(state.players):
        there |= state.hands[each] | state.played[each]
        if taken_by(state, each) & bit(JACK):
            return (own, own) if each == seat else (JACK_POINTS, JACK_POINTS)
    return (JACK_POINTS, own) if there & bit(JACK) else (0, 0)


@kernel
def penalty_limits(state: Any, seat: int) -> tuple[int, int]:
    """What the penalty cards pay a seat at least and at most, by cards and by the moons that are possible."""
    others, in_play, taken = np.int64(state.players) - 1, penalties_in_play(state), np.int64(0)
    for each in range(state.players):
        taken |= taken_by(state, each)
    own = taken_by(state, seat)
    whole, rest = penalty_points(in_play), penalty_points(in_play & ~taken)
    now = whole - rest - (others + 1) * penalty_points(own)
    low, high = now - others * rest, now + rest
    single = holder(state)
    if in_play == 0 or single == SEVERAL:
        return low, high
    if rest == 0:
        return (others * whole, others * whole) if single == seat else (-whole, -whole)
    if single in (NOBODY, np.int64(seat)):
        high = max(high, others * whole)
    if single != seat:
        low, high = min(low, -whole), max(high, -whole)
    return low, high


@kernel
def choices(state: Any, moves: Any) -> int:
    """Write the cards worth trying, ascending, the lowest of those that are alike; returns how many."""
    seat, cards = np.int64(state.seat), legal(state)
    apart = state.hands[0] | state.hands[1] | state.hands[2] | state.hands[3]
    apart = apart & ~state.hands[seat] | bit(QUEEN) | (bit(state.best) if state.best >= 0 else np.int64(0))
    if state.jack_of_diamonds:
        apart |= bit(JACK)
    count, previous = 0, np.int64(NO_CARD)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        if not (previous >= 0 and alike(previous, card, apart)):
            moves[count] = card
            count += 1
        previous = card
    return count


@kernel
def alike(low: int, high: int, apart: int) -> bool:
    """Whether two cards of a hand are the same choice: one suit, and none of the cards `apart` among or between."""
    return low // RANKS == high // RANKS and (between(low, high) | bit(low)) & apart == 0


@entry
def list_children(states: Any, moves: Any, children: Any, groups: Any, child_of: Any) -> int:
    """The states after each choice, and the state that each is from; returns how many.

    child_of int64[N, A] is the child for each legal card, NO_CHILD for others.
    """
    count = 0
    for i in range(len(states)):
        cards, listed = legal(states[i]), 0
        many = choices(states[i], moves)
        while cards:
            card = lowest(cards)
            cards &= cards - 1
            if listed < many and moves[listed] == card:
                listed += 1
                children[count] = states[i]
                play(children[count], card)
                groups[count] = i
                count += 1
            child_of[i, card] = count - 1
    return count


@kernel
def place_of(state: Any, card: int) -> int:
    """How many cards of its suit in the hands are below a card, plus 1; 0 if it is in no hand."""
    left = state.hands[0] | state.hands[1] | state.hands[2] | state.hands[3]
    suit = SUIT << RANKS * (card // RANKS)
    return popcount(left & suit & (bit(card) - 1)) + 1 if left & bit(card) else 0


@kernel
def set_key(state: Any, side: Any, table: Any) -> None:
    """Two words for the position between two tricks; the root's number makes the third."""
    bonus = np.int64(0)
    for seat in range(state.players):
        if state.no_trick_bonus and state.tricks[seat] == 0:
            bonus |= bit(seat)
    jack = place_of(state, JACK) if state.jack_of_diamonds else 0
    queen = place_of(state, QUEEN)
    side.first = owners(state, CLUBS) << 36 | owners(state, DIAMONDS) << 9
    side.first |= bonus << 5 | (state.broken != 0) << 4 | queen
    side.second = owners(state, HEARTS) << 36 | owners(state, SPADES) << 9
    side.second |= holder(state) << 6 | jack << 2 | state.leader
    side.slot = slot_of(table, side.first, side.second)


# ------------------------------------------------------------------------------------------ zero-sum search


@kernel
def pack(lower: int, upper: int) -> int:
    """Two bounds as one number."""
    return (lower + FAR) << 32 | (upper + FAR)


@kernel
def recall(side: Any, table: Any, root: int) -> int:
    """What the table holds for the side's key, or NO_VALUE."""
    for place in (side.slot, side.slot + 1):
        if table[place, 0] == side.first and table[place, 1] == side.second and table[place, 2] == root:
            return table[place, 3]
    return NO_VALUE


@kernel
def store(side: Any, table: Any, root: int, value: int) -> None:
    """Store in the first place; what another key had there moves to the second."""
    slot = side.slot
    if table[slot, 0] != side.first or table[slot, 1] != side.second or table[slot, 2] != root:
        for column in range(4):
            table[slot + 1, column] = table[slot, column]
    table[slot, 0], table[slot, 1], table[slot, 2], table[slot, 3] = side.first, side.second, root, value


@kernel
def reach(state: Any, side: Any, table: Any, work: Any, moves: Any) -> int:
    """The value of a position just reached, or a bound on the target's far side; else NO_VALUE, and moves are listed.

    Of a bound only the side of the target on which it lies is known.
    """
    seat, target = work[SEAT], work[TARGET]
    side.slot, side.next = -1, 0
    if state.phase >= DEAL_OVER:
        return final_value(state, seat)
    lower, upper = limits(state, seat)
    if lower >= target or upper < target:
        return lower if lower >= target else upper
    if state.seat == state.leader and state.trick_number > 0:
        write_base(state, side.base)
        set_key(state, side, table)
        found = recall(side, table, work[ROOT])
        side.lower, side.upper = -FAR, FAR
        if found != NO_VALUE:
            side.lower, side.upper = (found >> 32) - FAR, (found & (bit(32) - 1)) - FAR
            lower, upper = side.lower + side.base[seat], side.upper + side.base[seat]
            if lower >= target or upper < target:
                side.slot = -1
                return lower if lower >= target else upper
    side.best[0] = -FAR if state.seat == seat else FAR
    side.count = choices(state, moves)
    sort_moves(state, seat, moves, side.count)
    return NO_VALUE


@kernel
def sort_moves(state: Any, seat: int, moves: Any, count: int) -> None:
    """The likeliest first; above the card's eight bits a move then has its merit."""
    for place in range(count):
        move, spot = move_merit(state, seat, moves[place]) << 8 | moves[place], place
        while spot > 0 and moves[spot - 1] < move:
            moves[spot] = moves[spot - 1]
            spot -= 1
        moves[spot] = move


@kernel
def move_merit(state: Any, seat: int, card: int) -> int:
    """Lead low; stay as high as possible under what wins; throw the queen, then high hearts, then high cards.

    The others give penalty cards to the seat and to nobody else.
    """
    rank, suit, mover = card % RANKS, card // RANKS, np.int64(state.seat)
    price = 40 if card == QUEEN else (20 if suit == HEARTS else 0)
    if mover == state.leader:
        return -rank - (price if mover == seat else 0)
    if suit == np.int64(state.best) // RANKS and card > state.best:
        return -rank - price
    if mover != seat and state.winner != seat:
        return rank - price
    return rank + price


@part
def zero_sum(table: Any, nodes: Any, sides: Any, moves: Any, work: Any) -> int:
    """Whether the first of `nodes` is worth the target: a value or a bound on that side; NO_VALUE at the cap."""
    seat, target, root = work[SEAT], work[TARGET], work[ROOT]
    depth, new, value = 0, True, np.int64(NO_VALUE)
    while True:  # numba's cache does not bear recursion
        state, side = nodes[depth], sides[depth]
        mine = state.seat == seat
        if new:
            work[NODES] += 1
            if depth > 0 and work[CAP] > 0 and work[NODES] > work[CAP]:
                return NO_VALUE
            value = reach(state, side, table, work, moves[depth])
        else:
            side.best[0] = max(side.best[0], value) if mine else min(side.best[0], value)
            decided = side.best[0] >= target if mine else side.best[0] < target
            value = side.best[0] if decided or side.next == side.count else np.int64(NO_VALUE)
        new = value == NO_VALUE
        if new:
            nodes[depth + 1] = state
            play(nodes[depth + 1], moves[depth, side.next] & 255)
            side.next += 1
            depth += 1
            continue
        if side.slot >= 0:
            known = value - side.base[seat]
            bounds = pack(known, side.upper) if value >= target else pack(side.lower, known)
            store(side, table, root, bounds)
        if depth == 0:
            return value
        depth -= 1


@part
def narrow(state: Any, table: Any, nodes: Any, sides: Any, moves: Any, work: Any) -> tuple[int, int]:
    """Bounds on the value of a state for the seat in `work`, equal unless the cap was hit.

    The first two targets are out of reach, which gives the limits; the third is what is paid already.
    """
    lower, upper, target = -FAR, FAR, -FAR
    while lower < upper:
        nodes[0] = state
        work[TARGET] = target
        value = zero_sum(table, nodes, sides, moves, work)
        if value == NO_VALUE:
            break
        if value >= target:
            lower = value
        else:
            upper = value
        if target == -FAR:
            target = FAR
        elif target == FAR:
            write_base(state, sides[0].base)
            target = min(max(sides[0].base[work[SEAT]], lower + 1), upper)
        else:
            target = value + 1 if value >= target else value
    return lower, upper


@entry
def solve_zero_sum(
    states: Any,
    groups: Any,
    seats: Any,
    cap: int,
    table: Any,
    nodes: Any,
    sides: Any,
    moves: Any,
    work: Any,
    bounds: Any,
    spent: Any,
) -> None:
    """Bounds int64[M, 2] on the values of states [M]; groups int64[M], ascending, share a cap and what is known.

    Whose value is in seats int8[N], by group; so is what is spent, nodes int64[N].
    """
    for i in range(len(states)):
        group = groups[i]
        if i == 0 or groups[i - 1] != group:
            work[NODES], work[CAP], work[SEAT] = 0, cap, seats[group]
            work[ROOT] += 1
        bounds[i, 0], bounds[i, 1] = narrow(states[i], table, nodes, sides, moves, work)
        spent[group] = work[NODES]


# ----------------------------------------------------------------------------------------------- max-n


@kernel
def pack_values(values: Any, base: Any) -> int:
    """The values of four seats beyond what is paid already, sixteen bits each."""
    packed = np.int64(0)
    for seat in range(4):
        packed |= ((values[seat] - base[seat]) & 0xFFFF) << 16 * seat
    return packed


@kernel
def unpack_values(packed: int, base: Any, values: Any) -> None:
    """The reverse of `pack_values`."""
    for seat in range(4):
        values[seat] = (((packed >> 16 * seat) & 0xFFFF) ^ 0x8000) - 0x8000 + base[seat]


@kernel
def reach_all(state: Any, side: Any, table: Any, work: Any, moves: Any, values: Any) -> bool:
    """Whether the values of a position just reached are known; else its moves are listed."""
    side.slot, side.next = -1, 0
    over, mover, players = state.phase >= DEAL_OVER, np.int64(state.seat), np.int64(state.players)
    fixed = True
    for place in range(players):
        seat = (mover + place) % players
        if over:
            values[seat] = final_value(state, seat)
            continue
        values[seat], upper = limits(state, seat)
        side.upper = upper if place == 0 else side.upper
        if values[seat] != upper:
            fixed = False
            break
    if fixed:
        return True
    if mover == state.leader and state.trick_number > 0:
        write_base(state, side.base)
        set_key(state, side, table)
        found = recall(side, table, work[ROOT])
        if found != NO_VALUE:
            unpack_values(found, side.base, values)
            side.slot = -1
            return True
    side.best[mover] = -FAR
    side.count = choices(state, moves)
    return False


@part
def all_for_themselves(table: Any, nodes: Any, sides: Any, moves: Any, work: Any, values: Any) -> bool:
    """Write what the first of `nodes` is worth to each seat; whether that was done within the cap."""
    depth, new = 0, True
    while True:  # numba's cache does not bear recursion
        state, side = nodes[depth], sides[depth]
        seat = np.int64(state.seat)
        if new:
            work[NODES] += 1
            if work[CAP] > 0 and work[NODES] > work[CAP]:
                return False
            done = reach_all(state, side, table, work, moves[depth], values)
        else:
            if values[seat] > side.best[seat]:
                for each in range(4):
                    side.best[each] = values[each]
            done = side.best[seat] == side.upper or side.next == side.count
            if done:
                for each in range(4):
                    values[each] = side.best[each]
        new = not done
        if new:
            nodes[depth + 1] = state
            play(nodes[depth + 1], moves[depth, side.next])
            side.next += 1
            depth += 1
            continue
        if side.slot >= 0:
            store(side, table, work[ROOT], pack_values(values, side.base))
        if depth == 0:
            return True
        depth -= 1


@entry
def solve_max_n(
    states: Any,
    groups: Any,
    cap: int,
    table: Any,
    nodes: Any,
    sides: Any,
    moves: Any,
    work: Any,
    values: Any,
    known: Any,
    spent: Any,
) -> None:
    """Values int64[M, 4] of states [M] where known bool[M]; the rest as for `solve_zero_sum`."""
    for i in range(len(states)):
        group = groups[i]
        if i == 0 or groups[i - 1] != group:
            work[NODES], work[CAP] = 0, cap
            work[ROOT] += 1
        nodes[0] = states[i]
        known[i] = all_for_themselves(table, nodes, sides, moves, work, values[i])
        spent[group] = work[NODES]


# --------------------------------------------------------------------------------------------------- use

_solvers: list[Solver] = []  # the one that calls without a solver share


def shared_solver() -> Solver:
    """The solver of this process, made when it is first needed."""
    if not _solvers:
        _solvers.append(Solver())
    return _solvers[0]


def _check(states: np.ndarray) -> None:
    if len(states) and ((states["phase"] != PLAY).any() or (states["observer"] >= 0).any()):
        raise ValueError("solvers take full states (no views) in the phase of play")


def _children(states: np.ndarray, memory: Solver) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The states [M] after each choice, what each is from int64[M], and the child of each card int64[N, A]."""
    most = int((states["hand_size"] - states["trick_number"]).astype(np.int64).sum())
    children, groups = np.empty(most, states.dtype), np.empty(most, np.int64)
    child_of = np.full((len(states), herzeln.CARDS), NO_CHILD)
    count = list_children(states, memory.moves[0], children, groups, child_of)
    return children[:count], groups[:count], child_of


def paranoid(
    states: np.ndarray, seats: Any, *, cards: bool = False, nodes: int = 0, solver: Solver | None = None
) -> Values:
    """The most that a seat can be sure of if all others make its payoff as small as they can, and see all hands.

    Args:
        states: Full states [N] in the phase of play, at any point of a trick.
        seats: Whose payoff, int8[N], or one seat for all.
        cards: Whether to value each card of the seat to move (the seat asked for, or one of the others).
        nodes: Cap on the positions searched for each state, 0 for none.
        solver: Memory to search in; by default one that the process shares (not between threads).

    Raises:
        ValueError: a state that is a view, or not in the phase of play.
    """
    _check(states)
    n, memory = len(states), shared_solver() if solver is None else solver
    asked = np.ascontiguousarray(np.broadcast_to(np.asarray(seats, np.int8), n))
    children, groups, child_of = _children(states, memory) if cards else (states, np.arange(n), None)
    bounds, spent = np.empty((len(children), 2), np.int64), np.zeros(n, np.int64)
    solve_zero_sum(children, groups, asked, nodes, *memory.memory, bounds, spent)
    others = (states["players"] - 1)[:, None]
    if child_of is None:
        lower, upper = (bounds / others).T
        return Values(lower, upper, None, spent)
    mine, there = (states["seat"] == asked)[:, None], (child_of != NO_CHILD)[:, :, None]
    after = bounds[child_of]
    best = np.where(mine, np.where(there, after, -FAR).max(axis=1), np.where(there, after, FAR).min(axis=1))
    lower, upper = (best / others).T
    exact = np.where(after[:, :, 0] == after[:, :, 1], after[:, :, 0] / others, np.nan)
    return Values(lower, upper, np.where(there[:, :, 0], exact, ILLEGAL), spent)


def two_player(states: np.ndarray, *, cards: bool = False, nodes: int = 0, solver: Solver | None = None) -> Values:
    """The value of two-player states for the seat to move: `paranoid`, which with one other is the game itself.

    Raises:
        ValueError: states of more players, or what `paranoid` refuses.
    """
    if (states["players"] != 2).any():
        raise ValueError("two_player() takes states of two players")
    return paranoid(states, states["seat"], cards=cards, nodes=nodes, solver=solver)


def max_n(states: np.ndarray, *, nodes: int = 0, solver: Solver | None = None) -> MaxN:
    """Every seat makes its own payoff as large as it can; of cards that pay it the same it plays the lowest.

    Lowest by number: clubs before diamonds, hearts and spades, then by rank.

    Args:
        states: Full states [N] in the phase of play, at any point of a trick.
        nodes: Cap on the positions searched for each state, 0 for none.
        solver: Memory to search in; by default one that the process shares (not between threads).

    Raises:
        ValueError: a state that is a view, or not in the phase of play.
    """
    _check(states)
    n, memory = len(states), shared_solver() if solver is None else solver
    children, groups, child_of = _children(states, memory)
    values, spent = np.zeros((len(children), 4), np.int64), np.zeros(n, np.int64)
    known = np.empty(len(children), bool)
    solve_max_n(children, groups, nodes, *memory.memory, values, known, spent)
    payoffs = np.where(known[:, None], values / (children["players"] - 1)[:, None], np.nan)
    payoffs[:, 2:] = np.where(np.arange(2, 4) < children["players"][:, None], payoffs[:, 2:], 0.0)
    own = payoffs[np.arange(len(children)), states["seat"][groups]]
    by_card = np.where(child_of != NO_CHILD, own[child_of], ILLEGAL)
    chosen = np.where(np.isnan(by_card).any(axis=1), NO_CARD, by_card.argmax(axis=1))
    found = np.where((chosen == NO_CARD)[:, None], np.nan, payoffs[child_of[np.arange(n), chosen]])
    return MaxN(found, chosen, by_card, spent)


def endings(
    left: int, n: int, seed: int, *, strength: float = 0, preset: str | None = None, **options: Any
) -> np.ndarray:
    """States [n] in which each hand has `left` cards after random play; see `biased_deals` for the rest."""
    states, seats = biased_deals(strength, n, seed, preset=preset, **options)
    deck, rng = get_game("herzeln").deck, np.random.default_rng(seed)
    for i in range(n):
        cards, _ = step(states[i : i + 1], NO_CARD, seats[i])
        while int(states["hand_size"][i]) - int(states["trick_number"][i]) > left:
            cards, _ = step(states[i : i + 1], rng.choice(deck.in_set(cards)), seats[i])
    return states


def measure(lefts: tuple[int, ...] = (3, 4, 5, 6), n: int = 100, seed: int = 0, **options: Any) -> list[dict[str, Any]]:
    """CPU milliseconds a state on endings with so many cards a hand: mean, median, 99th percentile and most.

    One row for each number and each of max-n, paranoid and paranoid with a value for every card.
    """
    found = {
        "max_n": max_n,
        "paranoid": lambda states: paranoid(states, states["seat"]),
        "paranoid_cards": lambda states: paranoid(states, states["seat"], cards=True),
    }
    rows = []
    for left in lefts:
        states = endings(left, n, seed, **options)
        for name, solve in found.items():
            solve(endings(1, 1, seed, **options))
            spent = np.empty(n)
            for i in range(n):
                start = time.process_time()
                solve(states[i : i + 1])
                spent[i] = 1000 * (time.process_time() - start)
            row = {"cards": left, "solver": name, "mean": float(spent.mean()), "p50": float(np.median(spent))}
            rows.append(row | {"p99": float(np.percentile(spent, 99)), "max": float(spent.max())})
    return rows
