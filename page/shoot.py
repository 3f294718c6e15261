"""The picture of the page in the README: `python -m stich.page.shoot FILE` (needs httpx, playwright and a Chromium)."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path

from .server import Page, running

CARDS = 22  # played before the picture
ADVISER = "pimc:worlds=30"
PATIENCE = 900  # seconds; the adviser may have to be compiled


def play_on(address: str) -> str:
    """A game of Herzeln up to one's turn after some cards, one's own being the first legal ones; its id."""
    import httpx

    with httpx.Client(base_url=address, timeout=120) as client:
        asked = {"game": "herzeln", "seats": ["you", "rules", "duck", "rules"], "seed": 3}
        shown = client.post("api/tables", json=asked).raise_for_status().json()
        while shown["move"] < CARDS or not shown["legal"]:
            move = {"move": shown["move"], "card": (shown["legal"] or [None])[0]}
            path = f"api/tables/{shown['id']}/{'play' if shown['legal'] else 'next'}"
            shown = client.post(path, json=move).raise_for_status().json()
    return shown["id"]


def shoot(address: str, table: str, file: Path) -> None:
    """Open the game in a browser and take its picture."""
    from playwright.sync_api import sync_playwright

    kept = {"advice": True, "adviser.herzeln": ADVISER, "language": "en"}
    lines = [f"localStorage.setItem('stich.{key}', {json.dumps(json.dumps(value))})" for key, value in kept.items()]
    with sync_playwright() as playwright:
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1100, "height": 800})
        tab.add_init_script(";".join(lines))
        tab.goto(f"{address}#/game/{table}")
        tab.wait_for_selector(".advice .answer .row", timeout=1000 * PATIENCE)
        tab.screenshot(path=str(file), full_page=True)
        browser.close()


def main(file: str) -> None:
    """Play, open, shoot."""
    with tempfile.TemporaryDirectory() as folder, running(Page(Path(folder), patience=PATIENCE)) as address:
        shoot(address, play_on(address), Path(file))


if __name__ == "__main__":
    main(sys.argv[1])
