"""The rules kernels against the slow referees, card by card, over random options, deals and cards.

Whole deals, rounds, games and sessions with every option of RULES.md; ten times as many with STICH_NIGHTLY=1. What
is compared stands in agreement.py, what our views and rewards have to be in agreement_herzeln.py and
agreement_viersche.py. The last tests show that a rule in which the two sides differ is noticed.
"""

from __future__ import annotations

import dataclasses
import os
import random
import typing
from collections import Counter
from collections.abc import Iterable, Iterator

import pytest
from agreement import Fields, Match, everywhere, open_match, play_match
from agreement_herzeln import HerzelnSide
from agreement_herzeln import random_opening as herzeln_opening
from agreement_herzeln import random_options as herzeln_options
from agreement_viersche import VierscheSide
from agreement_viersche import random_opening as viersche_opening
from agreement_viersche import random_options as viersche_options

from stich.envs.game import get_game

SCALE = 10 if os.environ.get("STICH_NIGHTLY") == "1" else 1
LANES, EPISODES = 4, 2  # an option set is played in so many lanes, each lane so many episodes one after the other
HERZELN, VIERSCHE = HerzelnSide(), VierscheSide()
HERZELN_GROUPS = [(players, episode) for players in (2, 3, 4) for episode in ("deal", "game")]
HERZELN_SETS = {"deal": 20, "game": 7}
VIERSCHE_SETS = {"deal": 32, "round": 24, "game": 8, "session": 3}
STYLES = (("any",) * 4, ("high", "low", "low", "low"), ("low", "low", "high", "low"), ("any", "high", "any", "high"))


def herzeln_match(luck: random.Random, options: Fields, ours: Fields | None = None) -> Match:
    """A match of Herzeln whose lanes begin as `luck` has it."""
    openings = [herzeln_opening(luck, options) for _ in range(LANES)]
    return open_match(HERZELN, options, luck.getrandbits(40), openings, styles(luck), ours)


def viersche_match(luck: random.Random, options: Fields, ours: Fields | None = None) -> Match:
    """A match of Viersche whose lanes begin as `luck` has it."""
    openings = [viersche_opening(luck, options) for _ in range(LANES)]
    return open_match(VIERSCHE, options, luck.getrandbits(40), openings, styles(luck), ours)


def styles(luck: random.Random) -> list[list[str]]:
    """How the seats of each lane play: half of the lanes uniformly random."""
    return [list(luck.choice((STYLES[0], *STYLES[lane % 2 :]))) for lane in range(LANES)]


def herzeln_sets(players: int, episode: str, count: int) -> Iterator[tuple[random.Random, Fields]]:
    """Option sets of one number of players and one episode, always the same ones."""
    for number in range(count):
        luck = random.Random(f"herzeln {players} {episode} {number}")
        yield luck, herzeln_options(luck, players, episode)


def viersche_sets(episode: str, count: int) -> Iterator[tuple[random.Random, Fields]]:
    """Option sets of one episode, always the same ones."""
    for number in range(count):
        luck = random.Random(f"viersche {episode} {number}")
        yield luck, viersche_options(luck, episode)


def check_seen(seen: Counter[str], *events: str) -> None:
    """All of these have come up, so that they have been compared."""
    print(dict(seen))  # shown with -s: what has been compared
    assert not [event for event in events if not seen[event]], seen


# ------------------------------------------------------------------------------------------------- Herzeln


@pytest.mark.parametrize(("players", "episode"), HERZELN_GROUPS)
def test_herzeln(players: int, episode: str) -> None:
    """Random options of every kind, with deals, standings, moons and play-offs."""
    seen: Counter[str] = Counter()
    for luck, options in herzeln_sets(players, episode, SCALE * HERZELN_SETS[episode]):
        seen += play_match(herzeln_match(luck, options), EPISODES)
    check_seen(seen, "moon", "no trick")
    check_seen(seen, *(["passed"] if players > 2 else []), *(["kitty counts"] if players == 3 else []))
    check_seen(seen, *(["moon subtracted", "later deal", "play-off"] if episode == "game" else []))


@pytest.mark.parametrize("players", [2, 3, 4])
def test_herzeln_to_100(players: int) -> None:
    """Whole games to 100, from the first deal on."""
    seen: Counter[str] = Counter()
    for number in range(SCALE):
        luck = random.Random(f"herzeln to 100 {players} {number}")
        options = herzeln_options(luck, players, "game", target=100)
        seen += play_match(open_match(HERZELN, options, number, [{}] * LANES, styles(luck)), 1)
    check_seen(seen, "game to 100", "later deal")


# ------------------------------------------------------------------------------------------------ Viersche


@pytest.mark.parametrize("episode", VIERSCHE_SETS)
def test_viersche(episode: str) -> None:
    """Random options of every kind, with deals, standings, sweeps and hidden cards."""
    seen: Counter[str] = Counter()
    for luck, options in viersche_sets(episode, SCALE * VIERSCHE_SETS[episode]):
        seen += play_match(viersche_match(luck, options), EPISODES)
    check_seen(seen, "face down", "face down never shown", "sweep", "carried", "second deal", "stopped early")
    check_seen(seen, *(["game won", "shutout", "bare seat"] if episode in ("game", "session") else []))
    check_seen(seen, *(["game after game", "surplus rung"] if episode == "session" else []))


def test_viersche_sessions() -> None:
    """Whole sessions by the rules of the article, from the first deal on."""
    seen: Counter[str] = Counter()
    for number in range(SCALE):
        luck = random.Random(f"viersche sessions {number}")
        options = {"episode": "session"}
        seen += play_match(open_match(VIERSCHE, options, number, [{}] * LANES, styles(luck)), 1)
    check_seen(seen, "session lost", "game after game", "second deal", "face down")


def test_old_man_stays_home() -> None:
    """A bare Old Man that is kept back, and what the others may conclude."""
    seen: Counter[str] = Counter()
    for number in range(16 * SCALE):
        luck = random.Random(f"viersche jack {number}")
        options = viersche_options(luck, "deal") | {"jack_exempt": True}
        seen += play_match(viersche_match(luck, options), EPISODES)
    check_seen(seen, "bare seat", "Old Man kept back")


# -------------------------------------------------------------------------- that nothing has been left out


def values(sets: Iterable[tuple[random.Random, Fields]]) -> dict[str, set[object]]:
    """All values that each option has in some of the sets."""
    found: dict[str, set[object]] = {}
    for _, options in sets:
        for name, value in options.items():
            found.setdefault(name, set()).add(value)
    return found


def test_every_herzeln_option() -> None:
    """Every value of every option is played, and no option is forgotten."""
    groups = [herzeln_sets(players, episode, HERZELN_SETS[episode]) for players, episode in HERZELN_GROUPS]
    found = values(one for group in groups for one in group)
    check_values("herzeln", found)


def test_every_viersche_option() -> None:
    """Every value of every option is played, and no option is forgotten."""
    found = values(one for episode, count in VIERSCHE_SETS.items() for one in viersche_sets(episode, count))
    check_values("viersche", found | {"players": {4}})


def check_values(game: str, found: dict[str, set[object]]) -> None:
    """The options of the game are those found; of those that are no number, every value."""
    fields = dataclasses.fields(get_game(game).options_class)
    assert {field.name for field in fields} == set(found)
    for field in fields:
        choices = literal_values(game, field.name)
        assert len(found[field.name]) > 2 if choices is None else found[field.name] == choices, field.name


@pytest.mark.parametrize("side", [HERZELN, VIERSCHE], ids=lambda side: side.name)
def test_every_field_is_compared(side: HerzelnSide | VierscheSide) -> None:
    """What views hold is compared field by field, but the options: these stay as they were written at first."""
    game = get_game(side.name)
    luck, options = next(herzeln_sets(3, "game", 1) if side is HERZELN else viersche_sets("game", 1))
    match = open_match(side, options, 0, [{}] * LANES, styles(luck))
    play_match(match, 1)
    table, knows = match.tables[0], match.tables[0].referee.knows(0)
    compared = {"observer", *everywhere(table), *side.common(table, options, knows), *side.own(table, 0, knows)}
    states = match.batches[0].states
    written = game.new_states(game.options(**options), 0, states["lane"], 0)
    for name in set(game.state.names or ()) - compared:
        assert (states[name] == written[name]).all(), name


def literal_values(game: str, name: str) -> set[object] | None:
    """The values that an option takes; None for a number."""
    hint = typing.get_type_hints(get_game(game).options_class)[name]
    return {False, True} if hint is bool else None if hint is int else set(typing.get_args(hint))


# ------------------------------------------------------------------------------ that it would be noticed

# Options of both sides, and what our side has otherwise.
HERZELN_CHANGES: list[tuple[Fields, Fields]] = [
    ({}, {"first_lead": "any_club"}),
    ({}, {"first_lead": "left_of_dealer"}),
    ({}, {"points_in_first_trick": True}),
    ({}, {"must_break_hearts": False}),
    ({}, {"queen_breaks_hearts": True}),
    ({}, {"hearts_instead_of_queen": True}),
    ({}, {"passing": "cycle"}),
    ({"passing": "cycle"}, {"passing": "random"}),
    ({"players": 2}, {"moon": "subtract"}),
    ({"target": 20}, {"moon": "add_unless_loses"}),
    ({"moon": "subtract"}, {"moon": "add_unless_loses"}),
    ({}, {"jack_of_diamonds": True}),
    ({}, {"no_trick_bonus": True}),
    ({"target": 30}, {"target": 40}),
    ({"target": 10}, {"tie": "extra_deals"}),
    ({"first_dealer": "last"}, {"first_dealer": "random"}),
    ({"episode": "deal"}, {"episode": "game"}),
]
VIERSCHE_CHANGES: list[tuple[Fields, Fields]] = [
    ({}, {"reveal_face_down": "never"}),
    ({}, {"jack_exempt": True}),
    ({}, {"target": 101}),
    ({}, {"rungs": 5}),
    ({}, {"sweep_rungs": 1}),
    ({"episode": "game"}, {"shutout_marks": 1}),
    ({}, {"marks": 5}),
    ({"episode": "game"}, {"episode": "round"}),
]
MATCHES = 40  # enough that every rule matters in some


@pytest.mark.parametrize(("options", "change"), HERZELN_CHANGES, ids=str)
def test_another_herzeln_rule_is_noticed(options: Fields, change: Fields) -> None:
    """Our side plays by one other rule: some comparison fails."""
    both = {"players": 4, "episode": "game", "target": 60, "passing": "none", "tie": "share", "first_dealer": "random"}
    with pytest.raises(AssertionError, match=r"herzeln:|dealer|direction"):
        play_all(herzeln_match(random.Random(number), both | options, change) for number in range(MATCHES))


@pytest.mark.parametrize(("options", "change"), VIERSCHE_CHANGES, ids=str)
def test_another_viersche_rule_is_noticed(options: Fields, change: Fields) -> None:
    """Our side plays by one other rule: some comparison fails."""
    both = {"episode": "session", "target": 100, "rungs": 4, "marks": 4}
    with pytest.raises(AssertionError, match="viersche:"):
        play_all(viersche_match(random.Random(number), both | options, change) for number in range(MATCHES))


def play_all(matches: Iterable[Match]) -> None:
    """Play one episode in every lane of these matches."""
    for match in matches:
        play_match(match, 1)


@pytest.mark.parametrize("change", [{"trump": "random"}, {"trump": "H"}], ids=str)
def test_another_trump_is_noticed(change: Fields) -> None:
    """The referee refuses a deal without the card turned up."""
    with pytest.raises(ValueError, match="a card is turned up exactly"):
        open_match(VIERSCHE, {"episode": "deal"}, 0, [{}], styles(random.Random(0)), change)


@pytest.mark.parametrize(
    ("players", "change", "message"),
    [
        (3, {"three_players": "drop_club_two"}, "not in the deck"),
        (3, {"three_players": "kitty"}, "a kitty exactly"),
        (2, {"two_players": "half"}, "2 hands of 26"),
    ],
)
def test_another_deck_is_noticed(players: int, change: Fields, message: str) -> None:
    """The referee refuses hands that can't have been dealt."""
    options = {"players": players, "episode": "deal", "passing": "none", "first_dealer": "random"}
    with pytest.raises(ValueError, match=message):
        open_match(HERZELN, options, 0, [{}] * LANES, styles(random.Random(0)), change)
