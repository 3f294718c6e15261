"""Speed beside peers and baselines, per CPU-second on one core, all in one run.

Absolute figures depend on the machine and on what else it does; the ratios are what to compare.
"""

from __future__ import annotations

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ..agents import load_agent, solver_moon, solver_viersche
from ..agents.worlds import drawing
from ..envs import HERZELN, VIERSCHE, herzeln_v0, make_batch
from ..envs.bits import nth, popcount
from ..envs.game import Game, get_game
from ..envs.jit import entry
from ..envs.rng import below
from .match import make_design, owners_of, play_match
from .workers import LocalPool, work_off

LANES = 4096
ROUNDS = 7
MOON_STRENGTHS = (0, 1, 1.5, 2, 2.5)


@entry
def random_cards(legals: Any, turn: int, out: Any) -> None:
    """A random legal card for each lane, so that choosing costs next to nothing."""
    for i in range(len(legals)):
        out[i] = nth(legals[i], below(np.uint64(i), turn, popcount(legals[i])))


def rate(work: Callable[[], int], seconds: float) -> float:
    """Units of work per CPU-second, after one round to warm up."""
    work()
    done, start = 0, time.process_time()
    while (spent := time.process_time() - start) < seconds:
        done += work()
    return done / spent


def alternate(works: dict[str, Callable[[], int]], seconds: float, rounds: int = ROUNDS) -> dict[str, list[float]]:
    """The rates of each over rounds in which all take turns, so that a busy spell of the machine hits all."""
    measured: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            measured[name].append(rate(work, seconds / rounds))
    return measured


def ratio(measured: dict[str, list[float]], name: str, peer: str) -> float:
    """The median over the rounds of how many times faster one is than its peer in the same round."""
    return statistics.median(x / y for x, y in zip(measured[name], measured[peer], strict=True))


def playouts(game: Game) -> Callable[[], int]:
    """Whole deals with random cards inside the kernel."""
    states = game.new_states(game.options(episode="deal"), 0, np.arange(256, dtype=np.uint64), np.zeros(256, np.int64))
    game.lanes.open_lanes(states, np.ones(256, bool))
    return lambda: game.lanes.random_playouts(states, 20)


def batch_steps(game: Game) -> Callable[[], int]:
    """Steps of a batch with observation and mask read each time."""
    batch = make_batch(game.name, LANES, episode="deal")
    cards = np.zeros(LANES, np.int64)

    def work() -> int:
        for turn in range(52):
            random_cards(batch.legal, turn, cards)
            batch.step(cards)
            assert batch.observation.shape[0] == batch.action_mask.shape[0] == LANES
        return 52 * LANES

    return work


def aec_loop() -> int:
    """Deals of Herzeln in the PettingZoo loop with `last()`; the lowest legal card each time."""
    env, cards = herzeln_v0.env(episode="deal"), 0
    env.reset(seed=cards)
    for _ in range(10):
        for _agent in env.agent_iter():
            observation, _reward, terminated, _truncated, _info = env.last()
            env.step(None if terminated else int(observation["action_mask"].argmax()))
            cards += not terminated
        env.reset()
    return cards


def rules_decisions(game: Game) -> Callable[[], int]:
    """Choices of the rule-based agent on views from the middle of its games."""
    agent = load_agent("rules", game=game.name)
    batch = make_batch(game.name, LANES, episode="deal")
    stored = []
    for _ in range(32):
        stored.append((batch.views, batch.keys(0)))
        batch.step(agent.act(*stored[-1]))

    def work() -> int:
        for views, keys in stored:
            agent.act(views, keys)
        return len(stored) * LANES

    return work


@dataclass(frozen=True)
class RulesMatch:
    """Jobs of matches between rule-based agents, for worker processes: each gives the number of cards played."""

    game: str
    asked: int = 2

    def open(self) -> RulesMatch:
        return self

    def run(self, first_deal: int, asking: Any) -> int:
        game = get_game(self.game)
        agent = load_agent("rules", game=game)
        owners = owners_of(make_design(game, 4, 2).seatings, 0, 500)
        options = game.options(episode="deal")
        played = play_match(game, options, [agent, agent], owners, seed=0, first_deal=first_deal)
        return int(played.free.sum() + played.forced.sum())


def match_rate(game: Game, seconds: float) -> float:
    """Decisions per second of wall time of rules against rules in matches, on all cores."""
    pool = LocalPool(RulesMatch(game.name), patience=600)
    warm_up = iter(range(2 * pool.size))
    list(work_off(pool, lambda: next(warm_up, None)))
    started, decisions = time.perf_counter(), 0
    for _, done in work_off(pool, lambda: 0 if time.perf_counter() - started < seconds else None):
        decisions += done
    pool.close()
    return decisions / (time.perf_counter() - started)


def worlds(game: Game) -> Callable[[], int]:
    """Worlds for views from the middle of a deal, 30 of each."""
    batch = make_batch(game.name, 512, episode="deal")
    cards = np.zeros(512, np.int64)
    for turn in range(game.deck.size // 2):
        random_cards(batch.legal, turn, cards)
        batch.step(cards)
    return drawing(game, batch.views)


def openspiel_rollouts() -> Callable[[], int]:
    """OpenSpiel's C++ random rollouts of `hearts` from after the deal.

    Python reaches them through an MCTS bot with a single simulation, which only evaluates its root.
    """
    import pyspiel

    state = _openspiel_dealt(np.random.default_rng(0))
    evaluator = pyspiel.RandomRolloutEvaluator(n_rollouts=1000, seed=0)
    bot = pyspiel.MCTSBot(state.get_game(), evaluator, 1.0, 1, 100, False, 0, False)

    def work() -> int:
        bot.step(state)
        return 1000 * 52

    return work


def openspiel_loop() -> Callable[[], int]:
    """OpenSpiel's Python loop of `hearts`, deal and random cards, with its fast observer at every decision."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    game = pyspiel.load_game("hearts", {"pass_cards": False})
    tensor = make_observation(game, pyspiel.IIGObservationType(perfect_recall=True))
    assert tensor is not None

    def work() -> int:
        done = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            if not state.is_chance_node():
                tensor.set_from(state, state.current_player())
                done += 1
            state.apply_action(random.choice(state.legal_actions()))
        return done

    return work


def _openspiel_dealt(rng: np.random.Generator) -> Any:
    import pyspiel

    state = pyspiel.load_game("hearts", {"pass_cards": False}).new_initial_state()
    while state.is_chance_node():
        state.apply_action(int(rng.choice(state.legal_actions())))
    return state


def solvers(seconds: float, console: Console) -> dict[str, float]:
    """CPU milliseconds of the exact solvers: Viersche by cards in each hand, moons on random and on biased deals."""
    figures: dict[str, float] = {}
    for cards, deals in ((9, 100), (7, 200), (6, 400)):
        found = solver_viersche.benchmark(cards, max(5, int(deals * seconds / 2)))
        figures |= {f"viersche_{cards}_{name}": found[f"{name}_ms"] for name in ("mean", "p99")}
        console.print(f"measured {cards} cards of Viersche: {found['mean_ms']:.1f} ms", style="dim")
    for row in solver_moon.measure(MOON_STRENGTHS, max(20, int(300 * seconds / 2))):
        name = f"moon_{row['strength']:g}"
        figures |= {f"{name}_{key}": row[key] for key in ("forced", "p99", "undecided")}
        console.print(f"measured moons of strength {row['strength']:g}: {row['p99']:.2f} ms", style="dim")
    return figures


def in_new_process(code: str, cache: str | None = None) -> float:
    """Seconds that a new Python needs for `code`, which prints them."""
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    command = [sys.executable, "-W", "ignore", "-c", code]
    result = subprocess.run(command, capture_output=True, text=True, env=environment)
    if result.returncode:
        raise RuntimeError(result.stderr.strip().splitlines()[-1])
    return float(result.stdout.split()[-1])


PEERS = "import time; t = time.perf_counter(); import numba, gymnasium, pettingzoo; "
IMPORT = PEERS + "p = time.perf_counter(); import stich.envs; print(time.perf_counter() - p)"
RESET = (
    "import time; from stich.envs import {0}_v0; t = time.perf_counter(); "
    "env = {0}_v0.env(); env.reset(seed=0); env.last(); print(time.perf_counter() - t)"
)


def run_bench(seconds: float, console: Console) -> dict[str, float]:
    """Measure everything, print a table, and return the figures by name (decisions or cards per CPU-second)."""
    figures: dict[str, float] = {}
    works: list[tuple[str, Callable[[], int]]] = [
        ("openspiel_rollouts", openspiel_rollouts()),
        ("herzeln_playouts", playouts(HERZELN)),
        ("viersche_playouts", playouts(VIERSCHE)),
        ("openspiel_loop", openspiel_loop()),
        ("herzeln_batch", batch_steps(HERZELN)),
        ("viersche_batch", batch_steps(VIERSCHE)),
        ("aec_loop", aec_loop),
        ("herzeln_rules", rules_decisions(HERZELN)),
        ("viersche_rules", rules_decisions(VIERSCHE)),
        ("herzeln_worlds", worlds(HERZELN)),
        ("viersche_worlds", worlds(VIERSCHE)),
    ]
    measured = alternate(dict(works), seconds)
    for name, rates in measured.items():
        figures[name] = statistics.median(rates)
        console.print(f"measured {name}: {figures[name]:,.0f} a CPU-second", style="dim")
    figures["playouts_ratio"] = ratio(measured, "herzeln_playouts", "openspiel_rollouts")
    figures["batch_ratio"] = ratio(measured, "herzeln_batch", "openspiel_loop")
    figures |= solvers(seconds, console)
    for game in (HERZELN, VIERSCHE):
        figures[f"{game.name}_matches"] = match_rate(game, 2 * seconds)
    figures["import_seconds"] = min(in_new_process(IMPORT) for _ in range(3))
    for game in ("herzeln", "viersche"):
        with tempfile.TemporaryDirectory() as cache:
            figures[f"{game}_first_reset_seconds"] = in_new_process(RESET.format(game), cache)
            figures[f"{game}_next_reset_seconds"] = in_new_process(RESET.format(game), cache)
    console.print(_table(figures))
    return figures


def _table(figures: dict[str, float]) -> Table:
    rows = [
        ("Herzeln, random playouts", "herzeln_playouts", "{:,.0f} cards/s"),
        ("... over OpenSpiel's C++ random rollouts", "playouts_ratio", "x {:.1f}"),
        ("Viersche, random playouts", "viersche_playouts", "{:,.0f} cards/s"),
        (f"Herzeln, batch of {LANES} with observation and mask", "herzeln_batch", "{:,.0f} decisions/s"),
        ("... over OpenSpiel's Python loop with its fast observer", "batch_ratio", "x {:.1f}"),
        (f"Viersche, batch of {LANES} with observation and mask", "viersche_batch", "{:,.0f} decisions/s"),
        ("Herzeln, PettingZoo loop with last()", "aec_loop", "{:,.0f} decisions/s"),
        ("Herzeln, rule-based agent", "herzeln_rules", "{:,.0f} decisions/s"),
        ("Viersche, rule-based agent", "viersche_rules", "{:,.0f} decisions/s"),
        ("Herzeln, rules against rules in matches, all cores, wall time", "herzeln_matches", "{:,.0f} decisions/s"),
        ("Viersche, rules against rules in matches, all cores, wall time", "viersche_matches", "{:,.0f} decisions/s"),
        ("Herzeln, worlds consistent with a view in mid-deal", "herzeln_worlds", "{:,.0f} worlds/s"),
        ("Viersche, worlds consistent with a view in mid-deal", "viersche_worlds", "{:,.0f} worlds/s"),
        ("import stich.envs beyond numba, gymnasium, pettingzoo", "import_seconds", "{:.2f} s"),
        ("Herzeln, first reset on an empty compile cache", "herzeln_first_reset_seconds", "{:.1f} s"),
        ("Herzeln, first reset of later processes", "herzeln_next_reset_seconds", "{:.2f} s"),
        ("Viersche, first reset on an empty compile cache", "viersche_first_reset_seconds", "{:.1f} s"),
        ("Viersche, first reset of later processes", "viersche_next_reset_seconds", "{:.2f} s"),
    ]
    for cards in (9, 7, 6):
        what = f"Viersche, open hands solved, {cards} cards each: mean"
        rows.append((what, f"viersche_{cards}_mean", "{:.1f} ms"))
        rows.append(("... 99th percentile", f"viersche_{cards}_p99", "{:.1f} ms"))
    for strength in MOON_STRENGTHS:
        share = f"{figures[f'moon_{strength:g}_forced']:.0%} forced, {figures[f'moon_{strength:g}_undecided']:.1%} open"
        rows.append((f"moon against any defence, {share}: 99th percentile", f"moon_{strength:g}_p99", "{:.2f} ms"))
    table = Table("what", "measured", title="per CPU-second on one core")
    for what, key, form in rows:
        table.add_row(what, form.format(figures[key]))
    return table
