"""An agent in a process of its own: it gets views, and neither its crash nor its memory touches ours."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from typing import Any

import numpy as np

from ..envs.game import get_game

AT_START = 120.0  # seconds that an agent may take to be loaded, where there is a limit for its answers


class GuestError(RuntimeError):
    """A guest's process has raised or ended."""


class Guest:
    """Runs the agent that `load_agent(name, game)` makes in a process of its own.

    Args:
        name: As for `load_agent`.
        game: Name of the game.
        options: As for `load_agent`.
        patience: Seconds that an answer may take, `AT_START` for being loaded; None waits for ever.
    """

    def __init__(
        self, name: str, game: str, options: dict[str, Any] | None = None, patience: float | None = None
    ) -> None:
        self.name, self.patience = name, patience
        self._about = (name, game, options or {})
        self._process: Any = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._about), daemon=True)
        self._process.start()
        theirs.close()
        self._answer(None if self.patience is None else max(self.patience, AT_START))

    def _answer(self, patience: float | None) -> Any:
        try:
            if patience is not None and not self._pipe.poll(patience):
                self.close()
                raise GuestError(f"agent {self.name!r} gave no answer within {patience:g} seconds")
            fine, answer = self._pipe.recv()
        except (EOFError, OSError):
            self._process.join(1)
            code, self._process = self._process.exitcode, None
            raise GuestError(f"the process of agent {self.name!r} ended (exit status {code})") from None
        if not fine:
            raise GuestError(answer)
        return answer

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """The guest's answer.

        Raises:
            GuestError: it raised, ran out of patience, or its process ended; the next call starts a new one.
        """
        return np.asarray(self._ask("act", views, keys))

    def explain(self, view: np.ndarray, key: np.ndarray) -> dict[str, Any]:
        """What the function `explain` gives for the guest and a view [1].

        Raises:
            GuestError: as for `act`.
        """
        return self._ask("explain", view, key)

    def _ask(self, what: str, views: np.ndarray, keys: np.ndarray) -> Any:
        if self._process is None:
            self._start()
        try:
            self._pipe.send((what, views.tobytes(), keys.tobytes()))
        except OSError:  # it ended between two questions
            self.close()
            self._start()
            self._pipe.send((what, views.tobytes(), keys.tobytes()))
        return self._answer(self.patience)

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process = None


def _serve(pipe: Any, name: str, game: str, options: dict[str, Any]) -> None:
    """The guest's side: load the agent, then answer until the pipe closes."""
    from .explain import explain
    from .loader import load_agent

    follow_parent()
    found = get_game(game)
    try:
        agent = load_agent(name, game=game, **options)
        pipe.send((True, None))
    except Exception as error:
        pipe.send((False, f"agent {name!r} can't be made: {error}"))
        return
    while True:
        try:
            what, *bytes_sent = pipe.recv()
        except EOFError:
            return
        try:
            views, keys = (
                np.frombuffer(sent, t).copy() for sent, t in zip(bytes_sent, (found.state, np.uint64), strict=True)
            )
            pipe.send((True, agent.act(views, keys) if what == "act" else explain(agent, found, views, keys)))
        except Exception as error:
            pipe.send((False, f"{type(error).__name__}: {error}"))


def follow_parent() -> None:
    """End this process soon after its parent has ended, however that came about."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
