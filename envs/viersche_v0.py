"""Viersche (Hundert), the partnership point-trick game from the Black Forest, as a PettingZoo AEC environment.

Four players, seats 0 and 2 against 1 and 3, 36 cards, 140 card points; 100 win a round, a round erases a rung,
four rungs win a game and give the other side a mark.

| | |
|---|---|
| agents | `player_0` ... `player_3` in the order of play |
| actions | `Discrete(36)`: a card, clubs, diamonds, hearts, spades, each 6 7 8 9 10 J Q K A as printed |
| observation | `{"observation": int8[636], "action_mask": int8[36]}`; see `layout()` |
| rewards | `"points"`: own side's card points minus the other's, when a deal ends |
| | `"payoff"`: that over 140 |
| | `"result"`: at the end, deal +1 / 0 / -1 for reaching the target, round +-rungs, game +-marks, session +-1 |

Version history: v0, first version (encoding 1).
"""

from __future__ import annotations

from typing import Any

from .aec import RawEnv, make_env
from .batch import Terms
from .games import VIERSCHE

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
        preset: Set of default options: viersche.
        reward: "points", "payoff" or "result".
        illegal: On an illegal card: "terminate" (the game ends, the mover gets `illegal_reward`, the others 0),
            "raise", or "random" (a legal card is played instead and counted in `infos`).
        illegal_reward: By default worse than what any legal line can bring.
        render_mode: "ansi", "human" or None.
        options: The rule options, `episode` among them; see `viersche.Options`.

    Raises:
        OptionError: what is wrong and what is valid.
    """
    terms = Terms(reward, illegal, illegal_reward)
    return make_env(VIERSCHE, raw=False, preset=preset, render_mode=render_mode, terms=terms, **options)


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
    return make_env(VIERSCHE, raw=True, preset=preset, render_mode=render_mode, terms=terms, **options)


def layout(preset: str | None = None, **options: Any) -> dict[str, slice]:
    """The named slices of the observation, then (from D on) those that only `state()` has.

    >>> layout()["hand"]
    slice(0, 36, None)
    """
    return VIERSCHE.encoding.layout(VIERSCHE.options(preset, **options).players)
