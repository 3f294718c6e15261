"""Should one go for the moon with this hand? The other cards are dealt at random, and both ways are played."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from rich.table import Table

from ..agents import load_agent
from ..envs.cards import NO_SEAT, SUITS, SYMBOLS
from ..envs.errors import DealError, OptionError
from ..envs.herzeln import DEAL_POINTS, cards_dealt
from .match import Estimate, Stopwatch, play_match
from .moon_context import ScoreValue
from .moon_play import GAME, MOONS, SHOOTER, Deals, break_even, dealt, play, watched_seats, with_hands
from .seeds import TEST, seed_of
from .statistics import interval, resampled

FIRST_BATCH, BATCH = 20, 500  # deals between two looks at the clock: few at first, as the table may be slow
POOL = 4000  # deals of four equal agents, of which games are made to value the score
PLAYOUTS = 400
RESAMPLES = 500


@dataclass(frozen=True)
class Answer:
    """What trying for the moon with a hand brings. Every figure has its 95 % interval: mean, low, high.

    Attributes:
        hand: The cards.
        table: Who sits at the other seats.
        deals: Random deals around the hand, each played both ways.
        chance: That the attempt succeeds.
        normal: Payoff of playing without ever trying.
        failed: Payoff of attempts that fail.
        gain: Payoff of trying minus that of normal play.
        break_even: The chance above which trying pays, in points.
        win_gain: The same gain in share of games won from the scores given; None without scores.
        win_break_even: The break-even chance in games won; None without scores.
        verdict: `go`, `don't` or `close`: whether the interval of the gain (of games won, where scores are given)
            leaves 0 out, and on which side.
        by_direction: Chance, gain and its interval by passing direction, where there are several.
    """

    hand: str
    table: str
    deals: int
    chance: tuple[float, float, float]
    normal: tuple[float, float, float]
    failed: tuple[float, float, float]
    gain: tuple[float, float, float]
    break_even: tuple[float, float, float]
    win_gain: tuple[float, float, float] | None
    win_break_even: tuple[float, float, float] | None
    verdict: str
    by_direction: dict[str, tuple[float, float, float, float]]

    def as_dict(self) -> dict[str, Any]:
        """The answer as plain values; None where there is no figure, as of failures where none has failed."""
        return {name: _plain(value) for name, value in asdict(self).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and np.isnan(value) else value


def parse_hand(text: str) -> int:
    """A hand as a bit set, from `S AQ5 H AKQJ9 D K2 C A43` or from card names.

    Raises:
        DealError: what is no card, or named twice.

    >>> parse_hand("S AQ") == parse_hand("SA SQ") == parse_hand("\u2660Q \u2660A")
    True
    """
    cards: list[str] = []
    suit = ""
    for word in text.upper().replace(",", " ").split():
        if word in SUITS or word in SYMBOLS:
            suit = word
        elif word[0] in SUITS + SYMBOLS and not (suit and _ranks(word)):
            cards.append(word)
        else:
            ranks = _ranks(word)
            if not suit or not ranks:
                raise DealError(f"{word!r} of the hand is not valid. Valid: suits and ranks, as in 'S AQ5 H K10 C A43'")
            cards += [suit + rank for rank in ranks]
    try:
        return GAME.deck.as_set(cards)
    except ValueError as error:
        raise DealError(f"hand: {error}") from None


def _ranks(word: str) -> list[str]:
    """The ranks of a word such as AQ109; empty where it is anything else."""
    found, rest = [], word.replace("10", "T")
    for letter in rest:
        found.append("10" if letter == "T" else letter)
    return found if all(rank in GAME.deck.ranks for rank in found) else []


def checked_hand(text: str, rules: Any) -> int:
    """A hand that can be dealt under the rules.

    Raises:
        DealError: a wrong number of cards, or a card that is not in play.
    """
    hand, size = parse_hand(text), int(GAME.new_states(rules, 0, np.zeros(1), np.zeros(1))["hand_size"][0])
    if hand.bit_count() != size:
        raise DealError(f"the hand has {hand.bit_count()} cards. Valid: {size} with {rules.players} players")
    out = hand & ~cards_dealt(rules)
    if out:
        raise DealError(f"{', '.join(GAME.deck.names(out))} is not in play with {rules.players} players")
    return hand


def parse_scores(text: str, rules: Any) -> np.ndarray:
    """int64[P]: totals, the own first, then in the order of play.

    Raises:
        OptionError: a wrong number of them, no numbers, or a game that is over.
    """
    try:
        totals = [int(word) for word in text.replace(",", " ").split()]
    except ValueError:
        valid = f"{rules.players} whole numbers, as in 40,62,71,18"
        raise OptionError(f"scores {text!r} are not valid. Valid: {valid}") from None
    if len(totals) != rules.players:
        raise OptionError(f"{len(totals)} scores given. Valid: {rules.players}, the own first, then as they play")
    if max(totals) >= rules.target:
        raise OptionError(f"scores {totals}: the game to {rules.target} is already over")
    return np.array(totals, np.int64)


def ask(
    hand: str,
    table: str = "rules",
    scores: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    shooter: str = "rules",
    deals: int = 3000,
    seconds: float = 4.0,
    seed: int = 0,
) -> Answer:
    """Play both ways with a hand and compare.

    Args:
        hand: As for `parse_hand`.
        table: The agent at the other seats.
        scores: Totals in the game, the own first, as `40,62,71,18`; None: only points count.
        options: Rule options, `preset` among them.
        shooter: Who plays the hand: an agent that takes an `aim`.
        deals: Random deals around the hand.
        seconds: After that long no more deals are begun: with a slow table there are fewer of them.
        seed: Of all draws.

    Raises:
        DealError, OptionError: what is wrong and what is valid.
    """
    given = dict(options or {})
    rules = GAME.options(given.pop("preset", None), **{**given, "episode": "deal"})
    if deals < 2:
        raise OptionError(f"deals={deals} is not valid. Valid: 2 or more, for an interval")
    totals = None if scores is None else parse_scores(scores, rules)
    agents = {aim: [load_agent(shooter, aim=aim), load_agent(table)] for aim in ("never", "always")}
    cards, key = checked_hand(hand, rules), seed_of(TEST, seed)
    played = _both_ways(rules, cards, totals, agents, key, deals, seconds)
    never, always = played["never"], played["always"]
    wins = None
    if totals is not None:
        value = table_value(rules, load_agent("rules"), key)
        ends = [added(each.score, np.logical_or(each.moon, each.other_moon)) for each in (never, always)]
        wins = np.stack([value.after(totals, *end) for end in ends], 1)
    directions = dealt(rules, key, 0, len(never.payoff))["direction"]
    return _answer(" ".join(GAME.deck.names(cards)), table, never, always, wins, directions)


def _both_ways(
    rules: Any,
    hand: int,
    totals: np.ndarray | None,
    agents: Mapping[str, Sequence[Any]],
    seed: int,
    deals: int,
    seconds: float,
) -> dict[str, Deals]:
    """Deals around the hand under both policies, as many as there is time for."""
    found: dict[str, list[Deals]] = {policy: [] for policy in agents}
    began, first, count = time.monotonic(), 0, min(FIRST_BATCH, deals)
    while count > 0:
        states, seats = dealt(rules, seed, first, count), watched_seats(rules, first, count)
        with_hands(rules, states, seats, np.full(count, hand), seed)
        if totals is not None:
            for place in range(rules.players):
                states["totals"][np.arange(count), (seats + place) % rules.players] = totals[place]
        for policy, pair in agents.items():
            found[policy].append(play(rules, states, seats, pair, seed, asking=Stopwatch(2)))
        first += count
        spent = time.monotonic() - began
        count = min(2 * count, BATCH, deals - first, int((seconds - spent) * first / max(spent, 1e-6)))
    return {policy: joined(parts) for policy, parts in found.items()}


def joined(parts: Sequence[Deals]) -> Deals:
    """Deals of several batches as one."""
    cards = [one for part in parts for one in part.cards]
    arrays = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in Deals.__dataclass_fields__
        if name != "cards"
    }
    return Deals(**arrays, cards=cards)


def table_value(rules: Any, agent: Any, seed: int) -> ScoreValue:
    """The value of a score in games of one agent under these rules."""
    owners = np.full((POOL, 1, rules.players), SHOOTER)
    played = play_match(GAME, rules, [agent], owners, seed=seed, first_deal=0)
    score, moons = added(played.score[:, 0].astype(np.int64), played.events[:, 0, :, MOONS].any(1))
    return ScoreValue(score, moons, rules.moon, PLAYOUTS, seed, rules.target)


def added(score: np.ndarray, moon: Any) -> tuple[np.ndarray, np.ndarray]:
    """Points int[N, P] with moons added to the others, however they were counted, and who shot them or NO_SEAT."""
    subtracted = moon & (score.min(1) < -DEAL_POINTS / 2)
    score = score + DEAL_POINTS * subtracted[:, None]
    return score, np.where(moon, score.argmin(1), NO_SEAT)


# ----------------------------------------------------------------------------------------------- answers


def _answer(
    hand: str, table: str, never: Deals, always: Deals, wins: np.ndarray | None, directions: np.ndarray
) -> Answer:
    """All figures with their intervals, by bootstrap over the deals."""
    players = never.score.shape[1]
    moon, gain = always.moon, always.payoff - never.payoff
    values = np.stack([never.payoff, np.where(moon, 0.0, always.payoff), ~moon, moon, gain], 1).astype(float)
    figures = _with_interval(values, _points)
    win_gain = win_break_even = None
    decisive = figures[3]
    if wins is not None:
        columns = [wins[:, 0], wins[:, 1], np.where(moon, 0.0, wins[:, 1]), np.where(moon, wins[:, 1], 0.0), moon]
        win_gain, win_break_even = _with_interval(np.stack(columns, 1).astype(float), _wins)
        decisive = win_gain
    seen = {int(direction): directions == direction for direction in np.unique(directions)}
    by_direction = {direction_name(d, players): _by_direction(moon[w], gain[w]) for d, w in seen.items()}
    return Answer(
        hand=hand,
        table=table,
        deals=len(gain),
        chance=figures[0],
        normal=figures[1],
        failed=figures[2],
        gain=figures[3],
        break_even=figures[4],
        win_gain=win_gain,
        win_break_even=win_break_even,
        verdict="go" if decisive[1] > 0 else "don't" if decisive[2] < 0 else "close",
        by_direction=by_direction if len(by_direction) > 1 else {},
    )


def _by_direction(moon: np.ndarray, gain: np.ndarray) -> tuple[float, float, float, float]:
    found = Estimate.of(gain)
    return float(moon.mean()), found.mean, found.low, found.high


def direction_name(direction: int, players: int) -> str:
    """`left`, `right`, `across` or `none`, from the offset of the seat that receives.

    >>> direction_name(2, 3), direction_name(2, 4)
    ('right', 'across')
    """
    return "none" if direction == 0 else "left" if direction == 1 else "right" if direction == players - 1 else "across"


def _points(mean: np.ndarray) -> np.ndarray:
    """Chance, normal play, failed attempts, gain, break-even chance from the means of one resample."""
    failed = mean[1] / mean[2] if mean[2] > 0 else np.nan
    return np.array([mean[3], mean[0], failed, mean[4], break_even(mean[0], failed, float(DEAL_POINTS))])


def _wins(mean: np.ndarray) -> np.ndarray:
    """Gain and break-even chance in games won from the means of one resample."""
    failures, moons = 1 - mean[4], mean[4]
    failed = mean[2] / failures if failures > 0 else np.nan
    success = mean[3] / moons if moons > 0 else np.nan
    spread = success - failed
    return np.array([mean[1] - mean[0], (mean[0] - failed) / spread if spread else np.nan])


def _with_interval(values: np.ndarray, figures: Any) -> list[tuple[float, float, float]]:
    """Each figure of the means of values [N, C], with its interval."""
    with np.errstate(invalid="ignore"):
        low, high = interval(resampled(values, RESAMPLES, 0, figures))
    return list(zip(figures(values.mean(0)).tolist(), low.tolist(), high.tolist(), strict=True))


# ------------------------------------------------------------------------------------------------- words

VERDICTS = {
    "go": "go for the moon",
    "don't": "don't go for the moon",
    "close": "too close to call: these deals don't tell which is better",
}


def answer_table(answer: Answer) -> Table:
    """The answer for a terminal."""
    shown = Table("", "", "95 % interval", title=f"{answer.hand} against {answer.table}, {answer.deals:,} random deals")
    rows = [
        ("chance of the moon", answer.chance, _percent),
        ("break-even chance, points", answer.break_even, _percent),
        ("payoff of normal play", answer.normal, _points_text),
        ("payoff of a failed attempt", answer.failed, _points_text),
        ("gain of trying, points", answer.gain, _points_text),
        ("gain of trying, games won", answer.win_gain, _percent),
        ("break-even chance, games won", answer.win_break_even, _percent),
    ]
    for name, figure, text in rows:
        if figure is not None:
            shown.add_row(name, text(figure[0]), f"{text(figure[1])} to {text(figure[2])}")
    for direction, (chance, gain, low, high) in answer.by_direction.items():
        interval_text = f"{_points_text(low)} to {_points_text(high)}"
        shown.add_row(f"passing {direction}: chance, gain", f"{_percent(chance)}, {_points_text(gain)}", interval_text)
    shown.caption = f"Verdict: {VERDICTS[answer.verdict]}"
    return shown


def _percent(value: float) -> str:
    return "none" if np.isnan(value) else f"{100 * value:.1f} %"


def _points_text(value: float) -> str:
    return "none" if np.isnan(value) else f"{value:+.2f}"
