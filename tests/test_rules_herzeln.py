"""The rule-based agent for Herzeln: legal under all options, and some of its ideas by card name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stich.agents.base import kernel_agent
from stich.agents.rules_herzeln import rules_herzeln
from stich.envs import herzeln
from stich.envs.cards import HERZELN_DECK, NO_SEAT
from stich.envs.game import get_game
from stich.envs.state import PASS, PLAY
from stich.training.match import play_deals

GAME = get_game("herzeln")
RULES = kernel_agent("rules", "herzeln", rules_herzeln)
CHOICES: dict[str, tuple[Any, ...]] = {
    "players": (2, 3, 4),
    "first_lead": herzeln.FIRST_LEADS,
    "passing": herzeln.PASSINGS,
    "moon": herzeln.MOONS,
    "three_players": herzeln.DROPS,
    "two_players": ("full", "half"),
    **dict.fromkeys(
        (
            "points_in_first_trick",
            "must_break_hearts",
            "queen_breaks_hearts",
            "hearts_instead_of_queen",
            "jack_of_diamonds",
            "no_trick_bonus",
        ),
        (False, True),
    ),
}


def position(hand: str, trick: str = "", played: str = "", taken: str = "", **fields: Any) -> np.ndarray:
    """A view [1] of seat 0 in the middle of a deal for four.

    Args:
        hand: The own cards.
        trick: The cards of the current trick, the last one by seat 3; none: seat 0 leads.
        played: Cards of earlier tricks.
        taken: Penalty cards that seat `taker` (default 1) took.
        fields: Other fields of the state.
    """
    cards = [HERZELN_DECK.parse(card) for card in trick.split()]
    state = np.zeros(1, herzeln.STATE)
    herzeln.set_options(state[0], herzeln.Options())
    herzeln.begin_deal(state[0])
    state["hands"][0, 0] = HERZELN_DECK.as_set(hand.split())
    state["played"][0, 2] = HERZELN_DECK.as_set(played.split() + taken.split() + trick.split())
    state["taken"][0, fields.pop("taker", 1)] = HERZELN_DECK.as_set(taken.split())
    state["phase"], state["observer"], state["seat"], state["broken"] = PLAY, 0, 0, True
    state["trick_number"], state["plays"] = 13 - len(hand.split()), 4 * (13 - len(hand.split())) + len(cards)
    state["leader"] = (4 - len(cards)) % 4
    for place, card in enumerate(cards):
        state["trick"][0, 4 - len(cards) + place] = card
    if cards:
        led = cards[0] // herzeln.RANKS
        state["best"] = max(card for card in cards if card // herzeln.RANKS == led)
        state["winner"] = 4 - len(cards) + cards.index(int(state["best"][0]))
    for name, value in fields.items():
        state[name] = value
    return state


def choice(view: np.ndarray) -> str:
    return HERZELN_DECK.name(int(RULES.act(view, np.zeros(1, np.uint64))[0]))


OPTIONS = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in CHOICES.items()})


@settings(max_examples=60, deadline=None)
@given(OPTIONS, st.integers(0, 10**6))
def test_legal_under_all_options(chosen: dict[str, Any], seed: int) -> None:
    """The batch refuses an illegal card, so playing the deals out is the test."""
    players = chosen["players"]
    drop = [f"{word}_players" for word, number in (("two", 2), ("three", 3)) if number != players]
    passing = chosen["passing"] if chosen["passing"] in herzeln.PASSING_FOR[players] else "none"
    chosen = {name: value for name, value in chosen.items() if name not in drop} | {"passing": passing}
    options = herzeln.Options(episode="deal", **chosen)
    seats = np.zeros((1, players), np.int64)
    play_deals(GAME, options, [RULES], seats, seed=seed, first_deal=0, deals=20)


def test_same_card_whatever_the_key() -> None:
    view = position("C2 C9 D5 D8 HK S3 SA")
    assert len({int(RULES.act(view, np.array([key], np.uint64))[0]) for key in range(20)}) == 1


@pytest.mark.parametrize(
    ("view", "card"),
    [
        # No points fall in the first trick, so the ace of clubs goes now, and the others stay home.
        (position("C3 C7 CA D2 D6 D9 H3 H5 S2 S4 S6 S8 S9", "C2 C5 C8"), "CA"),
        # A heart is in the trick: the highest card that stays under.
        (position("D3 D8 DK C4 S5", "D5 D9 H2"), "D8"),
        # Somebody plays the ace of spades: there goes the queen.
        (position("S4 S8 SQ D7 C5", "S5 SA S9"), "SQ"),
        # Last with no points in the trick: rid of the king, the queen being out.
        (position("S2 S7 SK D3 C3", "S4 S8 S9"), "SK"),
        # Void: the queen first, then high hearts.
        (position("SQ HK H4 C9", "D5 D9 D2"), "SQ"),
        (position("HK H4 C3 C2", "D5 D9 D2"), "HK"),
        # With ace and king of spades no spade is led while the queen is out.
        (position("SA SK C3 D4 D5"), "C3"),
    ],
)
def test_ideas(view: np.ndarray, card: str) -> None:
    assert choice(view) == card


def test_passes_the_bare_queen_and_keeps_the_guarded_one() -> None:
    rest = "C2 C3 C4 D2 D3 D4 H2 H3"
    assert choice(position(f"{rest} SQ SK HA C9 D9", phase=PASS, direction=1, leader=NO_SEAT)) == "SQ"
    assert choice(position("C9 CK D8 DJ DK HJ HK SQ S2 S3 S4 S5 S6", phase=PASS, direction=1, leader=NO_SEAT)) != "SQ"


def test_takes_a_heart_from_the_shooter() -> None:
    """Seat 1 has the queen and eight hearts; who takes one heart saves 26 points."""
    played = "S2 S3 S4 S5 S6 S7 S8 S9 S10 C2 C3 C4 C5 C6 C7 C8 C9"
    hearts = "SQ H2 H3 H4 H5 H6 H7 H8 H9"
    trick = "HJ H10 D3"
    view = position("HK D2 C10 CJ", trick, played, hearts)
    assert choice(view) == "HK"
    loose = position("D2 HK C10 CJ", "DK D9 D8", played, hearts)  # seat 1 takes this one
    assert choice(loose) == "D2"
    assert choice(position("HA C3 C10 CJ", "DK D9 D8", played.replace("C3 ", ""), hearts)) != "HA"


def test_gives_a_heart_to_another_than_the_shooter() -> None:
    played = "S2 S3 S4 S5 S6 S7 S8 S9 S10 C2 C3 C4 C5 C6 C7 C8 C9"
    view = position("H10 C10 CJ CA", "D9 DK D8", played, "SQ H2 H3 H4 H5 H6 H7 H8 H9")  # seat 2 takes this one
    assert choice(view) == "H10"


@pytest.mark.parametrize("seed", range(5))
def test_shoots_with_a_hand_that_cannot_lose(seed: int) -> None:
    """The tops of all suits in one hand: all penalty cards are taken, whatever the others hold."""
    strong = HERZELN_DECK.as_set(["CA", "CK", "CQ", "DA", "DK", "HA", "HK", "HQ", "HJ", "H10", "SA", "SK", "SQ"])
    rest = np.random.default_rng(seed).permutation([card for card in range(52) if not strong >> card & 1])
    state = np.zeros(1, herzeln.STATE)
    herzeln.set_options(state[0], herzeln.Options(episode="deal"))
    state["hands"][0] = [strong, *(HERZELN_DECK.as_set(map(int, part)) for part in np.split(rest, 3))]
    herzeln.begin_deal(state[0])
    while state["phase"][0] == PLAY:
        view = state.copy()
        herzeln.conceal(view[0], state["seat"][0])
        herzeln.play(state[0], int(RULES.act(view, np.zeros(1, np.uint64))[0]))
    assert state["moon_seat"][0] == 0
