"""Seeds for training, validation, test and benchmarks, apart by construction: ranges of 2**60 that never meet."""

from __future__ import annotations

from ..envs.errors import OptionError

TRAIN, VALIDATION, TEST, BENCHMARK = range(4)
RANGE = 1 << 60


def seed_of(part: int, seed: int) -> int:
    """The seed of the environment for a part of the work and a user's seed (0 to 2**60 - 1).

    Examples:
        >>> seed_of(TRAIN, 7), seed_of(TEST, 7) == 7 + 2 * RANGE
        (7, True)
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < RANGE:
        raise OptionError(f"seed={seed!r} is not valid. Valid: a whole number from 0 to 2**60 - 1")
    return part * RANGE + seed
