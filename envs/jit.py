"""How the numba kernels of this package are compiled and cached."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numba

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("envs", "agents", "training")  # each calls kernels of itself and of those before it


def kernel(function: Callable[..., Any]) -> Any:
    """Compile a small kernel that other kernels call: it is cached with its callers, never by itself."""
    return numba.njit(error_model="numpy")(function)


def inlined(function: Callable[..., Any]) -> Any:
    """A small kernel that becomes part of the machine code of its callers."""
    return numba.njit(error_model="numpy", forceinline=True)(function)


def part(function: Callable[..., Any]) -> Any:
    """A kernel that becomes part of its caller: for loops over arrays, whose references would be counted at a call."""
    return numba.njit(error_model="numpy", inline="always")(function)


def entry(function: Callable[..., Any], others: Iterable[Path] = ()) -> Any:
    """Compile a kernel that Python calls, and keep the machine code on disk.

    numba notices a change of the cached function's own file only. Kernels call kernels of other files, so
    the stamp that invalidates the cache covers every file of its folder and of the folders below that, and the
    folders `others` outside of the package.
    """
    dispatcher = numba.njit(cache=True, error_model="numpy")(function)
    index = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if index is not None:
        own = _source_stamp(Path(function.__code__.co_filename).parent.name)
        index._source_stamp = (index._source_stamp, own, *(_stamp_of(folder) for folder in others))
    return dispatcher


def specialise(template: Callable[..., Any], name: str, **kernels: Any) -> Callable[..., Any]:
    """`template` with the global names in `kernels` replaced by one game's, and the game's `name` in its own."""
    function = types.FunctionType(template.__code__, {**template.__globals__, **kernels}, f"{template.__name__}_{name}")
    function.__qualname__ = function.__name__
    function.__module__ = template.__module__
    return function


def bind(template: Callable[..., Any], name: str, **kernels: Any) -> Any:
    """Compile `template` with one game's kernels, so that a loop over lanes is written once for all games.

    The game's name keeps the cached machine code of the games apart (a closure would not be cacheable).
    """
    files = {Path(each.py_func.__code__.co_filename) for each in kernels.values() if hasattr(each, "py_func")}
    folders = {path.resolve().parent for path in files if path.is_file()}
    return entry(specialise(template, name, **kernels), sorted(folders - {ROOT / own for own in FOLDERS}))


@functools.cache
def _source_stamp(folder: str) -> tuple[tuple[str, int, int], ...]:
    known = FOLDERS[: FOLDERS.index(folder) + 1] if folder in FOLDERS else FOLDERS
    return tuple(stamp for name in known for stamp in _stamp_of(ROOT / name))


@functools.cache
def _stamp_of(folder: Path) -> tuple[tuple[str, int, int], ...]:
    """Names, times and sizes of the modules of a folder."""
    return tuple((path.name, path.stat().st_mtime_ns, path.stat().st_size) for path in sorted(folder.glob("*.py")))
