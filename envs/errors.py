"""The errors of the package: one clear sentence that names the thing, what was wrong and what is valid."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class OptionError(ValueError):
    """An unknown option, a value that an option does not take, or options that contradict each other."""


class DealError(ValueError):
    """A deal given by hand that cannot be: wrong number of cards, a card twice, a dealer that is no seat."""


class IllegalCardError(ValueError):
    """A card that the rules forbid now, where `illegal="raise"` asks for an error."""


def unknown(what: str, name: object, valid: Iterable[object]) -> str:
    """The sentence for an unknown name: the nearest valid one first, then all."""
    names = sorted(str(v) for v in valid)
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"unknown {what} {name!r}.{hint} Valid: {', '.join(names)}"
