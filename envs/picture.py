"""The table as a picture, drawn with pygame: hands, trick, who leads, cards taken and scores, at any size.

A view shows what its observer knows, with the other cards face down; a state shows all hands. Everything is drawn
at twice or thrice the size asked for and scaled down, cards and suits from shapes of our own (no card set).
Needs the extra `render`.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cards import FACE_DOWN, HEARTS, NO_CARD, NO_SEAT
from .errors import OptionError
from .game import Game
from .render import cards_left, hand_order, shown_trick
from .state import DEAL_OVER, NO_OBSERVER, PASS
from .suits import CROWN_PATH, SUIT_PATHS, outlines

Color = tuple[int, int, int]
Size = tuple[int, int]

SIZE: Size = (960, 640)
SMALLEST, LARGEST = 120, 8192  # pixels of a side
MODES = ("rgb_array", "human")  # render modes that need pygame
WIDTH, HEIGHT = 960.0, 640.0  # the units that everything below is measured in
TABLE_WIDTH = 690.0  # what the side panel leaves over
MIDDLE = (345.0, 315.0)
FINE_PIXELS = 2_600_000  # up to here a picture is drawn at thrice its size, beyond at twice

FELT, FELT_EDGE, PANEL, SLATE, CHALK = (28, 92, 66), (20, 70, 50), (246, 243, 235), (47, 54, 58), (236, 238, 232)
INK, GREY, RED, BLACK = (38, 36, 33), (120, 116, 108), (194, 30, 42), (28, 28, 30)
PAPER, EDGE, BACK, BACK_LINE = (253, 253, 250), (150, 148, 140), (42, 74, 130), (170, 192, 226)
GOLD, WOOD, FAINT = (247, 196, 66), (131, 92, 57), (88, 97, 101)
SUIT_COLORS = (BLACK, RED, RED, BLACK)

PIPS: dict[str, tuple[tuple[float, float], ...]] = {
    "2": ((50, 22), (50, 78)),
    "3": ((50, 22), (50, 50), (50, 78)),
    "4": ((36, 22), (64, 22), (36, 78), (64, 78)),
    "5": ((36, 22), (64, 22), (50, 50), (36, 78), (64, 78)),
    "6": ((36, 22), (64, 22), (36, 50), (64, 50), (36, 78), (64, 78)),
    "7": ((36, 22), (64, 22), (50, 36), (36, 50), (64, 50), (36, 78), (64, 78)),
    "8": ((36, 22), (64, 22), (50, 36), (36, 50), (64, 50), (50, 64), (36, 78), (64, 78)),
    "9": ((36, 20), (64, 20), (36, 40), (64, 40), (50, 50), (36, 60), (64, 60), (36, 80), (64, 80)),
    "10": ((36, 20), (64, 20), (50, 30), (36, 40), (64, 40), (36, 60), (64, 60), (50, 70), (36, 80), (64, 80)),
}  # where the suit stands on a card, in hundredths of it

# Where seats sit, counted from the one at the bottom in the order of play where that is clockwise.
PLACES: dict[int, tuple[str, ...]] = {
    2: ("bottom", "top"),
    3: ("bottom", "left", "right"),
    4: ("bottom", "left", "top", "right"),
}
OPPOSITE = {"left": "right", "right": "left"}
ANTICLOCKWISE = ("viersche",)  # games in which the next seat is the one at the right
LABELS = {"bottom": (345.0, 478.0), "left": (118.0, 60.0), "top": (345.0, 112.0), "right": (572.0, 60.0)}
TRICK_AT = {"bottom": (0.0, 62.0), "left": (-92.0, 4.0), "top": (0.0, -54.0), "right": (92.0, 4.0)}


def pygame_module() -> Any:
    """pygame.

    Raises:
        ModuleNotFoundError: it is not installed; says what brings it.
    """
    try:
        os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
        import pygame
    except ModuleNotFoundError:
        text = "pictures of the table need pygame-ce, which is not installed. Valid: pip install 'stich[render]'"
        raise ModuleNotFoundError(text, name="pygame") from None
    return pygame


def checked_size(size: Any) -> Size:
    """A size in pixels.

    Raises:
        OptionError: no two whole numbers within the limits.
    """
    try:
        width, height = (int(side) for side in size)
    except (TypeError, ValueError):
        width = height = 0
    if not (SMALLEST <= width <= LARGEST and SMALLEST <= height <= LARGEST):
        raise OptionError(
            f"render_size={size!r} is not valid. Valid: width and height in pixels, {SMALLEST} to {LARGEST} each"
        )
    return width, height


def table_picture(game: Game, state: Any, size: Size = SIZE, names: Sequence[str] | None = None) -> np.ndarray:
    """The table as an array.

    Args:
        game: The game.
        state: One record of `game.state`: a state (all hands open) or a view (its observer at the bottom).
        size: Width and height in pixels; the table keeps its proportions and stands in the middle.
        names: Of the players, by seat.

    Returns:
        uint8[height, width, 3].
    """
    pygame = pygame_module()
    surface = table_surface(game, state, size, names)
    return np.ascontiguousarray(pygame.surfarray.array3d(surface).swapaxes(0, 1))


def table_surface(game: Game, state: Any, size: Size = SIZE, names: Sequence[str] | None = None) -> Any:
    """The same as a pygame surface."""
    pygame = pygame_module()
    width, height = checked_size(size)
    fine = 3 if width * height <= FINE_PIXELS else 2
    canvas = Canvas(pygame.Surface((width * fine, height * fine)))
    canvas.surface.fill(FELT_EDGE)
    seats = int(state["players"])
    shown = [str(name) for name in names] if names is not None else [f"player_{seat}" for seat in range(seats)]
    _Painter(game, state, canvas, shown).paint()
    return pygame.transform.smoothscale(canvas.surface, (width, height))


class Screen:
    """What the render modes "rgb_array" and "human" of an environment show: an array, or a window.

    Args:
        game: The game.
        mode: "rgb_array" or "human".
        size: Width and height in pixels.
        fps: Pictures a second in the window.

    Raises:
        ModuleNotFoundError: pygame is not installed.
        OptionError: the size is none.
    """

    def __init__(self, game: Game, mode: str, size: Any, fps: float) -> None:
        pygame_module()
        self.game, self.mode, self.size, self.fps = game, mode, checked_size(size), fps
        self._screen: Any = None
        self._clock: Any = None

    def show(self, state: Any) -> np.ndarray | None:
        """The picture of a state or view: returned, or in "human" shown in the window."""
        if self.mode == "rgb_array":
            return table_picture(self.game, state, self.size)
        self._show_window(table_surface(self.game, state, self.size))
        return None

    def _show_window(self, surface: Any) -> None:
        """Show a surface and keep the pace."""
        pygame = pygame_module()
        if self._screen is None:
            pygame.display.init()
            pygame.display.set_caption(self.game.name)
            self._screen = pygame.display.set_mode(surface.get_size())
            self._clock = pygame.time.Clock()
        pygame.event.pump()
        self._screen.blit(surface, (0, 0))
        pygame.display.flip()
        if pygame.display.get_driver() != "dummy":  # there nobody looks
            self._clock.tick(self.fps)

    def close(self) -> None:
        """Close the window if it was opened."""
        if self._screen is not None:
            pygame_module().display.quit()
            self._screen = None


# ----------------------------------------------------------------------------------------------- drawing


class Canvas:
    """A surface on which positions and sizes are given in units of the table."""

    def __init__(self, surface: Any) -> None:
        self.pygame = pygame_module()
        self.surface = surface
        width, height = surface.get_size()
        self.unit = min(width / WIDTH, height / HEIGHT)
        self.left, self.top = (width - WIDTH * self.unit) / 2, (height - HEIGHT * self.unit) / 2

    def at(self, x: float, y: float) -> tuple[float, float]:
        """The pixel of a position."""
        return self.left + x * self.unit, self.top + y * self.unit

    def rect(
        self, x: float, y: float, width: float, height: float, color: Color, radius: float = 0, line: float = 0
    ) -> None:
        """A rectangle, filled or (with `line`) its outline."""
        px, py = self.at(x, y)
        ex, ey = self.at(x + width, y + height)
        box = self.pygame.Rect(round(px), round(py), round(ex) - round(px), round(ey) - round(py))
        thick = max(1, round(line * self.unit)) if line else 0
        self.pygame.draw.rect(self.surface, color, box, thick, border_radius=round(radius * self.unit))

    def polygon(self, points: Sequence[tuple[float, float]], color: Color) -> None:
        """A filled polygon."""
        self.pygame.draw.polygon(self.surface, color, [self.at(*point) for point in points])

    def disc(self, x: float, y: float, radius: float, color: Color, line: float = 0) -> None:
        """A disc, or (with `line`) a ring."""
        thick = max(1, round(line * self.unit)) if line else 0
        self.pygame.draw.circle(self.surface, color, self.at(x, y), radius * self.unit, thick)

    def shape(self, path: str, x: float, y: float, size: float, color: Color, turned: bool = False) -> None:
        """A path of the 100 by 100 box, its middle at a position, upside down if `turned`."""
        scale = -size / 100 if turned else size / 100
        for outline in _polygons(path):
            self.polygon([(x + (px - 50) * scale, y + (py - 50) * scale) for px, py in outline], color)

    def text(
        self, words: str, x: float, y: float, size: float, color: Color, align: str = "centre", turned: bool = False
    ) -> float:
        """A line of text about a position; `align` says whether x is its centre, left or right. Returns its width."""
        drawn = _font(max(4, round(size * self.unit))).render(words, True, color)
        if turned:
            drawn = self.pygame.transform.rotate(drawn, 180)
        px, py = self.at(x, y)
        width, height = drawn.get_size()
        px -= {"left": 0.0, "centre": width / 2, "right": float(width)}[align]
        self.surface.blit(drawn, (round(px), round(py - height / 2)))
        return width / self.unit


@functools.cache
def _polygons(path: str) -> list[list[tuple[float, float]]]:
    return outlines(path)


@functools.cache
def _font(pixels: int) -> Any:
    """The font that pygame brings along (FreeSansBold), so that pictures are the same on every system."""
    pygame = pygame_module()
    pygame.font.init()
    return pygame.font.Font(None, pixels)


def draw_card(canvas: Canvas, game: Game, card: int, x: float, y: float, width: float, glow: bool = False) -> None:
    """A card with its top left corner at a position; face down where it is no card of the deck."""
    height, radius = width * 1.45, width * 0.09
    if glow:
        rim = max(2.5, width * 0.06)
        canvas.rect(x - rim, y - rim, width + 2 * rim, height + 2 * rim, GOLD, radius + rim)
    canvas.rect(x, y, width, height, EDGE, radius)
    edge = max(0.5, width * 0.014)
    inner = (x + edge, y + edge, width - 2 * edge, height - 2 * edge)
    if card < 0:
        canvas.rect(*inner, PAPER, radius)
        _back(canvas, x, y, width, height)
        return
    canvas.rect(*inner, PAPER, radius)
    suit, number = divmod(int(card), len(game.deck.ranks))
    rank, color = game.deck.ranks[number], SUIT_COLORS[suit]
    _corner(canvas, x, y, width, rank, suit, color)
    if width < 44:
        canvas.shape(SUIT_PATHS[suit], x + width * 0.6, y + height * 0.66, width * 0.5, color)
        return
    _corner(canvas, x + width, y + height, -width, rank, suit, color)
    if rank in PIPS:
        for px, py in PIPS[rank]:
            canvas.shape(
                SUIT_PATHS[suit], x + width * px / 100, y + height * py / 100, width * 0.175, color, turned=py > 51
            )
    elif rank == "A":
        canvas.shape(SUIT_PATHS[suit], x + width / 2, y + height / 2, width * 0.5, color)
    else:
        _court(canvas, x, y, width, height, rank, suit, color)


def _corner(canvas: Canvas, x: float, y: float, width: float, rank: str, suit: int, color: Color) -> None:
    """Rank and suit in a corner; from the other one, upside down, where the width is negative."""
    small = abs(width) < 44
    size = abs(width) * (0.52 if small else 0.31)
    turned = width < 0
    canvas.text(
        rank, x + width * (0.24 if small else 0.135), y + width * (0.25 if small else 0.165), size, color, turned=turned
    )
    canvas.shape(
        SUIT_PATHS[suit], x + width * (0.24 if small else 0.135), y + width * (0.6 if small else 0.37),
        abs(width) * (0.28 if small else 0.17), color, turned,
    )  # fmt: skip


def _court(canvas: Canvas, x: float, y: float, width: float, height: float, rank: str, suit: int, color: Color) -> None:
    """Jack, queen and king: a tinted field with the letter, the suit and (not for the jack) a crown."""
    tint = (250, 232, 228) if color == RED else (228, 232, 240)
    left, top, wide, high = x + width * 0.25, y + height * 0.14, width * 0.5, height * 0.72
    canvas.rect(left, top, wide, high, tint, width * 0.05)
    canvas.rect(left, top, wide, high, GOLD, width * 0.05, max(0.8, width * 0.016))
    canvas.text(rank, x + width / 2, y + height * 0.5, width * 0.56, color)
    canvas.shape(SUIT_PATHS[suit], x + width / 2, y + height * 0.755, width * 0.2, color)
    if rank != "J":
        canvas.shape(
            CROWN_PATH, x + width / 2, y + height * 0.255, width * (0.34 if rank == "K" else 0.26), (206, 152, 34)
        )


def _back(canvas: Canvas, x: float, y: float, width: float, height: float) -> None:
    """The back of a card: a framed field with a lattice of diamonds."""
    inset = width * 0.07
    canvas.rect(x + inset, y + inset, width - 2 * inset, height - 2 * inset, BACK, width * 0.05)
    if width < 20:
        return
    columns, rows = 4, 6
    for column in range(columns):
        for row in range(rows):
            cx = x + inset + (column + 0.5) * (width - 2 * inset) / columns
            cy = y + inset + (row + 0.5) * (height - 2 * inset) / rows
            size = width * 0.07
            canvas.polygon([(cx, cy - size), (cx + size, cy), (cx, cy + size), (cx - size, cy)], BACK_LINE)


# -------------------------------------------------------------------------------------------- the table


@dataclass(frozen=True)
class _Painter:
    """Draws one table."""

    game: Game
    state: Any
    canvas: Canvas
    names: list[str]

    @property
    def bottom(self) -> int:
        """The seat at the bottom: the observer's."""
        observer = int(self.state["observer"])
        return 0 if observer == NO_OBSERVER else observer

    @property
    def playing(self) -> bool:
        return int(self.state["phase"]) < DEAL_OVER

    def place(self, seat: int) -> str:
        """Where a seat sits."""
        players = int(self.state["players"])
        place = PLACES[players][(seat - self.bottom) % players]
        return OPPOSITE.get(place, place) if self.game.name in ANTICLOCKWISE else place

    def paint(self) -> None:
        canvas = self.canvas
        canvas.rect(0, 0, TABLE_WIDTH, HEIGHT, FELT)
        canvas.disc(*MIDDLE, 150, (33, 104, 75))
        canvas.disc(*MIDDLE, 150, (48, 122, 91), 1.5)
        for seat in range(int(self.state["players"])):
            self.hand(seat)
            self.label(seat)
        self.trick()
        PANELS[self.game.name](self)

    def hand(self, seat: int) -> None:
        """The cards of a seat: open where they are known, else so many backs."""
        if int(self.state["observer"]) in (NO_OBSERVER, seat):
            cards = hand_order(self.game, self.state, int(self.state["hands"][seat]))
        else:
            cards = [FACE_DOWN] * cards_left(self.state, seat)
        place = self.place(seat)
        (self.row if place in ("bottom", "top") else self.column)(place, cards)

    def row(self, place: str, cards: list[int]) -> None:
        """A hand beside the lower or the upper edge."""
        width = 76.0 if place == "bottom" else 50.0
        y = 504.0 if place == "bottom" else 14.0
        step = min(width + 5, (TABLE_WIDTH - 44 - width) / max(len(cards) - 1, 1)) if cards else 0
        if place == "top":
            step = min(step, 30.0)
            if int(self.state["players"]) > 2:
                step = min(step, 250 / max(len(cards) - 1, 1))
        left = MIDDLE[0] - (step * (len(cards) - 1) + width) / 2
        for place_in_hand, card in enumerate(cards):
            draw_card(self.canvas, self.game, card, left + place_in_hand * step, y, width)

    def column(self, place: str, cards: list[int]) -> None:
        """A hand beside the left or the right edge, each card showing its upper strip."""
        width, top = 50.0, 90.0
        step = min(30.0, (380.0 - width * 1.45) / max(len(cards) - 1, 1))
        x = 18.0 if place == "left" else TABLE_WIDTH - 18 - width
        for place_in_hand, card in enumerate(cards):
            draw_card(self.canvas, self.game, card, x, top + place_in_hand * step, width)

    def label(self, seat: int) -> None:
        """Name of a seat with what it is: dealer, leader, to move; and its tricks."""
        canvas, state = self.canvas, self.state
        x, y = LABELS[self.place(seat)]
        to_move = self.playing and seat == int(state["seat"])
        name = self.names[seat][:14]
        badges = ["D"] if seat == int(state["dealer"]) else []
        leads = self.playing and seat == int(state["leader"])
        tricks = int(state["tricks"][seat])
        width = 172.0
        if self.place(seat) in OPPOSITE:
            x = 18 + width / 2 if self.place(seat) == "left" else TABLE_WIDTH - 18 - width / 2
        left = x - width / 2
        canvas.rect(left, y - 15, width, 30, GOLD if to_move else FELT_EDGE, 15)
        ink = INK if to_move else CHALK
        inside = left + 14
        if leads:
            canvas.polygon([(inside - 2, y - 7), (inside + 9, y), (inside - 2, y + 7)], ink)
            inside += 15
        canvas.text(name, inside, y + 1, 23, ink, "left")
        right = left + width - 16
        if badges:
            canvas.disc(right, y, 10.5, PAPER)
            canvas.text("D", right, y + 1, 19, INK)
            right -= 24
        if tricks:
            self.tricks_taken(right, y, tricks, ink)

    def tricks_taken(self, right: float, y: float, tricks: int, ink: Color) -> None:
        """A little pile and how many tricks it holds."""
        width = self.canvas.text(str(tricks), right + 8, y + 1, 23, ink, "right")
        for shift in (4.0, 0.0):
            draw_card(self.canvas, self.game, FACE_DOWN, right - width - 12 - shift, y - 10 - shift / 2, 13)

    def trick(self) -> None:
        """The current trick, or between two tricks the last one, with the card that takes it in gold."""
        shown, width = shown_trick(self.state), 76.0
        for seat, card in shown.cards:
            dx, dy = TRICK_AT[self.place(seat)]
            x, y = MIDDLE[0] + dx - width / 2, MIDDLE[1] + dy - width * 0.725
            draw_card(self.canvas, self.game, card, x, y, width, glow=seat == shown.winner)
        if shown.complete:
            self.canvas.text(f"{self.names[shown.winner]} takes the trick", MIDDLE[0], MIDDLE[1] + 134, 20, CHALK)

    # ------------------------------------------------------------------------------------- side panels

    def panel(self, title: str, line: str) -> None:
        """The empty panel with its two lines at the top."""
        self.canvas.rect(TABLE_WIDTH, 0, WIDTH - TABLE_WIDTH, HEIGHT, PANEL)
        self.canvas.text(title, TABLE_WIDTH + 20, 34, 34, INK, "left")
        self.canvas.text(line, TABLE_WIDTH + 20, 62, 21, GREY, "left")

    def progress(self) -> str:
        """Deal and trick, in words."""
        state = self.state
        if int(state["phase"]) >= DEAL_OVER:
            return f"deal {int(state['deal']) + 1} is over"
        trick = "passing" if int(state["phase"]) == PASS else f"trick {int(state['trick_number']) + 1}"
        return f"deal {int(state['deal']) + 1}, {trick}"


def _herzeln_panel(painter: _Painter) -> None:
    """Totals of the game, and the penalty cards that each has taken in this deal."""
    state, canvas, left = painter.state, painter.canvas, TABLE_WIDTH + 20
    painter.panel("Herzeln", painter.progress())
    heart = RED if state["broken"] else (214, 208, 198)
    canvas.shape(SUIT_PATHS[HEARTS], left + 9, 92, 19, heart)
    canvas.text("hearts broken" if state["broken"] else "hearts not broken", left + 26, 93, 20, INK, "left")
    over = int(state["phase"]) >= DEAL_OVER
    canvas.text("this deal", WIDTH - 84, 124, 17, GREY, "right")
    canvas.text("total", WIDTH - 20, 124, 17, GREY, "right")
    players = int(state["players"])
    for seat in range(players):
        y = 148 + seat * 116
        points = int(state["score"][seat]) if over else _herzeln_points(painter, seat)
        canvas.rect(left - 6, y - 16, WIDTH - TABLE_WIDTH - 28, 104, (255, 255, 255), 8)
        canvas.text(painter.names[seat][:13], left + 4, y + 1, 23, INK, "left")
        canvas.text(str(points), WIDTH - 96, y + 1, 26, RED if points > 0 else INK, "right")
        canvas.text(str(int(state["totals"][seat])), WIDTH - 26, y + 1, 26, INK, "right")
        _taken(painter, seat, left + 4, y + 22)
    shooter = int(state["moon_seat"])
    if over and shooter != NO_SEAT:
        canvas.text(f"{painter.names[shooter]} shot the moon", left, 620, 21, RED, "left")


def _herzeln_points(painter: _Painter, seat: int) -> int:
    """Points of the penalty cards taken so far, as far as they are known."""
    rules = painter.game.rules
    return int(rules.penalty_points(int(rules.taken_by(painter.state, seat))))


def _taken(painter: _Painter, seat: int, x: float, y: float) -> None:
    """The penalty cards that a seat has taken."""
    rules, state = painter.game.rules, painter.state
    counting = rules.PENALTY | (1 << rules.JACK if state["jack_of_diamonds"] else 0)
    cards = painter.game.deck.in_set(int(rules.taken_by(state, seat)) & counting)
    width = 36.0
    step = min(width + 4, (222.0 - width) / max(len(cards) - 1, 1)) if cards else 0
    for place, card in enumerate(cards):
        draw_card(painter.canvas, painter.game, card, x + place * step, y, width)
    if not cards:
        painter.canvas.text("nothing taken", x, y + 14, 18, (178, 174, 166), "left")


def _viersche_panel(painter: _Painter) -> None:
    """Trumps, and the slate: a chicken ladder for each side, the points and the marks."""
    state, canvas, left = painter.state, painter.canvas, TABLE_WIDTH + 20
    painter.panel("Viersche", painter.progress())
    trump = int(state["trump"])
    canvas.text("trumps", left, 106, 21, INK, "left")
    canvas.shape(SUIT_PATHS[trump], left + 92, 105, 38, SUIT_COLORS[trump])
    if int(state["turn_up"]) != NO_CARD:
        canvas.text("turned up", left + 128, 106, 18, GREY, "left")
        draw_card(canvas, painter.game, int(state["turn_up"]), WIDTH - 58, 76, 38)
    top, wide = 146.0, WIDTH - TABLE_WIDTH - 32
    canvas.rect(left - 4, top, wide, HEIGHT - top - 16, WOOD, 10)
    canvas.rect(left + 6, top + 10, wide - 20, HEIGHT - top - 36, SLATE, 4)
    middle = left - 4 + wide / 2
    canvas.rect(middle - 0.7, top + 24, 1.4, HEIGHT - top - 64, FAINT)
    for side in range(2):
        _side(painter, side, middle + (side - 0.5) * (wide - 20) / 2, top)


def _side(painter: _Painter, side: int, x: float, top: float) -> None:
    """One side's half of the slate."""
    state, canvas = painter.state, painter.canvas
    canvas.text(painter.names[side][:11], x, top + 36, 19, CHALK)
    canvas.text(painter.names[side + 2][:11], x, top + 56, 19, CHALK)
    _ladder(canvas, x, top + 78, 176, int(state["rungs"][side]), int(state["ladder"]))
    canvas.text("points", x, top + 282, 17, (168, 176, 176))
    over = int(state["phase"]) >= DEAL_OVER
    carried, points = int(state["carried"][side]), int(state["points"][side])
    first = 0 if over else carried
    canvas.text(str(points), x, top + 306, 38, CHALK)
    canvas.text(f"carried {first}" if first else "", x, top + 332, 18, (168, 176, 176))
    canvas.text("marks", x, top + 366, 17, (168, 176, 176))
    _marks(canvas, x, top + 394, int(state["marks"][side]), int(state["session_marks"]))


def _ladder(canvas: Canvas, x: float, y: float, height: float, left: int, rungs: int) -> None:
    """A plank with its rungs in chalk; those that are erased have left a smear. The last to go is the lowest."""
    canvas.rect(x - 5, y, 3, height, CHALK, 1.5)
    canvas.rect(x + 2, y, 3, height, CHALK, 1.5)
    step = height / rungs
    thick = min(6.0, step * 0.4)
    for rung in range(rungs):
        there = rung >= rungs - left
        middle = y + (rung + 0.5) * step
        color = CHALK if there else (66, 74, 78)
        canvas.rect(x - 38, middle - thick / 2, 76, thick, color, thick / 2)


def _marks(canvas: Canvas, x: float, y: float, marks: int, most: int) -> None:
    """The marks as chalk balls among the places that lose a session."""
    if most > 6:
        canvas.text(f"{marks} of {most}", x, y, 24, CHALK)
        return
    for number in range(max(most, marks)):
        cx = x + (number - (max(most, marks) - 1) / 2) * 21
        if number < marks:
            canvas.disc(cx, y, 8, CHALK)
        else:
            canvas.disc(cx, y, 8, FAINT, 1.4)


PANELS: dict[str, Callable[[_Painter], None]] = {"herzeln": _herzeln_panel, "viersche": _viersche_panel}
