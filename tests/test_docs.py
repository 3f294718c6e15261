"""The README and the pages: their Python runs, their commands and configs exist, the site builds without a warning."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest
import typer
import yaml
from sybil import Document, Sybil
from sybil.parsers.markdown import CodeBlockParser, PythonCodeBlockParser, SkipParser

from stich.agents import load_agent
from stich.agents.loader import KERNELS
from stich.envs.game import GAMES, get_game
from stich.training.ablation import ablation_config
from stich.training.cli import _is_option, app
from stich.training.config import CONFIGS, find_config, overrides, read_yaml, train_config
from stich.training.moon_config import moon_config
from stich.training.tournament import tournament_config

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.glob("**/*.md"))]
SMALL = {"decisions": 20_000, "deals": 20, "lanes": 64, "num_envs": 8}
"""The largest sizes at which the blocks are run."""
READERS: dict[str, Any] = {
    "train": train_config,
    "tournament": tournament_config,
    "moon": moon_config,
    "ablate": ablation_config,
}
GROUP: Any = typer.main.get_command(app)


def named(path: Path) -> str:
    """The id of a page."""
    return str(path.relative_to(ROOT))


def blocks(language: str) -> list[Any]:
    """The blocks of code in a language on all pages, as parameters."""
    parser = CodeBlockParser(language=language, evaluator=lambda example: None)
    found = [(page, example) for page in PAGES for example in Sybil([parser]).parse(page).examples()]
    return [pytest.param(str(each.parsed), id=f"{named(page)}:{each.line}") for page, each in found]


# ----------------------------------------------------------------------------------------------- Python


def small(text: str) -> str:
    """A page with smaller sizes."""
    for key, most in SMALL.items():
        text = re.sub(rf"\b{key}=([\d_]+)", lambda size, k=key, m=most: f"{k}={min(int(size[1]), m)}", text)
    return text


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder like the root of a clone, left without a trace: a page may register a game."""
    (tmp_path / "docs").symlink_to(DOCS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(GAMES)
    yield tmp_path
    for table in (GAMES, KERNELS):
        for name in set(table) - before:
            del table[name]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_python_of_a_page_runs(page: Path, workplace: Path) -> None:
    copy = workplace / page.name
    copy.write_text(small(page.read_text()))
    document: Document = Sybil([PythonCodeBlockParser(), SkipParser()]).parse(copy)
    for example in document.examples():
        try:
            example.evaluate()
        except SkipTest:
            continue  # marked on the page


def test_sizes_are_cut() -> None:
    assert small("decisions=300_000, deals=7, lanes=4096") == "decisions=20000, deals=7, lanes=64"


# ------------------------------------------------------------------------------------------------ shell


def command_lines() -> list[Any]:
    """Every command in the shell blocks, as words."""
    found = []
    for block in blocks("bash"):
        for number, line in enumerate(block.values[0].splitlines()):
            words = shlex.split(line, comments=True)
            if words:
                found.append(pytest.param(words, id=f"{block.id}+{number}"))
    return found


@pytest.mark.parametrize("words", command_lines())
def test_command_exists(words: list[str]) -> None:
    program, *rest = words
    if program == "make":
        assert is_target(rest[0])
    if program == "stich":
        assert rest[0] in GROUP.commands
        context = GROUP.commands[rest[0]].make_context(rest[0], rest[1:])  # refuses unknown options
        check_command(rest[0], context.params)


def is_target(name: str) -> bool:
    """Whether the Makefile has a target of that name."""
    return bool(re.search(rf"^{name}:", (ROOT / "Makefile").read_text(), re.MULTILINE))


def check_command(name: str, given: dict[str, Any]) -> None:
    """The configs, agents, options and keys of a command are there."""
    words = given.get("words") or []
    if name in READERS and given.get("hand") is None:
        READERS[name](read_yaml(find_config(given["config"])), words)
        return
    game = get_game(given.get("game", "herzeln")) if isinstance(given.get("game", ""), str) else get_game("herzeln")
    agents = given.get("agents") or [given[key] for key in ("agent",) if isinstance(given.get(key), str)]
    for agent in agents:
        if not _is_option(agent) and not agent.startswith(("ppo:", "my_module:")):
            load_agent(agent, game=game)
    words = [*words, *filter(_is_option, agents), *([given["config"]] if given.get("hand") else [])]
    if name == "exploit":
        train_config({"game": game.name}, words)
    else:
        game.options(**overrides(words))


@pytest.mark.parametrize("file", [*PAGES, *sorted(CONFIGS.glob("*.yaml"))], ids=named)
def test_commands_in_the_text_exist(file: Path) -> None:
    for program, name in re.findall(r"`(stich|make) ([a-z][\w-]*)", file.read_text()):
        assert name in GROUP.commands if program == "stich" else is_target(name)


@pytest.mark.parametrize("text", [each for each in blocks("yaml") if each.values[0].startswith("# stich")])
def test_config_is_valid(text: str) -> None:
    """A block of YAML says in its first line which command it is for."""
    READERS[text.split()[2]](yaml.safe_load(text))


def test_every_extra_is_explained() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    page = (DOCS / "guides" / "getting_started.md").read_text()
    assert [name for name in extras if f"| `{name}` |" not in page] == ["test", "docs", "plot", "dev"]


def test_there_is_something_to_check() -> None:
    assert len(blocks("python")) > 20
    assert len(command_lines()) > 50
    assert len([each for each in blocks("yaml") if each.values[0].startswith("# stich")]) > 1


# ------------------------------------------------------------------------------------------------- site


@pytest.mark.skipif(importlib.util.find_spec("mkdocs") is None, reason="needs the extra docs")
def test_the_site_builds_without_a_warning(tmp_path: Path) -> None:
    """A link or an anchor that leads nowhere, a page outside the navigation, a name that is not there: each fails."""
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    done = subprocess.run(build, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    pages = {path.parent.name: path.read_text() for path in tmp_path.glob("**/index.html")}
    for game in GAMES.values():
        players = 4
        for name, part in game.encoding.layout(players).items():
            assert re.search(rf"<code>{name}</code></td>\s*<td>{part.start} to {part.stop - 1}", pages[game.name])
    assert "def draw_deal" in re.sub("<[^>]*>", "", pages["own_game"])
    assert not [name for name, text in pages.items() if "<!-- made" in text or "--8<--" in text]
