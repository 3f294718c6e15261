"""Referee for Viersche (Hundert): slow, plain, made from the rules alone.

The rules as implemented here
-----------------------------
Cards are strings: suit letter (C D H S), then the rank (6..10 J Q K A): 36 cards, nine for each of four seats.  Seats
are numbered in the order of play; sides are 0 (seats 0 and 2) and 1 (seats 1 and 3).

*Trumps.*  The trump jack (Old Man) is highest, then the other jack of the same colour (Little Man), then A K Q 10 9 8
7 6 of the trump suit.  The Little Man is a trump and no card of its printed suit.  Plain suits: A K Q J 10 9 8 7 6.
Usually trumps are the suit of the dealer's last card, which everybody sees (``turn_up``); else a suit is named.

*Card points.*  Old Man 12, Little Man 12, aces 11, tens 10, kings 4, queens 3, the other two jacks 2: 140 in all.

*Play.*  The seat after the dealer leads first, and must lead a trump.  Without one it puts any card face down: the
others treat that as a trump lead, and the card cannot win.  It is shown when the trick is complete, or never.
Later any card may be led.  To a plain suit one plays that suit or a trump, having none of the suit anything.  To a
trump one plays a trump if one has any, else anything; with ``jack_exempt`` a hand whose only trump is the Old Man may
keep it then.  The highest trump wins, else the highest card of the suit led; the winner leads next.

*Round.*  The first deal is played out.  A side with ``target`` (100) or more wins the round: one rung, or
``sweep_rungs`` for all nine tricks.  If neither has it, the points are carried to a second deal, which stops as soon
as a side has the target in all: one rung.

*Game, session.*  A side that has erased all ``rungs`` rungs of its ladder wins the game; the other side gets one mark,
or ``shutout_marks`` if its own ladder is untouched.  What exceeds the ladder is lost.  A side with ``marks`` marks or
more has lost the session.

*When the table is wiped.*  Rungs and marks are booked when a deal ends.  The points carried, and a new ladder after a
game, change only when the next deal starts.  So ``carried`` plus ``points`` is always the count of the current round,
and at the end of an episode one still sees the final count and the final ladders.
"""

from __future__ import annotations

from typing import Any

SUITS = ("C", "D", "H", "S")
RANKS = ("6", "7", "8", "9", "10", "J", "Q", "K", "A")
ALL_CARDS = [s + r for s in SUITS for r in RANKS]
SAME_COLOUR = {"C": "S", "S": "C", "D": "H", "H": "D"}
PLAIN_POINTS = {"A": 11, "10": 10, "K": 4, "Q": 3, "J": 2}
TRUMP_JACK_POINTS = 12
SEATS = 4
HAND_SIZE = 9

CHOICES: dict[str, tuple[Any, ...]] = {
    "trump": ("turn_up", "random", *SUITS),
    "reveal_face_down": ("after_trick", "never"),
    "jack_exempt": (False, True),
    "episode": ("deal", "round", "game", "session"),
}


def old_man(trump: str) -> str:
    """The jack of trumps."""
    return trump + "J"


def little_man(trump: str) -> str:
    """The other jack of the trump colour."""
    return SAME_COLOUR[trump] + "J"


def suit(card: str, trump: str) -> str:
    """The suit a card belongs to in play: the Little Man is a trump."""
    return trump if card == little_man(trump) else card[0]


def height(card: str, trump: str) -> int:
    """How high a card is among the cards of its suit in play."""
    if card == old_man(trump):
        return 101
    if card == little_man(trump):
        return 100
    return RANKS.index(card[1:])


def card_points(card: str, trump: str) -> int:
    """What a card counts."""
    if card in (old_man(trump), little_man(trump)):
        return TRUMP_JACK_POINTS
    return PLAIN_POINTS.get(card[1:], 0)


def side(seat: int) -> int:
    """The side of a seat: 0 or 1."""
    return seat % 2


def deck() -> list[str]:
    """The 36 cards."""
    return list(ALL_CARDS)


def _check_options(values: dict[str, Any]) -> None:
    """Raise ValueError for unknown values."""
    for name, allowed in CHOICES.items():
        if values[name] not in allowed:
            raise ValueError(f"{name}={values[name]!r}: one of {allowed}")
    for name in ("rungs", "sweep_rungs", "shutout_marks", "marks"):
        if values[name] < 1:
            raise ValueError(f"{name} must be positive")
    if not 71 <= values["target"] <= 140:
        raise ValueError("target must be 71 to 140")


class Viersche:
    """One deal, round, game or session.  The caller deals: ``start_deal``, then ``play`` until ``phase`` says so."""

    def __init__(
        self,
        *,
        trump: str = "turn_up",
        reveal_face_down: str = "after_trick",
        jack_exempt: bool = False,
        target: int = 100,
        rungs: int = 4,
        sweep_rungs: int = 2,
        shutout_marks: int = 2,
        marks: int = 4,
        episode: str = "game",
        carried: tuple[int, int] = (0, 0),
        rungs_left: tuple[int, int] | None = None,
        marks_taken: tuple[int, int] = (0, 0),
        second_deal: bool = False,
    ) -> None:
        _check_options({k: v for k, v in locals().items() if k != "self"})
        self.trump_option = trump
        self.reveal_face_down = reveal_face_down
        self.jack_exempt = jack_exempt
        self.target = target
        self.rungs = rungs
        self.sweep_rungs = sweep_rungs
        self.shutout_marks = shutout_marks
        self.marks = marks
        self.episode = episode
        self.carried: list[int] = list(carried)
        self.rungs_left: list[int] = [rungs, rungs] if rungs_left is None else list(rungs_left)
        self.marks_taken: list[int] = list(marks_taken)
        self.second_deal = second_deal
        self._check_standing()
        self.phase = "deal_over"  # also before the first deal
        self.seat: int | None = None
        self.dealer: int | None = None
        self.points: list[int] = [0, 0]
        self.rounds_ended = 0
        self.games_ended = 0
        self._forget_results()

    def _forget_results(self) -> None:
        """What the deal just played decided; nothing so far."""
        self.round_winner: int | None = None
        self.swept = False
        self.rungs_won = 0  # what the round is worth: 1 or sweep_rungs
        self.rungs_erased = 0  # what was left of the ladder to take it from
        self.game_winner: int | None = None
        self.marks_given = 0
        self.session_loser: int | None = None

    def _check_standing(self) -> None:
        """Refuse a standing that cannot arise, or from which there is nothing to play."""
        # A second deal follows a whole first deal that neither side has won: all 140 points are carried.
        if self.second_deal and (sum(self.carried) != 140 or min(self.carried) < 0 or max(self.carried) >= self.target):
            raise ValueError("a second deal carries 140 points, neither side having the target")
        if not self.second_deal and any(self.carried):
            raise ValueError("nothing is carried into a first deal")
        if not all(1 <= left <= self.rungs for left in self.rungs_left):
            raise ValueError("rungs_left: 1 to rungs")
        if not all(0 <= taken < self.marks for taken in self.marks_taken):
            raise ValueError("marks_taken: 0 to marks - 1")

    # ---------------------------------------------------------------- dealing

    def start_deal(self, hands: list[list[str]], dealer: int, trump_suit: str, turn_up: str | None) -> None:
        """Begin a deal; the hands are those after dealing, the turned-up card among the dealer's."""
        if self.phase != "deal_over":
            raise ValueError(f"no deal may start now: {self.phase}")
        self._check_deal(hands, dealer, trump_suit, turn_up)
        self._wipe_table()
        self.hands: list[list[str]] = [list(h) for h in hands]
        self.dealer = dealer
        self.trump = trump_suit
        self.turn_up = turn_up
        self.played: list[list[str]] = [[] for _ in range(SEATS)]
        self.trick: dict[int, str] = {}  # in the order of play
        self.tricks: list[int] = [0] * SEATS
        self.failed: list[set[str]] = [set() for _ in range(SEATS)]  # suits (trumps too) not followed when asked for
        self.face_down: int | None = None  # the seat that led face down in this deal
        self.hidden_side: int | None = None  # the side that won the face-down card
        self.points = [0, 0]
        self.phase = "play"
        self.forehand = (dealer + 1) % SEATS
        self.seat = self.leader = self.forehand

    def _check_deal(self, hands: list[list[str]], dealer: int, trump_suit: str, turn_up: str | None) -> None:
        if len(hands) != SEATS or any(len(h) != HAND_SIZE for h in hands):
            raise ValueError("four hands of nine cards")
        if {c for h in hands for c in h} != set(ALL_CARDS):
            raise ValueError("a card twice, or one that is not in the deck")
        if not 0 <= dealer < SEATS or trump_suit not in SUITS:
            raise ValueError("no such dealer or suit")
        if (turn_up is not None) != (self.trump_option == "turn_up"):
            raise ValueError("a card is turned up exactly with trump='turn_up'")
        if turn_up is not None and (turn_up not in hands[dealer] or turn_up[0] != trump_suit):
            raise ValueError("the turned-up card is the dealer's, and its printed suit is trumps")
        if self.trump_option in SUITS and trump_suit != self.trump_option:
            raise ValueError(f"trumps are {self.trump_option}")

    def _wipe_table(self) -> None:
        """Carry the points of an undecided first deal; start a new round or a new ladder after a decision."""
        if self.dealer is None:
            return  # the first deal: the standing is the one given
        if self.round_winner is None:
            self.carried = [c + p for c, p in zip(self.carried, self.points, strict=True)]
            self.second_deal = True
        else:
            self.carried = [0, 0]
            self.second_deal = False
        if self.game_winner is not None:
            self.rungs_left = [self.rungs, self.rungs]
        self._forget_results()

    def next_dealer(self) -> int:
        """The dealer of the next deal: the next seat, also within a round."""
        if self.dealer is None:
            raise ValueError("no deal yet: the first dealer is drawn")
        return (self.dealer + 1) % SEATS

    # ---------------------------------------------------------------- what may be played

    def legal(self) -> set[str]:
        """The cards the seat to move may play; empty when nobody is to move."""
        if self.seat is None:
            return set()
        hand = set(self.hands[self.seat])
        trumps = {c for c in hand if self._is_trump(c)}
        if not self.trick:
            return (trumps or hand) if self._is_first_trick() else hand
        led = self._suit_led()
        if led == self.trump:
            return hand if self._may_keep(trumps) else (trumps or hand)
        following = {c for c in hand if suit(c, self.trump) == led}
        return following | trumps if following else hand

    def _may_keep(self, trumps: set[str]) -> bool:
        """``jack_exempt``: the Old Man, being the only trump, need not follow."""
        return self.jack_exempt and trumps == {old_man(self.trump)}

    def _is_trump(self, card: str) -> bool:
        return suit(card, self.trump) == self.trump

    def _is_first_trick(self) -> bool:
        return sum(self.tricks) == 0

    def _led_face_down(self) -> bool:
        """Whether the trick on the table was led face down."""
        return self._is_first_trick() and self.face_down is not None

    def _suit_led(self) -> str:
        if self._led_face_down():
            return self.trump
        assert self.leader is not None
        return suit(self.trick[self.leader], self.trump)

    # ---------------------------------------------------------------- playing

    def play(self, card: str) -> None:
        """The seat to move plays a card."""
        if card not in self.legal():
            raise ValueError(f"seat {self.seat} may not play {card} ({self.phase})")
        assert self.seat is not None
        seat = self.seat
        if not self.trick and self._is_first_trick() and not self._is_trump(card):
            self.face_down = seat
        self.hands[seat].remove(card)
        self.played[seat].append(card)
        self.trick[seat] = card
        self._note_failure(seat, card)
        if len(self.trick) == SEATS:
            self._end_trick()
        else:
            self.seat = (seat + 1) % SEATS

    def _note_failure(self, seat: int, card: str) -> None:
        """A seat shows that it lacks the suit asked for; trumping a plain suit shows nothing."""
        led = self._suit_led()
        if suit(card, self.trump) not in (led, self.trump):
            self.failed[seat].add(led)

    def _trick_winner(self) -> int:
        open_cards = {s: c for s, c in self.trick.items() if not (self._led_face_down() and s == self.leader)}
        trumps = [s for s in open_cards if self._is_trump(open_cards[s])]
        following = [s for s in open_cards if suit(open_cards[s], self.trump) == self._suit_led()]
        return max(trumps or following, key=lambda s: height(open_cards[s], self.trump))

    def _end_trick(self) -> None:
        winner = self._trick_winner()
        if self._led_face_down():
            self.hidden_side = side(winner)
        self.points[side(winner)] += sum(card_points(c, self.trump) for c in self.trick.values())
        self.tricks[winner] += 1
        self.trick = {}
        self.seat = self.leader = winner
        if not any(self.hands) or (self.second_deal and self._side_at_target() is not None):
            self._end_deal()

    # ---------------------------------------------------------------- scoring

    def _side_at_target(self) -> int | None:
        for s in (0, 1):
            if self.carried[s] + self.points[s] >= self.target:
                return s
        return None

    def _tricks_of(self, s: int) -> int:
        return self.tricks[s] + self.tricks[s + 2]

    def _end_deal(self) -> None:
        self.seat = self.leader = None
        self.round_winner = self._side_at_target()
        if self.round_winner is not None:
            self._end_round(self.round_winner)
        self.phase = "episode_over" if self._episode_is_over() else "deal_over"

    def _end_round(self, winner: int) -> None:
        self.rounds_ended += 1
        self.swept = not self.second_deal and self._tricks_of(winner) == HAND_SIZE
        self.rungs_won = self.sweep_rungs if self.swept else 1
        self.rungs_erased = min(self.rungs_won, self.rungs_left[winner])
        self.rungs_left[winner] -= self.rungs_erased
        if self.rungs_left[winner] == 0:
            self._end_game(winner)

    def _end_game(self, winner: int) -> None:
        loser = 1 - winner
        self.games_ended += 1
        self.game_winner = winner
        self.marks_given = self.shutout_marks if self.rungs_left[loser] == self.rungs else 1
        self.marks_taken[loser] += self.marks_given
        if self.marks_taken[loser] >= self.marks:
            self.session_loser = loser

    def _episode_is_over(self) -> bool:
        ended = {
            "deal": True,
            "round": self.round_winner is not None,
            "game": self.game_winner is not None,
            "session": self.session_loser is not None,
        }
        return ended[self.episode]

    # ---------------------------------------------------------------- what a seat knows

    def knows(self, seat: int) -> dict[str, Any]:
        """Everything ``seat`` may know now, and nothing else (lists are by seat, or by side)."""
        return {
            "phase": self.phase,
            "seat": self.seat,
            "dealer": self.dealer,
            "trump": self.trump,
            "turn_up": self.turn_up,
            "leader": self.leader,
            "hand": set(self.hands[seat]),
            "played": [self._seen_plays(seat, s) for s in range(SEATS)],
            "trick": {s: self._seen_plays(seat, s)[-1] for s in self.trick},
            "face_down": self.face_down,  # the seat that led face down in this deal: public, its card may not be
            "voids": self._shown_voids(),
            "bare": self._bare(),
            "points": self._seen_points(seat),
            "tricks": list(self.tricks),
            "second_deal": self.second_deal,
            "carried": list(self.carried),
            "rungs_left": list(self.rungs_left),
            "marks_taken": list(self.marks_taken),
        }

    def _hidden_from(self, viewer: int) -> bool:
        """Whether this deal has a face-down card that the viewer (a seat) has not seen."""
        if self.face_down is None or self.face_down == viewer:
            return False
        return self._is_first_trick() or self.reveal_face_down == "never"

    def _seen_plays(self, viewer: int, player: int) -> list[str | None]:
        """The cards a seat has played, in order; None for a card the viewer may not see."""
        plays: list[str | None] = list(self.played[player])
        if self._hidden_from(viewer) and player == self.face_down:
            plays[0] = None
        return plays

    def _seen_points(self, viewer: int) -> list[int]:
        """Card points by side, without those of a card never shown (to all but its player) until the deal ends.

        The card itself is not shown even then: "never" means never, only the count is made in the open.
        """
        points = list(self.points)
        if self.phase == "play" and self._hidden_from(viewer) and self.hidden_side is not None:
            assert self.face_down is not None
            points[self.hidden_side] -= card_points(self.played[self.face_down][0], self.trump)
        return points

    def _old_man_may_be_held_back(self) -> bool:
        """``jack_exempt`` with the Old Man still in a hand: failing to follow trumps does not prove a void."""
        return self.jack_exempt and not any(old_man(self.trump) in plays for plays in self.played)

    def _bare(self) -> set[int]:
        """Seats that did not follow trumps, and so hold no trump but perhaps the Old Man.

        Leading face down is another matter: the exemption does not cover the first lead, so that is a real void.
        Shown things are read from the plays alone, the same for all viewers: that somebody turned up or holds the Old
        Man (so that no other seat can) is left to the viewer to conclude.
        """
        if not self._old_man_may_be_held_back():
            return set()
        return {s for s in range(SEATS) if self.trump in self.failed[s] and s != self.face_down}

    def _shown_voids(self) -> list[set[str]]:
        """By seat the suits it has shown not to hold; the trump suit's letter stands for all trumps, jacks included."""
        bare = self._bare()
        return [self.failed[s] - ({self.trump} if s in bare else set()) for s in range(SEATS)]
