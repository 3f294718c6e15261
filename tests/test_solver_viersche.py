"""The exact solver of Viersche against plain minimax over the game's own kernels."""

from __future__ import annotations

import functools

import numba
import numpy as np
import pytest
from helpers import many

from stich.agents import solver_viersche
from stich.agents.solver_viersche import ILLEGAL, Solver, card_values, random_positions, solve
from stich.envs import make_batch
from stich.envs.bits import lowest
from stich.envs.cards import NO_CARD, NO_SEAT
from stich.envs.viersche import CARDS, RANKS, STATE, legal, play

ENDINGS = many(150, 2000)


@numba.njit(error_model="numpy")
def minimax(stack, depth):
    """The value of stack[depth], every line of play tried."""
    state = stack[depth]
    rest = legal(state)
    if rest == 0:
        return np.int64(state.points[0])
    best = np.int64(1000) if state.seat & 1 else np.int64(-1)
    while rest:
        stack[depth + 1] = stack[depth]
        play(stack[depth + 1], lowest(rest))
        rest &= rest - 1
        value = minimax(stack, depth + 1)
        best = min(best, value) if state.seat & 1 else max(best, value)
    return best


@numba.njit(error_model="numpy")
def play_in(states, card):
    """Play a card in the first state."""
    play(states[0], card)


@numba.njit(error_model="numpy")
def legal_in(states):
    """The legal cards of the first state."""
    return legal(states[0])


def plain_value(state: np.void) -> int:
    """What side 0 takes, by trying everything."""
    stack = np.zeros(CARDS + 1, STATE)
    stack[0] = state
    stack["second_deal"] = 0  # a second deal may end early; the solver's value goes on
    return int(minimax(stack, 0))


def after(state: np.void, card: int) -> np.void:
    """The state after a card."""
    states = np.array([state], STATE)
    states["second_deal"] = 0
    play_in(states, card)
    return states[0]


def legal_cards(state: np.void) -> list[int]:
    """The legal cards of a state."""
    cards = int(legal_in(np.array([state], STATE)))
    return [card for card in range(CARDS) if cards >> card & 1]


def led_on(state: np.void, rng: np.random.Generator) -> np.void:
    """The state after up to three random cards."""
    for _ in range(rng.integers(4)):
        state = after(state, int(rng.choice(legal_cards(state))))
    return state


def small_deal(state: np.void, size: int, rng: np.random.Generator) -> np.void:
    """A deal at its first lead with so many cards each, drawn so that forehand is often without trumps."""
    trump = int(state["trump"])
    trumps = ((1 << RANKS) - 1) << RANKS * trump | 1 << (3 - trump) * RANKS + 5
    state["hand_size"] = size
    for seat in range(4):
        held = [card for card in range(CARDS) if int(state["hands"][seat]) >> card & 1]
        if seat == state["leader"] and rng.random() < 0.6:
            held = [card for card in held if not trumps >> card & 1] or held
        drawn = rng.permutation(held)[:size]
        state["hands"][seat] = sum(1 << int(card) for card in drawn)
    return state


def is_deal(state: np.void) -> bool:
    """Whether all hold as many cards and somebody must trump a face-down lead, as in every whole deal."""
    trump = int(state["trump"])
    old = 1 << trump * RANKS + 5
    trumps = ((1 << RANKS) - 1) << RANKS * trump | 1 << (3 - trump) * RANKS + 5
    sizes = {int(hand).bit_count() for hand in state["hands"]}
    return sizes == {int(state["hand_size"])} and any(int(hand) & trumps not in (0, old) for hand in state["hands"])


@functools.cache
def endings(number: int, seed: int = 0) -> np.ndarray:
    """Positions with up to four or five cards each: ends of whole deals and starts of small ones, and in mid-trick."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < number:
        exempt, size = bool(rng.integers(2)), int(rng.choice([1, 2, 3, 4, 4]))
        options = {"trump": str(rng.choice(["turn_up", "random", "S"])), "jack_exempt": exempt, "episode": "round"}
        batch = make_batch("viersche", 4, seed=int(rng.integers(1 << 30)), **options)
        for state in (small_deal(each, size, rng) for each in batch.states[:2].copy()):
            if is_deal(state):
                found.append(led_on(state, rng))
        found += [led_on(state, rng) for state in random_positions(size, 2, int(rng.integers(1 << 30)), **options)]
    states = np.array(found[:number], STATE)
    return states[states["phase"] == 1]


def rotated(states: np.ndarray) -> np.ndarray:
    """The same positions with every seat one further, so that the sides change places."""
    turned = states.copy()
    for name in ("hands", "played", "trick", "voids", "tricks"):
        turned[name] = np.roll(states[name], 1, axis=1)
    turned["points"] = states["points"][:, ::-1]
    for name in ("seat", "dealer", "leader", "winner", "first_winner", "last_seat"):
        turned[name] = np.where(states[name] == NO_SEAT, NO_SEAT, (states[name] + 1) % 4)
    return turned


def at_stake(states: np.ndarray) -> np.ndarray:
    """All points of each position's deal, taken ones included."""
    worth = np.array([0, 0, 0, 0, 10, 2, 3, 4, 11] * 4)
    total = states["points"].sum(axis=1).astype(int)
    for i, state in enumerate(states):
        trump = int(state["trump"])
        jacks = (trump * RANKS + 5, (3 - trump) * RANKS + 5)
        cards = [card for card in range(CARDS) if any(int(hand) >> card & 1 for hand in state["hands"])]
        cards += [int(card) for card in state["trick"] if card != NO_CARD]
        total[i] += sum(12 if card in jacks else worth[card] for card in cards)
    return total


def test_solver_agrees_with_plain_minimax() -> None:
    states = endings(ENDINGS)
    found = solve(states)
    assert found.exact.all()
    assert found.low.tolist() == [plain_value(state) for state in states]


def test_endings_cover_what_the_rules_have() -> None:
    states = endings(ENDINGS)
    middle = states["seat"] != states["leader"]
    assert middle.any() and (states["jack_exempt"] == 1).any()
    assert (middle & (states["face_down"] != NO_CARD) & (states["trick_number"] == 0)).any()


def test_value_turns_round_with_the_sides() -> None:
    states = np.concatenate([endings(ENDINGS), random_positions(6, 10, 3)])
    turned = Solver().solve(rotated(states))
    assert (turned.low == at_stake(states) - solve(states).low).all()


def test_line_reaches_the_value() -> None:
    states = np.concatenate([endings(20), random_positions(6, 4, 5)])
    found = solve(states, line=True)
    assert found.line is not None
    for state, value, line in zip(states, found.low, found.line, strict=True):
        for card in line:
            assert card in legal_cards(state)
            state = after(state, card)
        assert int(state["points"][0]) == value and not state["hands"].any()


def test_cards_have_the_values_of_the_positions_after_them() -> None:
    states = endings(many(40, 400))
    values = card_values(states)
    assert values.dtype == np.int16 and values.shape == (len(states), CARDS)
    for state, row, value in zip(states, values, solve(states).low, strict=True):
        cards = legal_cards(state)
        assert np.flatnonzero(row != ILLEGAL).tolist() == cards
        assert row[cards].tolist() == [plain_value(after(state, card)) for card in cards]
        assert value == (row[cards].min() if state["seat"] & 1 else row[cards].max())


@pytest.mark.parametrize("nodes", [1, 100, 10_000])
def test_cap_gives_bounds_that_hold(nodes: int) -> None:
    states = np.concatenate([endings(20), random_positions(6, 10, 7)])
    exact, capped = solve(states), solve(states, nodes=nodes)
    assert ((capped.low <= exact.low) & (exact.low <= capped.high)).all()
    assert (capped.exact == (capped.low == capped.high)).all()
    assert (capped.nodes <= nodes + 50).all()


def test_capped_answer_depends_on_its_position_alone() -> None:
    states = random_positions(8, 4, 11)
    together = Solver().solve(states, nodes=5000)
    used = Solver()
    used.solve(random_positions(7, 3, 12))
    alone = [used.solve(states[i : i + 1], nodes=5000) for i in range(len(states))]
    assert [(int(one.low[0]), int(one.high[0])) for one in alone] == list(
        zip(together.low.tolist(), together.high.tolist(), strict=True)
    )


def test_bounds_of_whole_deals_narrow_with_the_cap() -> None:
    states = random_positions(9, 3, 13)
    few, many_nodes = solve(states, nodes=20_000), solve(states, nodes=200_000)
    assert (few.low <= many_nodes.low).all() and (many_nodes.high <= few.high).all()
    assert (many_nodes.low <= many_nodes.high).all()


def test_a_crowded_table_changes_no_value() -> None:
    states = random_positions(6, many(10, 100), 17)
    assert (Solver(table_bits=2).solve(states).low == solve(states).low).all()


def test_second_deal_is_valued_to_its_last_card() -> None:
    states = random_positions(4, 10, 19)
    second = states.copy()
    second["second_deal"], second["carried"], second["target"] = 1, 70, 71
    assert (solve(second).low == solve(states).low).all()


def test_solver_refuses_what_it_cannot_value() -> None:
    batch = make_batch("viersche", 1)
    with pytest.raises(ValueError, match="hands are hidden"):
        solve(batch.views)
    with pytest.raises(ValueError, match="takes states"):
        solve(np.zeros(3))
    over = batch.states.copy()
    over["phase"] = 2
    with pytest.raises(ValueError, match="PLAY"):
        solve(over)


def test_benchmark_reports_milliseconds() -> None:
    found = solver_viersche.benchmark(cards=5, deals=5)
    assert 0 < found["mean_ms"] <= found["max_ms"]
