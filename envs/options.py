"""Options as frozen dataclasses: building one from presets and names, with every mistake named.

The same checks serve the rule options of the games and the configs of training.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, TypeVar

from .errors import OptionError, unknown

T = TypeVar("T")


def build(cls: type[T], values: Mapping[str, Any], *, what: str = "option") -> T:
    """An instance of the dataclass `cls` with `values`, each name and each type checked.

    Raises:
        OptionError: an unknown name (the nearest valid one is named) or a value its field does not take.
    """
    hints = typing.get_type_hints(cls)
    names = [field.name for field in dataclasses.fields(cls)]  # type: ignore[arg-type]
    for name in values:
        if name not in names:
            raise OptionError(unknown(what, name, names))
    return cls(**{name: _checked(what, name, value, hints[name]) for name, value in values.items()})


def with_preset(cls: type[T], presets: Mapping[str, Mapping[str, Any]], preset: str, given: Mapping[str, Any]) -> T:
    """Options of a preset, which is a set of defaults, with the `given` ones on top."""
    if preset not in list(presets):
        raise OptionError(unknown("preset", preset, presets))
    return build(cls, {**presets[preset], **given})


def choices(cls: type, name: str) -> tuple[Any, ...]:
    """The values that a field declared as a Literal takes, in order."""
    return typing.get_args(typing.get_type_hints(cls)[name])


def _checked(what: str, name: str, value: Any, hint: Any) -> Any:
    """The value in the type of its field; OptionError when it does not fit."""
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()  # a numpy scalar
    if dataclasses.is_dataclass(hint) and isinstance(value, Mapping):
        return build(typing.cast(type, hint), value, what=what)
    if hint in (float, float | None) and type(value) in (int, str):
        value = _as_float(value)  # YAML reads 1e-3 as a text
    if isinstance(value, list):
        value = tuple(value)
    if not _fits(value, hint):
        raise OptionError(f"{what} {name}={value!r} is not valid. Valid: {_describe(hint)}")
    return value


def _as_float(value: Any) -> Any:
    try:
        return float(value)
    except ValueError:
        return value


def _fits(value: Any, hint: Any) -> bool:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin is typing.Literal:
        return any(type(value) is type(arg) and value == arg for arg in args)
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, arg) for arg in args)
    if origin is tuple:
        return isinstance(value, tuple) and all(_fits(item, args[0]) for item in value)
    if origin in (dict, Mapping):
        return isinstance(value, Mapping)
    return type(value) is hint or (hint is float and type(value) is int)


def _describe(hint: Any) -> str:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return ", ".join(repr(arg) for arg in args)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_describe(arg) for arg in args)
    if origin is tuple:
        return f"a list of {_describe(args[0])}"
    names = {int: "a whole number", float: "a number", bool: "True, False", str: "a text", type(None): "None"}
    return names.get(hint, getattr(hint, "__name__", str(hint)))
