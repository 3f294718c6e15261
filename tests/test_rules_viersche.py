"""The rule-based agent of Viersche: always legal, and the playing ideas in scripted positions."""

from __future__ import annotations

import random
from itertools import islice
from typing import Any

import numpy as np
import pytest

from stich.agents.base import kernel_agent
from stich.agents.rules_viersche import rules_viersche
from stich.envs import make_batch
from stich.envs.cards import VIERSCHE_DECK

RULES = kernel_agent("rules", "viersche", rules_viersche)
DECK = [VIERSCHE_DECK.name(card) for card in range(VIERSCHE_DECK.size)]
CHOICES: dict[str, list[Any]] = {
    "trump": ["turn_up", "random", "C", "D", "H", "S"],
    "reveal_face_down": ["after_trick", "never"],
    "jack_exempt": [False, True],
    "target": [71, 85, 100, 140],
    "rungs": [1, 4],
    "sweep_rungs": [1, 2],
    "episode": ["deal", "round", "game", "session"],
}


def fill(starts: tuple[str, ...]) -> list[list[str]]:
    """Hands that begin as told; the other cards follow in deck order, seat by seat."""
    hands = [start.split() for start in starts]
    taken = {card for hand in hands for card in hand}
    rest = (card for card in DECK if card not in taken)
    return [[*hand, *islice(rest, 9 - len(hand))] for hand in hands]


def answer(starts: tuple[str, ...], plays: str, **given: Any) -> str:
    """What `rules` plays after these cards; hearts are trumps, seat 3 has dealt, seat 0 is forehand."""
    deal = {"hands": fill(starts), "dealer": 3, "trump": "H"}
    if "scores" in given:
        deal["scores"] = given.pop("scores")
    batch = make_batch("viersche", 1, deals=[deal], trump="H", **given)
    for card in plays.split():
        batch.step([VIERSCHE_DECK.parse(card)])
    return VIERSCHE_DECK.name(int(RULES.act(batch.views, batch.keys())[0]))


@pytest.mark.parametrize("number", range(12))
def test_legal_under_any_options(number: int) -> None:
    draw = random.Random(number)
    options = {name: draw.choice(values) for name, values in CHOICES.items()}
    batch = make_batch("viersche", 64, seed=number, illegal="raise", **options)
    for _ in range(120):
        batch.step(RULES.act(batch.views, batch.keys()))


def test_a_view_alone_gets_the_same_card() -> None:
    batch = make_batch("viersche", 40, seed=3)
    for _ in range(30):
        views, keys = batch.views, batch.keys()
        together = RULES.act(views, keys)
        alone = [int(RULES.act(views[i : i + 1], keys[i : i + 1])[0]) for i in range(40)]
        assert together.tolist() == alone == RULES.act(views, np.zeros_like(keys)).tolist()
        batch.step(together)


def test_feeds_the_ten_to_the_partner() -> None:
    hands = ("HJ CK", "H6 CA", "H7 C7", "H8 C10 C8")
    assert answer(hands, "HJ H6 H7 H8 CK CA C7") == "C10"


def test_throws_no_points_to_the_rivals() -> None:
    hands = ("HJ CA", "H6 C6", "H7 C7", "H8 C10 C8")
    assert answer(hands, "HJ H6 H7 H8 CA C6 C7") in ("C8", "C9")


def test_ruffs_a_rich_trick_with_the_cheapest_trump() -> None:
    hands = ("H6 H7 HJ D6 D7 D8 S6 S7 S8", "HA CA C9", "H8 C6 C7", "HK C8 C10")
    assert answer(hands, "H6 HA H8 HK CA C6 C10") == "H7"


def test_keeps_the_old_man_from_a_poor_trick() -> None:
    hands = ("H6 HJ D6 D7 D8 S6 S7 S8 S9", "HA CA C9", "H8 C6 C7", "HK C8 C10")
    assert answer(hands, "H6 HA H8 HK C9 C6 C8")[0] in "DS"


def test_the_old_man_catches_a_rich_trick() -> None:
    hands = ("H6 HJ D6 D7 D8 S6 S7 S8 S9", "HA CA C9", "H8 C6 C7", "HK C8 C10")
    assert answer(hands, "H6 HA H8 HK CA C6 C10") == "HJ"


def test_the_little_man_stays_out_of_the_old_mans_way() -> None:
    assert answer(("H6 DJ C6 C7 C8 S6 S7 S8 S9", "HJ H7", "H8", "H9"), "") == "H6"
    assert answer(("HJ", "DJ H6", "H8", "H9"), "HJ") == "H6"


def test_lays_a_worthless_card_face_down() -> None:
    assert answer(("CA C10 C6 DA D10 DK SA S10 SK", "H6", "H7", "H8"), "") == "C6"


def test_draws_trumps_from_strength() -> None:
    hands = ("HJ DJ HA HK HQ CA DA SA C6", "H6 H7", "H8", "H9 H10")
    assert answer(hands, "HJ H6 H8 H9") in ("DJ", "HA", "HK", "HQ")


def test_takes_the_trick_that_makes_the_target() -> None:
    hands = ("H6 HJ D6 D7 D8 S6 S7 S8 S9", "HA CK C9", "H8 C6 C7", "HK C8 CQ")
    plays = "H6 HA H8 HK C9 C6 CQ"
    assert answer(hands, plays, episode="round")[0] in "DS"
    assert answer(hands, plays, episode="round", scores={"carried": (85, 55)}) == "HJ"
