"""How fast self-play learns beside sb3-contrib's MaskablePPO on the Gymnasium face. Needs the extras `train` and `sb3`.

Both have the same widths of the hidden layers, the same minibatches and epochs, and one thread of torch; a unit of work
is a rollout with its update. Counted are decisions: cards learned from that had another legal one beside them.
`stich train` plays all seats with the learner and learns from all of them; MaskablePPO learns at one seat of each
environment, in which the rule-based agent plays the others. It learns from forced cards as well, which is not counted.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from dataclasses import replace

import gymnasium
import sb3_contrib
import torch
from rich.console import Console
from rich.table import Table
from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer
from stable_baselines3.common.vec_env import DummyVecEnv

from ..envs.game import GAMES
from .bench import alternate, ratio
from .config import TrainConfig, find_config, read_yaml, train_config
from .objective import Losses
from .ppo import Trainer
from .rollout import Rollout

ENVS = (8, 64)  # numbers of environments of MaskablePPO: what is usual, and more of them for one pass of the network
ROUNDS = 3
ENV_CARDS = 2048  # its cards between two updates
COUNTED = (
    "Counted are decisions learned from (cards that were not forced), rollout and update: in self-play those of all "
    "seats, by MaskablePPO those of the one seat that it holds, while `rules` plays the others inside the environment. "
    "Widths of the network, minibatches and epochs are the same."
)


class CountingTrainer(Trainer):
    """A trainer that counts what it learned from."""

    learned = 0

    def learn(self, rollout: Rollout) -> Losses:
        self.learned += len(rollout.action)
        return super().learn(rollout)


def self_play(config: TrainConfig) -> Callable[[], int]:
    """Updates of `stich train`; each returns the decisions learned from."""
    trainer = CountingTrainer(config)

    def work() -> int:
        before = trainer.learned
        trainer.update()
        return trainer.learned - before

    return work


def maskable_ppo(config: TrainConfig, envs: int, cards: int) -> Callable[[], int]:
    """Updates of MaskablePPO after so many cards in all its environments; each returns the decisions learned from."""
    env_id = f"stich/{config.game.capitalize()}-v0"
    options = {"preset": config.preset, **config.options}
    layers = list(config.hidden)
    model = sb3_contrib.MaskablePPO(
        "MlpPolicy",
        DummyVecEnv([lambda: gymnasium.make(env_id, **options)] * envs),
        learning_rate=config.learning_rate,
        n_steps=cards // envs,
        batch_size=min(config.minibatch, cards),
        n_epochs=config.epochs,
        policy_kwargs={"net_arch": {"pi": layers, "vf": layers}, "activation_fn": torch.nn.ReLU},
        seed=config.seed,
        device="cpu",
    )

    def work() -> int:
        model.learn(cards, reset_num_timesteps=False)
        buffer = model.rollout_buffer
        assert isinstance(buffer, MaskableRolloutBuffer)
        return int((buffer.action_masks.reshape(-1, buffer.mask_dims).sum(1) > 1).sum())

    return work


def run_learning(
    seconds: float, console: Console, lanes: int | None = None, env_cards: int = ENV_CARDS
) -> dict[str, float]:
    """Measure both on every game, print a table, and return the figures by name.

    Args:
        seconds: CPU time of each measurement, an update at least; torch has one thread from here on.
        console: Where to print.
        lanes: Games of self-play side by side; None for those of the config.
        env_cards: MaskablePPO's cards between two updates.

    Returns:
        Decisions in a CPU-second as `GAME_self_play` and, for each number of environments, `GAME_maskable_ppo_ENVS`,
        with how many times more self-play learns from as `GAME_ratio_ENVS`.
    """
    figures: dict[str, float] = {}
    table = Table("game", "learner", "decisions/s", "self-play over it", title="learning, per CPU-second on one core")
    for game in GAMES:
        config = train_config(read_yaml(find_config(f"{game}_ppo")), ["threads=1", "device=cpu"])
        config = replace(config, lanes=lanes or config.lanes)
        works = {"self_play": self_play(config)}
        works |= {f"maskable_ppo_{envs}": maskable_ppo(config, envs, env_cards) for envs in ENVS}
        measured = alternate(works, seconds, ROUNDS)
        figures |= {f"{game}_{name}": statistics.median(rates) for name, rates in measured.items()}
        table.add_row(game, f"stich train, {config.lanes} lanes", f"{figures[f'{game}_self_play']:,.0f}", "")
        for envs in ENVS:
            peer = f"maskable_ppo_{envs}"
            figures[f"{game}_ratio_{envs}"] = times = ratio(measured, "self_play", peer)
            row = f"MaskablePPO, {envs} environments", f"{figures[f'{game}_{peer}']:,.0f}", f"x {times:.1f}"
            table.add_row(game, *row)
    console.print(table)
    console.print(COUNTED, markup=False, highlight=False)
    return figures
