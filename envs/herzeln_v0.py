"""Herzeln (Hearts) for 2 to 4 players as a PettingZoo AEC environment.

Each agent is a player for itself. Tricks with hearts (1 point each) or the queen of spades (13) are to be
avoided, unless one takes all of them and so shoots the moon. With two players and all cards dealt it is a game
of perfect information: each hand is the complement of the other.

| | |
|---|---|
| agents | `player_0` ... `player_{P-1}` in the order of play |
| actions | `Discrete(52)`: a card, clubs, diamonds, hearts, spades, each 2 to ace; passing uses the same actions |
| observation | `{"observation": int8[D], "action_mask": int8[52]}`, D = 768 for four players; see `layout()` |
| rewards | `"points"`: minus the points of each deal, when it ends |
| | `"payoff"`: mean points of the others minus own, over 26 |
| | `"result"`: share of the win minus 1/P at the end of a game |

Version history: v0, first version (encoding 1 held the unseen cards too, encoding 2 leaves them out).
"""

from __future__ import annotations

from functools import partial

from .aec import layout_of, make_env
from .games import HERZELN

__all__ = ["env", "layout", "raw_env"]

env = partial(make_env, HERZELN)
"""The environment under PettingZoo's order-enforcing wrapper; the arguments are those of `aec.make_env`."""

raw_env = partial(make_env, HERZELN, raw=True)
"""The environment without that wrapper."""

layout = partial(layout_of, HERZELN)
"""The named slices of the observation, then those of `state()`, under the given options."""
