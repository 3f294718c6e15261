"""The exact open-hand solver of Viersche: what each side takes if all four play perfectly with open hands.

A search with null windows ("does side 0 take at least so many?"), asked again around the answers until two
meet. What makes it fast:

* A structural table. The tricks that can still be won depend on the owners of the remaining cards in rank
  order, suit by suit, and on who leads; only what they bring depends on the cards. So the owners are the key,
  an entry keeps its own cards beside its bounds, and where others lie in their place it is used with slack:
  the lower bound less, the upper bound more, by the points in which they differ. Suits are renumbered so that
  a card's number says its points whatever is trump; so entries are true of every deal and are never cleared.
* Dominance. Cards of one hand with no other hand's between them win the same tricks. Where the trick surely
  goes to the own side only the dearest of them is tried, where it surely does not only the cheapest, and
  otherwise one that failed by more than two of them differ speaks for the other.
* Sure points: trumps above all of the other side's bring home at least themselves, and a run of winners in the
  leader's hand also the cheapest that the others can throw on it. The last two tricks are tried plainly.
* Order: what refuted from the same hand before, what the table says, then guesses by what becomes of the trick.

The value is the card points that side 0 (seats 0 and 2) takes in the whole deal, played to its last card also
where a second deal would end early. Parts: `solver_viersche_cards`, `_table`, `_bounds`, `_moves`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from ..envs.batch import make_batch
from ..envs.bits import bit, highest, lowest, popcount
from ..envs.cards import NO_CARD
from ..envs.jit import entry, inlined, kernel
from ..envs.state import NO_OBSERVER, PLAY
from ..envs.viersche import CARDS, HAND_SIZE, RANKS, SEATS, STATE, little_man, old_man, play
from .solver_viersche_bounds import (
    last_tricks,
    run_bounds,
    simple_bounds,
    trick_bounds,
)
from .solver_viersche_cards import (
    NOTHING,
    POINTS,
    SUIT_OF,
    SUITS,
    TRUMP,
    TRUMPS,
    beats,
    may_play,
    points_of,
)
from .solver_viersche_moves import (
    drop_equals,
    move_weights,
    next_move,
    write_moves,
)
from .solver_viersche_table import (
    BEST,
    BUCKET,
    CARD,
    COUNT,
    EXEMPT,
    FINE,
    FRAME,
    FRAMES,
    GAIN,
    HANDS,
    LEAST_IN_TABLE,
    LED,
    LEFT,
    LIMIT,
    LYING,
    MASK,
    MEMORY,
    MOST_IN_TABLE,
    MOVES,
    NEED,
    NEXT,
    NODES,
    OPEN,
    OPENING,
    OWNER_HIGH,
    OWNER_LOW,
    PLACE,
    REFUTES,
    ROUGH,
    ROWS,
    SEAT,
    SIDE,
    STOPPED,
    SURE_HIGH,
    SURE_LOW,
    TABLE,
    TOTAL,
    TURN,
    VALUE,
    WEIGHTS,
    WINNER,
    WORD,
    find_bucket,
    keep,
    look_up,
    peek,
    poke,
    poke_byte,
    refutations,
)

RUN_CARDS = 24
ILLEGAL = -1  # the value of a card that may not be played
FIRST_STEP = 5  # from one answer to the next question, doubled while the answers agree
SMALL_TABLE_BITS = 13  # buckets used up to six cards each, so that they stay in the processor's cache
NO_LIMIT = 1 << 62
PLACE_WORTH = (4, -1, -2, -3, -3, -3, -3, -3, -3, *(15, 8, 4, 1, -1, -1, -2, -2, -2, -2))  # of plain cards, of trumps
NO_VALUES = np.empty((0, CARDS), np.int16)


# ------------------------------------------------------------------------------------------------- search


@kernel
def without(owners: int, below: int) -> int:
    """A row of bits less the one that has `below` others under it."""
    under = (np.int64(1) << below) - 1
    return owners & under | owners >> 1 & ~under


@kernel
def descend(at: int, frame: int, card: int) -> int:
    """Play a card: the frame of the position after it, which is written."""
    cards, seat, place = peek(frame + LEFT), peek(frame + SEAT), peek(frame + PLACE)
    led, best, winner = peek(frame + LED), peek(frame + BEST), peek(frame + WINNER)
    lying = peek(frame + LYING) + POINTS[card]
    if place == 0:
        led = np.int64(TRUMP) if peek(frame + OPENING) else SUIT_OF[card]
        best = np.int64(NOTHING)
    if beats(card, best, led):
        best, winner = card, seat
    after = frame + FRAME
    poke(frame + CARD, card)
    poke(after + LEFT, cards & ~bit(card))
    if popcount(cards) > LEAST_IN_TABLE:
        under = popcount(cards & (bit(card) - 1))
        poke(after + OWNER_LOW, without(peek(frame + OWNER_LOW), under))
        poke(after + OWNER_HIGH, without(peek(frame + OWNER_HIGH), under))
    poke(after + OPENING, 0)
    poke(after + TOTAL, peek(frame + TOTAL) - POINTS[card])
    gain = np.int64(0)
    if place == 3:
        gain = np.int64(0) if winner & 1 else lying
        lying, place, seat = np.int64(0), np.int64(-1), winner - 1
    poke(frame + GAIN, gain)
    poke(after + NEED, peek(frame + NEED) - gain)
    poke(after + SEAT, (seat + 1) & 3)
    poke(after + PLACE, place + 1)
    poke(after + LED, led)
    poke(after + BEST, best)
    poke(after + WINNER, winner)
    poke(after + LYING, lying)
    return after


@inlined
def enter(at: int, frame: int) -> int:
    """Answer a position from bounds and table, or prepare the search of its moves: then OPEN."""
    poke(at + NODES, peek(at + NODES) + 1)
    place, first = peek(frame + PLACE), np.int64(NOTHING)
    if place == 0:
        value, first = enter_trick(at, frame)
        if value != OPEN:
            return value
    hand = peek(frame + LEFT) & peek(at + HANDS + WORD * peek(frame + SEAT))
    poke(frame + VALUE, 1000 * (peek(frame + SEAT) & 1) - 1 + (peek(frame + SEAT) & 1))
    poke(frame + NEXT, 0)
    if place > 0:
        legal = may_play(hand, place, peek(frame + LED), 0, peek(at + EXEMPT))
        if legal & (legal - 1) == 0:
            poke(frame + COUNT, 1)
            poke(frame + MOVES, lowest(legal) << 8 | lowest(legal))
            return np.int64(OPEN)
        low, high = trick_bounds(at, frame)
        if low >= peek(frame + NEED):
            return low
        if high < peek(frame + NEED):
            return high
    known = refutations(at, frame)
    poke(frame + COUNT, write_moves(at, frame, known >> 8 << 8 | first if first != NOTHING else known))
    return np.int64(OPEN)


@inlined
def enter_trick(at: int, frame: int) -> Any:
    """The same before a lead, and the card that the table says is best, or NOTHING."""
    cards, seat, need = peek(frame + LEFT), peek(frame + SEAT), peek(frame + NEED)
    left, nothing = popcount(cards), np.int64(NOTHING)
    if left == 0:
        return np.int64(0), nothing
    if peek(frame + OPENING):
        low, high = simple_bounds(at, frame, NOTHING, 0)
        return low if low >= need else high if high < need else np.int64(OPEN), nothing
    if left == 4:
        return last_tricks(at, cards, seat, need), nothing
    if 8 < left <= MOST_IN_TABLE:
        find_bucket(at, frame)
    low, high = simple_bounds(at, frame, NOTHING, 0)
    if left > 8 and low < need <= high:
        low, high = run_bounds(at, frame, low, high)
    if low >= need or high < need:
        return low if low >= need else high, nothing
    if left == 8:
        return last_tricks(at, cards, seat, need), nothing
    poke(frame + SURE_LOW, low)
    poke(frame + SURE_HIGH, high)
    if left > MOST_IN_TABLE:
        return np.int64(OPEN), nothing
    first = look_up(at, frame)
    low, high = peek(frame + SURE_LOW), peek(frame + SURE_HIGH)
    return low if low >= need else high if high < need else np.int64(OPEN), first


@inlined
def leave(at: int, frame: int, value: int, card: int) -> int:
    """Keep the answer of a frame, found by search."""
    if peek(frame + PLACE) == 0 and popcount(peek(frame + LEFT)) <= MOST_IN_TABLE and not peek(frame + OPENING):
        if value >= peek(frame + NEED):
            poke(frame + SURE_LOW, max(value, peek(frame + SURE_LOW)))
        else:
            poke(frame + SURE_HIGH, min(value, peek(frame + SURE_HIGH)))
        keep(at, frame, card)
    return value


@inlined
def take_up(at: int, frame: int, value: int) -> int:
    """Account for the value of the card just tried; the frame's answer, if it decides, else OPEN."""
    value += peek(frame + GAIN)
    seat, need, card, held = peek(frame + SEAT), peek(frame + NEED), peek(frame + CARD), peek(frame + VALUE)
    held = min(held, value) if seat & 1 else max(held, value)
    poke(frame + VALUE, held)
    if (held < need) == (seat & 1 == 1):
        if peek(frame + COUNT) > 1:
            poke_byte(peek(frame + ROUGH), card)
            poke_byte(peek(frame + FINE), card)
        return leave(at, frame, held, card)
    drop_equals(frame, value, card, seat & 1, need)
    return np.int64(OPEN)


@kernel
def search(at: int, first: int, need: int) -> int:
    """Whether side 0 takes `need` from a frame on: a lower bound of at least that, or an upper bound below it."""
    poke(first + NEED, need)
    limit = peek(at + LIMIT)
    frame, value = first, enter(at, first)
    while True:
        if value == OPEN:
            card = next_move(frame)
            if card != NOTHING:
                frame = descend(at, frame, card)
                value = enter(at, frame)
                continue
            value = leave(at, frame, peek(frame + VALUE), np.int64(NOTHING))
        if frame == first:
            return value
        if peek(at + NODES) > limit:
            poke(at + STOPPED, 1)
            return value
        frame -= FRAME
        value = take_up(at, frame, value)


# ---------------------------------------------------------------------------------------------- positions


def renumbering() -> tuple[np.ndarray, np.ndarray]:
    """Own number of each card by trump suit, at trump * CARDS + card, and the way back."""
    inner, outer = np.zeros((4, CARDS), np.int64), np.zeros((4, CARDS), np.int64)
    for trump in range(4):
        men = [3 - trump, trump]  # printed suits of Little and Old Man
        jacks = [int(little_man.py_func(trump)), int(old_man.py_func(trump))]
        order = []
        for suit in [men[0], *(suit for suit in range(4) if suit not in men), trump]:
            order += [card for card in range(suit * RANKS, suit * RANKS + RANKS) if card not in jacks]
        outer[trump] = order + jacks
        inner[trump, outer[trump]] = np.arange(CARDS)
    return inner.ravel(), outer.ravel()


INNER, OUTER = renumbering()


@kernel
def load(at: int, state: Any) -> None:
    """Write a state into the first frame."""
    number, frame = np.int64(state.trump) * CARDS, at + FRAMES
    cards, owner_low, owner_high, lying = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    for seat in range(4):
        hand, rest = np.int64(0), state.hands[seat]
        while rest:
            hand |= bit(INNER[number + lowest(rest)])
            rest &= rest - 1
        poke(at + HANDS + WORD * seat, hand)
        cards |= hand
        if state.trick[seat] != NO_CARD:
            lying += POINTS[INNER[number + state.trick[seat]]]
    rest = cards
    place = np.int64(0)
    while rest:
        card = rest & -rest
        rest &= rest - 1
        for seat in range(4):
            if peek(at + HANDS + WORD * seat) & card:
                owner_low |= (seat & 1) << place
                owner_high |= (seat >> 1) << place
        place += 1
    leader = np.int64(state.leader)
    led = np.int64(TRUMP)
    if state.trick_number and state.trick[leader] != NO_CARD:
        led = SUIT_OF[INNER[number + state.trick[leader]]]
    poke(frame + LEFT, cards)
    poke(frame + SEAT, np.int64(state.seat))
    poke(frame + PLACE, (np.int64(state.seat) - leader) & 3)
    poke(frame + LED, led)
    poke(frame + BEST, INNER[number + state.best] if state.best != NO_CARD else np.int64(NOTHING))
    poke(frame + WINNER, np.int64(state.winner))
    poke(frame + LYING, lying)
    poke(frame + OWNER_LOW, owner_low)
    poke(frame + OWNER_HIGH, owner_high)
    poke(frame + OPENING, np.int64(state.plays == 0))
    poke(frame + TOTAL, points_of(cards))
    poke(at + SIDE, peek(at + HANDS) | peek(at + HANDS + 2 * WORD))
    poke(at + EXEMPT, np.int64(state.jack_exempt != 0))


@kernel
def start_guess(at: int, frame: int) -> int:
    """Where the search starts: what the cards of each side are worth by rank from the top, fitted to solved deals."""
    cards, own = peek(frame + LEFT), peek(at + SIDE)
    guess = (points_of(cards) + peek(frame + LYING) + 1) // 2
    for suit in range(4):
        rest, place = cards & SUITS[suit], 9 * (suit == TRUMP)
        while rest:
            card = bit(highest(rest))
            guess += PLACE_WORTH[place] if card & own else -PLACE_WORTH[place]
            rest &= ~card
            place += 1
    longest, other = trump_lengths(at, cards & TRUMPS, 0), trump_lengths(at, cards & TRUMPS, 1)
    return guess + 12 * (longest[0] - other[0]) + 5 * (longest[1] - other[1])


@kernel
def trump_lengths(at: int, trumps: int, side: int) -> Any:
    """The trumps of a side's hands, the longer hand first."""
    hand, other = peek(at + HANDS + WORD * side), peek(at + HANDS + WORD * (side + 2))
    first, second = popcount(trumps & hand), popcount(trumps & other)
    return max(first, second), min(first, second)


@kernel
def settle(at: int, frame: int, guess: int) -> Any:
    """The bounds of what side 0 takes from a frame on; they meet unless the limit of nodes was reached."""
    low, high = np.int64(0), points_of(peek(frame + LEFT)) + peek(frame + LYING)
    want, step, before = guess, FIRST_STEP, 0
    while low < high:
        want = min(max(want, low + 1), high)
        value = search(at, frame, want)
        if peek(at + STOPPED):
            break
        if value >= want:
            step = 2 * step if before == 1 else FIRST_STEP
            low, want, before = value, value + step, 1
        else:
            step = 2 * step if before == -1 else FIRST_STEP
            high, want, before = value, value + 1 - step, -1
    return low, high


@kernel
def begin(at: int, table: int, table_bits: int, limit: int) -> None:
    """Prepare the memory for the position in the first frame; few cards use few lines of the table."""
    tricks = (popcount(peek(at + FRAMES + LEFT)) + 3) >> 2
    bits = np.int64(SMALL_TABLE_BITS)
    if tricks > 6:
        bits = table_bits if tricks > 7 else (table_bits + SMALL_TABLE_BITS) >> 1
    poke(at + NODES, 0)
    poke(at + STOPPED, 0)
    poke(at + LIMIT, limit if limit > 0 else NO_LIMIT)
    poke(at + TABLE, table)
    poke(at + MASK, (np.int64(1) << min(bits, table_bits)) - 1)


@kernel
def evaluate(state: Any, at: int, table: int, table_bits: int, limit: int) -> Any:
    """Bounds (low, high) of side 0's card points in the whole deal from a state on.

    Args:
        state: A full state in phase PLAY.
        at: Address of a solver's memory.
        table: Address of its table.
        table_bits: Logarithm of its number of buckets.
        limit: Nodes after which the bounds found so far are the answer; 0 for none.
    """
    load(at, state)
    begin(at, table, table_bits, limit)
    low, high = settle(at, at + FRAMES, start_guess(at, at + FRAMES))
    return low + state.points[0], high + state.points[0]


@kernel
def evaluate_cards(state: Any, at: int, table: int, table_bits: int, out: Any) -> None:
    """Write the exact value of each legal card of a state to out[36]: side 0's card points in the whole deal."""
    load(at, state)
    begin(at, table, table_bits, 0)
    frame, taken = at + FRAMES, np.int64(state.points[0])
    number, guess = np.int64(state.trump) * CARDS, start_guess(at, at + FRAMES)
    for card in range(CARDS):
        out[card] = ILLEGAL
    hand = peek(frame + LEFT) & peek(at + HANDS + WORD * peek(frame + SEAT))
    rest = may_play(hand, peek(frame + PLACE), peek(frame + LED), peek(frame + OPENING), peek(at + EXEMPT))
    while rest:
        card = highest(rest)
        rest &= ~bit(card)
        after = descend(at, frame, card)
        gain = peek(frame + GAIN)
        low, _ = settle(at, after, guess - gain)
        guess = low + gain
        out[OUTER[number + card]] = guess + taken


def answer(
    states: Any, at: int, table: int, table_bits: int, limit: int, lows: Any, highs: Any, nodes: Any, values: Any
) -> None:
    """`evaluate` for each of many states, or `evaluate_cards` where `values` has a row for each."""
    for i in range(len(states)):
        if len(values) > 0:
            evaluate_cards(states[i], at, table, table_bits, values[i])
        else:
            lows[i], highs[i] = evaluate(states[i], at, table, table_bits, limit)
            nodes[i] = peek(at + NODES)


def play_one(states: Any, card: int) -> None:
    """Play a card in the first state; a second deal goes on to its last card."""
    states[0].second_deal = 0
    play(states[0], card)


ANSWER, PLAY_ONE = entry(answer), entry(play_one)  # one entry for both answers: the search is compiled once


# ------------------------------------------------------------------------------------------------ solver


@dataclass(frozen=True)
class Solution:
    """What open-hand play of N positions brings; low and high are equal where the answer is exact.

    Attributes:
        low: int64[N], card points that side 0 (seats 0 and 2) takes in the whole deal at least.
        high: int64[N], at most.
        exact: bool[N].
        nodes: int64[N], positions visited.
        line: The cards of perfect play from each position to the end of the deal, where asked for.
    """

    low: np.ndarray
    high: np.ndarray
    exact: np.ndarray
    nodes: np.ndarray
    line: list[list[int]] | None = None


class Solver:
    """The memory and the table that searches share; make one and keep it.

    What the table has learnt of one deal is true of every other, so nothing is cleared between calls, except
    before a search with a cap on nodes: its bounds then depend on nothing but its position.
    A solver serves one thread at a time.
    """

    def __init__(self, table_bits: int = 18) -> None:
        """A solver whose table takes 64 bytes times 2 ** table_bits (16 MiB)."""
        self.table_bits = table_bits
        self._memory = np.zeros(MEMORY, np.int64)
        self._table = np.zeros((BUCKET << table_bits) // WORD + BUCKET // WORD, np.int64)
        self._memory[WEIGHTS // WORD : WEIGHTS // WORD + ROWS * CARDS] = move_weights().ravel()

    @property
    def addresses(self) -> tuple[int, int, int]:
        """What the kernels `evaluate` and `evaluate_cards` take after the state; valid while the solver lives."""
        table = -(-self._table.ctypes.data // BUCKET) * BUCKET
        return self._memory.ctypes.data, table, self.table_bits

    def clear(self) -> None:
        """Forget everything learnt."""
        self._table[:] = 0
        self._memory[TURN // WORD] = 0
        self._memory[REFUTES // WORD :] = 0

    def solve(self, states: np.ndarray, *, nodes: int = 0, line: bool = False) -> Solution:
        """See the function `solve`."""
        states = checked(states)
        low, high, visited = (np.zeros(len(states), np.int64) for _ in range(3))
        for i in range(0, len(states), 1 if nodes else max(len(states), 1)):
            part = slice(i, i + 1 if nodes else None)
            if nodes:
                self.clear()
            ANSWER(states[part], *self.addresses, nodes, low[part], high[part], visited[part], NO_VALUES)
        lines = [self.line(state) for state in states] if line else None
        return Solution(low, high, low == high, visited, lines)

    def card_values(self, states: np.ndarray) -> np.ndarray:
        """See the function `card_values`."""
        states = checked(states)
        out = np.empty((len(states), CARDS), np.int16)
        unused = np.empty(0, np.int64)
        ANSWER(states, *self.addresses, 0, unused, unused, unused, out)
        return out

    def line(self, state: np.void) -> list[int]:
        """The cards of perfect play from a state to the end of the deal; the lowest where several are as good."""
        states, cards = np.array([state], STATE), []
        while states["phase"][0] == PLAY:
            values = self.card_values(states)[0]
            legal = np.flatnonzero(values != ILLEGAL)
            choose = np.argmin if states["seat"][0] & 1 else np.argmax
            cards.append(int(legal[choose(values[legal])]))
            PLAY_ONE(states, cards[-1])
        return cards


def checked(states: np.ndarray) -> np.ndarray:
    """States [N] that the solver takes.

    Raises:
        ValueError: a view, or a state in which no card is to be played.
    """
    states = np.atleast_1d(np.asarray(states))
    if states.dtype != STATE or states.ndim != 1:
        raise ValueError(f"solve takes states [N] of Viersche, not {states.dtype.name}{list(states.shape)}")
    if np.any(states["phase"] != PLAY):
        raise ValueError("solve takes states in phase PLAY: in the others no card is to be played")
    if np.any(states["observer"] != NO_OBSERVER):
        raise ValueError("solve takes full states: in a view the other hands are hidden")
    return states


@cache
def shared_solver() -> Solver:
    """The solver of the functions below, one in a process."""
    return Solver()


def solve(states: np.ndarray, *, nodes: int = 0, line: bool = False) -> Solution:
    """What side 0 takes of each deal if all four seats play perfectly with open hands.

    Args:
        states: Full states [N] in phase PLAY, anywhere in a deal.
        nodes: Cap on the positions visited for each state, after which the bounds proven so far are the
            answer; 0 for none.
        line: Also the cards of perfect play; always exact, so without a cap.
    """
    return shared_solver().solve(states, nodes=nodes, line=line)


def card_values(states: np.ndarray) -> np.ndarray:
    """int16[N, 36]: the exact value of each legal card of states [N], `ILLEGAL` for the other cards.

    The value is the card points that side 0 takes in the whole deal after that card and perfect open-hand play.
    """
    return shared_solver().card_values(states)


def benchmark(cards: int, deals: int, seed: int = 0) -> dict[str, float]:
    """Milliseconds of processor time per position of random deals, played at random down to `cards` each."""
    states, solver = random_positions(cards, deals, seed), Solver()
    solver.solve(states[:1])
    spent = np.empty(deals)
    solver.clear()
    for i in range(deals):
        start = time.process_time()
        solver.solve(states[i : i + 1])
        spent[i] = 1e3 * (time.process_time() - start)
    return {"mean_ms": float(spent.mean()), "p99_ms": float(np.percentile(spent, 99)), "max_ms": float(spent.max())}


def random_positions(cards: int, deals: int, seed: int, **options: Any) -> np.ndarray:
    """States [deals] of random deals, played at random down to `cards` cards each."""
    batch = make_batch("viersche", deals, seed=seed, **options)
    draws = np.random.default_rng(seed)
    for _ in range(SEATS * (HAND_SIZE - cards)):
        batch.step((draws.random(batch.action_mask.shape) * batch.action_mask).argmax(axis=1))
    return batch.states.copy()
