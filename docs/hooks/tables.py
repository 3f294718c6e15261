"""What the pages show of the code, made when the site is built, so that none of it is typed by hand.

A line `<!-- made: NAME arguments -->` in a page becomes what the function NAME below makes, most often a table.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import itertools
import re
import shlex
import typing
from pathlib import Path
from typing import Any

import griffe
import numpy as np
import typer

from stich.agents import load_agent
from stich.envs.aec import make_env
from stich.envs.batch import ILLEGAL_MODES, Batch, Terms
from stich.envs.errors import unknown
from stich.envs.game import REWARDS, get_game
from stich.envs.options import choices
from stich.training.cli import app
from stich.training.config import CONFIGS

DOCS = Path(__file__).resolve().parent.parent
MARK = re.compile(r"^<!-- made: (.+) -->$", re.MULTILINE)
EPISODES = 500  # played for the table of lengths


def on_page_markdown(markdown: str, **about: Any) -> str:
    """MkDocs calls this for every page."""
    return MARK.sub(lambda found: made(*shlex.split(found[1])), markdown)


def made(name: str, *arguments: str) -> str:
    """What the function of that name makes.

    Raises:
        KeyError: there is none.
    """
    if name not in MADE:
        raise KeyError(unknown("name", name, MADE))
    return MADE[name](*arguments)


def rows_of(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A Markdown table."""
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def code(value: Any) -> str:
    """A value as code."""
    return f"`{value!r}`"


def meanings(cls: type) -> dict[str, str]:
    """What the docstring of a class says of each attribute."""
    sections = griffe.Docstring(inspect.getdoc(cls) or "").parse("google")
    found = [section.value for section in sections if section.kind is griffe.DocstringSectionKind.attributes]
    lines = found[0] if found else []
    return {line.name: " ".join(line.description.split()) for line in lines}


def fields(path: str) -> str:
    """The fields of a dataclass, `module:Class` below `stich`: name, default, other values, meaning."""
    module, _, name = path.partition(":")
    cls = getattr(importlib.import_module(f"stich.{module}"), name)
    hints, about, rows = typing.get_type_hints(cls), meanings(cls), []
    for field in dataclasses.fields(cls):
        factory = field.default_factory
        default = field.default if factory is dataclasses.MISSING else factory()
        given = "" if default is dataclasses.MISSING else code(default)
        rows.append((f"`{field.name}`", given, other_values(hints[field.name], default), about[field.name]))
    return rows_of(("key", "default", "other values", "meaning"), rows)


def other_values(hint: Any, default: Any) -> str:
    """The values that a field takes beside its default."""
    if hint is bool:
        return code(not default)
    if typing.get_origin(hint) is typing.Literal:
        return ", ".join(code(value) for value in typing.get_args(hint) if value != default) or "none"
    return str(getattr(hint, "__name__", hint)) if isinstance(hint, type) else str(hint).replace("typing.", "")


def presets(game: str) -> str:
    """The presets of a game and what each sets."""
    found = get_game(game)
    rows = []
    for name, values in found.presets.items():
        sets = ", ".join(f"`{key}={value!r}`" for key, value in values.items()) or "the defaults"
        rows.append((f'`"{name}"`', sets))
    return rows_of(("preset", "sets"), rows)


def facts(game: str) -> str:
    """The table of facts at the top of an environment's page."""
    found = get_game(game)
    env = make_env(found)
    players = sorted(choices(found.options_class, "players"))
    sizes = ", ".join(f"({found.encoding.size(count)},)" + f" with {count}" * (len(players) > 1) for count in players)
    names = "', '".join(env.possible_agents)
    highest = int(found.encoding.highest(players[-1]).max())
    rows = [
        ("Actions", "Discrete"),
        ("Parallel API", "Yes" if env.metadata["is_parallelizable"] else "No"),
        ("Manual control", f"No; `stich play --game {game}` and `stich serve` play it by hand"),
        ("Agents", f"`agents= ['{names}']`"),
        ("Number of players", ", ".join(map(str, players))),
        ("Action shape", f"Discrete({found.deck.size})"),
        ("Action values", f"0 to {found.deck.size - 1}"),
        ("Observation shape", f"{sizes} players" if len(players) > 1 else sizes),
        ("Observation values", f"int8, 0 to {highest}"),
        ("Action mask shape", f"({found.deck.size},), int8"),
    ]
    import_line = f"`from stich.envs import {game}_v0`"
    return rows_of(("Import", import_line), [(f"**{name}**", value) for name, value in rows])


def observation(game: str, players: str = "4") -> str:
    """The slices of the observation, then those that only the full state has."""
    found = get_game(game)
    encoding, count = found.encoding, int(players)
    layout, size, rows = encoding.layout(count), encoding.size(count), []
    for piece in [*encoding.pieces(count), *encoding.hidden(count)]:
        part = layout[piece.name]
        where = f"{part.start} to {part.stop - 1}" + (" (state only)" if part.start >= size else "")
        rows.append((f"`{piece.name}`", where, str(piece.size), f"0 to {piece.highest}", piece.meaning))
    return rows_of(("slice", "entries", "size", "values", "meaning"), rows)


def cards(game: str) -> str:
    """The actions by suit."""
    deck = get_game(game).deck
    width, rows = len(deck.ranks), []
    for suit, name in enumerate(("clubs", "diamonds", "hearts", "spades")):
        first = suit * width
        rows.append((f"{first} to {first + width - 1}", name, " ".join(deck.name(first + n) for n in range(width))))
    return rows_of(("actions", "suit", "cards"), rows)


def illegal(game: str) -> str:
    """What an illegal card costs where `illegal="terminate"`, under the default options."""
    found = get_game(game)
    rows = []
    for episode in sorted(choices(found.options_class, "episode")):
        options = found.options(episode=episode)
        rows.append((f'`"{episode}"`', *(f"{found.illegal_reward(options, kind):g}" for kind in REWARDS)))
    return rows_of(("episode", *(f'`"{kind}"`' for kind in REWARDS)), rows)


def lengths(game: str) -> str:
    """Deals and cards of an episode when four `rules` play, passed cards included."""
    found, agent, rows = get_game(game), load_agent("rules", game=game), []
    for preset in found.presets:
        for episode in choices(found.options_class, "episode"):
            options = found.options(preset, episode=episode)
            numbers = np.arange(EPISODES, dtype=np.uint64)
            batch = Batch(found, options, Terms(), 1, numbers, np.zeros(EPISODES, np.int64), "disabled")
            steps = np.zeros(EPISODES, np.int64)
            while (running := batch.running.copy()).any():
                actions = np.full(EPISODES, -1)
                actions[running] = agent.act(batch.views[running], batch.keys()[running])
                batch.step(actions)
                steps += running
            deals = batch.states["deal"] + 1
            row = [
                f"{x.mean():.1f} ({x.min()} to {x.max()})" if x.min() < x.max() else f"{x[0]}" for x in (deals, steps)
            ]
            rows.append((f'`"{preset}"`', f'`"{episode}"`', *row))
    return rows_of(("preset", "episode", "deals", "actions of all agents"), rows)


def commands() -> str:
    """The subcommands of `stich` and what their help says."""
    group: Any = typer.main.get_command(app)
    rows = [(f"`stich {name}`", (each.help or "").split("\n")[0]) for name, each in group.commands.items()]
    return rows_of(("command", "what it does"), rows)


def configs() -> str:
    """The shipped configs and the comment at their top."""
    rows = []
    for path in sorted(CONFIGS.glob("*.yaml")):
        comment = itertools.takewhile(lambda line: line.startswith("#"), path.read_text().splitlines())
        rows.append((f"`{path.stem}`", " ".join(line.removeprefix("#").strip() for line in comment)))
    return rows_of(("config", "what it is for"), rows)


def illegal_modes() -> str:
    """The values of `illegal`, as the faces take them."""
    meaning = {
        "terminate": "the episode ends, terminated and not truncated; the mover gets `illegal_reward`, the others 0",
        "raise": "`IllegalCardError`, and nothing has changed (a batch checks all lanes before any changes)",
        "random": "a legal card is drawn in its place and played, and the action is counted in `infos`",
    }
    default = {"terminate": "AEC, Gymnasium", "raise": "batch"}
    rows = [(f'`"{mode}"`', default.get(mode, ""), meaning[mode]) for mode in ILLEGAL_MODES]
    return rows_of(("`illegal`", "default of", "what happens on an illegal card"), rows)


def source(path: str) -> str:
    """A file below `docs` as a block of code."""
    return f'```python title="docs/{path}"\n{(DOCS / path).read_text()}```'


MADE = {
    "cards": cards,
    "commands": commands,
    "configs": configs,
    "facts": facts,
    "fields": fields,
    "illegal": illegal,
    "illegal_modes": illegal_modes,
    "lengths": lengths,
    "observation": observation,
    "presets": presets,
    "source": source,
}
