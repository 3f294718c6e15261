"""RLlib's recipe on a Ray cluster of two nodes here; where RLlib is not installed there is nothing to test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("ray")
pytest.importorskip("tree", reason="Ray is here without RLlib")

from test_cluster import cluster  # noqa: F401 (a fixture)

RECIPES = Path(__file__).resolve().parent.parent / "docs" / "recipes"


def test_training_goes_on_without_a_lost_node(cluster: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    monkeypatch.syspath_prepend(RECIPES)
    import rllib_ppo  # pyright: ignore[reportMissingImports]
    from ray import cloudpickle  # pyright: ignore[reportMissingImports]

    cloudpickle.register_pickle_by_value(rllib_ppo)  # as if it were the script: the nodes have no such module
    algorithm = rllib_ppo.ppo("viersche", runners=rllib_ppo.start(cluster.address)).build_algo()
    runners = algorithm.env_runner_group
    assert runners.num_healthy_remote_workers() == 2
    before = algorithm.train()["num_env_steps_sampled_lifetime"]
    weights = algorithm.get_module(rllib_ppo.SHARED).scores[0].weight.clone()
    cluster.remove_node(cluster.second, allow_graceful=False)
    algorithm.train()
    after = algorithm.train()["num_env_steps_sampled_lifetime"]
    assert runners.num_healthy_remote_workers() == 1
    assert after >= before + rllib_ppo.CARDS
    assert not weights.equal(algorithm.get_module(rllib_ppo.SHARED).scores[0].weight)
    algorithm.stop()
