"""Agents by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from ..envs.errors import OptionError, unknown
from ..envs.game import get_game
from .base import Agent
from .yardsticks import duck_herzeln, greedy_viersche, kernel_agent, low_herzeln, random_herzeln, random_viersche

KERNELS: dict[str, dict[str, Any]] = {
    "herzeln": {"random": random_herzeln, "low": low_herzeln, "duck": duck_herzeln},
    "viersche": {"random": random_viersche, "greedy": greedy_viersche},
}
_made: dict[tuple[str, str], Agent] = {}


def load_agent(name: str, game: str = "herzeln", **options: Any) -> Agent:
    """The agent of that name for a game."""
    found = get_game(game)
    if name not in KERNELS[found.name]:
        raise OptionError(unknown(f"{found.name} agent", name, KERNELS[found.name]))
    if (name, found.name) not in _made:
        _made[name, found.name] = kernel_agent(name, found.name, KERNELS[found.name][name])
    return _made[name, found.name]
