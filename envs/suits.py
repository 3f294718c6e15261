"""The shapes of the four suits, drawn by ourselves: outlines in a box of 100 by 100, in the syntax of SVG paths.

The pictures flatten them to polygons, the page in the browser draws them as they are.
"""

from __future__ import annotations

Point = tuple[float, float]


def _disc(x: float, y: float, radius: float) -> str:
    """A circle as four curves."""
    c = 0.5523 * radius
    parts = [
        f"M {x + radius:g} {y:g}",
        f"C {x + radius:g} {y + c:g} {x + c:g} {y + radius:g} {x:g} {y + radius:g}",
        f"C {x - c:g} {y + radius:g} {x - radius:g} {y + c:g} {x - radius:g} {y:g}",
        f"C {x - radius:g} {y - c:g} {x - c:g} {y - radius:g} {x:g} {y - radius:g}",
        f"C {x + c:g} {y - radius:g} {x + radius:g} {y - c:g} {x + radius:g} {y:g} Z",
    ]
    return " ".join(parts)


STEM = "M 48 50 C 49 74 45 87 32 95 C 42 94 58 94 68 95 C 55 87 51 74 52 50 Z"

CLUB_PATH = " ".join(
    (
        _disc(50, 27, 21),
        _disc(26, 57, 21),
        _disc(74, 57, 21),
        "M 42 38 C 46 46 46 54 42 62 C 46 60 54 60 58 62 C 54 54 54 46 58 38 C 54 40 46 40 42 38 Z",
        STEM,
    )
)
DIAMOND_PATH = "M 50 3 C 57 19 69 36 83 50 C 69 64 57 81 50 97 C 43 81 31 64 17 50 C 31 36 43 19 50 3 Z"
HEART_PATH = (
    "M 50 94 C 22 66 5 51 5 31 C 5 15 17 6 29 6 C 40 6 48 14 50 25 "
    "C 52 14 60 6 71 6 C 83 6 95 15 95 31 C 95 51 78 66 50 94 Z"
)
SPADE_PATH = (
    "M 50 4 C 60 24 93 42 93 63 C 93 77 83 84 72 84 C 62 84 54 79 51 70 C 50 68 50 68 49 70 "
    "C 46 79 38 84 28 84 C 17 84 7 77 7 63 C 7 42 40 24 50 4 Z " + STEM
)
SUIT_PATHS: tuple[str, ...] = (CLUB_PATH, DIAMOND_PATH, HEART_PATH, SPADE_PATH)
"""By number of the suit: closed outlines of one fill."""

CROWN_PATH = (
    "M 8 82 C 6 60 4 44 2 26 C 12 36 20 44 28 54 C 36 40 44 26 50 10 C 56 26 64 40 72 54 "
    "C 80 44 88 36 98 26 C 96 44 94 60 92 82 C 64 76 36 76 8 82 Z"
)
"""Stands over the letter of kings and queens."""


def outlines(path: str, steps: int = 12) -> list[list[Point]]:
    """The closed outlines of a path as polygons.

    Args:
        path: `M`, `C` and `Z` with absolute coordinates, all parted by spaces.
        steps: Straight lines to a curve.

    >>> outlines("M 0 0 C 0 50 0 50 0 100 Z", 2)
    [[(0.0, 0.0), (0.0, 50.0), (0.0, 100.0)]]
    """
    found: list[list[Point]] = []
    for piece in path.split("M")[1:]:
        numbers = [float(word) for word in piece.replace("C", " ").replace("Z", " ").split()]
        points = list(zip(numbers[::2], numbers[1::2], strict=True))
        outline = [points[0]]
        for at in range(1, len(points), 3):
            curve = [outline[-1], *points[at : at + 3]]
            outline += [_on_curve(curve, step / steps) for step in range(1, steps + 1)]
        found.append(outline)
    return found


def _on_curve(curve: list[Point], t: float) -> Point:
    """A point of a cubic curve."""
    weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3)
    x, y = (sum(weight * point[axis] for weight, point in zip(weights, curve, strict=True)) for axis in (0, 1))
    return x, y
