"""The parts of PPO's recipe: cards tried in the true deal, networks by suits, forecasts, critics, pools, goals."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from test_training import files_of, rollout_of, tiny, trainer_stops_after

from stich.agents import load_agent
from stich.agents.checkpoint import save_checkpoint
from stich.agents.network import ActorCritic, Shape
from stich.agents.playing_on import lanes_at
from stich.agents.worlds import Likely, sample_worlds
from stich.envs import HERZELN, VIERSCHE, make_batch
from stich.envs.batch import Batch, Terms
from stich.envs.game import get_game
from stich.training import objective
from stich.training.counterfactual import card_payoffs
from stich.training.ppo import Trainer
from stich.training.rollout import UNKNOWN, Lesson, advantages
from stich.training.run import train

GAMES = ["herzeln", "viersche"]
PARTS: dict[str, dict[str, Any]] = {
    "suits": {"trunk": "suits"},
    "counting": {"trunk": "suits", "counting": True},
    "inference": {"trunk": "suits", "counting": True, "infer": (8, 8)},
    "own critic": {"critic": "own", "trunk": "suits"},
    "cards": {"judges": "cards"},
    "cards by suit": {"judges": "cards", "trunk": "suits"},
    "reference": {"reference_weight": 0.1},
    "anchor": {"anchor": "rules"},
    "forecasts": {"forecast_weight": 0.1},
    "past": {"opponents": ("past", "random"), "opponent_share": 0.5, "past_every": 2, "past_size": 2},
}


def everything(game: str) -> dict[str, Any]:
    """A config in which all parts are on, stages included."""
    cards, steps = 16 * 40, 40
    parts = {key: value for part in PARTS.values() for key, value in part.items()}
    stages = {"improve": 2 * cards, "teacher": "random", "imitate": cards, "decisions": 7 * cards, "steps": steps}
    games = {"whole_games": 5 * cards, "presets": ("hearts", "herzeln")} if game == "herzeln" else {"options": {}}
    return {"game": game, **parts, "critic": "all_hands", **stages, **games}


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("part", PARTS)
def test_the_first_ratio_is_one_with_every_part(game: str, part: str) -> None:
    trainer = Trainer(tiny(game=game, **PARTS[part]))
    for _ in range(3):
        losses = trainer.update()
        assert losses.first_ratio == 0.0
        assert losses.divergence > 0
        assert np.isfinite(list(vars(losses).values())).all()


@pytest.mark.parametrize("game", GAMES)
def test_a_run_with_all_parts_resumes_exactly(game: str, tmp_path: Path) -> None:
    """Older selves, reference, lanes of all presets and the change to whole games come back bit for bit."""
    config = tiny(**everything(game))
    train(config, tmp_path / "whole")
    for stop in (2, 4, 6):
        folder = tmp_path / f"parts{stop}"
        trainer_stops_after(config, stop, folder)
        train(config, folder, resume=True)
        assert files_of(tmp_path / "whole") == files_of(folder)


def mid_game(game: str, cards: int, seed: int = 3, lanes: int = 24, **options: Any) -> Batch:
    """Lanes in the middle of single deals played at random."""
    found = get_game(game)
    numbers = np.arange(lanes, dtype=np.uint64)
    rules = found.options(episode="deal", **options)
    batch = Batch(found, rules, Terms("payoff"), seed, numbers, np.zeros(lanes, np.int64), "disabled")
    agent = load_agent("random", game=game)
    for _ in range(cards):
        batch.step(agent.act(batch.views, batch.keys()))
    return batch


def played_on(batch: Batch, lane: int, card: int, policy: Any, key: int) -> float:
    """The mover's payoff when a card is played and a policy plays on, through the batch's public face."""
    other = make_batch(batch.game.name, 1, episode="deal", reward="payoff", autoreset="disabled")
    other.options = batch.options
    other.states[:] = batch.states[lane]
    other.look()
    mover, total = int(other.seat[0]), 0.0
    while other.running[0]:
        keys = np.array([key_of(key, int(other.seat[0]))], np.uint64)
        choice = np.array([card]) if card >= 0 else policy.act(other.views, keys)
        total += float(other.step(choice).reward[0, mover])
        card = -1
    return total


def key_of(key: int, seat: int) -> int:
    from stich.envs.rng import combine

    return int(combine(np.uint64(combine(np.uint64(key), 0)), seat))


@pytest.mark.parametrize(("game", "policy"), [("herzeln", "duck"), ("herzeln", "rules"), ("viersche", "rules")])
@pytest.mark.parametrize("cards", [0, 9, 25])
def test_card_payoffs_are_what_playing_on_brings(game: str, policy: str, cards: int) -> None:
    """The first of several cards worth the same is played; the others take over its payoff."""
    batch = mid_game(game, cards)
    found = card_payoffs(batch.game, policy, batch.states, batch.legal, batch.keys())
    agent, compared = load_agent(policy, game=game), 0
    assert (found[batch.action_mask == 0] == 0).all()
    for lane in range(batch.lanes):
        legal = batch.game.deck.in_set(int(batch.legal[lane]))
        ranks = batch.game.deck.size // 4
        for card in legal:
            touching = card % ranks and card - 1 in legal
            if not touching:  # no lower card can be worth the same, unless one between is gone
                expected = played_on(batch, lane, card, agent, int(batch.keys()[lane]))
                lower = [each for each in legal if each // ranks == card // ranks and each < card]
                same = found[lane, card] == pytest.approx(expected, abs=1e-6)
                assert same or found[lane, card] in found[lane, lower]
                compared += bool(same)
    assert compared >= batch.lanes


@pytest.mark.parametrize(("game", "cards"), [("herzeln", 5), ("herzeln", 30), ("viersche", 11)])
def test_card_payoffs_in_several_worlds_are_means(game: str, cards: int) -> None:
    batch = mid_game(game, cards)
    keys, views = batch.keys(), batch.views
    others = sample_worlds(batch.game, views, keys, 3)
    alone = [
        card_payoffs(batch.game, "rules", each, batch.legal, keys) for each in (batch.states, *others.swapaxes(0, 1))
    ]
    found = card_payoffs(batch.game, "rules", batch.states, batch.legal, keys, worlds=3)
    assert found == pytest.approx(np.mean(alone, axis=0), abs=1e-6)
    assert not np.allclose(found, alone[0])


@pytest.mark.parametrize(("game", "cards"), [("herzeln", 3), ("herzeln", 30), ("viersche", 11)])
@pytest.mark.parametrize("worlds", [0, 2])
def test_agents_and_kernels_play_on_alike(game: str, cards: int, worlds: int) -> None:
    """An agent that is asked for whole batches brings the payoffs of the kernel that it stands for."""
    batch = mid_game(game, cards)
    rows = np.flatnonzero(batch.legal & (batch.legal - 1))
    here = (batch.states[rows], batch.legal[rows], batch.keys()[rows], worlds)
    by_kernel = card_payoffs(batch.game, "rules", *here)
    assert card_payoffs(batch.game, load_agent("rules", game=game), *here) == pytest.approx(by_kernel, abs=1e-6)
    assert (by_kernel.std(1) > 0).any()


class Undecided:
    """Every card is as probable as any other, to a policy that does not tell legal ones apart."""

    def log_probabilities(self, views: np.ndarray) -> np.ndarray:
        return np.zeros((len(views), 36), np.float32)


def test_worlds_that_weigh_the_same_are_the_worlds_that_are_drawn() -> None:
    batch = mid_game("viersche", 17)
    rows = np.flatnonzero(batch.legal & (batch.legal - 1))
    here = (batch.states[rows], batch.legal[rows], batch.keys()[rows], 3)
    alike = Likely(Undecided(), surplus=1)
    plain = card_payoffs(batch.game, "rules", *here)
    assert card_payoffs(batch.game, "rules", *here, alike) == pytest.approx(plain, abs=1e-6)


def test_weighed_worlds_are_nearer_to_the_true_deal() -> None:
    """What the others have played, all by the same policy, says what they hold."""
    batch, rules = make_batch("viersche", 300, seed=5, episode="deal"), load_agent("rules", game="viersche")
    for _ in range(21):
        batch.step(rules.act(batch.views, batch.keys()))
    rows = np.flatnonzero(batch.legal & (batch.legal - 1))
    here = (batch.states[rows], batch.legal[rows], batch.keys()[rows])
    true = card_payoffs(batch.game, "rules", *here)
    errors = [
        (card_payoffs(batch.game, "rules", *here, 8, likely) - true).std()
        for likely in (None, Likely(rules, eps=0.1, surplus=20))
    ]
    assert errors[1] < 0.85 * errors[0]


class Certain:
    """A judge to whom every deal brings the same."""

    def values(self, states: np.ndarray, seats: np.ndarray) -> np.ndarray:
        assert (states["seat"] == seats).all()
        return np.full(len(states), 0.25, np.float32)


@pytest.mark.parametrize(("game", "cards"), [("herzeln", 1), ("herzeln", 45), ("viersche", 11), ("viersche", 31)])
def test_a_judge_speaks_at_the_next_own_decision(game: str, cards: int) -> None:
    """Where none is left to the mover, the deal is played to its end."""
    batch, rules, judge = mid_game(game, cards), load_agent("rules", game=game), Certain()
    rows = np.flatnonzero(batch.legal & (batch.legal - 1))
    here = (batch.states[rows], batch.legal[rows], batch.keys()[rows])
    found = card_payoffs(batch.game, "rules", *here, judge=judge)  # type: ignore[arg-type]
    ends, judged = card_payoffs(batch.game, "rules", *here), 0
    for row, lane in enumerate(rows):
        for card in np.flatnonzero(batch.action_mask[lane]):
            state = batch.states[lane : lane + 1]
            lanes, seat = lanes_at(batch.game, state), int(state["seat"][0])
            lanes.step(np.array([card]))
            while lanes.running[0] and (int(lanes.seat[0]) != seat or int(lanes.legal[0]).bit_count() == 1):
                lanes.step(rules.act(lanes.views, lanes.keys()))
            if lanes.running[0]:
                assert found[row, card] == pytest.approx(0.25)
                judged += 1
            else:
                assert found[row, card] == pytest.approx(ends[row, card], abs=1e-6)
    assert judged or cards > 30


def test_improvement_learns_which_cards_pay() -> None:
    """After a few updates the policy that has tried cards beats random by far, learning from that very policy."""
    sizes = {"lanes": 128, "hidden": (64, 64), "minibatch": 256, "learning_rate": 0.002}
    config = tiny(improve=10**9, decisions=2 * 10**9, improve_policy="random", **sizes)
    trainer = Trainer(config)
    for _ in range(15):
        trainer.update()
    batch, agents = make_batch("herzeln", 1024, episode="deal", seed=99, reward="payoff"), [trainer.agent()]
    agents.append(load_agent("random"))
    total = np.zeros(4)
    for _ in range(52):
        first, second = (agent.act(batch.views, batch.keys()) for agent in agents)
        total += batch.step(np.where(batch.seat % 2 == 0, first, second)).reward.mean(0)
    assert total[0] + total[2] > 0.1


def test_expected_sarsa_of_a_hand_computed_example() -> None:
    """Looking ahead to the state's value, measured from the value of the card chosen."""
    rollout = rollout_of([[0], [1]], [[0], [0]], [[[0.25, 0]], [[1.0, -1]]], [[False], [True]])
    value, chosen = np.array([0.1, 0.4], np.float32), np.array([0.2, 0.5], np.float32)
    found, _ = advantages(rollout, value, gamma=0.9, trace=0.5, chosen=chosen)
    last = 1.0 - 0.5
    np.testing.assert_allclose(found, [0.25 + 0.9 * 0.4 - 0.2 + 0.45 * last, last], rtol=1e-6)


def test_outcomes_agree_with_the_payoffs_of_the_deals() -> None:
    """Without a moon the payoff follows from the own points: the others share the rest."""
    trainer = Trainer(tiny(game="herzeln", lanes=64))
    rollout = trainer.collectors[0].collect(trainer.network, trainer.generator, trainer.anchor)
    payoff = rollout.reward.sum(0)
    for lane in range(64):
        for step in range(52):
            number = rollout.index[step, lane]
            if number < 0:
                continue
            points, moon = rollout.outcome[number].tolist()
            own = float(payoff[lane, rollout.seat[step, lane]]) * 26
            expected = (26 - points) / 3 - points if moon == 0 else (26.0 if moon == 1 else 52 / 3 - 26)
            assert own == pytest.approx(expected, abs=1e-4)


def test_outcomes_of_viersche_are_points_and_tricks() -> None:
    trainer = Trainer(tiny(game="viersche", steps=36, lanes=64))
    rollout = trainer.collectors[0].collect(trainer.network, trainer.generator, trainer.anchor)
    payoff, step = rollout.reward.sum(0), 20
    for lane in range(64):
        number = rollout.index[step, lane]
        if number >= 0:
            fives, tricks = rollout.outcome[number].tolist()
            own = 70 + float(payoff[lane, rollout.seat[step, lane]]) * 70
            assert round(own) // 5 == fives
            assert 0 <= tricks <= 9
            assert (tricks == 0) <= (own < 1)


def test_a_deal_that_goes_on_has_no_outcome_yet() -> None:
    trainer = Trainer(tiny(game="herzeln", steps=30, lanes=8))
    rollout = trainer.collectors[0].collect(trainer.network, trainer.generator, trainer.anchor)
    assert (rollout.outcome == UNKNOWN).all()
    rows = torch.arange(len(rollout.action))
    loss, _ = trainer.loss(objective.Losses(), rollout, trainer.prepare(rollout, rows), rows)
    assert torch.isfinite(loss)


def test_a_goal_pays_the_event_and_nothing_else() -> None:
    trainer = Trainer(tiny(game="herzeln", goal="points=0", lanes=64))
    rollout = trainer.collectors[0].collect(trainer.network, trainer.generator, trainer.anchor)
    assert set(np.unique(rollout.reward)) <= {0.0, 1.0}
    assert rollout.reward[:-1].sum() == 0
    for lane in range(64):
        for number, seat in zip(rollout.index[:, lane], rollout.seat[:, lane], strict=True):
            if number >= 0:
                assert (rollout.outcome[number, 0] == 0) == (rollout.reward[-1, lane, seat] == 1)


def renamed(game: Any, states: np.ndarray, by: int) -> np.ndarray:
    """The same deals of Viersche with the suits called otherwise: suit s becomes s ^ by, and colours stay together."""
    out = states.copy()
    cards = np.arange(36)
    new = (cards // 9 ^ by) * 9 + cards % 9

    def moved(sets: np.ndarray) -> np.ndarray:
        return sum((sets >> int(card) & 1) << int(new[card]) for card in cards)

    for name in ("hands", "played"):
        out[name] = moved(states[name])
    out["when"][:, new] = states["when"]
    for name in ("trick", "best", "turn_up"):
        out[name] = np.where(states[name] >= 0, new[np.maximum(states[name], 0)], states[name])
    out["trump"] = states["trump"] ^ by
    out["voids"] = sum((states["voids"] >> s & 1) << (s ^ by) for s in range(4))
    return out


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("by", [1, 2, 3])
def test_a_network_by_suits_plays_the_same_whatever_trumps_are_called(by: int, told: bool) -> None:
    batch = mid_game("viersche", 13, lanes=200)
    states = batch.states[batch.states["face_down"] < 0]
    seats = states["seat"].copy()
    network = ActorCritic(
        VIERSCHE, 4, Shape((16, 16), "suits", ("rules",), counting=told, infer=(8, 8) if told else ())
    )
    torch.nn.init.normal_(network.trunk.which)
    found = []
    for each in (states, renamed(VIERSCHE, states, by)):
        full = np.empty((len(each), VIERSCHE.encoding.state_size(4)), np.int8)
        VIERSCHE.lanes.observe_state(each, seats, full.reshape(-1), np.zeros(1, VIERSCHE.state))
        with torch.no_grad():
            logits, value, foretold, _ = network(torch.from_numpy(full))
        found.append((logits.numpy(), value.numpy(), foretold[1].numpy()))
    cards = np.arange(36)
    new = (cards // 9 ^ by) * 9 + cards % 9
    even = lengths_differ(states)
    assert even.sum() > 50
    np.testing.assert_allclose(found[0][0][even], found[1][0][even][:, new], atol=1e-5)
    np.testing.assert_allclose(found[0][1][even], found[1][1][even], atol=1e-5)
    np.testing.assert_allclose(found[0][2][even], found[1][2][even], atol=1e-5)


def lengths_differ(states: np.ndarray) -> np.ndarray:
    """Where the mover holds the two suits of the other colour in different numbers, so that their order is clear."""
    hands = states["hands"][np.arange(len(states)), states["seat"]]
    lengths = np.stack([[int(hand >> 9 * suit & 511).bit_count() for suit in range(4)] for hand in hands])
    rows, trump = np.arange(len(states)), states["trump"].astype(int)
    return lengths[rows, trump ^ 1] != lengths[rows, trump ^ 2]


@pytest.mark.parametrize("game", GAMES)
def test_an_agent_explains_its_choice(game: str, tmp_path: Path) -> None:
    trainer = Trainer(tiny(game=game, trunk="suits"))
    save_checkpoint(tmp_path / "agent", trainer.weights(), trainer.about())
    agent: Any = load_agent(f"ppo:{tmp_path / 'agent'}", game=game)
    batch = mid_game(game, 6)
    for lane in range(5):
        told = agent.explain(batch.views[lane])
        legal = batch.game.deck.names(int(batch.legal[lane]))
        assert list(told["probabilities"]) == legal
        for name in ("probabilities", *batch.game.encoding.forecasts(4)):
            assert sum(told[name].values()) == pytest.approx(1, abs=1e-5)
        assert abs(told["value"]) < 200


def test_lessons_note_what_was_asked_for() -> None:
    trainer = Trainer(tiny(game="viersche", steps=12))
    table = trainer.collectors[0]
    plain = table.collect(trainer.network, trainer.generator, trainer.anchor)
    assert len(plain.payoff) == 0
    assert (plain.label == plain.action).all()
    lesson = Lesson(load_agent("greedy", game="viersche"), "rules")
    noted = table.collect(trainer.network, trainer.generator, trainer.anchor, lesson)
    assert noted.payoff.shape == noted.mask.shape
    assert (noted.payoff[~noted.mask] == 0).all()
    assert noted.mask.gather(1, noted.label[:, None]).all()
    assert (noted.label != noted.action).any()


def test_learning_rates_fall_through_lessons_and_rewards() -> None:
    rates = {"lesson_learning_rate": 1e-3, "learning_rate": 1e-4, "final_learning_rate": 0.0}
    trainer = Trainer(tiny(improve=10_000, decisions=20_000, **rates))
    found = []
    for cards in (0, 5_000, 10_000, 15_000, 20_000):
        trainer.updates = cards / (trainer.config.lanes * trainer.config.steps)  # type: ignore[assignment]
        found.append(trainer.learning_rate())
    np.testing.assert_allclose(found, [1e-3, 5.5e-4, 1e-4, 5e-5, 0.0], atol=1e-12)


@pytest.mark.parametrize("game", ["herzeln", "viersche"])
def test_networks_read_the_suits_in_the_order_asked_for(game: str) -> None:
    """The kernel and the operations on tensors both read what the columns say, entry by entry."""
    from stich.agents.reading import Columns, Reader

    batch, generator = mid_game(game, 17), np.random.default_rng(3)
    columns = Columns(batch.game, 4, ("rules",))
    reader, rows = Reader(columns), torch.from_numpy(batch.observation.copy())
    order = np.stack([generator.permutation(4) for _ in range(len(rows))])
    highest = batch.game.encoding.highest(4)
    for given in (None, order):
        expected = np.empty((len(rows), len(columns.all)), np.float32)
        for n, row in enumerate(rows.numpy()):
            suits = [columns.suits[suit] for suit in (range(4) if given is None else given[n])]
            expected[n] = [row[column] / highest[column] for column in np.concatenate([*suits, columns.other])]
        asked = None if given is None else torch.from_numpy(given)
        for found in (reader.picked(rows, asked), reader.composed(rows, asked)):
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)
        suits_read, others = reader(rows, asked)
        assert suits_read.shape == (len(rows), 4, columns.suits.shape[1])
        assert others.shape == (len(rows), len(columns.other))


def test_suits_are_encoded_alike_in_herzeln() -> None:
    """Every by-card column belongs to the suit it stands for."""
    from stich.agents.reading import Columns

    columns = Columns(HERZELN, 4, ())
    layout = HERZELN.encoding.layout(4)
    assert sorted(columns.all.tolist()) == list(range(HERZELN.encoding.size(4)))
    for suit in range(4):
        hand = layout["hand"].start + np.arange(13 * suit, 13 * suit + 13)
        void = layout["voids"].start + suit + 4 * np.arange(4)
        assert set(hand) | set(void) <= set(columns.suits[suit].tolist())
