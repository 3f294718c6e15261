"""The exact solvers of Herzeln against plain search over the rules' kernels, on random endings under all options."""

from __future__ import annotations

import random
from typing import Any

import numba
import numpy as np
import pytest
from helpers import many, random_options, same_records

from stich.agents import solver_moon
from stich.agents.solver_herzeln import ILLEGAL, endings, max_n, paranoid, two_player
from stich.agents.solver_moon import NO, UNDECIDED, YES, biased_deals, moon
from stich.envs.bits import lowest
from stich.envs.cards import HERZELN_DECK, NO_CARD, NO_SEAT
from stich.envs.game import get_game
from stich.envs.herzeln import ALL_HEARTS, JACK, KITTY, PENALTY, QUEEN, STATE, legal, play
from stich.envs.state import DEAL_OVER, PLAY

GAME = get_game("herzeln")
SETS = {"random": 0.0, "biased": 3.0, "more biased": 6.0}

# The referees: no table, no bounds, no merging. Recursion is compiled anew each time, as numba can't cache it.


@numba.njit
def pay(state: Any, seat: int) -> float:
    """The payoff of a seat in the deal that is over."""
    others = 0.0
    for other in range(state.players):
        if other != seat:
            others += state.score[other] / (state.players - 1)
    return others - state.score[seat]


@numba.njit
def plain(frames: Any, depth: int, asked: int, moon_only: bool, out: Any) -> int:
    """Write everybody's payoff into out[depth]; returns the card chosen: the lowest of the best.

    Everybody is for itself, or (a seat is asked for) all others against that one. With `moon_only` there is nothing
    to get but the moon of the seat asked for, 1 or 0.
    """
    state, chosen = frames[depth], NO_CARD
    lost = False
    for seat in range(state.players):
        out[depth, seat] = 0.0
        lost = lost or (moon_only and seat != asked and state.taken[seat] & PENALTY != 0)
        if state.phase >= DEAL_OVER:
            out[depth, seat] = state.moon_seat == seat if moon_only else pay(state, seat)
    cards = 0 if lost else legal(state)
    whose, sign = (state.seat, 1) if asked == NO_SEAT else (asked, 1 if asked == state.seat else -1)
    while cards:
        card = lowest(cards)
        frames[depth + 1] = frames[depth]
        play(frames[depth + 1], card)
        cards &= cards - 1
        plain(frames, depth + 1, asked, moon_only, out)
        if chosen == NO_CARD or sign * out[depth + 1, whose] > sign * out[depth, whose] + 1e-6:
            chosen = card
            out[depth] = out[depth + 1]
        if moon_only and out[depth, asked] == (sign == 1):
            return chosen
    return chosen


FRAMES, PAYOFFS = np.zeros(60, STATE), np.zeros((60, 4))


def referee(state: np.ndarray, asked: int, moon_only: bool = False) -> int:
    """Plain search from a state [1]; see `plain`. The payoffs are in PAYOFFS[0]."""
    FRAMES[0] = state[0]
    return plain(FRAMES, 0, asked, moon_only, PAYOFFS)


def plain_paranoid(state: np.ndarray, seat: int) -> float:
    """The payoff of a seat against all others."""
    referee(state, seat)
    return PAYOFFS[0, seat]


def legal_now(state: np.ndarray) -> list[int]:
    """The legal cards of a state [1]."""
    return HERZELN_DECK.in_set(solver_moon.step(state, NO_CARD, 0)[0])


def ending(rng: random.Random, strength: float, left: int, **fixed: Any) -> tuple[np.ndarray, int]:
    """A state [1] with at most `left` cards a hand and a seat, which mostly has the penalty cards that are gone."""
    options = random_options(GAME, rng, **fixed)
    states, seats = biased_deals(strength, 1, rng.randrange(1 << 30), **options)
    state, shooter, players = states[0], int(seats[0]), int(states["players"][0])
    for seat in range(players):
        hand = HERZELN_DECK.in_set(int(state["hands"][seat]))
        kept = HERZELN_DECK.as_set(rng.sample(hand, left))
        state["played"][seat] = state["hands"][seat] & ~kept
        state["hands"][seat] = kept
    taker = shooter if rng.random() < 0.9 else rng.randrange(players)
    state["taken"][taker] = int(np.bitwise_or.reduce(state["played"])) & (PENALTY | 1 << JACK)
    state["leader"] = state["seat"] = shooter if rng.random() < 0.6 else rng.randrange(players)
    if rng.random() < 0.3:
        state["hand_size"] = left
    else:
        start_later(rng, state, left, taker)
    for _ in range(rng.randrange(players + 1)):
        solver_moon.step(states, rng.choice(legal_now(states)), 0)
    return states, shooter


def start_later(rng: random.Random, state: Any, left: int, taker: int) -> None:
    """Not the first trick: who took those before, and whether hearts are broken."""
    players = int(state["players"])
    state["trick_number"] = int(state["hand_size"]) - left
    state["plays"] = int(state["trick_number"]) * players
    for _ in range(int(state["trick_number"])):
        state["tricks"][taker if rng.random() < 0.7 else rng.randrange(players)] += 1
    state["broken"] = rng.random() < 0.5
    if int(state["three_players"]) == KITTY:
        state["first_winner"] = taker if int(state["tricks"][taker]) else int(np.argmax(state["tricks"]))


def most_cards(players: int, rng: random.Random) -> int:
    """So many that plain search is quick."""
    return rng.randint(1, {2: 5, 3: 4, 4: 3}[players])


@pytest.mark.parametrize("name", SETS)
def test_moon_is_what_plain_search_finds(name: str) -> None:
    rng = random.Random(name)
    found = {NO: 0, YES: 0}
    for _ in range(many(120, 2000)):
        state, shooter = ending(rng, SETS[name], rng.randint(2, 5))
        if state["phase"][0] != PLAY:
            continue
        answer = moon(state, shooter)
        referee(state, shooter, moon_only=True)
        assert answer.forced[0] == PAYOFFS[0, shooter], state
        found[int(answer.forced[0])] += 1
    assert name == "random" or found[YES] > 0.15 * found[NO]
    assert found[NO] > 10


def test_lines_get_where_the_answer_says() -> None:
    rng = random.Random("lines")
    ends = {NO: 0, YES: 0}
    for _ in range(many(30, 300)):
        state, shooter = ending(rng, rng.choice([1.0, 5.0]), rng.randint(2, 8))
        if state["phase"][0] != PLAY:
            continue
        answer = moon(state, shooter, line=True)
        assert answer.lines is not None
        replayed = replay(state, answer.lines[0])
        assert solver_moon.step(replayed, NO_CARD, shooter)[1] == answer.forced[0]
        if replayed["phase"][0] >= DEAL_OVER:
            assert (replayed["moon_seat"][0] == shooter) == (answer.forced[0] == YES)
        ends[int(answer.forced[0])] += len(answer.lines[0]) > 0
    assert ends[NO] and ends[YES], ends


def replay(state: np.ndarray, cards: list[int]) -> np.ndarray:
    """The state [1] after some cards, each of which must be legal."""
    after = state.copy()
    for card in cards:
        assert card in legal_now(after)
        solver_moon.step(after, card, 0)
    return after


def test_a_winning_line_of_a_whole_deal_ends_with_the_moon() -> None:
    states, seats = biased_deals(6.0, 12, 3)
    answer = moon(states, seats, line=True)
    assert answer.lines is not None
    assert (answer.forced == YES).any() and (answer.forced == NO).any()
    for i, line in enumerate(answer.lines):
        after = replay(states[i : i + 1], line)
        others = np.delete(after["taken"][0], int(seats[i]))
        assert (after["taken"][0, seats[i]] & PENALTY == PENALTY) == (answer.forced[i] == YES)
        assert ((others & PENALTY) != 0).any() == (answer.forced[i] == NO)


def test_a_deal_at_random_is_no_moon_and_the_answer_does_not_depend_on_the_company() -> None:
    states, seats = biased_deals(3.0, 40, 5)
    together = moon(states, seats)
    order = np.random.default_rng(0).permutation(len(states))
    again = moon(states[order], seats[order])
    assert np.array_equal(together.forced[order], again.forced)
    assert np.array_equal(together.nodes[order], again.nodes)
    assert (moon(*biased_deals(0.0, 60, 5)).forced == NO).all()


def test_a_capped_search_is_right_or_undecided() -> None:
    states, seats = biased_deals(4.0, 60, 1)
    whole = moon(states, seats)
    seen = set()
    for cap in (1, 30, 1000):
        capped = moon(states, seats, nodes=cap)
        seen |= set(capped.forced.tolist())
        assert (capped.nodes <= cap + 1).all()
        assert ((capped.forced == whole.forced) | (capped.forced == UNDECIDED)).all()
    assert seen == {NO, YES, UNDECIDED}


@pytest.mark.parametrize("players", [2, 3, 4])
def test_paranoid_is_what_plain_search_finds(players: int) -> None:
    rng = random.Random(players)
    for _ in range(many(50, 700)):
        state, seat = ending(rng, rng.choice([0.0, 3.0]), most_cards(players, rng), players=players)
        if state["phase"][0] != PLAY:
            continue
        seat = rng.choice([seat, int(state["seat"][0])])
        exact = plain_paranoid(state, seat)
        found, detailed = paranoid(state, seat), paranoid(state, seat, cards=True)
        assert found.lower[0] == pytest.approx(exact) and found.upper[0] == pytest.approx(exact)
        assert detailed.lower[0] == pytest.approx(exact) and detailed.upper[0] == pytest.approx(exact)
        assert detailed.card_values is not None
        check_cards(state, seat, detailed.card_values[0])
        if players == 2:
            game = two_player(state)
            sign = 1 if seat == int(state["seat"][0]) else -1
            assert game.lower[0] == game.upper[0] == pytest.approx(sign * exact)


def check_cards(state: np.ndarray, seat: int, values: np.ndarray) -> None:
    """Each legal card's value is the plain one of the state after it."""
    legal_cards = legal_now(state)
    assert (np.delete(values, legal_cards) == ILLEGAL).all()
    for card in legal_cards:
        assert values[card] == pytest.approx(plain_paranoid(replay(state, [card]), seat))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_max_n_is_what_plain_search_finds(players: int) -> None:
    rng = random.Random(players)
    for _ in range(many(50, 700)):
        state, _ = ending(rng, rng.choice([0.0, 3.0]), most_cards(players, rng), players=players)
        if state["phase"][0] != PLAY:
            continue
        card = referee(state, NO_SEAT)
        found = max_n(state)
        assert found.cards[0] == card
        assert found.payoffs[0, :players] == pytest.approx(PAYOFFS[0, :players])
        assert np.nanmax(found.card_values[0]) == pytest.approx(PAYOFFS[0, int(state["seat"][0])])
        assert (found.payoffs[0, players:] == 0).all()


def test_a_sure_moon_is_worth_the_moon() -> None:
    rng = random.Random("worth")
    sure = 0
    while sure < many(15, 200):
        state, shooter = ending(rng, 6.0, rng.randint(2, 5), jack_of_diamonds=False)
        if state["phase"][0] == PLAY and moon(state, shooter).forced[0] == YES:
            found = paranoid(state, shooter)
            assert found.lower[0] == found.upper[0] == points_in_play(state)
            sure += 1


def points_in_play(state: np.ndarray) -> int:
    """The points of all hearts and the queen of spades that were dealt."""
    dealt = int(np.bitwise_or.reduce(state["hands"][0] | state["played"][0]))
    cards = dealt & PENALTY if state["half"][0] else PENALTY
    return (cards & ALL_HEARTS).bit_count() + (13 if cards >> QUEEN & 1 else 0)


@pytest.mark.parametrize("options", [{}, {"players": 2}, {"players": 3, "jack_of_diamonds": True}])
def test_bounds_under_a_cap_hold_the_value(options: dict[str, Any]) -> None:
    states = endings(5, many(20, 200), 4, strength=2.0, **options)
    exact = paranoid(states, 0)
    assert np.array_equal(exact.lower, exact.upper)
    open_left = 0
    for cap in (1, 20, 100, 1000):
        capped = paranoid(states, 0, nodes=cap)
        assert (capped.lower <= exact.lower).all() and (capped.upper >= exact.upper).all()
        open_left += (capped.lower < capped.upper).sum()
    assert open_left
    none = max_n(states, nodes=1)
    assert np.isnan(none.payoffs[:, 0]).all() and (none.cards == NO_CARD).all()


def test_solvers_leave_the_states_alone_and_refuse_views() -> None:
    states = endings(3, 4, 1)
    before = states.copy()
    moon(states, 0, line=True)
    paranoid(states, 1, cards=True)
    max_n(states)
    assert same_records(states, before)
    views = np.zeros(len(states), STATE)
    GAME.lanes.view(states, states["seat"], views)
    for solve in (lambda: moon(views, 0), lambda: paranoid(views, 0), lambda: max_n(views)):
        with pytest.raises(ValueError, match="full states"):
            solve()
    with pytest.raises(ValueError, match="two players"):
        two_player(states)
