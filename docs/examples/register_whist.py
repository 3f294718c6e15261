"""The registration of whist, and a kernel agent for it."""

from __future__ import annotations

from typing import Any

from stich.agents.loader import KERNELS
from stich.envs.bits import lowest, nth, popcount
from stich.envs.cards import HERZELN_DECK
from stich.envs.errors import DealError
from stich.envs.game import register
from stich.envs.jit import kernel
from stich.envs.rng import below, combine

from . import whist, whist_encoding


def place_whist(game: Any, state: Any, options: Any, given: Any) -> None:
    """Put a deal given by hand (`hands`: four texts of card names; `dealer`: a seat) into an opened state [1]."""
    if "hands" in given:
        hands = [game.deck.as_set(hand.split()) for hand in given["hands"]]
        if [hand.bit_count() for hand in hands] != [whist.HAND_SIZE] * whist.SEATS or sum(hands) != whist.ALL:
            raise DealError(f"hands={given['hands']!r} is not valid. Valid: four times 13 cards, each card once")
        state["hands"][0] = hands
    if "dealer" in given:
        if given["dealer"] not in range(whist.SEATS):
            raise DealError(f"dealer={given['dealer']!r} is no seat. Valid: 0 to {whist.SEATS - 1}")
        state["dealer"] = given["dealer"]
    game.lanes.deal_lane(state, 0, False)


WHIST = register(
    "whist",
    HERZELN_DECK,
    whist,
    whist_encoding,
    place=place_whist,
    deal_fields=("dealer", "trump"),
    match_fields=(),
    illegal_reward=lambda options, kind: -14.0 if kind == "points" else -1.1,
    higher_is_better=lambda options: True,
    sides=2,
)


@kernel
def random_whist(view: Any, key: Any) -> int:
    """A uniformly random legal card; the draw is keyed by the cards this seat has played."""
    cards = whist.legal(view)
    return nth(cards, below(combine(key, popcount(view.played[view.observer])), 0, popcount(cards)))


@kernel
def low_whist(view: Any, key: Any) -> int:
    """The legal card with the lowest number."""
    return lowest(whist.legal(view))


KERNELS["whist"] = {"random": random_whist, "low": low_whist}
