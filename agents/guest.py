"""An agent in a process of its own: it gets views, and neither its crash nor its memory touches ours."""

from __future__ import annotations

import multiprocessing
import os
import threading
import time
from typing import Any

import numpy as np

from ..envs.game import get_game


class GuestError(RuntimeError):
    """A guest's process has raised or ended."""


class Guest:
    """Runs the agent that `load_agent(name, game)` makes in a process of its own.

    Args:
        name: As for `load_agent`.
        game: Name of the game.
        options: As for `load_agent`.
    """

    def __init__(self, name: str, game: str, options: dict[str, Any] | None = None) -> None:
        self.name = name
        self._about = (name, game, options or {})
        self._process: Any = None
        self._start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, *self._about), daemon=True)
        self._process.start()
        theirs.close()
        self._answer()

    def _answer(self) -> Any:
        try:
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
            GuestError: it raised, or its process ended; the next call starts a new one.
        """
        if self._process is None:
            self._start()
        self._pipe.send((views.tobytes(), keys.tobytes()))
        return np.asarray(self._answer())

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process = None


def _serve(pipe: Any, name: str, game: str, options: dict[str, Any]) -> None:
    """The guest's side: load the agent, then answer until the pipe closes."""
    from .loader import load_agent

    follow_parent()
    state = get_game(game).state
    try:
        agent = load_agent(name, game=game, **options)
        pipe.send((True, None))
    except Exception as error:
        pipe.send((False, f"agent {name!r} can't be made: {error}"))
        return
    while True:
        try:
            views, keys = pipe.recv()
        except EOFError:
            return
        try:
            answer = agent.act(np.frombuffer(views, state).copy(), np.frombuffer(keys, np.uint64).copy())
            pipe.send((True, answer))
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
