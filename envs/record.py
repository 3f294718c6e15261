"""Game records: config, deals and actions of one episode, one line of JSON, replayed to every observation.

The deals are written out card by card, so a record does not depend on the random generator.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from .batch import Batch, Terms
from .game import Game, get_game
from .lanes import FINE
from .state import NO_OBSERVER

VERSION = 1
FIELDS = ("version", "game", "options", "seed", "lane_deal", "match", "deals", "actions")


def make_record(game: Game, options: Any, start: np.ndarray, actions: Sequence[int]) -> dict[str, Any]:
    """The record of an episode from its first state [1] and its actions."""
    batch = _batch_from(game, options, start)
    deals = [_describe(game, batch.states)]
    number = int(batch.states["deal"][0])
    for action in actions:
        batch.advance(np.array([action], np.int64))
        if int(batch.states["deal"][0]) != number:
            number += 1
            deals.append(_describe(game, batch.states))
    return {
        "version": VERSION,
        "game": game.name,
        "options": dataclasses.asdict(options),
        "seed": int(start["seed"][0]),
        "lane_deal": int(start["lane_deal"][0]),
        "match": {name: start[name][0].tolist() for name in game.match_fields},
        "deals": deals,
        "actions": [int(action) for action in actions],
    }


def replay(record: Mapping[str, Any]) -> Iterator[Batch]:
    """The one-lane batch before each action and once more at the end, deals as recorded.

    Raises:
        ValueError: something that is no record, or one whose actions are illegal.
    """
    if not isinstance(record, Mapping):
        raise ValueError(f"no game record of version {VERSION}: a mapping is needed, not {type(record).__name__}")
    missing = [name for name in FIELDS if name not in record]
    if missing or record["version"] != VERSION:
        why = f"lacks {', '.join(missing)}" if missing else f"version {record['version']!r}"
        raise ValueError(f"no game record of version {VERSION}: {why}")
    game = get_game(record["game"])
    options = game.options(**record["options"])
    try:
        start = game.new_states(options, np.uint64(record["seed"]), np.zeros(1, np.uint64), [record["lane_deal"]])
        game.lanes.open_lanes(start, np.ones(1, bool))
        for name, value in record["match"].items():
            start[name][0] = value
        _restore(game, start, record["deals"][0])
    except (TypeError, AttributeError, KeyError, IndexError) as error:
        raise ValueError(f"the game record is damaged: {error!r}") from None
    batch = _batch_from(game, options, start)
    number = 0
    for place, action in enumerate(record["actions"]):
        yield batch
        if game.lanes.fault(batch.legal, np.array([action], np.int64))[1] != FINE:
            raise ValueError(f"action {place} of the record, {action}, is illegal there")
        batch.advance(np.array([action], np.int64))
        if int(batch.states["deal"][0]) != number:
            number += 1
            if number >= len(record["deals"]):
                raise ValueError(f"the game record is damaged: it lacks deal {number + 1}")
            _restore(game, batch.states, record["deals"][number])
            batch.look()
    yield batch


def _batch_from(game: Game, options: Any, states: np.ndarray) -> Batch:
    batch = Batch(game, options, Terms(), 0, np.zeros(1, np.uint64), np.zeros(1, np.int64), "disabled")
    batch.states[:] = states
    batch.states["observer"] = NO_OBSERVER
    batch.look()
    return batch


def _describe(game: Game, states: np.ndarray) -> dict[str, Any]:
    hands = [" ".join(game.deck.names(int(hand))) for hand in states["hands"][0, : states["players"][0]]]
    return {"hands": hands, **{name: int(states[name][0]) for name in game.deal_fields}}


def _restore(game: Game, states: np.ndarray, deal: Mapping[str, Any]) -> None:
    for seat, hand in enumerate(deal["hands"]):
        states["hands"][0, seat] = game.deck.as_set(hand.split())
    for name in game.deal_fields:
        states[name] = deal[name]
    game.lanes.deal_lane(states, 0, False)
