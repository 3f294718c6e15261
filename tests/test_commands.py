"""The command `stich`, matches and evaluation, agents by name."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

from stich.agents import load_agent
from stich.envs import HERZELN, VIERSCHE, IllegalCardError, OptionError
from stich.training.cli import main
from stich.training.evaluate import evaluate
from stich.training.match import distinct, make_design, play_deals


def run(*words: str) -> int:
    """The exit status of the command in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["stich", *words])
        patch.setattr("sys.path", list(sys.path))
        with pytest.raises(SystemExit) as end:
            main()
    return int(end.value.code or 0)


def test_evaluate_writes_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deep" / "result.json"
    assert run("evaluate", "rules", "greedy", "--game", "viersche", "--deals", "60", "--json", str(file)) == 0
    result = json.loads(file.read_text())
    assert (result["game"], result["deals"], result["design"]) == ("viersche", 60, "pairs")
    first, second = result["agents"]
    assert first["name"] == "rules"
    assert first["low"] <= first["payoff"] <= first["high"]
    assert first["payoff"] == pytest.approx(-second["payoff"])
    assert first["share"] + second["share"] == pytest.approx(1)
    assert "rules" in capsys.readouterr().out


def test_evaluate_numbers_agents_of_one_name(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    assert run("evaluate", "duck", "low", "low", "low", "preset=hearts", "--deals", "20", "--json", str(file)) == 0
    names = [agent["name"] for agent in json.loads(file.read_text())["agents"]]
    assert names == ["duck", "low", "low#2", "low#3"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "rules", "nobody"], "unknown herzeln agent 'nobody'"),
        (["evaluate", "rules", "greedy"], "unknown herzeln agent 'greedy'"),
        (["evaluate", "rules", "duck", "players=5"], "option players=5 is not valid. Valid: 4, 2, 3"),
        (["evaluate", "rules", "duck", "passng=left"], "unknown option 'passng'. Did you mean 'passing'"),
        (["evaluate", "rules", "duck", "duck"], "3 agents make no table of 4. Valid: 2 (head-to-head) or 4"),
        (["evaluate", "rules", "duck", "--game", "skat"], "unknown game 'skat'"),
        (["evaluate", "rules", "duck", "--deals", "1"], "--deals 1 is not valid"),
        (["evaluate", "rules", "nowhere:Agent"], "nowhere:Agent can't be loaded"),
        (["evaluate", "rules", "ppo:nowhere.safetensors"], "no checkpoint at nowhere.safetensors"),
        (["train", "nothing"], "no config 'nothing'"),
        (["train", "herzeln_ppo", "lanse=3"], "unknown config key 'lanse'. Did you mean 'lanes'"),
        (["play", "--seat", "9"], "--seat 9 is no seat"),
        (["train", "herzeln_ppo", "hidden=[64"], "'hidden=[64' is not valid. Valid: key=value"),
        (["train", "herzeln_ppo", "options=[1, 2]"], "options=[1, 2] is not valid. Valid: a mapping"),
        (["train", "herzeln_ppo", "baselines=[duk]"], "unknown herzeln agent 'duk'. Did you mean 'duck'"),
        (["evaluate", "rules", "ppo:nowhere"], "no checkpoint at nowhere"),
        (["evaluate", "rules", "duck", "--json", "/dev/null/x.json"], "'/dev/null'"),
        (["evaluate", "--foo"], "No such option: --foo"),
        (["nonsense"], "No such command 'nonsense'"),
    ],
)
def test_mistakes_get_one_line(words: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(*words) == 2
    output = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert message in output
    assert "Traceback" not in output


def test_play_by_a_person() -> None:
    """A whole deal typed in: a wrong word and an illegal card are asked again, the last line is the score."""
    tries = ["nonsense"] + [suit + rank for suit in "cdhs" for rank in "23456789TJQKA"]
    words = [sys.executable, "-m", "stich.training.cli", "play", "episode=deal", "--seed", "1", "--opponents", "duck"]
    done = subprocess.run(words, input="\n".join(tries * 14), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "no such card: 'nonsense'" in done.stdout
    assert "is not legal now" in done.stdout
    assert "final score in points: player_0" in done.stdout.splitlines()[-1]


def test_play_can_be_left() -> None:
    words = [sys.executable, "-m", "stich.training.cli", "play", "--game", "viersche", "--seed", "1", "--seat", "2"]
    done = subprocess.run(words, input="q\n", capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.splitlines()[-1].endswith("left the table")) == (0, True)


@pytest.mark.parametrize(("players", "games"), [(2, 2), (3, 6), (4, 6)])
def test_head_to_head_seats_both_agents_alike(players: int, games: int) -> None:
    seatings = make_design(HERZELN, players, 2).seatings
    assert len(seatings) == games
    assert (seatings.mean(0) == 0.5).all()  # at every seat as often
    assert len({tuple(row) for row in seatings}) == games


def test_viersche_pairs_and_tables() -> None:
    assert make_design(VIERSCHE, 4, 2).seatings.tolist() == [[0, 1, 0, 1], [1, 0, 1, 0]]
    table = make_design(HERZELN, 4, 4).seatings
    assert len(table) == 24
    assert len(distinct(table, ["a", "b", "b", "b"])) == 4


def test_payoffs_are_zero_sum_and_the_same_in_any_chunks() -> None:
    agents = [load_agent("duck"), load_agent("random")]
    rules = HERZELN.options(episode="deal", preset="hearts")
    seatings = make_design(HERZELN, 4, 2).seatings
    payoff, score = play_deals(HERZELN, rules, agents, seatings, seed=5, first_deal=0, deals=12)
    np.testing.assert_allclose(payoff.sum(2), 0, atol=1e-5)
    assert set(score.sum(2).ravel()) <= {26, 78}
    later, _ = play_deals(HERZELN, rules, agents, seatings, seed=5, first_deal=7, deals=3)
    np.testing.assert_array_equal(later, payoff[7:10])


def test_agents_of_one_name_are_one_agent_to_the_deal() -> None:
    """Against itself an agent's payoff is exactly 0 on every deal: draws are keyed by (deal, seat, agent)."""
    agent = load_agent("duck")
    standings, _ = evaluate(HERZELN, HERZELN.options(episode="deal"), [agent, agent], ["a", "b"], deals=30, seed=1)
    payoff = standings[0].payoff
    np.testing.assert_allclose([payoff.mean, payoff.low, payoff.high], 0, atol=1e-6)


def test_games_of_an_evaluation_share_no_deal() -> None:
    """Intervals need independent episodes: the games of neighbouring numbers begin in lanes of their own."""
    agent = load_agent("random")
    rules = HERZELN.options(episode="game", target=40)
    seatings = make_design(HERZELN, 4, 4).seatings[:1]
    _, score = play_deals(HERZELN, rules, [agent] * 4, seatings, seed=3, first_deal=0, deals=400)
    own = score[:, 0, 0]
    assert abs(np.corrcoef(own[:-1], own[1:])[0, 1]) < 0.2


HAND = [f"C{rank}" for rank in HERZELN.deck.ranks]
OTHERS = [[suit + rank for rank in HERZELN.deck.ranks] for suit in "DHS"]


class Wrong:
    """An agent that returns one thing whatever it is asked."""

    name = "wrong"

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        return np.asarray(self.answer) if np.ndim(self.answer) else np.full(len(views), self.answer)


@pytest.mark.parametrize("answer", [-1, 10**7, 51, 0.0, [1, 2, 3, 4, 5, 6, 7]])
def test_wrong_agents_are_named(answer: object) -> None:
    rules = HERZELN.options(episode="deal")
    seatings = make_design(HERZELN, 4, 2).seatings
    with pytest.raises(IllegalCardError, match="agent 'wrong'"):
        play_deals(HERZELN, rules, [Wrong(answer), load_agent("duck")], seatings, seed=1, first_deal=0, deals=5)
    env = gymnasium.make("stich/Herzeln-v0", opponents=Wrong(answer), seat=0, illegal="random")
    env.reset(options={"hands": [HAND, *OTHERS], "dealer": 0})  # the learner leads the two of clubs
    with pytest.raises(IllegalCardError, match="agent 'wrong'"):
        env.step(0)


def test_evaluate_writes_a_folder(tmp_path: Path) -> None:
    assert run("evaluate", "duck", "low", "--deals", "10", "--out", str(tmp_path / "here")) == 0
    assert json.loads((tmp_path / "here/evaluate.json").read_text())["deals"] == 10
    assert "| duck |" in (tmp_path / "here/evaluate.md").read_text()


def test_whole_games_can_be_evaluated() -> None:
    agents = [load_agent("duck"), load_agent("random")]
    rules = HERZELN.options(episode="game", target=30)
    standings, _ = evaluate(HERZELN, rules, agents, ["duck", "random"], deals=10, seed=1)
    assert standings[0].payoff.mean > 0


def test_agents_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = "class Mine:\n    def __init__(self, game): self.game = game\n    def act(self, views, keys): return keys\n"
    (tmp_path / "my_agents.py").write_text(code + "class Empty: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    agent = load_agent("my_agents:Mine", game="viersche")
    assert (agent.name, agent.game) == ("Mine", "viersche")  # type: ignore[attr-defined]
    with pytest.raises(OptionError, match=r"has no method act\(views, keys\)"):
        load_agent("my_agents:Empty")
    with pytest.raises(OptionError, match="takes no options"):
        load_agent("duck", worlds=3)
