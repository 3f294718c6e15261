"""TorchRL's PPO by self-play on the AEC face, through a SuperSuit wrapper: one network. 5 minutes, one core.

    pip install 'stich[torchrl]'
    python docs/recipes/torchrl_ppo.py --game herzeln

All seats are one group, so their observations [T, P, D], masks [T, P, A] and rewards [T, P, 1] lie beside each other.
TorchRL's `mask` says which seat was to move; advantages are made for every seat over all of the time, and of these the
moves are learned from. The last rewards reach all seats.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
import supersuit
import torch
from common import PolicyAgent, arguments, measure
from gymnasium import spaces
from tensordict import TensorDict
from tensordict.nn import TensorDictModule
from torchrl.envs import PettingZooWrapper
from torchrl.modules import MLP, MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

from stich.envs import herzeln_v0, viersche_v0

SEEN = ("player", "observation", "observation")
DEALS, EPOCHS, MINIBATCH = 32, 4, 256  # deals between two updates


def as_floats(observation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The same in the type that networks take."""
    return {**observation, "observation": observation["observation"].astype(np.float32)}


def float_space(space: spaces.Dict) -> spaces.Dict:
    """The space of that."""
    box = space["observation"]
    return spaces.Dict({**space.spaces, "observation": spaces.Box(box.low.astype(float), box.high.astype(float))})


def main() -> None:
    given = arguments(__doc__ or "", minutes=5)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    warnings.filterwarnings("ignore")  # TorchRL names the one version of PettingZoo that it was tested with
    module = {"herzeln": herzeln_v0, "viersche": viersche_v0}[given.game]
    aec = module.env(episode="deal", reward="payoff", illegal="raise")
    aec = supersuit.observation_lambda_v0(aec, lambda seen, *_: as_floats(seen), lambda space, *_: float_space(space))
    env = PettingZooWrapper(aec, use_mask=True, group_map={"player": aec.possible_agents}, seed=0)

    size, cards = aec.observation_space("player_0")["observation"].shape[0], aec.action_space("player_0").n
    logits = MLP(in_features=size, out_features=cards, num_cells=[128, 128], activation_class=torch.nn.ReLU)
    actor = ProbabilisticActor(
        TensorDictModule(logits, in_keys=[SEEN], out_keys=[("player", "logits")]),
        in_keys={"logits": ("player", "logits"), "mask": ("player", "action_mask")},
        out_keys=[("player", "action")],
        distribution_class=MaskedCategorical,
        return_log_prob=True,
        log_prob_key=("player", "log_prob"),
    )
    critic = ValueOperator(
        MLP(in_features=size, out_features=1, num_cells=[128, 128], activation_class=torch.nn.ReLU),
        in_keys=[SEEN],
        out_keys=[("player", "state_value")],
    )
    loss = ClipPPOLoss(actor, critic, entropy_coeff=0.01, critic_coeff=1.0, normalize_advantage=True)
    names = ("action", "reward", "done", "terminated", "value", "advantage", "value_target", "sample_log_prob")
    keys = {name: ("player", name) for name in names}
    keys |= {"value": ("player", "state_value"), "sample_log_prob": ("player", "log_prob")}
    loss.set_keys(**keys)
    advantage = GAE(gamma=1.0, lmbda=0.98, value_network=critic)
    advantage.set_keys(**{name: key for name, key in keys.items() if name not in ("action", "sample_log_prob")})
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)

    def one_deal() -> TensorDict:
        """The moves of a deal [M]: each seat's, with its advantage."""
        deal = env.rollout(1000, actor)
        with torch.no_grad():
            advantage(deal)
        seats = deal["player"]
        moves = seats.select("observation", "action_mask", "action", "log_prob", "advantage", "value_target")
        return TensorDict({"player": moves[seats["mask"]]}, [int(seats["mask"].sum())])

    end, collected = time.monotonic() + 60 * given.minutes, 0
    while time.monotonic() < end:
        with torch.no_grad():
            data = torch.cat([one_deal() for _ in range(DEALS)])
        collected += len(data)
        for _ in range(EPOCHS):
            for rows in torch.randperm(len(data)).split(MINIBATCH):
                found = loss(data[rows])
                optimizer.zero_grad()
                (found["loss_objective"] + found["loss_critic"] + found["loss_entropy"]).backward()
                torch.nn.utils.clip_grad_norm_(loss.parameters(), 0.5)
                optimizer.step()

    def choose(observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
        with torch.no_grad():
            scores = logits(torch.as_tensor(observations, dtype=torch.float32))
        return scores.masked_fill(~torch.as_tensor(masks), -torch.inf).argmax(1).numpy()

    print(f"{collected:,} cards in {given.minutes:g} minutes")
    measure(PolicyAgent("torchrl_ppo", given.game, choose), given.game, given.deals)


if __name__ == "__main__":
    main()
