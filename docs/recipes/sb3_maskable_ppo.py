"""sb3-contrib's MaskablePPO on the Gymnasium face: it holds one seat, `random` the others. 3 minutes on one core.

pip install 'stich[sb3]'
python docs/recipes/sb3_maskable_ppo.py --game herzeln
"""

from __future__ import annotations

import time

import gymnasium
import numpy as np
import torch
from common import PolicyAgent, arguments, measure
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.vec_env import DummyVecEnv

import stich.envs  # noqa: F401 - registers the ids


class Minutes(BaseCallback):
    """Ends the learning after so many minutes."""

    def __init__(self, minutes: float) -> None:
        super().__init__()
        self.end = time.monotonic() + 60 * minutes

    def _on_step(self) -> bool:
        return time.monotonic() < self.end


def main() -> None:
    given = arguments(__doc__ or "", minutes=3)
    torch.set_num_threads(1)
    env_id = f"stich/{given.game.capitalize()}-v0"
    # illegal="raise": the policy never sees an illegal card, and were the mask ignored, we would be told
    envs = DummyVecEnv([lambda: gymnasium.make(env_id, opponents="random", episode="deal", illegal="raise")] * 16)
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        n_steps=128,
        batch_size=512,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=1.0,  # a deal is short, and all that counts is its end
        ent_coef=0.01,
        policy_kwargs={"net_arch": [128, 128], "activation_fn": torch.nn.ReLU},
        seed=0,
        device="cpu",
    )
    model.learn(100_000_000, callback=Minutes(given.minutes))

    def choose(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        return model.predict(observations, action_masks=masks, deterministic=True)[0]

    print(f"{model.num_timesteps:,} cards in {given.minutes:g} minutes")
    measure(PolicyAgent("maskable_ppo", given.game, choose), given.game, given.deals)


if __name__ == "__main__":
    main()
