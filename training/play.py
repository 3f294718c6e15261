"""A person plays in the terminal against agents."""

from __future__ import annotations

import secrets
from typing import Any

import numpy as np
from rich.console import Console

from ..agents import load_agent
from ..envs.aec import RawEnv
from ..envs.batch import Terms
from ..envs.errors import OptionError
from ..envs.game import Game, get_game
from ..envs.render import hand_text, table_text
from ..envs.state import PASS


def play_in_terminal(
    game: str, options: dict[str, Any], opponents: str, seat: int, seed: int | None, console: Console
) -> None:
    """One episode: the person at `seat`, the agent `opponents` elsewhere; `q` leaves."""
    found = get_game(game)
    preset = options.pop("preset", None)
    env = RawEnv(found, found.options(preset, **options), Terms("points", "raise"))
    if not 0 <= seat < len(env.possible_agents):
        raise OptionError(f"--seat {seat} is no seat. Valid: 0 to {len(env.possible_agents) - 1}")
    agent = load_agent(opponents, game=game)
    env.reset(seed=secrets.randbits(48) if seed is None else seed)
    me, deal = env.possible_agents[seat], 0
    while not env.terminations[me]:
        mover = env.agent_selection
        if mover == me:
            card = _ask(env, me, console)
            if card is None:
                console.print("left the table")
                return
        else:
            card = int(agent.act(env.view(mover), env.keys(1))[0])
        _tell(found, env, mover, me, card, console)
        env.step(card)
        if env.terminations[me] or int(env.batch.states["deal"][0]) != deal:
            deal = int(env.batch.states["deal"][0])
            _tell_score(env, console)
    console.print(
        f"final score in {env.game.score_unit(env.options)}: " + _by_seat(env, env.final_score()), style="bold"
    )


def _tell(game: Game, env: RawEnv, mover: str, me: str, card: int, console: Console) -> None:
    """Say what was played, unless the person may not see it."""
    state = env.batch.states[0]
    if state["phase"] == PASS:
        if mover == me:
            console.print(f"you pass {game.deck.name(card, symbols=True)}")
        return
    lies_face_down = "trump" in state.dtype.names and state["plays"] == 0 and _no_trump(game, state, card)
    name = "a card face down" if lies_face_down and mover != me else game.deck.name(card, symbols=True)
    console.print(f"{mover} plays {name}")


def _no_trump(game: Game, state: Any, card: int) -> bool:
    return int(game.rules.suit_of(card, int(state["trump"]))) != int(state["trump"])


def _tell_score(env: RawEnv, console: Console) -> None:
    rewards = np.array([env.rewards[agent] for agent in env.possible_agents])
    console.print("deal over, rewards: " + _by_seat(env, rewards), style="bold")


def _by_seat(env: RawEnv, numbers: np.ndarray) -> str:
    return ", ".join(f"{agent} {number:g}" for agent, number in zip(env.possible_agents, numbers, strict=True))


def _ask(env: RawEnv, me: str, console: Console) -> int | None:
    """The card that the person names; asks again until it is legal. None to leave."""
    game, view = env.game, env.view(me)
    legal = int(env.batch.legal[0])
    verb = "pass" if view["phase"][0] == PASS else "play"
    console.print()
    console.print(table_text(game, view[0]), highlight=False, markup=False)
    while True:
        try:
            text = console.input(f"{verb} ({hand_text(game, legal)}), q to leave: ", markup=False).strip()
        except (EOFError, KeyboardInterrupt):
            return None
        if text.lower() == "q":
            return None
        try:
            card = game.deck.parse(text)
        except ValueError as error:
            console.print(str(error), markup=False)
            continue
        if legal >> card & 1:
            return card
        console.print(f"{game.deck.name(card)} is not legal now. Legal: {hand_text(game, legal)}", markup=False)
