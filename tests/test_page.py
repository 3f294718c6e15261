"""The server of the page: whole games over HTTP, nothing hidden sent, games kept, agents that fail, records."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

httpx = pytest.importorskip("httpx", reason="the server's tests ask over HTTP")
pytest.importorskip("uvicorn", reason="the page needs the extra `serve`")

from stich.agents import load_agent  # noqa: E402
from stich.agents.explain import explain  # noqa: E402
from stich.envs import OptionError, make_batch, replay  # noqa: E402
from stich.envs.game import GAMES, get_game  # noqa: E402
from stich.envs.state import PASS  # noqa: E402
from stich.page.replays import read_file  # noqa: E402
from stich.page.server import STATIC, Page, bind, running  # noqa: E402
from stich.page.shape import table_json  # noqa: E402
from stich.page.tables import Store, Table  # noqa: E402
from stich.training.cli import main  # noqa: E402
from stich.training.replay import open_story, record_story  # noqa: E402
from stich.training.verdict import deal_verdict  # noqa: E402

every_game = pytest.mark.parametrize("game", GAMES)
DOCS = Path(__file__).resolve().parent.parent / "docs"
SEATS = {"herzeln": ["you", "duck", "low", "rules"], "viersche": ["you", "greedy", "rules", "random"]}
Shown = dict[str, Any]


@contextlib.contextmanager
def served(page: Page, hosts: list[str] | None = None) -> Iterator[Any]:
    """A client of a running server."""
    with running(page, hosts) as address, httpx.Client(base_url=address.rstrip("/"), timeout=120) as client:
        yield client


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    with served(Page(tmp_path / "games")) as found:
        yield found


@pytest.fixture
def impatient(tmp_path: Path) -> Iterator[Any]:
    """A client of a server that waits no longer for an agent than a busy machine needs for an honest answer."""
    with served(Page(tmp_path / "games", patience=15.0)) as found:
        yield found


def opened(client: Any, game: str, seats: list[str] | None = None, **asked: Any) -> Shown:
    """A new table."""
    answer = client.post("/api/tables", json={"game": game, "seats": seats or SEATS[game], "seed": 5, **asked})
    assert answer.status_code == 201, answer.text
    return answer.json()


def step(client: Any, shown: Shown, card: str | None = None) -> Shown:
    """One card: the person's (the first legal one unless named) or the agent's to move."""
    mine = shown["table"]["seat"] == shown["human"]
    body = {"move": shown["move"], "card": card or (shown["legal"] or [None])[0]}
    answer = client.post(f"/api/tables/{shown['id']}/{'play' if mine else 'next'}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def cards_in(game: str, found: Any) -> set[str]:
    """All names of cards in some JSON."""
    names = set(get_game(game).deck.names((1 << get_game(game).deck.size) - 1))
    return names & set(re.findall(r'"([A-Z0-9]+)"', json.dumps(found)))


# ---------------------------------------------------------------------------------------------- whole games


@pytest.mark.parametrize(
    ("game", "asked"),
    [
        ("herzeln", {"preset": "hearts", "options": "target=20"}),
        ("herzeln", {"players": 3, "episode": "deal", "seats": ["duck", "you", "low"]}),
        ("herzeln", {"players": 2, "episode": "deal", "seats": ["you", "rules"]}),
        ("viersche", {"options": "rungs=1"}),
        ("viersche", {"episode": "deal", "seats": ["rules"] * 4}),
    ],
    ids=str,
)
def test_a_whole_game(client: Any, game: str, asked: dict[str, Any]) -> None:
    shown = opened(client, game, **asked)
    while not shown["over"]:
        assert bool(shown["legal"]) == (shown["table"]["seat"] == shown["human"])
        shown = step(client, shown)
        assert shown["failure"] is None
    record = client.get(f"/api/tables/{shown['id']}/record")
    assert "attachment" in record.headers["content-disposition"]
    story = record_story(json.loads(record.text))
    assert story.names == shown["seats"]
    assert story.score == shown["score"]
    assert shown["deals"] == len(story.deals)
    assert shown["last"]["points"] == story.deals[-1].points
    final = list(replay(json.loads(record.text)))[-1]
    assert final.final_score[0].tolist() == shown["score"]


@every_game
def test_nothing_hidden_is_sent(game: str, tmp_path: Path) -> None:
    """In every answer of a deal that goes on, no card of another's hand is named, but for the card turned up."""
    page = Page(tmp_path)
    with served(page) as client:
        for preset in GAMES[game].presets:
            shown = opened(client, game, preset=preset, options="" if game == "viersche" else "target=1")
            table = page.store.get(shown["id"])
            assert table is not None
            while not shown["over"] and not shown["deals"]:
                state = table.batch.states[0]
                hidden = {card for seat in (1, 2, 3) for card in table.game.deck.names(int(state["hands"][seat]))}
                if game == "viersche":
                    hidden -= {table.game.deck.name(int(state["turn_up"]))}
                else:
                    passed = [set(table.game.deck.names(int(cards))) for cards in state["passed"]]
                    hidden |= set().union(*passed[1:]) if state["phase"] == PASS else set()
                    hidden -= passed[0]  # one knows what one gave, and to whom
                again = client.get(f"/api/tables/{shown['id']}").json()
                assert not cards_in(game, shown) & hidden
                assert not cards_in(game, again) & hidden
                refused(client, shown)
                shown = step(client, shown)
            refused(client, shown, ended=True)


def refused(client: Any, shown: Shown, ended: bool = False) -> None:
    """What would give cards away is not answered while the deal goes on."""
    path = f"/api/tables/{shown['id']}"
    if not shown["over"]:
        assert client.get(f"{path}/record").status_code == 409
        others = shown["table"]["seat"] != 0
        assert client.get(f"{path}/explain?move={shown['move']}").status_code == (409 if others else 200)
    number = shown["deals"]
    for tail in (f"deals/{number}", f"deals/{number}/verdict"):
        assert client.get(f"{path}/{tail}").status_code == 409
    if ended:
        assert client.get(f"{path}/deals/0").status_code == 200


def test_a_card_face_down_is_not_named() -> None:
    """A first lead without a trump shows as hidden to the others, and to its own player as what it is."""
    game = get_game("viersche")
    for rule in ("after_trick", "never"):
        batch = make_batch("viersche", 400, seed=2, reveal_face_down=rule)
        batch.step(batch.action_mask.argmax(1))
        (lane, *_) = np.flatnonzero(batch.states["face_down"] >= 0)
        state, card = batch.states[lane], game.deck.name(int(batch.states["face_down"][lane]))
        forehand = (int(state["dealer"]) + 1) % 4
        for seat in range(4):
            view = np.empty(1, game.state)
            game.lanes.view(batch.states[lane : lane + 1], np.array([seat], np.int8), view)
            shown = table_json(game, view[0])
            assert (card in cards_in("viersche", shown)) == (seat == forehand)
            assert shown["trick"]["cards"] == [{"seat": forehand, "card": card if seat == forehand else "??"}]
        while batch.states["trick_number"][lane] == 0:
            batch.step(batch.action_mask.argmax(1))
        game.lanes.view(batch.states[lane : lane + 1], np.array([(forehand + 1) % 4], np.int8), view)
        trick = table_json(game, view[0])["trick"]
        assert len(trick["cards"]) == 4
        assert ({"seat": forehand, "card": "??"} in trick["cards"]) == (rule == "never")


# ---------------------------------------------------------------------------------------------- games are kept


@every_game
def test_a_game_survives_a_restart(game: str, tmp_path: Path) -> None:
    """Played in one go or with a new server after every few cards, a game goes the same way to its end."""
    scores = []
    for pieces in (10_000, 17):
        folder = tmp_path / str(pieces)
        shown: Shown = {}
        while not shown.get("over"):
            with served(Page(folder)) as client:
                if shown:
                    assert client.get(f"/api/tables/{shown['id']}").json() == shown
                else:
                    options = "target=30" if game == "herzeln" else "rungs=2"
                    shown = opened(client, game, options=options)
                for _ in range(pieces):
                    shown = step(client, shown)
                    if shown["over"]:
                        break
        scores.append((shown["score"], shown["move"], shown["last"]["table"]))
    assert scores[0] == scores[1]
    (file,) = (tmp_path / "17").glob("*.json")
    assert open_story(file, 0).score == scores[0][0]


def test_the_end_of_a_game_shows_its_marks(client: Any, tmp_path: Path) -> None:
    """The slate after the last card has the marks that the game has just given, on the page and in its record."""
    shown = opened(client, "viersche", options="rungs=1")
    while not shown["over"]:
        move = {"move": shown["move"], "card": (shown["legal"] or [None])[0]}
        path = f"/api/tables/{shown['id']}/{'play' if shown['legal'] else 'next'}"
        shown = client.post(path, json=move).raise_for_status().json()
    marks = shown["score"][:2]
    assert sorted(marks) == [0, 2]
    assert shown["last"]["table"]["marks"] == marks
    file = tmp_path / "game.jsonl"
    file.write_text(client.get(f"/api/tables/{shown['id']}/record").text)
    assert open_story(file, 0).deals[-1].states[-1]["marks"][0].tolist() == marks


def test_unknown_and_damaged_games(client: Any, tmp_path: Path) -> None:
    for identity in ("x" * 24, "..%2F..%2Fsecret", "a"):
        answer = client.get(f"/api/tables/{identity}")
        assert answer.status_code == 404
    folder = tmp_path / "games"
    folder.mkdir(exist_ok=True)
    (folder / f"{'d' * 24}.json").write_text('{"version": 1}')
    answer = client.get(f"/api/tables/{'d' * 24}")
    assert (answer.status_code, "damaged" in answer.json()["error"]) == (404, True)


def test_a_move_is_played_once(client: Any) -> None:
    """Sent twice (two windows, a double click), a card changes nothing; out of turn and illegal cards are refused."""
    shown = opened(client, "herzeln")
    while shown["table"]["seat"] != 0:
        shown = step(client, shown)
    path, body = f"/api/tables/{shown['id']}/play", {"move": shown["move"], "card": shown["legal"][0]}
    first, second = client.post(path, json=body).json(), client.post(path, json=body).json()
    assert first == second
    late = client.post(path, json=body | {"move": shown["move"] + 1})
    assert (late.status_code, late.json()["error"]) == (409, "it is not your turn")
    while first["table"]["seat"] != 0:
        first = step(client, first)
    for card in ("ZZ", "", None, next(iter(cards_in("herzeln", first["table"]["trick"]) or {"C2"}))):
        answer = client.post(path, json={"move": first["move"], "card": card})
        assert answer.status_code == 400
        assert answer.json()["error"]
    assert client.get(f"/api/tables/{shown['id']}").json() == first


def test_two_players_do_not_mix(client: Any) -> None:
    one, two = opened(client, "herzeln", seed=1), opened(client, "viersche", seed=1)
    assert one["id"] != two["id"]
    for _ in range(30):
        one, two = step(client, one), step(client, two)
        assert (one["game"], two["game"]) == ("herzeln", "viersche")
        assert one["move"] == two["move"]
    alone = opened(client, "herzeln", seed=1)
    for _ in range(30):
        alone = step(client, alone)
    assert {**alone, "id": one["id"]} == one


# ---------------------------------------------------------------------------------------------- agents that fail


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("Raises", "it raised RuntimeError"),
        ("Illegal", "it played an illegal card"),
        ("Crashes", r"the process of agent 'guests:Crashes' ended \(exit status 7\)"),
        ("Hangs", "agent 'guests:Hangs' gave no answer within 15 seconds"),
    ],
)
def test_an_agent_that_fails_loses_no_game(impatient: Any, kind: str, reason: str) -> None:
    """One clear message without a card in it; the agent can be tried again and replaced, and the game goes on."""
    client = impatient
    seats = [f"guests:{kind}", "you", "duck", "low"]
    for seed in range(20):  # seat 0 must hold the ace of clubs to fail, among other cards it could play
        table = Table.new("herzeln", ["low", "you", "duck", "low"], seed, {"episode": "deal"})
        state = table.batch.states[0]
        clubs = int(state["hands"][0]) & 0x1FFF
        if clubs >> 12 & 1 and clubs.bit_count() > 2 and int(state["leader"]) != 0:
            break
    shown = opened(client, "herzeln", seats, seed=seed, episode="deal")
    while shown["failure"] is None:
        shown = step(client, shown)
    assert re.fullmatch(reason, shown["failure"]["reason"])
    assert shown["failure"]["agent"] == f"guests:{kind}"
    assert client.get(f"/api/tables/{shown['id']}").json() == shown
    again = step(client, shown)
    assert (again["failure"], again["move"]) == (shown["failure"], shown["move"])
    path = f"/api/tables/{shown['id']}/replace"
    assert client.post(path, json={"agent": "nobody"}).status_code == 400
    shown = client.post(path, json={"agent": "rules"}).json()
    assert (shown["failure"], shown["seats"][0]) == (None, "rules")
    assert client.post(path, json={"agent": "rules"}).status_code == 409
    while not shown["over"]:
        shown = step(client, shown)
    assert sum(shown["score"]) in (26, 78)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"game": "skat"}, "unknown game 'skat'"),
        ({"seats": ["you", "duck"]}, r"seats=\['you', 'duck'\] is not valid\. Valid: 4 names"),
        ({"seats": ["you", "you", "duck", "low"]}, "2 seats are 'you'. Valid: one"),
        ({"seats": ["you", "nobody", "duck", "low"]}, "agent 'nobody' can't be made: unknown herzeln agent"),
        ({"seats": ["you", "ppo:nowhere", "duck", "low"]}, "no checkpoint at nowhere"),
        ({"seats": ["you", "guests:Nobody", "duck", "low"]}, "agent 'guests:Nobody' can't be made"),
        ({"seats": "you"}, "seats='you' is not valid"),
        ({"preset": "hart"}, "unknown preset 'hart'"),
        ({"options": "target=0"}, "option target=0 is not valid"),
        ({"options": "passng=left"}, "Did you mean 'passing'"),
        ({"seed": -1}, "seed=-1 is not valid"),
    ],
    ids=str,
)
def test_wrong_tables(client: Any, asked: dict[str, Any], message: str) -> None:
    answer = client.post("/api/tables", json={"game": "herzeln", "seats": SEATS["herzeln"], **asked})
    assert answer.status_code == 400
    assert re.search(message, answer.json()["error"])


def test_only_this_origin_and_only_listed_agents(tmp_path: Path) -> None:
    """A page of somebody else can neither send commands nor be led here by its name."""
    page = Page(tmp_path, agents=["guests:Careful"], open_names=False)
    with served(page, ["127.0.0.1"]) as client:
        body = json.dumps({"game": "herzeln", "seats": SEATS["herzeln"]})
        assert client.post("/api/tables", content=body, headers={"content-type": "text/plain"}).status_code == 400
        assert client.get("/api/about", headers={"host": "evil.example"}).status_code == 400
        assert "default-src 'self'" in client.get("/").headers["content-security-policy"]
        answer = client.post("/api/tables", json={"game": "herzeln", "seats": ["you", "os:getcwd", "low", "low"]})
        assert (answer.status_code, "is not offered here" in answer.json()["error"]) == (400, True)
        assert "guests:Careful" in client.get("/api/about").json()["games"]["herzeln"]["agents"]


# ---------------------------------------------------------------------------------------------- explanations


def decision(game: str) -> tuple[np.ndarray, np.ndarray]:
    """A view [1] with a choice, and a key."""
    batch = make_batch(game, 1, seed=4)
    while int(batch.legal[0]).bit_count() < 3 or batch.states["plays"][0] < 8:
        batch.step(batch.action_mask.argmax(1))
    return batch.views, batch.keys()


@every_game
def test_explanations(game: str) -> None:
    found, (view, key) = get_game(game), decision(game)
    legal = set(found.deck.names(int(found.legal(view)[0])))
    said = explain(load_agent("talkers:Talker", game), found, view, key)
    assert said["card"] in legal
    assert said["probabilities"] == dict.fromkeys(said["probabilities"], 1 / len(legal))
    assert set(said["probabilities"]) == legal
    assert (said["value"], said["moon"], said["points"]) == (-1.5, 0.125, [(0.0, 0.25), (26.0, 0.75)])
    assert "mood" not in said
    named = explain(load_agent("talkers:Named", game), found, view, key)
    assert named["probabilities"] == said["probabilities"]
    assert named["points"] == [(0.0, 0.5), (1.0, 0.5)]
    plain = explain(load_agent("rules", game), found, view, key)
    assert set(plain) == {"card"}
    searched = explain(load_agent("pimc:worlds=4", game), found, view, key)
    assert set(searched["values"]) <= legal
    assert len(searched["values"]) > 1
    shipped = explain(load_agent("ppo", game), found, view, key)
    assert {"card", "probabilities", "value", "points"} <= set(shipped)
    assert sum(chance for _, chance in shipped["points"]) == pytest.approx(1, abs=1e-4)
    assert ("moon" in shipped) == (game == "herzeln")
    json.dumps([said, named, plain, searched, shipped])


def test_the_page_tells_explanations(client: Any) -> None:
    """Agents in a process of their own say as much; one that fails at it says why."""
    shown = opened(client, "herzeln", ["talkers:Talker", "duck", "low", "guests:Raises"], episode="deal")
    assert shown["human"] is None
    said = client.get(f"/api/tables/{shown['id']}/explain?move=0&agent=talkers:Talker").json()
    assert "failure" not in said, said["failure"]
    assert (said["agent"], said["moon"]) == ("talkers:Talker", 0.125)
    wrong = client.get(f"/api/tables/{shown['id']}/explain?move=77")
    assert (wrong.status_code, wrong.json()["error"]) == (409, "move 77 is not there. Valid: 0 to 0")


# ---------------------------------------------------------------------------------------------- verdicts, records


@every_game
def test_verdicts(game: str) -> None:
    story = open_story(DOCS / f"{game}.jsonl", 0)
    deal = story.deals[0]
    states = np.concatenate(deal.states)[:-1]
    judged = deal_verdict(story.game, states, deal.cards, 20)["cards"]
    reached = [place for place, one in enumerate(judged) if one is not None]
    assert reached == list(range(reached[0], len(deal.cards)))
    assert len(reached) >= (36 if game == "viersche" else 16)
    for place in reached:
        one, name = judged[place], story.game.deck.name(deal.cards[place])
        assert one is not None
        assert (one["lost"] == 0) == (name in one["best"])
        assert one["lost"] >= 0
    assert any(one["lost"] for one in judged if one)
    assert deal_verdict(story.game, states, deal.cards, 0)["cards"] == [None] * len(deal.cards)


def test_verdicts_of_viersche_add_up() -> None:
    """What both sides lost is what lies between the deal's value and its result."""
    from stich.agents.solver_viersche import solve

    story = open_story(DOCS / "viersche.jsonl", 0)
    deal = story.deals[0]
    states = np.concatenate(deal.states)
    lost = [0.0, 0.0]
    for place, one in enumerate(deal_verdict(story.game, states[:-1], deal.cards, 60)["cards"]):
        assert one is not None
        lost[int(states["seat"][place]) % 2] += one["lost"]
    assert solve(states[:1]).low[0] - lost[0] + lost[1] == deal.points[0]


def test_verdicts_see_moons() -> None:
    suits = [[suit + rank for rank in get_game("herzeln").deck.ranks] for suit in "CDHS"]
    batch = make_batch("herzeln", 1, episode="deal", deals=[{"hands": suits}], autoreset="disabled")
    states, cards = [], []
    while batch.running[0]:
        states.append(batch.states.copy())
        cards.append(int(batch.action_mask[0].argmax()))
        batch.step(np.array(cards[-1:]))
    moons = deal_verdict(batch.game, np.concatenate(states), cards, 60)["moons"]
    shooter = int(batch.states["moon_seat"][0])
    assert [moon["seat"] for moon in moons] == [shooter]  # clubs run, and all others must follow with hearts and spades
    assert moons[0]["first"] == 0


def test_the_page_judges_deals_that_are_over(client: Any) -> None:
    shown = opened(client, "viersche", episode="deal")
    while not shown["over"]:
        shown = step(client, shown)
    deal = client.get(f"/api/tables/{shown['id']}/deals/0").json()
    assert (len(deal["frames"]), len(deal["cards"]), deal["first"]) == (37, 36, 0)
    assert all(len(hand) == 9 for hand in deal["frames"][0]["hands"])
    found = client.get(f"/api/tables/{shown['id']}/deals/0/verdict").json()
    assert len(found["cards"]) == 36
    assert found["cards"][-1]["lost"] == 0


def test_records(tmp_path: Path) -> None:
    with served(Page(tmp_path, [DOCS / "viersche.jsonl"])) as client:
        (listed,) = client.get("/api/about").json()["replays"]
        assert (listed["games"], listed["name"].endswith("viersche.jsonl")) == (1, True)
        shown = client.get(f"/api/replays/{listed['id']}/0/1").json()
        assert (shown["deals"], shown["games"]) == (len(open_story(DOCS / "viersche.jsonl", 0).deals), 1)
        assert client.get(f"/api/replays/{listed['id']}/0/1/explain?move=3").json()["agent"] == "rules"
        for path, message in (
            ("9/0/0", "unknown replay '9'. Valid: 0"),
            ("0/5/0", "has no game 5. Valid: 0 to 0"),
            ("0/0/99", "the game has no deal 99"),
            ("0/x/0", "game 'x' is not valid"),
            ("0/0/0/explain?move=99", "move 99 is not there"),
        ):
            answer = client.get(f"/api/replays/{path}")
            assert answer.status_code in (400, 409)
            assert message in answer.json()["error"]
        text = (DOCS / "herzeln.jsonl").read_text()
        sent = client.post("/api/replays", json={"name": "mine.jsonl", "text": text}).json()
        assert client.get(f"/api/replays/{sent['id']}/0/0").json()["game"] == "herzeln"
        assert len(client.get("/api/about").json()["replays"]) == 1  # what one browser sends no other sees listed
        for text in ("", "nonsense", '{"version": 1}', "[]"):
            assert client.post("/api/replays", json={"name": "x", "text": text}).status_code == 400


def test_games_of_a_tournament(tmp_path: Path) -> None:
    from stich.training.tournament import run_tournament, tournament_config

    keys = {"game": "herzeln", "agents": ["duck", "low"], "deals": 3, "options": {"episode": "deal"}, "processes": 1}
    run_tournament(tournament_config(keys, []), tmp_path / "cup", say=lambda line: None)
    shelf = read_file(tmp_path / "cup" / "games.parquet")
    assert shelf.count == 18
    assert len(shelf.story(17).deals[0].cards) == 52
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "games.parquet").write_text("no")
    with pytest.raises(OptionError, match="damaged or no result of a tournament"):
        read_file(tmp_path / "broken" / "games.parquet")


# ---------------------------------------------------------------------------------------------- command, texts


def test_a_taken_port_is_one_message(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with contextlib.closing(bind("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        words = ["stich", "serve", "--no-browser", "--port", str(port), "--out", str(tmp_path)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.argv", words)
            with pytest.raises(SystemExit) as end:
                main()
        assert end.value.code == 2
        said = capsys.readouterr().err
        assert f"port {port} of 127.0.0.1 can't be had" in said
        assert "Valid: --port N" in said
    with pytest.raises(OptionError, match="can't be had"):
        bind("192.0.2.1", 0)  # an address of no machine


def test_tables_are_read_anew(tmp_path: Path) -> None:
    table = Table.new("herzeln", SEATS["herzeln"], 3, {"preset": "hearts"})
    store = Store(tmp_path)
    store.add(table)
    read = Store(tmp_path).get(table.id)
    assert read is not None
    assert read.shown() == table.shown()
    assert read.record() == table.record()


def test_every_text_is_there_in_both_languages() -> None:
    source = (STATIC / "texts.js").read_text()
    body = source[source.index("const TEXTS") : source.index("export const RULES")]
    entries = dict(re.findall(r"^  (\w+): (\{.*?\}),\n(?=  \w+:|\};)", body, re.M | re.S))
    assert len(entries) > 90
    for key, entry in entries.items():
        for language in ("en", "de"):
            assert re.search(rf'\b{language}: "[^"]+"', entry), key
    code = "".join(path.read_text() for path in STATIC.glob("*.js"))
    used = set(re.findall(r'\bt\("(\w+)"', code))
    assert used <= set(entries)
    english, german = (re.findall(r'^      "', part, re.M) for part in re.split(r"de: \[", source)[:2])
    assert len(english) == len(german[: len(english)])


def test_nothing_is_fetched_from_elsewhere() -> None:
    for path in STATIC.iterdir():
        found = set(re.findall(r"https?://[^\"'\s)<]+", path.read_text()))
        assert found <= {"http://www.w3.org/2000/svg"}, path.name
