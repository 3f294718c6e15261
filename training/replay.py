"""One game of a result file, or of a file of game records, to read trick by trick."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

from ..envs.batch import Batch, Terms
from ..envs.cards import NO_CARD, NO_SEAT, SUITS
from ..envs.errors import OptionError
from ..envs.game import Game, get_game
from ..envs.picture import SIZE, Size, table_picture
from ..envs.record import replay as replay_record
from ..envs.render import hand_text
from ..envs.state import PASS
from .results import KEY


@dataclass
class Trick:
    """Who led it, the cards by seat in the order played, and who took it."""

    leader: int
    cards: dict[int, int] = field(default_factory=dict)
    winner: int = NO_SEAT


@dataclass
class Deal:
    """One deal as it was played.

    Attributes:
        before: The state [1] before its first card.
        passed: Cards passed, by seat.
        tricks: In order.
        cards: Passed and played, in order.
        states: The state [1] before each card, and that after the last one, without the next deal.
        points: Points of each seat in the deal, as the game counts them.
    """

    before: np.ndarray
    passed: dict[int, list[int]] = field(default_factory=dict)
    tricks: list[Trick] = field(default_factory=list)
    points: list[float] = field(default_factory=list)
    cards: list[int] = field(default_factory=list)
    states: list[np.ndarray] = field(default_factory=list)


@dataclass
class Story:
    """A whole game with the names at its seats."""

    game: Game
    names: list[str]
    deals: list[Deal]
    score: list[float]
    unit: str


def open_story(path: Path, deal: int, match: int = 0, game: int = 0) -> Story:
    """A game from `deals.parquet` or `games.parquet` of a tournament, or line `deal` of a file of game records.

    Raises:
        OptionError: no such file or game, or a damaged file.
    """
    if not path.is_file():
        raise OptionError(f"no file {path}. Valid: games.parquet of a tournament, or game records, one JSON line each")
    if path.suffix == ".parquet":
        return _from_tournament(path.with_name("games.parquet"), deal, match, game)
    lines = path.read_text().splitlines()
    if not 0 <= deal < len(lines):
        raise OptionError(f"{path} has no record {deal}. Valid: 0 to {len(lines) - 1}")
    try:
        return record_story(json.loads(lines[deal]))
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise OptionError(f"line {deal} of {path} is no game record: {error}") from None


def record_story(record: Mapping[str, Any]) -> Story:
    """The game of a record; its entry `names`, where it has one, names the players.

    Raises:
        ValueError: something that is no record, or one without a card.
    """
    moves = zip(replay_record(record), [*record["actions"], None], strict=True)
    return _tell(get_game(record["game"]), moves, record.get("names"))


def _from_tournament(path: Path, deal: int, match: int, game: int) -> Story:
    from .tournament import tournament_config

    try:
        content = path.read_bytes()
        config = tournament_config(yaml.safe_load(pl.read_parquet_metadata(io.BytesIO(content))[KEY]))
        games = pl.read_parquet(io.BytesIO(content))
    except (pl.exceptions.PolarsError, OSError, KeyError) as error:
        raise OptionError(f"{path} is damaged or no result of a tournament: {error}") from None
    rows = games.filter(pl.col("match") == match, pl.col("deal") == deal, pl.col("game") == game)
    if rows.is_empty():
        there = games.filter(pl.col("match") == match)
        valid = f"match 0 to {games['match'].max()}"
        if there.height:
            valid = f"deal {there['deal'].min()} to {there['deal'].max()}, game 0 to {there['game'].max()}"
        raise OptionError(f"{path} has no game {game} of deal {deal} in match {match}. Valid: {valid}")
    row = rows.row(0, named=True)
    found, rules = get_game(config.game), config.rules()
    single = rules.episode == "deal"
    lane, number = (0, deal) if single else (deal, 0)
    batch = Batch(
        found,
        rules,
        Terms(),
        config.environment_seed(),
        np.array([lane], np.uint64),
        np.array([number], np.int64),
        "disabled",
    )
    return _tell(found, _moves(batch, np.frombuffer(row["actions"], np.int8)), row["agents"])


def _moves(batch: Batch, actions: np.ndarray) -> Iterator[tuple[Batch, int | None]]:
    for action in actions:
        yield batch, int(action)
        batch.step(np.array([action]))
    yield batch, None


def _tell(game: Game, moves: Iterable[tuple[Batch, int | None]], names: Sequence[str] | None) -> Story:
    """Put the cards of a game into deals and tricks."""
    deals: list[Deal] = []
    started, batch, alone = -1, None, None
    for batch, action in moves:
        state = batch.states[0]
        if action is None:
            break
        if int(state["deal"]) != started:
            deals.append(Deal(batch.states.copy()))
            started = int(state["deal"])
        seat = int(state["seat"])
        deals[-1].cards.append(action)
        alone = Alone(batch) if alone is None else alone
        deals[-1].states[-1:] = [batch.states.copy(), alone.after(batch.states, action)]
        if state["phase"] == PASS:
            deals[-1].passed.setdefault(seat, []).append(action)
            continue
        if seat == state["leader"]:
            deals[-1].tricks.append(Trick(seat))
        trick = deals[-1].tricks[-1]
        trick.cards[seat] = action
        if len(trick.cards) == state["players"]:
            after = deals[-1].states[-1][0]
            trick.winner = int(after["last_seat"])
            sides = len(after["score"])
            deals[-1].points = [float(after["score"][each % sides]) for each in range(int(state["players"]))]
    if batch is None:
        raise OptionError("the game has no card")
    players = int(batch.states["players"][0])
    shown = list(names) if names is not None else [f"player_{seat}" for seat in range(players)]
    return Story(game, shown, deals, batch.final_score[0].tolist(), game.score_unit(batch.options))


class Alone:
    """Plays one card in a copy of a game, without the next deal that may follow it."""

    def __init__(self, batch: Batch) -> None:
        one = np.zeros(1, np.int64)
        self._batch = Batch(batch.game, batch.options, batch.terms, 0, one.astype(np.uint64), one, "disabled")

    def after(self, states: np.ndarray, card: int) -> np.ndarray:
        """The state [1] after a card."""
        self._play(states, card, states["episode"])
        if int(self._batch.states["deal"][0]) != int(states["deal"][0]):  # the next deal is there
            self._play(states, card, 0)  # as a single deal
        return self._batch.states.copy()

    def _play(self, states: np.ndarray, card: int, episode: Any) -> None:
        self._batch.states[:] = states
        self._batch.states["episode"] = episode
        self._batch.look()
        self._batch.advance(np.array([card]))


def story_text(story: Story) -> str:
    """The game as text."""
    lines = []
    for number, deal in enumerate(story.deals):
        lines += [f"deal {number + 1}", *_hands(story, deal), *_passed(story, deal), *_tricks(story, deal)]
        points = "  ".join(f"{story.names[seat]} {points:g}" for seat, points in enumerate(deal.points))
        lines += [f"points of the deal: {points}", ""]
    total = "  ".join(
        f"{name} (seat {seat}) {score:g}"
        for seat, (name, score) in enumerate(zip(story.names, story.score, strict=True))
    )
    return "\n".join([*lines, f"final score in {story.unit}: {total}"])


def _hands(story: Story, deal: Deal) -> list[str]:
    state = deal.before[0]
    dealer = int(state["dealer"])
    rows = []
    for seat, name in enumerate(story.names):
        mark = "dealer" if seat == dealer else ""
        rows.append(f"  seat {seat} {name:12} {mark:6} {hand_text(story.game, int(state['hands'][seat]))}")
    if "trump" in state.dtype.names:
        rows.append(f"  trumps: {story.game.deck.name(int(state['trump']) * len(story.game.deck.ranks), True)[0]}")
    return rows


def _passed(story: Story, deal: Deal) -> list[str]:
    deck = story.game.deck
    return [
        f"  seat {seat} passes {' '.join(deck.name(card, True) for card in cards)}"
        for seat, cards in deal.passed.items()
    ]


def _tricks(story: Story, deal: Deal) -> list[str]:
    deck, rows = story.game.deck, []
    for number, trick in enumerate(deal.tricks):
        shown = []
        for seat in range(len(story.names)):
            card = deck.name(trick.cards[seat], True) if seat in trick.cards else ""
            shown.append(f"{'>' if seat == trick.leader else ' '}{card:>3}{'*' if seat == trick.winner else ' '}")
        rows.append(f"  trick {number + 1:2d}  " + "  ".join(shown))
    return ["            " + "  ".join(f"seat {seat}"[:6].ljust(5) for seat in range(len(story.names))), *rows]


def table_png(story: Story, part: int | None, card: int, seat: int | None = None, size: Size = SIZE) -> bytes:
    """The table after so many cards of a deal as a PNG, all hands open or as a seat sees it."""
    states = [state for deal in _parts(story, part) for state in deal.states]
    if not 0 <= card < len(states):
        raise OptionError(f"--card {card} is not there. Valid: 0 to {len(states) - 1}")
    buffer = io.BytesIO()
    _image(story, seen_by(story.game, states[card], seat), size).save(buffer, "png", optimize=True)
    return buffer.getvalue()


def story_gif(story: Story, part: int | None = None, seat: int | None = None, size: Size = (640, 426)) -> bytes:
    """The game as a GIF, a picture a card: complete tricks stay longer, the end of a deal longest."""
    images, times = [], []
    for deal in _parts(story, part):
        for state in deal.states:
            images.append(_image(story, seen_by(story.game, state, seat), size))
            whole = state["plays"][0] > 0 and (state["trick"] == NO_CARD).all()
            times.append(1500 if whole else 600)
        times[-1] = 4000
    palette = images[len(images) // 2].quantize(96)
    few = [image.quantize(palette=palette, dither=0) for image in images]
    buffer = io.BytesIO()
    few[0].save(buffer, "gif", save_all=True, append_images=few[1:], duration=times, loop=0, optimize=True)
    return buffer.getvalue()


def _parts(story: Story, part: int | None) -> list[Deal]:
    """All deals of a game, or one."""
    if part is None:
        return story.deals
    if not 0 <= part < len(story.deals):
        raise OptionError(f"--part {part} is no deal of the game. Valid: 0 to {len(story.deals) - 1}")
    return [story.deals[part]]


def seen_by(game: Game, states: np.ndarray, seat: int | None) -> np.ndarray:
    """The view [1] of a seat, or the state as it is."""
    if seat is None:
        return states
    if seat not in range(int(states["players"][0])):
        raise OptionError(f"--seat {seat} is no seat. Valid: 0 to {int(states['players'][0]) - 1}")
    views = np.empty_like(states)
    game.lanes.view(states, np.array([seat], np.int8), views)
    return views


def _image(story: Story, states: np.ndarray, size: Size) -> Any:
    """A picture of a state or view [1] for Pillow."""
    pixels = table_picture(story.game, states[0], size, story.names)
    from PIL import Image

    return Image.fromarray(pixels)


def story_picture(story: Story) -> bytes:
    """The game as a PNG: a row a trick, a column a seat; the leader's card is framed, the winner's stands on green."""
    from .plots import as_png, pyplot

    plt = pyplot()
    rows = sum(len(deal.tricks) + 2 for deal in story.deals)
    seats = len(story.names)
    figure, axes = plt.subplots(figsize=(1.6 + 1.5 * seats, 0.8 + 0.36 * rows), dpi=120, layout="constrained")
    axes.set_xlim(-0.9, seats - 0.4)
    axes.set_ylim(rows + 0.3, -1.2)
    axes.axis("off")
    for seat, name in enumerate(story.names):
        axes.text(seat, -0.8, f"{name}\nseat {seat}", ha="center", va="center", weight="bold", fontsize=9)
    row = 0
    for number, deal in enumerate(story.deals):
        axes.text(-0.8, row, f"deal {number + 1}", weight="bold", va="center", fontsize=9)
        for place, trick in enumerate(deal.tricks):
            row += 1
            axes.text(-0.8, row, f"trick {place + 1}", va="center", fontsize=8, color="gray")
            _picture_row(axes, story.game, row, trick)
        row += 1
        for seat, points in enumerate(deal.points):
            axes.text(seat, row, f"{points:g} points", ha="center", va="center", fontsize=8, color="gray")
    return as_png(plt, figure)


def _picture_row(axes: Any, game: Game, row: int, trick: Trick) -> None:
    for seat, card in trick.cards.items():
        red = SUITS[card // len(game.deck.ranks)] in "DH"
        frame = {"boxstyle": "round,pad=0.25", "facecolor": "#bfe3b4" if seat == trick.winner else "white"}
        frame["edgecolor"] = "black" if seat == trick.leader else "none"
        name = game.deck.name(card, True)
        axes.text(seat, row, name, ha="center", va="center", color="#b00020" if red else "black", bbox=frame)
