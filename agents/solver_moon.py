"""Whether a seat of Herzeln can take all penalty cards against any defence, all hands open: exactly yes or no.

How it searches, depth first over single cards, the shooter against all others together:
- A card of the shooter after which the others can take the trick with a penalty card in it is no choice at all.
- Between tricks: all penalty cards home is a yes; a heart under the others' top heart, or the queen of spades alone
  under their king or ace, is a no, and so is a lead of theirs that can't be beaten and gets a penalty card; on lead
  with suits that run from the top without a loser is a yes.
- Cards between which nobody else holds one are one choice.
- A table of positions between tricks: the owners of the cards by suit and rank, and where the queen of spades is.
  Whether hearts are broken follows from the cards left.
- First in two simpler games. There only the rank against the shooter's cards counts: if the others take a trick, its
  next leader is chosen among those whose cards lie in the highest gap between the shooter's. If the shooter
  chooses and fails, the answer is no; if the others choose and fail, it is yes. Only what is left open by both
  is searched with all ranks. It is the discards of the others on long suits that this makes few.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..envs import herzeln
from ..envs.bits import bit, highest, lowest, popcount
from ..envs.cards import HEARTS, NO_CARD, NO_SEAT, SPADES
from ..envs.game import get_game
from ..envs.herzeln import ALL_HEARTS, PENALTY, QUEEN, RANKS, SUIT, legal, legal_follow, legal_lead, taken_by
from ..envs.jit import entry, kernel, part
from ..envs.rng import mix
from ..envs.state import PLAY

NO, YES, UNDECIDED = range(3)
SHOOTER_CHOOSES, OTHERS_CHOOSE, EXACT = range(3)  # who leads after a trick of the others: a choice, or its winner

SHOOTER = 0  # seats are counted from the shooter
DEEPEST = herzeln.CARDS + 1
MOST_MOVES = herzeln.CARDS // 2  # cards in the largest hand
ALL_SPADES = SUIT << RANKS * SPADES
LOST = -1  # what `put` returns beside sets of possible leaders: a penalty card went to the others
NODES, ROOT, MODE = range(3)  # entries of `work`
SECOND = 8_000_000  # a cap of more than a second's search

NODE = np.dtype(
    [
        ("hands", "i8", 4),
        ("trick", "i8", 4),
        ("seat", "i8"),
        ("leader", "i8"),
        ("best", "i8"),
        ("winner", "i8"),
        ("penalty", "i8"),  # a penalty card is in the trick, or the kitty is one and goes with it
        ("trick_number", "i8"),
        ("players", "i8"),
        ("broken", "i8"),
        ("points_in_first_trick", "i8"),  # the rules, under the names that the rules' kernels read
        ("must_break_hearts", "i8"),
        ("queen_breaks_hearts", "i8"),
        ("hearts_instead_of_queen", "i8"),
        ("codes", "i8", 4),  # from here on where the search stands: the owners by suit, to make the key of
        ("first", "i8"),  # the key and its place in the table, -1 for none
        ("second", "i8"),
        ("slot", "i8"),
        ("count", "i8"),  # moves listed
        ("next", "i8"),  # the next of them to try
        ("leaders", "i8"),  # seats still to be tried as leaders after the move before it
    ]
)


@dataclass(frozen=True)
class MoonAnswer:
    """What `moon` found.

    Attributes:
        forced: int8[N], NO, YES, or UNDECIDED where the cap on nodes was hit.
        nodes: int64[N], positions searched.
        lines: On request, for each state the cards from there on: with YES to the moon, with NO until a penalty card
            is another seat's, none if it is already. The side that can't have its way plays its lowest card.
    """

    forced: np.ndarray
    nodes: np.ndarray
    lines: list[list[int]] | None = None


@dataclass
class Solver:
    """The memory of the search, to be used again and again: `bits` is the logarithm of the table's size."""

    bits: int = 18
    table: np.ndarray = field(init=False)
    nodes: np.ndarray = field(init=False)
    moves: np.ndarray = field(init=False)
    work: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        self.table = np.zeros((1 << self.bits, 4), np.int64)  # two words of key, root, answer
        self.nodes = np.zeros(DEEPEST, NODE)
        self.moves = np.zeros((DEEPEST, MOST_MOVES), np.int64)
        self.work = np.zeros(3, np.int64)


# ------------------------------------------------------------------------------------------ one position


@kernel
def open_node(node: Any, state: Any, shooter: int) -> None:
    """A state as the root of the search, its seats counted from the shooter."""
    players = np.int64(state.players)
    for seat in range(4):
        node.hands[seat] = 0
        node.trick[seat] = NO_CARD
    node.penalty = state.trick_number == 0 and state.kitty >= 0 and bit(state.kitty) & PENALTY != 0
    for seat in range(players):
        place = (seat - shooter + players) % players
        node.hands[place] = state.hands[seat]
        node.trick[place] = state.trick[seat]
        if state.trick[seat] >= 0 and bit(state.trick[seat]) & PENALTY:
            node.penalty = 1
    node.seat = (state.seat - shooter + players) % players
    node.leader = (state.leader - shooter + players) % players
    node.winner = (state.winner - shooter + players) % players if state.winner >= 0 else NO_SEAT
    node.best, node.trick_number, node.players = state.best, state.trick_number, players
    node.broken, node.points_in_first_trick = state.broken, state.points_in_first_trick
    node.must_break_hearts, node.queen_breaks_hearts = state.must_break_hearts, state.queen_breaks_hearts
    node.hearts_instead_of_queen = state.hearts_instead_of_queen


@kernel
def copy_node(target: Any, node: Any) -> None:
    """All of a position but where its search stands."""
    for seat in range(4):
        target.hands[seat] = node.hands[seat]
        target.trick[seat] = node.trick[seat]
    target.seat, target.leader, target.best, target.winner = node.seat, node.leader, node.best, node.winner
    target.penalty, target.trick_number, target.players = node.penalty, node.trick_number, node.players
    target.broken, target.points_in_first_trick = node.broken, node.points_in_first_trick
    target.must_break_hearts, target.queen_breaks_hearts = node.must_break_hearts, node.queen_breaks_hearts
    target.hearts_instead_of_queen = node.hearts_instead_of_queen


@kernel
def put(node: Any, card: int, mode: int) -> int:
    """Play a card; returns who may lead next as a set of seats, 0 in mid-trick, LOST if the shooter has failed."""
    seat = node.seat
    node.hands[seat] &= ~bit(card)
    node.trick[seat] = card
    if card // RANKS == node.trick[node.leader] // RANKS and card > node.best:
        node.best, node.winner = card, seat
    if bit(card) & PENALTY:
        node.penalty = 1
        node.broken |= card != QUEEN or node.queen_breaks_hearts
    node.seat = seat + 1 if seat + 1 < node.players else 0
    if node.seat != node.leader:
        return 0
    if node.winner != SHOOTER and node.penalty:
        return LOST
    leaders = bit(node.winner) if mode == EXACT or node.winner == SHOOTER else rivals(node)
    for each in range(4):
        node.trick[each] = NO_CARD
    node.best, node.penalty = NO_CARD, 0
    node.trick_number += 1
    return leaders


@kernel
def rivals(node: Any) -> int:
    """The others whose card in the full trick is the best one or has no card of the shooter between it and that."""
    own = node.hands[SHOOTER] | bit(node.trick[SHOOTER])
    found = np.int64(0)
    for seat in range(1, node.players):
        card = node.trick[seat]
        if card // RANKS == node.best // RANKS and between(card, node.best) & own == 0:
            found |= bit(seat)
    return found


@kernel
def between(low: int, high: int) -> int:
    """The cards above `low` up to `high`; none if they are the same."""
    return (bit(high + 1) - 1) & ~(bit(low + 1) - 1)


@kernel
def doomed(node: Any) -> bool:
    """The shooter has just played, not last: the others can take the trick with a penalty card in it."""
    own = node.trick[SHOOTER]
    beaten = node.winner != SHOOTER
    if beaten and node.penalty:
        return True
    over = (SUIT << RANKS * (own // RANKS)) & ~(bit(own + 1) - 1)
    beaters, adders = np.int64(0), np.int64(0)
    seat = node.seat
    while seat != node.leader:
        cards = legal_follow(node, node.hands[seat])
        if cards & over and not beaten:
            if node.penalty or cards & over & PENALTY:
                return True
            beaters |= bit(seat)
        if cards & PENALTY:
            if beaten:
                return True
            adders |= bit(seat)
        seat = seat + 1 if seat + 1 < node.players else 0
    return beaters != 0 and adders != 0 and (beaters != adders or beaters & (beaters - 1) != 0)


@kernel
def settled(node: Any) -> int:
    """The answer between two tricks where it shows at once; else UNDECIDED."""
    own = node.hands[SHOOTER]
    others = node.hands[1] | node.hands[2] | node.hands[3]
    if (own | others) & PENALTY == 0 and node.penalty == 0:
        return YES
    own_hearts, hearts = own & ALL_HEARTS, others & ALL_HEARTS
    if own_hearts and hearts > own_hearts:
        return NO
    if own & ALL_SPADES == bit(QUEEN) and others & ALL_SPADES > bit(QUEEN):
        return NO
    if node.trick_number == 0:
        return UNDECIDED
    if node.leader == SHOOTER:
        return YES if runs(node) else UNDECIDED
    return NO if stolen(node) else UNDECIDED


@kernel
def stolen(node: Any) -> bool:
    """One of the others leads a card that the shooter can't beat, and it is a penalty card or gets one."""
    cards = legal_lead(node, node.hands[node.leader])
    for suit in range(4):
        whole = SUIT << RANKS * suit
        led, own = cards & whole, node.hands[SHOOTER] & whole
        if led <= own:  # the higher card is in the larger set
            continue
        if suit == HEARTS or (led & bit(QUEEN) and own < bit(QUEEN)):
            return True
        for seat in range(1, node.players):
            held = node.hands[seat]
            if seat != node.leader and held & (PENALTY if held & whole == 0 else whole & bit(QUEEN)):
                return True
    return False


@kernel
def runs(node: Any) -> bool:
    """Led from the top, no card of the shooter ever loses: each other is below all, or out of the suit in time."""
    for suit in range(4):
        own = (node.hands[SHOOTER] >> RANKS * suit) & SUIT
        if own == 0:
            continue
        for seat in range(1, node.players):
            held = (node.hands[seat] >> RANKS * suit) & SUIT
            if held and lowest(own) < highest(held) and popcount(own >> highest(held)) < popcount(held):
                return False
    return True


# ------------------------------------------------------------------------------------------------- table


@kernel
def owners(node: Any, suit: int) -> int:
    """The owners of a suit's cards in the order of rank, two bits each under a leading 1."""
    code = np.int64(1)
    shift = RANKS * suit
    h0, h1, h2 = node.hands[0] >> shift, node.hands[1] >> shift, node.hands[2] >> shift
    left = (h0 | h1 | h2 | (node.hands[3] >> shift)) & SUIT
    while left:
        low = left & -left
        left ^= low
        owner = 0 if h0 & low else (1 if h1 & low else (2 if h2 & low else 3))
        code = code << 2 | owner
    return code


@kernel
def owners_by_gap(node: Any, suit: int) -> int:
    """The same, the others' cards sorted by owner between two cards of the shooter; their queen of spades left out."""
    code = np.int64(1)
    shift = RANKS * suit
    h0, h1 = (node.hands[0] >> shift) & SUIT, (node.hands[1] >> shift) & SUIT
    h2, h3 = (node.hands[2] >> shift) & SUIT, (node.hands[3] >> shift) & SUIT
    if suit == SPADES:
        keep = ~bit(QUEEN - RANKS * SPADES)
        h1, h2, h3 = h1 & keep, h2 & keep, h3 & keep
    while True:
        below = (h0 & -h0) - 1 if h0 else np.int64(SUIT)
        one, two, three = popcount(h1 & below), popcount(h2 & below), popcount(h3 & below)
        code = ((code << 2 * one | ((bit(2 * one) - 1) & 0x1555555)) << 2 * two) | ((bit(2 * two) - 1) & 0x2AAAAAA)
        code = code << 2 * three | (bit(2 * three) - 1)
        if h0 == 0:
            return code
        code <<= 2
        h1, h2, h3 = h1 & ~below, h2 & ~below, h3 & ~below
        h0 &= h0 - 1


@kernel
def queen_place(node: Any, mode: int) -> int:
    """Where the queen of spades is: her owner and how many cards that matter are below her; 0 if she is played."""
    own, others = node.hands[SHOOTER], node.hands[1] | node.hands[2] | node.hands[3]
    if (own | others) & bit(QUEEN) == 0:
        return 0
    below = ALL_SPADES & (bit(QUEEN) - 1)
    place = 4 * popcount((own if mode != EXACT else own | others) & below)
    for seat in range(1, node.players):
        if node.hands[seat] & bit(QUEEN):
            place += seat
    return place + 1


@kernel
def key_words(node: Any, mode: int) -> tuple[int, int]:
    """The position between two tricks as two words; clubs, diamonds and (without the queen) spades are alike."""
    for suit in range(4):
        node.codes[suit] = owners(node, suit) if mode == EXACT else owners_by_gap(node, suit)
    a, b, hearts, c = node.codes[0], node.codes[1], node.codes[HEARTS], node.codes[SPADES]
    queen = queen_place(node, mode)
    a, b = min(a, b), max(a, b)
    if queen == 0:
        b, c = min(b, c), max(b, c)
        a, b = min(a, b), max(a, b)
    return a << 27 | b, (hearts << 27 | c) << 9 | queen << 3 | node.broken << 2 | node.leader


@kernel
def slot_of(table: Any, first: int, second: int) -> int:
    """The first of the two places in the table for a key."""
    hashed = mix(np.uint64(first) ^ mix(np.uint64(second)))
    return np.int64(hashed & np.uint64(len(table) - 1)) & ~1


@kernel
def look_up(table: Any, slot: int, first: int, second: int, root: int) -> int:
    """The answer stored for a key, or UNDECIDED."""
    for place in (slot, slot + 1):
        if table[place, 0] == first and table[place, 1] == second and table[place, 2] == root:
            return table[place, 3]
    return UNDECIDED


@kernel
def remember(table: Any, slot: int, first: int, second: int, root: int, answer: int) -> None:
    """Store an answer in the first place; what was there moves to the second."""
    for column in range(4):
        table[slot + 1, column] = table[slot, column]
    table[slot, 0], table[slot, 1], table[slot, 2], table[slot, 3] = first, second, root, answer


# ------------------------------------------------------------------------------------------------ search


@kernel
def list_moves(node: Any, cards: int, mode: int, moves: Any) -> int:
    """Write the cards worth trying, the likeliest first; returns how many."""
    seat = node.seat
    if seat != SHOOTER and mode != EXACT:
        apart = node.hands[SHOOTER] | (bit(node.trick[SHOOTER]) if node.trick[SHOOTER] >= 0 else np.int64(0))
    else:
        apart = node.hands[0] | node.hands[1] | node.hands[2] | node.hands[3]
        apart = apart & ~node.hands[seat] | (bit(node.best) if node.best >= 0 else np.int64(0))
    count, previous = 0, np.int64(NO_CARD)
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        same = previous >= 0 and previous // RANKS == card // RANKS and between(previous, card) & apart == 0
        alike = same and card != QUEEN and previous != QUEEN
        previous = card
        if alike:
            continue
        weight = shooter_weight(node, card) if seat == SHOOTER else other_weight(node, card)
        place = count
        while place > 0 and moves[place - 1] >> 8 < weight:
            moves[place] = moves[place - 1]
            place -= 1
        moves[place] = weight << 8 | card
        count += 1
    return count


@kernel
def shooter_weight(node: Any, card: int) -> int:
    """Sure winners last on lead, as they can wait; following, what wins and then what is worth least."""
    others = node.hands[1] | node.hands[2] | node.hands[3]
    over = others & (SUIT << RANKS * (card // RANKS)) & ~(bit(card) - 1)
    if node.seat == node.leader:
        return 60 + popcount(over) if over else 40 + card % RANKS
    if card // RANKS == node.trick[node.leader] // RANKS:
        return 40 - card % RANKS
    return 20 + popcount(over)


@kernel
def other_weight(node: Any, card: int) -> int:
    """Lead what the shooter can't take; take what can be taken with a penalty card; keep guards and penalty cards."""
    own = node.hands[SHOOTER]
    suit = SUIT << RANKS * (card // RANKS)
    over = own & suit & ~(bit(card) - 1)
    penalty = 1 if bit(card) & PENALTY else 0
    if node.seat == node.leader:
        return (40 if over == 0 else 20 - popcount(over)) + (card % RANKS) + 2 * penalty
    played = node.trick[SHOOTER] >= 0
    follows = card // RANKS == node.trick[node.leader] // RANKS
    if played and node.winner != SHOOTER:
        return 60 * penalty + RANKS - card % RANKS
    if follows:
        return 40 + card % RANKS if card > node.best else 20 - card % RANKS
    return 30 - 20 * penalty - card % RANKS


@kernel
def enter(node: Any, given: int, table: Any, root: int, mode: int, moves: Any) -> int:
    """The answer for a position just reached if it is known; else its moves are listed, those `given` at the root."""
    opens = node.seat == node.leader
    node.slot, node.leaders, node.next = -1, 0, 0
    if opens:
        known = settled(node)
        if known == UNDECIDED and node.trick_number > 0:
            node.first, node.second = key_words(node, mode)
            node.slot = slot_of(table, node.first, node.second)
            known = look_up(table, node.slot, node.first, node.second, root)
        if known != UNDECIDED:
            node.slot = -1
            return known
    hand = node.hands[node.seat]
    cards = given if given else (legal_lead(node, hand) if opens else legal_follow(node, hand))
    node.count = list_moves(node, cards, mode, moves)
    return UNDECIDED


@kernel
def absorb(node: Any, answer: int, mode: int) -> int:
    """The answer for a position from the one for its child; UNDECIDED if there is more to try."""
    if node.leaders != 0 and answer != (YES if mode == SHOOTER_CHOOSES else NO):
        return UNDECIDED  # the same card, and another leader
    node.leaders = 0
    return answer if answer == (YES if node.seat == SHOOTER else NO) else UNDECIDED


@kernel
def descend(node: Any, child: Any, mode: int, moves: Any) -> int:
    """Make the next child of a position; its answer instead if no child is left that needs a search."""
    mine = node.seat == SHOOTER
    while node.leaders == 0:
        if node.next == node.count:
            return NO if mine else YES
        copy_node(child, node)
        leaders = put(child, moves[node.next] & 255, mode)
        node.next += 1
        if leaders == 0 and not (mine and doomed(child)):
            return UNDECIDED
        if leaders == LOST and not mine:
            return NO
        node.leaders = max(leaders, 0)
    child.leader = lowest(node.leaders)
    child.seat, child.winner = child.leader, NO_SEAT
    node.leaders &= node.leaders - 1
    return UNDECIDED


@part
def solve(given: int, cap: int, nodes: Any, moves: Any, table: Any, work: Any) -> int:
    """The answer for the first of `nodes`, UNDECIDED if that took more than `cap` positions."""
    mode, root = work[MODE], work[ROOT]
    depth, new = 0, True
    answer = UNDECIDED
    while True:  # numba's cache does not bear recursion
        node = nodes[depth]
        if new:
            work[NODES] += 1
            if cap > 0 and work[NODES] > cap:
                return UNDECIDED
            answer = enter(node, given if depth == 0 else 0, table, root, mode, moves[depth])
        else:
            answer = absorb(node, answer, mode)
        if answer == UNDECIDED:
            answer = descend(node, nodes[depth + 1], mode, moves[depth])
        new = answer == UNDECIDED
        if new:
            depth += 1
            continue
        if node.slot >= 0:
            remember(table, node.slot, node.first, node.second, root, answer)
        if depth == 0:
            return answer
        depth -= 1


@kernel
def at_once(state: Any, shooter: int) -> int:
    """The answer from the penalty cards already taken, or UNDECIDED."""
    in_play = herzeln.penalties_in_play(state)
    own = np.int64(0)
    for seat in range(state.players):
        taken = taken_by(state, seat) & PENALTY
        if seat == shooter:
            own = taken
        elif taken:
            return NO
    if in_play == 0:
        return NO
    return YES if own == in_play else UNDECIDED


@part
def answer_one(state: Any, shooter: int, cap: int, nodes: Any, moves: Any, table: Any, work: Any) -> int:
    """The answer for one state, through the simpler games; the nodes searched are in `work`."""
    work[NODES] = 0
    known = at_once(state, shooter)
    if known != UNDECIDED:
        return known
    cards = legal(state)
    for mode in range(EXACT + 1):
        work[MODE] = mode
        work[ROOT] += 1
        open_node(nodes[0], state, shooter)
        known = solve(cards, cap, nodes, moves, table, work)
        if known == UNDECIDED or mode == EXACT:
            return known
        if known == (NO if mode == SHOOTER_CHOOSES else YES):
            return known
        if state.players == 2:
            return known  # with one other only, the three games are the same
    return known


@entry
def answer_all(
    states: Any, seats: Any, cap: int, nodes: Any, moves: Any, table: Any, work: Any, forced: Any, spent: Any
) -> None:
    """Answers int8[N] and nodes int64[N] for states [N] and a shooter each."""
    for i in range(len(states)):
        forced[i] = answer_one(states[i], np.int64(seats[i]), cap, nodes, moves, table, work)
        spent[i] = work[NODES]


# --------------------------------------------------------------------------------------------------- use


_solvers: list[Solver] = []  # the one that calls without a solver share


def shared_solver() -> Solver:
    """The solver of this process, made when it is first needed."""
    if not _solvers:
        _solvers.append(Solver())
    return _solvers[0]


def moon(
    states: np.ndarray, seats: Any, *, nodes: int = 0, line: bool = False, solver: Solver | None = None
) -> MoonAnswer:
    """Whether a seat can take all penalty cards against any defence of all others, who see all hands.

    Args:
        states: Full states [N] in the phase of play, at any point of a trick.
        seats: The shooter of each, int8[N], or one for all.
        nodes: Cap on the positions searched for each state, 0 for none.
        line: Whether to return a line for each state, too.
        solver: Memory to search in; by default one that the process shares (not between threads).

    Raises:
        ValueError: a state that is a view, or not in the phase of play.
    """
    memory = shared_solver() if solver is None else solver
    shooters = np.ascontiguousarray(np.broadcast_to(np.asarray(seats, np.int8), states.shape))
    if len(states) and ((states["phase"] != PLAY).any() or (states["observer"] >= 0).any()):
        raise ValueError("moon() takes full states (no views) in the phase of play")
    forced, spent = np.empty(len(states), np.int8), np.empty(len(states), np.int64)
    answer_all(states, shooters, nodes, memory.nodes, memory.moves, memory.table, memory.work, forced, spent)
    if not line:
        return MoonAnswer(forced, spent)
    lines = [_line(states[i : i + 1], int(shooters[i]), int(forced[i]), memory) for i in range(len(states))]
    return MoonAnswer(forced, spent, lines)


@entry
def step(states: Any, card: int, shooter: int) -> tuple[int, int]:
    """Play a card (or NO_CARD) in the first state; returns its legal cards then, and `at_once`."""
    state = states[0]
    if card != NO_CARD:
        herzeln.play(state, card)
    known = at_once(state, shooter)
    if known == UNDECIDED and state.phase != PLAY:
        known = NO
    return legal(state), known


def _line(state: np.ndarray, shooter: int, forced: int, solver: Solver) -> list[int]:
    """Cards from a state on, with which the side that has its way gets there."""
    state, cards = state.copy(), []
    legal_cards, known = step(state, NO_CARD, shooter)
    while known == UNDECIDED and forced != UNDECIDED:
        choices = get_game("herzeln").deck.in_set(legal_cards)
        has_way = (int(state["seat"][0]) == shooter) == (forced == YES)
        cards.append(_keeping(state, shooter, forced, choices, solver) if has_way else choices[0])
        legal_cards, known = step(state, cards[-1], shooter)
    return cards


def _keeping(state: np.ndarray, shooter: int, forced: int, choices: list[int], solver: Solver) -> int:
    """A card after which the answer is still the same; searched with growing effort, as another may be hard."""
    effort = 256
    while len(choices) > 1:
        for card in choices:
            after = state.copy()
            _, known = step(after, card, shooter)
            if known == UNDECIDED:
                known = int(moon(after, shooter, nodes=effort, solver=solver).forced[0])
            if known == forced:
                return card
        effort *= 8
    return choices[0]


def biased_deals(
    strength: float, n: int, seed: int, *, preset: str | None = None, **options: Any
) -> tuple[np.ndarray, np.ndarray]:
    """States [n] at the first lead and a shooter int8[n] each, whose hand draws high cards, hearts and top spades.

    Args:
        strength: 0 for deals at random; of four players' moons about 5 % are forced at 2, 25 % at 3, 65 % at 5.
        n: Number of deals.
        seed: Of all draws.
        preset: Of the rules.
        options: Of the rules; there is no passing.
    """
    game = get_game("herzeln")
    rules = game.options(preset, **{**options, "passing": "none", "episode": "deal"})
    rng = np.random.default_rng(seed)
    lanes = np.arange(n, dtype=np.uint64)
    states = game.new_states(rules, np.uint64(seed), lanes, np.zeros(n, np.int64))
    game.lanes.open_lanes(states, np.ones(n, bool))
    seats = rng.integers(rules.players, size=n).astype(np.int8)
    dealt = np.array(game.deck.in_set(herzeln.cards_dealt(rules)))
    draws = strength * _charm(dealt) + rng.gumbel(size=(n, len(dealt)))
    size = int(states["hand_size"][0])
    for i in range(n):
        by_charm = dealt[np.argsort(-draws[i])]
        rest = rng.permutation(by_charm[size:])
        hands = [rest[size * place : size * (place + 1)] for place in range(rules.players - 1)]
        hands.insert(int(seats[i]), by_charm[:size])
        states["hands"][i, : rules.players] = [game.deck.as_set(hand) for hand in hands]
        left = rest[size * (rules.players - 1) :]
        states["kitty"][i] = left[0] if rules.three_players == "kitty" else NO_CARD
        game.lanes.deal_lane(states, i, False)
    return states, seats


def _charm(cards: np.ndarray) -> np.ndarray:
    """How much a card helps to shoot: by rank, hearts and the spades from the queen on a little more."""
    rank, suit = cards % RANKS / (RANKS - 1), cards // RANKS
    return 2 * rank + 0.5 * (suit == HEARTS) + 0.5 * ((suit == SPADES) & (cards >= QUEEN))


def measure(strengths: tuple[float, ...] = (0, 2, 3, 4, 5), n: int = 300, seed: int = 0) -> list[dict[str, Any]]:
    """CPU milliseconds a state on deals of each strength: mean, median, 99th percentile and most, one row each.

    Beside them the shares that are forced and that need more than a second.
    """
    moon(*biased_deals(0, 1, seed), nodes=1)
    rows = []
    for strength in strengths:
        states, seats = biased_deals(strength, n, seed)
        spent, forced = np.empty(n), np.empty(n, np.int8)
        for i in range(n):
            start = time.process_time()
            forced[i] = moon(states[i : i + 1], seats[i : i + 1], nodes=SECOND).forced[0]
            spent[i] = 1000 * (time.process_time() - start)
        rows.append(
            {"strength": strength, "forced": float(np.mean(forced == YES)), "mean": float(spent.mean())}
            | {"p50": float(np.median(spent)), "p99": float(np.percentile(spent, 99)), "max": float(spent.max())}
            | {"undecided": float(np.mean((forced == UNDECIDED) | (spent > 1000)))}
        )
    return rows
