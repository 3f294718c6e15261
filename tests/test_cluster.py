"""Tournaments and studies on a Ray cluster of two nodes here; where Ray is not installed there is nothing to test."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_moon_study import small as small_study
from test_tournament import contents, quiet, small

from stich.envs import OptionError
from stich.training import moon_jobs
from stich.training.cluster import RayPool
from stich.training.tournament import Recipe, run_tournament

pytest.importorskip("ray")


@pytest.fixture
def cluster() -> Iterator[Any]:
    import ray
    from ray.cluster_utils import Cluster

    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    found.second = found.add_node(num_cpus=1)
    found.wait_for_nodes()
    yield found
    ray.shutdown()  # a cluster does not end under a driver that still holds it
    found.shutdown()


def test_two_nodes_give_the_same_files(cluster: Any, tmp_path: Path) -> None:
    here = run_tournament(small(), tmp_path / "here", say=quiet)
    config = small()
    pool = RayPool(Recipe(config), config.patience, cluster.address)
    assert pool.size == 2
    there = run_tournament(config, tmp_path / "there", pool=pool, say=quiet)
    assert contents(here) == contents(there)


def test_a_lost_node_loses_no_deal(cluster: Any, tmp_path: Path) -> None:
    here = run_tournament(small(), tmp_path / "here", say=quiet)
    config = small()
    pool = RayPool(Recipe(config), config.patience, cluster.address)
    killed = []

    def progress(played: int, total: int) -> None:
        if played > 8 and not killed:
            killed.append(True)
            cluster.remove_node(cluster.second, allow_graceful=False)

    there = run_tournament(config, tmp_path / "there", pool=pool, progress=progress, say=quiet)
    assert killed
    assert contents(here) == contents(there)


def test_a_study_goes_on_without_a_lost_node(cluster: Any, tmp_path: Path) -> None:
    config = small_study()
    moon_jobs.run_jobs(config, tmp_path / "here")
    pool = RayPool(moon_jobs.Recipe(config), config.patience, cluster.address)
    killed = []

    def progress(done: int, total: int) -> None:
        if done > 2 and not killed:
            killed.append(True)
            cluster.remove_node(cluster.second, allow_graceful=False)

    moon_jobs.run_jobs(config, tmp_path / "there", pool=pool, progress=progress)
    assert killed
    names = sorted(path.name for path in (tmp_path / "here" / "parts").iterdir())
    for name in names:
        here, there = (moon_jobs.read_rows(tmp_path / side / "parts" / name) for side in ("here", "there"))
        assert here is not None
        assert here.equals(there)


def test_no_cluster_at_that_address() -> None:
    with pytest.raises(OptionError, match=r"no Ray cluster at '127.0.0.1:9'"):
        RayPool(Recipe(small()), 60, "127.0.0.1:9")
