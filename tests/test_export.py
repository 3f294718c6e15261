"""Policies as ONNX files: the same cards as the agents', and what the files say of themselves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_commands import run
from test_shipped import SHIPPED
from test_training import tiny

from stich.agents import load_agent
from stich.envs import OptionError, make_batch
from stich.envs.cards import NO_CARD
from stich.training.run import train

onnxruntime = pytest.importorskip("onnxruntime")

from stich.agents import export  # noqa: E402 (needs onnxruntime)


class OnnxAgent:
    """Plays a file, with nothing of the network but what is in it; the anchor's card comes from its agent."""

    name = "onnx"

    def __init__(self, file: Path) -> None:
        self.session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        self.about = self.session.get_modelmeta().custom_metadata_map
        self.game = self.about["game"]
        self.anchor = load_agent(self.about["anchor"], game=self.game) if self.about["anchor"] else None

    def ask(self, batch: Any, anchored: bool = True) -> dict[str, np.ndarray]:
        """The outputs by name for all lanes of a batch."""
        given = {"observation": batch.observation, "action_mask": batch.action_mask}
        if self.anchor is not None:
            cards = self.anchor.act(batch.views, batch.keys()) if anchored else np.full(batch.lanes, NO_CARD, np.int64)
            given["anchor_card"] = cards
        return dict(zip([out.name for out in self.session.get_outputs()], self.session.run(None, given), strict=True))


@pytest.fixture(scope="module", params=SHIPPED, ids=lambda one: f"{one[0]}{one[1]}")
def shipped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, OnnxAgent]:
    """A shipped agent and its file."""
    game, players = request.param
    file = tmp_path_factory.mktemp("onnx") / "deep" / "agent.onnx"
    assert run("export", "ppo", str(file), "--game", game, f"players={players}") == 0
    assert [path.name for path in file.parent.iterdir()] == ["agent.onnx"]
    return load_agent("ppo", game=game, players=players).at_table(players), OnnxAgent(file)  # type: ignore[attr-defined]


def test_whole_deals_are_played_alike(shipped: tuple[Any, OnnxAgent]) -> None:
    agent, file = shipped
    for preset in agent.game.presets:
        if preset == "openspiel" and agent.players != 4:
            continue
        options = {"players": agent.players, "preset": preset, "episode": "deal"}
        batch = make_batch(agent.game.name, 20, seed=9, autoreset="disabled", **options)
        decided = 0
        while (running := batch.running).any():  # preset openspiel ends a deal with its last penalty card
            log_p, views = file.ask(batch)["log_probabilities"], batch.views[running]
            assert np.isfinite(log_p).all()
            cards = np.where(running, log_p.argmax(1), NO_CARD)
            np.testing.assert_array_equal(cards[running], agent.act(views, batch.keys()[running]))
            wanted = np.exp(agent.log_probabilities(views))
            np.testing.assert_allclose(np.exp(log_p[running]), wanted, atol=export.TOLERANCE)
            decided += (batch.action_mask.sum(1) > 1).sum()
            batch.step(cards)
        assert decided > 200


def test_outputs_say_what_the_agent_explains(shipped: tuple[Any, OnnxAgent]) -> None:
    agent, file = shipped
    batch = make_batch(agent.game.name, 1, seed=4, players=agent.players, episode="deal")
    found, said = file.ask(batch), agent.explain(batch.views[0])
    assert found["value"][0] * float(file.about["deal_points"]) == pytest.approx(said["value"], abs=1e-3)
    for name, labels in json.loads(file.about["outcomes"]).items():
        assert list(said[name]) == labels
        np.testing.assert_allclose(np.exp(found[name][0]), list(said[name].values()), atol=export.TOLERANCE)


def test_the_anchor_can_be_left_out(shipped: tuple[Any, OnnxAgent]) -> None:
    """With it the anchor's card gains on every other, by as much as the file says."""
    agent, file = shipped
    batch = make_batch(agent.game.name, 30, seed=2, players=agent.players)
    batch.step(batch.action_mask.argmax(1))
    free = batch.action_mask.sum(1) > 1
    with_it, without = file.ask(batch)["log_probabilities"], file.ask(batch, anchored=False)["log_probabilities"]
    shift = (with_it - without)[free]
    cards = agent.anchor.cards(batch.views).numpy()[free]
    own = shift[np.arange(len(cards)), cards]
    others = np.where(batch.action_mask[free].astype(bool), shift, np.inf).min(1)
    np.testing.assert_allclose(own - others, float(file.about["anchor_bonus"]), atol=1e-4)


def test_the_file_says_what_it_is(shipped: tuple[Any, OnnxAgent]) -> None:
    agent, file = shipped
    about, players = file.about, agent.players
    assert (about["format"], about["game"], about["players"]) == ("stich-onnx-1", agent.game.name, str(players))
    assert about["encoding"] == str(agent.game.encoding.version)
    assert (about["anchor"], float(about["anchor_bonus"])) == ("rules", agent.anchor.bonus)
    wanted = {"observation": int(about["observation_size"]), "action_mask": int(about["actions"]), "anchor_card": None}
    assert wanted["observation"] == agent.game.encoding.size(players)
    assert {one.name: (one.shape[1:] or [None])[0] for one in file.session.get_inputs()} == wanted
    assert len({one.shape[0] for one in file.session.get_inputs()}) == 1  # one open number of rows


def test_a_network_without_an_anchor_asks_for_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    train(tiny(options={"players": 3, "episode": "deal"}), tmp_path / "run")
    words = ["export", f"ppo:{tmp_path / 'run/agent.safetensors'}", str(tmp_path / "three.onnx")]
    assert run(*words, "preset=hearts") == 0
    assert "832 positions of random play: the same cards" in capsys.readouterr().out
    file = OnnxAgent(tmp_path / "three.onnx")
    assert (file.about["players"], file.about["anchor"]) == ("3", "")
    assert [one.name for one in file.session.get_inputs()] == ["observation", "action_mask"]
    assert run(*words, "players=4") == 2
    assert "was trained for 3 players, not 4" in " ".join(capsys.readouterr().err.split())


def test_a_file_that_plays_otherwise_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An agent whose anchor is worth less than its file says; nothing is left behind."""
    agent: Any = load_agent("ppo", game="viersche").at_table(4)  # type: ignore[attr-defined]
    agent.anchor.bonus = 0.5
    content = export.model_of(agent)
    agent.anchor.bonus = 1.0
    monkeypatch.setattr(export, "model_of", lambda agent: content)
    (tmp_path / "old.onnx").write_bytes(b"old")
    assert run("export", "ppo", str(tmp_path / "old.onnx"), "--game", "viersche") == 2
    assert "is not written, for it would not play as 'ppo' does: 576 positions" in capsys.readouterr().err
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("old.onnx", b"old")]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["rules", "x.onnx"], "agent 'rules' is no network. Valid: ppo, ppo:PATH"),
        (["pimc:worlds=3", "x.onnx"], "is no network. Valid: ppo, ppo:PATH"),
        (["ppo:nowhere", "x.onnx"], "no checkpoint at nowhere"),
        (["ppo", "/dev/null/x.onnx"], "'/dev/null'"),
        (["ppo", "."], ". is a folder. Valid: a file"),
        (["ppo", "x.onnx", "players=5"], "option players=5 is not valid"),
        (["ppo", "x.onnx", "plyers=3"], "unknown option 'plyers'"),
        (["ppo"], "Missing argument 'file'"),
    ],
)
def test_mistakes_get_one_line(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("export", *words) == 2
    error = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert message in error
    assert "Traceback" not in error
    assert not list(tmp_path.iterdir())


def test_agents_that_are_no_networks() -> None:
    with pytest.raises(OptionError, match="agent 'duck' is no network"):
        export.network_agent(load_agent("duck"), None)
