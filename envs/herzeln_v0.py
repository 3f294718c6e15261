"""Herzeln (Hearts) for 2 to 4 players as a PettingZoo AEC environment.

Each agent is a player for itself. Tricks with hearts (1 point each) or the queen of spades (13) are to be
avoided, unless one takes all of them and so shoots the moon. With two players and all cards dealt it is a game
of perfect information: each hand is the complement of the other.

| | |
|---|---|
| agents | `player_0` ... `player_{P-1}` in the order of play |
| actions | `Discrete(52)`: a card, clubs, diamonds, hearts, spades, each 2 to ace; passing uses the same actions |
| observation | `{"observation": int8[D], "action_mask": int8[52]}`, D = 820 for four players; see `layout()` |
| rewards | `"points"`: minus the points of each deal, when it ends |
| | `"payoff"`: mean points of the others minus own, over 26 |
| | `"result"`: share of the win minus 1/P at the end of a game |

Version history: v0, first version (encoding 1).
"""

from __future__ import annotations

from typing import Any

from .aec import RawEnv, make_env
from .batch import Terms
from .games import HERZELN

__all__ = ["env", "layout", "raw_env"]


def env(
    preset: str | None = None,
    *,
    reward: str = "points",
    illegal: str = "terminate",
    illegal_reward: float | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> Any:
    """The environment: `raw_env` that also refuses calls in the wrong order.

    Args:
        preset: Set of default options: herzeln, hearts, openspiel.
        reward: "points", "payoff" or "result".
        illegal: On an illegal card: "terminate" (the game ends, the mover gets `illegal_reward`, the others 0),
            "raise", or "random" (a legal card is played instead and counted in `infos`).
        illegal_reward: By default worse than what any legal line can bring.
        render_mode: "ansi", "human" or None.
        options: The rule options, `players` and `episode` among them; see `herzeln.Options`.

    Raises:
        OptionError: what is wrong and what is valid.
    """
    terms = Terms(reward, illegal, illegal_reward)
    return make_env(HERZELN, raw=False, preset=preset, render_mode=render_mode, terms=terms, **options)


def raw_env(
    preset: str | None = None,
    *,
    reward: str = "points",
    illegal: str = "terminate",
    illegal_reward: float | None = None,
    render_mode: str | None = None,
    **options: Any,
) -> RawEnv:
    """`env` without PettingZoo's order-enforcing wrapper; the same arguments."""
    terms = Terms(reward, illegal, illegal_reward)
    return make_env(HERZELN, raw=True, preset=preset, render_mode=render_mode, terms=terms, **options)


def layout(preset: str | None = None, **options: Any) -> dict[str, slice]:
    """The named slices of the observation, then (from D on) those that only `state()` has.

    >>> layout()["hand"]
    slice(0, 52, None)
    """
    return HERZELN.encoding.layout(HERZELN.options(preset, **options).players)
