"""A referee and a batch in lockstep: the frame of test_agreement.py, the same for both games.

Every lane of a batch has its own referee (the slow second implementation of the rules). Our deals are handed to it,
both play the same cards, and before every card the two must say the same: whose turn it is, what is legal, and field
by field what the view of each seat shows. One batch for each kind of reward is played, so all of them are compared.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from stich.envs.batch import Batch, Step, make_batch
from stich.envs.cards import NO_CARD, Deck
from stich.envs.game import REWARDS
from stich.envs.state import EPISODE_OVER

Fields = dict[str, Any]
AT_THE_END = ("seat", "leader", "winner", "best")  # nobody is to move: whatever stands there means nothing


@dataclass
class Table:
    """One lane as the referee sees it.

    Attributes:
        referee: The second implementation, in the middle of an episode.
        lane_deal: Deals of this lane before this one.
        deal: Deals of this episode before this one.
        movers: Seats in the order in which they played the cards of this deal.
        takers: Seats that took the tricks of this deal, in order.
        last: What the last deal of this episode brought.
        over: The episode is over.
        notes: Names of remarkable things seen in this deal.
    """

    referee: Any
    lane_deal: int = 0
    deal: int = 0
    movers: list[int] = field(default_factory=list)
    takers: list[int] = field(default_factory=list)
    last: Fields = field(default_factory=dict)
    over: bool = False
    notes: set[str] = field(default_factory=set)


class Side(Protocol):
    """What the frame must be told of a game."""

    name: str
    deck: Deck

    def referee(self, options: Fields, given: Mapping[str, Any]) -> Any:
        """A referee with these options and, where given, these scores to begin with."""
        ...

    def start(self, table: Table, options: Fields, state: np.void) -> None:
        """Hand our deal to the referee, once it has been checked that it may follow."""
        ...

    def common(self, table: Table, options: Fields, knows: Fields) -> Fields:
        """Fields of the view that are the same for all seats, here from what seat 0 knows."""
        ...

    def own(self, table: Table, seat: int, knows: Fields) -> Fields:
        """Fields of the view of one seat, from what it knows."""
        ...

    def result(self, table: Table) -> Fields:
        """What the deal just played brought: what `common` will need of it."""
        ...

    def rewards(self, table: Table, options: Fields) -> dict[str, list[float]]:
        """The rewards by kind for the deal just played."""
        ...

    def final_score(self, table: Table, options: Fields) -> list[int]:
        """The score of the episode just played."""
        ...

    def events(self, table: Table) -> list[str]:
        """Names of the remarkable things that the deal just played has seen."""
        ...


@dataclass
class Match:
    """An option set under comparison.

    Attributes:
        side: The game.
        options: The options of the referee, by their names.
        batches: One batch a kind of reward, with the same deals.
        tables: One table a lane.
        styles: What each seat of each lane prefers, see `choose`.
        luck: Source of the cards to be played.
        seen: How often which event came up; decisions, deals and episodes among them.
    """

    side: Side
    options: Fields
    batches: list[Batch]
    tables: list[Table]
    styles: list[list[str]]
    luck: random.Random
    seen: Counter[str] = field(default_factory=Counter)


def open_match(
    side: Side,
    options: Fields,
    seed: int,
    openings: Sequence[Mapping[str, Any]],
    styles: list[list[str]],
    ours: Fields | None = None,
) -> Match:
    """A match with one lane an opening; `ours` are options in which our side differs from the referee."""
    batches = [
        make_batch(
            side.name,
            len(openings),
            seed=seed,
            reward=kind,
            autoreset="disabled",
            deals=openings,
            **{**options, **(ours or {})},
        )
        for kind in REWARDS
    ]
    match = Match(side, options, batches, [], styles, random.Random(seed))
    open_episode(match, openings)
    return match


def open_episode(match: Match, openings: Sequence[Mapping[str, Any]]) -> None:
    """New referees at all tables, with the deals that our lanes have now."""
    old = match.tables
    match.tables = [Table(match.side.referee(match.options, given)) for given in openings]
    for lane, table in enumerate(match.tables):
        if old:
            table.lane_deal = old[lane].lane_deal + 1
        match.side.start(table, match.options, match.batches[0].states[lane])


def play_match(match: Match, episodes: int) -> Counter[str]:
    """Play and compare this many episodes in every lane; returns what has been seen."""
    for episode in range(episodes):
        if episode:
            for batch in match.batches:
                batch.reset()
            open_episode(match, [{}] * len(match.tables))
        while True:
            compare(match)
            if all(table.over for table in match.tables):
                break
            play_round(match)
        match.seen["episodes"] += len(match.tables)
    return match.seen


def play_round(match: Match) -> None:
    """One card in each lane that is not over, on both sides; then rewards and, where a deal is over, the next."""
    cards = [choose(match, lane) for lane in range(len(match.tables))]
    actions = np.array([NO_CARD if card is None else match.side.deck.parse(card) for card in cards])
    steps = [batch.step(actions) for batch in match.batches]
    for lane, (table, card) in enumerate(zip(match.tables, cards, strict=True)):
        ended = card is not None and play_card(table, card)
        match.seen["decisions"] += card is not None
        if ended:
            table.last = match.side.result(table)
            match.seen.update(["deals", *table.notes, *match.side.events(table)])
        table.over = table.over or (ended and table.referee.phase in ("game_over", "episode_over"))
        compare_step(match, lane, steps, ended)
        if ended and not table.over:
            next_deal(match, lane)


def choose(match: Match, lane: int) -> str | None:
    """A legal card: any, or by the style of its seat the lowest or the highest; None where the lane is over."""
    table = match.tables[lane]
    if table.over:
        return None
    legal = sorted(table.referee.legal())
    style = match.styles[lane][table.referee.seat]
    if style == "any" or match.luck.random() < 0.1:
        return match.luck.choice(legal)
    ranks = match.side.deck.ranks
    return (min if style == "low" else max)(legal, key=lambda card: ranks.index(card[1:]))


def play_card(table: Table, card: str) -> bool:
    """Let the referee play a card and keep the order of plays; whether the deal is over by it."""
    referee = table.referee
    passing = referee.phase == "pass"
    mover, tricks = referee.seat, list(referee.tricks)
    referee.play(card)
    if not passing:
        table.movers.append(mover)
    table.takers += [s for s, (a, b) in enumerate(zip(tricks, referee.tricks, strict=True)) if a != b]
    return referee.seat is None


def next_deal(match: Match, lane: int) -> None:
    """Our side has dealt already: the referee takes over the deal."""
    table = match.tables[lane]
    table.deal += 1
    table.lane_deal += 1
    table.movers, table.takers, table.notes = [], [], set()
    match.side.start(table, match.options, match.batches[0].states[lane])


# -------------------------------------------------------------------------------------------- comparisons


def compare(match: Match) -> None:
    """Before a card: in each lane seat, legal cards and all views."""
    batch = match.batches[0]
    for other in match.batches[1:]:
        same(match, 0, "states of the reward kinds", other.states.tobytes(), batch.states.tobytes())
    bits = batch.legal[:, None] >> np.arange(batch.actions) & 1
    same(match, 0, "mask", batch.action_mask.tolist(), bits.tolist())
    same(match, 0, "legal cards of the mover's view", batch.game.legal(batch.views).tolist(), batch.legal.tolist())
    views = [all_views(batch, seat) for seat in range(batch.players)]
    for lane, table in enumerate(match.tables):
        legal = match.side.deck.as_set(table.referee.legal())
        same(match, lane, "legal cards", int(batch.legal[lane]), legal)
        same(match, lane, "over", not batch.running[lane], table.over)
        knows = [table.referee.knows(seat) for seat in range(batch.players)]
        common = match.side.common(table, match.options, knows[0]) | everywhere(table)
        for seat in range(batch.players):
            expected = {**common, "observer": seat, **match.side.own(table, seat, knows[seat])}
            compare_view(match, lane, seat, views[seat], expected)


def all_views(batch: Batch, seat: int) -> dict[str, list[Any]]:
    """The views of one seat: by field, the plain values of all lanes."""
    out = np.empty(batch.lanes, batch.game.state)
    batch.game.lanes.view(batch.states, np.full(batch.lanes, seat, np.int8), out)
    return {name: out[name].tolist() for name in batch.game.state.names or ()}


def everywhere(table: Table) -> Fields:
    """Fields that both games have and all seats see alike; the keys of the draws are erased."""
    referee = table.referee
    done = table.takers
    return {
        "seed": 0,
        "lane": 0,
        "lane_deal": 0,
        "deal": table.deal,
        "seat": referee.seat,
        "dealer": referee.dealer,
        "leader": or_none(referee.leader),
        "tricks": padded(referee.tricks),
        "trick_number": len(done),
        "plays": len(table.movers),
        "first_winner": done[0] if done else NO_CARD,
        "last_seat": done[-1] if done else NO_CARD,
        "phase": EPISODE_OVER if table.over else ("pass", "play").index(referee.phase),
    }


def compare_view(match: Match, lane: int, seat: int, views: dict[str, list[Any]], expected: Fields) -> None:
    """Every field of the view is as expected."""
    skipped = AT_THE_END if match.tables[lane].over else ()
    for name, value in expected.items():
        if views[name][lane] != value and name not in skipped:
            same(match, lane, f"{name} in the view of seat {seat}", views[name][lane], value)


def compare_step(match: Match, lane: int, steps: list[Step], ended: bool) -> None:
    """Rewards of all kinds, whether the episode is over, and its score."""
    table = match.tables[lane]
    expected = match.side.rewards(table, match.options) if ended else {}
    for kind, step in zip(REWARDS, steps, strict=True):
        theirs = expected.get(kind, [0.0] * len(table.referee.hands))
        ours = step.reward[lane].tolist()
        equal = all(abs(a - b) <= 1e-6 * max(1, abs(b)) for a, b in zip(ours, theirs, strict=True))
        same(match, lane, f"reward {kind}", ours, ours if equal else theirs)
        same(match, lane, "done", bool(step.done[lane]), ended and table.over)
        if ended and table.over:
            score = match.side.final_score(table, match.options)
            same(match, lane, "final score", step.final_score[lane].tolist(), score)


def same(match: Match, lane: int, what: str, ours: Any, theirs: Any) -> None:
    """Raise AssertionError with all that is needed to find the place again."""
    if ours == theirs:
        return
    table = match.tables[lane]
    raise AssertionError(
        f"{match.side.name}: {what}: ours {ours}, referee {theirs}\noptions {match.options}\n"
        f"seed {match.batches[0].seed}, lane {lane}, deal {table.lane_deal} of the lane, {table.deal} of the episode, "
        f"card {len(table.movers)}\n{vars(table.referee)}"
    )


# ------------------------------------------------------------------------------------------------- helpers


def or_none(value: int | None) -> int:
    """A seat as our state has it: -1 for none."""
    return NO_CARD if value is None else value


def padded(values: Sequence[int], size: int = 4, fill: int = 0) -> list[int]:
    """By seat, as our state has it: room for four."""
    return [*values, *[fill] * (size - len(values))]


def numbers(deck: Deck) -> dict[str, int]:
    """The number of each card by its name."""
    return {deck.name(card): card for card in range(deck.size)}


def order_of_plays(table: Table, played: Sequence[Sequence[str | None]], number: Mapping[str, int]) -> list[int]:
    """When each card was played, from 1; 0 for those not played or not seen."""
    when = [0] * len(number)
    so_far = [0] * len(played)
    for turn, seat in enumerate(table.movers, 1):
        card = played[seat][so_far[seat]]
        so_far[seat] += 1
        if card is not None:
            when[number[card]] = turn
    return when
