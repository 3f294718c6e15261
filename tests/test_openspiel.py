"""OpenSpiel's `hearts` as the referee of Herzeln: the same deal and actions, the same seats, cards and returns.

Every setting of OpenSpiel's eight parameters is played in lockstep with one batch: 2,000 games in all, 20,000 with
STICH_NIGHTLY=1. OpenSpiel goes through its chance nodes (direction, then card after card) and is told what to do;
ours is given the same deal. Half of the games are uniformly random; in the other half suits stick together and
seats play high or low, so that moons, hands without a trick and hands of penalty cards only come up.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any

import numpy as np
import pyspiel
import pytest

from stich.agents import load_agent
from stich.agents.openspiel import ACTIONS, CARDS, DIRECTIONS, AgentBot, options_from, state_of, view_of
from stich.envs.batch import Batch, make_batch
from stich.envs.cards import HEARTS, HERZELN_DECK, NO_CARD, NO_SEAT, SUITS
from stich.envs.errors import OptionError
from stich.envs.game import get_game
from stich.training.evaluate import evaluate

Parameters = dict[str, bool]
Choose = Callable[[int, list[int]], int]

GAMES = 20_000 if os.environ.get("STICH_NIGHTLY") == "1" else 2_000
NAMES = (
    "pass_cards",
    "no_pts_on_first_trick",
    "can_lead_any_club",
    "jd_bonus",
    "avoid_all_tricks_bonus",
    "must_break_hearts",
    "qs_breaks_hearts",
    "can_lead_hearts_instead_of_qs",
)
SETTINGS: list[Parameters] = [dict(zip(NAMES, values, strict=True)) for values in product((False, True), repeat=8)]
GAMES_EACH = -(-GAMES // len(SETTINGS))
SEATS, HAND = 4, 13
SAMPLE = 160  # games of one setting in which every rule comes to matter
OFFSET = 26  # OpenSpiel returns 26 - points; its bonuses lower the points, as ours do, so the offset stays 26


DEFAULTS: Parameters = pyspiel.load_game("hearts").get_parameters()
WHOLE_SUITS = "/".join(" ".join(suit + rank for rank in HERZELN_DECK.ranks) for suit in SUITS)


def setting_id(parameters: Parameters) -> str:
    """The parameters that are on."""
    return "+".join(name for name in NAMES if parameters[name]) or "all_off"


# ------------------------------------------------------------------------------------------------- games


@dataclass(frozen=True)
class Game:
    """One game to be played by both sides.

    Attributes:
        direction: OpenSpiel's name of the pass direction.
        hands: Our cards by seat, [4, 13].
        choose: `choose(seat, legal)`: the next of OpenSpiel's actions; `legal` ascends by rank.
    """

    direction: str
    hands: np.ndarray
    choose: Choose


def random_hands(rng: np.random.Generator, pull: float) -> np.ndarray:
    """Hands [4, 13]: uniformly random without a pull; the stronger it is, the longer the suits (SQ as a heart)."""
    suits = np.arange(HERZELN_DECK.size) // HAND
    suits[HERZELN_DECK.parse("SQ")] = HEARTS
    place = rng.random(HERZELN_DECK.size) + pull * rng.permutation(SEATS)[suits]
    return np.argsort(place).reshape(SEATS, HAND)


def random_choice(rng: np.random.Generator, styles: np.ndarray) -> Choose:
    """Each seat takes the lowest (0) or the highest rank (1) or any legal action (2), by its style."""
    luck = iter(rng.random(64).tolist())

    def choose(seat: int, legal: list[int]) -> int:
        where = (0, -1, int(next(luck) * len(legal)))[styles[seat]]
        return legal[where]

    return choose


def random_game(parameters: Parameters, number: int) -> Game:
    """A game of this setting, the same whenever it is asked for; all directions take turns."""
    rng = np.random.default_rng([SETTINGS.index(parameters), number])
    directions = list(DIRECTIONS) if parameters["pass_cards"] else ["No Pass"]
    direction = directions[number % len(directions)]
    if number // len(DIRECTIONS) % 2:
        return Game(direction, random_hands(rng, rng.random()), random_choice(rng, rng.integers(3, size=SEATS)))
    return Game(direction, random_hands(rng, 0), random_choice(rng, np.full(SEATS, 2)))


def scripted_game(direction: str, starts: Sequence[str], script: str) -> Game:
    """Hands that begin as told, the other cards following in order, and actions by name; then the first legal one."""
    named = [[HERZELN_DECK.parse(name) for name in start.split()] for start in starts]
    rest = (card for card in range(HERZELN_DECK.size) if not any(card in hand for hand in named))
    hands = np.array([[*hand, *islice(rest, HAND - len(hand))] for hand in named])
    cards = iter([HERZELN_DECK.parse(name) for name in script.split()])

    def choose(seat: int, legal: list[int]) -> int:
        card = next(cards, None)
        return legal[0] if card is None else int(ACTIONS[card])

    return Game(direction, hands, choose)


# ---------------------------------------------------------------------------------------------- referee


def open_spiel(parameters: Parameters, game: Game) -> Any:
    """OpenSpiel's state after its chance nodes: the direction, then one card to each seat in turn.

    The directions are the root's legal actions: without passing that is "No Pass" alone, while
    `chance_outcomes()` goes on to list all four.
    """
    state = pyspiel.load_game("hearts", parameters).new_initial_state()
    state.apply_action({state.action_to_string(action): action for action in state.legal_actions()}[game.direction])
    for card in game.hands.T.ravel():
        state.apply_action(int(ACTIONS[card]))
    return state


def our_batch(parameters: Parameters, games: Sequence[Game]) -> Batch:
    """The same deals, one a lane."""
    deals = [{"hands": game.hands.tolist(), "direction": DIRECTIONS[game.direction]} for game in games]
    return make_batch(
        "herzeln",
        lanes=len(games),
        preset="openspiel",
        deals=deals,
        autoreset="disabled",
        illegal="raise",
        **options_from(parameters),
    )


def compare(parameters: Parameters, batch: Batch, states: Sequence[Any], legals: Sequence[list[int]]) -> None:
    """The seat to move and its legal cards are the same in every lane; no cards where the game is over."""
    masks = np.zeros_like(batch.action_mask)
    for lane, legal in enumerate(legals):
        masks[lane, CARDS[legal]] = 1
    over = np.array([state.is_terminal() for state in states])
    seats = np.array([state.current_player() for state in states])
    wrong = (over == batch.running) | ((seats != batch.seat) & ~over) | (masks != batch.action_mask).any(1)
    if wrong.any():
        lane = int(wrong.argmax())
        theirs, ours = names(masks[lane]), names(batch.action_mask[lane])
        raise AssertionError(
            f"{setting_id(parameters)}, lane {lane}: OpenSpiel has seat {seats[lane]} to move, legal {theirs}; "
            f"we have seat {batch.seat[lane]}, legal {ours}\n{states[lane]}\nhistory {states[lane].history()}"
        )


def names(mask: np.ndarray) -> list[str]:
    """The names of the cards in a mask [52]."""
    return [HERZELN_DECK.name(int(card)) for card in np.flatnonzero(mask)]


@dataclass(frozen=True)
class Result:
    """How the games ended.

    Attributes:
        rewards: f32[N, 4], ours, summed over each game.
        moon: bool[N], somebody shot the moon.
        without_trick: int[N], seats that took no trick.
    """

    rewards: np.ndarray
    moon: np.ndarray
    without_trick: np.ndarray


def referee(parameters: Parameters, games: Sequence[Game], ours: Parameters | None = None) -> Result:
    """Play the games on both sides at once; seats and legal cards are compared throughout, the returns at the end.

    `ours` lets our side play by other parameters.
    """
    batch = our_batch(ours or parameters, games)
    states = [open_spiel(parameters, game) for game in games]
    rewards = np.zeros((len(games), SEATS), np.float32)
    while True:
        legals = [state.legal_actions() for state in states]
        compare(parameters, batch, states, legals)
        if not batch.running.any():
            break
        actions = np.full(len(games), NO_CARD)
        for lane, legal in enumerate(legals):
            if legal:
                action = games[lane].choose(states[lane].current_player(), legal)
                actions[lane] = CARDS[action]
                states[lane].apply_action(action)
        rewards += batch.step(actions).reward
    returns = np.array([state.returns() for state in states])
    wrong = (returns != OFFSET + rewards).any(1)
    if wrong.any():
        lane = int(wrong.argmax())
        raise AssertionError(
            f"{setting_id(parameters)}, lane {lane}: OpenSpiel returns {returns[lane]}, "
            f"our rewards are {rewards[lane]}\n{states[lane]}\nhistory {states[lane].history()}"
        )
    return Result(rewards, batch.states["moon_seat"] != NO_SEAT, (batch.states["tricks"] == 0).sum(1))


@pytest.mark.parametrize("parameters", SETTINGS, ids=setting_id)
def test_random_games(parameters: Parameters) -> None:
    """The same seats to move, legal cards and returns in every setting, from the deal to the end."""
    referee(parameters, [random_game(parameters, number) for number in range(GAMES_EACH)])


# ----------------------------------------------------------------------------- that it would be noticed


def sample(parameters: Parameters) -> list[Game]:
    """Enough games of one setting that every rule matters in some."""
    return [random_game(parameters, number) for number in range(SAMPLE)]


def test_settings_are_complete() -> None:
    """Every parameter that OpenSpiel knows is there, and its defaults are the preset's."""
    assert sorted(DEFAULTS) == sorted(NAMES)
    game = get_game("herzeln")
    assert game.options("openspiel", **options_from(DEFAULTS)) == game.options("openspiel")
    assert GAMES <= GAMES_EACH * len(SETTINGS) < GAMES + len(SETTINGS)


def test_card_numbers() -> None:
    """Every card has one number on either side; OpenSpiel counts rank by rank."""
    assert sorted(CARDS) == list(range(HERZELN_DECK.size))
    assert [HERZELN_DECK.parse(name) for name in ("C2", "D2", "H2", "S2", "C3", "SQ", "SA")] == [
        CARDS[action] for action in (0, 1, 2, 3, 4, 43, 51)
    ]


@pytest.mark.parametrize("name", NAMES[1:])
@pytest.mark.parametrize("others", [False, True])
def test_another_rule_is_noticed(name: str, others: bool) -> None:
    """Random games tell the two sides apart as soon as one parameter differs."""
    parameters = dict.fromkeys(NAMES, others) | {"must_break_hearts": True}
    with pytest.raises(AssertionError, match=r"OpenSpiel (has seat|returns)"):
        referee(parameters, sample(parameters), parameters | {name: not parameters[name]})


@pytest.mark.parametrize("jack", [False, True])
@pytest.mark.parametrize("no_trick", [False, True])
def test_rewards_of_a_deal(jack: bool, no_trick: bool) -> None:
    """A deal costs 26 points (78 with a moon), less 10 for the jack and 5 for each seat without a trick."""
    parameters = dict.fromkeys(NAMES, True) | {"jd_bonus": jack, "avoid_all_tricks_bonus": no_trick}
    result = referee(parameters, sample(parameters))
    points = np.where(result.moon, 78, 26 - 5 * no_trick * result.without_trick) - 10 * jack
    assert (result.rewards.sum(1) == -points).all()
    assert (result.moon & (result.without_trick > 0)).any()
    assert (~result.moon & (result.without_trick > 0)).any()


# --------------------------------------------------------------------------------------------- scripted


def recorded(game: Game) -> tuple[Game, list[tuple[int, list[str]]]]:
    """The same game and a list that fills with (seat to move, names of its legal cards)."""
    seen: list[tuple[int, list[str]]] = []

    def choose(seat: int, legal: list[int]) -> int:
        seen.append((seat, [HERZELN_DECK.name(card) for card in CARDS[legal]]))
        return game.choose(seat, legal)

    return Game(game.direction, game.hands, choose), seen


def scripted(hands: str, script: str = "", direction: str = "No Pass", **changed: bool) -> tuple[list[Any], np.ndarray]:
    """Play a scripted game under OpenSpiel's defaults with some changed: what was legal, and our rewards [4]."""
    game, seen = recorded(scripted_game(direction, hands.split("/"), script))
    return seen, referee(DEFAULTS | changed, [game]).rewards[0]


@pytest.mark.parametrize(("direction", "leader"), [("Left", 1), ("Across", 2), ("Right", 3)])
@pytest.mark.parametrize("any_club", [False, True])
def test_passing(direction: str, leader: int, any_club: bool) -> None:
    """Seats pass three cards each in order from seat 0; who receives the clubs of seat 0 leads."""
    seen, _ = scripted(WHOLE_SUITS, direction=direction, can_lead_any_club=any_club)
    assert [seat for seat, _ in seen[:12]] == [0] * 3 + [1] * 3 + [2] * 3 + [3] * 3
    assert [len(legal) for _, legal in seen[:12]] == [13, 12, 11] * 4
    assert seen[12] == (leader, ["C2", "C3", "C4"] if any_club else ["C2"])
    assert len(seen) == 12 + 52


@pytest.mark.parametrize("jack", [False, True])
@pytest.mark.parametrize("no_trick", [False, True])
def test_moon(jack: bool, no_trick: bool) -> None:
    """All tricks: the shooter stands at 0, the jack still counts, and nobody is paid for taking no trick."""
    _, rewards = scripted(WHOLE_SUITS, jd_bonus=jack, avoid_all_tricks_bonus=no_trick)
    assert rewards.tolist() == [10 * jack, -26, -26, -26]


@pytest.mark.parametrize("no_points", [False, True])
def test_first_trick(no_points: bool) -> None:
    """To the first trick a hand of hearts may play hearts, a hand of spades the queen only where points may fall."""
    seen, _ = scripted(WHOLE_SUITS, no_pts_on_first_trick=no_points)
    assert [seat for seat, _ in seen[:4]] == [0, 1, 2, 3]
    assert len(seen[2][1]) == 13
    assert ("SQ" in seen[3][1], len(seen[3][1])) == (not no_points, 13 - no_points)


@pytest.mark.parametrize("must_break", [False, True])
@pytest.mark.parametrize("queen_breaks", [False, True])
@pytest.mark.parametrize("instead", [False, True])
def test_leading_hearts(must_break: bool, queen_breaks: bool, instead: bool) -> None:
    """Seat 0 wins the first trick with its only club and leads from hearts and the queen; seat 1 takes the queen."""
    seen, _ = scripted(
        "CA SQ H2 H3 H4 H5 H6 H7 H8 H9 H10 HJ HQ/C2 SA HK HA/C3 S2/C4 S3",
        "C2 C3 C4 CA SQ SA S2 S3",
        must_break_hearts=must_break,
        qs_breaks_hearts=queen_breaks,
        can_lead_hearts_instead_of_qs=instead,
    )
    assert (seen[4][0], len(seen[4][1])) == (0, 12 if instead or not must_break else 1)
    assert "SQ" in seen[4][1]
    assert (seen[8][0], "HK" in seen[8][1]) == (1, queen_breaks or not must_break)


# ------------------------------------------------------------------------- its bot here, our agents there


def same_views(ours: np.ndarray, theirs: np.ndarray) -> bool:
    """Whether two views [1] agree in all but the draws."""
    names = [name for name in ours.dtype.names or () if name not in ("seed", "lane", "lane_deal")]
    return all((ours[name] == theirs[name]).all() for name in names)


def test_states_and_views_there_and_back() -> None:
    """Each of our states becomes OpenSpiel's with the same seat, legal cards and view, from the deal to the end."""
    batch = make_batch("herzeln", 6, preset="openspiel", autoreset="disabled", seed=3)
    rng = np.random.default_rng(0)
    while batch.running.any():
        views, cards = batch.views, np.full(batch.lanes, NO_CARD, np.int64)
        for lane in np.flatnonzero(batch.running):
            state = state_of(batch.states[lane])
            assert state.current_player() == batch.seat[lane]
            assert sorted(CARDS[state.legal_actions()]) == np.flatnonzero(batch.action_mask[lane]).tolist()
            assert same_views(view_of(state), views[lane : lane + 1])
            cards[lane] = rng.choice(CARDS[state.legal_actions()])
        batch.step(cards)


def test_seats_are_counted_from_the_dealer() -> None:
    """Under our own presets any seat deals; OpenSpiel's seat 0 is on the dealer's left."""
    batch = make_batch("herzeln", 16, preset="hearts", episode="deal", seed=5)
    assert len(set(batch.states["dealer"])) == SEATS
    for lane in range(16):
        left = (batch.states["dealer"][lane] + 1) % SEATS
        player = state_of(batch.states[lane]).current_player()
        assert (left + player) % SEATS == batch.seat[lane]


def test_the_bot_at_our_table() -> None:
    """Its cards are legal, those it passes are those that `rules` passes, and it beats random ones."""
    game, bot = get_game("herzeln"), load_agent("openspiel:ismcts=40", game="herzeln")
    agents, names = [bot, load_agent("random")], [bot.name, "random"]
    standings, _ = evaluate(game, game.options("openspiel"), agents, names, deals=4, seed=1)
    assert standings[0].payoff.mean > 1
    batch = make_batch("herzeln", 6, preset="openspiel", passing="left", seed=2)
    views, keys = batch.views, batch.keys()
    assert bot.act(views, keys).tolist() == load_agent("rules").act(views, keys).tolist()


@pytest.mark.parametrize(
    "options",
    [
        {"players": 3},
        {"players": 2},
        {"first_lead": "left_of_dealer"},
        {"moon": "subtract"},
        {"moon": "add_unless_loses"},
    ],
)
def test_rules_that_openspiel_has_not(options: dict[str, Any]) -> None:
    batch = make_batch("herzeln", 2, seed=1, **options)
    name, value = next(iter(options.items()))
    with pytest.raises(OptionError, match=f"can't be played with {name}={value!r}. Valid: players=4"):
        load_agent("openspiel").act(batch.views, batch.keys())


@pytest.mark.parametrize(
    ("name", "game", "message"),
    [
        ("openspiel:ismcts=1", "herzeln", "Valid: ismcts from 2"),
        ("openspiel:simulations=9", "herzeln", "simulations"),
        ("openspiel", "viersche", "OpenSpiel has no viersche"),
    ],
)
def test_no_such_bot(name: str, game: str, message: str) -> None:
    with pytest.raises(OptionError, match=message):
        load_agent(name, game=game)


def test_our_agent_at_their_table() -> None:
    """`rules` against three uniform bots in a `pyspiel` game: legal cards, and fewer points than theirs."""
    gains = []
    for number in range(24):
        state, rng = pyspiel.load_game("hearts").new_initial_state(), np.random.default_rng(number)
        bots: list[Any] = [pyspiel.make_uniform_random_bot(player, number) for player in range(SEATS)]
        bots[number % SEATS] = AgentBot(load_agent("rules"), number % SEATS, number)
        while not state.is_terminal():
            if state.is_chance_node():
                state.apply_action(int(rng.choice([action for action, _ in state.chance_outcomes()])))
            else:
                action = bots[state.current_player()].step(state)
                assert action in state.legal_actions()
                state.apply_action(action)
        gains.append(state.returns()[number % SEATS] - np.mean(state.returns()))
    assert np.mean(gains) > 2


def test_no_view_of_other_states() -> None:
    with pytest.raises(OptionError, match="nobody is to move"):
        view_of(pyspiel.load_game("hearts").new_initial_state())
    with pytest.raises(OptionError, match="Valid: hearts"):
        view_of(pyspiel.load_game("kuhn_poker").new_initial_state())
