"""Work on several processes: jobs are handed out, and a job that crashes or hangs costs only itself.

A *runner* is made once in each process from a picklable recipe: `recipe.open()` gives an object whose
`run(job, asking)` does one job. Around everything that may hang it says `with asking(number):`.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol

from ..agents.guest import follow_parent

NOBODY = -1
LOOK = 0.2  # seconds between two looks at a worker


@dataclass(frozen=True)
class Failure:
    """Why a job has no result.

    Attributes:
        asked: Number given to `asking` when it happened.
        reason: What happened.
        stuck: The process was lost (crashed, or killed because it hung), rather than an error raised.
    """

    asked: int
    reason: str
    stuck: bool


class WorkerError(RuntimeError):
    """A worker has failed outside of everything it asks for: a fault of this program or of the machine."""


class Asking:
    """Notes in shared memory who is being asked since when, and counts the seconds: `with asking(number):`."""

    def __init__(self, note: Any, size: int) -> None:
        self.note, self.seconds, self.number = note, [0.0] * size, NOBODY

    def __call__(self, number: int) -> Asking:
        self.number = number
        return self

    def __enter__(self) -> None:
        self.note[1] = time.monotonic()
        self.note[0] = self.number

    def __exit__(self, kind: object, *rest: object) -> None:
        self.seconds[self.number] += time.monotonic() - self.note[1]
        if kind is None:  # otherwise the note says who failed
            self.note[0] = NOBODY


class Worker:
    """One process that does jobs, watched over from this one.

    Args:
        recipe: Picklable; `recipe.open()` makes the runner, `recipe.asked` is the number of those it may ask.
        patience: Seconds that one question may take.
    """

    def __init__(self, recipe: Any, patience: float) -> None:
        self.recipe, self.patience = recipe, patience
        self._process: Any = None

    def run(self, job: Any) -> Any:
        """The job's result, or a `Failure`.

        Raises:
            WorkerError: see there.
        """
        if self._process is None:
            self._start()
        try:
            self._pipe.send(job)
            while not self._pipe.poll(LOOK):
                if self._note[0] != NOBODY and time.monotonic() - self._note[1] > self.patience:
                    asked = int(self._note[0])
                    self.close()
                    return Failure(asked, f"no answer within {self.patience:g} seconds", True)
            kind, answer = self._pipe.recv()
        except (EOFError, OSError):
            return self._lost()
        if kind == "broken":
            raise WorkerError(f"a worker failed:\n{answer}")
        return answer

    def _lost(self) -> Failure:
        self._process.join(2)
        code, asked = self._process.exitcode, int(self._note[0])
        self.close()
        if asked == NOBODY:
            raise WorkerError(f"a worker process ended by itself (exit status {code}), perhaps for want of memory")
        return Failure(asked, f"its process ended (exit status {code})", True)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._note = context.RawArray("d", [NOBODY, 0.0])
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, self._note, self.recipe))
        self._process.start()
        theirs.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def _serve(pipe: Any, note: Any, recipe: Any) -> None:
    """The worker's side."""
    os.environ["OMP_NUM_THREADS"] = "1"  # as many processes as cores: more threads would only wait for each other
    follow_parent()
    runner, broken = None, ""
    try:
        runner = recipe.open()
    except Exception:
        broken = traceback.format_exc()
    while True:
        try:
            job = pipe.recv()
        except (EOFError, KeyboardInterrupt):
            return
        if runner is None:
            pipe.send(("broken", broken))
            continue
        try:
            pipe.send(("done", runner.run(job, Asking(note, recipe.asked))))
        except KeyboardInterrupt:
            return
        except Exception as error:
            asked, note[0] = int(note[0]), NOBODY
            if asked == NOBODY:
                pipe.send(("broken", traceback.format_exc()))
            else:
                pipe.send(("done", Failure(asked, f"{type(error).__name__}: {error}", False)))


class Pool(Protocol):
    """Several workers."""

    size: int

    def start(self, job: Any) -> None:
        """Give a job to an idle worker; there must be one."""
        ...

    def next(self) -> tuple[Any, Any]:
        """Wait for a job to end: the job, and its result or `Failure`."""
        ...

    def close(self) -> None:
        """End all workers; what they are doing is lost."""
        ...


def cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class LocalPool:
    """Processes on this machine.

    Args:
        recipe, patience: See `Worker`.
        size: Number of processes; 0 for one a core.
    """

    def __init__(self, recipe: Any, patience: float, size: int = 0) -> None:
        self.size = size or cores()
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._workers = [Worker(recipe, patience) for _ in range(self.size)]
        for worker in self._workers:
            self._idle.put(worker)
        self._done: queue.SimpleQueue[tuple[Any, Any, BaseException | None]] = queue.SimpleQueue()
        self._threads = ThreadPoolExecutor(self.size)

    def start(self, job: Any) -> None:
        self._threads.submit(self._run, self._idle.get(), job)

    def _run(self, worker: Worker, job: Any) -> None:
        result, error = None, None
        try:
            result = worker.run(job)
        except BaseException as raised:
            error = raised
        self._idle.put(worker)
        self._done.put((job, result, error))

    def next(self) -> tuple[Any, Any]:
        job, result, error = self._done.get()
        if error is not None:
            raise error
        return job, result

    def close(self) -> None:
        for worker in self._workers:
            worker.close()
        self._threads.shutdown(wait=False, cancel_futures=True)


def work_off(pool: Pool, next_job: Callable[[], Any]) -> Iterator[tuple[Any, Any]]:
    """Jobs and their results as they come.

    Args:
        pool: Who does the work.
        next_job: The next job, or None for now; asked whenever a worker is idle, and again after every result.
    """
    running = 0
    while True:
        while running < pool.size and (job := next_job()) is not None:
            pool.start(job)
            running += 1
        if not running:
            return
        yield pool.next()
        running -= 1
