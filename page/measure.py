"""How long the page takes to answer: `python -m stich.page.measure AGENT [TABLES]` (needs httpx).

One table is played as fast as it goes, several at the pace at which the page shows the cards.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from .server import Page, running

PACE = 0.65  # seconds that the page lets a card be seen before it asks for the next one


async def one_table(client: object, agent: str, times: list[float], pace: float) -> None:
    """Play one deal of Herzeln against three of an agent, noting the milliseconds of each of its answers."""
    import httpx

    assert isinstance(client, httpx.AsyncClient)
    asked = {"game": "herzeln", "seats": ["you", agent, agent, agent], "episode": "deal"}
    shown = (await client.post("/api/tables", json=asked)).raise_for_status().json()
    while not shown["over"]:
        mine = shown["table"]["seat"] == 0
        body = {"move": shown["move"], "card": (shown["legal"] or [None])[0]}
        await asyncio.sleep(pace * random.uniform(0.5, 1.5))
        started = time.perf_counter()
        answer = await client.post(f"/api/tables/{shown['id']}/{'play' if mine else 'next'}", json=body)
        if not mine:
            times.append(1000 * (time.perf_counter() - started))
        shown = answer.raise_for_status().json()
        if shown["failure"]:
            raise RuntimeError(str(shown["failure"]))


async def measure(address: str, agent: str, tables: int, pace: float) -> list[float]:
    """Milliseconds of the agents' answers at so many tables at once."""
    import httpx

    times: list[float] = []
    async with httpx.AsyncClient(base_url=address, timeout=600) as client:
        await asyncio.gather(*(one_table(client, agent, times, pace) for _ in range(tables)))
    return times


def main(agent: str, tables: int = 1) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder, running(Page(Path(folder))) as address:
        asyncio.run(measure(address, agent, 1, 0.0))
        started = time.process_time()
        times = sorted(asyncio.run(measure(address, agent, tables, PACE if tables > 1 else 0.0)))
        spent = 1000 * (time.process_time() - started) / len(times)
    high = times[int(0.95 * len(times))]
    print(
        f"{agent}, {tables} tables: {len(times)} answers, median {statistics.median(times):.1f} ms, 95 % {high:.1f} ms"
    )
    print(f"processor time of this process, server and player together: {spent:.1f} ms an answer")


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
