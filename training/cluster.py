"""The same work on a Ray cluster (extra `ray`): an actor a core, each with a worker process of its own."""

from __future__ import annotations

import socket
from typing import Any

from ..envs.errors import OptionError
from .workers import Worker


def _knock(address: str) -> None:
    """Fail soon where nobody listens: Ray itself would try for minutes.

    Raises:
        OSError: no answer.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdigit():
        socket.create_connection((host, int(port)), timeout=10).close()


def connect(address: str) -> tuple[Any, int]:
    """Join a Ray cluster: the module `ray`, and how many CPUs the cluster has.

    Args:
        address: `auto`, `HOST:PORT` or `ray://HOST:PORT`.

    Raises:
        OptionError: there is no cluster at that address.
        ModuleNotFoundError: Ray is not installed.
    """
    import ray  # pyright: ignore[reportMissingImports] (an extra of its own)

    try:
        _knock(address)
        ray.init(address=address, ignore_reinit_error=True, log_to_driver=False, logging_level="ERROR")
    except (OSError, ValueError, RuntimeError) as error:
        reason = " ".join(str(error).split())
        raise OptionError(f"no Ray cluster at {address!r}: {reason}. Valid: auto, HOST:PORT, ray://HOST:PORT") from None
    return ray, max(1, int(ray.cluster_resources().get("CPU", 1)))


class RayPool:
    """Workers of a Ray cluster; see `workers.Pool`. A job whose node is lost is done again on another.

    Args:
        recipe, patience: See `Worker`.
        address: Of the cluster, as for `connect`, whose errors it raises.
    """

    def __init__(self, recipe: Any, patience: float, address: str) -> None:
        self.ray, self.size = connect(address)
        self.recipe, self.patience = recipe, patience
        self._actor = self.ray.remote(num_cpus=1)(Worker)
        self._idle: list[Any] = []
        self._running: dict[Any, tuple[Any, Any]] = {}

    def start(self, job: Any) -> None:
        actor = self._idle.pop() if self._idle else self._actor.remote(self.recipe, self.patience)
        self._running[actor.run.remote(job)] = (actor, job)

    def next(self) -> tuple[Any, Any]:
        while True:
            (done,), _ = self.ray.wait(list(self._running), num_returns=1)
            actor, job = self._running.pop(done)
            try:
                result = self.ray.get(done)
            except self.ray.exceptions.RayActorError:  # its node is gone; whoever is left does the job
                self.start(job)
                continue
            self._idle.append(actor)
            return job, result

    def close(self) -> None:
        for actor in [*self._idle, *(actor for actor, _ in self._running.values())]:
            self.ray.kill(actor)
        self._idle, self._running = [], {}
        self.ray.shutdown()
