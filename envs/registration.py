"""The environments under their ids in the registries of Gymnasium and PettingZoo.

Registration is by string: the Gymnasium face, which has opponents inside, is built where the agents are.
"""

from __future__ import annotations

import gymnasium
import pettingzoo

from .games import HERZELN, VIERSCHE


def register_environments() -> None:
    """Register `stich/Herzeln-v0`, `stich/Viersche-v0` and, where PettingZoo has a registry, their AEC ids."""
    for game in (HERZELN, VIERSCHE):
        env_id = f"stich/{game.name.capitalize()}-v0"
        if env_id not in gymnasium.registry:
            gymnasium.register(
                env_id,
                entry_point="stich.agents.seat:SeatEnv",
                vector_entry_point="stich.agents.seat:SeatVectorEnv",
                kwargs={"game": game.name},
            )
        if hasattr(pettingzoo, "register"):  # from 1.27 on
            pettingzoo.register("aec", f"stich/{game.name}-v0", f"stich.envs.{game.name}_v0:env")
