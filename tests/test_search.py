"""Searchers: legal, reproducible, blind to what is hidden, and better than the policy they search with."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from helpers import play_on
from test_commands import run

from stich.agents import load_agent
from stich.agents.pimc import ISMCTS, own_card
from stich.agents.search import candidates
from stich.envs import HERZELN, VIERSCHE, OptionError, make_batch
from stich.envs.game import GAMES
from stich.training.match import make_design, owners_of, play_match

NAMES = [
    "pimc:worlds=4",
    "pimc:worlds=3,exact=4,caution=0",
    "pimc:worlds=3,weigh=rules,surplus=6",
    "ismcts:iterations=20",
]


def midgame(game: str, steps: int, lanes: int = 6, **options: Any) -> Any:
    """A batch some random cards into its deals."""
    batch = make_batch(game, lanes, episode="deal", seed=3, **options)
    play_on(batch, np.random.default_rng(1), steps)
    return batch


@pytest.mark.parametrize("game", list(GAMES))
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("steps", [0, 9, 25])
def test_searchers_play_legal_cards_whatever_else_is_asked(game: str, name: str, steps: int) -> None:
    batch = midgame(game, steps, **({"preset": "hearts"} if game == "herzeln" else {}))
    agent, views, keys = load_agent(name, game=game), batch.views, batch.keys()
    cards = agent.act(views, keys)
    assert batch.action_mask[np.arange(6), cards].all()
    np.testing.assert_array_equal(cards, load_agent(name, game=game).act(views, keys))
    np.testing.assert_array_equal(cards[2:5], agent.act(views[2:5], keys[2:5]))


@pytest.mark.parametrize(
    "options", [{"players": 2}, {"players": 3, "three_players": "kitty"}, {"players": 2, "two_players": "half"}]
)
def test_searchers_play_with_every_number_of_players(options: dict[str, Any]) -> None:
    batch = midgame("herzeln", 12, **options)
    for name in NAMES:
        cards = load_agent(name).act(batch.views, batch.keys())
        assert batch.action_mask[np.arange(6), cards].all()


def test_tree_search_shares_its_descents_among_the_candidates() -> None:
    batch = midgame("viersche", 9)
    agent, view, key = ISMCTS(VIERSCHE, iterations=200), batch.views[:1], np.uint64(5)
    cards = candidates(VIERSCHE, view[0], int(batch.legal[0]))
    visits, gain, error = agent.gains(view, cards, key)
    assert len(cards) > 1 and visits.sum() == 200 and (visits > 0).all()
    own = own_card(agent.policy, view, cards, key)
    assert visits[own] == visits.max() or gain[own] < gain.max()
    assert (np.abs(gain) <= 2).all() and (error >= 0).all()


def test_a_tree_of_the_policy_alone_gains_nothing() -> None:
    """The luck of the worlds falls on no card: the first descent is what the policy plays anyway."""
    batch, agent, key = midgame("herzeln", 9), ISMCTS(HERZELN, iterations=1), np.uint64(5)
    same = 0
    for view, legal in zip(batch.views[:, None], batch.legal, strict=True):
        cards = candidates(HERZELN, view[0], int(legal))
        visits, gain, _ = agent.gains(view, cards, key)
        own = own_card(agent.policy, view, cards, key)
        assert visits.tolist() == [int(place == own) for place in range(len(cards))]
        if cards[own] == agent.policy.act(view, np.array([key], np.uint64))[0]:
            same += 1
            np.testing.assert_array_equal(gain, 0)
    assert same > 0


def test_cards_worth_the_same_are_tried_once() -> None:
    hands = ["C2 C3 C4 CA HK HA SQ SK SA D2 D3 D4 D5", "C5 C6 C7 C8 C9 CT CJ CQ CK H2 H3 H4 H5"]
    hands += ["D6 D7 D8 D9 DT DJ DQ DK DA H6 H7 H8 H9", "S2 S3 S4 S5 S6 S7 S8 S9 ST SJ HT HJ HQ"]
    batch = make_batch("herzeln", 1, episode="deal", deals=[{"hands": hands, "dealer": 0}], first_lead="any_club")
    names = HERZELN.deck.name
    assert [names(card) for card in candidates(HERZELN, batch.views[0], int(batch.legal[0]))] == ["C2", "CA"]
    spades = HERZELN.deck.as_set(["SQ", "SK", "SA", "HK", "HA", "D2", "D3"])
    assert [names(card) for card in candidates(HERZELN, batch.views[0], spades)] == ["D2", "HK", "SQ", "SK"]


def test_points_keep_cards_of_viersche_apart() -> None:
    batch = make_batch("viersche", 1, episode="deal", trump="C", seed=1)
    view = batch.views[0]
    view["hands"][view["observer"]] = VIERSCHE.deck.as_set(["H6", "H7", "H8", "H9", "H10", "HJ"])
    found = candidates(VIERSCHE, view, int(view["hands"][view["observer"]]))
    assert [VIERSCHE.deck.name(card) for card in found] == ["H6", "H10", "HJ"]


@pytest.mark.parametrize("game", list(GAMES))
@pytest.mark.parametrize("name", ["pimc:worlds=12", "ismcts:iterations=100"])
def test_search_beats_random_play_with_random_play_outs(game: str, name: str) -> None:
    """The search alone makes a player of what knows nothing."""
    agents = [load_agent(f"{name},rollout=random,caution=0", game=game), load_agent("random", game=game)]
    found = GAMES[game]
    owners = owners_of(make_design(found, 4, 2).seatings, 0, 10, "swapped")
    played = play_match(found, found.options(episode="deal"), agents, owners, seed=5, first_deal=0)
    assert played.payoff[owners == 0].mean() > 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pimc:wrlds=3", "unknown key of pimc 'wrlds'. Did you mean 'worlds'"),
        ("pimc:worlds=many", "pimc: worlds='many' is not valid. Valid: int"),
        ("pimc:worlds=0", "worlds=0"),
        ("pimc:weigh=rules,surplus=0", "surplus=0.* is not valid. Valid: worlds and surplus from 1"),
        ("pimc:rollout=greedy", "unknown herzeln policy 'greedy'"),
        ("pimc:weigh=rulse", "unknown herzeln agent 'rulse'. Did you mean 'rules'"),
        ("ismcts:iterations=0", "iterations=0"),
    ],
)
def test_wrong_searchers(name: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        load_agent(name)


ONE_SUIT_EACH = " / ".join(" ".join(suit + rank for rank in HERZELN.deck.ranks) for suit in "CDHS")


def test_solve_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("solve", "--deal", ONE_SUIT_EACH) == 0
    assert "yes" in capsys.readouterr().out  # all clubs: nobody else is ever on lead
    for game, rows in (("herzeln", 4 * 4), ("viersche", 4)):
        words = ["--random", "4", "--nodes", "20000", "--processes", "1", "--out", str(tmp_path / game)]
        assert run("solve", "--game", game, *words) == 0
        found = pl.read_parquet(tmp_path / game / "solved.parquet")
        assert len(found) == rows
    assert (found["low"] <= found["high"]).all()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "nothing to solve, or two things. Valid: --deal"),
        (["--deal", "CA / DA"], "2 hands given for 4 players"),
        (["--random", "3", "targt=4"], "unknown option 'targt'. Did you mean 'target'"),
    ],
)
def test_nothing_to_solve(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("solve", *words) == 2
    assert message in " ".join(capsys.readouterr().err.split())
