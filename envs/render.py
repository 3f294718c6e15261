"""The table as text."""

from __future__ import annotations

from typing import Any

from .cards import SYMBOLS
from .game import Game
from .state import NO_OBSERVER, PHASES


def table_text(game: Game, state: Any) -> str:
    """A few lines that show a state with all hands open, or a view with what its observer knows.

    Args:
        game: The game.
        state: One record of `game.state`.
    """
    lines = [_headline(game, state)]
    for seat in range(int(state["players"])):
        lines.append(_seat_line(game, state, seat))
    return "\n".join(lines)


def _headline(game: Game, state: Any) -> str:
    parts = [f"{game.name} | deal {int(state['deal']) + 1}, {PHASES[int(state['phase'])]}"]
    parts.append(f"trick {int(state['trick_number']) + 1}")
    names = state.dtype.names
    if "trump" in names:
        turn_up = game.deck.name(int(state["turn_up"]), symbols=True)
        parts.append(f"trumps {SYMBOLS[int(state['trump'])]} (turned up {turn_up})")
        parts.append("points {}:{}".format(*state["points"]))
        parts.append("carried {}:{}".format(*state["carried"]))
        parts.append("rungs {}:{}".format(*state["rungs"]))
        parts.append("marks {}:{}".format(*state["marks"]))
    else:
        parts.append("hearts broken" if state["broken"] else "hearts unbroken")
        parts.append("totals " + " ".join(str(total) for total in state["totals"][: int(state["players"])]))
    return " | ".join(parts)


def _seat_line(game: Game, state: Any, seat: int) -> str:
    marks = "D" if seat == state["dealer"] else " "
    marks += ">" if seat == state["seat"] and int(state["phase"]) < 2 else " "
    card = game.deck.name(int(state["trick"][seat]), symbols=True)
    best = "*" if seat == state["winner"] else " "
    line = f"{marks} player_{seat}  {card:>4}{best}  tricks {int(state['tricks'][seat]):2d}"
    if "taken" in state.dtype.names:
        line += "  taken " + (" ".join(game.deck.names(int(state["taken"][seat]), symbols=True)) or "-")
    if int(state["observer"]) in (NO_OBSERVER, seat):
        line += "  | " + hand_text(game, int(state["hands"][seat]))
    return line


def hand_text(game: Game, cards: int) -> str:
    """A hand suit by suit, the highest card first, such as `♠AQ5 ♥10 9`."""
    ranks = len(game.deck.ranks)
    suits = []
    for suit in (3, 2, 1, 0):
        held = [game.deck.ranks[rank] for rank in range(ranks - 1, -1, -1) if cards >> (suit * ranks + rank) & 1]
        if held:
            suits.append(SYMBOLS[suit] + " ".join(held))
    return "  ".join(suits)
