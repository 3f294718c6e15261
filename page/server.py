"""The server of the page: JSON over HTTP for the modules in `static/`.

Needs the extra `serve` (Starlette on uvicorn). Whoever knows a game's id, which is drawn at random, plays it; what the
browser gets of a running game is made from the view of the person's seat alone.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import json
import multiprocessing
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..envs.errors import OptionError
from ..envs.game import GAMES, Game, get_game
from ..envs.options import choices
from ..envs.suits import CROWN_PATH, SUIT_PATHS
from ..training.config import overrides
from ..training.verdict import deal_verdict
from .players import PATIENCE, Players, failure_of, offered
from .replays import MOST_BYTES, Shelves, deal_of, frames_json, read_records
from .tables import YOU, NotNow, Store, Table

STATIC = Path(__file__).resolve().parent / "static"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; style-src 'self'; img-src 'self' data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}
VERDICT_SECONDS = 4.0
Handler = Callable[[Request], Awaitable[Response]]


class Missing(ValueError):
    """Something that is not there (any more)."""


class Page:
    """All that the requests share.

    Args:
        folder: Where games are kept.
        records: Files to step through.
        agents: Agents to list beside the shipped ones.
        open_names: Whether a browser may name any agent; else only those listed.
        patience: Seconds that an agent in a process of its own may take.
    """

    def __init__(
        self,
        folder: Path,
        records: list[Path] | None = None,
        agents: list[str] | None = None,
        open_names: bool = True,
        patience: float = PATIENCE,
    ) -> None:
        self.store, self.shelves, self.players = Store(folder), Shelves(records or []), Players(patience)
        self.agents, self.open_names = agents or [], open_names
        self._locks: dict[str, asyncio.Lock] = {}
        self._verdicts: dict[tuple[str, int], Any] = {}
        self._judges: concurrent.futures.ProcessPoolExecutor | None = None

    # ---------------------------------------------------------------------------------------- about

    async def about(self, request: Request) -> Response:
        """Games with their presets, episodes and agents, the records listed, and the shapes of the suits."""
        games = {
            name: {
                "presets": list(game.presets),
                "episodes": choices(game.options_class, "episode"),
                "players": sorted(choices(game.options_class, "players")),
                "agents": offered(game, self.agents),
                "ranks": game.deck.ranks,
            }
            for name, game in GAMES.items()
        }
        drawn = {"suits": SUIT_PATHS, "crown": CROWN_PATH}
        replays, free = self.shelves.listed(), self.open_names
        return JSONResponse({"games": games, "replays": replays, "open_names": free, "you": YOU, **drawn})

    async def player(self, name: Any, game: Game) -> Any:
        """The agent of that name, if this server lets a browser name it.

        Raises:
            OptionError: it does not, or there is none.
        """
        listed = offered(game, self.agents)
        if not isinstance(name, str) or (name not in listed and not self.open_names):
            raise OptionError(f"agent {name!r} is not offered here. Valid: {', '.join(listed)}")
        try:
            return await run_in_threadpool(self.players.get, name, game)
        except Exception as error:  # an agent of somebody's may raise anything when it is made
            raise OptionError(f"agent {name!r} can't be made: {error}") from None

    # --------------------------------------------------------------------------------------- tables

    async def create(self, request: Request) -> Response:
        """Open a table: `game`, `seats`, and optionally `preset`, `players`, `episode`, `seed`, `options` (words)."""
        asked = await _body(request)
        words = asked.get("options", "")
        options = overrides(str(words).split()) | {
            name: asked[name] for name in ("preset", "players", "episode") if asked.get(name) is not None
        }
        seats, seed = asked.get("seats"), asked.get("seed")
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << 48):
            raise OptionError(f"seed={seed!r} is not valid. Valid: a whole number from 0 to 2**48 - 1")
        table = Table.new(str(asked.get("game")), seats, seed, options)  # type: ignore[arg-type]
        for name in sorted(set(table.seats) - {YOU}):
            await self.player(name, table.game)
        self.store.add(table)
        return JSONResponse(table.shown(), status_code=201)

    def table(self, request: Request) -> Table:
        """The table that a request is about.

        Raises:
            Missing: there is none.
        """
        try:
            table = self.store.get(request.path_params["id"])
        except (ValueError, KeyError, AssertionError) as error:
            raise Missing(f"the file of this game is damaged: {error}") from None
        if table is None:
            raise Missing("no such game")
        return table

    def lock(self, table: Table) -> asyncio.Lock:
        """Only one card at a time is played at a table."""
        return self._locks.setdefault(table.id, asyncio.Lock())

    async def show(self, request: Request) -> Response:
        """A table as its player may see it."""
        return JSONResponse(self.table(request).shown())

    async def play(self, request: Request) -> Response:
        """The person plays `card` as move number `move`; a move that is already there changes nothing."""
        table, asked = self.table(request), await _body(request)
        async with self.lock(table):
            if asked.get("move") == len(table.actions):
                if table.over or table.mover != table.human:
                    raise NotNow("it is not your turn")
                table.play(_card(table.game, asked.get("card")))
                await run_in_threadpool(self.store.save, table)
            return JSONResponse(table.shown())

    async def next(self, request: Request) -> Response:
        """The agent to move plays move number `move`; a failure is kept with the game, which stays as it is."""
        table, asked = self.table(request), await _body(request)
        async with self.lock(table):
            if asked.get("move") == len(table.actions) and not table.over and table.mover != table.human:
                await self._move(table)
                await run_in_threadpool(self.store.save, table)
            return JSONResponse(table.shown())

    async def _move(self, table: Table) -> None:
        """One card of the agent to move."""
        name, states = table.seats[table.mover], table.batch.states
        legal = table.game.deck.in_set(int(table.batch.legal[0]))
        try:
            if len(legal) == 1:
                card = legal[0]
            else:
                player = await self.player(name, table.game)
                view = table.batch.views
                card = await run_in_threadpool(player.card, view, table.key(states))
        except Exception as error:  # whatever an agent does, the game is kept
            table.failure = failure_of(name, error)
            return
        table.play(card)

    async def replace(self, request: Request) -> Response:
        """Another `agent` takes the seats of the one that has failed."""
        table, asked = self.table(request), await _body(request)
        async with self.lock(table):
            if table.failure is None:
                raise NotNow("no agent has failed")
            await self.player(asked.get("agent"), table.game)
            lost = table.failure["agent"]
            table.seats[:] = [asked["agent"] if seat == lost else seat for seat in table.seats]
            table.failure = None
            await run_in_threadpool(self.store.save, table)
            return JSONResponse(table.shown())

    async def explain(self, request: Request) -> Response:
        """What an agent thinks of decision `move`: the one at that seat, or the one named `agent`."""
        table, asked = self.table(request), request.query_params
        states, mover = table.decision(_number(asked.get("move"), "move"))
        name = asked.get("agent") or table.seats[mover]
        if name == YOU:
            name = next((seat for seat in table.seats if seat != YOU), "rules")
        return JSONResponse(await self._explained(name, table.game, states, table.key(states)))

    async def _explained(self, name: str, game: Game, states: np.ndarray, key: np.ndarray) -> dict[str, Any]:
        """What the agent says, or why it says nothing."""
        view = np.empty_like(states)
        game.lanes.view(states, states["seat"], view)
        player = await self.player(name, game)
        try:
            return {"agent": name, **await run_in_threadpool(player.explain, view, key)}
        except Exception as error:  # whatever an agent does
            return {"agent": name, "failure": " ".join(f"{error}".split())[:500]}

    async def deal(self, request: Request) -> Response:
        """A deal that is over, card by card, all hands open."""
        table = self.table(request)
        ended = table.deal(_number(request.path_params["deal"], "deal"))
        cards = table.actions[ended.first : ended.end]
        shown = frames_json(table.game, table.states_of(ended), cards, table.seats, [*ended.points])
        return JSONResponse(shown | {"first": ended.first, "deals": len(table.ended)})

    async def verdict(self, request: Request) -> Response:
        """What the solver says of a deal that is over."""
        table = self.table(request)
        number = _number(request.path_params["deal"], "deal")
        ended = table.deal(number)
        cards = table.actions[ended.first : ended.end]
        return JSONResponse(await self._judged((table.id, number), table.game, table.states_of(ended)[:-1], cards))

    async def _judged(self, key: tuple[str, int], game: Game, states: np.ndarray, cards: list[int]) -> Any:
        """A verdict from a process of its own, so that the tables go on meanwhile; each is made once."""
        if key not in self._verdicts:
            if self._judges is None:
                spawn = multiprocessing.get_context("spawn")
                self._judges = concurrent.futures.ProcessPoolExecutor(1, spawn)
            job = self._judges.submit(_judge, game.name, states.tobytes(), cards)
            try:
                self._verdicts[key] = await asyncio.wrap_future(job)
            except concurrent.futures.BrokenExecutor:
                self._judges = None
                raise NotNow("the solver's process has ended; ask again") from None
        return self._verdicts[key]

    async def record(self, request: Request) -> Response:
        """The game as one file, once no card is hidden any more."""
        table = self.table(request)
        if not table.over and table.human is not None:
            raise NotNow("the record shows all hands: it is there when the game is over")
        name = f"{table.game.name}-{table.id[:6]}.jsonl"
        return Response(
            json.dumps(table.record()) + "\n",
            media_type="application/jsonl",
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
        )

    # -------------------------------------------------------------------------------------- replays

    async def upload(self, request: Request) -> Response:
        """Game records sent by the browser; they stay in memory."""
        if int(request.headers.get("content-length", 0)) > MOST_BYTES:
            raise OptionError(f"the file is too large. Valid: at most {MOST_BYTES} bytes")
        asked = await _body(request)
        shelf = await run_in_threadpool(read_records, str(asked.get("name", "file")), str(asked.get("text", "")))
        return JSONResponse({"id": self.shelves.add(shelf), "name": shelf.name, "games": shelf.count}, 201)

    async def _story(self, request: Request) -> tuple[Any, Any, int, tuple[str, int]]:
        """Game, deal and its number, and a key for what is made of them."""
        where = request.path_params
        number, deal = _number(where["number"], "game"), _number(where["deal"], "deal")
        story = await run_in_threadpool(self.shelves.get(where["id"]).story, number)
        return story, deal_of(story, deal), deal, (f"replay {where['id']} {number}", deal)

    async def replay(self, request: Request) -> Response:
        """A deal of a recorded game, card by card."""
        story, deal, _, _ = await self._story(request)
        states = np.concatenate(deal.states)
        shown = await run_in_threadpool(frames_json, story.game, states, deal.cards, story.names, deal.points)
        games = self.shelves.get(request.path_params["id"]).count
        return JSONResponse(shown | {"first": 0, "deals": len(story.deals), "games": games})

    async def replay_verdict(self, request: Request) -> Response:
        """What the solver says of a recorded deal."""
        story, deal, _, key = await self._story(request)
        return JSONResponse(await self._judged(key, story.game, np.concatenate(deal.states)[:-1], deal.cards))

    async def replay_explain(self, request: Request) -> Response:
        """What an `agent` thinks of decision `move` of a recorded deal."""
        story, deal, _, _ = await self._story(request)
        move = _number(request.query_params.get("move"), "move")
        if not 0 <= move < len(deal.cards):
            raise NotNow(f"move {move} is not there. Valid: 0 to {len(deal.cards) - 1}")
        name = request.query_params.get("agent") or story.names[int(deal.states[move]["seat"][0])]
        name = name if name in offered(story.game, self.agents) or request.query_params.get("agent") else "rules"
        return JSONResponse(await self._explained(name, story.game, deal.states[move], np.zeros(1, np.uint64)))

    # ------------------------------------------------------------------------------------------ app

    def app(self, hosts: list[str] | None = None) -> Starlette:
        """The application; `hosts` are the names under which a browser may reach it, None for any."""
        table, shelf = "/api/tables/{id}", "/api/replays/{id}/{number}/{deal}"
        routes = [
            Route("/", _index),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/api/about", self.about),
            Route("/api/tables", self.create, methods=["POST"]),
            Route(table, self.show),
            Route(f"{table}/play", self.play, methods=["POST"]),
            Route(f"{table}/next", self.next, methods=["POST"]),
            Route(f"{table}/replace", self.replace, methods=["POST"]),
            Route(f"{table}/explain", self.explain),
            Route(f"{table}/record", self.record),
            Route(f"{table}/deals/{{deal}}", self.deal),
            Route(f"{table}/deals/{{deal}}/verdict", self.verdict),
            Route("/api/replays", self.upload, methods=["POST"]),
            Route(shelf, self.replay),
            Route(f"{shelf}/verdict", self.replay_verdict),
            Route(f"{shelf}/explain", self.replay_explain),
        ]
        middleware = [Middleware(Headers)]
        if hosts is not None:
            middleware.insert(0, Middleware(TrustedHostMiddleware, allowed_hosts=hosts))
        failures: Any = {Missing: _refusal(404), NotNow: _refusal(409), ValueError: _refusal(400)}
        return Starlette(routes=routes, middleware=middleware, exception_handlers=failures, lifespan=self._life)

    @contextlib.asynccontextmanager
    async def _life(self, app: Starlette) -> AsyncIterator[None]:
        """Processes end with the server."""
        yield
        self.players.close()
        if self._judges is not None:
            for process in list(self._judges._processes.values()):
                process.kill()
            self._judges.shutdown(wait=False, cancel_futures=True)


def _judge(game: str, states: bytes, cards: list[int]) -> dict[str, Any]:
    """The solver's side, in its own process."""
    found = get_game(game)
    return deal_verdict(found, np.frombuffer(states, found.state).copy(), cards, VERDICT_SECONDS)


async def _index(request: Request) -> Response:
    return FileResponse(STATIC / "index.html")


class Headers:
    """Puts `HEADERS` on every answer."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        await self.app(scope, receive, sending)


def _refusal(status: int) -> Any:
    """A handler that answers with what an error says."""

    async def answer(request: Request, error: Exception) -> Response:
        return JSONResponse({"error": str(error)}, status)

    return answer


async def _body(request: Request) -> dict[str, Any]:
    """The JSON of a request; other kinds are refused, which no foreign page can send without asking first.

    Raises:
        OptionError: it is none.
    """
    if request.headers.get("content-type", "").split(";")[0] != "application/json":
        raise OptionError("the request is no JSON. Valid: application/json")
    try:
        found = await request.json()
    except (json.JSONDecodeError, UnicodeDecodeError):
        found = None
    if not isinstance(found, dict):
        raise OptionError("the request is not valid. Valid: a JSON object")
    return found


def _card(game: Game, name: Any) -> int:
    return game.deck.parse(str(name))


def _number(text: Any, what: str) -> int:
    """A whole number of a request."""
    try:
        return int(text)
    except (TypeError, ValueError):
        raise OptionError(f"{what} {text!r} is not valid. Valid: a whole number") from None


def serve(page: Page, host: str, port: int, browser: bool, say: Callable[[str], None]) -> None:
    """Listen until interrupted.

    Raises:
        OptionError: the port is taken, or the address is not of this machine.
    """
    listening = bind(host, port)
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
    address = f"http://{f'[{shown}]' if ':' in shown else shown}:{listening.getsockname()[1]}/"
    hosts = [*LOOPBACK, "[::1]"] if host in LOOPBACK else None
    server = uvicorn.Server(
        uvicorn.Config(page.app(hosts), log_level="warning", ws="none", timeout_graceful_shutdown=3)
    )
    say(f"the page is at {address} (Ctrl+C ends it)")
    if browser:
        webbrowser.open(address)
    server.run(sockets=[listening])


@contextlib.contextmanager
def running(page: Page, hosts: list[str] | None = None) -> Iterator[str]:
    """The page in a thread of this process, at a free port; gives its address."""
    listening = bind("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(page.app(hosts), log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    server.should_exit = True
    thread.join(20)


def bind(host: str, port: int) -> socket.socket:
    """A socket on that address; port 0 takes any free one.

    Raises:
        OptionError: it can't be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # named, else asyncio lets answers wait 40 ms
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
        found.listen(128)
    except (OSError, OverflowError) as error:
        found.close()
        text = (
            f"port {port} of {host} can't be had: {error}. Valid: --port N for another one, --port 0 for any free one"
        )
        raise OptionError(text) from None
    return found
