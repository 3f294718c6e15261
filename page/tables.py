"""Games in progress: who sits where, what has been played, and the file in which each survives a restart."""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ..agents.files import write_atomically
from ..envs.batch import Batch, Terms
from ..envs.errors import IllegalCardError, OptionError
from ..envs.game import Game, get_game
from ..envs.record import make_record, replay
from ..envs.rng import agent_keys
from ..training.replay import Alone, seen_by
from .shape import table_json

YOU = "you"
ID = re.compile(r"[A-Za-z0-9_-]{16,64}")
ASKED = 1  # number of the agents in the keys of their draws


class NotNow(ValueError):
    """A question or a card that the game does not allow at this point."""


@dataclass
class Ended:
    """A deal that is over.

    Attributes:
        first, end: Its cards are those from `first` to before `end`.
        after: The state [1] after its last card.
        points: Points by seat, as the game counts them in a deal.
    """

    first: int
    end: int
    after: np.ndarray
    points: list[int]


@dataclass
class Table:
    """One game.

    Attributes:
        id: Random, known to its player alone.
        game, options: What is played.
        seats: Names by seat: agents, and YOU for the person.
        batch: The one-lane batch, now.
        start: The state [1] at the very beginning.
        history: The state [1] before each card.
        actions: The cards so far.
        ended: The deals that are over.
        failure: Agent, reason and kind of it, while an agent has failed to play.
    """

    id: str
    game: Game
    options: Any
    seats: list[str]
    batch: Batch
    start: np.ndarray
    history: list[np.ndarray] = field(default_factory=list)
    actions: list[int] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    failure: dict[str, str] | None = None

    def __post_init__(self) -> None:
        self._record = make_record(self.game, self.options, self.start, [])
        self._deals: list[dict[str, Any]] = self._record["deals"]

    @classmethod
    def new(cls, game: str, seats: list[str], seed: int | None, options: Mapping[str, Any]) -> Table:
        """A table at the beginning of its first deal.

        Raises:
            OptionError: what is wrong and what is valid.
        """
        found = get_game(game)
        rules = found.options(**options)
        checked = _seats(seats, rules.players)
        drawn = secrets.randbits(48) if seed is None else seed
        lane, deal = np.zeros(1, np.uint64), np.zeros(1, np.int64)
        batch = Batch(found, rules, Terms(), drawn, lane, deal, "disabled")
        return cls(secrets.token_urlsafe(18), found, rules, checked, batch, batch.states.copy())

    @property
    def human(self) -> int | None:
        """The person's seat; None where agents play among themselves."""
        return self.seats.index(YOU) if YOU in self.seats else None

    @property
    def over(self) -> bool:
        return not self.batch.running[0]

    @property
    def mover(self) -> int:
        """The seat to move."""
        return int(self.batch.seat[0])

    def key(self, states: np.ndarray) -> np.ndarray:
        """uint64[1]: the key of the mover's draws at a state of this game."""
        return agent_keys(self.batch.seed, states["lane_deal"], states["seat"], ASKED)

    def play(self, card: int) -> None:
        """Play a card for the seat to move.

        Raises:
            IllegalCardError: it may not; nothing has changed.
        """
        if not 0 <= card < self.game.deck.size or not int(self.batch.legal[0]) >> card & 1:
            valid = ", ".join(self.game.deck.names(int(self.batch.legal[0])))
            raise IllegalCardError(f"{self.game.deck.name(card)} is illegal now. Legal: {valid}")
        before = self.batch.states.copy()
        self.batch.advance(np.array([card], np.int64))
        self.note(before, card, self.batch)

    def note(self, before: np.ndarray, card: int, batch: Batch) -> None:
        """Put down a card that has been played."""
        self.history.append(before)
        self.actions.append(card)
        self.failure = None
        if self.over or int(batch.states["deal"][0]) != int(before["deal"][0]):
            after = Alone(batch).after(before, card)
            score, first = after["score"][0], self.ended[-1].end if self.ended else 0
            points = [int(score[seat % len(score)]) for seat in range(len(self.seats))]
            self.ended.append(Ended(first, len(self.actions), after, points))
            if not self.over:
                self._deals += make_record(self.game, self.options, batch.states, [])["deals"]

    # ------------------------------------------------------------------------------------- what is shown

    def shown(self) -> dict[str, Any]:
        """The table as its player may see it, or with all hands where nobody plays."""
        last = self.ended[-1] if self.ended else None
        return {
            "id": self.id,
            "game": self.game.name,
            "seats": self.seats,
            "human": self.human,
            "move": len(self.actions),
            "table": None if self.over else self._seen(self.batch.states),
            "legal": self._legal(),
            "over": self.over,
            "score": self.batch.final_score[0].tolist() if self.over else None,
            "higher_is_better": bool(self.game.higher_is_better(self.options)),
            "failure": self._failure(),
            "deals": len(self.ended),
            "last": last and {"deal": len(self.ended) - 1, "end": last.end, "points": last.points}
            | {"table": self._seen(last.after)},
        }  # fmt: skip

    def _seen(self, states: np.ndarray) -> dict[str, Any]:
        return table_json(self.game, seen_by(self.game, states, self.human)[0])

    def _failure(self) -> dict[str, str] | None:
        """Who failed and why; without what could give its cards away."""
        if self.failure is None:
            return None
        why = "reason" if self.human is None else "kind"
        return {"agent": self.failure["agent"], "reason": self.failure[why]}

    def _legal(self) -> list[str]:
        """The cards that the person may play now."""
        if self.over or self.mover != self.human:
            return []
        return self.game.deck.names(int(self.batch.legal[0]))

    def decision(self, move: int) -> tuple[np.ndarray, int]:
        """The state [1] of a decision that its player may be told about, and who had to decide.

        Raises:
            NotNow: it is another's decision in a deal that is not over, which would give hidden cards away.
        """
        if not 0 <= move <= len(self.actions) or (move == len(self.actions) and self.over):
            raise NotNow(f"move {move} is not there. Valid: 0 to {len(self.actions) - self.over}")
        states = self.batch.states if move == len(self.actions) else self.history[move]
        mover = int(states["seat"][0])
        running = move >= (self.ended[-1].end if self.ended else 0)
        if running and self.human is not None and mover != self.human:
            raise NotNow("what others think of a deal is told when it is over")
        return states, mover

    def deal(self, number: int) -> Ended:
        """A deal that is over.

        Raises:
            NotNow: it is not, or there is none.
        """
        if not 0 <= number < len(self.ended):
            raise NotNow(f"deal {number} is not over or not there. Valid: 0 to {len(self.ended) - 1}")
        return self.ended[number]

    def states_of(self, ended: Ended) -> np.ndarray:
        """The states before each card of a deal and after its last one, [N + 1]."""
        return np.concatenate([*self.history[ended.first : ended.end], ended.after])

    def record(self) -> dict[str, Any]:
        """The game as a record that `stich replay` reads."""
        return self._record | {"deals": self._deals, "actions": self.actions, "names": self.seats}


def _seats(seats: Any, players: int) -> list[str]:
    """The names at the seats."""
    if not isinstance(seats, list) or len(seats) != players or not all(isinstance(seat, str) for seat in seats):
        raise OptionError(f"seats={seats!r} is not valid. Valid: {players} names, of agents or {YOU!r}")
    if seats.count(YOU) > 1:
        raise OptionError(f"{seats.count(YOU)} seats are {YOU!r}. Valid: one, or none to watch")
    return list(seats)


class Store:
    """The tables of a folder: each is a file `ID.json`, a game record with the names beside it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open: dict[str, Table] = {}

    def add(self, table: Table) -> None:
        """Keep a new table."""
        self._open[table.id] = table
        self.save(table)

    def save(self, table: Table) -> None:
        """Write a table's file; it is there whole or not at all."""
        content = json.dumps(table.record() | {"failure": table.failure}) + "\n"
        write_atomically(self.folder / f"{table.id}.json", content.encode())

    def get(self, identity: str) -> Table | None:
        """The table of that id, from memory or from its file; None where there is none.

        Raises:
            ValueError: its file is damaged.
        """
        if identity not in self._open and ID.fullmatch(identity):
            path = self.folder / f"{identity}.json"
            if path.is_file():
                self._open[identity] = load_table(identity, json.loads(path.read_text()))
        return self._open.get(identity)


def load_table(identity: str, record: Mapping[str, Any]) -> Table:
    """A table from its record.

    Raises:
        ValueError: it is damaged.
    """
    moves = replay(record)
    batch = next(moves)
    table = Table(identity, batch.game, batch.options, list(record["names"]), batch, batch.states.copy())
    before = batch.states.copy()
    for action, following in zip(record["actions"], moves, strict=True):
        table.note(before, int(action), following)
        before = following.states.copy()
    batch.seed = int(record["seed"])  # the draws of the agents go on as they would have
    table.failure = record.get("failure")
    return table
