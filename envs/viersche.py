"""Viersche (Hundert): the rules as kernels over the game's state.

The game: four players, partners opposite (seats 0 and 2 against 1 and 3), 36 cards, nine each. The dealer's
last card is turned up and makes trumps; the two jacks of the trump colour are the highest trumps, Old Man and
Little Man. Forehand must lead a trump to the first trick. A side with 100 of the 140 card points wins the
round and erases a rung of its ladder; where neither has 100, both carry their points into a second deal. A
side without rungs wins the game and gives the other a mark, and at four marks the session is lost.
Sources: the encyclopedia article on Viersche and the pages on Viersche and Hindersche at pagat.com.

Decided where the sources are silent: trumps are made by the turn-up (option `trump`), a first lead without
a trump lies face down until the trick is complete (option `reveal_face_down`), and the duty to follow trumps
binds the Old Man too (option `jack_exempt`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .bits import bit, lowest
from .cards import FACE_DOWN, NO_CARD, NO_SEAT, VIERSCHE_DECK
from .errors import OptionError
from .jit import kernel
from .options import choices
from .rng import below, combine, deal_key
from .state import DEAL_OVER, EPISODE_OVER, NO_OBSERVER, PLAY, state_dtype
from .tricks import clear_table, conceal_common, gather_trick, lead_next, next_seat

CARDS = VIERSCHE_DECK.size
RANKS = len(VIERSCHE_DECK.ranks)
SUIT = (1 << RANKS) - 1
ALL = (1 << CARDS) - 1
SEATS, HAND_SIZE = 4, 9
JACK_RANK = VIERSCHE_DECK.ranks.index("J")
DEAL_POINTS = 140
JACK_POINTS = 12  # Old Man and Little Man
RANK_POINTS = np.array([0, 0, 0, 0, 10, 2, 3, 4, 11], np.int64)  # 6 7 8 9 10 J Q K A
OLD_MAN_STRENGTH, LITTLE_MAN_STRENGTH, TRUMP_STRENGTH = 40, 39, 20

EPISODES = ("deal", "round", "game", "session")
DEAL, ROUND, GAME, SESSION = range(4)


@dataclass(frozen=True)
class Options:
    """The rule options of Viersche; the defaults are preset `viersche`.

    Attributes:
        trump: How trumps are made: the dealer's last card turned up, a suit drawn, or a fixed suit.
        reveal_face_down: When a first lead that lies face down is shown.
        jack_exempt: A bare Old Man need not follow a trump lead.
        target: Card points that win a round, carried points included.
        rungs: Rungs of each side's ladder.
        sweep_rungs: Rungs for all nine tricks in the first deal of a round.
        shutout_marks: Marks for losing a game without a rung erased; otherwise 1.
        marks: Marks at which a side has lost the session.
        players: Seats at the table.
        episode: How much one episode holds.
    """

    trump: Literal["turn_up", "random", "C", "D", "H", "S"] = "turn_up"
    reveal_face_down: Literal["after_trick", "never"] = "after_trick"
    jack_exempt: bool = False
    target: int = 100
    rungs: int = 4
    sweep_rungs: int = 2
    shutout_marks: int = 2
    marks: int = 4
    players: Literal[4] = 4
    episode: Literal["game", "deal", "round", "session"] = "game"

    def __post_init__(self) -> None:
        if not DEAL_POINTS // 2 < self.target <= DEAL_POINTS:
            raise OptionError(f"option target={self.target} is not valid. Valid: 71 to 140 (exactly one side must win)")
        for name in ("rungs", "sweep_rungs", "shutout_marks", "marks"):
            if not 1 <= getattr(self, name) <= 100:
                raise OptionError(f"option {name}={getattr(self, name)} is not valid. Valid: 1 to 100")


PRESETS: dict[str, dict[str, Any]] = {"viersche": {}}

TRUMPS = choices(Options, "trump")
TRUMP_TURN_UP, TRUMP_RANDOM, TRUMP_FIXED = range(3)  # TRUMP_FIXED + suit: that suit

STATE = state_dtype(
    CARDS,
    [
        ("points", "i2", 2),  # card points of each side in this deal
        ("carried", "i2", 2),  # points carried over from the first deal of the round
        ("score", "i2", 2),  # card points of each side in the last deal that was scored
        ("rungs", "i2", 2),  # rungs left on each side's ladder
        ("marks", "i2", 2),  # marks of each side in the session
        ("new_rungs", "i2", 2),  # rungs erased by the round that the last deal ended, by side
        ("new_marks", "i2", 2),  # marks received from the game that the last deal ended, by side
        ("target", "i2"),
        ("trump", "i1"),  # the suit
        ("turn_up", "i1"),  # the card turned up; NO_CARD where trumps are made otherwise
        ("face_down", "i1"),  # the first lead that lay face down; FACE_DOWN where hidden, NO_CARD where none
        ("second_deal", "i1"),  # this is the second deal of a round
        ("bare", "i1"),  # seats (bits) shown to hold no trump but perhaps the Old Man
        ("trump_rule", "i1"),  # from here on the options
        ("reveal_never", "i1"),
        ("jack_exempt", "i1"),
        ("ladder", "i1"),
        ("sweep_rungs", "i1"),
        ("shutout_marks", "i1"),
        ("session_marks", "i1"),
    ],
)


def set_options(state: Any, options: Options) -> None:
    """Write the options into a fresh state; the kernels read them only there."""
    state["players"] = SEATS
    state["hand_size"] = HAND_SIZE
    state["episode"] = EPISODES.index(options.episode)
    state["target"] = options.target
    state["trump_rule"] = TRUMPS.index(options.trump)
    state["reveal_never"] = options.reveal_face_down == "never"
    state["jack_exempt"] = options.jack_exempt
    state["ladder"] = options.rungs
    state["sweep_rungs"] = options.sweep_rungs
    state["shutout_marks"] = options.shutout_marks
    state["session_marks"] = options.marks
    state["observer"] = NO_OBSERVER


# ----------------------------------------------------------------------------------------- cards, trumps


@kernel
def old_man(trump: int) -> int:
    """The jack of trumps."""
    return np.int64(trump) * RANKS + JACK_RANK


@kernel
def little_man(trump: int) -> int:
    """The other jack of the trump colour."""
    return (3 - np.int64(trump)) * RANKS + JACK_RANK


@kernel
def suit_cards(suit: int, trump: int) -> int:
    """The cards that belong to a suit: ten for trumps, eight or nine for the others."""
    cards = np.int64(SUIT) << RANKS * np.int64(suit)
    if suit == trump:
        return cards | bit(little_man(trump))
    return cards & ~bit(little_man(trump))


@kernel
def suit_of(card: int, trump: int) -> int:
    """The suit that a card belongs to; trumps for the Little Man."""
    return np.int64(trump) if card == little_man(trump) else np.int64(card) // RANKS


@kernel
def strength(card: int, trump: int) -> int:
    """Trumps above all others, the Old Man and the Little Man above all trumps, ranks as printed."""
    if card == old_man(trump):
        return OLD_MAN_STRENGTH
    if card == little_man(trump):
        return LITTLE_MAN_STRENGTH
    rank = np.int64(card) % RANKS
    return rank + TRUMP_STRENGTH if np.int64(card) // RANKS == trump else rank


@kernel
def card_points(card: int, trump: int) -> int:
    """Points of a card."""
    if card == old_man(trump) or card == little_man(trump):
        return JACK_POINTS
    return RANK_POINTS[np.int64(card) % RANKS]


@kernel
def worth(state: Any, card: int) -> int:
    """A number that two cards share which count the same to whoever takes them; the high jacks share it with none."""
    if card == old_man(state.trump) or card == little_man(state.trump):
        return -1
    return card_points(card, state.trump)


# ---------------------------------------------------------------------------------------------- dealing


@kernel
def open_episode(state: Any) -> None:
    """A new episode: full ladders, no marks, and the first dealer drawn."""
    state.deal = 0
    for side in range(2):
        state.score[side] = 0
        state.marks[side] = 0
    open_game(state)
    state.dealer = below(combine(deal_key(state.seed, state.lane, state.lane_deal), 1), 0, SEATS)


@kernel
def open_game(state: Any) -> None:
    """New ladders; the points carried over are lost."""
    state.second_deal = 0
    for side in range(2):
        state.carried[side] = 0
        state.rungs[side] = state.ladder


@kernel
def draw_deal(state: Any) -> None:
    """Shuffle and deal all hands, and make trumps, at random by the key of (seed, lane, lane_deal)."""
    key = deal_key(state.seed, state.lane, state.lane_deal)
    deck = np.empty(CARDS, np.int64)  # sets of one card
    for card in range(CARDS):
        deck[card] = bit(card)
    left = CARDS
    for offset in range(SEATS):
        seat = (state.dealer + 1 + offset) % SEATS  # the dealer's cards come last
        hand = np.int64(0)
        for _ in range(HAND_SIZE):
            pick = below(key, left, left)
            hand |= deck[pick]
            left -= 1
            deck[pick] = deck[left]
        state.hands[seat] = hand
    state.turn_up = NO_CARD
    if state.trump_rule == TRUMP_TURN_UP:
        state.turn_up = lowest(deck[0])  # the last card dealt
        state.trump = state.turn_up // RANKS
    elif state.trump_rule == TRUMP_RANDOM:
        state.trump = below(combine(key, 2), 0, 4)
    else:
        state.trump = state.trump_rule - TRUMP_FIXED
    begin_deal(state)


@kernel
def begin_deal(state: Any) -> None:
    """Everything about a deal but its hands, dealer, trump and turn-up, which are set."""
    clear_table(state)
    for side in range(2):
        state.points[side] = 0
        state.new_rungs[side] = 0
        state.new_marks[side] = 0
    state.leader = next_seat(state, state.dealer)
    state.seat = state.leader
    state.face_down = NO_CARD
    state.bare = 0
    state.phase = PLAY


# ------------------------------------------------------------------------------------- legal cards, play


@kernel
def led_suit(state: Any) -> int:
    """The suit led to the current trick, trumps where the lead lies face down; -1 before the lead."""
    card = np.int64(state.trick[state.leader])
    if card == NO_CARD:
        return np.int64(NO_CARD)
    if state.trick_number == 0:
        return np.int64(state.trump)
    return suit_of(card, state.trump)


@kernel
def legal(state: Any) -> int:
    """The set of cards that the seat to move may play."""
    if state.phase >= DEAL_OVER:
        return np.int64(0)
    hand = state.hands[state.seat]
    trumps = hand & suit_cards(state.trump, state.trump)
    if state.seat == state.leader:
        return trumps if state.plays == 0 and trumps else hand
    led = led_suit(state)
    if led == state.trump:
        exempt = state.jack_exempt and trumps == bit(old_man(state.trump))
        return trumps if trumps and not exempt else hand
    return hand & suit_cards(led, state.trump) | trumps if hand & suit_cards(led, state.trump) else hand


@kernel
def play(state: Any, card: int) -> None:
    """Play a legal card; scores the deal with the card that ends it."""
    seat = np.int64(state.seat)
    trump = np.int64(state.trump)
    suit = suit_of(card, trump)
    state.hands[seat] &= ~bit(card)
    state.plays += 1
    state.when[card] = state.plays
    state.played[seat] |= bit(card)
    state.trick[seat] = card
    if seat == state.leader:
        if state.plays == 1 and suit != trump:
            state.face_down = card
            show_no_trump(state, seat)
        else:
            state.best = card
            state.winner = seat
    else:
        led = led_suit(state)
        if suit != led and suit != trump:
            if led == trump:
                show_no_trump(state, seat)
            else:
                state.voids[seat] |= 1 << led
        elif state.best == NO_CARD or strength(card, trump) > strength(state.best, trump):
            state.best = card
            state.winner = seat
    if card == old_man(trump) and state.bare:
        for other in range(SEATS):
            if state.bare >> other & 1:
                state.voids[other] |= 1 << trump
        state.bare = 0
    following = next_seat(state, seat)
    if following == state.leader:
        take_trick(state)
    else:
        state.seat = following


@kernel
def show_no_trump(state: Any, seat: int) -> None:
    """A seat has not followed trumps: it holds none, or with `jack_exempt` none but perhaps the Old Man."""
    leads_face_down = seat == state.leader
    old = bit(old_man(state.trump))
    gone = state.voids[seat] >> state.trump & 1 != 0  # it led face down before
    for other in range(SEATS):
        gone = gone or state.played[other] & old != 0
    if leads_face_down or not state.jack_exempt or gone:
        state.voids[seat] |= 1 << state.trump
    else:
        state.bare |= 1 << seat


@kernel
def take_trick(state: Any) -> None:
    """The winner takes the trick's points and leads; the deal may be over."""
    side = np.int64(state.winner) & 1
    for seat in range(SEATS):
        state.points[side] += card_points(state.trick[seat], state.trump)
    last = gather_trick(state)
    if last or (state.second_deal and state.carried[side] + state.points[side] >= state.target):
        score_deal(state)
    else:
        lead_next(state)


# ----------------------------------------------------------------------------------------------- scoring


@kernel
def score_deal(state: Any) -> None:
    """Round, game and session after a deal, and whether the episode is over."""
    round_side = NO_SEAT
    for side in range(2):
        state.score[side] = state.points[side]
        if state.carried[side] + state.points[side] >= state.target:
            round_side = side
    over = state.episode == DEAL
    if round_side == NO_SEAT:
        if not over:
            for side in range(2):
                state.carried[side] += state.points[side]
            state.second_deal = 1
    else:
        over = win_round(state, round_side) or over
    state.phase = EPISODE_OVER if over else DEAL_OVER


@kernel
def win_round(state: Any, side: int) -> bool:
    """Erase rungs; an empty ladder wins the game. Returns whether the episode is over by it."""
    swept = not state.second_deal and state.tricks[side] + state.tricks[side + 2] == HAND_SIZE
    erased = np.int64(state.sweep_rungs) if swept else np.int64(1)
    state.new_rungs[side] = min(erased, np.int64(state.rungs[side]))
    state.rungs[side] -= state.new_rungs[side]
    if state.episode <= ROUND:
        return state.episode == ROUND
    state.second_deal = 0
    for other in range(2):
        state.carried[other] = 0
    if state.rungs[side] > 0:
        return False
    loser = 1 - side
    state.new_marks[loser] = state.shutout_marks if state.rungs[loser] == state.ladder else 1
    state.marks[loser] += state.new_marks[loser]
    if state.episode == GAME or state.marks[loser] >= state.session_marks:
        return True
    open_game(state)
    return False


@kernel
def final_score(state: Any, out: Any) -> None:
    """The episode's score by seat: own side's card points (deal), rungs erased (round), marks (game, session).

    Card points and rungs are the better the more, marks the fewer.
    """
    for seat in range(SEATS):
        side = seat & 1
        if state.episode == DEAL:
            out[seat] = state.score[side]
        elif state.episode == ROUND:
            out[seat] = state.new_rungs[side]
        else:
            out[seat] = state.marks[side]


@kernel
def rewards(state: Any, kind: int, out: Any) -> None:
    """Reward of each seat for the deal just scored; see `game.REWARDS` for the kinds."""
    for seat in range(SEATS):
        own, other = seat & 1, 1 - (seat & 1)
        difference = np.float64(state.score[own] - state.score[other])
        if kind == 0:
            out[seat] = difference
        elif kind == 1:
            out[seat] = difference / DEAL_POINTS
        elif state.episode == DEAL:
            own_wins = state.carried[own] + state.score[own] >= state.target
            other_wins = state.carried[other] + state.score[other] >= state.target
            out[seat] = np.float64(own_wins) - np.float64(other_wins)
        elif state.phase == EPISODE_OVER:
            if state.episode == ROUND:
                out[seat] = state.new_rungs[own] - state.new_rungs[other]
            elif state.episode == GAME:
                out[seat] = state.new_marks[other] - state.new_marks[own]
            else:
                out[seat] = 1.0 if state.marks[other] >= state.session_marks else -1.0


# ------------------------------------------------------------------------------------------------ events

EVENTS = ()


@kernel
def watch(state: Any, memory: int, out: Any) -> int:
    """Nothing in this game is counted by seat."""
    return memory


# ------------------------------------------------------------------------------------------------- views


@kernel
def conceal(view: Any, seat: int) -> None:
    """Erase from a copy of the state what `seat` can't know; the copy is then its view."""
    conceal_common(view, seat)
    if view.face_down < 0:  # none, or hidden already
        return
    forehand = next_seat(view, view.dealer)
    if forehand == seat or (view.trick_number > 0 and not view.reveal_never):
        return
    card = np.int64(view.face_down)
    view.face_down = FACE_DOWN
    view.played[forehand] &= ~bit(card)
    view.when[card] = 0
    if view.trick_number == 0:
        view.trick[forehand] = FACE_DOWN
    elif view.phase < DEAL_OVER:
        view.points[view.first_winner & 1] -= card_points(card, view.trump)
