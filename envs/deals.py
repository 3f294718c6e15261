"""Deals given by hand: names and numbers checked, then put into a state."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .cards import NO_CARD, SUITS
from .errors import DealError, unknown
from .herzeln import PASSING_FOR, cards_dealt
from .rng import agent_keys

KEYS = {
    "herzeln": ("hands", "dealer", "direction", "scores", "kitty"),
    "viersche": ("hands", "dealer", "turn_up", "trump", "scores"),
}


def place_herzeln(game: Any, state: Any, options: Any, given: Mapping[str, Any]) -> None:
    """Put a deal of Herzeln into an opened state [1]."""
    _known(game, given)
    players = options.players
    _put_dealer(game, state, given, players)
    if given.get("scores") is not None:
        totals = _totals(_numbers("scores", given["scores"], players), options)
        state["totals"][0, :players] = totals
        state["in_extra_deals"] = max(totals) >= options.target
    game.lanes.deal_lane(state, 0, True)
    if given.get("hands") is not None:
        size = int(state["hand_size"][0])
        hands = _hands(game, given["hands"], players, size, cards_dealt(options))
        state["hands"][0, :players] = hands
        kitty = cards_dealt(options) & ~sum(hands) if options.three_players == "kitty" else 0
        state["kitty"] = kitty.bit_length() - 1 if kitty else NO_CARD
    if given.get("kitty") is not None:
        card = _card(game, "kitty", given["kitty"])
        if options.three_players != "kitty" or int(state["kitty"][0]) != card:
            raise DealError(f"kitty={given['kitty']!r} is not the card that the hands leave over")
    if given.get("direction") is not None:
        state["direction"] = _direction(given["direction"], options)
    game.lanes.deal_lane(state, 0, False)


def _totals(totals: list[int], options: Any) -> list[int]:
    """Totals at which a game can go on."""
    if options.episode == "deal" and any(totals):
        raise DealError(f"scores={totals} needs a whole game: with episode='deal' all start from 0")
    tied = options.tie == "extra_deals" and totals.count(min(totals)) > 1
    if max(totals) >= options.target and not tied:
        raise DealError(f"scores={totals}: the game to {options.target} is already over")
    return totals


def _direction(direction: Any, options: Any) -> int:
    """The offset of the seat that receives, from a name or the offset itself."""
    players = options.players
    offsets = {"none": 0, "left": 1, "right": players - 1, "across": 2}
    valid = [name for name in PASSING_FOR[players] if name in offsets]
    if options.passing not in ("cycle", "random"):
        valid = [options.passing]
    named = {name: offsets[name] for name in valid}
    found = named.get(direction) if isinstance(direction, str) else direction
    if found is None or isinstance(found, bool) or found not in list(named.values()):
        raise DealError(
            f"direction={direction!r} is not possible with players={players}, passing={options.passing!r}. "
            f"Valid: {', '.join(f'{name} ({offset})' for name, offset in named.items())}"
        )
    return int(found)


def place_viersche(game: Any, state: Any, options: Any, given: Mapping[str, Any]) -> None:
    """Put a deal of Viersche into an opened state [1]."""
    _known(game, given)
    _put_dealer(game, state, given, 4)
    if given.get("scores") is not None:
        _put_match(state, options, given["scores"])
    game.lanes.deal_lane(state, 0, True)
    dealer = int(state["dealer"][0])
    if given.get("hands") is not None:
        state["hands"][0] = _hands(game, given["hands"], 4, 9, (1 << game.deck.size) - 1)
        if options.trump == "turn_up":
            held = game.deck.in_set(int(state["hands"][0, dealer]))
            key = agent_keys(int(state["seed"][0]), int(state["lane_deal"][0]), dealer, 0)[0]
            state["turn_up"] = held[int(key % np.uint64(len(held)))]
    _put_trump(game, state, options, given, dealer)
    game.lanes.deal_lane(state, 0, False)


def _put_trump(game: Any, state: Any, options: Any, given: Mapping[str, Any], dealer: int) -> None:
    """Set the turn-up or the trump suit, as the trump option allows."""
    turn_up, trump = given.get("turn_up"), given.get("trump")
    if options.trump == "turn_up":
        _put_turn_up(game, state, given, dealer)
        return
    if turn_up is not None:
        raise DealError(f"turn_up={turn_up!r} needs the option trump='turn_up', not {options.trump!r}")
    if trump is not None:
        valid = list(SUITS) if options.trump == "random" else [options.trump]
        if trump not in valid:
            raise DealError(f"trump={trump!r} is not possible. Valid: {', '.join(valid)}")
        state["trump"] = SUITS.index(trump)


def _put_turn_up(game: Any, state: Any, given: Mapping[str, Any], dealer: int) -> None:
    """Turn up the card named, or one of the suit named; hands that were drawn are made to fit."""
    turn_up, trump, ranks = given.get("turn_up"), given.get("trump"), len(game.deck.ranks)
    if trump is not None and trump not in list(SUITS):
        raise DealError(f"trump={trump!r} is not possible. Valid: {', '.join(SUITS)}")
    if turn_up is not None:
        card = _card(game, "turn_up", turn_up)
        if trump is not None and trump != SUITS[card // ranks]:
            raise DealError(f"trump={trump!r} is not the suit of turn_up={turn_up!r}")
    elif trump is None or trump == SUITS[int(state["turn_up"][0]) // ranks]:
        card = int(state["turn_up"][0])
    else:
        suit = ((1 << ranks) - 1) << ranks * SUITS.index(trump)
        held = int(state["hands"][0, dealer]) & suit
        card = game.deck.in_set(held or suit)[0]
    if not int(state["hands"][0, dealer]) >> card & 1:
        if given.get("hands") is not None:
            wanted = f"turn_up={turn_up!r}" if turn_up is not None else f"a card for trump={trump!r}"
            raise DealError(f"{wanted} is not in the hand of the dealer, seat {dealer}")
        _swap(state, dealer, int(state["turn_up"][0]), card)
    state["turn_up"], state["trump"] = card, card // ranks


def _swap(state: Any, dealer: int, given_away: int, card: int) -> None:
    """The dealer gets a card for another of its own."""
    holder = next(seat for seat in range(4) if int(state["hands"][0, seat]) >> card & 1)
    both = 1 << given_away | 1 << card
    state["hands"][0, dealer] ^= both
    state["hands"][0, holder] ^= both


def _put_match(state: Any, options: Any, scores: Any) -> None:
    """Carried points, rungs left and marks of the two sides."""
    limits = {
        "carried": (0, options.target - 1),
        "rungs": (1, options.rungs),
        "marks": (0, options.marks - 1),
    }
    if not isinstance(scores, Mapping):
        raise DealError(f"scores={scores!r} is not valid. Valid: a mapping with {', '.join(limits)}, two numbers each")
    for name, values in scores.items():
        if name not in limits:
            raise DealError(unknown("score", name, limits))
        low, high = limits[name]
        numbers = _numbers(f"scores[{name!r}]", values, 2)
        if not all(low <= number <= high for number in numbers):
            raise DealError(f"scores[{name!r}]={values!r} is not valid. Valid: {low} to {high} for each side")
        if name == "carried" and sum(numbers) not in (0, 140):
            raise DealError(f"scores['carried']={values!r} do not add up to the 140 points of a first deal (or 0)")
        state[name][0] = numbers
    state["second_deal"] = int(state["carried"].sum() > 0)


def _known(game: Any, given: Mapping[str, Any]) -> None:
    """Refuse a misspelt key and one of another game.

    Any other key only warns, for PettingZoo lets callers pass any to `reset`.
    """
    valid = KEYS[game.name]
    if not isinstance(given, Mapping):
        raise DealError(f"{given!r} is no deal. Valid: a mapping with {', '.join(valid)}")
    for key in given:
        if key in valid:
            continue
        elsewhere = any(key in keys for keys in KEYS.values())
        if elsewhere or difflib.get_close_matches(str(key), valid, n=1, cutoff=0.7):
            raise DealError(unknown("reset option", key, valid))
        warnings.warn(f"ignored: {unknown('reset option', key, valid)}", stacklevel=2)


def _put_dealer(game: Any, state: Any, given: Mapping[str, Any], players: int) -> None:
    dealer = given.get("dealer")
    if dealer is None:
        return
    if isinstance(dealer, bool) or not isinstance(dealer, int | np.integer) or not 0 <= dealer < players:
        raise DealError(f"dealer={dealer!r} is no seat. Valid: 0 to {players - 1}")
    state["dealer"] = dealer


def entries(values: Any) -> int:
    """How many entries something has; 0 where it is no sequence."""
    try:
        return len(values)
    except TypeError:
        return 0


def _numbers(name: str, values: Any, count: int) -> list[int]:
    if not isinstance(values, Sequence | np.ndarray) or entries(values) != count:
        raise DealError(f"{name}={values!r} is not valid. Valid: {count} whole numbers")
    if any(isinstance(v, bool) or not isinstance(v, int | np.integer) or abs(int(v)) > 1_000_000 for v in values):
        raise DealError(f"{name}={values!r} is not valid. Valid: {count} whole numbers up to a million")
    return [int(v) for v in values]


def _card(game: Any, name: str, card: Any) -> int:
    try:
        return game.deck.in_set(game.deck.as_set([card]))[0]
    except (ValueError, TypeError) as error:
        raise DealError(f"{name}={card!r} is no card: {error}") from None


def _hands(game: Any, hands: Any, players: int, size: int, dealt: int) -> list[int]:
    """Bit sets of the hands by seat, each of the right size and no card twice."""
    if isinstance(hands, Mapping):
        hands = [hands.get(seat, hands.get(f"player_{seat}", ())) for seat in range(players)]
    if not isinstance(hands, Sequence | np.ndarray) or isinstance(hands, str):
        raise DealError(f"hands={hands!r} is not valid. Valid: {players} hands, by seat")
    if entries(hands) != players:
        raise DealError(f"{entries(hands)} hands given for {players} players")
    found: list[int] = []
    for seat, hand in enumerate(hands):
        cards = _hand(game, seat, hand)
        if cards.bit_count() != size:
            raise DealError(f"the hand of seat {seat} has {cards.bit_count()} cards, not {size}")
        if cards & ~dealt:
            raise DealError(f"{', '.join(game.deck.names(cards & ~dealt))} in the hand of seat {seat} is not in play")
        for other, earlier in enumerate(found):
            if cards & earlier:
                both = ", ".join(game.deck.names(cards & earlier))
                raise DealError(f"{both} is in the hands of seats {other} and {seat}")
        found.append(cards)
    return found


def _hand(game: Any, seat: int, hand: Any) -> int:
    """A hand given as names, as numbers, as one text of names, or as a bit set."""
    if isinstance(hand, int | np.integer):
        return int(hand)
    try:
        return game.deck.as_set(hand.split() if isinstance(hand, str) else hand)
    except (ValueError, TypeError) as error:
        raise DealError(f"hand of seat {seat}: {error}") from None
