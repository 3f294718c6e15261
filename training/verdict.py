"""What the solvers say of a finished deal: points lost by each card with open hands, and moons that could be forced."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from ..envs.game import Game
from ..envs.state import PLAY

ENDING_NODES = 1_000_000  # positions searched for one card of Herzeln
MOON_NODES = 200_000


def deal_verdict(game: Game, states: np.ndarray, cards: list[int], seconds: float = 3.0) -> dict[str, Any]:
    """Judge a deal with all hands open, from its last card backwards while the time lasts (compiling does not count).

    Args:
        game: The game.
        states: Before each card, [N].
        cards: N cards, passed or played.
        seconds: Time to spend, about.

    Returns:
        `cards`: for each card None (passed, or not reached in time) or `lost` (points by which the best card would have
        been better for the player, or in Viersche for its side) and `best` (names of the best cards).
        `moons` (Herzeln): `seat`, and the tricks `first` to `last` before which it could force the moon.
    """
    last = np.flatnonzero(states["phase"] == PLAY)[-1:]
    VALUES[game.name](states[last])
    _moons(game, states[last], np.inf)
    until = time.perf_counter() + seconds
    found: list[dict[str, Any] | None] = [None] * len(cards)
    moons = _moons(game, states, until - seconds / 2)
    for place in range(len(cards) - 1, -1, -1):
        if time.perf_counter() > until:
            break
        if states["phase"][place] == PLAY:
            found[place] = _judge(game, VALUES[game.name](states[place : place + 1]), cards[place])
            if found[place] is None and game.name == "herzeln":
                break  # what lies before is harder still
    return {"cards": found, "moons": moons}


def _judge(game: Game, values: np.ndarray, card: int) -> dict[str, Any] | None:
    """What a card has lost, from the values f64[A] of all cards to its player; NaN where the search was cut short."""
    if np.isnan(values).any():
        return None
    best = values.max()
    names = [game.deck.name(int(other)) for other in np.flatnonzero(values == best)]
    return {"lost": round(float(best - values[card]), 2), "best": names}


def _viersche(state: np.ndarray) -> np.ndarray:
    """Card points of the mover's side after each card."""
    from ..agents.solver_viersche import ILLEGAL, card_values

    values = card_values(state)[0].astype(float)
    own = values if state["seat"][0] % 2 == 0 else 140 - values
    return np.where(values == ILLEGAL, -np.inf, own)


def _herzeln(state: np.ndarray) -> np.ndarray:
    """Payoff of the mover after each card, if all make their own as large as they can; exact among two."""
    from ..agents.solver_herzeln import ILLEGAL, max_n, two_player

    if state["players"][0] == 2:
        values = two_player(state, cards=True, nodes=ENDING_NODES).card_values
        assert values is not None
    else:
        values = max_n(state, nodes=ENDING_NODES).card_values
    return np.where(values[0] == ILLEGAL, -np.inf, values[0])


VALUES = {"viersche": _viersche, "herzeln": _herzeln}


def _moons(game: Game, states: np.ndarray, until: float) -> list[dict[str, Any]]:
    """The seats of Herzeln that could force the moon before some trick, and how long."""
    if game.name != "herzeln":
        return []
    from ..agents.solver_moon import YES, moon

    starts = np.flatnonzero((states["phase"] == PLAY) & (states["seat"] == states["leader"]))
    spans: dict[int, list[int]] = {}
    for place in starts:
        for seat in range(int(states["players"][0])):
            if time.perf_counter() > until:
                break
            if moon(states[place : place + 1], seat, nodes=MOON_NODES).forced[0] == YES:
                spans.setdefault(seat, []).append(int(states["trick_number"][place]))
    return [{"seat": seat, "first": min(tricks), "last": max(tricks)} for seat, tricks in spans.items()]
