"""The two games, registered. A third one is a rules module, an encoding module and a call of `register`."""

from __future__ import annotations

from typing import Any

from . import herzeln, herzeln_encoding, viersche, viersche_encoding
from .cards import HERZELN_DECK, VIERSCHE_DECK
from .deals import place_herzeln, place_viersche
from .game import register


def _herzeln_illegal(options: Any, kind: str) -> float:
    """More than a deal can cost, or a game, in which at most target - 1 + 26 points are taken.

    The bonus options and a moon that is subtracted add what the others can be ahead by in one deal. Over a whole
    game these have no bound, nor have extra deals: there the price is that of an ordinary game.
    """
    if kind == "points":
        return -27.0 if options.episode == "deal" else -(options.target + 27.0)
    ahead = 10 * options.jack_of_diamonds + 5 * options.no_trick_bonus
    if options.players == 2 and options.moon != "add":
        ahead += herzeln.DEAL_POINTS
    deal = -1.05 - ahead / herzeln.DEAL_POINTS
    if options.episode == "deal" or kind == "result":
        return deal
    return -(options.target + 27.0) / herzeln.DEAL_POINTS + deal


def _viersche_illegal(options: Any, kind: str) -> float:
    """A little more than losing all that the episode can still hold."""
    rounds = 2 * options.rungs - 1
    games = 2 * options.marks - 1
    deals = {"deal": 1, "round": 2, "game": 2 * rounds, "session": 2 * rounds * games}[options.episode]
    if kind != "result":
        return -141.0 * deals if kind == "points" else -1.01 * deals
    worst = {"deal": 1, "round": options.sweep_rungs, "game": options.shutout_marks, "session": 1}
    return -1.01 * worst[options.episode]


HERZELN = register(
    "herzeln",
    HERZELN_DECK,
    herzeln,
    herzeln_encoding,
    place=place_herzeln,
    deal_fields=("dealer", "direction", "kitty"),
    match_fields=("totals", "in_extra_deals"),
    illegal_reward=_herzeln_illegal,
    higher_is_better=lambda options: False,
)
VIERSCHE = register(
    "viersche",
    VIERSCHE_DECK,
    viersche,
    viersche_encoding,
    place=place_viersche,
    deal_fields=("dealer", "trump", "turn_up"),
    match_fields=("carried", "rungs", "marks", "second_deal"),
    illegal_reward=_viersche_illegal,
    higher_is_better=lambda options: options.episode in ("deal", "round"),
    score_unit=lambda options: {"deal": "card points", "round": "rungs erased"}.get(options.episode, "marks"),
    sides=2,
)
