"""Every wrong option is refused by one sentence that names it and what is valid."""

from __future__ import annotations

import dataclasses
import random
import typing
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np
import pytest
from helpers import MODULES, label, many, random_options, values_of

from stich.envs import OptionError, make_batch
from stich.envs.game import GAMES, get_game, with_episode
from stich.envs.options import build, choices

every_game = pytest.mark.parametrize("game", GAMES)


def faces(game: str) -> list[Callable[..., Any]]:
    """All ways to make an environment of a game."""
    return [
        MODULES[game].env,
        MODULES[game].raw_env,
        lambda **named: make_batch(game, 2, **named),
        lambda **named: gymnasium.make(f"stich/{game.capitalize()}-v0", opponents="random", **named),
        lambda **named: gymnasium.make_vec(f"stich/{game.capitalize()}-v0", 2, opponents="random", **named),
    ]


def refused(game: str, message: str, **named: Any) -> None:
    """Every face refuses, with the same words in its message."""
    for make in faces(game):
        with pytest.raises(OptionError, match=message):
            make(**named)


@every_game
def test_unknown_names(game: str) -> None:
    preset = next(iter(GAMES[game].presets))
    refused(game, rf"unknown preset '{preset[:-1]}'\. Did you mean '{preset}'\? Valid: ", preset=preset[:-1])
    refused(game, r"unknown option 'episod'\. Did you mean 'episode'\? Valid: .*target", episod="deal")
    refused(game, r"unknown reward 'payof'\. Did you mean 'payoff'\? Valid: payoff, points, result", reward="payof")
    refused(game, r"unknown illegal 'raises'\. Did you mean 'raise'\?", illegal="raises")
    refused(game, r"unknown preset ''", preset="")
    refused(game, r"unknown preset 4", preset=4)
    refused(game, r"unknown reward None", reward=None)
    refused(game, r"unknown illegal \['raise'\]", illegal=["raise"])


@every_game
def test_unknown_render_mode(game: str) -> None:
    message = r"unknown render_mode 'anse'\. Did you mean 'ansi'\? Valid: ansi, human, rgb_array"
    for make in faces(game)[:2]:
        with pytest.raises(OptionError, match=message):
            make(render_mode="anse")


@every_game
def test_wrong_parts_of_a_batch(game: str) -> None:
    with pytest.raises(OptionError, match=r"unknown autoreset 'same-step'\. Did you mean 'same_step'\?"):
        make_batch(game, 2, autoreset="same-step")
    for lanes in (0, -1, 2.0, "2", True, None):
        with pytest.raises(OptionError, match=rf"lanes={lanes!r}.*positive whole number"):
            make_batch(game, lanes)  # type: ignore[arg-type]
    for seed in (-1, 2**64, 1.0, "1", True, None):
        with pytest.raises(OptionError, match=f"seed={seed!r}"):
            make_batch(game, 2, seed=seed)  # type: ignore[arg-type]
    assert make_batch(game, np.int64(2), seed=np.uint64(2**64 - 1)).lanes == 2


@every_game
@pytest.mark.parametrize("price", ["-3", True, float("nan"), float("inf"), [1]], ids=str)
def test_illegal_reward_is_a_number(game: str, price: Any) -> None:
    refused(game, "illegal_reward=.* is not valid", illegal_reward=price)


@every_game
def test_unknown_game(game: str) -> None:
    near = game[:-2] + "x"
    for wrong in (near, near.upper(), None, [game], ""):
        with pytest.raises(OptionError, match=f"unknown game .*Valid: .*{game}"):
            make_batch(wrong)  # type: ignore[arg-type]
    assert get_game(GAMES[game]) is GAMES[game]


def wrong_values(game: str, name: str) -> list[Any]:
    """Values of wrong types, and texts and numbers that are none of the valid ones."""
    hint = typing.get_type_hints(GAMES[game].options_class)[name]
    found: list[Any] = [None, 2.5, [], {}, "", "nonsense", -7, object]
    if hint is bool:
        return [*found, 0, 1, "True"]
    return [*found, True, "4"] if hint is int or 4 in values_of(GAMES[game], name) else [*found, 0, True, "none?"]


@every_game
def test_wrong_value_of_every_option(game: str) -> None:
    for field in dataclasses.fields(GAMES[game].options_class):
        for value in wrong_values(game, field.name):
            with pytest.raises(OptionError, match=rf"option {field.name}=.*Valid: "):
                MODULES[game].raw_env(**{field.name: value})


@every_game
def test_message_lists_the_values(game: str) -> None:
    cls = GAMES[game].options_class
    for field in dataclasses.fields(cls):
        if values := choices(cls, field.name):
            with pytest.raises(OptionError) as error:
                MODULES[game].raw_env(**{field.name: "nonsense"})
            assert all(repr(value) in str(error.value) for value in values)


@every_game
def test_any_scalar_of_numpy_is_taken(game: str) -> None:
    for kind in (np.int8, np.int64, np.array):
        assert MODULES[game].raw_env(players=kind(4), target=kind(100)).options.target == 100
    boolean = "no_trick_bonus" if game == "herzeln" else "jack_exempt"
    assert getattr(MODULES[game].raw_env(**{boolean: np.True_}).options, boolean) is True


CONTRADICTIONS = [
    ("herzeln", {"players": 3, "passing": "across"}, "passing='across'.*players=3.*left, right"),
    ("herzeln", {"players": 2, "passing": "left"}, "passing='left'.*players=2.*none"),
    ("herzeln", {"players": 2, "passing": "across"}, "passing='across'.*players=2"),
    ("herzeln", {"players": 4, "three_players": "kitty"}, "three_players='kitty' needs players=3, not 4"),
    ("herzeln", {"players": 2, "three_players": "drop_club_two"}, "three_players='drop_club_two' needs players=3"),
    ("herzeln", {"two_players": "half"}, "two_players='half' needs players=2, not 4"),
    ("herzeln", {"players": 3, "two_players": "half"}, "two_players='half' needs players=2, not 3"),
    ("herzeln", {"target": 0}, "target=0.*positive"),
    ("herzeln", {"target": 1_000_000_001}, "target=1000000001.*at most"),
    ("herzeln", {"players": 5}, "players=5.*4, 2, 3"),
    ("herzeln", {"episode": "round"}, "episode='round'.*'game', 'deal'"),
    ("viersche", {"target": 70}, "target=70.*71 to 140"),
    ("viersche", {"target": 141}, "target=141.*71 to 140"),
    ("viersche", {"rungs": 0}, "rungs=0.*1 to 100"),
    ("viersche", {"sweep_rungs": 0}, "sweep_rungs=0"),
    ("viersche", {"shutout_marks": 101}, "shutout_marks=101"),
    ("viersche", {"marks": -1}, "marks=-1"),
    ("viersche", {"players": 3}, "players=3.*4"),
    ("viersche", {"passing": "left"}, "unknown option 'passing'"),
    ("viersche", {"trump": "c"}, "trump='c'.*'C'"),
]


@pytest.mark.parametrize(("game", "options", "message"), CONTRADICTIONS, ids=label)
def test_contradictions(game: str, options: dict[str, Any], message: str) -> None:
    refused(game, message, **options)


@every_game
def test_presets_are_defaults(game: str) -> None:
    for preset, values in GAMES[game].presets.items():
        options = GAMES[game].options(preset)
        assert all(getattr(options, name) == value for name, value in values.items())
        assert GAMES[game].options(preset, episode="deal").episode == "deal"
    assert GAMES[game].options() == GAMES[game].options(next(iter(GAMES[game].presets))) == GAMES[game].options_class()


def test_an_option_wins_over_the_preset() -> None:
    options = GAMES["herzeln"].options("openspiel", passing="left", first_dealer="random")
    assert (options.passing, options.first_dealer, options.queen_breaks_hearts) == ("left", "random", True)


@every_game
def test_options_are_frozen_values(game: str) -> None:
    options = GAMES[game].options()
    with pytest.raises(dataclasses.FrozenInstanceError):
        options.target = 90
    assert with_episode(options, "deal") == GAMES[game].options(episode="deal")
    assert hash(options) == hash(GAMES[game].options())


@every_game
def test_options_survive_a_round_trip(game: str) -> None:
    rng = random.Random(1)
    for _ in range(many(100, 2000)):
        options = GAMES[game].options(**random_options(GAMES[game], rng))
        assert build(GAMES[game].options_class, dataclasses.asdict(options)) == options


@every_game
def test_every_option_has_its_own_rule_bits(game: str) -> None:
    """Two values of an option are told apart by the observation, if not by every step of a number."""
    cls, size = GAMES[game].options_class, GAMES[game].encoding.layout(4)["rules"]
    seen = {GAMES[game].rule_bits(GAMES[game].options())}
    for field in dataclasses.fields(cls):
        for value in choices(cls, field.name) or values_of(GAMES[game], field.name):
            if (
                field.name == "players"
                or value == field.default
                or (isinstance(value, int) and not isinstance(value, bool))
            ):
                continue
            fitting = {"three_players": {"players": 3}, "two_players": {"players": 2}}.get(field.name, {})
            bits = GAMES[game].rule_bits(GAMES[game].options(**{field.name: value}, **fitting))
            assert bits not in seen, f"{field.name}={value!r}"
            assert bits < 1 << (size.stop - size.start)
            seen.add(bits)
