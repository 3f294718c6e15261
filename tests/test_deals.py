"""Deals given by hand: what they place, and every inconsistent one refused with nothing changed."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from helpers import Options, label, play_out, random_options, raw

from stich.envs import DealError, make_batch
from stich.envs.cards import HERZELN_DECK, SUITS, VIERSCHE_DECK
from stich.envs.deals import KEYS
from stich.envs.game import GAMES

every_game = pytest.mark.parametrize("game", GAMES)


def suits(deck: Any) -> list[list[str]]:
    """Each hand a whole suit: clubs, diamonds, hearts, spades."""
    return [[suit + rank for rank in deck.ranks] for suit in SUITS]


def swapped(hands: list[list[str]], one: str, other: str) -> list[list[str]]:
    """The hands with two cards changed for each other."""
    change = {one: other, other: one}
    return [[change.get(card, card) for card in hand] for hand in hands]


HERZELN_HANDS, VIERSCHE_HANDS = suits(HERZELN_DECK), suits(VIERSCHE_DECK)
HANDS = {"herzeln": HERZELN_HANDS, "viersche": VIERSCHE_HANDS}


def state_of(game: str, given: dict[str, Any], **options: Any) -> np.void:
    """The state after a reset with a deal."""
    env = raw(game, **options)
    env.reset(seed=1, options=given)
    return env.batch.states[0]


# --------------------------------------------------------------------------------------- what they place


@every_game
@pytest.mark.parametrize("form", ["names", "text", "numbers", "sets", "arrays", "by seat", "by agent"])
def test_hands_in_every_form(game: str, form: str) -> None:
    deck, names = GAMES[game].deck, HANDS[game]
    numbers = [[deck.parse(card) for card in hand] for hand in names]
    forms: dict[str, Any] = {
        "names": names,
        "text": [" ".join(hand).lower() for hand in names],
        "numbers": numbers,
        "sets": np.array([deck.as_set(hand) for hand in names]),
        "arrays": np.array(numbers, np.int8),
        "by seat": dict(enumerate(names)),
        "by agent": {f"player_{seat}": hand for seat, hand in enumerate(names)},
    }
    state = state_of(game, {"hands": forms[form], "dealer": 3})
    assert state["hands"].tolist() == [deck.as_set(hand) for hand in names]
    assert state["seat"] == 0


@every_game
@pytest.mark.parametrize("dealer", range(4))
def test_dealer(game: str, dealer: int) -> None:
    state = state_of(game, {"dealer": dealer})
    assert state["dealer"] == dealer
    if game == "viersche":
        assert state["seat"] == state["leader"] == (dealer + 1) % 4
        assert state["hands"][dealer] >> state["turn_up"] & 1


@pytest.mark.parametrize(
    ("players", "names"),
    [(4, ["none", "left", "right", "across"]), (3, ["none", "left", "right"]), (2, ["none"])],
)
def test_direction(players: int, names: list[str]) -> None:
    offsets = {"none": 0, "left": 1, "right": players - 1, "across": 2}
    for passing in ("cycle", "random"):
        for name in names:
            for given in (name, offsets[name]):
                state = state_of("herzeln", {"direction": given, "dealer": 0}, players=players, passing=passing)
                assert state["direction"] == offsets[name]
                assert state["phase"] == (name == "none")
                assert name == "none" or state["seat"] == 1


def test_totals() -> None:
    env = raw("herzeln")
    env.reset(seed=1, options={"scores": [99, 50, 0, 3]})
    assert env.batch.states["totals"][0].tolist() == [99, 50, 0, 3]
    play_out(env, random.Random(1))
    final = env.final_score()
    assert final.sum() >= 152 + 26
    assert final.max() >= 100


def test_totals_that_are_played_off() -> None:
    tie = {"scores": [100, 50, 50, 60]}
    state = state_of("herzeln", tie, tie="extra_deals")
    assert state["totals"].tolist() == tie["scores"]
    assert state["in_extra_deals"]
    with pytest.raises(DealError, match="over"):
        state_of("herzeln", tie)


def test_kitty() -> None:
    deck = HERZELN_DECK
    cards = [card for card in range(52) if card != deck.parse("SQ")]
    hands = [cards[seat::3] for seat in range(3)]
    options = {"players": 3, "three_players": "kitty"}
    for given in ({"hands": hands}, {"hands": hands, "kitty": "sq"}):
        assert state_of("herzeln", given, **options)["kitty"] == deck.parse("SQ")
    with pytest.raises(DealError, match="kitty='SK'"):
        state_of("herzeln", {"hands": hands, "kitty": "SK"}, **options)
    with pytest.raises(DealError, match="kitty"):
        state_of("herzeln", {"kitty": "SK"})


def test_hands_without_the_card_that_is_out() -> None:
    for drop, card in (("drop_diamond_two", "D2"), ("drop_club_two", "C2")):
        left = [name for hand in HERZELN_HANDS for name in hand if name != card]
        hands = [left[seat::3] for seat in range(3)]
        state = state_of("herzeln", {"hands": hands}, players=3, three_players=drop)
        assert HERZELN_DECK.names(sum(state["hands"].tolist())) == left
        wrong = [[card, *hands[0][1:]], *hands[1:]]
        with pytest.raises(DealError, match=f"{card} in the hand of seat 0 is not in play"):
            state_of("herzeln", {"hands": wrong}, players=3, three_players=drop)


def test_half() -> None:
    state = state_of("herzeln", {"hands": HERZELN_HANDS[2:], "dealer": 0}, players=2, two_players="half")
    assert state["hands"][:2].tolist() == [HERZELN_DECK.as_set(hand) for hand in HERZELN_HANDS[2:]]
    assert state["seat"] == 1


@pytest.mark.parametrize("card", ["SJ", "S6", 27])
def test_turn_up(card: Any) -> None:
    state = state_of("viersche", {"hands": VIERSCHE_HANDS, "dealer": 3, "turn_up": card, "trump": "S"})
    assert state["trump"] == 3
    assert state["turn_up"] == (card if isinstance(card, int) else VIERSCHE_DECK.parse(card))
    drawn = state_of("viersche", {"hands": VIERSCHE_HANDS, "dealer": 1})
    assert drawn["trump"] == 1
    assert drawn["turn_up"] // 9 == 1


@pytest.mark.parametrize("suit", SUITS)
def test_trump(suit: str) -> None:
    for trump in ("random", suit):
        state = state_of("viersche", {"trump": suit, "dealer": 0}, trump=trump)
        assert SUITS[state["trump"]] == suit
        assert state["turn_up"] == -1


def test_match_of_viersche() -> None:
    scores = {"carried": [60, 80], "rungs": [1, 2], "marks": [3, 0]}
    env = raw("viersche", episode="session", reward="result")
    env.reset(seed=1, options={"scores": scores})
    state = env.batch.states[0]
    assert {name: state[name].tolist() for name in scores} == scores
    assert state["second_deal"]
    play_out(env, random.Random(1))
    assert max(env.final_score()) >= 4


@every_game
def test_later_deals_are_drawn(game: str) -> None:
    env, other = raw(game, episode="deal"), raw(game, episode="deal")
    env.reset(seed=3, options={"hands": HANDS[game]})
    other.reset(seed=3)
    for one in (env, other):
        one.reset()
    assert env.batch.states.tobytes() == other.batch.states.tobytes()


# ------------------------------------------------------------------------------------------ what is refused

HERZELN_WRONG: list[tuple[Options, dict[str, Any], str]] = [
    ({}, {"hands": HERZELN_HANDS[:3]}, "3 hands"),
    ({}, {"hands": [HERZELN_HANDS[0][:-1], *HERZELN_HANDS[1:]]}, "seat 0 has 12 cards, not 13"),
    ({}, {"hands": [[*HERZELN_HANDS[0][:-1], "D2"], *HERZELN_HANDS[1:]]}, "D2 is in the hands of seats 0 and 1"),
    ({}, {"hands": [[*HERZELN_HANDS[0][:-1], "C2"], *HERZELN_HANDS[1:]]}, "C2 is named twice"),
    ({}, {"hands": [[*HERZELN_HANDS[0][:-1], "C1"], *HERZELN_HANDS[1:]]}, "no such card: 'C1'"),
    ({}, {"hands": [[*HERZELN_HANDS[0][:-1], 52], *HERZELN_HANDS[1:]]}, "no such card: 52"),
    ({}, {"hands": [[*HERZELN_HANDS[0][:-1], 1.5], *HERZELN_HANDS[1:]]}, "seat 0"),
    ({}, {"hands": [None, *HERZELN_HANDS[1:]]}, "seat 0"),
    ({}, {"hands": 7}, "hands=7"),
    ({}, {"hands": "C2 C3"}, "hands='C2 C3'"),
    ({}, {"hands": [-1, -1, -1, -1]}, "seat 0"),
    ({}, {"dealer": 4}, "dealer=4.*0 to 3"),
    ({}, {"dealer": "player_1"}, "dealer='player_1'"),
    ({}, {"dealer": True}, "dealer=True"),
    ({"players": 3}, {"dealer": 3}, "dealer=3.*0 to 2"),
    ({}, {"direction": "left"}, "direction='left'.*none"),
    ({"passing": "left"}, {"direction": "right"}, "direction='right'.*left"),
    ({"passing": "cycle", "players": 3}, {"direction": "across"}, "direction='across'"),
    ({"passing": "cycle"}, {"direction": 4}, "direction=4"),
    ({"passing": "cycle"}, {"direction": "sideways"}, "direction='sideways'"),
    ({}, {"scores": [1, 2, 3]}, "scores"),
    ({}, {"scores": [1, 2, 3, 100]}, "over"),
    ({}, {"scores": [1, 2, 3, 4.5]}, "scores"),
    ({}, {"scores": [1, 2, 3, 10**7]}, "scores"),
    ({}, {"scores": 5}, "scores"),
    ({}, {"scores": {"player_0": 4}}, "scores"),
    ({"episode": "deal"}, {"scores": [1, 2, 3, 4]}, "deal"),
    ({}, {"handz": HERZELN_HANDS}, "handz.*Did you mean 'hands'"),
    ({}, {"kitty": "C2"}, "kitty"),
]
VIERSCHE_WRONG: list[tuple[Options, dict[str, Any], str]] = [
    ({}, {"hands": HERZELN_HANDS}, "seat 0"),
    ({}, {"hands": swapped(VIERSCHE_HANDS, "C6", "C6")[:3]}, "3 hands"),
    ({}, {"hands": VIERSCHE_HANDS, "dealer": 0, "turn_up": "SJ"}, "turn_up='SJ'.*seat 0"),
    ({}, {"hands": VIERSCHE_HANDS, "dealer": 0, "turn_up": "S2"}, "turn_up='S2'"),
    ({}, {"hands": VIERSCHE_HANDS, "dealer": 0, "turn_up": 1.5}, "turn_up=1.5"),
    ({}, {"hands": VIERSCHE_HANDS, "dealer": 0, "trump": "S"}, "trump='S'"),
    ({}, {"hands": VIERSCHE_HANDS, "dealer": 0, "trump": ""}, "trump=''"),
    ({"trump": "random"}, {"turn_up": "S6"}, "turn_up='S6'.*'random'"),
    ({"trump": "random"}, {"trump": "X"}, "trump='X'.*C, D, H, S"),
    ({"trump": "H"}, {"trump": "S"}, "trump='S'.*H"),
    ({}, {"dealer": -1}, "dealer=-1"),
    ({}, {"scores": [0, 0]}, "carried, rungs, marks"),
    ({}, {"scores": {"carried": [100, 40]}}, "0 to 99"),
    ({}, {"scores": {"carried": [50, 50]}}, "140"),
    ({}, {"scores": {"rungs": [0, 4]}}, "1 to 4"),
    ({}, {"scores": {"rungs": [5, 4]}}, "1 to 4"),
    ({"rungs": 2}, {"scores": {"rungs": [3, 2]}}, "1 to 2"),
    ({}, {"scores": {"marks": [4, 0]}}, "0 to 3"),
    ({}, {"scores": {"marks": [1]}}, "2 whole numbers"),
    ({}, {"scores": {"points": [1, 1]}}, "points"),
    ({}, {"turnup": "S6"}, "Did you mean 'turn_up'"),
]
WRONG = [("herzeln", *case) for case in HERZELN_WRONG] + [("viersche", *case) for case in VIERSCHE_WRONG]


@pytest.mark.parametrize(("game", "options", "given", "message"), WRONG, ids=label)
def test_inconsistent_deal_changes_nothing(game: str, options: Options, given: dict[str, Any], message: str) -> None:
    env = raw(game, **options)
    env.reset(seed=1)
    env.step(int(env.batch.legal[0]).bit_length() - 1)
    before, record, agent = env.batch.states.tobytes(), env.record(), env.agent_selection
    for seed in (None, 5):
        with pytest.raises(DealError, match=message):
            env.reset(seed=seed, options=given)
    assert env.batch.states.tobytes() == before
    assert env.record() == record
    assert env.agent_selection == agent
    assert env.batch.seed == 1


@every_game
def test_foreign_key_only_warns(game: str) -> None:
    env = raw(game)
    with pytest.warns(UserWarning, match="ignored: unknown reset option 'colour'"):
        env.reset(seed=1, options={"colour": "red"})


@every_game
def test_no_mapping_is_refused(game: str) -> None:
    with pytest.raises(DealError, match="hands"):
        raw(game).reset(options=[("dealer", 1)])


# ---------------------------------------------------------------------------------------------- in batches


@every_game
def test_deals_of_lanes_as_mappings(game: str) -> None:
    deals = [{"dealer": lane % 4, "hands": HANDS[game]} for lane in range(5)]
    batch = make_batch(game, 5, deals=deals)
    assert batch.states["dealer"].tolist() == [0, 1, 2, 3, 0]
    assert len(np.unique(batch.states["hands"], axis=0)) == 1


@every_game
def test_deals_of_lanes_as_arrays(game: str) -> None:
    deck = GAMES[game].deck
    sets = np.array([[deck.as_set(hand) for hand in HANDS[game]]] * 3)
    for hands in (sets, np.array([[[deck.parse(card) for card in hand] for hand in HANDS[game]]] * 3)):
        batch = make_batch(game, 3, deals={"hands": hands, "dealer": np.array([2, 0, 1], np.int8)})
        assert np.array_equal(batch.states["hands"], sets)
        assert batch.states["dealer"].tolist() == [2, 0, 1]


def test_scores_of_lanes_as_arrays() -> None:
    totals = np.arange(12).reshape(3, 4)
    assert np.array_equal(make_batch("herzeln", 3, deals={"scores": totals}).states["totals"], totals)
    rungs = np.array([[1, 2], [3, 4], [4, 4]])
    batch = make_batch("viersche", 3, deals={"scores": {"rungs": rungs}, "turn_up": [None, None, None]})
    assert np.array_equal(batch.states["rungs"], rungs)


@every_game
def test_wrong_deal_of_a_lane_is_named(game: str) -> None:
    with pytest.raises(DealError, match=r"lane 1: dealer=7"):
        make_batch(game, 3, deals={"dealer": [0, 7, 0]})
    for wrong in ([{}], {"dealer": [1, 2]}, {"dealer": 1}, {"scores": {"rungs": [[4, 4]]}}):
        with pytest.raises(DealError, match=r"3|lanes"):
            make_batch(game, 3, deals=wrong)


@every_game
def test_any_drawn_deal_can_be_given(game: str) -> None:
    rng = random.Random(9)
    for seed in range(30):
        options = random_options(GAMES[game], rng)
        env = raw(game, **options)
        env.reset(seed=seed)
        state = env.batch.states[0].copy()
        deck, players = GAMES[game].deck, int(state["players"])
        given: dict[str, Any] = {"hands": [deck.names(hand) for hand in state["hands"][:players].tolist()]}
        given |= {name: int(state[name]) for name in KEYS[game] if name in ("dealer", "direction")}
        if game == "viersche":
            given |= {
                "trump": SUITS[state["trump"]],
                "turn_up": int(state["turn_up"]) if state["turn_up"] >= 0 else None,
            }
        env.reset(seed=seed, options=given)
        assert env.batch.states[0] == state
