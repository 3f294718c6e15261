"""Referee for Herzeln (Hearts): slow, plain, made from the rules alone.

The rules as implemented here
-----------------------------
Cards are strings: suit letter (C D H S), then the rank (2..10 J Q K A); the ace is high, nothing is trump.
Seats are numbered in the order of play.  Two to four players, each for itself.  Four get 13 cards each.
Three get 17: one card (2 of diamonds, or 2 of clubs) is left out, or the 52nd lies face down as the *kitty*.
Two get 26 each, or 13 each with 26 cards out of play (``half``).

*Passing.*  Before the play each seat may have to give three cards to the seat ``direction`` places further on.
Starting with the seat after the dealer, each names its three cards one by one; all gifts arrive together at the end.

*First lead.*  The holder of the lowest club in anybody's hand (after passing) leads: exactly that card (``club_two``)
or any of its clubs (``any_club``).  With ``left_of_dealer`` the seat after the dealer leads anything but a heart or the
queen of spades, and anything at all when it has nothing else.  ``half`` without a club in play is led like that too.

*Tricks.*  Follow suit if you can, else play what you like; the highest card of the suit led wins and leads next.
In the first trick hearts and the queen of spades are barred among the cards that could be played otherwise, unless
those are the only ones (``points_in_first_trick`` lifts this).  A heart may be led once a heart has been played
(``queen_breaks_hearts``: or the queen of spades), or from a hand of nothing but hearts.  So from hearts and the queen
only, the queen must be led, unless ``hearts_instead_of_queen``.  ``must_break_hearts=False`` lifts all of this.

*Points.*  A heart costs 1, the queen of spades 13.  The kitty belongs to the winner of the first trick.
A player who took every penalty card in play (at least one) shot the moon: it gets 0 and each other player the points
in play (``add``); or minus those points and the others 0 (``subtract``); or the first, unless somebody would then stand
at the target with the shooter not (even jointly) lowest, in which case the second (``add_unless_loses``).
``jack_of_diamonds``: -10 for its taker.  ``no_trick_bonus``: -5 for a seat without a trick, but not in a moon deal.

*Game.*  It ends after a deal with somebody at the target or more; the lowest total wins, ties share the win, or
(``extra_deals``) deals go on until one stands alone lowest.
"""

from __future__ import annotations

from typing import Any

SUITS = ("C", "D", "H", "S")
RANKS = ("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A")
ALL_CARDS = [s + r for s in SUITS for r in RANKS]
QUEEN = "SQ"
JACK = "DJ"
CARDS_PASSED = 3

CHOICES: dict[str, tuple[Any, ...]] = {
    "players": (2, 3, 4),
    "first_lead": ("club_two", "any_club", "left_of_dealer"),
    "passing": ("none", "cycle", "left", "right", "across", "random"),
    "moon": ("add", "subtract", "add_unless_loses"),
    "three_players": ("drop_diamond_two", "drop_club_two", "kitty"),
    "two_players": ("full", "half"),
    "tie": ("share", "extra_deals"),
    "episode": ("deal", "game"),
}


def suit(card: str) -> str:
    """The suit letter of a card."""
    return card[0]


def height(card: str) -> int:
    """How high a card is within its suit."""
    return RANKS.index(card[1:])


def penalty(card: str) -> int:
    """The penalty points of a card: 1, 13 or 0."""
    if card == QUEEN:
        return 13
    return 1 if suit(card) == "H" else 0


def deck(players: int, three_players: str = "drop_diamond_two") -> list[str]:
    """The cards used: 51 for three players, all 52 with a kitty (one of them) or other numbers of players."""
    if players != 3 or three_players == "kitty":
        return list(ALL_CARDS)
    dropped = {"drop_diamond_two": "D2", "drop_club_two": "C2"}[three_players]
    return [c for c in ALL_CARDS if c != dropped]


def hand_size(players: int, two_players: str = "full") -> int:
    """How many cards each seat is dealt."""
    if players == 2:
        return 13 if two_players == "half" else 26
    return {3: 17, 4: 13}[players]


def directions(players: int, passing: str) -> list[int]:
    """The passing directions an option allows; for ``cycle`` in the order of the deals."""
    if players == 2 or passing == "none":
        return [0]
    left, right, across = 1, players - 1, 2
    if passing in ("cycle", "random"):
        return [left, right, across, 0] if players == 4 else [left, right, 0]
    return [{"left": left, "right": right, "across": across}[passing]]


def _check_options(values: dict[str, Any]) -> None:
    """Raise ValueError for unknown values and for contradictions."""
    for name, allowed in CHOICES.items():
        if values[name] not in allowed:
            raise ValueError(f"{name}={values[name]!r}: one of {allowed}")
    players = values["players"]
    if players != 3 and values["three_players"] != "drop_diamond_two":
        raise ValueError("three_players needs players=3")
    if players != 2 and values["two_players"] != "full":
        raise ValueError("two_players needs players=2")
    if players == 2 and values["passing"] in ("left", "right", "across"):
        raise ValueError("two players do not pass")
    if players == 3 and values["passing"] == "across":
        raise ValueError("nobody sits across with three players")
    if not isinstance(values["target"], int) or values["target"] < 1:
        raise ValueError("target must be a positive integer")
    # Options without an effect beside another one (queen_breaks_hearts beside must_break_hearts=False, target or tie
    # beside episode="deal") are idle, not contradictory: they are accepted.


class Herzeln:
    """One game (or one deal) of Herzeln.  The caller deals: ``start_deal``, then ``play`` until ``phase`` says so."""

    def __init__(
        self,
        *,
        players: int = 4,
        first_lead: str = "club_two",
        points_in_first_trick: bool = False,
        must_break_hearts: bool = True,
        queen_breaks_hearts: bool = False,
        hearts_instead_of_queen: bool = False,
        passing: str = "none",
        moon: str = "add",
        jack_of_diamonds: bool = False,
        no_trick_bonus: bool = False,
        three_players: str = "drop_diamond_two",
        two_players: str = "full",
        target: int = 100,
        tie: str = "share",
        episode: str = "game",
        totals: list[int] | None = None,
    ) -> None:
        values = {k: v for k, v in locals().items() if k not in ("self", "totals")}
        _check_options(values)
        self.players = players
        self.first_lead = first_lead
        self.points_in_first_trick = points_in_first_trick
        self.must_break_hearts = must_break_hearts
        self.queen_breaks_hearts = queen_breaks_hearts
        self.hearts_instead_of_queen = hearts_instead_of_queen
        self.passing = passing
        self.moon = moon
        self.jack_of_diamonds = jack_of_diamonds
        self.no_trick_bonus = no_trick_bonus
        self.three_players = three_players
        self.two_players = two_players
        self.target = target
        self.tie = tie
        self.episode = episode
        self.totals: list[int] = [0] * players if totals is None else list(totals)
        self.in_extra_deals = False  # True from the deal that reached the target with a tie for the lowest place
        self._check_totals()
        self.phase = "deal_over"  # also before the first deal
        self.seat: int | None = None
        self.dealer: int | None = None
        self.deal_points: list[int] = [0] * players
        self.shooter: int | None = None

    def _check_totals(self) -> None:
        """Refuse standings that do not fit the table, or from which there is nothing to play."""
        if len(self.totals) != self.players:
            raise ValueError("totals: one for each player")
        if self.episode == "deal" and any(self.totals):
            raise ValueError("a single deal starts from 0")
        if self._game_is_over():
            raise ValueError("with these totals the game is over")

    # ---------------------------------------------------------------- dealing

    def start_deal(self, hands: list[list[str]], dealer: int, direction: int, kitty: str | None = None) -> None:
        """Begin a deal; ``direction`` is how many seats further each passed card goes (0: no passing)."""
        if self.phase != "deal_over":
            raise ValueError(f"no deal may start now: {self.phase}")
        self._check_deal(hands, dealer, direction, kitty)
        n = self.players
        self.hands: list[list[str]] = [list(h) for h in hands]
        self.dealer = dealer
        self.direction = direction
        self.kitty = kitty
        self.kitty_winner: int | None = None
        self.in_play: list[str] = [c for h in hands for c in h] + ([kitty] if kitty else [])
        self.passed: list[list[str]] = [[] for _ in range(n)]
        self.received: list[list[str]] = [[] for _ in range(n)]
        self.played: list[list[str]] = [[] for _ in range(n)]
        self.taken: list[list[str]] = [[] for _ in range(n)]  # cards won in tricks, the kitty not among them
        self.tricks: list[int] = [0] * n
        self.voids: list[set[str]] = [set() for _ in range(n)]
        self.trick: dict[int, str] = {}  # in the order of play
        self.hearts_broken = False
        self.leader: int | None = None  # nobody while passing and after the deal
        self.shooter = None
        self.deal_points = [0] * n
        if direction:
            self.phase, self.seat = "pass", self._after(dealer)
        else:
            self._start_play()

    def _check_deal(self, hands: list[list[str]], dealer: int, direction: int, kitty: str | None) -> None:
        size = hand_size(self.players, self.two_players)
        if len(hands) != self.players or any(len(h) != size for h in hands):
            raise ValueError(f"{self.players} hands of {size} cards each")
        if (kitty is not None) != (self.three_players == "kitty"):
            raise ValueError("a kitty exactly with three_players='kitty'")
        cards = [c for h in hands for c in h] + ([kitty] if kitty else [])
        if len(set(cards)) != len(cards) or not set(cards) <= set(deck(self.players, self.three_players)):
            raise ValueError("a card twice, or one that is not in the deck")
        if not 0 <= dealer < self.players:
            raise ValueError("no such dealer")
        if direction not in directions(self.players, self.passing):
            raise ValueError(f"direction {direction} does not fit passing={self.passing!r}")

    def next_dealer(self) -> int:
        """The dealer of the next deal: the next seat."""
        if self.dealer is None:
            raise ValueError("no deal yet: the first dealer is drawn")
        return self._after(self.dealer)

    def _after(self, seat: int) -> int:
        return (seat + 1) % self.players

    def _start_play(self) -> None:
        self.phase = "play"
        self.seat = self.leader = self._first_leader()

    def _lowest_club(self) -> str | None:
        """The lowest club in anybody's hand before the first lead (a kitty is in no hand)."""
        clubs = [c for h in self.hands for c in h if suit(c) == "C"]
        return min(clubs, key=height) if clubs else None

    def _leads_left_of_dealer(self) -> bool:
        return self.first_lead == "left_of_dealer" or self._lowest_club() is None

    def _first_leader(self) -> int:
        if self._leads_left_of_dealer():
            assert self.dealer is not None
            return self._after(self.dealer)
        club = self._lowest_club()
        return next(s for s in range(self.players) if club in self.hands[s])

    # ---------------------------------------------------------------- what may be played

    def legal(self) -> set[str]:
        """The cards the seat to move may play (or pass); empty when nobody is to move."""
        if self.seat is None:
            return set()
        hand = set(self.hands[self.seat])
        if self.phase == "pass":
            return hand
        if not self.trick:
            return self._first_leads(hand) if self._is_first_trick() else self._leads(hand)
        return self._follows(hand)

    def _is_first_trick(self) -> bool:
        return sum(self.tricks) == 0

    def _first_leads(self, hand: set[str]) -> set[str]:
        if self._leads_left_of_dealer():
            return {c for c in hand if not penalty(c)} or hand
        if self.first_lead == "any_club":
            return {c for c in hand if suit(c) == "C"}
        return {c for c in hand if c == self._lowest_club()}

    def _leads(self, hand: set[str]) -> set[str]:
        if not self.must_break_hearts or self.hearts_broken:
            return hand
        if self.hearts_instead_of_queen and all(penalty(c) for c in hand):
            return hand
        return {c for c in hand if suit(c) != "H"} or hand

    def _follows(self, hand: set[str]) -> set[str]:
        led = self._suit_led()
        playable = {c for c in hand if suit(c) == led} or hand
        if self._is_first_trick() and not self.points_in_first_trick:
            return {c for c in playable if not penalty(c)} or playable
        return playable

    def _suit_led(self) -> str:
        assert self.leader is not None
        return suit(self.trick[self.leader])

    # ---------------------------------------------------------------- playing

    def play(self, card: str) -> None:
        """The seat to move plays (or passes) a card."""
        if card not in self.legal():
            raise ValueError(f"seat {self.seat} may not play {card} ({self.phase})")
        if self.phase == "pass":
            self._pass_card(card)
        else:
            self._play_card(card)

    def _pass_card(self, card: str) -> None:
        assert self.seat is not None
        self.hands[self.seat].remove(card)
        self.passed[self.seat].append(card)
        if len(self.passed[self.seat]) == CARDS_PASSED:
            if self.seat == self.dealer:
                self._exchange()
            else:
                self.seat = self._after(self.seat)

    def _exchange(self) -> None:
        """Everybody has passed: all gifts arrive, then the play starts."""
        for giver in range(self.players):
            receiver = (giver + self.direction) % self.players
            self.received[receiver] = list(self.passed[giver])
            self.hands[receiver] += self.passed[giver]
        self._start_play()

    def _play_card(self, card: str) -> None:
        assert self.seat is not None
        seat = self.seat
        self.hands[seat].remove(card)
        self.played[seat].append(card)
        self.trick[seat] = card
        if suit(card) != self._suit_led():
            self.voids[seat].add(self._suit_led())
        if suit(card) == "H" or (card == QUEEN and self.queen_breaks_hearts):
            self.hearts_broken = True
        if len(self.trick) == self.players:
            self._end_trick()
        else:
            self.seat = self._after(seat)

    def _end_trick(self) -> None:
        led = self._suit_led()
        following = [s for s in self.trick if suit(self.trick[s]) == led]
        winner = max(following, key=lambda s: height(self.trick[s]))
        if self._is_first_trick() and self.kitty is not None:
            self.kitty_winner = winner
        self.taken[winner] += self.trick.values()
        self.tricks[winner] += 1
        self.trick = {}
        self.seat = self.leader = winner
        if not any(self.hands):
            self._end_deal()

    # ---------------------------------------------------------------- scoring

    def _end_deal(self) -> None:
        self.shooter = self._find_shooter()
        self.deal_points = self._score()
        self.totals = [t + p for t, p in zip(self.totals, self.deal_points, strict=True)]
        self.seat = self.leader = None
        over = self.episode == "deal" or self._game_is_over()
        self.phase = "game_over" if over else "deal_over"

    def _won_cards(self, seat: int) -> list[str]:
        """All cards a seat has won, the kitty included."""
        won = list(self.taken[seat])
        if self.kitty is not None and self.kitty_winner == seat:
            won.append(self.kitty)
        return won

    def _points_in_play(self) -> int:
        return sum(penalty(c) for c in self.in_play)

    def _raw_points(self, seat: int) -> int:
        return sum(penalty(c) for c in self._won_cards(seat))

    def _find_shooter(self) -> int | None:
        """Who took every penalty card in play; nobody when there was none (``half``)."""
        stake = self._points_in_play()
        shooters = [s for s in range(self.players) if stake and self._raw_points(s) == stake]
        return shooters[0] if shooters else None

    def _score(self) -> list[int]:
        """The points of this deal, with moon and bonuses."""
        if self.shooter is None:
            return self._with_bonuses([self._raw_points(s) for s in range(self.players)])
        added = self._with_bonuses(self._moon_points(add=True))
        subtracted = self._with_bonuses(self._moon_points(add=False))
        if self.moon == "add_unless_loses":
            return subtracted if self._loses_with(added) else added
        return added if self.moon == "add" else subtracted

    def _moon_points(self, add: bool) -> list[int]:
        stake = self._points_in_play()
        shot, others = (0, stake) if add else (-stake, 0)
        return [shot if s == self.shooter else others for s in range(self.players)]

    def _loses_with(self, points: list[int]) -> bool:
        """With these points (the jack's included: they are what would be written down) the shooter loses the game."""
        assert self.shooter is not None
        after = [t + p for t, p in zip(self.totals, points, strict=True)]
        return max(after) >= self.target and after[self.shooter] > min(after)

    def _with_bonuses(self, points: list[int]) -> list[int]:
        result = list(points)
        for s in range(self.players):
            if self.jack_of_diamonds and JACK in self._won_cards(s):
                result[s] -= 10
            if self.no_trick_bonus and self.shooter is None and self.tricks[s] == 0:
                result[s] -= 5
        return result

    def _game_is_over(self) -> bool:
        """Whether the totals end the game; remembers that extra deals have begun.

        Extra deals go on "until one stands alone lowest", also when minus points bring everybody below the target
        again: the game is being played off, not resumed.
        """
        if max(self.totals) < self.target and not self.in_extra_deals:
            return False
        self.in_extra_deals = self.tie == "extra_deals" and self.totals.count(min(self.totals)) > 1
        return not self.in_extra_deals

    def winners(self) -> list[int]:
        """The seats with the lowest total (several share the win)."""
        if self.phase != "game_over":
            raise ValueError("the game is not over")
        return [s for s in range(self.players) if self.totals[s] == min(self.totals)]

    # ---------------------------------------------------------------- what a seat knows

    def knows(self, seat: int) -> dict[str, Any]:
        """Everything ``seat`` may know now, and nothing else (lists are by seat)."""
        sees_kitty = self.kitty_winner == seat
        captured = [{c for c in self.taken[s] if penalty(c)} for s in range(self.players)]
        if sees_kitty and self.kitty is not None and penalty(self.kitty):
            captured[seat].add(self.kitty)
        return {
            "phase": self.phase,
            "seat": self.seat,
            "dealer": self.dealer,
            "direction": self.direction,
            "leader": self.leader,
            "hand": set(self.hands[seat]),
            "played": [list(p) for p in self.played],
            "trick": dict(self.trick),
            "voids": [set(v) for v in self.voids],
            "passed": list(self.passed[seat]),
            "received": list(self.received[seat]),  # empty until everybody has passed
            "hearts_broken": self.hearts_broken,
            "captured": captured,
            "tricks": list(self.tricks),
            "kitty": self.kitty if sees_kitty else None,
            "totals": list(self.totals),
        }
