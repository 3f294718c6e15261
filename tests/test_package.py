"""The package as it is laid out: what is installed, what imports what, and the examples in the docstrings."""

from __future__ import annotations

import doctest
import importlib
import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import gymnasium
import pettingzoo
import pytest

import stich
from stich.envs.game import GAMES
from stich.envs.jit import bind

ROOT = Path(__file__).resolve().parent.parent
NO_PACKAGES = ("tests", "build", "dist", "runs")


def folders() -> list[str]:
    """The folders of the root that hold modules."""
    found = sorted({path.parent.name for path in ROOT.glob("*/*.py")})
    return [name for name in found if name not in NO_PACKAGES and not name.startswith(".")]


def modules() -> list[str]:
    """The real names of all modules of the package."""
    found = [f"stich.{name}.{path.stem}" for name in folders() for path in sorted((ROOT / name).glob("*.py"))]
    return ["stich", *(name.removesuffix(".__init__") for name in found)]


def test_the_installed_package_is_this_checkout() -> None:
    assert Path(stich.__path__[0]).resolve() == ROOT


def test_packages_are_all_folders() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert sorted(settings["packages"]) == sorted(["stich", *(f"stich.{name}" for name in folders())])
    assert settings["package-dir"] == {"stich": "."}


@pytest.mark.parametrize("folder", folders())
def test_folder_is_a_package(folder: str) -> None:
    assert (ROOT / folder / "__init__.py").is_file()
    assert not list((ROOT / folder).glob("*/*.py")), "folders stay flat, or `packages` names them"


def test_no_second_module_at_the_root() -> None:
    assert [path.name for path in ROOT.glob("*.py")] == ["__init__.py"]
    assert (ROOT / "py.typed").is_file()


@pytest.mark.parametrize("name", [*folders(), "__init__.py"])
def test_static_tools_find_the_package(name: str) -> None:
    link = ROOT / ".types" / "stich" / name
    assert link.is_symlink()
    assert link.resolve() == ROOT / name


@pytest.mark.parametrize("name", modules())
def test_doctests(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


def test_there_are_doctests() -> None:
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = [test for name in modules() for test in finder.find(importlib.import_module(name)) if test.examples]
    assert {test.name for test in found} >= {"stich.envs.batch.make_batch", "stich.envs.cards.Deck.parse"}


@pytest.mark.parametrize("module", ["stich.envs", "stich.agents"])
def test_import_leaves_torch_alone(module: str) -> None:
    program = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd="/", check=False).returncode == 0


def imported(module: str) -> set[str]:
    """The parts of the package that importing a module of envs brings along."""
    program = (
        f"import sys, {module}; print(*{{name.split('.')[1] for name in sys.modules if name.startswith('stich.')}})"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd="/", check=True, capture_output=True, text=True)
    return set(done.stdout.split())


def test_layers() -> None:
    assert imported("stich.envs") == {"envs"}
    assert imported("stich.agents") == {"envs", "agents"}


@pytest.mark.parametrize("game", GAMES)
def test_ids_are_registered(game: str) -> None:
    assert f"stich/{game.capitalize()}-v0" in gymnasium.registry
    assert str(pettingzoo.make("aec", f"stich/{game}-v0").unwrapped) == f"{game}_v0"


def test_every_public_name_is_there() -> None:
    for name in modules():
        module = importlib.import_module(name)
        for public in getattr(module, "__all__", ()):
            assert hasattr(module, public), f"{name}.{public}"


def test_the_built_wheel_works_from_another_folder(tmp_path: Path) -> None:
    """The wheel holds every module, the configs and py.typed, and is imported where no source lies."""
    left_out = shutil.ignore_patterns(".*", "runs", "build", "*.egg-info", "__pycache__")
    source = shutil.copytree(ROOT, tmp_path / "source", ignore=left_out)  # building leaves files beside the source
    build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(source)]
    subprocess.run(build, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("stich-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        names = set(opened.namelist())
        opened.extractall(tmp_path / "installed")
    for folder in ("envs", "agents", "training", "page", "configs"):
        for file in [*(ROOT / folder).glob("*.py"), *(ROOT / folder).glob("*.yaml")]:
            assert f"stich/{folder}/{file.name}" in names
    for file in (ROOT / "page" / "static").iterdir():
        assert f"stich/page/static/{file.name}" in names
    assert "stich/py.typed" in names
    assert not [name for name in names if name.startswith(("stich/tests", "stich/notebooks", "tests"))]
    code = "import stich.envs; print(stich.envs.__file__)"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip().startswith(str(tmp_path / "installed"))


def test_machine_code_follows_kernels_outside_of_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a game in a package of its own would go on playing by its old rules after a change of them."""
    (tmp_path / "own_rules.py").write_text("from stich.envs.jit import kernel\n\n\n@kernel\ndef f(x):\n    return x\n")
    monkeypatch.syspath_prepend(tmp_path)
    bound = bind(lambda x: x, "own", f=importlib.import_module("own_rules").f)
    assert "own_rules.py" in str(bound._cache._cache_file._source_stamp)
