"""Tianshou's DQN on the AEC face: it learns at `player_0`, its own random player holds the others. 4 minutes, one core.

    pip install stich 'tianshou>=2,<2.1'     # in an environment of its own: it needs virtualenv below 21
    python docs/recipes/tianshou_dqn.py --game herzeln

A target reaches to the end of the deal (as many steps as there are cards), because Tianshou hands a seat's last reward
out with the last card of the deal, whoever plays it, and never with that seat's own last card.
"""

from __future__ import annotations

import logging
import time

import numpy as np
import torch
from common import PolicyAgent, arguments, measure
from tianshou.algorithm import DQN
from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
from tianshou.algorithm.multiagent.marl import MultiAgentOffPolicyAlgorithm
from tianshou.algorithm.optim import AdamOptimizerFactory
from tianshou.algorithm.random import MARLRandomDiscreteMaskedOffPolicyAlgorithm
from tianshou.data import Batch, Collector, VectorReplayBuffer
from tianshou.env import DummyVectorEnv, PettingZooEnv
from tianshou.utils.net.common import Net
from tianshou.utils.torch_utils import policy_within_training_step

from stich.envs import herzeln_v0, viersche_v0

ENVS, STEPS, UPDATES = 16, 832, 8  # environments; cards between two rounds of updates; updates


def main() -> None:
    given = arguments(__doc__ or "", minutes=4)
    torch.set_num_threads(1)
    logging.getLogger("tianshou").setLevel(logging.ERROR)  # it warns of every array of four rewards
    torch.manual_seed(0)
    module = {"herzeln": herzeln_v0, "viersche": viersche_v0}[given.game]

    def make() -> PettingZooEnv:
        return PettingZooEnv(module.env(episode="deal", reward="payoff", illegal="raise"))

    env = make()
    space, cards = env.observation_space["observation"], env.action_space
    policy = DiscreteQLearningPolicy(
        model=Net(state_shape=space.shape, action_shape=cards.n, hidden_sizes=[128, 128]),
        action_space=cards,
        observation_space=env.observation_space,
        eps_training=0.1,
    )
    learner = DQN(
        policy=policy,
        optim=AdamOptimizerFactory(lr=1e-3),
        gamma=1.0,
        n_step_return_horizon=int(cards.n),
        target_update_freq=200,
    )
    others = [MARLRandomDiscreteMaskedOffPolicyAlgorithm(cards) for _ in env.agents[1:]]
    table = MultiAgentOffPolicyAlgorithm(algorithms=[learner, *others], env=env)
    buffer = VectorReplayBuffer(100_000, ENVS)
    collector = Collector(table, DummyVectorEnv([make] * ENVS), buffer, exploration_noise=True)
    collector.reset()

    end, collected = time.monotonic() + 60 * given.minutes, 0
    while time.monotonic() < end:
        with policy_within_training_step(table.policy), policy_within_training_step(policy):
            collected += collector.collect(n_step=STEPS).n_collected_steps
            for _ in range(UPDATES):
                table.update(buffer, sample_size=1024)

    def choose(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            return policy(Batch(obs=Batch(obs=observations, mask=masks), info=Batch())).act

    print(f"{collected:,} cards in {given.minutes:g} minutes")
    measure(PolicyAgent("tianshou_dqn", given.game, choose), given.game, given.deals)


if __name__ == "__main__":
    main()
