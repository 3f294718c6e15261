"""Viersche for the frame in agreement.py: random options, and what our views and rewards have to be."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import reference_viersche as viersche
from agreement import Fields, Table, numbers, order_of_plays
from reference_viersche import Viersche

from stich.envs.cards import FACE_DOWN, NO_CARD, NO_SEAT, VIERSCHE_DECK

NUMBER = numbers(VIERSCHE_DECK)
BITS = {name: 1 << number for name, number in NUMBER.items()}
DEAL_POINTS = 140
CHOICES = {name: values for name, values in viersche.CHOICES.items() if name != "episode"}


def bits(cards: Any) -> int:
    """A set of cards as our state has it; cards that are not seen (None) are not in it."""
    return sum(BITS[card] for card in cards if card is not None)


def suits(letters: Any) -> int:
    """A set of suits as our state has it."""
    return sum(1 << viersche.SUITS.index(letter) for letter in letters)


def random_options(luck: random.Random, episode: str, target: int | None = None) -> Fields:
    """One value for every option."""
    options: Fields = {"episode": episode, "target": target or luck.choice((71, 72, 80, 90, 100, 110, 125, 139, 140))}
    options |= {name: luck.choice(values) for name, values in CHOICES.items()}
    most = {"rungs": 5, "sweep_rungs": 3, "shutout_marks": 3, "marks": 3 if episode == "session" else 5}
    return options | {name: luck.randint(1, high) for name, high in most.items()}


def random_opening(luck: random.Random, options: Fields) -> Fields:
    """How a lane begins: as drawn, in the middle of a session, or with hands in which suits stick together."""
    given: Fields = {}
    kind = luck.choice(("drawn", "scores", "hands", "both"))
    if kind in ("scores", "both"):
        given["scores"] = random_standing(luck, options)
    if kind in ("hands", "both"):
        given["hands"] = sticky_hands(luck)
    return given


def random_standing(luck: random.Random, options: Fields) -> Fields:
    """Carried points, rungs left and marks with which a session can go on."""
    low = DEAL_POINTS - options["target"] + 1
    first = luck.randint(low, options["target"] - 1)
    return {
        "carried": luck.choice(([0, 0], [first, DEAL_POINTS - first])),
        "rungs": [luck.randint(1, options["rungs"]) for _ in range(2)],
        "marks": [luck.randint(0, options["marks"] - 1) for _ in range(2)],
    }


def sticky_hands(luck: random.Random) -> list[list[str]]:
    """Hands with long suits; jacks and the high cards of one side stick together too, so that sweeps come up."""
    pull, strength = luck.choice((0.2, 0.7, 1.5)), luck.choice((0.0, 0.0, 1.0, 3.0))
    seats = {suit: luck.random() for suit in viersche.SUITS}

    def place(card: str) -> float:
        high = card[1:] in ("J", "A", "K", "10")
        return luck.random() + pull * seats[card[0]] + strength * high

    cards = sorted(viersche.deck(), key=place)
    hands = [cards[s * 9 : (s + 1) * 9] for s in range(4)]
    return [hands[s] for s in luck.choice(((0, 2, 1, 3), (2, 0, 3, 1), (0, 1, 2, 3), (3, 1, 2, 0)))]


class VierscheSide:
    """What the frame must be told; see `agreement.Side`."""

    name = "viersche"
    deck = VIERSCHE_DECK

    def referee(self, options: Fields, given: Mapping[str, Any]) -> Viersche:
        scores = given.get("scores")
        if scores is None:
            return Viersche(**options)
        return Viersche(
            **options,
            carried=scores["carried"],
            rungs_left=scores["rungs"],
            marks_taken=scores["marks"],
            second_deal=sum(scores["carried"]) > 0,
        )

    def start(self, table: Table, options: Fields, state: np.void) -> None:
        """Hand over the deal; the deal passes to the next seat."""
        referee, dealer, turn_up = table.referee, int(state["dealer"]), int(state["turn_up"])
        if table.deal:
            assert dealer == referee.next_dealer(), f"dealer {dealer}"
        hands = [self.deck.names(hand) for hand in state["hands"]]
        trump = viersche.SUITS[int(state["trump"])]
        referee.start_deal(hands, dealer, trump, None if turn_up == NO_CARD else self.deck.name(turn_up))
        table.last = {"new_rungs": [0, 0], "new_marks": [0, 0], "score": table.last.get("score", [0, 0])}

    def result(self, table: Table) -> Fields:
        """Points of the deal, and what it brought to the sides if it ended a round or a game."""
        referee = table.referee
        rungs, marks = [0, 0], [0, 0]
        if referee.round_winner is not None:
            rungs[referee.round_winner] = referee.rungs_erased
        if referee.game_winner is not None and counts_marks(referee):
            marks[1 - referee.game_winner] = referee.marks_given
        return {"new_rungs": rungs, "new_marks": marks, "score": list(referee.points)}

    def common(self, table: Table, options: Fields, knows: Fields) -> Fields:
        return {
            "players": 4,
            "hand_size": 9,
            "episode": viersche.CHOICES["episode"].index(options["episode"]),
            "trump": viersche.SUITS.index(knows["trump"]),
            "turn_up": NO_CARD if knows["turn_up"] is None else NUMBER[knows["turn_up"]],
            "voids": [suits(void) for void in knows["voids"]],
            "bare": sum(1 << seat for seat in knows["bare"]),
            "second_deal": int(knows["second_deal"]),
            "carried": knows["carried"],
            "rungs": knows["rungs_left"],
            "marks": knows["marks_taken"],
            **table.last,
            **(at_the_end(table) if table.over else {}),
        }

    def own(self, table: Table, seat: int, knows: Fields) -> Fields:
        trick, lead = knows["trick"], knows["face_down"]
        hidden = NO_CARD if lead is None else self.shown(knows["played"][lead][0])
        winner = self.winner(knows, trick)
        table.notes |= {"bare seat"} if knows["bare"] else set()
        return {
            "hands": [bits(knows["hand"]) if s == seat else 0 for s in range(4)],
            "played": [bits(cards) for cards in knows["played"]],
            "when": order_of_plays(table, knows["played"], NUMBER),
            "trick": [self.shown(trick[s]) if s in trick else NO_CARD for s in range(4)],
            "winner": winner,
            "best": NO_CARD if winner == NO_SEAT else NUMBER[trick[winner]],
            "face_down": hidden,
            "points": knows["points"],
        }

    def shown(self, card: str | None) -> int:
        """A card on the table; None lies face down."""
        return FACE_DOWN if card is None else NUMBER[card]

    def winner(self, knows: Fields, trick: Mapping[int, str | None]) -> int:
        """Who would take the trick as it lies: the face-down card never, else the highest trump or card led."""
        trump, leader = knows["trump"], knows["leader"]
        first = trick and sum(knows["tricks"]) == 0
        cards = {s: c for s, c in trick.items() if c is not None and not (first and s == knows["face_down"])}
        led = trump if first else viersche.suit(cards[leader], trump) if trick else ""
        order = {s: self.value(c, led, trump) for s, c in cards.items()}
        winner = max(order, key=lambda s: order[s], default=NO_SEAT)
        return winner if winner != NO_SEAT and order[winner] >= 0 else NO_SEAT

    def value(self, card: str, led: str, trump: str) -> int:
        """How much a card is worth in a trick; -1 where it can't win."""
        suit = viersche.suit(card, trump)
        return viersche.height(card, trump) + 1000 * (suit == trump) if suit in (led, trump) else -1

    def rewards(self, table: Table, options: Fields) -> dict[str, list[float]]:
        """Difference of card points; over 140; at the end what the episode was about."""
        referee = table.referee
        points = float(referee.points[0] - referee.points[1])
        result = 0.0
        if options["episode"] == "deal":
            result = sign(referee.round_winner)
        elif options["episode"] == "round" and table.over:
            result = sign(referee.round_winner) * referee.rungs_erased
        elif options["episode"] == "game" and table.over:
            result = sign(referee.game_winner) * referee.marks_given
        elif table.over:
            result = -sign(referee.session_loser)
        kinds = {"points": points, "payoff": points / DEAL_POINTS, "result": result}
        return {kind: by_seat([value, -value]) for kind, value in kinds.items()}

    def final_score(self, table: Table, options: Fields) -> list[int]:
        """Card points of a deal, rungs erased by a round, marks of a game or session."""
        if options["episode"] == "deal":
            return by_seat(table.referee.points)
        if options["episode"] == "round":
            return by_seat(table.last["new_rungs"])
        return by_seat(table.referee.marks_taken)

    def events(self, table: Table) -> list[str]:
        referee = table.referee
        plays = [referee.played[s] for s in range(4)]
        happened = {
            "face down": referee.face_down is not None,
            "face down never shown": referee.face_down is not None and referee.reveal_face_down == "never",
            "sweep": referee.swept,
            "carried": referee.round_winner is None,
            "second deal": referee.second_deal,
            "stopped early": any(len(cards) < 9 for cards in plays),
            "game won": referee.game_winner is not None,
            "shutout": referee.game_winner is not None and referee.marks_given == referee.shutout_marks > 1,
            "surplus rung": referee.rungs_erased < referee.rungs_won,
            "game after game": referee.games_ended > 1,
            "session lost": referee.session_loser is not None,
            "Old Man kept back": any(kept_back(referee, s) for s in range(4)),
        }
        return [name for name, yes in happened.items() if yes]


def kept_back(referee: Viersche, seat: int) -> bool:
    """The seat has not followed trumps, and its very last card was the Old Man."""
    last = referee.played[seat][-1]
    return referee.trump in referee.failed[seat] and last == viersche.old_man(referee.trump)


def counts_marks(referee: Viersche) -> bool:
    """Deals and rounds by themselves give no marks on our side, even where one rung is a whole ladder."""
    return referee.episode in ("game", "session")


def at_the_end(table: Table) -> Fields:
    """Where our side shows the end of an episode otherwise than the referee, who wipes the table at the next deal.

    A round that is won has no second deal and nothing carried any more, where games are counted.
    """
    referee = table.referee
    if counts_marks(referee):
        return {"carried": [0, 0], "second_deal": 0}
    given = [0, 0]
    if referee.game_winner is not None:
        given[1 - referee.game_winner] = referee.marks_given
    return {"marks": [m - g for m, g in zip(referee.marks_taken, given, strict=True)]}


def sign(side: int | None) -> float:
    """How side 0 sees it that this side has it."""
    return 0.0 if side is None else 1.0 - 2.0 * side


def by_seat(values: Sequence[Any]) -> list[Any]:
    """Values of the two sides, by seat."""
    return [values[seat % 2] for seat in range(4)]
