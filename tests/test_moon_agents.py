"""Agents with an attitude to the moon, and what a seat can count about it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stich.agents import load_agent
from stich.agents.moon_features import FEATURES, WIDTH, column, moon_features, promising
from stich.envs import HERZELN, OptionError, make_batch
from stich.training.match import gauntlet, owners_of, play_match

SURE = "SA SK SQ SJ S10 HA HK HQ HJ H10 H9 H8 CA"
"""Spades and hearts from the top: no defence takes a penalty card from it once it is on lead."""
HOPELESS = "C3 C5 C7 C9 D3 D5 D7 D9 S3 S5 S7 H2 H4"


def sure_deal(lanes: int = 1) -> Any:
    """Seat 0 holds SURE and three small cards less: the rest lies evenly, seat 1 leads the two of clubs."""
    deck = HERZELN.deck
    own = SURE.split()
    rest = [deck.name(card) for card in range(52) if deck.name(card) not in own]
    hands = [own, rest[0::3], rest[1::3], rest[2::3]]
    return make_batch("herzeln", lanes, episode="deal", autoreset="disabled", deals=[{"hands": hands}] * lanes)


def played(agent: Any, opponent: str, deals: int = 300, **options: Any) -> Any:
    rules = HERZELN.options(episode="deal", **options)
    owners = owners_of(gauntlet(HERZELN, rules.players).seatings, 0, deals)
    found = play_match(HERZELN, rules, [agent, load_agent(opponent)], owners, seed=3, first_deal=0)
    return found.events[owners == 0][:, 1].mean(), found.payoff_of(0).mean()


@pytest.mark.parametrize("players", [2, 3, 4])
def test_who_always_goes_for_the_moon_makes_more(players: int) -> None:
    moons = [played(load_agent("rules", aim=aim), "duck", players=players)[0] for aim in ("never", "free", "always")]
    assert moons[0] < 0.03 if players > 2 else moons[0] < 0.2
    assert moons[0] < moons[1] < moons[2]


def test_free_is_rules_itself() -> None:
    assert load_agent("rules", aim="free") is load_agent("rules")
    assert load_agent("rules:aim=always,defend=false") is load_agent("rules", aim="always", defend=False)


def test_defence_stops_moons() -> None:
    shooter = load_agent("rules", aim="always")
    rules = HERZELN.options("hearts", episode="deal")
    owners = owners_of(gauntlet(HERZELN, 4).seatings, 0, 1000)
    moons = []
    for defend in (True, False):
        agents = [shooter, load_agent("rules", defend=defend)]
        found = play_match(HERZELN, rules, agents, owners, seed=1, first_deal=0)
        moons.append(found.events[owners == 0][:, 1].mean())
    assert moons[0] < moons[1] - 0.02


@pytest.mark.parametrize("name", ["rules", "moon:worlds=5"])
def test_a_sure_hand_shoots_the_moon(name: str) -> None:
    for aim in ("always", "free"):
        batch, shooter, others = sure_deal(), load_agent(name, aim=aim), load_agent("rules")
        while batch.running[0]:
            agent = shooter if batch.seat[0] == 0 else others
            batch.step(agent.act(batch.views, batch.keys()))
        assert batch.states["moon_seat"][0] == 0


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("rules", {"aim": "alwys"}, "unknown option aim of rules: 'alwys'. Did you mean 'always'"),
        ("rules", {"defend": 1}, "option defend=1 of rules is not valid. Valid: True, False"),
        ("rules", {"aimm": "free"}, "unknown option of rules: 'aimm'. Did you mean 'aim'"),
        ("rules:aimm=free", {}, "unknown key of rules 'aimm'. Did you mean 'aim'"),
        ("rules:defend=maybe", {}, "rules: defend='maybe' is not valid. Valid: true_or_false"),
        ("duck", {"aim": "free"}, "agent 'duck' takes no options, got aim"),
        ("moon:aim=alwys", {}, "unknown option aim of moon: 'alwys'. Did you mean 'always'"),
        ("moon:world=3", {}, "unknown key of moon 'world'. Did you mean 'worlds'"),
        ("moon:worlds=0", {}, "moon:worlds=0 is not valid. Valid: from 1"),
    ],
)
def test_wrong_attitudes(name: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as error:
        load_agent(name, **options)
    assert str(error.value).startswith(message)


def test_no_moon_in_viersche() -> None:
    with pytest.raises(OptionError, match="no moon in viersche"):
        load_agent("moon:worlds=3", "viersche")


def test_features_of_known_hands() -> None:
    batch = sure_deal()
    row = dict(zip(FEATURES, moon_features(batch.view(np.zeros(1, np.int8)))[0], strict=True))
    assert len(row) == WIDTH
    expected = {"cards": 13, "hearts": 7, "spades": 5, "longest": 7, "second": 5, "voids": 1, "aces": 3, "kings": 2}
    expected |= {"queens": 2, "top_hearts": 7, "top_cards": 13, "heart_losers": 0, "other_losers": 0, "low_cards": 0}
    expected |= {"queen_held": 1, "queen_guarded": 1, "queen_taken": 0, "hearts_out": 6, "leads": 0, "possible": 1}
    assert {name: row[name] for name in expected} == expected
    assert promising(moon_features(batch.view(np.zeros(1, np.int8))))[0]


def test_features_know_no_more_than_the_seat() -> None:
    """The same view under other hidden cards gives the same features."""
    batch = make_batch("herzeln", 50, preset="hearts", episode="deal", seed=2)
    seats = batch.seat.copy()
    before = moon_features(batch.view(seats))
    states, lanes = batch.states, np.arange(50)
    left, right = (seats + 1) % 4, (seats + 2) % 4
    hands = states["hands"][lanes, left].copy()
    states["hands"][lanes, left] = states["hands"][lanes, right]
    states["hands"][lanes, right] = hands
    np.testing.assert_array_equal(moon_features(batch.view(seats)), before)


def test_another_penalty_card_ends_the_hope() -> None:
    batch = sure_deal()
    batch.states["taken"][0, 2] = 1 << HERZELN.deck.parse("H2")
    row = moon_features(batch.view(np.zeros(1, np.int8)))
    assert row[0, column("possible")] == 0 and not promising(row)[0]
