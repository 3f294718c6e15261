"""The agents that sit at the tables of the page: each is asked one question at a time, and none can take it down."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np

from ..agents import load_agent
from ..agents.base import checked_act
from ..agents.explain import explain
from ..agents.guest import Guest, GuestError
from ..agents.loader import agent_names
from ..envs.errors import IllegalCardError, OptionError
from ..envs.game import Game

PATIENCE = 120.0  # seconds; a searcher compiles at its first card


class Player:
    """An agent, in this process where it is a shipped one that answers at once, else in one of its own.

    Args:
        name: As for `load_agent`.
        game: The game.
        patience: Seconds that a process of its own may take to answer.
    """

    def __init__(self, name: str, game: Game, patience: float = PATIENCE) -> None:
        self.name, self.game = name, game
        self._lock = threading.Lock()
        inside = name in agent_names(game) or name.startswith("ppo:")
        self._agent: Any = load_agent(name, game=game) if inside else Guest(name, game.name, patience=patience)

    def card(self, view: np.ndarray, key: np.ndarray) -> int:
        """The card that it plays for a view [1], which is legal.

        Raises:
            Exception: whatever goes wrong with an agent.
        """
        with self._lock:
            return int(checked_act(self._agent, self.game, view, key, self.game.legal(view))[0])

    def explain(self, view: np.ndarray, key: np.ndarray) -> dict[str, Any]:
        """What it thinks of a view [1]; see `agents.explain`."""
        with self._lock:
            if isinstance(self._agent, Guest):
                return self._agent.explain(view, key)
            return explain(self._agent, self.game, view, key)

    def close(self) -> None:
        """End its process, if it has one."""
        if isinstance(self._agent, Guest):
            self._agent.close()


class Players:
    """All agents that are at some table, each made once."""

    def __init__(self, patience: float = PATIENCE) -> None:
        self.patience = patience
        self._made: dict[tuple[str, str], Player] = {}
        self._gates: dict[tuple[str, str], threading.Lock] = {}

    def get(self, name: str, game: Game) -> Player:
        """The player of that name.

        Raises:
            OptionError, CheckpointError, GuestError: there is none.
        """
        key = (game.name, name)
        with self._gates.setdefault(key, threading.Lock()):  # one that is slow to load keeps no other waiting
            if key not in self._made:
                self._made[key] = Player(name, game, self.patience)
            return self._made[key]

    def close(self) -> None:
        """End all processes."""
        for player in self._made.values():
            player.close()


def failure_of(name: str, error: Exception) -> dict[str, str]:
    """What is told of an agent that has failed.

    `reason` is the whole text, which may name cards of its hand; `kind` names none, for a person who plays against it.
    """
    reason = " ".join(f"{error}".split())[:500]
    if isinstance(error, IllegalCardError):
        kind = "it played an illegal card"
    elif isinstance(error, GuestError):
        ours = reason.startswith(("agent ", "the process of agent "))
        kind = reason if ours else f"it raised {reason.split(':')[0]}"
    else:
        kind = reason if isinstance(error, OptionError) else f"it raised {type(error).__name__}"
    return {"agent": name, "reason": reason, "kind": kind}


def offered(game: Game, more: list[str]) -> list[str]:
    """The agents that the page lists: the shipped ones, searchers, checkpoints under `runs/`, and those given."""
    found = [*more, *agent_names(game), "pimc:worlds=30", "ismcts:iterations=500"]
    for path in sorted(Path("runs").glob("*/agent.safetensors")):
        found.append(f"ppo:{path}")
    return list(dict.fromkeys(found))
