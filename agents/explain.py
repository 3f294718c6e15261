"""What an agent says of a decision beside the card it plays, as plain numbers for people to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..envs.game import Game
from .base import Agent, checked_act
from .search import candidates


def explain(agent: Agent, game: Game, view: np.ndarray, key: np.ndarray) -> dict[str, Any]:
    """What an agent thinks of a view [1] whose observer is to move.

    An agent may have a method `explain(view) -> dict` with any of `probabilities` (of cards), `value` (payoff that it
    expects), `points` (distribution of its points of the deal) and `moon` (probability that it shoots the moon, or the
    probabilities by who does, of which "self" is shown); a network without one shows the probabilities of its policy,
    a searcher the mean payoff of each card (`values`, in points of a deal).

    Args:
        agent: The agent asked.
        game: The game.
        view: Structured array [1].
        key: uint64[1], of its draws.

    Returns:
        `card` (what it would play) and what else there is: `probabilities` and `values` by name of the card,
        `value`, `points` as pairs of points (a number, or a label such as "0 to 4") and probability, `moon`.
    """
    legal = game.legal(view)
    found: dict[str, Any] = {"card": game.deck.name(int(checked_act(agent, game, view, key, legal)[0]))}
    own: Any = agent
    if hasattr(own, "explain"):
        return found | _plain(game, int(legal[0]), own.explain(view))
    if hasattr(own, "log_probabilities"):
        return found | _plain(game, int(legal[0]), {"probabilities": np.exp(own.log_probabilities(view)[0])})
    if hasattr(own, "payoffs"):
        cards = candidates(game, view[0], int(legal[0]))
        means = own.payoffs(view, cards, key[0]).mean(0) * game.rules.DEAL_POINTS
        found["values"] = {game.deck.name(int(card)): float(mean) for card, mean in zip(cards, means, strict=True)}
    return found


def _plain(game: Game, legal: int, said: Mapping[str, Any]) -> dict[str, Any]:
    """The known parts of an explanation as JSON takes them."""
    found: dict[str, Any] = {}
    for name in ("probabilities", "values"):
        if said.get(name) is not None:
            found[name] = _by_card(game, legal, said[name])
    moon = said.get("moon")
    numbers = {"value": said.get("value"), "moon": moon.get("self") if isinstance(moon, Mapping) else moon}
    found |= {name: float(np.ravel(number)[0]) for name, number in numbers.items() if number is not None}
    if said.get("points") is not None:
        found["points"] = _distribution(said["points"])
    return found


def _by_card(game: Game, legal: int, numbers: Any) -> dict[str, float]:
    """Numbers by name of the legal cards, from a mapping or from an array [A]."""
    pairs = numbers.items() if isinstance(numbers, Mapping) else enumerate(np.ravel(numbers))
    cards = {game.deck.parse(card) if isinstance(card, str) else int(card): number for card, number in pairs}
    return {game.deck.name(card): float(cards[card]) for card in game.deck.in_set(legal) if card in cards}


def _distribution(points: Any) -> list[tuple[float | str, float]]:
    """Pairs of points and probability, from a mapping or from an array of the probabilities of 0, 1, 2, ..."""
    pairs = points.items() if isinstance(points, Mapping) else enumerate(np.ravel(points))
    return [(value if isinstance(value, str) else float(value), float(chance)) for value, chance in pairs]
