"""The page in a real browser: whole games by mouse and keyboard, on a phone, in German, over a restart."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

sync_api = pytest.importorskip("playwright.sync_api", reason="tests in a browser need playwright")
pytest.importorskip("uvicorn", reason="the page needs the extra `serve`")

pytestmark = pytest.mark.browser
DOCS = Path(__file__).resolve().parent.parent / "docs"
PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 240_000  # milliseconds; kernels may have to be compiled


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium: the system's, or the one that `playwright install chromium` brings."""
    with sync_api.sync_playwright() as playwright:
        found = next(filter(None, map(shutil.which, PROGRAMS)), None)
        if found is None and not Path(playwright.chromium.executable_path).is_file():
            pytest.skip(f"no browser found: none of {', '.join(PROGRAMS)}, and none by `playwright install chromium`")
        opened = playwright.chromium.launch(executable_path=found, args=["--no-sandbox"])
        yield opened
        opened.close()


class Served:
    """`stich serve` as a process that can be ended and started anew at the same port."""

    def __init__(self, folder: Path, *words: str) -> None:
        self.folder, self.words, self.port = folder, words, 0
        self.start()

    def start(self) -> None:
        """Start it and wait until it says where it is."""
        words = [sys.executable, "-m", "stich.training.cli", "serve", *self.words, "--no-browser"]
        words += ["--port", str(self.port), "--out", str(self.folder)]
        environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment)
        assert self.process.stdout is not None
        found = re.search(r"at (http://127\.0\.0\.1:(\d+)/)", self.process.stdout.readline())
        assert found is not None
        self.address, self.port = found[1], int(found[2])

    def stop(self) -> None:
        """End it."""
        self.process.terminate()
        self.process.wait(120)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    found = Served(tmp_path_factory.mktemp("page"), str(DOCS / "viersche.jsonl"))
    yield found
    found.stop()


class Visitor:
    """A browser of its own at the page, which notes whatever goes wrong in it and what it asks for."""

    def __init__(self, browser: Any, address: str, width: int = 1200, language: str = "en-US", **more: Any) -> None:
        self.address = address
        context = browser.new_context(viewport={"width": width, "height": 850}, locale=language, **more)
        self.page = context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.wrong: list[str] = []
        self.asked: list[str] = []
        self.page.on("console", lambda message: self.wrong.append(message.text) if message.type != "log" else None)
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.goto(address)

    def open_game(self, game: str, options: str = "", you: bool = True, **chosen: str) -> None:
        """Fill in the form and start, at the fastest pace."""
        page = self.page
        page.wait_for_selector(".start")
        page.evaluate("localStorage.setItem('stich.pace', '\"fast\"')")
        page.select_option("select[name=game]", game)
        for name, value in chosen.items():
            page.select_option(f"select[name={name}]", value)
        if not you:
            page.select_option("select[name=seat0]", "rules")
        page.fill("input[name=options]", options)
        page.click(".start")
        page.wait_for_selector(".felt")

    def wait(self) -> str:
        """Wait for one's turn or the end of a deal: `card`, `next` or `over`."""
        page = self.page
        page.wait_for_selector("button.card, button.main")
        if page.locator("button.card").count():
            return "card"
        return "over" if page.locator("a > button.main").count() else "next"

    def click(self) -> None:
        """Play the first legal card by a click, and see it leave the hand."""
        card = self.page.locator("button.card").first
        name = card.get_attribute("data-card")
        card.click()
        self.page.wait_for_selector(f"button.card[data-card='{name}']", state="detached")

    def press(self) -> None:
        """The same by the keyboard alone: an arrow chooses, Enter plays."""
        self.page.keyboard.press("ArrowRight")
        name = self.page.evaluate("document.activeElement.dataset.card")
        assert name
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(f"button.card[data-card='{name}']", state="detached")

    def fine(self) -> None:
        """Nothing went wrong in the browser, and nothing was asked of anybody else."""
        assert self.wrong == []
        assert all(url.startswith(self.address) for url in self.asked)


def test_a_whole_game_of_herzeln_by_keyboard(browser: Any, server: Served, tmp_path: Path) -> None:
    visitor = Visitor(browser, server.address)
    visitor.open_game("herzeln", "target=10", preset="hearts")
    plays = 0
    while (turn := visitor.wait()) != "over":
        if turn == "card":
            visitor.press()
            plays += 1
        else:
            visitor.page.keyboard.press("Enter")  # the button to the next deal has the focus
    assert plays % 16 in (0, 13)  # thirteen cards a deal, and three passed where there is passing
    assert "The game is over." in visitor.page.inner_text(".status")
    visitor.page.wait_for_selector(".verdict .sums, .verdict p:has-text('No card lost')", timeout=3 * PATIENCE)
    with visitor.page.expect_download() as download:
        visitor.page.click("a[download]")
    words = [sys.executable, "-m", "stich.training.cli", "replay", str(download.value.path())]
    assert (
        "final score in points: you (seat 0)"
        in subprocess.run(words, capture_output=True, text=True, check=True).stdout
    )
    visitor.page.click(".bar a[href*=deal]")
    visitor.page.wait_for_selector("[data-go=following]")
    for _ in range(20):
        visitor.page.keyboard.press("ArrowRight")
    visitor.page.wait_for_selector("text=Card 21 of")
    visitor.page.wait_for_selector(".advice .answer .chip")
    assert len(visitor.page.screenshot(path=str(tmp_path / "review.png"), full_page=True)) > 20_000
    visitor.fine()


def test_a_whole_game_of_viersche_on_a_phone(browser: Any, server: Served) -> None:
    """By tapping, in German: nothing is wider than the window, and cards are large enough for a thumb."""
    visitor = Visitor(browser, server.address, 390, "de-DE", has_touch=True, is_mobile=True)
    visitor.open_game("viersche", "rungs=1")
    assert visitor.page.inner_text("#rules-button") == "Regeln"
    while (turn := visitor.wait()) != "over":
        if turn == "card":
            assert visitor.page.evaluate("document.documentElement.scrollWidth") <= 390
            box = visitor.page.locator("button.card").first.bounding_box()
            assert box["width"] >= 44
            assert box["height"] >= 60
            visitor.click()
        else:
            visitor.page.click("button.main")
    assert re.search(r"Du (gewinnst!|verlierst\. Gewonnen: \w+)", visitor.page.inner_text(".status"))
    visitor.fine()


def test_two_players_do_not_mix(browser: Any, server: Served) -> None:
    """Each sees its own game, card by card by turns, and neither can be found from the other's browser."""
    one, two = Visitor(browser, server.address), Visitor(browser, server.address)
    one.open_game("herzeln", episode="deal")
    two.open_game("viersche", episode="deal")
    for _ in range(4):
        for visitor in (one, two):
            assert visitor.wait() == "card"
            visitor.click()
    for visitor in (one, two):
        visitor.wait()
    assert "♥" in one.page.inner_text(".panel")
    assert "Trumps" in two.page.inner_text(".panel")
    assert one.page.url != two.page.url
    known = one.page.evaluate("localStorage.getItem('stich.games')")
    assert two.page.url.rsplit("/", 1)[1] not in known
    for visitor in (one, two):
        visitor.fine()


def test_a_game_survives_reload_and_restart(browser: Any, tmp_path: Path) -> None:
    """A reload shows the same hand; while the server is away there is one message, then the game goes on."""
    server = Served(tmp_path)
    try:
        visitor = Visitor(browser, server.address)
        visitor.open_game("herzeln", episode="deal")
        for _ in range(3):
            visitor.wait()
            visitor.click()
        visitor.wait()
        hand = "[...document.querySelectorAll('.hand .card')].map((card) => card.dataset.card).join()"
        before = visitor.page.evaluate(hand)
        visitor.page.reload()
        visitor.wait()
        assert visitor.page.evaluate(hand) == before
        visitor.fine()
        server.stop()
        visitor.page.locator("button.card").first.click()
        visitor.page.wait_for_selector("#banner:not([hidden])")
        assert "The server does not answer. Your game is kept there." in visitor.page.inner_text("#banner")
        server.start()
        visitor.page.click("#banner button")
        visitor.page.wait_for_selector("#banner", state="hidden")
        visitor.wait()
        assert visitor.page.evaluate(hand) == before
        visitor.click()
        visitor.page.goto(server.address)
        visitor.page.click("text=Continue")
        assert visitor.wait() == "card"
    finally:
        server.stop()


def test_watching_and_records(browser: Any, server: Served) -> None:
    visitor = Visitor(browser, server.address)
    visitor.open_game("viersche", you=False, episode="deal")
    assert visitor.page.locator(".seat .chips").count() == 3  # all hands are open
    assert visitor.wait() == "over"
    visitor.page.goto(f"{server.address}#/replay/0/0/1")
    visitor.page.wait_for_selector("text=Card 1 of 36")
    visitor.page.click("[data-go=end]")
    visitor.page.wait_for_selector("text=Deal 2 is over.")
    visitor.page.goto(f"{server.address}#/")
    visitor.page.set_input_files("input[type=file]", str(DOCS / "herzeln.jsonl"))
    visitor.page.wait_for_selector("text=Card 1 of 64")
    visitor.page.select_option("#language", "de")
    visitor.page.wait_for_selector("text=Karte 1 von 64")
    visitor.page.click("#rules-button")
    assert "Pik-Dame" in visitor.page.inner_text("#rules")
    visitor.page.click("#rules-close")
    visitor.fine()


def test_an_unknown_game_is_one_message(browser: Any, server: Served) -> None:
    visitor = Visitor(browser, f"{server.address}#/game/{'x' * 24}")
    visitor.page.wait_for_selector("#banner:not([hidden])")
    assert "There is no such game here" in visitor.page.inner_text("#banner")


def test_browsers_without_scripts_get_one_message(browser: Any, server: Served) -> None:
    visitor = Visitor(browser, server.address, java_script_enabled=False)
    assert "This page needs JavaScript" in visitor.page.inner_text("noscript")
    text = visitor.page.content()
    assert '<script nomodule="" src="/static/old.js">' in text  # run only by browsers that know no modules
    modern = Visitor(browser, server.address)
    modern.page.wait_for_selector(".start")
    assert not modern.page.is_visible("#old")
    modern.page.add_script_tag(url="/static/old.js")
    modern.page.evaluate("document.dispatchEvent(new Event('DOMContentLoaded'))")
    assert "it knows no JavaScript modules" in modern.page.inner_text("#old")
