"""How long the page takes to answer: `python -m stich.page.measure AGENT [TABLES]` (needs httpx)."""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import uvicorn

from .server import Page, bind


async def one_table(client: object, agent: str, times: list[float]) -> None:
    """Play one deal of Herzeln against three of an agent, noting the milliseconds of each of its answers."""
    import httpx

    assert isinstance(client, httpx.AsyncClient)
    asked = {"game": "herzeln", "seats": ["you", agent, agent, agent], "episode": "deal"}
    shown = (await client.post("/api/tables", json=asked)).raise_for_status().json()
    while not shown["over"]:
        mine = shown["table"]["seat"] == 0
        body = {"move": shown["move"], "card": (shown["legal"] or [None])[0]}
        started = time.perf_counter()
        answer = await client.post(f"/api/tables/{shown['id']}/{'play' if mine else 'next'}", json=body)
        if not mine:
            times.append(1000 * (time.perf_counter() - started))
        shown = answer.raise_for_status().json()
        if shown["failure"]:
            raise RuntimeError(str(shown["failure"]))


async def measure(address: str, agent: str, tables: int) -> list[float]:
    """Milliseconds of the agents' answers at so many tables at once, after one table to warm up."""
    import httpx

    times: list[float] = []
    async with httpx.AsyncClient(base_url=address, timeout=600) as client:
        await one_table(client, agent, [])
        await asyncio.gather(*(one_table(client, agent, times) for _ in range(tables)))
    return times


def main(agent: str, tables: int = 1) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        listening = bind("127.0.0.1", 0)
        server = uvicorn.Server(uvicorn.Config(Page(Path(folder)).app(), log_level="error", ws="none"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        thread.start()
        times = sorted(asyncio.run(measure(f"http://127.0.0.1:{listening.getsockname()[1]}", agent, tables)))
        server.should_exit = True
        thread.join(20)
    high = times[int(0.95 * len(times))]
    print(
        f"{agent}, {tables} tables: {len(times)} answers, median {statistics.median(times):.1f} ms, 95 % {high:.1f} ms"
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1)
