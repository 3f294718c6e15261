"""Agents by name."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

from ..envs.errors import OptionError, unknown
from ..envs.game import Game, get_game
from .base import Agent, kernel_agent
from .rules_herzeln import rules_herzeln, rules_variant
from .rules_viersche import rules_viersche
from .yardsticks import duck_herzeln, greedy_viersche, low_herzeln, random_herzeln, random_viersche

KERNELS: dict[str, dict[str, Any]] = {
    "herzeln": {"random": random_herzeln, "low": low_herzeln, "duck": duck_herzeln, "rules": rules_herzeln},
    "viersche": {"random": random_viersche, "greedy": greedy_viersche, "rules": rules_viersche},
}


def true_or_false(word: str) -> bool:
    """The value of a word.

    Raises:
        ValueError: another word.
    """
    if word not in ("true", "false"):
        raise ValueError(word)
    return word == "true"


VARIANTS: dict[tuple[str, str], tuple[Callable[..., tuple[str, Any]], dict[str, Callable[[str], Any]]]] = {
    ("herzeln", "rules"): (rules_variant, {"aim": str, "defend": true_or_false})
}
"""Shipped agents that take options: from these to the name and the kernel of what is meant, and how each is read."""
GROUP = "stich.agents"  # entry points by which other packages bring agents
_made: dict[tuple[str, str], Agent] = {}


def agent_names(game: str | Game) -> list[str]:
    """The names of the shipped agents that need no file."""
    return list(KERNELS[get_game(game).name])


def kernel_of(name: str, game: Game) -> Any:
    """The kernel `card = f(view, key)` of a shipped agent.

    Raises:
        OptionError: the game has no such agent.
    """
    if name not in KERNELS[game.name]:
        raise OptionError(unknown(f"{game.name} policy", name, KERNELS[game.name]))
    return KERNELS[game.name][name]


def load_agent(name: str, game: str | Game = "herzeln", **options: Any) -> Agent:
    """The agent of that name for a game.

    Args:
        name: `random`, `duck`, `low`, `greedy`, `rules`; `ppo` for the shipped network, `ppo:PATH` for a checkpoint;
            `pimc:worlds=30,exact=6` or `ismcts:iterations=1000` for a searcher, `pimc:policy=ppo` for one by a network,
            `moon:worlds=20,aim=always` for one that shoots the moon; `openspiel:ismcts=1000` for OpenSpiel's bot (under
            its rules; extra `openspiel`); `module:Class` for your own (called with the
            game's name if it takes an argument of that name); or the name under which an installed package registers
            its agent, as an entry point of the group `stich.agents`.
        game: "herzeln" or "viersche".
        options: Passed on: `sample=True` to a network's agent, rule options such as `players=3` to the shipped one,
            anything to your own class; Herzeln's `rules` takes `aim="never"` or `"always"` and `defend=False`, see
            `rules_variant`, or as a name `rules:aim=always,defend=false`.

    Raises:
        OptionError: no agent of that name for that game.
        CheckpointError: the file is no checkpoint, or one of another game or encoding.
    """
    found = get_game(game)
    kind, _, rest = str(name).partition(":")
    if kind in ("pimc", "ismcts"):
        from .pimc import load_searcher  # compiles a great deal

        return load_searcher(kind, rest, found, options)
    if kind == "moon":
        return _moon_searcher(rest, found, options)
    if kind == "openspiel":
        return _openspiel_bot(rest, found, options)
    if rest and kind == "ppo":
        from .checkpoint import load_network_agent  # needs torch

        return load_network_agent(rest, found, **options)
    if name == "ppo":
        from .shipped import ShippedAgent  # needs torch

        return ShippedAgent(found, **options)
    if rest and (found.name, kind) in VARIANTS:
        name, options = kind, settings_of(kind, rest, VARIANTS[found.name, kind][1], options)
    elif rest:
        return _own_agent(kind, rest, found, options)
    if name not in KERNELS[found.name]:
        guests = {point.name: point for point in entry_points(group=GROUP)}
        if name in guests:
            return _own_agent(guests[name].module, guests[name].attr, found, options)
        valid = [*KERNELS[found.name], *guests, "ppo", "ppo:PATH", "pimc:worlds=30", "moon:worlds=20"]
        valid += ["openspiel:ismcts=1000", "module:Class"]
        raise OptionError(unknown(f"{found.name} agent", name, valid))
    made = _variant(found.name, str(name), options)
    key = (found.name, made[0])
    if key not in _made:
        _made[key] = kernel_agent(made[0], found.name, made[1])
    return _made[key]


def _moon_searcher(words: str, game: Game, options: dict[str, Any]) -> Agent:
    """The searcher of a name such as `moon:worlds=20,aim=always`."""
    from .moon_search import MoonSearch

    return MoonSearch(game, **settings_of("moon", words, {"worlds": int, "aim": str, "caution": float}, options))


def _openspiel_bot(words: str, game: Game, options: dict[str, Any]) -> Agent:
    """OpenSpiel's bot of a name such as `openspiel:ismcts=1000`."""
    try:
        from .openspiel import OpenSpielISMCTS
    except ImportError:
        raise OptionError("agent 'openspiel' needs OpenSpiel: pip install 'stich[openspiel]'") from None
    settings = settings_of("openspiel", words, {"ismcts": int, "rollouts": int, "uct": float}, options)
    return OpenSpielISMCTS(game, **settings)


def _variant(game: str, name: str, options: dict[str, Any]) -> tuple[str, Any]:
    """The name and the kernel of a shipped agent with options."""
    if not options:
        return name, KERNELS[game][name]
    if (game, name) not in VARIANTS:
        raise OptionError(f"agent {name!r} takes no options, got {', '.join(options)}")
    variant, keys = VARIANTS[game, name]
    for key in options:
        if key not in keys:
            raise OptionError(unknown(f"option of {name}:", key, keys))
    return variant(**options)


def _own_agent(module: str, path: str, game: Game, options: dict[str, Any]) -> Agent:
    """An agent from anybody's module."""
    try:
        made: Any = importlib.import_module(module)
        for part in path.split("."):
            made = getattr(made, part)
    except (ImportError, AttributeError) as error:
        raise OptionError(f"agent {module}:{path} can't be loaded: {error}. Valid: module:Class on the path") from None
    if callable(made):
        takes_game = "game" in inspect.signature(made).parameters
        try:
            made = made(**({"game": game.name} if takes_game else {}), **options)
        except TypeError as error:
            raise OptionError(f"agent {module}:{path} can't be made: {error}") from None
    if not hasattr(made, "act"):
        raise OptionError(f"agent {module}:{path} has no method act(views, keys)")
    if not hasattr(made, "name"):
        made.name = path
    return made


def settings_of(kind: str, words: str, keys: Mapping[str, Callable[[str], Any]], given: Mapping[str, Any]) -> Any:
    """Settings from words such as `worlds=30,exact=6` and those given by name.

    Raises:
        OptionError: an unknown key, or a value it does not take.
    """
    settings = dict(given)
    for word in filter(None, words.split(",")):
        key, _, value = word.partition("=")
        if key not in keys:
            raise OptionError(unknown(f"key of {kind}", key, keys))
        try:
            settings[key] = keys[key](value)
        except ValueError:
            raise OptionError(f"{kind}: {key}={value!r} is not valid. Valid: {keys[key].__name__}") from None
    for key in settings:
        if key not in keys:
            raise OptionError(unknown(f"key of {kind}", key, keys))
    return settings
