"""A table as JSON for the browser: everything in it comes from the record given, so a view gives away nothing."""

from __future__ import annotations

from typing import Any

from ..envs.cards import NO_CARD, NO_SEAT, SUITS
from ..envs.game import Game
from ..envs.render import cards_left, hand_order, shown_trick
from ..envs.state import DEAL_OVER, NO_OBSERVER, PHASES


def table_json(game: Game, state: Any) -> dict[str, Any]:
    """What a state (all hands open) or a view shows."""
    players = range(int(state["players"]))
    trick = shown_trick(state)
    name = game.deck.name
    playing = int(state["phase"]) < DEAL_OVER
    return {
        "phase": PHASES[int(state["phase"])],
        "deal": int(state["deal"]),
        "trick_number": int(state["trick_number"]),
        "dealer": int(state["dealer"]),
        "seat": int(state["seat"]) if playing else None,
        "leader": int(state["leader"]) if playing and state["leader"] != NO_SEAT else None,
        "hands": [_hand(game, state, seat) for seat in players],
        "counts": [cards_left(state, seat) for seat in players],
        "tricks": [int(state["tricks"][seat]) for seat in players],
        "trick": {
            "cards": [{"seat": seat, "card": name(card)} for seat, card in trick.cards],
            "winner": trick.winner if trick.winner != NO_SEAT else None,
            "complete": trick.complete,
        },
        **OWN[game.name](game, state),
    }


def _hand(game: Game, state: Any, seat: int) -> list[str] | None:
    """The cards of a hand as they are held; None where they are hidden."""
    if int(state["observer"]) not in (NO_OBSERVER, seat):
        return None
    return [game.deck.name(card) for card in hand_order(game, state, int(state["hands"][seat]))]


def _herzeln(game: Game, state: Any) -> dict[str, Any]:
    players, rules, deck = range(int(state["players"])), game.rules, game.deck
    over = int(state["phase"]) >= DEAL_OVER
    counting = rules.PENALTY | (1 << rules.JACK if state["jack_of_diamonds"] else 0)
    taken = [int(rules.taken_by(state, seat)) & counting for seat in players]
    points = [int(state["score"][seat]) if over else int(rules.penalty_points(taken[seat])) for seat in players]
    return {
        "taken": [deck.names(cards) for cards in taken],
        "points": points,
        "totals": [int(state["totals"][seat]) for seat in players],
        "broken": bool(state["broken"]),
        "direction": int(state["direction"]),
        "passed": [deck.names(int(state["passed"][seat])) for seat in players],
        "received": [deck.names(int(state["received"][seat])) for seat in players],
        "moon": int(state["moon_seat"]) if over and state["moon_seat"] != NO_SEAT else None,
    }


def _viersche(game: Game, state: Any) -> dict[str, Any]:
    turn_up = int(state["turn_up"])
    sides = {name: state[name].tolist() for name in ("points", "carried", "rungs", "marks")}
    return {
        **sides,
        "trump": SUITS[int(state["trump"])],
        "turn_up": game.deck.name(turn_up) if turn_up != NO_CARD else None,
        "ladder": int(state["ladder"]),
        "session_marks": int(state["session_marks"]),
        "target": int(state["target"]),
        "second_deal": bool(state["second_deal"]),
    }


OWN = {"herzeln": _herzeln, "viersche": _viersche}
