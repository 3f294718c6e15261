"""`rules` for Herzeln: plays hearts as a good club player does, from counting cards.

How it plays:
- It knows what is still out, who has shown a void, and who was passed the queen of spades.
- Every legal card is weighed: the points that it is likely to take in this trick, against the danger that
  leaves the hand with it. High cards without low ones under them are dangerous, so it passes and throws
  these, makes itself void, takes early tricks (still free of points) with them, and else stays just under.
- Spades below the queen guard her, the king and the ace; with none of these three it leads spades to drive
  the queen out. It leads low, from short suits, and throws the queen at the first chance.
- It shoots the moon when hardly a card of its hand can lose; with the queen taken it risks more.
- Against another's moon it values a cheap penalty trick, gives hearts to anybody but the shooter and keeps
  the top heart.

For studies it plays in other ways, too: `aim` never goes for the moon or always does until it can't be had any more,
and without `defend` it lets the others have theirs.

The weights are points, fitted to playouts: what each legal card brought instead of the chosen one, over some
30,000 decisions, regressed on the terms below, then tried in matches.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..envs import herzeln
from ..envs.bits import bit, highest, lowest, popcount
from ..envs.cards import DIAMONDS, HEARTS, NO_CARD, NO_SEAT, SPADES
from ..envs.errors import OptionError, unknown
from ..envs.herzeln import JACK, PENALTY, QUEEN, QUEEN_POINTS, RANKS, SUIT, legal, next_seat, penalty_points
from ..envs.jit import kernel, specialise
from ..envs.state import PASS

SPADE_QUEEN, TOP_RANK = QUEEN - SPADES * RANKS, RANKS - 1
MISS = np.array([[1.0] * (RANKS + 1)] + [[((k - 1) / k) ** m for m in range(RANKS + 1)] for k in (1, 2, 3, 4)])
"""MISS[k, m]: the chance that one of k players who share m cards of a suit evenly has none of them."""

# Danger in the hand.
TRICK, HEART_TRICK = 0.9, 3.0  # an unwanted trick in a side suit costs that much, in hearts that,
QUEEN_THREAT = 1.5  # and more while somebody may throw the queen on it
CAUGHT = 0.5  # chance that the bare king or ace of spades catches the queen
BARE_QUEEN = 0.65  # chance that the bare queen of spades takes a trick
QUEEN_GONE = 1.0  # relief to be rid of the queen, however well guarded
VOID = 1.0  # a void is worth that much while the whole suit is out
JACK_HELD = 4.0  # hope to take a trick with the own jack of diamonds
CATCHER = 1.5  # hope to catch the jack with the queen, king or ace of diamonds
# The trick.
DISCARD = 0.7  # hearts that one who cannot follow throws, on average
ON_LEAD = 0.15  # burden of leading next, beside what the best lead will cost
EXIT = 1.3  # weight of that cost: a hand without a low lead stays on lead
DISCARD_RANK = 0.6  # throw an ace rather than a deuce, other things equal
# Leading.
LEAD_RELIEF = 0.6  # danger led away counts less: the suit comes back
LEAD_AGAIN = 0.75  # taking the own lead is no burden: one is on lead anyway
FLUSH = 0.5  # driving the queen of spades out with a spade below her
LEAD_SPADE = 0.5  # any spade helps to find her
LEAD_HEART = 1.1  # hearts led early go to others
LEAD_LENGTH = 0.2  # for each card of the suit: others are void in a long suit
LEAD_TOP = 0.8  # a card that nobody can beat may be wanted later
LEAD_LOW = 0.6  # low rather than high while the queen is out
# Passing.
PASS_DANGER = 0.5  # the hand that comes back is unknown, so its dangers count half
PASS_RANK = 2.0  # and the rank counts for itself,
PASS_HEART_RANK = 2.0  # twice in hearts,
PASS_HEART, PASS_SPADE = 2.7, 1.3  # of which the low ones are guards to keep, as are low spades;
PASS_LENGTH = 0.25  # short suits first
# Moon: losers are cards that lose a trick when their suit is led from the top.
LOSERS, LOSERS_WITH_QUEEN = 1, 2  # so many are risked, more once the queen is taken: little is left to lose
LOSERS_TO_PASS = 2  # and when passing, beside those that will be passed
HEART_LOSER = 2  # a heart that loses is a point for another for sure
FREE, NEVER, ALWAYS = range(3)  # whether to go for the moon: as the hand says, not at all, as long as it can be had
MOON_COST = 1.0  # defence: points at stake for each heart that the shooter has
STOPPER = 1.0  # part of them that hangs on the own top heart


@kernel
def cards_out(view: Any) -> int:
    """The cards that may lie in the other hands: all but the own, the played and those out of the game."""
    seen = view.hands[view.observer] | view.passed[view.observer] if view.phase == PASS else view.hands[view.observer]
    for seat in range(view.players):
        seen |= view.played[seat]
    if view.kitty >= 0:
        seen |= bit(view.kitty)
    if view.players == 3 and view.three_players != herzeln.KITTY:
        seen |= bit(herzeln.DIAMOND_TWO if view.three_players == herzeln.DROP_DIAMOND_TWO else herzeln.CLUB_TWO)
    return herzeln.ALL & ~seen


@kernel
def of_suit(cards: int, suit: int) -> int:
    """The cards of one suit as thirteen bits, the two lowest."""
    return (cards >> RANKS * suit) & SUIT


@kernel
def is_void(view: Any, seat: int, suit: int) -> bool:
    """Whether a seat has shown that it holds no card of the suit."""
    return (np.int64(view.voids[seat]) >> suit) & 1 == 1


@kernel
def holders(view: Any, suit: int) -> int:
    """How many others may hold the suit; in `half` the cards out of play are one more hand."""
    count = np.int64(view.half)
    for seat in range(view.players):
        if seat != view.observer and not is_void(view, seat, suit):
            count += 1
    return count


@kernel
def on_table(view: Any) -> int:
    """The cards of the current trick."""
    cards = np.int64(0)
    for seat in range(view.players):
        if view.trick[seat] >= 0:
            cards |= bit(view.trick[seat])
    return cards


@kernel
def beats(view: Any, card: int) -> bool:
    """Whether the card would take the trick as it lies."""
    return view.seat == view.leader or (card // RANKS == np.int64(view.best) // RANKS and card > view.best)


@kernel
def queen_chance(view: Any, seat: int, out: int) -> float:
    """The chance that a seat holds the queen of spades; who was passed her has her."""
    if out & bit(QUEEN) == 0 or is_void(view, seat, SPADES):
        return 0.0
    if view.passed[view.observer] & bit(QUEEN):
        return 1.0 if seat == (view.observer + view.direction) % view.players else 0.0
    return 1.0 / holders(view, SPADES)


@kernel
def card_price(suit: int, rank: int, out: int, queen_out: bool) -> float:
    """Points that a card without guards costs: more the more cards lie under it."""
    if suit == SPADES and rank == SPADE_QUEEN:
        return QUEEN_POINTS * BARE_QUEEN
    if suit == SPADES and rank > SPADE_QUEEN and queen_out:
        return QUEEN_POINTS * CAUGHT
    under = popcount(out & (bit(rank) - 1)) / popcount(out)
    return under * under * ((HEART_TRICK if suit == HEARTS else TRICK) + (QUEEN_THREAT if queen_out else 0.0))


@kernel
def suit_danger(suit: int, own: int, out: int, sharers: int, queen_out: bool) -> float:
    """What a holding is likely to cost: a card is safe once its guards outlast the rounds to come."""
    if own == 0:
        return -VOID * popcount(out) / RANKS
    if out == 0:
        return 0.0
    rounds = popcount(out) / max(sharers, 1) + 1
    danger, guards, rest = 0.0, 0, own
    while rest:
        rank = lowest(rest)
        rest &= rest - 1
        queen = suit == SPADES and rank == SPADE_QUEEN  # guarded by the king and the ace too
        kept = popcount(own) - 1 if queen else guards
        danger += card_price(suit, rank, out, queen_out) * max(0.0, 1 - kept / rounds)
        guards += 1
    return danger


@kernel
def relief(view: Any, card: int, own: int, out: int) -> float:
    """How much less danger is in the hand without the card."""
    suit, queen_out = card // RANKS, out & bit(QUEEN) != 0
    held, gone, sharers = of_suit(own, suit), of_suit(out, suit), holders(view, suit)
    without = held & ~bit(card % RANKS)
    less = suit_danger(suit, held, gone, sharers, queen_out) - suit_danger(suit, without, gone, sharers, queen_out)
    if card == QUEEN:
        less += QUEEN_GONE
    if view.jack_of_diamonds and suit == DIAMONDS:
        less -= jack_hope(card, own, out)
    return less


@kernel
def jack_hope(card: int, own: int, out: int) -> float:
    """What a diamond is worth for taking the jack."""
    if card == JACK:
        return JACK_HELD
    return CATCHER if card > JACK and (own | out) & bit(JACK) else 0.0


@kernel
def worth(view: Any, cards: int) -> int:
    """Points of the cards for who takes them."""
    jack = view.jack_of_diamonds and cards & bit(JACK)
    return penalty_points(cards) + (herzeln.JACK_POINTS if jack else 0)


@kernel
def thrown(view: Any, out: int, queen: float) -> float:
    """Points to expect from one who cannot follow and has the queen with this chance."""
    if view.trick_number == 0 and not view.points_in_first_trick:
        return 0.0
    return (DISCARD if of_suit(out, HEARTS) else 0.0) + QUEEN_POINTS * queen


@kernel
def trick_risk(view: Any, card: int, out: int) -> tuple[float, float]:
    """The chance that the card takes the trick from those still to play, and the points that they add."""
    suit, rank = card // RANKS, card % RANKS
    gone, sharers = of_suit(out, suit), holders(view, suit)
    lower, higher = popcount(gone & (bit(rank) - 1)), popcount(gone >> rank)
    void, forced_over = MISS[sharers, lower + higher], MISS[sharers, lower] * (1 - MISS[sharers, higher])
    chance, points = 1.0, 0.0
    seat = next_seat(view, view.observer)
    while seat != view.leader:
        queen = queen_chance(view, seat, out)
        if is_void(view, seat, suit):
            points += thrown(view, out, queen)
        else:
            chance *= 1 - forced_over
            points += void * thrown(view, out, queen) + (1 - void if suit == HEARTS else 0.0)
            points += QUEEN_POINTS * queen if card > QUEEN else 0.0  # she falls under her king or ace
        seat = next_seat(view, seat)
    return chance, points


@kernel
def trick_cost(view: Any, card: int, out: int) -> float:
    """Points to expect in this trick if the card is played to it, and the burden of the next lead."""
    if not beats(view, card):
        return 0.0
    chance, later = trick_risk(view, card, out)
    burden = EXIT * exit_cost(view, view.hands[view.observer] & ~bit(card), out) + ON_LEAD
    if view.seat == view.leader:
        burden -= LEAD_AGAIN
    if view.no_trick_bonus and view.tricks[view.observer] == 0:
        burden -= herzeln.NO_TRICK_POINTS * (view.trick_number + 1) / view.hand_size
    return chance * (worth(view, on_table(view) | bit(card)) + later + burden)


@kernel
def exit_cost(view: Any, own: int, out: int) -> float:
    """What the next lead will cost at least: the lowest card of the best suit."""
    cheapest = np.float64(QUEEN_POINTS) if own else 0.0
    for suit in range(4):
        held = of_suit(own, suit)
        if held:
            cheapest = min(cheapest, low_lead_cost(view, suit, lowest(held), out))
    return cheapest


@kernel
def low_lead_cost(view: Any, suit: int, rank: int, out: int) -> float:
    """Points to expect from leading a card, the others staying under it where they can."""
    gone, sharers, others = of_suit(out, suit), holders(view, suit), view.players - 1
    lower, higher = popcount(gone & (bit(rank) - 1)), popcount(gone >> rank)
    void, stay_under = MISS[sharers, lower + higher], 1 - MISS[sharers, lower] * (1 - MISS[sharers, higher])
    queen_out = out & bit(QUEEN) != 0
    points = (others - sharers + sharers * void) * thrown(view, out, 1.0 / others if queen_out else 0.0)
    points += sharers * (1 - void) if suit == HEARTS else 0.0
    points += QUEEN_POINTS if queen_out and suit == SPADES and rank > SPADE_QUEEN else 0.0
    return stay_under**sharers * points


@kernel
def safest(view: Any, cards: int, defend: bool) -> int:
    """The card with the least cost in this trick and the least danger left in the hand."""
    own, out = view.hands[view.observer], cards_out(view)
    threat, shooter = moon_threat(view)
    if not defend:
        shooter = NO_SEAT
    chosen, least = NO_CARD, 0.0
    while cards:
        card = lowest(cards)
        cards &= cards - 1
        cost = trick_cost(view, card, out) - gain(view, card, own, out)
        if shooter != NO_SEAT:
            cost += moon_defence(view, card, out, threat, shooter)
        if chosen == NO_CARD or cost <= least:
            chosen, least = card, cost
    return chosen


@kernel
def gain(view: Any, card: int, own: int, out: int) -> float:
    """What the rest of the hand gains by the card's leaving it."""
    less = relief(view, card, own, out)
    if view.seat == view.leader:
        return less if card == QUEEN else LEAD_RELIEF * less + lead_merit(card, own, out)
    discard = card // RANKS != np.int64(view.best) // RANKS
    return less + (DISCARD_RANK * (card % RANKS) / TOP_RANK if discard else 0.0)


@kernel
def lead_merit(card: int, own: int, out: int) -> float:
    """Lead low, from short suits, hearts early, and spades to drive the queen out."""
    suit, rank = card // RANKS, card % RANKS
    merit = -LEAD_LENGTH * popcount(of_suit(own, suit))
    merit += LEAD_HEART if suit == HEARTS else 0.0
    if out & bit(QUEEN):
        merit -= LEAD_LOW * rank / TOP_RANK
        if suit == SPADES:
            merit += LEAD_SPADE + (FLUSH if own >> QUEEN == 0 else 0.0)
    return merit - LEAD_TOP if of_suit(out, suit) >> rank == 0 else merit


@kernel
def choose_pass(view: Any, cards: int, aim: int) -> int:
    """A loser of a hand fit for the moon, else the card whose loss makes the hand safest."""
    out = cards_out(view)
    hearts, others = moon_losers(view, cards, out)
    fit = hearts + others - (herzeln.PASSED - popcount(view.passed[view.observer])) <= LOSERS_TO_PASS
    if aim == ALWAYS or (aim == FREE and fit):
        return lowest(cards & PENALTY) if hearts else throw_loser(cards, out)
    chosen, most, rest = NO_CARD, 0.0, cards
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        value = pass_value(view, card, cards, out)
        if chosen == NO_CARD or value >= most:
            chosen, most = card, value
    return chosen


@kernel
def pass_value(view: Any, card: int, own: int, out: int) -> float:
    """Pass the queen and high spades without guards, high hearts, and what makes a short suit shorter."""
    suit, height = card // RANKS, (card % RANKS) / TOP_RANK
    less = relief(view, card, own, out)
    value = (less if card >= QUEEN else PASS_DANGER * less) + PASS_RANK * height
    if suit == HEARTS:
        value += PASS_HEART_RANK * height - PASS_HEART
    if suit == SPADES:
        value -= PASS_SPADE
    return value - PASS_LENGTH * popcount(of_suit(own, suit))


@kernel
def losers(own: int, out: int, sharers: int) -> int:
    """Cards of a suit that lose a trick when it is led from the top, the others' cards lying unevenly."""
    count = popcount(out)
    longest = min(count, (count + sharers - 1) // max(sharers, 1) + 1)
    lost, led = 0, 0
    while own and led < longest:
        rank = highest(own)
        own &= ~bit(rank)
        lost += 1 if popcount(out >> rank) > lost else 0
        led += 1
    return lost


@kernel
def moon_losers(view: Any, own: int, out: int) -> tuple[int, int]:
    """Losers among the hearts, and those in the other suits."""
    lost = 0
    for suit in range(4):
        lost += losers(of_suit(own, suit), of_suit(out, suit), holders(view, suit))
    hearts = losers(of_suit(own, HEARTS), of_suit(out, HEARTS), holders(view, HEARTS))
    return hearts, lost - hearts


@kernel
def moon_possible(view: Any) -> bool:
    """Whether all penalty cards can still be one's own: nobody else has one, nor takes the one on the table."""
    me = view.observer
    for seat in range(view.players):
        if seat != me and view.taken[seat] & PENALTY:
            return False
    return on_table(view) & PENALTY == 0 or can_beat(view, view.hands[me])


@kernel
def shooting(view: Any, aim: int) -> bool:
    """Whether to go for all penalty cards: they can still be had, and hardly a card of the hand loses."""
    me = view.observer
    if aim == NEVER or not moon_possible(view):
        return False
    if aim == ALWAYS:
        return True
    hearts, others = moon_losers(view, view.hands[me], cards_out(view))
    if view.taken[me] & bit(QUEEN):
        return hearts + others <= LOSERS_WITH_QUEEN
    return HEART_LOSER * hearts + others <= LOSERS


@kernel
def can_beat(view: Any, cards: int) -> bool:
    """Whether one of the cards is higher than the best of the trick, in its suit."""
    suit, rank = np.int64(view.best) // RANKS, np.int64(view.best) % RANKS
    return of_suit(cards, suit) >> rank != 0


@kernel
def shoot(view: Any, cards: int) -> int:
    """Take every trick: lead from the top, play over, and throw losers on what cannot be taken."""
    if view.seat == view.leader:
        return lead_winner(cards, cards_out(view))
    if not can_beat(view, cards):
        return throw_loser(cards, cards_out(view))
    suit = np.int64(view.best) // RANKS
    over = cards & (SUIT << RANKS * suit) & ~(bit(view.best) - 1)
    return lowest(over) if next_seat(view, view.seat) == view.leader else highest(over)


@kernel
def lead_winner(cards: int, out: int) -> int:
    """The top card of the suit with most cards out if it is certain to win; else of the longest suit."""
    chosen, most = NO_CARD, 0
    for suit in range(4):
        held, gone = of_suit(cards, suit), of_suit(out, suit)
        if held:
            top = highest(held)
            sure = gone >> top == 0
            value = popcount(held) + (RANKS + popcount(gone) if sure else 0)
            if value > most:
                chosen, most = top + suit * RANKS, value
    return chosen


@kernel
def throw_loser(cards: int, out: int) -> int:
    """The card that most cards out beat, no penalty card if possible."""
    rest = cards & ~PENALTY if cards & ~PENALTY else cards
    chosen, most = NO_CARD, -1
    while rest:
        card = lowest(rest)
        rest &= rest - 1
        higher = popcount(of_suit(out, card // RANKS) >> card % RANKS)
        if higher > most:
            chosen, most = card, higher
    return chosen


@kernel
def moon_threat(view: Any) -> tuple[float, int]:
    """Points at stake through another's moon, and whose: all penalty cards so far are that seat's."""
    shooter = NO_SEAT
    for seat in range(view.players):
        if view.taken[seat] & PENALTY:
            if shooter != NO_SEAT or seat == view.observer:
                return 0.0, NO_SEAT
            shooter = seat
    hearts = popcount(of_suit(view.taken[shooter], HEARTS)) if shooter != NO_SEAT else 0
    return MOON_COST * hearts, shooter


@kernel
def moon_defence(view: Any, card: int, out: int, threat: float, shooter: int) -> float:
    """Below zero for a card that takes points or gives them to another, above for giving the top heart away."""
    penalties = (on_table(view) | bit(card)) & PENALTY
    if beats(view, card):
        chance, later = trick_risk(view, card, out)
        return -threat * chance * (1.0 if penalties else min(1.0, later))
    if penalties and view.winner != shooter:
        return -threat
    return threat * STOPPER if card // RANKS == HEARTS and of_suit(out, HEARTS) >> card % RANKS == 0 else 0.0


@kernel
def rules_card(view: Any, aim: int, defend: bool) -> int:
    """The card that a good club player would pass or play."""
    cards = legal(view)
    if cards & (cards - 1) == 0:
        return lowest(cards)
    if view.phase == PASS:
        return choose_pass(view, cards, aim)
    return shoot(view, cards) if shooting(view, aim) else safest(view, cards, defend)


@kernel
def rules_herzeln(view: Any, key: Any) -> int:
    """`rules`: free to go for the moon, and aware of others who do."""
    return rules_card(view, FREE, True)


AIM, DEFEND = FREE, True  # bound by `rules_variant`


def rules_template(view: Any, key: Any) -> int:
    """`rules` with another attitude to the moon."""
    return rules_card(view, AIM, DEFEND)


AIMS = ("free", "never", "always")


def rules_variant(aim: str = "free", defend: bool = True) -> tuple[str, Any]:
    """The name and the kernel of `rules` with an attitude to the moon.

    Args:
        aim: Whether to go for it: `free` as the hand says, `never`, or `always` until another has a penalty card.
        defend: Whether to play against another's moon.

    Raises:
        OptionError: an attitude that it does not have.
    """
    if aim not in AIMS:
        raise OptionError(unknown("option aim of rules:", aim, AIMS))
    if not isinstance(defend, bool):
        raise OptionError(f"option defend={defend!r} of rules is not valid. Valid: True, False")
    return ("rules", rules_herzeln) if aim == "free" and defend else _variant_kernel(aim, defend)


@functools.cache
def _variant_kernel(aim: str, defend: bool) -> tuple[str, Any]:
    name = f"rules_{aim}" + ("" if defend else "_undefended")
    return name, kernel(specialise(rules_template, name, AIM=AIMS.index(aim), DEFEND=defend))
