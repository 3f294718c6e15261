"""Intervals, sequential rules and ratings: what they promise is measured."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from helpers import NIGHTLY, many

from stich.agents import load_agent
from stich.envs import HERZELN
from stich.training.match import gauntlet, make_design, owners_of, play_match
from stich.training.ratings import additive, alpha_rank, bradley_terry, cycles, nash_average, openskill
from stich.training.statistics import (
    Stop,
    confidence_sequence,
    control_variate,
    deals_to_separate,
    interval,
    resampled,
)

DEALS = 200  # of a simulated match


@functools.cache
def equal_payoffs() -> np.ndarray:
    """Payoffs f64[D] of one of two random agents, head-to-head in one seating and its swap: 0 on average."""
    agents, rules = [load_agent("random")] * 2, HERZELN.options("hearts", episode="deal")
    seatings = make_design(HERZELN, 4, 2).seatings
    found = []
    for first in range(0, many(4000, 200_000), 2000):
        owners = owners_of(seatings, first, 2000, "swapped")
        played = play_match(HERZELN, rules, agents, owners, seed=11, first_deal=first)
        found.append((played.payoff * (owners == 0)).sum((1, 2)) / 4)
    return np.concatenate(found)


def simulated_matches(count: int) -> np.ndarray:
    """Payoffs f64[count, DEALS] of matches between equal agents: all played by night, otherwise drawn from a pool."""
    pool = equal_payoffs()
    if NIGHTLY:
        return pool[: count * DEALS].reshape(count, DEALS)
    draws = np.random.default_rng(3).choice(pool - pool.mean(), (count, DEALS))
    return draws


def test_bootstrap_intervals_hold_the_truth() -> None:
    matches = simulated_matches(1000)
    draws = many(300, 1000)
    held = 0
    for number, values in enumerate(matches):
        low, high = interval(resampled(values, draws, seed=number))
        held += low <= 0 <= high
    assert 930 <= held <= 970


def test_sequential_rule_holds_the_truth() -> None:
    """Looked at after every deal, and ended by either rule: the interval at the end still holds 0."""
    matches = simulated_matches(1000)
    for stop in (Stop(separate=True), Stop(precision=0.9), Stop(separate=True, precision=0.5)):
        held = 0
        for values in matches:
            end = stop.after(values) or len(values)
            half = confidence_sequence(values[:end], stop.level)[-1]
            held += abs(values[:end].mean()) <= half
        assert held >= 950


def test_sequential_rule_is_the_same_however_often_one_looks() -> None:
    values = np.random.default_rng(0).normal(0.5, 1, 1000)
    stop = Stop(separate=True)
    end = stop.after(values)
    assert end is not None
    assert 50 <= end < 1000
    assert stop.after(values[: end - 1]) is None
    assert stop.after(values[:end]) == end
    assert Stop().after(values) is None


def test_bootstrap_is_reproducible_and_paired() -> None:
    values = np.random.default_rng(1).normal(size=(100, 2))
    values[:, 1] = values[:, 0] + 1
    one, again = (resampled(values, 50, seed=4) for _ in range(2))
    np.testing.assert_array_equal(one, again)
    np.testing.assert_allclose(one[:, 1] - one[:, 0], 1)
    assert (resampled(values, 50, seed=5) != one).any()


def test_deals_to_separate() -> None:
    """With as many deals as it says, about four studies of five find the difference."""
    rng = np.random.default_rng(2)
    needed = round(deals_to_separate(rng.normal(0.5, 2, 100_000)))
    studies = rng.normal(0.5, 2, (2000, needed))
    z = studies.mean(1) / (studies.std(1, ddof=1) / np.sqrt(needed))
    assert 0.76 < (z > 1.96).mean() < 0.84


def test_control_variate_keeps_the_mean_and_narrows() -> None:
    rng = np.random.default_rng(0)
    luck = rng.normal(size=5000)
    values = 0.3 + 2 * luck + rng.normal(size=5000)
    adjusted = control_variate(values, luck)
    assert abs(adjusted.mean() - 0.3) < 0.05
    assert adjusted.std() < 0.5 * values.std()
    np.testing.assert_array_equal(control_variate(values, np.zeros(5000)), values)
    np.testing.assert_array_equal(control_variate(values, np.full(5000, np.nan)), values)


def test_paired_gauntlet_seats_one_against_the_field() -> None:
    assert gauntlet(HERZELN, 4).seatings.tolist() == [[0, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]


@pytest.mark.parametrize("rotation", ["swapped", "one"])
def test_rotations_are_balanced(rotation: str) -> None:
    seatings = make_design(HERZELN, 4, 2).seatings
    owners = owners_of(seatings, 5, 60, rotation)
    assert owners.shape[1] == (2 if rotation == "swapped" else 1)
    assert (owners.mean((0, 1)) == 0.5).all()
    if rotation == "swapped":
        np.testing.assert_array_equal(owners[:, 0], 1 - owners[:, 1])
    np.testing.assert_array_equal(owners_of(seatings, 8, 3, rotation), owners[3:6])


def test_additive_ratings_are_least_squares() -> None:
    truth = np.array([1.0, 0.5, -1.5])
    np.testing.assert_allclose(additive(truth[:, None] - truth), truth, atol=1e-9)
    unmet = truth[:, None] - truth
    unmet[0, 2] = unmet[2, 0] = np.nan
    np.testing.assert_allclose(additive(unmet), truth, atol=1e-9)


def test_bradley_terry_recovers_odds() -> None:
    strength = np.array([0.7, 0.0, -0.7])
    odds = 1 / (1 + np.exp(-(strength[:, None] - strength)))
    wins = 1e6 * odds * (1 - np.eye(3))
    np.testing.assert_allclose(bradley_terry(wins), strength, atol=1e-3)
    always = np.array([[0, 10.0], [0, 0]])
    assert np.isfinite(bradley_terry(always)).all()


def test_openskill_orders_agents() -> None:
    ratings = openskill([(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)] * 20, 3)
    assert ratings[0, 0] > ratings[1, 0] > ratings[2, 0]


ROCK_PAPER_SCISSORS = np.array([[0, -1, 1], [1, 0, -1], [-1, 1, 0]], float)


def test_meta_game_of_rock_paper_scissors() -> None:
    np.testing.assert_allclose(nash_average(ROCK_PAPER_SCISSORS), 1 / 3, atol=1e-4)
    np.testing.assert_allclose(alpha_rank(ROCK_PAPER_SCISSORS), 1 / 3, atol=1e-3)
    assert cycles(ROCK_PAPER_SCISSORS) == [(0, 2, 1)]
    assert cycles(np.array([[0, 1, 1], [-1, 0, 1], [-1, -1, 0]], float)) == []


def test_nash_average_ignores_the_weak_and_splits_copies() -> None:
    weak = np.zeros((4, 4))
    weak[:3, :3] = ROCK_PAPER_SCISSORS
    weak[:3, 3], weak[3, :3] = 1, -1
    np.testing.assert_allclose(nash_average(weak), [1 / 3, 1 / 3, 1 / 3, 0], atol=1e-4)
    copies = ROCK_PAPER_SCISSORS[np.ix_([0, 0, 1, 2], [0, 0, 1, 2])]
    np.testing.assert_allclose(nash_average(copies), [1 / 6, 1 / 6, 1 / 3, 1 / 3], atol=1e-3)
