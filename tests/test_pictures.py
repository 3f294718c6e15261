"""Pictures of the table: what they show and hide, at what sizes, and the faces and commands that make them."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from helpers import play_on, raw, views_for

from stich.envs import OptionError, make_batch
from stich.envs.game import GAMES
from stich.envs.picture import Canvas, draw_card, pygame_module, table_picture
from stich.training.replay import open_story, story_gif, table_png

every_game = pytest.mark.parametrize("game", GAMES)
DOCS = Path(__file__).resolve().parent.parent / "docs"
SMALL = (480, 320)


def states_of(game: str, cards: int, **options: Any) -> np.ndarray:
    """A state [1] in the middle of random play."""
    batch = make_batch(game, 1, seed=3, **options)
    play_on(batch, np.random.default_rng(1), cards)
    return batch.states


@every_game
@pytest.mark.parametrize("size", [(960, 640), (200, 900), (1601, 1003)])
def test_any_size(game: str, size: tuple[int, int]) -> None:
    picture = table_picture(GAMES[game], states_of(game, 10)[0], size)
    assert (picture.shape, picture.dtype) == ((size[1], size[0], 3), np.uint8)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50  # edges are smooth


@pytest.mark.parametrize("size", [(0, 10), (960,), "large", (10**6, 640), None])
def test_wrong_sizes(size: Any) -> None:
    with pytest.raises(OptionError, match=r"render_size=.* is not valid\. Valid: width and height in pixels"):
        raw("herzeln", render_mode="rgb_array", render_size=size)


TABLES: list[tuple[str, dict[str, Any]]] = [
    *(("herzeln", {"players": players}) for players in (2, 3, 4)),
    ("herzeln", {"preset": "hearts"}),
    ("viersche", {}),
]


@pytest.mark.parametrize(("game", "options"), TABLES)
def test_a_view_shows_nothing_hidden(game: str, options: dict[str, Any]) -> None:
    """The picture stays the same when the hidden cards are other cards; with open hands it changes."""
    states = states_of(game, 2 if options.get("preset") else 13, **options)
    seat = int(states["seat"][0])
    others = [other for other in range(int(states["players"][0])) if other != seat]
    swapped = states.copy()
    if len(others) > 1:
        first, second = others[0], others[-1]
        low = [int(states["hands"][0, other]) & -int(states["hands"][0, other]) for other in (first, second)]
        for other in (first, second):
            swapped["hands"][0, other] ^= low[0] | low[1]
    else:  # all cards are known to both: one that is gone instead
        swapped["hands"][0, others[0]] = 1
    found = GAMES[game]
    same = [table_picture(found, views_for(found, each, seat)[0], SMALL) for each in (states, swapped)]
    np.testing.assert_array_equal(*same)
    open_hands = [table_picture(found, each[0], SMALL) for each in (states, swapped)]
    assert (open_hands[0] != open_hands[1]).any()
    assert (open_hands[0] != same[0]).any()


@every_game
@pytest.mark.parametrize("width", [13, 36, 50, 76])
def test_every_card_looks_like_no_other(game: str, width: int) -> None:
    pygame, found = pygame_module(), GAMES[game]
    seen = set()
    for card in range(-1, found.deck.size):
        surface = pygame.Surface((960, 640))
        draw_card(Canvas(surface), found, card, 10, 10, width)
        seen.add(pygame.surfarray.array3d(surface)[: width + 20, : 2 * width + 20].tobytes())
    assert len(seen) == found.deck.size + 1


@every_game
def test_the_aec_face_draws(game: str) -> None:
    env = raw(game, episode="deal", render_mode="rgb_array", render_size=SMALL)
    env.reset(seed=1)
    seen = set()
    for _ in range(6):
        seen.add(env.render().tobytes())  # type: ignore[union-attr]
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    assert len(seen) == 6
    hidden = raw(game, episode="deal", render_mode="rgb_array", render_size=SMALL, render_view=2)
    hidden.reset(seed=1)
    assert hidden.render().tobytes() not in seen  # type: ignore[union-attr]
    with pytest.raises(OptionError, match=r"render_view=4 is not valid\. Valid: None, 0 to 3"):
        raw(game, render_view=4)


@every_game
def test_windows_open_and_close(game: str) -> None:
    env = raw(game, render_mode="human", render_size=SMALL)
    env.reset(seed=1)
    env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    assert pygame_module().display.get_surface().get_size() == SMALL
    assert env.render() is None
    env.close()
    assert not pygame_module().display.get_init()
    env.close()


@every_game
def test_the_gymnasium_face_draws_what_the_learner_sees(game: str) -> None:
    env: Any = gymnasium.make(f"stich/{game.capitalize()}-v0", seat=1, render_mode="rgb_array", render_size=SMALL)
    env.reset(seed=2)
    seats = env.unwrapped._seats
    expected = table_picture(GAMES[game], seats.batch.view(np.array([1], np.int8))[0], SMALL)
    np.testing.assert_array_equal(env.render(), expected)
    shown: Any = gymnasium.make(f"stich/{game.capitalize()}-v0", render_mode="human", render_size=SMALL)
    _, info = shown.reset(seed=2)
    shown.step(info["action_mask"].argmax())
    shown.close()
    env.close()


@every_game
def test_videos(game: str, tmp_path: Path) -> None:
    """Gymnasium's wrapper writes a film; it brings a package of its own that pins an old Pillow."""
    pytest.importorskip("moviepy", reason="gymnasium's RecordVideo needs moviepy")
    env: Any = gymnasium.make(
        f"stich/{game.capitalize()}-v0", render_mode="rgb_array", render_size=SMALL, episode="deal"
    )
    film = gymnasium.wrappers.RecordVideo(env, str(tmp_path), disable_logger=True)
    _, info = film.reset(seed=1)
    done = False
    while not done:
        _, _, done, _, info = film.step(int(info["action_mask"].argmax()))
    film.close()
    (file,) = tmp_path.glob("*.mp4")
    assert file.stat().st_size > 5000


def test_without_pygame(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    for mode in ("rgb_array", "human"):
        with pytest.raises(ModuleNotFoundError, match=r"need pygame-ce.* Valid: pip install 'stich\[render\]'"):
            raw("herzeln", render_mode=mode)
    env = raw("herzeln", render_mode="ansi")
    env.reset(seed=1)
    assert "player_3" in str(env.render())


def test_import_leaves_pygame_alone() -> None:
    program = "import sys, stich.envs, stich.agents.seat; sys.exit('pygame' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], cwd="/", check=False).returncode == 0


# ---------------------------------------------------------------------------------------------- replays


@every_game
def test_a_gif_has_a_picture_a_card(game: str) -> None:
    image = pytest.importorskip("PIL.Image")
    story = open_story(DOCS / f"{game}.jsonl", 0)
    content = story_gif(story, 0, size=(240, 160))
    film = image.open(io.BytesIO(content))
    total = 0
    for frame in range(film.n_frames):
        film.seek(frame)
        total += film.info["duration"]
    deal = story.deals[0]
    assert film.n_frames == len(deal.cards) + 1  # and the table before the first card
    assert total >= 400 * len(deal.cards)
    assert len(deal.states) == len(deal.cards) + 1
    assert int(deal.states[-1]["plays"][0]) == len(deal.cards) - sum(map(len, deal.passed.values()))


def test_tables_of_a_replay() -> None:
    story = open_story(DOCS / "viersche.jsonl", 0)
    assert len(story.deals) > 2
    whole, hidden = (table_png(story, 1, 5, seat, SMALL) for seat in (None, 2))
    assert whole[:4] == b"\x89PNG"
    assert whole != hidden
    for part, card, seat, message in (
        (99, 0, None, "--part 99 is no deal"),
        (0, 999, None, "--card 999 is not there"),
        (0, 0, 7, "--seat 7 is no seat"),
    ):
        with pytest.raises(OptionError, match=message):
            table_png(story, part, card, seat, SMALL)


def test_the_command_draws(tmp_path: Path) -> None:
    record = json.loads((DOCS / "herzeln.jsonl").read_text())
    file = tmp_path / "games.jsonl"
    file.write_text(json.dumps(record | {"actions": record["actions"][:14]}) + "\n")
    words = ["replay", str(file), "--gif", str(tmp_path / "a.gif"), "--table", str(tmp_path / "a.png"), "--card", "13"]
    done = subprocess.run([sys.executable, "-m", "stich.training.cli", *words], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "a.gif").read_bytes()[:4] == b"GIF8"
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"
