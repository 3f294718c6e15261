"""Records to step through: game records, one JSON line each, and the results of tournaments."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..envs.errors import OptionError, unknown
from ..training.replay import Deal, Story, open_story, record_story
from .shape import table_json

MOST_BYTES = 20_000_000  # of a file sent by the browser


@dataclass(frozen=True)
class Shelf:
    """One file: what it is called and where its games are.

    Attributes:
        name: As the page lists it.
        path: A file on this machine; None for one that the browser sent.
        lines: The records of a file of game records.
        games: Match, deal and game of each game of a tournament.
    """

    name: str
    path: Path | None
    lines: list[str]
    games: list[tuple[int, int, int]]

    @property
    def count(self) -> int:
        """How many games it holds."""
        return len(self.games) or len(self.lines)

    def story(self, number: int) -> Story:
        """One of its games.

        Raises:
            OptionError: no such game, or a damaged record.
        """
        if not 0 <= number < self.count:
            raise OptionError(f"{self.name} has no game {number}. Valid: 0 to {self.count - 1}")
        if self.games and self.path is not None:
            match, deal, game = self.games[number]
            return open_story(self.path, deal, match, game)
        try:
            return record_story(json.loads(self.lines[number]))
        except (KeyError, TypeError, ValueError) as error:
            raise OptionError(f"line {number} of {self.name} is no game record: {error}") from None


def read_records(name: str, text: str, path: Path | None = None) -> Shelf:
    """A file of game records.

    Raises:
        OptionError: it has none.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    shelf = Shelf(name, path, lines, [])
    if not lines:
        raise OptionError(f"{name} is empty. Valid: game records, one JSON line each")
    shelf.story(0)
    return shelf


def read_file(path: Path) -> Shelf:
    """A file of game records, or the games of a tournament.

    Raises:
        OptionError: there is none, or it is damaged.
    """
    if not path.is_file():
        raise OptionError(f"no file {path}. Valid: games.parquet of a tournament, or game records, one JSON line each")
    if path.suffix != ".parquet":
        return read_records(str(path), path.read_text(errors="replace"), path)
    import polars as pl

    try:
        games = pl.read_parquet(path.with_name("games.parquet"), columns=["match", "deal", "game"])
    except (pl.exceptions.PolarsError, OSError) as error:
        raise OptionError(f"{path} is damaged or no result of a tournament: {error}") from None
    return Shelf(str(path), path, [], games.rows())


class Shelves:
    """All files that the page shows."""

    def __init__(self, paths: list[Path]) -> None:
        self._shelves = {str(number): read_file(path) for number, path in enumerate(paths)}

    def add(self, shelf: Shelf) -> str:
        """Keep a file for as long as the server runs; returns its id."""
        identity = str(len(self._shelves))
        self._shelves[identity] = shelf
        return identity

    def get(self, identity: str) -> Shelf:
        """The file of that id.

        Raises:
            OptionError: there is none.
        """
        if identity not in self._shelves:
            raise OptionError(unknown("replay", identity, self._shelves))
        return self._shelves[identity]

    def listed(self) -> list[dict[str, Any]]:
        """Ids, names and numbers of games of the files that were named when the server was started."""
        return [
            {"id": identity, "name": shelf.name, "games": shelf.count}
            for identity, shelf in self._shelves.items()
            if shelf.path is not None
        ]


def deal_of(story: Story, number: int) -> Deal:
    """A deal of a game.

    Raises:
        OptionError: there is none.
    """
    if not 0 <= number < len(story.deals):
        raise OptionError(f"the game has no deal {number}. Valid: 0 to {len(story.deals) - 1}")
    return story.deals[number]


def frames_json(
    game: Any, states: np.ndarray, cards: list[int], names: list[str], points: list[float]
) -> dict[str, Any]:
    """A deal card by card with all hands open: `frames` before each card and after the last, `cards` between them."""
    return {
        "game": game.name,
        "seats": names,
        "frames": [table_json(game, state) for state in states],
        "cards": [game.deck.name(card) for card in cards],
        "points": points,
    }
