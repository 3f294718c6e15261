"""Training on several processes: the same network in all, exact resuming, and ends that leave nothing behind."""

from __future__ import annotations

import functools
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import learners
import pytest
import torch
from test_training import files_of, tiny, trainer_stops_after

from stich.agents.checkpoint import CheckpointError, read_checkpoint
from stich.training.parallel import Alone, Team, team
from stich.training.ppo import Trainer
from stich.training.run import train

PARTS: dict[str, Any] = {
    "game": "viersche",
    "steps": 30,
    "decisions": 16 * 30 * 6,
    "improve": 16 * 30,
    "reference_weight": 0.1,
    "forecast_weight": 0.1,
    "opponents": ("past", "random"),
    "opponent_share": 0.5,
    "past_every": 2,
    "past_size": 2,
    "processes": 2,
}
"""Deals that break off, older selves, a reference: all that the processes must agree on."""


def test_both_processes_learn_the_same_network() -> None:
    """Weights, reference and older selves agree, the random numbers do not, and the optimisers took as many steps."""
    config = tiny(**PARTS)
    with team(2, learners.learn, config) as processes:
        weights, numbers, steps = learners.learn(processes, config)
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(numbers[0], numbers[1])
    assert steps[0] == steps[1] > 6
    alone, _, _ = learners.learn(Alone(), config)
    assert not torch.equal(alone[0], weights[0])


def test_means_are_over_the_values_of_all_processes() -> None:
    with team(2, learners.reduce) as processes:
        mean, deviation, gradient = learners.reduce(processes)
    expected = learners.reduce(Alone())
    assert (mean, deviation) == pytest.approx(expected[:2], rel=1e-12)
    torch.testing.assert_close(gradient, expected[2])


def test_the_lanes_of_all_processes_are_those_of_one() -> None:
    def lanes(team: Alone) -> list[int]:
        return [int(lane) for lane in Trainer(tiny(), team).collectors[0].batch.states["lane"]]

    parts = [lanes(Team(rank, 4, Path("nobody to meet yet"))) for rank in range(4)]
    assert [lane for part in parts for lane in part] == lanes(Alone())


def test_one_process_shares_nothing(tmp_path: Path) -> None:
    assert type(train(tiny(decisions=1), tmp_path).team) is Alone


def test_resumed_equals_uninterrupted(tmp_path: Path) -> None:
    config = tiny(**PARTS)
    train(config, tmp_path / "whole")
    trainer_stops_after(config, 4, tmp_path / "parts")
    assert not multiprocessing.active_children()
    train(config, tmp_path / "parts", resume=True)
    assert files_of(tmp_path / "whole") == files_of(tmp_path / "parts")
    with pytest.raises(CheckpointError, match="processes differ"):
        train(tiny(**{**PARTS, "processes": 4}), tmp_path / "parts", resume=True)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (learners.crash, r"process 1 of the training ended by itself \(exit status 7\)"),
        (learners.err, "process 1 of the training failed:\n[^$]*no idea what to play"),
        (learners.refuse, "process of the training failed:\n[^$]*no idea what to play"),
    ],
)
def test_a_process_that_fails_ends_the_run(work: Callable[[Alone], None], message: str) -> None:
    """With three processes, of which one has done nothing wrong."""
    with pytest.raises(ChildProcessError, match=message), team(3, work) as processes:
        work(processes)
    assert not multiprocessing.active_children()


def children(process: int) -> list[int]:
    """The spawned processes of a process."""
    found = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [int(child) for child in found if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")
@pytest.mark.parametrize(
    ("number", "message", "status"),
    [
        (signal.SIGTERM, "interrupted; --resume goes on from the last checkpoint", 130),
        (signal.SIGINT, "interrupted; --resume goes on from the last checkpoint", 130),
        (signal.SIGKILL, "stich: process 1 of the training ended by itself (exit status -9)", 2),
    ],
)
def test_a_run_that_is_ended_leaves_no_process_and_a_whole_checkpoint(
    number: int, message: str, status: int, tmp_path: Path
) -> None:
    """SIGTERM and Ctrl-C for the run, SIGKILL for its other process."""
    words = ["processes=2", "lanes=8", "hidden=[8]", "evaluate_deals=2", "evaluate_every=1", "threads=1"]
    command = [sys.executable, "-m", "stich.training.cli", "train", "herzeln_ppo", *words, "decisions=100000000"]
    last, pipe = tmp_path / "last.safetensors", subprocess.PIPE
    heeding = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # tests may run where it is ignored
    ended = subprocess.Popen(
        [*command, "--out", str(tmp_path)], stdout=pipe, stderr=subprocess.STDOUT, text=True, preexec_fn=heeding
    )
    deadline = time.monotonic() + 120
    while not last.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    (worker,) = children(ended.pid)
    os.kill(worker if number == signal.SIGKILL else ended.pid, number)
    said, _ = ended.communicate(timeout=60)
    assert message in said
    assert "Traceback" not in said
    assert ended.returncode == status
    assert not Path(f"/proc/{worker}").exists()
    assert read_checkpoint(last)[1]["updates"] > 0
