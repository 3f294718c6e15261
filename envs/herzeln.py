"""Herzeln (Hearts): the rules as kernels over the game's state.

The game: 2 to 4 players, each for itself, clockwise. Tricks are to be avoided when they hold hearts (1 point
each) or the queen of spades (13); who takes all of these has shot the moon and the others get the points.
Sources: a German description of Herzeln, the page on Hearts at pagat.com, and OpenSpiel's `hearts`.

Decided where the sources are silent or contradict each other, each an option of `Options`:
- the 2 of clubs leads to the first trick, not the player left of the dealer;
- following suit comes before the ban on penalty cards in the first trick: a hand whose only spade is the
  queen must play it on a first trick led in spades;
- with only hearts and the queen of spades left and hearts unbroken, the queen must be led;
- the kitty (three players) is no card in play: the lowest club dealt to a hand leads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .bits import bit, lowest, popcount
from .cards import CLUBS, HEARTS, HERZELN_DECK, NO_CARD, NO_SEAT
from .errors import OptionError
from .jit import kernel
from .options import choices
from .rng import below, combine, deal_key
from .state import DEAL_OVER, EPISODE_OVER, NO_OBSERVER, PASS, PLAY, SEAT_BITS, state_dtype
from .tricks import clear_table, conceal_common, gather_trick, keep_only, lead_next, next_seat

CARDS = HERZELN_DECK.size
RANKS = len(HERZELN_DECK.ranks)
SUIT = (1 << RANKS) - 1  # the thirteen cards of clubs as a set
ALL = (1 << CARDS) - 1
ALL_CLUBS, ALL_HEARTS = SUIT << RANKS * CLUBS, SUIT << RANKS * HEARTS
CLUB_TWO, DIAMOND_TWO = HERZELN_DECK.parse("C2"), HERZELN_DECK.parse("D2")
QUEEN, JACK = HERZELN_DECK.parse("SQ"), HERZELN_DECK.parse("DJ")
PENALTY = ALL_HEARTS | 1 << QUEEN
QUEEN_POINTS, JACK_POINTS, NO_TRICK_POINTS, DEAL_POINTS = 13, -10, -5, 26
MOST_TARGET = 1_000_000_000  # what the state's 32 bits for a total hold with room to spare
PASSED = 3  # cards that each seat passes

EPISODES = ("deal", "game")
DEAL, GAME = range(2)


@dataclass(frozen=True)
class Options:
    """The rule options of Herzeln; the defaults are preset `herzeln`.

    Attributes:
        players: Seats at the table.
        first_lead: What is led to the first trick: exactly the lowest club in play, any club by the same
            player, or (by the seat left of the dealer) anything but a heart or the queen of spades.
        points_in_first_trick: Hearts and the queen of spades may be played to the first trick.
        must_break_hearts: A heart may be led only after one has been played, or from a hand of hearts only.
        queen_breaks_hearts: The queen of spades breaks hearts too.
        hearts_instead_of_queen: With only hearts and the queen left, a heart may be led unbroken.
        passing: Direction in which three cards are passed before the play.
        moon: Taking all penalty cards: the others +26, the shooter -26, or whichever does not lose the game.
        jack_of_diamonds: Taking the jack of diamonds counts -10.
        no_trick_bonus: Taking no trick counts -5, except in a deal with a moon.
        three_players: How 52 cards are made to go round three players.
        two_players: All cards in play, or only half of them.
        target: A game ends when somebody stands at this many points or more.
        tie: Players who tie for the fewest points share the win, or play on.
        first_dealer: Who deals first in an episode: a random seat or the last one.
        episode: How much one episode holds.
    """

    players: Literal[4, 2, 3] = 4
    first_lead: Literal["club_two", "any_club", "left_of_dealer"] = "club_two"
    points_in_first_trick: bool = False
    must_break_hearts: bool = True
    queen_breaks_hearts: bool = False
    hearts_instead_of_queen: bool = False
    passing: Literal["none", "cycle", "left", "right", "across", "random"] = "none"
    moon: Literal["add", "subtract", "add_unless_loses"] = "add"
    jack_of_diamonds: bool = False
    no_trick_bonus: bool = False
    three_players: Literal["drop_diamond_two", "drop_club_two", "kitty"] = "drop_diamond_two"
    two_players: Literal["full", "half"] = "full"
    target: int = 100
    tie: Literal["share", "extra_deals"] = "share"
    first_dealer: Literal["random", "last"] = "random"
    episode: Literal["game", "deal"] = "game"

    def __post_init__(self) -> None:
        if self.target < 1:
            raise OptionError(f"option target={self.target} is not valid. Valid: a positive whole number")
        if self.target > MOST_TARGET:
            raise OptionError(f"option target={self.target} is not valid. Valid: at most {MOST_TARGET}")
        if self.players != 3 and self.three_players != "drop_diamond_two":
            raise OptionError(f"option three_players={self.three_players!r} needs players=3, not {self.players}")
        if self.players != 2 and self.two_players != "full":
            raise OptionError(f"option two_players={self.two_players!r} needs players=2, not {self.players}")
        allowed = PASSING_FOR[self.players]
        if self.passing not in allowed:
            raise OptionError(
                f"option passing={self.passing!r} is not possible with players={self.players}. "
                f"Valid: {', '.join(allowed)}"
            )


PASSING_FOR = {
    4: ("none", "cycle", "left", "right", "across", "random"),
    3: ("none", "cycle", "left", "right", "random"),
    2: ("none", "cycle", "random"),
}

PRESETS: dict[str, dict[str, Any]] = {
    "herzeln": {},
    "hearts": {"passing": "cycle"},
    "openspiel": {
        "passing": "random",
        "queen_breaks_hearts": True,
        "episode": "deal",
        "first_dealer": "last",
    },
}

# The values of the options as the state holds them.
FIRST_LEADS = choices(Options, "first_lead")
CLUB_TWO_LEADS, ANY_CLUB_LEADS, LEFT_OF_DEALER_LEADS = range(3)
PASSINGS = choices(Options, "passing")
PASSING_NONE, PASSING_CYCLE, PASSING_LEFT, PASSING_RIGHT, PASSING_ACROSS, PASSING_RANDOM = range(6)
MOONS = choices(Options, "moon")
_, MOON_SUBTRACT, MOON_ADD_UNLESS_LOSES = range(3)
DROPS = choices(Options, "three_players")
DROP_DIAMOND_TWO, DROP_CLUB_TWO, KITTY = range(3)

STATE = state_dtype(
    CARDS,
    [
        ("passed", "i8", 4),  # set of cards that each seat has passed
        ("received", "i8", 4),  # set of cards that each seat has received, once all have passed
        ("taken", "i8", 4),  # hearts, queen of spades and jack of diamonds taken in tricks, without the kitty
        ("score", "i2", 4),  # points of the last deal that was scored, moon and bonuses included
        ("totals", "i4", 4),  # points of the game so far
        ("target", "i4"),
        ("direction", "i1"),  # offset of the seat that receives one's cards; 0 no passing
        ("broken", "i1"),  # hearts are broken
        ("kitty", "i1"),  # the card that went to nobody; NO_CARD
        ("in_extra_deals", "i1"),  # the target was reached in a tie that is being played off
        ("moon_seat", "i1"),  # who shot the moon in the last deal scored; NO_SEAT
        ("first_lead", "i1"),  # from here on the options
        ("points_in_first_trick", "i1"),
        ("must_break_hearts", "i1"),
        ("queen_breaks_hearts", "i1"),
        ("hearts_instead_of_queen", "i1"),
        ("passing", "i1"),
        ("moon", "i1"),
        ("jack_of_diamonds", "i1"),
        ("no_trick_bonus", "i1"),
        ("three_players", "i1"),
        ("half", "i1"),
        ("extra_deals", "i1"),
        ("last_dealer_first", "i1"),
    ],
)


def set_options(state: Any, options: Options) -> None:
    """Write the options into a fresh state; the kernels read them only there."""
    state["players"] = options.players
    state["episode"] = EPISODES.index(options.episode)
    state["hand_size"] = 13 if options.two_players == "half" else CARDS // options.players
    state["target"] = options.target
    state["first_lead"] = FIRST_LEADS.index(options.first_lead)
    state["passing"] = PASSINGS.index(options.passing)
    state["moon"] = MOONS.index(options.moon)
    state["three_players"] = DROPS.index(options.three_players)
    state["half"] = options.two_players == "half"
    state["extra_deals"] = options.tie == "extra_deals"
    state["last_dealer_first"] = options.first_dealer == "last"
    for name in (
        "points_in_first_trick",
        "must_break_hearts",
        "queen_breaks_hearts",
        "hearts_instead_of_queen",
        "jack_of_diamonds",
        "no_trick_bonus",
    ):
        state[name] = getattr(options, name)
    state["observer"] = NO_OBSERVER


def cards_dealt(options: Options) -> int:
    """The set of cards from which the hands (and the kitty) are dealt."""
    if options.players != 3 or options.three_players == "kitty":
        return ALL
    return ALL & ~(1 << (DIAMOND_TWO if options.three_players == "drop_diamond_two" else CLUB_TWO))


# ---------------------------------------------------------------------------------------------- dealing


@kernel
def open_episode(state: Any) -> None:
    """A new episode: no points yet, and the first dealer."""
    state.deal = 0
    for seat in range(4):
        state.totals[seat] = 0
        state.score[seat] = 0
    state.moon_seat = NO_SEAT
    state.in_extra_deals = 0
    key = combine(deal_key(state.seed, state.lane, state.lane_deal), 1)
    state.dealer = state.players - 1 if state.last_dealer_first else below(key, 0, state.players)


@kernel
def pass_direction(state: Any) -> int:
    """Offset of the seat that receives, by the passing option and the deal's number."""
    players = np.int64(state.players)
    number = np.int64(state.lane_deal) if state.episode == DEAL else np.int64(state.deal)
    if players == 2 or state.passing == PASSING_NONE:
        return 0
    if state.passing == PASSING_LEFT:
        return 1
    if state.passing == PASSING_RIGHT:
        return players - 1
    if state.passing == PASSING_ACROSS:
        return 2
    if state.passing == PASSING_RANDOM:
        return below(combine(deal_key(state.seed, state.lane, state.lane_deal), 2), 0, players)
    turn = number % players  # left, right, across (four players), none
    if turn == 0:
        return 1
    if turn == 1:
        return players - 1
    if turn == 2 and players == 4:
        return 2
    return 0


@kernel
def draw_deal(state: Any) -> None:
    """Shuffle and deal all hands at random by the key of (seed, lane, lane_deal)."""
    key = deal_key(state.seed, state.lane, state.lane_deal)
    players, size = np.int64(state.players), np.int64(state.hand_size)
    dropped = NO_CARD
    if players == 3 and state.three_players == DROP_DIAMOND_TWO:
        dropped = DIAMOND_TWO
    if players == 3 and state.three_players == DROP_CLUB_TWO:
        dropped = CLUB_TWO
    deck = np.empty(CARDS, np.int64)  # sets of one card
    left = 0
    for card in range(CARDS):
        if card != dropped:
            deck[left] = bit(card)
            left += 1
    rest = ALL if dropped == NO_CARD else ALL & ~bit(dropped)
    for seat in range(players):
        hand = rest if left == size else np.int64(0)  # the last hand needs no draws
        for _ in range(size if left > size else 0):
            pick = below(key, left, left)
            hand |= deck[pick]
            left -= 1
            deck[pick] = deck[left]
        state.hands[seat] = hand
        rest &= ~hand
    state.kitty = lowest(deck[0]) if players == 3 and state.three_players == KITTY else NO_CARD
    state.direction = pass_direction(state)
    begin_deal(state)


@kernel
def begin_deal(state: Any) -> None:
    """Everything about a deal but its hands, kitty, dealer and direction, which are set."""
    clear_table(state)
    for seat in range(4):
        state.passed[seat] = 0
        state.received[seat] = 0
        state.taken[seat] = 0
    state.broken = 0
    if state.direction != 0:
        state.phase = PASS
        state.seat = next_seat(state, state.dealer)
    else:
        open_play(state)


@kernel
def open_play(state: Any) -> None:
    """The first lead falls to the lowest club in a hand, or to the seat left of the dealer."""
    state.phase = PLAY
    leader = next_seat(state, state.dealer)
    if state.first_lead != LEFT_OF_DEALER_LEADS:
        clubs = np.int64(0)
        for seat in range(state.players):
            clubs |= state.hands[seat] & ALL_CLUBS
        if clubs != 0:
            for seat in range(state.players):
                if state.hands[seat] & clubs & -clubs:
                    leader = seat
    state.leader = leader
    state.seat = leader


# ------------------------------------------------------------------------------------- legal cards, play


@kernel
def legal(state: Any) -> int:
    """The set of cards that the seat to move may pass or play."""
    if state.phase >= DEAL_OVER:
        return np.int64(0)
    hand = state.hands[state.seat & SEAT_BITS]
    if state.phase == PASS:
        return hand
    if state.seat != state.leader:
        return legal_follow(state, hand)
    return legal_first_lead(state, hand) if state.plays == 0 else legal_lead(state, hand)


@kernel
def legal_follow(state: Any, hand: int) -> int:
    """Follow suit if able; to the first trick no penalty card unless nothing else can be played."""
    led = np.int64(state.trick[state.leader & SEAT_BITS]) // RANKS
    cards = hand & (SUIT << RANKS * led)
    if cards == 0:
        cards = hand
    if state.trick_number == 0 and not state.points_in_first_trick and cards & ~PENALTY:
        cards &= ~PENALTY
    return cards


@kernel
def legal_first_lead(state: Any, hand: int) -> int:
    """The lowest club, any club, or any card but a penalty card."""
    clubs = hand & ALL_CLUBS
    if state.first_lead == LEFT_OF_DEALER_LEADS or clubs == 0:
        return hand & ~PENALTY if hand & ~PENALTY else hand
    return clubs & -clubs if state.first_lead == CLUB_TWO_LEADS else clubs


@kernel
def legal_lead(state: Any, hand: int) -> int:
    """Hearts are led once they are broken, or from a hand without another choice."""
    if state.broken or not state.must_break_hearts:
        return hand
    rest = hand & ~ALL_HEARTS
    if rest == 0 or (state.hearts_instead_of_queen and rest == bit(QUEEN)):
        return hand
    return rest


@kernel
def play(state: Any, card: int) -> None:
    """Pass or play a legal card; scores the deal with its last card."""
    seat = np.int64(state.seat) & SEAT_BITS
    state.hands[seat] &= ~bit(card)
    if state.phase == PASS:
        pass_card(state, seat, card)
        return
    state.plays += 1
    state.when[card] = state.plays
    state.played[seat] |= bit(card)
    state.trick[seat] = card
    led = np.int64(state.trick[state.leader & SEAT_BITS]) // RANKS
    follows = card // RANKS == led  # a leader follows itself, and `best` is below all cards
    wins = follows & (card > state.best)  # no branches: the processor could not guess them
    state.voids[seat] |= (1 - follows) << led
    state.best = card if wins else state.best
    state.winner = seat if wins else state.winner
    state.broken |= (card // RANKS == HEARTS) | ((card == QUEEN) & (state.queen_breaks_hearts != 0))
    following = next_seat(state, seat)
    if following == state.leader:
        take_trick(state)
    else:
        state.seat = following


@kernel
def pass_card(state: Any, seat: int, card: int) -> None:
    """One card of the three; the last seat's last card hands all of them over."""
    state.passed[seat] |= bit(card)
    if popcount(state.passed[seat]) < PASSED:
        return
    if seat != state.dealer:
        state.seat = next_seat(state, seat)
        return
    for giver in range(state.players):
        receiver = (giver + state.direction) % state.players
        state.received[receiver] = state.passed[giver]
        state.hands[receiver] |= state.passed[giver]
    open_play(state)


@kernel
def take_trick(state: Any) -> None:
    """The winner takes the trick and leads; after the last trick the deal is scored."""
    for seat in range(state.players):
        state.taken[state.winner] |= bit(state.trick[seat]) & (PENALTY | bit(JACK))
    if gather_trick(state):
        score_deal(state)
    else:
        lead_next(state)


# ----------------------------------------------------------------------------------------------- scoring


@kernel
def taken_by(state: Any, seat: int) -> int:
    """The hearts, queen of spades and jack of diamonds of a seat, the kitty included if this record shows it."""
    cards = state.taken[seat]
    if state.kitty >= 0 and seat == state.first_winner:
        cards |= bit(state.kitty) & (PENALTY | bit(JACK))
    return cards


@kernel
def penalty_points(cards: int) -> int:
    """Points of the hearts and the queen of spades in a set."""
    return popcount(cards & ALL_HEARTS) + (QUEEN_POINTS if cards & bit(QUEEN) else 0)


@kernel
def worth(state: Any, card: int) -> int:
    """A number that two cards share which count the same to whoever takes them."""
    if card // RANKS == HEARTS:
        return 1
    return 2 if card == QUEEN else (3 if card == JACK and state.jack_of_diamonds else 0)


@kernel
def penalties_in_play(state: Any) -> int:
    """The penalty cards dealt to the hands or the kitty: all but in `half`."""
    if not state.half:
        return PENALTY
    cards = np.int64(0)
    for seat in range(state.players):
        cards |= state.hands[seat] | state.played[seat]
    return cards & PENALTY


@kernel
def score_deal(state: Any) -> None:
    """Points of the deal with moon and bonuses; then the game's total and whether the episode is over."""
    in_play = penalties_in_play(state)
    points = penalty_points(in_play)
    state.moon_seat = NO_SEAT
    for seat in range(state.players):
        cards = taken_by(state, seat)
        state.score[seat] = penalty_points(cards)
        if in_play != 0 and cards & PENALTY == in_play:
            state.moon_seat = seat
    if state.moon_seat != NO_SEAT:
        for seat in range(state.players):
            state.score[seat] = 0 if seat == state.moon_seat else points
    for seat in range(state.players):
        if state.jack_of_diamonds and taken_by(state, seat) & bit(JACK):
            state.score[seat] += JACK_POINTS
        if state.no_trick_bonus and state.tricks[seat] == 0 and state.moon_seat == NO_SEAT:
            state.score[seat] += NO_TRICK_POINTS
    if state.moon_seat != NO_SEAT and moon_is_subtracted(state):
        for seat in range(state.players):
            state.score[seat] -= points
    for seat in range(state.players):
        state.totals[seat] += state.score[seat]
    over = state.episode == DEAL or game_is_over(state)
    state.phase = EPISODE_OVER if over else DEAL_OVER


@kernel
def moon_is_subtracted(state: Any) -> bool:
    """Whether the shooter takes -26 rather than the others +26; `score` holds the latter."""
    if state.moon != MOON_ADD_UNLESS_LOSES:
        return state.moon == MOON_SUBTRACT
    shooter = np.int64(state.moon_seat)
    own = state.totals[shooter] + state.score[shooter]
    ends = False
    lowest_total = own
    for seat in range(state.players):
        total = state.totals[seat] + state.score[seat]
        ends = ends or total >= state.target
        lowest_total = min(lowest_total, total)
    return ends and own > lowest_total


@kernel
def game_is_over(state: Any) -> bool:
    """Somebody stands at the target; a tie for the fewest is played off where there are extra deals."""
    most, fewest, lowest_seats = state.totals[0], state.totals[0], 0
    for seat in range(state.players):
        most = max(most, state.totals[seat])
        if state.totals[seat] < fewest:
            fewest = state.totals[seat]
            lowest_seats = 0
        if state.totals[seat] == fewest:
            lowest_seats += 1
    reached = most >= state.target or state.in_extra_deals
    state.in_extra_deals = reached and state.extra_deals and lowest_seats > 1
    return reached and not state.in_extra_deals


@kernel
def final_score(state: Any, out: Any) -> None:
    """The episode's score by seat: points, of the deal or of the game (the fewer the better)."""
    for seat in range(state.players):
        out[seat] = state.score[seat] if state.episode == DEAL else state.totals[seat]


@kernel
def deal_payoff(state: Any, seat: int) -> float:
    """Mean points of the others minus own points in the last deal scored."""
    others = 0.0
    for other in range(state.players):
        others += state.score[other]
    others = (others - state.score[seat]) / (state.players - 1)
    return others - state.score[seat]


@kernel
def rewards(state: Any, kind: int, out: Any) -> None:
    """Reward of each seat for the deal just scored; see `game.REWARDS` for the kinds."""
    fewest, shares = state.totals[0], 0.0
    for seat in range(state.players):
        if state.totals[seat] < fewest:
            fewest, shares = state.totals[seat], 0.0
        if state.totals[seat] == fewest:
            shares += 1.0
    for seat in range(state.players):
        payoff = deal_payoff(state, seat) / DEAL_POINTS
        if kind == 0:
            out[seat] = -state.score[seat]
        elif kind == 1 or state.episode == DEAL:
            out[seat] = payoff
        elif state.phase == EPISODE_OVER:
            out[seat] = (1.0 / shares if state.totals[seat] == fewest else 0.0) - 1.0 / state.players


# ------------------------------------------------------------------------------------------------ events

EVENTS = ("moon_attempts", "moons", "moon_defences")


@kernel
def watch(state: Any, threat: int, out: Any) -> int:
    """Count by seat what happened with the card just played; to be called after every card.

    An attempt: a seat alone has taken penalty cards, and at least half of all. It ends in a moon or in a defence,
    which belongs to the seat that takes the first penalty card from it.

    Args:
        state: A state; where the episode goes on after a deal, the next deal is already there.
        threat: What the last call returned; NO_SEAT before the first.
        out: int[P, 3], added to.

    Returns:
        The seat that may still shoot the moon, or NO_SEAT.
    """
    if state.phase >= DEAL_OVER or state.plays == 0:
        if threat != NO_SEAT:
            if state.moon_seat == threat:
                out[threat, 1] += 1
            else:
                out[first_paying(state, threat), 2] += 1
        return NO_SEAT
    if state.plays % state.players != 0:
        return threat
    holder, most, seats = NO_SEAT, 0, 0
    for seat in range(state.players):
        count = popcount(state.taken[seat] & PENALTY)
        if count:
            holder, most, seats = seat, count, seats + 1
    if threat != NO_SEAT and seats > 1:
        out[state.last_seat, 2] += 1
        return NO_SEAT
    if threat == NO_SEAT and seats == 1 and 2 * most >= popcount(penalties_in_play(state)):
        out[holder, 0] += 1
        return holder
    return threat


@kernel
def first_paying(state: Any, shooter: int) -> int:
    """The seat that took points in the last trick from one who had all of them before: the first beside it with any."""
    for seat in range(state.players):
        if seat != shooter and state.score[seat] > 0:
            return seat
    return (shooter + 1) % state.players  # a bonus hides whose they were


# ------------------------------------------------------------------------------------------------- views


@kernel
def conceal(view: Any, seat: int) -> None:
    """Erase from a copy of the state what `seat` can't know; the copy is then its view."""
    conceal_common(view, seat)
    if view.direction != 0:  # else nothing was passed
        keep_only(view.passed, seat)
        keep_only(view.received, seat)
    if view.first_winner != seat:
        view.kitty = NO_CARD
