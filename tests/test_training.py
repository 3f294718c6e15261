"""Learning: advantages, masks, the first ratio, imitation, checkpoints, resuming, configs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from stich.agents import load_agent
from stich.agents.checkpoint import CheckpointError, read_checkpoint, save_checkpoint
from stich.agents.network import NEVER, ActorCritic, NetworkAgent, Shape, masked_log_softmax
from stich.envs import HERZELN, VIERSCHE, OptionError, make_batch
from stich.training.ablation import ablation_config
from stich.training.config import TrainConfig, find_config, overrides, read_yaml, train_config
from stich.training.moon_config import moon_config
from stich.training.ppo import Trainer
from stich.training.rollout import NO_DECISION, Rollout, advantages
from stich.training.run import train
from stich.training.seeds import RANGE, TEST, TRAIN, VALIDATION, seed_of
from stich.training.tournament import tournament_config

TINY: dict[str, Any] = {
    "decisions": 16 * 52 * 4,
    "lanes": 16,
    "hidden": (16, 16),
    "minibatch": 128,
    "evaluate_every": 2,
    "evaluate_deals": 4,
    "final_deals": 0,
    "threads": 1,
}
GAMES = [("herzeln", 52), ("viersche", 36)]


def tiny(**changes: Any) -> TrainConfig:
    return train_config({**TINY, **changes})


def rollout_of(index: Any, seat: Any, reward: Any, done: Any) -> Rollout:
    """A rollout of which only what advantages need is there."""
    none = torch.empty(0)
    arrays = (np.array(index, np.int32), np.array(seat, np.int8), np.array(reward, np.float32), np.array(done, bool))
    return Rollout(none, none, none, none, none, none, none, *arrays)


def test_advantages_of_a_hand_computed_example() -> None:
    """Two seats; the reward of seat 0 falls on seat 1's card, as in every trick that another completes."""
    rollout = rollout_of(
        index=[[0], [1], [NO_DECISION], [2], [3]],
        seat=[[0], [1], [0], [1], [0]],
        reward=[[[0, 0]], [[0.5, 0]], [[0, 0.25]], [[0, 0]], [[1, -1]]],
        done=[[False], [False], [False], [False], [True]],
    )
    value = np.array([0.1, 0.2, 0.3, 0.4], np.float32)
    found, complete = advantages(rollout, value, gamma=0.9, trace=0.5)
    last_of_0 = 1 - 0.4
    last_of_1 = -1 - 0.3
    first_of_1 = (0.25 + 0.9 * 0.3 - 0.2) + 0.9 * 0.5 * last_of_1
    first_of_0 = (0.5 + 0.9 * 0.4 - 0.1) + 0.9 * 0.5 * last_of_0
    np.testing.assert_allclose(found, [first_of_0, first_of_1, last_of_1, last_of_0], rtol=1e-6)
    assert complete.all()


def test_a_rollout_that_breaks_off_learns_nothing_from_open_decisions() -> None:
    rollout = rollout_of([[0], [1], [2]], [[0], [1], [0]], np.zeros((3, 1, 2)), [[False]] * 3)
    found, complete = advantages(rollout, np.array([1.0, 2.0, 3.0], np.float32), 1.0, 0.95)
    assert complete.tolist() == [True, False, False]
    np.testing.assert_allclose(found[0], 3.0 - 1.0)


def test_no_value_crosses_the_end_of_an_episode() -> None:
    rollout = rollout_of([[0], [1]], [[0], [0]], [[[1.0, 0]], [[0, 0]]], [[True], [True]])
    found, _ = advantages(rollout, np.array([0.25, 100.0], np.float32), 1.0, 1.0)
    np.testing.assert_allclose(found, [0.75, -100.0])


def slow_advantages(rollout: Rollout, value: np.ndarray, gamma: float, trace: float) -> np.ndarray:
    """The definition, decision by decision, forwards: sum of discounted temporal differences of one seat."""
    steps, lanes, players = rollout.reward.shape
    out = np.full(len(value), np.nan)
    for lane in range(lanes):
        for seat in range(players):
            own = [t for t in range(steps) if rollout.seat[t, lane] == seat and rollout.index[t, lane] != NO_DECISION]
            for k, t in enumerate(own):
                total, weight = 0.0, 1.0
                for j in range(k, len(own)):
                    following = own[j + 1] if j + 1 < len(own) else steps
                    ends = [u for u in range(own[j], following) if rollout.done[u, lane]]
                    if not ends and following == steps:
                        total = np.nan if j == k else total
                        break
                    last = ends[0] + 1 if ends else following
                    paid = rollout.reward[own[j] : last, lane, seat].sum()
                    here, ahead = rollout.index[own[j], lane], rollout.index[following, lane] if not ends else -1
                    total += weight * (paid + (gamma * value[ahead] if not ends else 0.0) - value[here])
                    weight *= gamma * trace
                    if ends:
                        break
                out[rollout.index[t, lane]] = total
    return out


@pytest.mark.parametrize(("game", "steps"), [("herzeln", 52), ("herzeln", 41), ("viersche", 36), ("viersche", 50)])
def test_advantages_equal_their_definition_in_real_play(game: str, steps: int) -> None:
    trainer = Trainer(tiny(game=game, steps=steps, lanes=6))
    rollout = trainer.collectors[0].collect(trainer.network, trainer.generator, trainer.anchor)
    value = np.random.default_rng(0).normal(size=len(rollout.action)).astype(np.float32)
    found, complete = advantages(rollout, value, 0.97, 0.9)
    expected = slow_advantages(rollout, value, 0.97, 0.9)
    assert (np.isnan(expected) == ~complete).all()
    np.testing.assert_allclose(found[complete], expected[complete], atol=1e-4)


@pytest.mark.parametrize(("game", "steps"), GAMES)
def test_rewards_in_a_rollout_are_the_payoffs_of_the_deals(game: str, steps: int) -> None:
    trainer = Trainer(tiny(game=game, steps=steps))
    rollout = trainer.collectors[0].collect(trainer.network, trainer.generator, trainer.anchor)
    assert rollout.done[-1].all()
    np.testing.assert_allclose(rollout.reward.sum(2), 0, atol=1e-5)
    assert np.abs(rollout.reward).max() <= 1
    assert len(rollout.action) < rollout.index.size  # forced cards are no decisions
    assert rollout.mask.sum(1).min() >= 2
    assert rollout.mask.gather(1, rollout.action[:, None]).all()


@pytest.mark.parametrize("scale", [0.0, 1.0, 1e3, 1e8, 1e30])
def test_masked_log_softmax_with_extreme_logits(scale: float) -> None:
    rng = np.random.default_rng(1)
    logits = torch.from_numpy((rng.normal(size=(500, 52)) * scale).astype(np.float32)).requires_grad_()
    mask = torch.from_numpy(rng.random((500, 52)) < rng.random((500, 1)))
    mask[torch.arange(500), torch.from_numpy(rng.integers(0, 52, 500))] = True
    mask[:52] = torch.eye(52, dtype=torch.bool)  # a single legal card
    found = masked_log_softmax(logits, mask)
    assert torch.isfinite(found).all()
    assert (found[~mask] <= NEVER / 2).all()
    assert (found.exp()[~mask] == 0).all()
    torch.testing.assert_close(found.exp().sum(1), torch.ones(500))
    assert (found[:52][mask[:52]] == 0).all()
    found[mask].clamp(min=-100).sum().backward()
    assert logits.grad is not None
    assert torch.isfinite(logits.grad).all()


@pytest.mark.parametrize(("game", "steps"), GAMES)
def test_first_ratio_is_exactly_one(game: str, steps: int) -> None:
    trainer = Trainer(tiny(game=game, steps=steps))
    for _ in range(3):
        losses = trainer.update()
        assert losses.first_ratio == 0.0
        assert losses.divergence > 0  # later minibatches have moved


def test_imitation_learns_the_teachers_cards() -> None:
    config = tiny(teacher="duck", imitate=10**9, decisions=10**9, learning_rate=0.01, lanes=32)
    trainer = Trainer(config)
    first = trainer.update().policy
    for _ in range(8):
        last = trainer.update().policy
    assert last < first - 0.3


def test_a_policy_learns_a_game_whose_reward_falls_on_the_others_turns() -> None:
    """In a few updates the policy beats random clearly: rewards reach the cards that earned them."""
    config = tiny(decisions=10**9, lanes=128, hidden=(64, 64), minibatch=512, learning_rate=0.002)
    trainer = Trainer(config)
    for _ in range(25):
        trainer.update()
    batch = make_batch("herzeln", lanes=512, episode="deal", seed=99, reward="payoff")
    agents = [trainer.agent(), load_agent("random")]
    total = np.zeros(4)
    for _ in range(52):
        cards = np.where(
            batch.seat % 2 == 0, agents[0].act(batch.views, batch.keys()), agents[1].act(batch.views, batch.keys())
        )
        total += batch.step(cards).reward.mean(0)
    assert total[0] + total[2] > 0.05


def files_of(folder: Path) -> dict[str, Any]:
    tensors, about = read_checkpoint(folder / "last.safetensors")
    return {**{name: tensor.numpy().tobytes() for name, tensor in tensors.items()}, "history": about["history"]}


@pytest.mark.parametrize(("game", "steps", "more"), [("herzeln", 52, {}), ("viersche", 30, {"teacher": "greedy"})])
def test_resumed_equals_uninterrupted(game: str, steps: int, more: dict[str, Any], tmp_path: Path) -> None:
    """Killed at a checkpoint and resumed, a run ends in the same bits: weights, moments, lanes, random numbers."""
    more = {**more, "imitate": 16 * steps * 3} if more else {}
    config = {"game": game, "steps": steps, "decisions": 16 * steps * 6, **more}
    train(tiny(**config), tmp_path / "whole")
    half = tiny(**config)
    trainer_stops_after(half, 4, tmp_path / "parts")
    train(half, tmp_path / "parts", resume=True)
    assert files_of(tmp_path / "whole") == files_of(tmp_path / "parts")
    assert (tmp_path / "whole/curve.csv").read_bytes() == (tmp_path / "parts/curve.csv").read_bytes()


def trainer_stops_after(config: TrainConfig, updates: int, folder: Path) -> None:
    """Run until an update after the last checkpoint, then stop as a killed process does."""
    from stich.training import run

    class Killed(Exception):
        pass

    def log(writer: Any, trainer: Trainer, *rest: Any) -> None:
        if trainer.updates == updates + 1:
            raise Killed

    original, run._log = run._log, log
    try:
        with pytest.raises(Killed):
            train(config, folder)
    finally:
        run._log = original


def test_resume_refuses_another_config_and_a_missing_run(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match="no checkpoint at"):
        train(tiny(), tmp_path / "none", resume=True)
    train(tiny(), tmp_path / "run")
    with pytest.raises(CheckpointError, match="gamma differ"):
        train(tiny(gamma=0.5), tmp_path / "run", resume=True)
    with pytest.raises(OptionError, match="already holds a run"):
        train(tiny(), tmp_path / "run")


def saved_agent(folder: Path) -> Path:
    trainer = Trainer(tiny())
    path = folder / "agent.safetensors"
    save_checkpoint(path, trainer.weights(), trainer.about())
    return path


def test_a_run_starts_from_a_checkpoints_network(tmp_path: Path) -> None:
    path = saved_agent(tmp_path)
    trainer = Trainer(tiny(start=str(path), seed=5))
    saved = read_checkpoint(path)[0]
    assert all(tensor.equal(saved[name]) for name, tensor in trainer.weights().items())
    trainer.update()
    assert not all(tensor.equal(saved[name]) for name, tensor in trainer.weights().items())
    with pytest.raises(CheckpointError, match="trained for 4 players, not 3"):
        Trainer(tiny(start=str(path), options={"players": 3, "episode": "deal"}))
    with pytest.raises(CheckpointError, match=r"has a network with hidden=\(.*, but the config says \(8, 8\)"):
        Trainer(tiny(start=str(path), hidden=[8, 8]))
    with pytest.raises(CheckpointError, match="no checkpoint at nowhere"):
        Trainer(tiny(start="nowhere"))


def test_an_agent_of_a_checkpoint_plays_the_same_whatever_else_is_asked(tmp_path: Path) -> None:
    agent = load_agent(f"ppo:{saved_agent(tmp_path)}")
    batch = make_batch("herzeln", lanes=700, episode="deal", seed=3)
    views, keys = batch.views, batch.keys()
    assert isinstance(agent, NetworkAgent)
    together = agent.log_probabilities(views)
    for lane in (0, 1, 300, 699):
        assert agent.log_probabilities(views[lane : lane + 1]).tobytes() == together[lane].tobytes()
    assert (batch.legal >> agent.act(views, keys) & 1).all()
    sampling = load_agent(f"ppo:{tmp_path / 'agent.safetensors'}", sample=True)
    drawn = sampling.act(views, keys)
    assert (drawn == sampling.act(views, keys)).all()
    assert (batch.legal >> drawn & 1).all()


def test_checkpoints_that_are_none(tmp_path: Path) -> None:
    good = saved_agent(tmp_path)
    with pytest.raises(CheckpointError, match="is a checkpoint of herzeln, not of viersche"):
        load_agent(f"ppo:{good}", game="viersche")
    with pytest.raises(CheckpointError, match="no checkpoint at"):
        load_agent(f"ppo:{tmp_path / 'missing'}")
    for number, content in enumerate((b"", b"garbage" * 100, good.read_bytes()[:-50], b"\xff" * 2000)):
        bad = tmp_path / f"bad{number}"
        bad.write_bytes(content)
        with pytest.raises(CheckpointError, match="damaged or no checkpoint"):
            load_agent(f"ppo:{bad}")
    tensors, about = read_checkpoint(good)
    save_checkpoint(tmp_path / "old", tensors, {**about, "encoding": 0})
    with pytest.raises(CheckpointError, match="trained on encoding 0 of herzeln, but this version has 2"):
        load_agent(f"ppo:{tmp_path / 'old'}")
    save_checkpoint(tmp_path / "bare", tensors, {"game": "herzeln"})
    with pytest.raises(CheckpointError, match="lacks players, shape, encoding"):
        load_agent(f"ppo:{tmp_path / 'bare'}")
    (tmp_path / "last.safetensors").write_bytes(good.read_bytes())
    with pytest.raises(CheckpointError, match="holds a policy alone"):
        train(tiny(), tmp_path, resume=True)
    save_checkpoint(tmp_path / "wide", tensors, {**about, "shape": {**about["shape"], "hidden": [99, 16]}})
    with pytest.raises(CheckpointError, match="does not fit its own description"):
        load_agent(f"ppo:{tmp_path / 'wide'}")


def test_an_agent_refuses_another_number_of_players(tmp_path: Path) -> None:
    agent = load_agent(f"ppo:{saved_agent(tmp_path)}")
    batch = make_batch("herzeln", lanes=2, players=3, episode="deal")
    with pytest.raises(OptionError, match="trained for 4 players, not 3"):
        agent.act(batch.views, batch.keys())


def test_a_full_disk_leaves_the_old_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = saved_agent(tmp_path)
    before = path.read_bytes()

    def full(*_args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        save_checkpoint(path, {"x": torch.zeros(3)}, {})
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["agent.safetensors"]


@pytest.mark.parametrize(("trunk", "told"), [("plain", False), ("suits", False), ("suits", True)])
def test_the_actor_reads_no_hidden_card(trunk: str, told: bool) -> None:
    """Logits depend on the first D entries of the full state only."""
    network = ActorCritic(VIERSCHE, 4, Shape((16, 16), trunk, counting=told, infer=(8, 8) if told else ()))
    batch = make_batch("viersche", lanes=8, episode="deal")
    state = torch.from_numpy(batch.state)
    other = state.clone()
    other[:, network.observation_size :] = 1 - other[:, network.observation_size :]
    assert torch.equal(network(state)[0], network(other)[0])
    assert not torch.equal(network(state)[1], network(other)[1])
    assert torch.equal(state[:, : network.observation_size], torch.from_numpy(batch.observation))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"learning_rte": 1}, "unknown config key 'learning_rte'. Did you mean 'learning_rate'"),
        ({"lanes": 0}, "lanes=0 is not valid"),
        ({"lanes": "many"}, "lanes='many' is not valid. Valid: a whole number"),
        ({"game": "skat"}, "unknown game 'skat'"),
        ({"options": {"pasing": "left"}}, "unknown option 'pasing'. Did you mean 'passing'"),
        ({"options": {"players": 3, "passing": "across"}}, "passing='across' is not possible with players=3"),
        ({"ignore": ["hnd"]}, "unknown slice of the observation 'hnd'"),
        ({"teacher": "nobody", "imitate": 5}, "unknown herzeln agent 'nobody'"),
        ({"imitate": 5}, "needs a teacher"),
        ({"hidden": []}, "hidden=.* is not valid"),
        ({"final_deals": -1}, "final_deals=-1 is not valid. Valid: 0 to"),
        ({"gamma": 2}, "gamma=2.0 is not valid. Valid: 0.0 to 1.0"),
        ({"threads": -1}, "threads=-1 is not valid"),
        ({"processes": 0}, "processes=0 is not valid. Valid: 1 to 1024"),
        ({"processes": 3}, "processes=3 is not valid. Valid: a divisor of lanes=16"),
        ({"processes": 2, "device": "cuda"}, "device='cuda' is not possible with processes=2"),
        ({"options": [1]}, "options=.* is not valid. Valid: a mapping"),
        ({"opponent_share": 0.5}, "and opponents where it is above 0"),
        ({"baselines": ["nobody"]}, "unknown herzeln agent 'nobody'"),
        ({"improve_judge": "rules"}, "config key improve_judge='rules' is no network. Valid: ppo, or ppo:PATH"),
        ({"improve_weigh": "rulse"}, "unknown herzeln agent 'rulse'. Did you mean 'rules'"),
        ({"improve": 5, "improve_policy": "nobody"}, "unknown herzeln agent 'nobody'"),
        ({"goal": "moon=me"}, "unknown goal 'moon=me'. Did you mean 'moon=self'"),
        ({"preset": "hearts", "presets": ["herzeln"]}, "preset and presets exclude each other"),
        ({"trunk": "suits", "hidden": [16]}, "Valid: 2 or more positive whole numbers"),
        ({"improve": 100, "whole_games": 50}, "whole_games=50 is not valid. Valid: 0, or from imitate"),
        ({"lesson_learning_rate": -1}, "lesson_learning_rate=-1.0 is not valid"),
    ],
)
def test_config_mistakes_are_named(values: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        Trainer(train_config({**TINY, **values}))


def test_words_name_config_keys_or_rule_options() -> None:
    config = train_config(read_yaml(find_config("herzeln_ppo")), ["players=3", "gamma=0.9", "learning_rate=1e-4"])
    assert (config.options["players"], config.gamma, config.learning_rate) == (3, 0.9, 1e-4)
    with pytest.raises(OptionError, match="Valid: key=value"):
        overrides(["players"])
    with pytest.raises(OptionError, match="no config 'nothing'"):
        find_config("nothing")


def test_words_change_nothing_else() -> None:
    """A rule word leaves single deals single deals, and `options=` is heard."""
    assert train_config({}, ["lesson_learning_rate=6e-4"]).lesson_learning_rate == 6e-4  # a text in YAML
    assert train_config({}, ["players=3"]).rules().episode == "deal"
    assert train_config({}, ["options={players: 3}"]).rules().players == 3
    assert train_config({"options": {"players": 2}}, ["episode=game"]).rules().episode == "game"


@pytest.mark.parametrize(
    ("game", "options"),
    [
        ("herzeln", {}),
        ("herzeln", {"players": 2}),
        ("herzeln", {"players": 3}),
        ("herzeln", {"preset": "hearts", "jack_of_diamonds": True}),
        ("viersche", {}),
        ("viersche", {"jack_exempt": True}),
        ("viersche", {"episode": "round"}),
    ],
)
def test_slices_that_never_change_are_not_read(game: str, options: dict[str, Any]) -> None:
    """What a network leaves out is constant in play under the rules."""
    options = {"episode": "deal", **options}
    batch, agent, seen = make_batch(game, 64, **options), load_agent("random", game=game), []
    for _ in range(120):
        seen.append(batch.state)
        batch.step(agent.act(batch.views, batch.keys()))
    states, layout = np.concatenate(seen), batch.game.encoding.layout(batch.players)
    for name in batch.game.encoding.constant(batch.options):
        assert (states[:, layout[name]] == states[:1, layout[name]]).all() or name == "receiver", name


def test_an_agent_finds_the_device_of_its_network() -> None:
    """Observations go where the weights are; here to a device that only knows shapes."""
    trainer = Trainer(tiny())
    trainer.network.to("meta")
    with pytest.raises((NotImplementedError, RuntimeError), match="Cannot copy out of meta tensor"):
        trainer.agent().log_probabilities(trainer.collectors[0].batch.views[:1])


@pytest.mark.parametrize(
    "path", sorted((Path(__file__).parent.parent / "configs").glob("*.yaml")), ids=lambda p: p.stem
)
def test_shipped_configs_build(path: Path) -> None:
    if path.stem.startswith("tournament"):
        assert json.dumps(tournament_config(read_yaml(path)).as_dict())
        return
    if path.stem.startswith("moon"):
        assert moon_config(read_yaml(path))
        return
    if path.stem.startswith("ablation"):
        assert len(ablation_config(read_yaml(path)).runs()) > 5
        return
    config = train_config(read_yaml(path))
    form = (config.hidden, config.trunk, config.unread(), config.critic, config.judges)
    shape = Shape(*form, counting=config.counting, infer=config.infer)
    ActorCritic({"herzeln": HERZELN, "viersche": VIERSCHE}[config.game], config.rules().players, shape)
    assert json.dumps(config.as_dict())


def test_seeds_of_training_validation_and_test_never_meet() -> None:
    ends = [(seed_of(part, 0), seed_of(part, RANGE - 1)) for part in (TRAIN, VALIDATION, TEST)]
    assert ends[0][1] < ends[1][0] <= ends[1][1] < ends[2][0]
    with pytest.raises(OptionError, match="seed=-1 is not valid"):
        seed_of(TEST, -1)
