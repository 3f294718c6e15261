"""Herzeln for the frame in agreement.py: random options, and what our views and rewards have to be."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import reference_herzeln as herzeln
from agreement import Fields, Table, numbers, order_of_plays, padded
from reference_herzeln import JACK, Herzeln

from stich.envs.cards import HERZELN_DECK, NO_CARD, NO_SEAT

NUMBER = numbers(HERZELN_DECK)
PENALTIES = {card for card in NUMBER if herzeln.penalty(card)}
BITS = {name: 1 << number for name, number in NUMBER.items()}
FLAGS = (
    "points_in_first_trick",
    "must_break_hearts",
    "queen_breaks_hearts",
    "hearts_instead_of_queen",
    "jack_of_diamonds",
    "no_trick_bonus",
)
VALUES: dict[str, dict[int, tuple[str, ...]]] = {
    "passing": {
        4: ("none", "cycle", "left", "right", "across", "random"),
        3: ("none", "cycle", "left", "right", "random"),
        2: ("none", "cycle", "random"),
    },
    "three_players": {3: ("drop_diamond_two", "drop_club_two", "kitty")},
    "two_players": {2: ("full", "half")},
    "first_lead": dict.fromkeys((2, 3, 4), ("club_two", "any_club", "left_of_dealer")),
    "moon": dict.fromkeys((2, 3, 4), ("add", "subtract", "add_unless_loses")),
    "tie": dict.fromkeys((2, 3, 4), ("share", "extra_deals")),
    "first_dealer": dict.fromkeys((2, 3, 4), ("random", "last")),
}


def bits(cards: Any) -> int:
    """A set of cards as our state has it."""
    return sum([BITS[card] for card in cards])


def suits(letters: Any) -> int:
    """A set of suits as our state has it."""
    return sum(1 << herzeln.SUITS.index(letter) for letter in letters)


def random_options(luck: random.Random, players: int, episode: str, target: int | None = None) -> Fields:
    """One value for every option."""
    options: Fields = {"players": players, "episode": episode, "target": target or luck.randint(1, 60)}
    options |= {name: luck.choice((False, True)) for name in FLAGS}
    return options | {name: luck.choice(values[players]) for name, values in VALUES.items() if players in values}


def random_opening(luck: random.Random, options: Fields) -> Fields:
    """How a lane begins: as drawn, with standings near the target, or with hands in which suits stick together."""
    kind = luck.choice(("drawn", "scores", "hands", "both") if options["episode"] == "game" else ("drawn", "hands"))
    given: Fields = {}
    if kind in ("scores", "both"):
        given["scores"] = random_totals(luck, options)
    if kind in ("hands", "both"):
        given["hands"] = sticky_hands(luck, options)
    return given


def random_totals(luck: random.Random, options: Fields) -> list[int]:
    """Totals with which a game can go on; with extra deals also a tie in the play-off."""
    target, players = options["target"], options["players"]
    if options["tie"] == "extra_deals" and luck.random() < 0.5:
        low = luck.randint(target - 12, target + 2) if players > 2 else target + luck.randint(0, 5)
        return [low, low, *[target + luck.randint(3, 9) for _ in range(players - 2)]][::-1]
    return [target - luck.randint(1, 70) for _ in range(players)]


def sticky_hands(luck: random.Random, options: Fields) -> list[list[str]]:
    """Hands with long suits (the queen of spades counts as a heart), so that moons and empty hands come up."""
    players, drop = options["players"], options.get("three_players", "drop_diamond_two")
    size = herzeln.hand_size(players, options.get("two_players", "full"))
    pull, seats = luck.choice((0.2, 0.7, 1.5, 9.0)), {suit: luck.random() for suit in herzeln.SUITS}
    place = {c: luck.random() + pull * seats["H" if c == herzeln.QUEEN else c[0]] for c in herzeln.deck(players, drop)}
    cards = sorted(place, key=lambda c: place[c])
    if len(cards) > size * players and luck.random() < 0.5:
        cards.reverse()  # a kitty, or cards out of play, from either end
    return [cards[s * size : (s + 1) * size] for s in range(players)]


class HerzelnSide:
    """What the frame must be told; see `agreement.Side`."""

    name = "herzeln"
    deck = HERZELN_DECK

    def referee(self, options: Fields, given: Mapping[str, Any]) -> Herzeln:
        return Herzeln(
            **{name: value for name, value in options.items() if name != "first_dealer"},
            totals=given.get("scores"),
        )

    def start(self, table: Table, options: Fields, state: np.void) -> None:
        """Hand over the deal; the direction follows the deal's number, the deal passes to the left."""
        referee, players = table.referee, options["players"]
        dealer, direction = int(state["dealer"]), int(state["direction"])
        if table.deal:
            assert dealer == referee.next_dealer(), f"dealer {dealer}"
        elif options["first_dealer"] == "last":
            assert dealer == players - 1, f"first dealer {dealer}"
        allowed = herzeln.directions(players, options["passing"])
        number = table.deal if options["episode"] == "game" else table.lane_deal
        assert direction in (allowed if options["passing"] == "random" else [allowed[number % len(allowed)]]), (
            f"direction {direction}"
        )
        hands = [self.deck.names(hand) for hand in state["hands"][:players]]
        kitty = int(state["kitty"])
        referee.start_deal(hands, dealer, direction, None if kitty == NO_CARD else self.deck.name(kitty))
        table.last = table.last or self.nothing(players)
        table.notes |= {"play-off"} if referee.in_extra_deals else set()

    def nothing(self, players: int) -> Fields:
        """Before the first deal has been scored."""
        return {"score": [0] * players, "moon_seat": NO_SEAT}

    def result(self, table: Table) -> Fields:
        shooter = table.referee.shooter
        return {"score": table.referee.deal_points, "moon_seat": NO_SEAT if shooter is None else shooter}

    def common(self, table: Table, options: Fields, knows: Fields) -> Fields:
        referee = table.referee
        trick = knows["trick"]
        led = trick[knows["leader"]][0] if trick else ""
        winner = max(trick, key=lambda s: (trick[s][0] == led, herzeln.height(trick[s]))) if trick else NO_SEAT
        return {
            "players": options["players"],
            "hand_size": herzeln.hand_size(options["players"], options.get("two_players", "full")),
            "episode": herzeln.CHOICES["episode"].index(options["episode"]),
            "direction": knows["direction"],
            "played": padded([bits(cards) for cards in knows["played"]]),
            "when": order_of_plays(table, knows["played"], NUMBER),
            "trick": padded([NUMBER[trick[s]] if s in trick else NO_CARD for s in range(4)]),
            "winner": winner,
            "best": NUMBER[trick[winner]] if trick else NO_CARD,
            "voids": padded([suits(void) for void in knows["voids"]]),
            "taken": padded([bits((PENALTIES | {JACK}) & set(taken)) for taken in referee.taken]),
            "broken": int(knows["hearts_broken"]),
            "totals": padded(knows["totals"]),
            "in_extra_deals": int(referee.in_extra_deals),
            "score": padded(table.last["score"]),
            "moon_seat": table.last["moon_seat"],
        }

    def own(self, table: Table, seat: int, knows: Fields) -> Fields:
        for other, captured in enumerate(knows["captured"]):  # `taken` plus the kitty, for whoever sees it
            kitty = {knows["kitty"]} if other == seat else set()
            assert captured - kitty == PENALTIES & set(table.referee.taken[other]), f"captured {captured}"
        return {
            "hands": self.only(seat, bits(knows["hand"])),
            "passed": self.only(seat, bits(knows["passed"])),
            "received": self.only(seat, bits(knows["received"])),
            "kitty": NO_CARD if knows["kitty"] is None else NUMBER[knows["kitty"]],
        }

    def only(self, seat: int, value: int) -> list[int]:
        """A value at one seat, 0 at all others."""
        return [value if s == seat else 0 for s in range(4)]

    def rewards(self, table: Table, options: Fields) -> dict[str, list[float]]:
        """Minus the points; mean of the others minus own over 26; the share of the win above the average."""
        points = table.referee.deal_points
        others = len(points) - 1
        payoff = [((sum(points) - own) / others - own) / 26 for own in points]
        result = payoff if options["episode"] == "deal" else [0.0] * len(points)
        if options["episode"] == "game" and table.over:
            winners = table.referee.winners()
            result = [(s in winners) / len(winners) - 1 / len(points) for s in range(len(points))]
        return {"points": [-float(p) for p in points], "payoff": payoff, "result": result}

    def final_score(self, table: Table, options: Fields) -> list[int]:
        return table.referee.deal_points if options["episode"] == "deal" else table.referee.totals

    def events(self, table: Table) -> list[str]:
        referee = table.referee
        happened = {
            "moon": referee.shooter is not None,
            "moon subtracted": referee.shooter is not None and min(referee.deal_points) <= -16,
            "no trick": 0 in referee.tricks,
            "passed": referee.direction > 0,
            "kitty counts": referee.kitty is not None and herzeln.penalty(referee.kitty),
            "tied at the target": referee.in_extra_deals,
            "shared win": referee.phase == "game_over" and referee.totals.count(min(referee.totals)) > 1,
            "later deal": table.deal > 0,
            "game to 100": referee.phase == "game_over" and referee.episode == "game" and max(referee.totals) >= 100,
        }
        return [name for name, yes in happened.items() if yes]
