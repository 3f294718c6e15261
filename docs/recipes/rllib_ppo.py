"""RLlib's PPO by self-play on the AEC face, through its own wrapper: one network for all seats. 3 minutes, one core.

    pip install 'stich[rllib]'     # in an environment of its own: RLlib pins Gymnasium 1.2.2
    python docs/recipes/rllib_ppo.py --game herzeln
    python docs/recipes/rllib_ppo.py --ray HOST:PORT     # deals are played on every CPU of a Ray cluster

Whole deals are collected, so each seat's moves end with its last card and the reward that the deal's end brings it.
On a cluster the learning goes on with the nodes that are left when one is lost.
RLlib's `debugging(seed=)` is left alone: with whole deals it would deal the same cards at every collection.
"""

from __future__ import annotations

import logging
import time
from typing import Any

import numpy as np
import ray
import torch
from common import PolicyAgent, arguments, measure
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.columns import Columns
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.multi_rl_module import MultiRLModuleSpec
from ray.rllib.core.rl_module.rl_module import RLModuleSpec
from ray.rllib.core.rl_module.torch import TorchRLModule
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.tune.registry import register_env

from stich.envs import herzeln_v0, viersche_v0
from stich.training.cluster import connect

SHARED = "all_seats"  # the one policy
ENVS, CARDS, EPOCHS, MINIBATCH = 16, 2000, 4, 256  # environments; cards between two updates, at least


class MaskedPolicy(TorchRLModule, ValueFunctionAPI):
    """Scores of the cards, the illegal ones far below, and a value."""

    def setup(self) -> None:
        size, cards = self.observation_space["observation"].shape[0], self.action_space.n
        self.scores, self.value = network(size, cards), network(size, 1)

    def _forward(self, batch: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        # finite: RLlib also evaluates what a seat sees after the end, where no card is legal
        return {Columns.ACTION_DIST_INPUTS: self.scores(seen["observation"].float()) - 1e9 * (seen["action_mask"] == 0)}

    def compute_values(self, batch: dict[str, Any], embeddings: Any = None) -> torch.Tensor:
        return self.value(batch[Columns.OBS]["observation"].float()).squeeze(-1)


def network(size: int, outputs: int) -> torch.nn.Module:
    """Two hidden layers."""
    relu = torch.nn.ReLU
    return torch.nn.Sequential(
        torch.nn.Linear(size, 128), relu(), torch.nn.Linear(128, 128), relu(), torch.nn.Linear(128, outputs)
    )


def table(context: dict[str, Any]) -> PettingZooEnv:
    """One table, as RLlib makes it wherever it collects."""
    module = {"herzeln": herzeln_v0, "viersche": viersche_v0}[context["game"]]
    return PettingZooEnv(module.env(episode="deal", reward="payoff", illegal="raise"))


def ppo(game: str, runners: int = 0) -> PPOConfig:
    """What RLlib is told; with 0 runners this process plays the deals itself."""
    register_env("table", table)
    return (
        PPOConfig()
        # its check would play a card regardless of the mask
        .environment(env="table", env_config={"game": game}, disable_env_checking=True)
        .multi_agent(policies={SHARED}, policy_mapping_fn=lambda *_, **__: SHARED)
        .rl_module(rl_module_spec=MultiRLModuleSpec(rl_module_specs={SHARED: RLModuleSpec(module_class=MaskedPolicy)}))
        .env_runners(
            num_env_runners=runners,
            num_envs_per_env_runner=ENVS,
            batch_mode="complete_episodes",
            sample_timeout_s=300,  # the first collection may compile the rules; a lost node is noticed long before
        )
        # a node that is lost costs the deals it was playing; RLlib asks for so many seconds whether one is back
        .fault_tolerance(restart_failed_env_runners=True, env_runner_health_probe_timeout_s=5)
        .training(
            train_batch_size_per_learner=CARDS,
            minibatch_size=MINIBATCH,
            num_epochs=EPOCHS,
            lr=1e-3,
            gamma=1.0,
            lambda_=0.98,
            entropy_coeff=0.01,
            clip_param=0.2,
            use_kl_loss=False,
            grad_clip=0.5,
        )
    )


def start(address: str | None) -> int:
    """Start Ray here, or join the cluster at an address; how many processes are to play deals beside this one."""
    if address is not None:
        return connect(address)[1]
    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=200_000_000, logging_level=logging.ERROR)
    return 0


def main() -> None:
    given = arguments(__doc__ or "", minutes=3, ray="address of a Ray cluster: auto or HOST:PORT; none: this machine")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    logging.getLogger("ray.rllib").setLevel(logging.ERROR)  # it says at length which of its interfaces is the new one
    algorithm = ppo(given.game, start(given.ray)).build_algo()

    end, collected = time.monotonic() + 60 * given.minutes, 0
    while time.monotonic() < end:
        collected = int(algorithm.train()["num_env_steps_sampled_lifetime"])
    policy = algorithm.get_module(SHARED)
    algorithm.stop()
    ray.shutdown()

    def choose(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            scores = policy.scores(torch.as_tensor(observations, dtype=torch.float32))
        return scores.masked_fill(~torch.as_tensor(masks), -torch.inf).argmax(1).numpy()

    print(f"{collected:,} cards in {given.minutes:g} minutes")
    measure(PolicyAgent("rllib_ppo", given.game, choose), given.game, given.deals)


if __name__ == "__main__":
    main()
