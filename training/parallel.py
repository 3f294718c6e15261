"""Training on several processes: each plays and learns on lanes of its own, and all take the same steps.

Process 0 is the caller's, the others are started from it and end with it. They meet over gloo on the loopback
interface. A trainer sees a `Team`; `Alone` is one of a single process, for which all of it does nothing.
"""

from __future__ import annotations

import os
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import timedelta
from functools import cached_property
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn

import numpy as np
import torch
from torch import Tensor
from torch.distributed import FileStore, ProcessGroupGloo  # pyright: ignore[reportPrivateImportUsage]  # documented
from torch.nn.utils import parameters_to_vector, vector_to_parameters

from ..agents.guest import follow_parent
from .workers import cores

LEFT_ALONE = 3  # exit status of a process that ended because another one has
LOOKS, LOOK = 25, 0.2  # how often, and after how many seconds, it is asked who has failed
PATIENCE = timedelta(days=7)  # the others wait while process 0 evaluates; a process that dies is noticed at once


class Alone:
    """A single process, which has all lanes.

    Attributes:
        rank: Number of this process.
        size: Number of processes.
    """

    rank, size = 0, 1

    def threads(self, asked: int) -> int:
        """Threads of torch in this process; 0 leaves it to torch."""
        return asked

    def seed(self, seed: int) -> int:
        """Seed of this process's random numbers."""
        return seed

    def own(self, values: Any) -> Any:
        """This process's part of an array or tensor of all processes."""
        return values

    def gather(self, own: Tensor) -> Tensor:
        """The parts of all processes, one after the other."""
        return own

    def first(self, number: int) -> int:
        """Process 0's number."""
        return number

    def mean(self, value: float) -> float:
        """Mean over the processes."""
        return value

    def spread(self, values: np.ndarray) -> tuple[Any, Any]:
        """Mean and standard deviation of the values [K] of all processes; (0, infinity) where there are none."""
        return (values.mean(), values.std()) if len(values) else (0.0, np.inf)

    def split(self, order: Tensor, size: int) -> Sequence[Tensor]:
        """Minibatches of `size` decisions in all processes together, as many in each process."""
        return order.split(size)

    def average(self, network: torch.nn.Module, weight: float | Tensor) -> None:
        """Make gradients those of the mean over all processes, this process's with the given weight."""


class Team(Alone):
    """One of several processes, seen from itself.

    Args:
        rank, size: See `Alone`.
        store: File over which the processes find each other.
        pipe: To process 0.
    """

    def __init__(self, rank: int, size: int, store: Path, pipe: Any = None) -> None:
        self.rank, self.size, self.store, self.pipe = rank, size, store, pipe

    @cached_property
    def _gloo(self) -> Any:
        self._meet()
        options = ProcessGroupGloo._Options()
        options._devices = [ProcessGroupGloo.create_device(hostname="127.0.0.1")]
        options._timeout = PATIENCE
        return ProcessGroupGloo(FileStore(str(self.store), self.size), self.rank, self.size, options)

    def _meet(self) -> None:
        self.pipe.send("")  # ready

    def _lost(self) -> NoReturn:
        os._exit(LEFT_ALONE)

    def _sum(self, tensor: Tensor) -> Tensor:
        """The sum over all processes, in place; the same bits in each."""
        try:
            self._gloo.allreduce([tensor]).wait()
        except RuntimeError:  # a connection is closed
            self._lost()
        return tensor

    def _sums(self, *numbers: float) -> list[float]:
        return self._sum(torch.tensor(numbers, dtype=torch.float64)).tolist()

    def threads(self, asked: int) -> int:
        return asked or max(cores() // self.size, 1)

    def seed(self, seed: int) -> int:
        return int(np.random.SeedSequence((seed, self.rank)).generate_state(1)[0])

    def own(self, values: Any) -> Any:
        return values.reshape(self.size, -1)[self.rank]

    def gather(self, own: Tensor) -> Tensor:
        parts = [torch.empty_like(own) for _ in range(self.size)]
        try:
            self._gloo.allgather([parts], [own]).wait()
        except RuntimeError:
            self._lost()
        return torch.cat(parts)

    def first(self, number: int) -> int:
        return int(self._sums(0 if self.rank else number)[0])

    def mean(self, value: float) -> float:
        return self._sums(value)[0] / self.size

    def spread(self, values: np.ndarray) -> tuple[Any, Any]:
        count, total = self._sums(len(values), float(values.sum(dtype=np.float64)))
        mean = total / max(count, 1.0)
        (squares,) = self._sums(float(((values - mean) ** 2).sum(dtype=np.float64)))
        return mean, (squares / count) ** 0.5 if count else np.inf

    def split(self, order: Tensor, size: int) -> Sequence[Tensor]:
        """As above: of almost equal size in a process; how many, the decisions of all processes say."""
        everywhere = self.gather(torch.tensor([len(order)]))
        parts = min(-(-int(everywhere.sum()) // size), int(everywhere.min()))  # none of them empty
        return order.tensor_split(max(parts, 1))

    def average(self, network: torch.nn.Module, weight: float | Tensor) -> None:
        gradients = [each.grad for each in network.parameters() if each.grad is not None]
        mine = parameters_to_vector(gradients) * weight
        total = self._sum(torch.cat([mine, torch.tensor([float(weight)])]))
        vector_to_parameters(total[:-1] / total[-1].clamp(min=1), gradients)


class Leader(Team):
    """Process 0, which starts the others and ends them.

    Args:
        size: Number of processes.
        store: See `Team`.
        work: Called in each of the others with its team and the arguments; must be importable by name.
        args: Arguments, picklable.
    """

    def __init__(self, size: int, store: Path, work: Callable[..., Any], args: tuple[Any, ...]) -> None:
        super().__init__(0, size, store)
        self._workers: list[tuple[Any, Any]] = []
        with _handling(signal.SIGINT, signal.SIG_IGN):  # inherited: Ctrl-C is for process 0, which ends the others
            for rank in range(1, size):
                self._start(rank, work, args)

    def _start(self, rank: int, work: Callable[..., Any], args: tuple[Any, ...]) -> None:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(Team(rank, self.size, self.store, theirs), work, *args))
        process.start()
        theirs.close()
        self._workers.append((process, ours))

    def _meet(self) -> None:
        for _, pipe in self._workers:
            try:
                said = pipe.recv()
            except (EOFError, OSError):
                self._lost()
            if said:
                raise ChildProcessError(f"a process of the training failed:\n{said}")

    def _lost(self) -> NoReturn:
        for _ in range(LOOKS):
            for rank, (process, pipe) in enumerate(self._workers, 1):
                status, said = process.exitcode, ""
                with suppress(EOFError, OSError):
                    said = pipe.recv() if pipe.poll() else ""
                if said:
                    raise ChildProcessError(f"process {rank} of the training failed:\n{said}") from None
                if status not in (None, LEFT_ALONE):
                    why = f"(exit status {status}), perhaps for want of memory"
                    raise ChildProcessError(f"process {rank} of the training ended by itself {why}") from None
            time.sleep(LOOK)
        raise ChildProcessError("the processes of the training have lost each other") from None

    def close(self) -> None:
        """End the other processes."""
        for process, pipe in self._workers:
            process.kill()
            process.join()
            pipe.close()


@contextmanager
def team(size: int, work: Callable[..., Any], *args: Any) -> Iterator[Alone]:
    """The processes of a training run, seen from process 0; the others end with the block, however it ends.

    SIGTERM is like Ctrl-C inside it, a KeyboardInterrupt.

    Args:
        size: Number of processes.
        work, args: See `Leader`.

    Raises:
        ChildProcessError: in whatever needs the others, when one of them has failed.
    """
    if size == 1:
        yield Alone()
        return
    with TemporaryDirectory() as folder, _handling(signal.SIGTERM, signal.default_int_handler):
        leader = Leader(size, Path(folder) / "store", work, args)
        try:
            yield leader
        finally:
            leader.close()


def _serve(team: Team, work: Callable[..., Any], *args: Any) -> None:
    """The other processes' side."""
    follow_parent()
    try:
        work(team, *args)
    except Exception:
        team.pipe.send(traceback.format_exc())
        os._exit(1)
    with suppress(EOFError, OSError):
        team.pipe.recv()  # stay until process 0 is done: what was sent last may be under way


@contextmanager
def _handling(number: int, handler: Any) -> Iterator[None]:
    """Handle a signal so for a while, where this is possible: in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
