"""The table as text, and what of it everything that shows a table asks for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .cards import FACE_DOWN, NO_CARD, SYMBOLS
from .game import Game
from .state import DEAL_OVER, NO_OBSERVER, PHASES


class ShownTrick(NamedTuple):
    """A trick as it lies on the table.

    Attributes:
        cards: Seat and card (FACE_DOWN where hidden) in the order played.
        winner: The seat that takes it so far; NO_SEAT.
        complete: Every seat has played to it.
    """

    cards: list[tuple[int, int]]
    winner: int
    complete: bool


def shown_trick(state: Any) -> ShownTrick:
    """The current trick of a state or view, or between two tricks the last one."""
    players = int(state["players"])
    if (state["trick"][:players] != NO_CARD).any():
        order = [(int(state["leader"]) + turn) % players for turn in range(players)]
        cards = [(seat, int(state["trick"][seat])) for seat in order if state["trick"][seat] != NO_CARD]
        return ShownTrick(cards, int(state["winner"]), False)
    recent = np.flatnonzero(state["when"] > max(int(state["plays"]) - players, 0))
    found = [(seat_of(state, int(card)), int(card)) for card in sorted(recent, key=lambda card: state["when"][card])]
    if 0 < len(found) < players:  # the first lead stays hidden
        found.insert(0, ((int(state["dealer"]) + 1) % players, FACE_DOWN))
    return ShownTrick(found, int(state["last_seat"]), bool(found))


def seat_of(state: Any, card: int) -> int:
    """Who has played a card in this deal."""
    return next(seat for seat in range(int(state["players"])) if int(state["played"][seat]) >> card & 1)


def cards_left(state: Any, seat: int) -> int:
    """How many cards a seat still holds, as everybody knows."""
    if int(state["phase"]) >= DEAL_OVER:
        return 0
    return int(state["hand_size"]) - int(state["trick_number"]) - int(state["trick"][seat] != NO_CARD)


def hand_order(game: Game, state: Any, cards: int) -> list[int]:
    """A set of cards as it is held: black and red suits by turns, the highest first; trumps before all others."""

    def place(card: int) -> tuple[int, int]:
        suit, rank = divmod(card, len(game.deck.ranks))
        if "trump" not in state.dtype.names:
            return (0, 1, 3, 2)[suit], -rank
        trump = int(state["trump"])
        is_trump = int(game.rules.suit_of(card, trump)) == trump
        return -1 if is_trump else (0, 1, 3, 2)[suit], -int(game.rules.strength(card, trump))

    return sorted(game.deck.in_set(cards), key=place)


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
        turned = f" (turned up {game.deck.name(int(state['turn_up']), symbols=True)})" if "turn_up" in names else ""
        parts.append(f"trumps {SYMBOLS[int(state['trump'])]}{turned}")
    if "rungs" in names:
        parts.append("points {}:{}".format(*state["points"]))
        parts.append("carried {}:{}".format(*state["carried"]))
        parts.append("rungs {}:{}".format(*state["rungs"]))
        parts.append("marks {}:{}".format(*state["marks"]))
    if "totals" in names:
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
