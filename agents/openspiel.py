"""OpenSpiel and Herzeln: its bots at our table, our agents at its table. Needs the extra `openspiel`.

OpenSpiel's `hearts` is preset `openspiel`; its eight parameters are our options under other names. Its seats are
counted from the left of the dealer, its cards rank by rank, and every deal is a game of its own.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyspiel

from ..envs.batch import make_batch
from ..envs.cards import HERZELN_DECK, NO_SEAT
from ..envs.errors import OptionError
from ..envs.game import Game, get_game
from ..envs.herzeln import ANY_CLUB_LEADS, LEFT_OF_DEALER_LEADS, MOONS, PASSING_NONE
from ..envs.rng import agent_keys
from ..envs.state import PASS
from .base import Agent, kernel_agent
from .loader import kernel_of
from .worlds import sample_worlds

SEATS, HAND = 4, 13
DIRECTIONS = {"No Pass": "none", "Left": "left", "Across": "across", "Right": "right"}
"""OpenSpiel's names of the pass directions in the order of our offsets, and our names."""


def _cards_by_action() -> list[int]:
    """Our card for each of OpenSpiel's, read from their names."""
    state = pyspiel.load_game("hearts").new_initial_state()
    state.apply_action(0)
    names = [state.action_to_string(action) for action in range(HERZELN_DECK.size)]
    return [HERZELN_DECK.parse(suit + rank) for rank, suit in names]


CARDS = np.array(_cards_by_action())
"""Our card for each of OpenSpiel's actions."""
ACTIONS = np.argsort(CARDS)
"""OpenSpiel's action for each of our cards."""


def options_from(parameters: Mapping[str, bool]) -> dict[str, Any]:
    """The rule options of preset `openspiel` that make Herzeln what OpenSpiel plays with all these parameters."""
    return {
        "passing": "random" if parameters["pass_cards"] else "none",
        "points_in_first_trick": not parameters["no_pts_on_first_trick"],
        "first_lead": "any_club" if parameters["can_lead_any_club"] else "club_two",
        "jack_of_diamonds": parameters["jd_bonus"],
        "no_trick_bonus": parameters["avoid_all_tricks_bonus"],
        "must_break_hearts": parameters["must_break_hearts"],
        "queen_breaks_hearts": parameters["qs_breaks_hearts"],
        "hearts_instead_of_queen": parameters["can_lead_hearts_instead_of_qs"],
    }


def parameters_of(view: np.void) -> dict[str, bool]:
    """OpenSpiel's parameters for the rules that a view or state is played by.

    Raises:
        OptionError: OpenSpiel's `hearts` doesn't know these rules.
    """
    wrong = []
    if view["players"] != SEATS:
        wrong.append(f"players={view['players']}")
    if view["first_lead"] == LEFT_OF_DEALER_LEADS:
        wrong.append("first_lead='left_of_dealer'")
    if view["moon"] != 0:
        wrong.append(f"moon={MOONS[view['moon']]!r}")
    if wrong:
        valid = "players=4, first_lead='club_two' or 'any_club', moon='add', all else"
        raise OptionError(f"OpenSpiel's hearts can't be played with {', '.join(wrong)}. Valid: {valid}")
    return {
        "pass_cards": view["passing"] != PASSING_NONE,
        "no_pts_on_first_trick": not view["points_in_first_trick"],
        "can_lead_any_club": view["first_lead"] == ANY_CLUB_LEADS,
        "jd_bonus": bool(view["jack_of_diamonds"]),
        "avoid_all_tricks_bonus": bool(view["no_trick_bonus"]),
        "must_break_hearts": bool(view["must_break_hearts"]),
        "qs_breaks_hearts": bool(view["queen_breaks_hearts"]),
        "can_lead_hearts_instead_of_qs": bool(view["hearts_instead_of_queen"]),
    }


@functools.cache
def _hearts(parameters: tuple[tuple[str, bool], ...]) -> Any:
    """OpenSpiel's game with these parameters."""
    return pyspiel.load_game("hearts", dict(parameters))


# ------------------------------------------------------------------------------------ its bots at our table


def state_of(world: np.void) -> Any:
    """OpenSpiel's state for one of ours, which has no gaps: dealt, passed and played in the same order.

    Raises:
        OptionError: OpenSpiel's `hearts` doesn't know these rules.
    """
    parameters = {name: bool(value) for name, value in parameters_of(world).items()}
    state = _hearts(tuple(parameters.items())).new_initial_state()
    named = {state.action_to_string(action): action for action in state.legal_actions()}
    state.apply_action(named[list(DIRECTIONS)[world["direction"]]])
    order = [(int(world["dealer"]) + 1 + turn) % SEATS for turn in range(SEATS)]
    handed_over = world["leader"] != NO_SEAT
    hands = []
    for seat in order:
        held = int(world["hands"][seat] | world["played"][seat])
        if handed_over:
            held &= ~int(world["received"][seat])
        hands.append(_cards(held | int(world["passed"][seat])))
    for card in np.array(hands).T.ravel():  # one card to each seat in turn
        state.apply_action(int(ACTIONS[card]))
    plays = np.argsort(world["when"], kind="stable")[HERZELN_DECK.size - int(world["plays"]) :]
    for card in [*(card for seat in order for card in _cards(int(world["passed"][seat]))), *plays]:
        state.apply_action(int(ACTIONS[card]))
    return state


def _cards(cards: int) -> list[int]:
    """The cards of a set."""
    return np.flatnonzero(cards >> np.arange(HERZELN_DECK.size) & 1).tolist()


class OpenSpielISMCTS:
    """OpenSpiel's ISMCTS bot at our table: `openspiel:ismcts=1000`.

    It gets one world that agrees with the view and draws its own worlds from what the seat knows of that. It plays
    for the points of the deal. Each decision is a new bot seeded by view and key; all the same, where cards come close
    its choice can differ from call to call, because OpenSpiel breaks ties in the order of a hash table, which varies.
    Cards are passed as our `rules` passes them: while passing, OpenSpiel 2.0.2 can end the process.

    Args:
        game: Herzeln; its rules must be among OpenSpiel's.
        ismcts: Simulations for a card.
        rollouts: Random playouts that rate a leaf.
        uct: Weight of exploration.

    Raises:
        OptionError: another game, or numbers that make no search.
    """

    def __init__(self, game: Game | str, ismcts: int = 1000, rollouts: int = 1, uct: float = 20.0) -> None:
        self.game = get_game(game)
        self.name = f"openspiel:ismcts={ismcts}"
        if self.game.name != "herzeln":
            raise OptionError(f"OpenSpiel has no {self.game.name}, so {self.name} can't play it. Valid: herzeln")
        if ismcts < 2 or rollouts < 1 or uct < 0:
            given = f"openspiel:ismcts={ismcts},rollouts={rollouts},uct={uct:g}"
            raise OptionError(f"{given} is not valid. Valid: ismcts from 2, rollouts from 1, uct from 0")
        self.simulations, self.rollouts, self.uct = ismcts, rollouts, uct
        self.passer = kernel_agent("rules", self.game.name, kernel_of("rules", self.game))

    def act(self, views: np.ndarray, keys: np.ndarray) -> np.ndarray:
        """Cards int64[N].

        Raises:
            OptionError: OpenSpiel's `hearts` doesn't know these rules.
        """
        for view in views[:1]:
            parameters_of(view)  # before worlds are drawn
        cards = np.empty(len(views), np.int64)
        passing, playing = views["phase"] == PASS, np.flatnonzero(views["phase"] != PASS)
        if passing.any():
            cards[passing] = self.passer.act(views[passing], keys[passing])
        drawn = agent_keys(0, keys[playing], views["plays"][playing], 0)
        worlds = sample_worlds(self.game, views[playing], drawn, 1)[:, 0]
        for at, world, seed in zip(playing, worlds, drawn & np.uint64(0x7FFFFFFF), strict=True):
            cards[at] = CARDS[self._bot(int(seed)).step(state_of(world))]
        return cards

    def _bot(self, seed: int) -> Any:
        evaluator = pyspiel.RandomRolloutEvaluator(self.rollouts, seed)
        most = pyspiel.ISMCTSFinalPolicyType.MAX_VISIT_COUNT
        return pyspiel.ISMCTSBot(seed, evaluator, self.uct, self.simulations, -1, most, False, False)


# ------------------------------------------------------------------------------------ our agents at its table


def view_of(state: Any) -> np.ndarray:
    """Structured array [1]: what the player to move in OpenSpiel's `hearts` state may know, as our agents take it.

    Raises:
        OptionError: a state of another game, or one where a player is not to move.
    """
    game = state.get_game()
    if game.get_type().short_name != "hearts":
        raise OptionError(f"OpenSpiel's {game.get_type().short_name} is not known here. Valid: hearts")
    if state.is_chance_node() or state.is_terminal():
        raise OptionError("nobody is to move in this state of OpenSpiel's hearts. Valid: a player's turn")
    parameters = {**pyspiel.load_game("hearts").get_parameters(), **game.get_parameters()}
    direction, *actions = state.history()
    cards = CARDS[actions]
    deal = {"hands": cards[: SEATS * HAND].reshape(HAND, SEATS).T.tolist()}
    deal["direction"] = list(DIRECTIONS.values())[direction]
    batch = make_batch("herzeln", 1, preset="openspiel", deals=[deal], **options_from(parameters))
    for card in cards[SEATS * HAND :]:
        batch.advance(np.array([card], np.int64))
    return batch.views


class AgentBot(pyspiel.Bot):
    """An agent of ours as a bot in OpenSpiel's `hearts`.

    Args:
        agent: Any agent for Herzeln.
        player: OpenSpiel's number of the seat.
        seed: Of the agent's own draws.
    """

    def __init__(self, agent: Agent, player: int, seed: int = 0) -> None:
        super().__init__()
        self.agent, self.player, self.seed, self.games = agent, player, seed, 0

    def restart(self) -> None:
        """A new game begins."""
        self.games += 1

    def restart_at(self, state: Any) -> None:
        """A game begins somewhere; all that counts is in the state."""
        self.games += 1

    def inform_action(self, state: Any, player: int, action: int) -> None:
        """Somebody has moved, which the next state will tell."""

    def step(self, state: Any) -> int:
        """OpenSpiel's action for the state, in which the bot's player is to move."""
        keys = agent_keys(self.seed, self.games, self.player, 0)
        return int(ACTIONS[self.agent.act(view_of(state), keys)[0]])
