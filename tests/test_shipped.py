"""Agents that ship with the package, how they get there, networks with search, and ablations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_recipe import mid_game
from test_training import tiny

from stich.agents import load_agent
from stich.agents.playing_on import lanes_at, play_on
from stich.agents.shipped import WEIGHTS, weights_path
from stich.envs import HERZELN, VIERSCHE, OptionError
from stich.training.ablation import ablate, ablation_config, markdown
from stich.training.run import train
from stich.training.ship import event_text, ship

SHIPPED = [("herzeln", 2), ("herzeln", 3), ("herzeln", 4), ("viersche", 4)]
GAMES = ["herzeln", "viersche"]


@pytest.mark.parametrize(("game", "players"), SHIPPED)
def test_shipped_agents_play_and_explain(game: str, players: int) -> None:
    """Small files with a card each; legal cards under every preset."""
    agent: Any = load_agent("ppo", game=game, players=players)
    path = weights_path(agent.game, players)
    assert path.stat().st_size <= 5_000_000
    text = path.with_suffix(".md").read_text()
    assert "| against | payoff |" in text
    assert "decisions:" in text
    for preset in agent.game.presets:
        if preset == "openspiel" and players != 4:
            continue
        batch = mid_game(game, 5, lanes=30, preset=preset, players=players)
        assert (batch.legal >> agent.act(batch.views, batch.keys()) & 1).all()
    assert sum(agent.explain(batch.views[0])["probabilities"].values()) == pytest.approx(1, abs=1e-5)
    assert agent.expected_payoff(batch.states).shape == (30, players)


def test_a_network_with_another_goal_tells_no_value_in_points() -> None:
    agent: Any = load_agent("ppo", goal="moon=self")
    told = agent.explain(mid_game("herzeln", 5, lanes=1, preset="hearts").views[0])
    assert "value" not in told
    assert {"probabilities", "points", "moon"} <= set(told)


@pytest.mark.parametrize("game", GAMES)
def test_shipped_agents_answer_alike_for_one_and_for_many(game: str) -> None:
    agent: Any = load_agent("ppo", game=game)
    batch = mid_game(game, 7, lanes=300)
    views, together = batch.views, agent.log_probabilities(batch.views)
    for lane in range(0, 300, 7):
        assert (agent.log_probabilities(views[lane : lane + 1])[0] == together[lane]).all()


def test_every_shipped_file_is_expected() -> None:
    agents = [*(f"{game}{players}" for game, players in SHIPPED), "herzeln4_moon_self"]
    names = {f"{agent}{suffix}" for agent in agents for suffix in (".safetensors", ".md", ".csv")}
    assert {path.name for path in WEIGHTS.iterdir()} == names


def test_the_shipped_agent_beats_the_rules_it_was_trained_beside() -> None:
    """A few deals suffice to tell the network in use from the bare rule-based agent."""
    from stich.training.evaluate import evaluate

    pair = [load_agent("ppo"), load_agent("rules")]
    standings, _ = evaluate(HERZELN, HERZELN.options(episode="deal"), pair, ["ppo", "rules"], deals=150, seed=5)
    assert standings[0].payoff.low > 0


def test_the_agent_trained_for_the_moon_shoots_it(tmp_path: Path) -> None:
    """Far more often than the rule-based agent, which does in about 2 % of the deals; the card says how often."""
    pair = [load_agent("ppo", goal="moon=self"), load_agent("rules")]
    text = event_text(HERZELN, HERZELN.options("hearts", episode="deal"), pair, "moons", 100, 5)
    assert 25 < float(text.split("%")[0]) < 45
    train(tiny(goal="moon=self"), tmp_path / "run")
    path = ship(tmp_path / "run", 4, ("random",), tmp_path / "weights", lambda line: None)
    assert path.name == "herzeln4_moon_self.safetensors"
    assert "share of them with moon=self" in path.with_suffix(".md").read_text()
    train(tiny(goal="points=0"), tmp_path / "points")
    with pytest.raises(OptionError, match="agents with goal=points=0 are not shipped"):
        ship(tmp_path / "points", 4, ("random",), tmp_path / "weights", lambda line: None)


def test_weights_that_are_too_large_are_stored_with_16_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train(tiny(), tmp_path / "run")
    first = ship(tmp_path / "run", 4, ("random",), tmp_path / "whole", lambda line: None)
    limit = int(first.stat().st_size * 0.7)
    monkeypatch.setattr("stich.training.ship.MOST_BYTES", limit)
    second = ship(tmp_path / "run", 4, ("random",), tmp_path / "half", lambda line: None)
    assert second.stat().st_size < limit
    views = mid_game("herzeln", 5, lanes=50).views
    agents: list[Any] = [load_agent(f"ppo:{path}") for path in (first, second)]
    whole, half = (agent.log_probabilities(views) for agent in agents)
    assert half.dtype == np.float32
    np.testing.assert_allclose(half, whole, atol=0.01)
    monkeypatch.setattr("stich.training.ship.MOST_BYTES", limit // 2)
    with pytest.raises(OptionError, match="a smaller network"):
        ship(tmp_path / "run", 4, ("random",), tmp_path / "none", lambda line: None)


def test_players_for_whom_nothing_is_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stich.agents.shipped.weights_path", lambda game, players, goal: tmp_path / "nothing")
    with pytest.raises(OptionError, match="no agent 'ppo' is shipped for herzeln with 3 players and goal 'payoff'"):
        load_agent("ppo", game="herzeln", players=3)
    with pytest.raises(OptionError, match="unknown option 'plyers'"):
        load_agent("ppo", game="herzeln", plyers=3)


def test_a_run_is_shipped_with_its_card(tmp_path: Path) -> None:
    train(tiny(trunk="suits", anchor="rules"), tmp_path / "run")
    path = ship(tmp_path / "run", 4, ("random",), tmp_path / "weights", lambda line: None)
    card = path.with_suffix(".md").read_text()
    assert "| herzeln | random |" in card
    assert "anchor: rules" in card
    agent: Any = load_agent(f"ppo:{path}")
    batch = mid_game("herzeln", 3, lanes=5)
    assert (batch.legal >> agent.act(batch.views, batch.keys()) & 1).all()


def test_the_best_policy_on_validation_deals_is_kept(tmp_path: Path) -> None:
    trainer = train(tiny(select="random", evaluate_every=1), tmp_path / "run")
    from stich.agents.checkpoint import read_checkpoint

    best = max(trainer.history, key=lambda row: row["random"])
    assert read_checkpoint(tmp_path / "run/agent.safetensors")[1]["decisions"] == best["decisions"]
    with pytest.raises(OptionError, match="unknown baseline to select by 'duck'"):
        tiny(select="duck")


@pytest.mark.parametrize("game", GAMES)
def test_an_anchor_is_left_only_where_the_network_says_so(game: str, tmp_path: Path) -> None:
    """Untrained, with small logits, the policy is the anchor's; forced cards and all other states alike."""
    train(tiny(game=game, anchor="rules", decisions=16 * 52, learning_rate=1e-9), tmp_path / "run")
    agent: Any = load_agent(f"ppo:{tmp_path / 'run/agent.safetensors'}", game=game)
    rules, batch = load_agent("rules", game=game), mid_game(game, 7, lanes=50)
    zeros = np.zeros(50, np.uint64)
    assert (agent.act(batch.views, zeros) == rules.act(batch.views, zeros)).all()


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("words", ["worlds=4", "worlds=3,turns=0,prior=0", "worlds=3,weigh=policy"])
def test_search_with_a_network_plays_legal_cards_and_repeats_them(game: str, words: str) -> None:
    agent = load_agent(f"pimc:policy=ppo,{words}", game=game)
    for cards in (0, 17):
        batch = mid_game(game, cards, lanes=4)
        played = agent.act(batch.views, batch.keys())
        assert (batch.legal >> played & 1).all()
        assert (agent.act(batch.views[2:3], batch.keys()[2:3]) == played[2:3]).all()


def test_playing_on_to_the_end_brings_what_the_deal_pays() -> None:
    """With `turns=0` the network's play-out of a world ends in the payoff of that deal."""
    policy = load_agent("ppo", game="viersche")
    batch = mid_game("viersche", 30, lanes=6)
    running = batch.states[batch.running]
    legal = np.array([VIERSCHE.deck.in_set(int(cards))[0] for cards in batch.legal[batch.running]])
    for state, card in zip(running, legal, strict=True):
        seat, lanes = int(state["seat"]), lanes_at(VIERSCHE, np.array([state]))
        total = float(lanes.step(np.array([card])).reward[0, seat])
        while lanes.running[0]:
            total += float(lanes.step(policy.act(lanes.views, lanes.keys())).reward[0, seat])
        found = play_on(VIERSCHE, policy, np.array([state]), np.array([card]))
        assert found[0] == pytest.approx(total, abs=1e-6)


def test_mistakes_in_the_name_of_a_search_with_a_network() -> None:
    with pytest.raises(OptionError, match="unknown key of pimc 'exact'"):
        load_agent("pimc:policy=ppo,exact=3")
    with pytest.raises(OptionError, match=r"policy=rules is no network. Valid: ppo"):
        load_agent("pimc:policy=rules")
    with pytest.raises(OptionError, match=r"worlds=0,turns=1,prior=0.01 is not valid"):
        load_agent("pimc:policy=ppo,worlds=0")


def test_an_ablation_runs_every_variant_and_resumes(tmp_path: Path) -> None:
    config = ablation_config(
        {
            "base": "herzeln_ppo",
            "changes": {**tiny().as_dict(), "options": {"episode": "deal"}, "preset": None},
            "variants": {"own critic": {"critic": "own"}, "cards": {"judges": "cards"}},
            "against": ["random"],
            "deals": 4,
        }
    )
    rows = ablate(config, tmp_path / "study", say=lambda line: None)
    assert [row["name"] for row in rows] == ["all parts", "own critic", "cards"]
    before = (tmp_path / "study/ablation.json").read_bytes()
    assert json.loads(before) == rows
    assert ablate(config, tmp_path / "study", resume=True, say=lambda line: None) == rows
    assert markdown(rows, ["random"]).count("|") == 3 * 5
    assert (tmp_path / "study/ablation.png").stat().st_size > 1000
    with pytest.raises(OptionError, match="unknown config key 'lanez'"):
        ablation_config({"base": "herzeln_ppo", "variants": {"x": {"lanez": 1}}}).runs()
