"""Tournaments: designs, identical results however they were reached, agents that misbehave, reports, replays."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from guests import Counting
from helpers import many
from test_commands import run

from stich.agents import load_agent, loader
from stich.agents.guest import Guest, GuestError
from stich.envs import HERZELN, OptionError, make_batch
from stich.envs.game import get_game
from stich.training import benchmark
from stich.training.match import make_design, owners_of, play_match, win_shares
from stich.training.replay import open_story, story_picture, story_text
from stich.training.results import collect
from stich.training.rippoldsau import standings, tournament_marks
from stich.training.tournament import matches, run_tournament, tournament_config
from stich.training.workers import Worker

SMALL: dict[str, Any] = {"preset": "hearts", "deals": 24, "chunk": 8, "bootstrap": 100, "processes": 1, "patience": 120}
FILES = ("deals.parquet", "games.parquet", "summary.csv", "matrix.csv", "ratings.csv", "failures.csv")
FILES += ("report.md", "report.html", "config.yaml")


def small(**keys: Any) -> Any:
    """A config that is over in no time."""
    return tournament_config({"agents": ["low", "duck", "random"], **SMALL, **keys})


def viersche(**keys: Any) -> Any:
    """The same for Viersche."""
    values = {key: value for key, value in SMALL.items() if key != "preset"}
    return tournament_config({"game": "viersche", "agents": ["greedy", "random", "rules"], **values, **keys})


def quiet(line: str) -> None:
    """Nobody listens."""


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small round robin."""
    return run_tournament(small(), tmp_path_factory.mktemp("tournament") / "done", say=quiet)


def contents(folder: Path) -> dict[str, bytes]:
    """The result files that depend on the config alone."""
    return {name: (folder / name).read_bytes() for name in FILES}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"agents": ["low", "low"]}, "agents have one name: low. Valid: another one, as in other=low"),
        ({"agents": ["low"]}, "design=round_robin with 1 agents is not valid. Valid: 2 or more"),
        ({"agents": ["low", {"name": "x"}]}, "agent {'name': 'x'} is not valid"),
        ({"agents": ["low", {"agent": "duck", "nam": "x"}]}, "unknown key of an agent 'nam'. Did you mean 'name'"),
        ({"design": "gauntlet"}, "design=gauntlet needs the config key field. Valid: low, duck"),
        ({"design": "gauntlet", "field": "dukc"}, "Did you mean 'duck'"),
        ({"design": "head_to_head"}, "design=head_to_head with 3 agents is not valid. Valid: exactly 2"),
        ({"design": "rippoldsau"}, "option episode='session' is not valid"),
        ({"design": "table", "agents": ["low"]}, "1 agents make no table of 4"),
        ({"field": "duck"}, "config key field='duck' needs design=gauntlet"),
        ({"meetings": 2}, "config key meetings=2 needs design=rippoldsau"),
        ({"design": "table", "seatings": "swapped"}, "seatings=swapped needs two agents"),
        ({"deals": 1}, "config key deals=1 is not valid. Valid: 2 to"),
        ({"dels": 7}, "unknown config key 'dels'. Did you mean 'deals'"),
        ({"stop": {"precision": -1}}, "stop precision=-1.0 is not valid"),
        ({"options": {"players": 9}}, "option players=9 is not valid"),
    ],
)
def test_config_mistakes(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match="^.*" + message.replace("(", r"\(").replace("{", r"\{")):
        small(**keys)


@pytest.mark.parametrize("agent", ["nobody", "greedy", "ppo:nowhere.safetensors"])
def test_unknown_agents_are_refused_before_any_play(agent: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"agent|checkpoint"):
        run_tournament(small(agents=["low", agent]), tmp_path / "x", say=quiet)
    assert not (tmp_path / "x").exists()


def test_rows_add_up(played: Path) -> None:
    """A row a deal, game and seat; payoffs and points add up; every agent of a match sits as often as the other."""
    rows = pl.read_parquet(played / "deals.parquet")
    assert len(rows) == 3 * 24 * 6 * 4
    by_game = rows.group_by("match", "deal", "game")
    np.testing.assert_allclose(by_game.agg(pl.col("payoff").sum())["payoff"], 0, atol=1e-4)
    assert set(by_game.agg(pl.col("score").sum())["score"]) <= {26, 78}
    np.testing.assert_allclose(by_game.agg(pl.col("win").sum())["win"], 1)
    counts = rows.group_by("match", "agent").len()["len"]
    assert set(counts) == {24 * 6 * 2}
    games = pl.read_parquet(played / "games.parquet")
    cards = rows.group_by("match", "deal", "game", maintain_order=True).agg((pl.col("free") + pl.col("forced")).sum())
    assert cards["free"].to_list() == [len(actions) for actions in games["actions"]]
    summary = pl.read_csv(played / "summary.csv")
    assert (summary["low"] <= summary["payoff"]).all() and (summary["payoff"] <= summary["high"]).all()
    assert summary["failed_deals"].sum() == 0


def test_results_match_evaluate(played: Path) -> None:
    """The tournament's payoff is what the agents make on these deals, played by the plain loop."""
    rows = pl.read_parquet(played / "deals.parquet").filter(pl.col("match") == 0, pl.col("agent") == "low")
    config = small()
    owners = owners_of(make_design(HERZELN, 4, 2).seatings, 0, 24)
    agents = [load_agent("low"), load_agent("duck")]
    found = play_match(HERZELN, config.rules(), agents, owners, seed=config.environment_seed(), first_deal=0)
    assert rows["payoff"].mean() == pytest.approx(found.payoff[owners == 0].mean())


def test_reports_name_everyone(played: Path) -> None:
    page, text = (played / "report.html").read_text(), (played / "report.md").read_text()
    for word in ("low", "duck", "random", "Cross-table", "Ratings", "moons per 1000"):
        assert word in page and word in text
    assert page.count("data:image/png;base64,") == 3
    assert "http" not in page  # self-contained
    ratings = pl.read_csv(played / "ratings.csv")
    assert ratings["agent"][-1] == "random"
    assert ratings["nash_average"].sum() == pytest.approx(1, abs=1e-4)


def test_any_number_of_processes_gives_the_same_files(played: Path, tmp_path: Path) -> None:
    again = run_tournament(small(processes=2), tmp_path / "two", say=quiet)
    assert contents(again) == contents(played)


def test_killed_and_resumed_gives_the_same_files(played: Path, tmp_path: Path) -> None:
    folder, rng = tmp_path / "killed", random.Random(5)
    words = [
        sys.executable,
        "-m",
        "stich.training.cli",
        "tournament",
        str(played / "config.yaml"),
        "--out",
        str(folder),
    ]
    words += ["processes=2", "patience=120"]
    for _ in range(many(2, 5)):
        resume = ["--resume"] if (folder / "config.yaml").exists() else []
        process = subprocess.Popen([*words, *resume], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        before = len(list((folder / "parts").glob("*.parquet")))
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            if len(list((folder / "parts").glob("*.parquet"))) > before + rng.randrange(2):
                break
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
        process.wait()
    resume = ["--resume"] if (folder / "config.yaml").exists() else []
    subprocess.run([*words, *resume], check=True, stdout=subprocess.DEVNULL)
    assert contents(folder) == contents(played)


def test_damaged_part_is_played_again(played: Path, tmp_path: Path) -> None:
    folder, said = tmp_path / "damaged", []
    run_tournament(small(), folder, say=quiet)
    parts = sorted((folder / "parts").glob("*.parquet"))
    parts[0].write_bytes(b"garbage")
    parts[1].write_bytes(parts[1].read_bytes()[:-30])
    run_tournament(small(), folder, resume=True, say=said.append)
    assert contents(folder) == contents(played)
    assert len([line for line in said if "damaged" in line]) == 2


def test_folder_of_another_config(played: Path) -> None:
    with pytest.raises(OptionError, match="holds a tournament of another config: seed differ"):
        run_tournament(small(seed=3), played, resume=True, say=quiet)
    with pytest.raises(OptionError, match="already holds this tournament"):
        run_tournament(small(), played, say=quiet)
    with pytest.raises(OptionError, match="holds no tournament to resume"):
        run_tournament(small(), played / "nothing", resume=True, say=quiet)


@pytest.mark.parametrize("kind", ["Raises", "Illegal", "Hangs", "Crashes"])
def test_misbehaving_agents_cost_only_their_deals(kind: str, tmp_path: Path) -> None:
    """The deals in which it goes wrong are reported and count nowhere; all others are as if nothing had happened."""
    said: list[str] = []
    stuck = kind in ("Hangs", "Crashes")
    keys = {
        "agents": ["duck", f"guest=guests:{kind}", "low"],
        "deals": 6,
        "chunk": 3,
        "patience": 2.0 if stuck else 60.0,
    }
    folder = run_tournament(small(**keys), tmp_path / "bad", say=said.append)
    good = run_tournament(
        small(**{**keys, "agents": ["duck", "guest=guests:Careful", "low"]}), tmp_path / "good", say=quiet
    )
    failures = pl.read_csv(folder / "failures.csv")
    assert set(failures["agent"]) == {"guest"}
    assert said and all("'guest' failed" in line for line in said)
    bad, fine = (pl.read_parquet(each / "deals.parquet") for each in (folder, good))
    kept = bad.select("match", "deal").unique()
    assert bad.equals(fine.join(kept, on=["match", "deal"], how="semi", maintain_order="left"))
    assert bad.filter(pl.col("match") == 1).equals(fine.filter(pl.col("match") == 1))  # the guest has no part in it
    if not stuck:
        lost = set(failures.filter(pl.col("match") == 0)["first_deal"])
        assert lost | set(bad.filter(pl.col("match") == 0)["deal"]) == set(range(6))
        assert 0 < len(lost) < 6
    if kind == "Illegal":
        summary = pl.read_csv(folder / "summary.csv").filter(pl.col("agent") == "guest")
        assert (summary["illegal_deals"] > 0).all()


def test_guests_in_a_process_of_their_own(tmp_path: Path) -> None:
    views = make_batch("herzeln", 8, episode="deal", seed=1).views
    keys = np.zeros(8, np.uint64)
    guest = Guest("low", "herzeln")
    np.testing.assert_array_equal(guest.act(views, keys), load_agent("low").act(views, keys))
    guest.close()
    np.testing.assert_array_equal(guest.act(views, keys), load_agent("low").act(views, keys))
    guest.close()
    with pytest.raises(GuestError, match="can't be made: unknown herzeln agent 'nobody'"):
        Guest("nobody", "herzeln")
    mine = {"name": "mine", "agent": "guests:Careful", "own_process": True}
    one = run_tournament(small(agents=["duck", mine], deals=4), tmp_path / "one", say=quiet)
    other = run_tournament(small(agents=["duck", "mine=guests:Careful"], deals=4), tmp_path / "two", say=quiet)
    assert (one / "deals.parquet").exists()
    assert pl.read_parquet(one / "deals.parquet").equals(pl.read_parquet(other / "deals.parquet"))


def test_entry_points_bring_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    points = [EntryPoint("visitor", "guests:Careful", loader.GROUP)]
    monkeypatch.setattr(loader, "entry_points", lambda group: points)
    assert load_agent("visitor").name == "careful"
    with pytest.raises(OptionError, match="Did you mean 'visitor'"):
        load_agent("visitr")


@pytest.mark.parametrize(
    "config",
    [
        small(design="gauntlet", field="duck"),
        small(design="table"),
        small(design="table", agents=["low", "duck"], seatings="one"),
        small(seatings="one"),
        small(seatings="swapped"),
        small(options={"players": 3}, deals=4),
        small(options={"players": 2, "passing": "none"}, deals=4),
        small(options={"episode": "game", "target": 50}, deals=4),
        small(stop={"separate": True}, deals=100, chunk=10),
        viersche(),
        viersche(options={"episode": "round"}, deals=4),
        viersche(options={"episode": "game"}, deals=4),
        viersche(design="gauntlet", field="greedy", deals=4),
    ],
    ids=lambda config: f"{config.game}-{config.design}-{config.seatings}-{config.options}",
)
def test_every_design(config: Any, tmp_path: Path) -> None:
    folder = run_tournament(config, tmp_path / "run", say=quiet)
    rows = pl.read_parquet(folder / "deals.parquet")
    np.testing.assert_allclose(
        rows.group_by("match", "deal", "game").agg(pl.col("payoff").sum())["payoff"], 0, atol=1e-3
    )
    summary = pl.read_csv(folder / "summary.csv")
    assert (summary["low"] < summary["high"]).any()
    if not config.stop.never:
        assert summary["deals"].min() < 100
    wins = rows.group_by("match", "deal", "game").agg(pl.col("win").sum())["win"]
    np.testing.assert_allclose(wins, 2 if config.game == "viersche" else 1)


def test_sequential_tournament_is_the_same_in_any_order(tmp_path: Path) -> None:
    """Deals played beyond the end of a match by a quick process are not counted."""
    keys = {"stop": {"separate": True}, "deals": 200, "chunk": 10}
    one = run_tournament(small(**keys), tmp_path / "one", say=quiet)
    two = run_tournament(small(**keys, processes=2), tmp_path / "two", say=quiet)
    assert contents(one) == contents(two)


def test_bad_rippoldsau(tmp_path: Path) -> None:
    config = viersche(design="rippoldsau", deals=3, meetings=2, chunk=2)
    assert [match.deals for match in matches(config)] == [6, 6, 6]
    folder = run_tournament(config, tmp_path / "epiphany", say=quiet)
    results = collect(config, matches(config), folder / "parts")
    marks = tournament_marks(config, 3, results)
    rows = pl.read_parquet(folder / "deals.parquet")
    assert marks.shape == (3, 3)
    assert marks.sum() == rows["score"].sum() / 2  # partners get the same marks
    table = standings(config, ["greedy", "random", "rules"], results)
    assert table["wins"].sum() == pytest.approx(1)
    assert (table["bollenkoenig"] > 0).any()
    assert "Bollenkönige" in (folder / "report.md").read_text()


def test_replay_shows_each_game(played: Path, tmp_path: Path) -> None:
    story = open_story(played / "deals.parquet", 5, match=1, game=2)
    text = story_text(story)
    assert text.count("trick ") == 13
    assert all(trick.winner in trick.cards for deal in story.deals for trick in deal.tricks)
    games = pl.read_parquet(played / "games.parquet")
    row = games.filter(pl.col("match") == 1, pl.col("deal") == 5, pl.col("game") == 2).row(0, named=True)
    assert story.score == row["score"] and story.names == row["agents"]
    assert story_picture(story)[:4] == b"\x89PNG"
    with pytest.raises(OptionError, match="has no game 2 of deal 99 in match 1"):
        open_story(played / "games.parquet", 99, match=1, game=2)
    (tmp_path / "games.parquet").write_bytes(b"nothing")
    with pytest.raises(OptionError, match="is damaged or no result of a tournament"):
        open_story(tmp_path / "games.parquet", 0)
    png = tmp_path / "deal.png"
    assert run("replay", str(played / "games.parquet"), "--deal", "3", "--png", str(png)) == 0
    assert png.read_bytes()[:4] == b"\x89PNG"


def test_replay_of_game_records(tmp_path: Path) -> None:
    import json

    from helpers import play_out, raw

    env = raw("viersche", episode="game")
    env.reset(seed=3)
    play_out(env, random.Random(1))
    file = tmp_path / "records.jsonl"
    file.write_text(json.dumps(env.record()) + "\n")
    story = open_story(file, 0)
    assert len(story.deals) > 2 and story.score == env.final_score().tolist()
    with pytest.raises(OptionError, match="has no record 1"):
        open_story(file, 1)


def test_moon_events_are_counted() -> None:
    """Moons by the event counter are those that the scores show; no attempt ends twice."""
    rules = HERZELN.options("hearts", episode="deal")
    owners = np.zeros((300, 1, 4), np.int64)
    found = play_match(HERZELN, rules, [load_agent("rules")], owners, seed=4, first_deal=0)
    attempts, moons, defences = (found.events[:, 0, :, place] for place in range(3))
    shot = found.score[:, 0].sum(1) == 78
    np.testing.assert_array_equal(moons.sum(1), shot)
    np.testing.assert_array_equal(found.score[:, 0][moons == 1], 0)
    np.testing.assert_array_equal(attempts.sum(1), moons.sum(1) + defences.sum(1))
    assert shot.sum() > 5 and defences.sum() > 5
    games = HERZELN.options("hearts", episode="game")
    longer = play_match(HERZELN, games, [load_agent("rules")], owners[:40], seed=4, first_deal=0)
    counted = longer.events.sum((0, 1, 2))
    assert counted[0] == counted[1] + counted[2] > 0


def test_win_shares() -> None:
    rules = HERZELN.options(episode="deal")
    np.testing.assert_array_equal(win_shares(HERZELN, rules, np.array([3.0, 0, 23, 0])), [0, 0.5, 0, 0.5])
    pairs = get_game("viersche")
    np.testing.assert_array_equal(
        win_shares(pairs, pairs.options(episode="deal"), np.array([90.0, 50, 90, 50])), [1, 0, 1, 0]
    )
    np.testing.assert_array_equal(
        win_shares(pairs, pairs.options(episode="game"), np.array([0.0, 2, 0, 2])), [1, 0, 1, 0]
    )


def test_benchmark(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(benchmark, "DEALS", 250)
    assert run("benchmark", "duck", "--json", str(tmp_path / "b.json"), "--out", str(tmp_path)) == 0
    text = (tmp_path / "benchmark.md").read_text()
    assert "stich-herzeln-1" in text and "duck against rules" in text
    score = benchmark.run_benchmark("herzeln", load_agent("duck"))
    assert dict(score.rows)["duck"].mean == pytest.approx(0, abs=1e-6)
    assert score.as_dict()["score"] == pytest.approx(np.mean([x.mean for _, x in score.rows]))


def test_exploit_of_a_weak_agent(tmp_path: Path) -> None:
    from stich.training.exploit import exploit, response_config

    words = ["lanes=64", "hidden=[32]", "threads=1", "evaluate_deals=4", "imitate=0"]
    config = response_config("random", "herzeln", 600_000, words)
    found = exploit(config, tmp_path / "response", deals=100, say=quiet)
    assert found.gain.low <= found.gain.mean <= found.gain.high
    assert found.gain.mean > 0  # even so little learning beats random play
    assert (tmp_path / "response" / "exploit.json").exists()


@pytest.mark.parametrize("game", ["herzeln", "viersche"])
def test_a_value_function_takes_luck_out(game: str, tmp_path: Path) -> None:
    """Where seats are not balanced within a deal, the critic's opinion of it serves as a control of mean 0."""
    from stich.agents.checkpoint import save_checkpoint
    from stich.training.config import TrainConfig
    from stich.training.ppo import Trainer

    trainer = Trainer(TrainConfig(game=game, lanes=8, steps=4, hidden=(8,), threads=1))
    save_checkpoint(tmp_path / "a.safetensors", trainer.weights(), trainer.about())
    values = {key: value for key, value in SMALL.items() if key != "preset"}
    agents = ["random", f"ppo:{tmp_path / 'a.safetensors'}"]
    keys = {"game": game, "agents": agents, "design": "head_to_head", **values}
    folder = run_tournament(tournament_config({**keys, "seatings": "one"}), tmp_path / "one", say=quiet)
    rows = pl.read_parquet(folder / "deals.parquet")
    np.testing.assert_allclose(rows.group_by("deal", "game").agg(pl.col("luck").sum())["luck"], 0, atol=1e-4)
    assert rows["luck"].std() > 0
    summary = pl.read_csv(folder / "summary.csv")
    assert summary["payoff"].sum() == pytest.approx(0, abs=1e-5)
    both = run_tournament(tournament_config({**keys, "seatings": "swapped"}), tmp_path / "both", say=quiet)
    assert pl.read_parquet(both / "deals.parquet")["luck"].null_count() > 0


def test_variance_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("variance", "duck", "low", "preset=hearts", "--deals", "200") == 0
    assert "paired" in capsys.readouterr().out
    assert run("variance", "duck", "--deals", "20") == 2


def test_worker_survives_patience() -> None:
    worker = Worker(Counting(), patience=0.1)
    failure = worker.run(-1)
    assert failure.stuck and "no answer within 0.1 seconds" in failure.reason
    assert worker.run(3) == 3
    worker.close()


def test_workers_leave_with_their_parent() -> None:
    code = "import os, sys; sys.path.insert(0, 'tests'); from guests import Counting; "
    code += "from stich.training.workers import Worker; w = Worker(Counting(), 5); w.run(1); "
    code += "print(w._process.pid, flush=True); os.kill(os.getpid(), 9)"
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=root)
    pid = int(done.stdout.split()[-1])
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and Path(f"/proc/{pid}").exists():
        time.sleep(0.1)
    assert not os.path.exists(f"/proc/{pid}")
