"""The study of the moon: pairs on one deal, models that tell chances, results that don't depend on interruptions."""

from __future__ import annotations

import json
from itertools import combinations
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from test_commands import run

from stich.agents import load_agent
from stich.agents.moon_features import FEATURES, column
from stich.agents.solver_moon import YES, moon
from stich.envs import HERZELN, DealError, OptionError
from stich.envs.cards import NO_SEAT
from stich.training.config import read_yaml
from stich.training.match import Stopwatch, play_match
from stich.training.moon_config import all_jobs, moon_config
from stich.training.moon_context import VARIANTS, ScoreValue
from stich.training.moon_forced import Tilted, symmetric
from stich.training.moon_hand import added, ask, checked_hand, parse_hand
from stich.training.moon_jobs import all_rows, run_jobs
from stich.training.moon_models import ADJUST, FIT, REPORT, break_even_of, calibrate, part_of, simple_chance
from stich.training.moon_play import DEALT, PASSED, break_even, dealt, play, watched_seats, with_hands
from stich.training.moon_policies import Shunning, Until
from stich.training.moon_report import exact_interval, moon_of, write_study

HEARTS = HERZELN.options("hearts", episode="deal")
PLAIN = HERZELN.options("herzeln", episode="deal")
SURE = "S AKQJ10 H AKQJ1098 C A"
HOPELESS = "C 3579 D 3579 S 357 H 24"
GOOD = "S AQ5 H AKQJ9 D K2 C A43"
SMALL: dict[str, Any] = {
    "settings": [
        {"name": "rules", "deals": 400, "chunk": 100},
        {"name": "duck", "opponents": "duck", "deals": 60, "promising": True},
        {"name": "ppo", "opponents": "ppo", "deals": 30, "promising": True},
        {"name": "trained", "seeker": "ppo", "deals": 40, "promising": True},
    ],
    "moment_deals": 160,
    "census_deals": 20,
    "solver_deals": 20,
    "strong_deals": 60,
    "hands": 40,
    "redeals": 4,
    "games": 20,
    "playouts": 10,
    "chunk": 80,
    "bootstrap": 100,
    "processes": 1,
}


def small(**keys: Any) -> Any:
    """A study that is over in no time."""
    return moon_config({**SMALL, **keys})


def go(policy: str, opponent: str = "rules", deals: int = 60, rules: Any = HEARTS, **options: Any) -> Any:
    """The same deals under a policy of `rules`."""
    agents = [load_agent("rules", aim=policy), load_agent(opponent)]
    states, seats = dealt(rules, 5, 0, deals), watched_seats(rules, 0, deals)
    return play(rules, states, seats, agents, 5, asking=Stopwatch(2), **options)


# ---------------------------------------------------------------------------------------------- pairing


def test_pairs_are_the_deals_of_matches() -> None:
    """What a match of the same seed, seat and agents brings, so does a pair."""
    found = go("free", "random")
    owners = np.ones((60, 1, 4), np.int64)
    owners[np.arange(60), 0, watched_seats(HEARTS, 0, 60)] = 0
    played = play_match(HERZELN, HEARTS, [load_agent("rules"), load_agent("random")], owners, seed=5, first_deal=0)
    assert found.cards == [games[0] for games in played.actions]
    np.testing.assert_allclose(found.payoff, played.payoff[np.arange(60), 0, watched_seats(HEARTS, 0, 60)])


def test_policies_meet_the_same_cards_and_the_same_draws() -> None:
    """Up to the first card that the watched seat plays otherwise, all cards are the same."""
    never, always = go("never", "random", 200, PLAIN), go("always", "random", 200, PLAIN)
    np.testing.assert_array_equal(never.features[:, DEALT], always.features[:, DEALT])
    states, seats = dealt(PLAIN, 5, 0, 200), watched_seats(PLAIN, 0, 200)
    for i, (a, b) in enumerate(zip(never.cards, always.cards, strict=True)):
        first = next((k for k in range(52) if a[k] != b[k]), None)
        if first is not None:
            assert int(states["hands"][i, seats[i]]) >> a[first] & 1, "others differ before the watched seat does"
    assert sum(a != b for a, b in zip(never.cards, always.cards, strict=True)) > 100


def test_all_seats_meet_all_directions() -> None:
    states = dealt(HEARTS, 1, 0, 16)
    seen = set(zip(watched_seats(HEARTS, 0, 16).tolist(), states["direction"].tolist(), strict=True))
    assert len(seen) == 16


def test_features_follow_the_deal() -> None:
    found = go("always", every_trick=True)
    size, possible = found.features[:, :, column("cards")], found.features[:, :, column("possible")]
    assert (size[:, DEALT] == 13).all()
    np.testing.assert_array_equal(size[:, PASSED:], np.tile(np.arange(13, 0, -1), (60, 1)))
    assert (np.diff(possible, axis=1) <= 0).all(), "a moon that is lost stays lost"
    assert (possible[found.moon] == 1).all()


def test_scores_are_counted_from_the_watched_seat() -> None:
    found = go("always")
    others = found.score[:, 1:].mean(1)
    np.testing.assert_allclose(found.payoff, others - found.score[:, 0], atol=1e-5)
    assert (found.score[found.moon] == [0, 26, 26, 26]).all()
    assert (moon_of(found.score)[found.moon] == 0).all()
    np.testing.assert_array_equal(moon_of(found.score) > 0, found.other_moon)


# ------------------------------------------------------------------------------------------ known hands


def around(hand: str, policy: str, deals: int = 200) -> Any:
    states, seats = dealt(PLAIN, 1, 0, deals), watched_seats(PLAIN, 0, deals)
    with_hands(PLAIN, states, seats, np.full(deals, parse_hand(hand)), 1)
    assert (states["hands"][np.arange(deals), seats] == parse_hand(hand)).all()
    assert (np.bitwise_or.reduce(states["hands"], axis=1) == (1 << 52) - 1).all()
    agents = [load_agent("rules", aim=policy), load_agent("rules")]
    return states, seats, play(PLAIN, states, seats, agents, 1, asking=Stopwatch(2))


def test_a_sure_and_a_hopeless_hand() -> None:
    states, seats, found = around(SURE, "always")
    assert (moon(states, seats).forced == YES).mean() > 0.9
    assert found.moon.mean() > 0.9
    assert around(HOPELESS, "always")[2].moon.mean() < 0.02


def test_the_answer_for_a_hand() -> None:
    sure, hopeless = ask(SURE, deals=120, seconds=60), ask(HOPELESS, deals=120, seconds=60)
    assert sure.chance[0] > 0.9 and sure.normal[0] > 20, "it can hardly be avoided"
    good = ask(GOOD, options={"preset": "hearts", "passing": "left"}, deals=200, seconds=60)
    assert good.verdict == "go" and good.gain[1] > 15 and good.break_even[2] < good.chance[1]
    assert hopeless.chance[2] < 0.1 and hopeless.verdict == "don't"
    assert sure.win_gain is None
    again = ask(HOPELESS, deals=120, seconds=60)
    assert again == hopeless, "the same question gets the same answer"


def test_the_score_counts() -> None:
    """Last and nearly lost, a failed attempt costs nothing; first and nearly won, everything."""
    last = ask(GOOD, scores="95,30,60,60", deals=200, seconds=60)
    first = ask(GOOD, scores="20,95,70,70", deals=200, seconds=60)
    assert last.win_break_even is not None and first.win_break_even is not None
    assert last.win_break_even[0] < 0.15 < first.win_break_even[0]
    assert last.gain == first.gain, "points are points"


def test_passing_is_part_of_the_question() -> None:
    found = ask(GOOD, options={"preset": "hearts"}, deals=200, seconds=60)
    assert set(found.by_direction) == {"none", "left", "across", "right"}
    assert found.by_direction["left"][0] > found.by_direction["none"][0] + 0.3


@pytest.mark.parametrize("moon_option", ["add", "subtract", "add_unless_loses"])
def test_variants_of_the_moon_come_to_one(moon_option: str) -> None:
    """Payoffs are the same however a moon is counted, and so are the points with it added to the others."""
    rules = HERZELN.options("herzeln", episode="deal", moon=moon_option)
    found, plain = go("always", rules=rules), go("always", rules=PLAIN)
    np.testing.assert_allclose(found.payoff, plain.payoff, atol=1e-5)
    score, shooter = added(found.score, found.moon | found.other_moon)
    np.testing.assert_array_equal(score, plain.score)
    np.testing.assert_array_equal(shooter, moon_of(plain.score))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("S AQ5 H AKQJ9 D K2 C A4", "the hand has 12 cards. Valid: 13 with 4 players"),
        ("S AQ5 H AKQJ9 D K2 C A44", "card C4 is named twice"),
        ("S AQ5 H AKQJ9 D K2 C A4Z", "'A4Z' of the hand is not valid"),
        ("AQ5 H AKQJ9 D K2 C A43", "'AQ5' of the hand is not valid"),
        ("", "the hand has 0 cards"),
    ],
)
def test_impossible_hands(text: str, message: str) -> None:
    with pytest.raises(DealError) as error:
        checked_hand(text, PLAIN)
    assert message in str(error.value)


def test_hands_are_read_in_many_ways() -> None:
    named = "SA SQ S5 HA HK HQ HJ H9 DK D2 CA C4 C3"
    assert parse_hand(GOOD) == parse_hand(named) == parse_hand("♠ AQ5 ♥ AKQJ9 ♦ K2 ♣ A43")
    assert parse_hand("H 109") == parse_hand("H T9") == parse_hand("H10 H9")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--hand", GOOD, "--table", "ruels"], "unknown herzeln agent 'ruels'. Did you mean 'rules'"),
        (["--hand", GOOD, "--scores", "40,62,71"], "3 scores given. Valid: 4, the own first"),
        (["--hand", GOOD, "--scores", "40,62,71,x"], "scores '40,62,71,x' are not valid"),
        (["--hand", GOOD, "--scores", "40,62,71,100"], "the game to 100 is already over"),
        (["--hand", GOOD, "--shooter", "duck"], "agent 'duck' takes no options, got aim"),
        (["--hand", GOOD, "players=3"], "the hand has 13 cards. Valid: 17 with 3 players"),
        (["--hand", GOOD, "--deals", "1"], "deals=1 is not valid"),
        (["--hand", "S A"], "the hand has 1 cards"),
        ([], "nothing to do. Valid: a config"),
        (["moon_smok"], "no config 'moon_smok'"),
        (["moon_smoke", "hand=3"], "unknown config key 'hand'. Did you mean 'hands'"),
        (["moon_smoke", "redeals=5"], "redeals=5 is not valid. Valid: an even number"),
        (["moon_smoke", "main=ruels"], "unknown setting 'ruels'. Did you mean 'rules'"),
        (["moon_smoke", "main=ppo"], "main='ppo' needs a setting with all hands"),
        (["moon_smoke", "settings=[{nam: x}]"], "setting {'nam': 'x'} is not valid"),
        (["moon_smoke", "settings=[{name: rules, sekker: rules}]"], "unknown key of a setting 'sekker'"),
        (["moon_smoke", "settings=[{name: rules, seeker: duck}]", "moments=[rules]"], "unknown seeker 'duck'"),
        (["moon_smoke", "ppo=nowhere.safetensors"], "no checkpoint at nowhere.safetensors"),
        (["moon_smoke", "settings=[{name: rules, opponents: dukc}]", "moments=[rules]"], "Did you mean 'duck'"),
    ],
)
def test_mistakes_get_one_line(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("moon", *words) == 2
    output = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert message in output
    assert "Traceback" not in output


def test_the_command_answers(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    words = ("--hand", GOOD, "passing=left", "--scores", "40,62,71,18", "--deals", "200", "--json", str(file))
    assert run("moon", *words) == 0
    assert "go for the moon" in capsys.readouterr().out
    answer = json.loads(file.read_text())
    assert answer["verdict"] == "go" and answer["chance"][1] <= answer["chance"][0] <= answer["chance"][2]
    assert run("moon", "--hand", SURE, "--deals", "20", "--json", str(file)) == 0
    assert json.loads(file.read_text())["failed"][0] is None, "no attempt has failed"


# ------------------------------------------------------------------------------------------------ parts


def test_break_even() -> None:
    assert break_even(0.0, -13.0) == pytest.approx(1 / 3)
    never, always = np.array([2.0, 2.0, 2.0, 2.0]), np.array([26.0, -10.0, -10.0, -10.0])
    found = break_even_of(never, always, always > 0, 100, 0)
    assert found["v0"] == 2 and found["f"] == -10 and found["success"] == 0.25 and found["cost"] == 12
    assert found["break_even"] == pytest.approx(12 / 36)
    assert found["gain"] == pytest.approx(-3)


def test_calibration_finds_what_is_wrong() -> None:
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.05, 0.95, 20_000)
    moon_made = rng.random(20_000) < chance
    right = calibrate(chance, moon_made)
    assert right.error < 0.02 and right.slope_low < 1 < right.slope_high
    odds = np.exp(2 * np.log(chance / (1 - chance)))
    bold = calibrate(odds / (1 + odds), moon_made)
    assert bold.error > 0.05 and bold.slope == pytest.approx(0.5, abs=0.05)
    assert bold.brier > right.brier


def test_models_learn_and_keep_parts_apart() -> None:
    rng = np.random.default_rng(1)
    features = np.zeros((8000, len(FEATURES)), np.float32)
    features[:, column("heart_losers")] = rng.integers(0, 6, 8000)
    chance = 1 / (1 + np.exp(features[:, column("heart_losers")] - 2))
    made, parts = rng.random(8000) < chance, part_of(np.arange(8000))
    assert [round(float((parts == part).mean()), 1) for part in (FIT, ADJUST, REPORT)] == [0.6, 0.2, 0.2]
    found = calibrate(simple_chance().fit(features, made, parts)(features[parts == REPORT]), made[parts == REPORT])
    assert found.error < 0.05 and 0.8 < found.slope < 1.2
    with pytest.raises(OptionError, match="too few to learn from"):
        simple_chance().fit(features, np.zeros(8000, bool), parts)


def test_exact_interval() -> None:
    assert exact_interval(0, 4_000_000)[1] == pytest.approx(3.69 / 4_000_000, rel=0.01)  # the rule of three, two-sided
    low, high = exact_interval(50, 100)
    assert low == pytest.approx(0.398, abs=0.001) and high == pytest.approx(0.602, abs=0.001)


def test_tilted_hands_have_their_exact_probability() -> None:
    """On a small deck all hands are listed: probabilities add up to 1, and weights give the uniform share back."""
    pool, size = np.array([0, 12, 25, 38, 30, 48, 51, 4]), 3
    tilted = Tilted(pool, size)
    hands = np.array([np.isin(np.arange(8), chosen) for chosen in combinations(range(8), size)])
    mixture = 1 / tilted.weights(hands) / comb(8, size)
    assert mixture.sum() == pytest.approx(1)
    drawn, weights = tilted.draw(20_000, np.random.default_rng(0))
    sets = (hands * (np.int64(1) << pool)).sum(1)
    seen = np.array([(drawn == each).mean() for each in sets])
    np.testing.assert_allclose(seen, mixture, atol=0.02)
    assert weights.mean() == pytest.approx(1, abs=0.05)
    ace = 1 << 51
    assert (weights * (drawn & ace > 0)).mean() == pytest.approx(3 / 8, abs=0.02)


def test_symmetric_polynomials() -> None:
    table = symmetric(np.array([2.0, 3.0, 5.0]), 2)
    assert table[0, 1] == 10 and table[0, 2] == 2 * 3 + 2 * 5 + 3 * 5


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_value_of_a_score(variant: str) -> None:
    points = np.array([[13, 5, 5, 3], [0, 26, 26, 26], [20, 2, 2, 2]])
    value = ScoreValue(points, np.array([NO_SEAT, 0, NO_SEAT]), variant, 200, 1)
    even = value(np.array([[0, 0, 0, 0], [90, 10, 10, 10], [10, 90, 90, 90]]))
    assert even[0] == pytest.approx(0.25)
    assert even[1] < 0.05 and even[2] > 0.9
    turned = value(np.array([[10, 90, 40, 40], [90, 40, 40, 10], [40, 40, 10, 90], [40, 10, 90, 40]]))
    assert turned.sum() == pytest.approx(1)


def test_a_moon_at_the_end_of_a_game() -> None:
    """The last one at 90 loses by adding to the leader's 0; subtracted, the game goes on."""
    points, seats = np.array([[7, 7, 6, 6]]), np.array([NO_SEAT])
    totals, score, shooter = np.array([90, 0, 80, 80]), np.array([[0, 26, 26, 26]]), np.array([0])
    shares = {v: float(ScoreValue(points, seats, v, 50, 1).after(totals, score, shooter)[0]) for v in VARIANTS}
    assert shares["add"] == 0
    totals = np.array([90, 85, 85, 85])
    shares = {v: float(ScoreValue(points, seats, v, 50, 1).after(totals, score, shooter)[0]) for v in VARIANTS}
    assert shares["add"] == shares["add_unless_loses"] == 1


def test_shunning_and_giving_up() -> None:
    """Who shuns the moon makes fewer; who gives up at the first trick plays as one who never tried."""
    always = load_agent("rules", aim="always")
    states, seats = dealt(PLAIN, 5, 0, 300), watched_seats(PLAIN, 0, 300)
    others = load_agent("duck")

    def moons(agent: Any) -> Any:
        return play(PLAIN, states, seats, [agent, others], 5, asking=Stopwatch(2))

    assert moons(Shunning(always)).moon.mean() < moons(always).moon.mean() / 2
    never = moons(load_agent("rules", aim="never"))
    assert moons(Until(always, load_agent("rules", aim="never"), 0)).cards == never.cards
    assert moons(Until(always, load_agent("rules", aim="never"), 13)).cards == moons(always).cards


# ------------------------------------------------------------------------------------------------ study


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small study, jobs and results."""
    folder = tmp_path_factory.mktemp("moon") / "done"
    run_jobs(small(), folder)
    write_study(small(), folder)
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    """All result files but the pictures, whose bytes may depend on fonts."""
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*")) if path.suffix in (".md", ".parquet")}


def test_a_study_has_its_files(done: Path) -> None:
    names = {path.name for path in done.glob("*")}
    tables = ("census", "pairs", "everyday", "forced", "calibration", "rules", "regret", "moments", "context", "deals")
    assert names >= {f"{name}.parquet" for name in tables} | {"pairs.png", "grid.png", "report.md", "config.yaml"}
    report = (done / "report.md").read_text()
    assert "Break-even probability" in report
    rows = pl.read_parquet(done / "pairs.parquet")
    assert rows["setting"].to_list() == ["rules", "duck"]  # the others have too few promising hands
    assert (rows["gain_low"] <= rows["gain"]).all() and (rows["gain"] <= rows["gain_high"]).all()
    deals = pl.read_parquet(done / "deals.parquet").filter(pl.col("setting") == "rules")
    assert len(deals) == 400 and deals["deal"].n_unique() == 400


def test_resumed_is_uninterrupted(done: Path, tmp_path: Path) -> None:
    """Interrupted after some jobs, with a damaged part, on two processes: the same bytes."""
    folder = tmp_path / "again"

    class Enough(Exception):
        pass

    def stop(finished: int, total: int) -> None:
        if finished == 3:
            raise Enough

    with pytest.raises(Enough):
        run_jobs(small(), folder, progress=stop)
    parts = sorted((folder / "parts").glob("*.parquet"))
    assert len(parts) == 3
    parts[0].write_bytes(b"damaged")
    run_jobs(small(processes=2), folder, resume=True)
    write_study(small(), folder)
    assert contents(folder) == contents(done)


def test_folders_are_kept_apart(done: Path) -> None:
    with pytest.raises(OptionError, match=r"already holds this study. Valid: --resume"):
        run_jobs(small(), done)
    with pytest.raises(OptionError, match="another config: games differ"):
        run_jobs(small(games=30), done, resume=True)
    with pytest.raises(OptionError, match="holds no study to resume"):
        run_jobs(small(), done / "nothing", resume=True)
    with pytest.raises(OptionError, match=r"lacks the part"):
        all_rows(small(), done / "nowhere", "pairs")


def test_jobs_cover_all_deals() -> None:
    jobs = all_jobs(small())
    assert len({job.name for job in jobs}) == len(jobs)
    for kind, place, total in (
        ("pairs", 0, 400),
        ("pairs", 1, 60),
        ("pairs", 3, 40),
        ("strong", 0, 60),
        ("census", 4, 20),
    ):
        assert sum(job.count for job in jobs if (job.kind, job.place) == (kind, place)) == total


@pytest.mark.parametrize("name", ["moon_smoke", "moon_laptop", "moon_full"])
def test_shipped_configs_are_valid(name: str) -> None:
    config = moon_config(read_yaml(Path(__file__).parent.parent / "configs" / f"{name}.yaml"))
    assert all_jobs(config)
    if name != "moon_smoke":
        assert config.solver_deals >= 1_000_000
