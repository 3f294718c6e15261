"""Counter-based random numbers: a draw is a pure function of a key and a counter, so nothing has a state.

The key of a deal is made of (seed, lane, deal), the key of an agent's decisions of (seed, deal, seat, agent).
The mixing function is SplitMix64 (Steele, Lea and Flood, 2014).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import entry, kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
M1, M2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
S30, S27, S31, S32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)


@kernel
def mix(x: Any) -> Any:
    """A bijection of uint64 whose every output bit depends on every input bit."""
    x = (x ^ (x >> S30)) * M1
    x = (x ^ (x >> S27)) * M2
    return x ^ (x >> S31)


@kernel
def combine(key: Any, part: Any) -> Any:
    """The key of the part numbered `part` below `key`."""
    return mix(np.uint64(key) + GOLDEN * (np.uint64(part) + np.uint64(1)))


@kernel
def below(key: Any, counter: int, bound: int) -> int:
    """Draw number `counter` of stream `key`, uniform in 0..bound-1 (bias below bound / 2**32)."""
    return np.int64(((combine(key, counter) >> S32) * np.uint64(bound)) >> S32)


@kernel
def deal_key(seed: Any, lane: Any, deal: Any) -> Any:
    """The key of one deal's draws."""
    return combine(combine(mix(np.uint64(seed) + GOLDEN), lane), deal)


@entry
def _agent_keys(seed: Any, deals: Any, seats: Any, agents: Any, out: Any) -> None:
    for i in range(len(out)):
        out[i] = combine(combine(combine(mix(np.uint64(seed) ^ M1), deals[i]), seats[i]), agents[i])


def agent_keys(seed: int, deal: Any, seat: Any, agent: Any) -> np.ndarray:
    """Keys uint64[N] of agents' own draws; deal, seat and agent are integers or integer arrays [N]."""
    parts = [np.atleast_1d(np.asarray(x)).astype(np.uint64) for x in (deal, seat, agent)]
    deals, seats, agents = (np.ascontiguousarray(part) for part in np.broadcast_arrays(*parts))
    out = np.empty(deals.shape, np.uint64)
    _agent_keys(np.uint64(seed), deals, seats, agents, out)
    return out
