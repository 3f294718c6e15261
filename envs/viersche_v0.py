"""Viersche (Hundert), the partnership point-trick game from the Black Forest, as a PettingZoo AEC environment.

Four players, seats 0 and 2 against 1 and 3, 36 cards, 140 card points; 100 win a round, a round erases a rung,
four rungs win a game and give the other side a mark.

| | |
|---|---|
| agents | `player_0` ... `player_3` in the order of play |
| actions | `Discrete(36)`: a card, clubs, diamonds, hearts, spades, each 6 7 8 9 10 J Q K A as printed |
| observation | `{"observation": int8[600], "action_mask": int8[36]}`; see `layout()` |
| rewards | `"points"`: own side's card points minus the other's, when a deal ends |
| | `"payoff"`: that over 140 |
| | `"result"`: at the end, deal +1 / 0 / -1 for reaching the target, round +-rungs, game +-marks, session +-1 |

Version history: v0, first version (encoding 1 held the unseen cards too, encoding 2 leaves them out).
"""

from __future__ import annotations

from functools import partial

from .aec import layout_of, make_env
from .games import VIERSCHE

__all__ = ["env", "layout", "raw_env"]

env = partial(make_env, VIERSCHE)
"""The environment under PettingZoo's order-enforcing wrapper; the arguments are those of `aec.make_env`."""

raw_env = partial(make_env, VIERSCHE, raw=True)
"""The environment without that wrapper."""

layout = partial(layout_of, VIERSCHE)
"""The named slices of the observation, then those of `state()`, under the given options."""
