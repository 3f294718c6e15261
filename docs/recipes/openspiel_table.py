"""OpenSpiel and Stich at one table: its ISMCTS bot plays here, our agents play in a `pyspiel` game. 4 minutes.

pip install 'stich[openspiel]'
python docs/recipes/openspiel_table.py --deals 20
"""

from __future__ import annotations

import argparse

import numpy as np
import pyspiel
from common import measure

from stich.agents import load_agent
from stich.agents.openspiel import AgentBot


def play(bots: list[pyspiel.Bot], seed: int) -> np.ndarray:
    """One game of OpenSpiel's hearts; its returns [4]."""
    rng = np.random.default_rng(seed)
    state = pyspiel.load_game("hearts").new_initial_state()
    for bot in bots:
        bot.restart()
    while not state.is_terminal():
        if state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(actions, p=chances)))
        else:
            state.apply_action(bots[state.current_player()].step(state))
    return np.array(state.returns())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deals", type=int, default=20, help="at our table, each in all seatings")
    parser.add_argument("--games", type=int, default=200, help="at OpenSpiel's table")
    parser.add_argument("--simulations", type=int, default=300, help="of the ISMCTS bot for a card")
    given = parser.parse_args()

    its_bot = load_agent(f"openspiel:ismcts={given.simulations}", game="herzeln")
    for opponent in ("random", "rules"):
        measure(its_bot, "herzeln", given.deals, opponent, preset="openspiel")

    game, gains = pyspiel.load_game("hearts"), []
    for number in range(given.games):
        seat = number % 4  # ours; OpenSpiel's uniform bot holds the others
        bots = [pyspiel.make_uniform_random_bot(player, 4 * number + player) for player in range(4)]
        bots[seat] = AgentBot(load_agent("rules", game="herzeln"), seat, number)
        returns = play(bots, number)
        gains.append(returns[seat] - np.delete(returns, seat).mean())
    mean, half = np.mean(gains), 1.96 * np.std(gains, ddof=1) / np.sqrt(len(gains))
    print(
        f"rules and OpenSpiel's uniform random bot, OpenSpiel's {game.get_type().short_name}, {given.games} games: "
        f"payoff {mean:+.2f} ({mean - half:+.2f} to {mean + half:+.2f})"
    )


if __name__ == "__main__":
    main()
