"""Loops over the lanes of a batch, written once for all games.

Each function is a template: `bind_lanes` compiles it with one game's kernels in place of the names below.
The PettingZoo face is a batch of one lane, so no rule and no loop is written twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .bits import address, nth, popcount, spread
from .cards import NO_CARD
from .jit import bind, kernel, part, specialise
from .rng import below, combine, deal_key
from .state import DEAL_OVER, EPISODE_OVER
from .tricks import next_seat

RAISE, TERMINATE, RANDOM = range(3)  # what happens on an illegal card
FINE, ILLEGAL, NO_SUCH_CARD, FINISHED = range(4)  # what `fault` finds

BLOCK = 32  # length of `scratch`: lanes whose states fit into the first-level cache

# A game's kernels; bound by `bind_lanes`.
open_episode: Any = None
draw_deal: Any = None
begin_deal: Any = None
legal: Any = None
play: Any = None
conceal: Any = None
rewards: Any = None
final_score: Any = None
watch: Any = None
write: Any = None
write_hidden: Any = None
foretold: Any = None
DECK: Any = 0


@kernel
def any_legal(state: Any, legal_cards: int) -> int:
    """A random card of a set, keyed by the deal and the cards played in it: what replaces an illegal one."""
    key = combine(combine(deal_key(state.seed, state.lane, state.lane_deal), 3), state.plays)
    return nth(legal_cards, below(key, legal_cards, popcount(legal_cards)))


def open_lanes(states: Any, which: Any) -> None:
    """Start an episode in each lane where `which` bool[N] says so."""
    for i in range(len(states)):
        if which[i]:
            open_episode(states[i])
            draw_deal(states[i])


def deal_lane(states: Any, i: int, redraw: bool) -> None:
    """Deal anew in lane i, or (not `redraw`) start the deal whose hands were put there."""
    if redraw:
        draw_deal(states[i])
    else:
        begin_deal(states[i])


def look(states: Any, seats: Any, legals: Any, masks: Any) -> None:
    """Seat to move int8[N], legal cards int64[N] and mask int8[N * A] of every lane."""
    for i in range(len(states)):
        seats[i] = states[i].seat
        legals[i] = legal(states[i])
        spread(address(masks, i * DECK), legals[i], DECK)


def fault(legals: Any, actions: Any) -> Any:
    """The first lane whose action can't be played, and why; (-1, FINE) where all can."""
    wrong = np.int64(0)
    for i in range(len(actions)):  # without branches, as almost always all can
        card = actions[i]
        wrong |= (legals[i] >> (card & 63) & 1) ^ 1 | (card >> 6)
    if wrong == 0:
        return -1, FINE
    for i in range(len(actions)):
        if legals[i] == 0:
            if actions[i] != NO_CARD:
                return i, FINISHED
        elif actions[i] < 0 or actions[i] >= DECK:
            return i, NO_SUCH_CARD
        elif legals[i] >> np.int64(actions[i]) & 1 == 0:
            return i, ILLEGAL
    return -1, FINE


def advance(
    states: Any,
    legals: Any,
    actions: Any,
    kind: int,
    on_illegal: int,
    illegal_reward: float,
    autoreset: bool,
    reward: Any,
    done: Any,
    illegal: Any,
    played: Any,
    final_scores: Any,
    final_observations: Any,
    scratch: Any,
    seats: Any,
    masks: Any,
    observing: bool,
    observations: Any,
) -> int:
    """Play one card in every running lane, score, and look; returns the number of lanes that are done.

    Block by block, while the states are in the processor's cache: play, `look`, and (where `observing`) the
    observation of the seat to move. Not lane by lane: reading a state in wide words straight after its
    bytes were written makes the processor wait.

    Rewards f32[N, P], done and illegal bool[N] and the card played int64[N] are written for all lanes; final
    scores f32[N, P] and observations int8[N * D] (of the seat that moved last) for the lanes that are done. A
    done lane starts a new episode where `autoreset`.
    """
    finished = 0
    reward[:] = 0.0
    done[:] = False
    illegal[:] = False
    block = len(scratch)
    for start in range(0, len(states), block):
        end = min(start + block, len(states))
        for i in range(start, end):
            card = np.int64(actions[i])
            if card == NO_CARD:
                continue
            if legals[i] >> card & 1 == 0:
                illegal[i] = True
                if on_illegal == RANDOM:
                    card = any_legal(states[i], legals[i])
            if illegal[i] and on_illegal == TERMINATE:
                reward[i, states[i].seat] = illegal_reward
                states[i].phase = EPISODE_OVER
            else:
                played[i] = card
                play(states[i], card)
                if states[i].phase >= DEAL_OVER:
                    rewards(states[i], kind, reward[i])
        for i in range(start, end):
            if actions[i] != NO_CARD and states[i].phase >= DEAL_OVER:
                if states[i].phase == DEAL_OVER:
                    deal_next(states[i])
                    continue
                done[i] = True
                finished += 1
                final_score(states[i], final_scores[i])
                size = len(final_observations) // len(states)
                write_seen(states[i], states[i].seat, scratch, address(final_observations, i * size))
                if autoreset:
                    restart(states[i])
        look_block(states, start, end, actions, seats, legals, masks)
        if observing:
            observe_block(states, seats, start, end, observations, scratch)
    return finished


def restart(state: Any) -> None:
    """After the end of an episode: the lane's next one."""
    state.lane_deal += 1
    open_episode(state)
    draw_deal(state)


def look_block(states: Any, start: int, end: int, actions: Any, seats: Any, legals: Any, masks: Any) -> None:
    """Seats, legal cards and masks of the lanes start to end - 1 in which a card was played."""
    for i in range(start, end):
        if actions[i] != NO_CARD:
            seats[i] = states[i].seat
            legals[i] = legal(states[i])
            spread(address(masks, i * DECK), legals[i], DECK)


def deal_next(state: Any) -> None:
    """After a deal that did not end the episode: the next seat deals."""
    state.dealer = next_seat(state, state.dealer)
    state.deal += 1
    state.lane_deal += 1
    draw_deal(state)


def write_seen(state: Any, seat: int, scratch: Any, at: int) -> int:
    """Write what a seat sees of a state to an address; the first record of `scratch` becomes its view."""
    scratch[0] = state
    conceal(scratch[0], seat)
    return write(scratch[0], at)


def observe_block(states: Any, seats: Any, start: int, end: int, out: Any, scratch: Any) -> None:
    """Observations of the lanes start to end - 1 (at most len(scratch)): first all views, then all encodings."""
    size = len(out) // len(states)
    for i in range(start, end):
        scratch[i - start] = states[i]
        conceal(scratch[i - start], seats[i])
    for i in range(start, end):
        write(scratch[i - start], address(out, i * size))


def observe(states: Any, seats: Any, out: Any, scratch: Any) -> None:
    """Observations int8[N * D] of every lane for the given seat; `scratch`, as long as a block, is overwritten."""
    block = len(scratch)
    for start in range(0, len(states), block):
        observe_block(states, seats, start, min(start + block, len(states)), out, scratch)


def observe_state(states: Any, seats: Any, out: Any, scratch: Any) -> None:
    """Full states int8[N * F], relative to the given seat: its observation, then what it can't see."""
    size = len(out) // len(states)
    for i in range(len(states)):
        at = write_seen(states[i], seats[i], scratch, address(out, i * size))
        write_hidden(states[i], np.int64(seats[i]), at)


def view(states: Any, seats: Any, out: Any) -> None:
    """Views of every lane for the given seat."""
    for i in range(len(states)):
        out[i] = states[i]
        conceal(out[i], seats[i])


def encode(views: Any, out: Any) -> None:
    """Observations int8[N * D] of views."""
    size = len(out) // max(len(views), 1)
    for i in range(len(views)):
        write(views[i], address(out, i * size))


def legal_sets(views: Any, out: Any) -> None:
    """Legal cards int64[N] of views; none where the observer is not to move."""
    for i in range(len(views)):
        out[i] = legal(views[i]) if views[i].observer == views[i].seat else 0


def watch_lanes(states: Any, which: Any, memory: Any, out: Any) -> None:
    """Count the game's events after a card in each lane where `which` bool[N]: memory int64[N], out int32[N, P, E]."""
    for i in range(len(states)):
        if which[i]:
            memory[i] = watch(states[i], memory[i], out[i])


def foretell(states: Any, actions: Any, scratch: Any, ended: Any, out: Any) -> None:
    """What forecasts would have had to say: where the card ends the deal, each seat's outcomes, int8[N, P, K].

    Before the cards are played, for afterwards the next deal may lie there. `ended` bool[N] tells where.
    """
    for i in range(len(states)):
        left = np.int64(0)
        for seat in range(states[i].players):
            left += popcount(states[i].hands[seat])
        ended[i] = left == 1 and actions[i] != NO_CARD
        if ended[i]:
            scratch[0] = states[i]
            play(scratch[0], np.int64(actions[i]))
            for seat in range(states[i].players):
                foretold(scratch[0], seat, out[i, seat])


def random_playouts(states: Any, deals: int) -> int:
    """Play `deals` whole deals in every lane with uniformly random legal cards; returns the cards played."""
    cards = 0
    for i in range(len(states)):
        state = states[i]
        for _ in range(deals):
            key = combine(deal_key(state.seed, state.lane, state.lane_deal), 4)
            while state.phase < DEAL_OVER:
                choice = legal(state)
                play(state, nth(choice, below(key, state.plays, popcount(choice))))
                cards += 1
            if state.phase == EPISODE_OVER:
                restart(state)
            else:
                deal_next(state)
    return cards


TEMPLATES: tuple[Callable[..., Any], ...] = (
    open_lanes,
    deal_lane,
    look,
    fault,
    advance,
    observe,
    observe_state,
    view,
    encode,
    legal_sets,
    watch_lanes,
    foretell,
    random_playouts,
)


@dataclass(frozen=True)
class Lanes:
    """The compiled loops of one game; each field is the function of that name in this module."""

    open_lanes: Any
    deal_lane: Any
    look: Any
    fault: Any
    advance: Any
    observe: Any
    observe_state: Any
    view: Any
    encode: Any
    legal_sets: Any
    watch_lanes: Any
    foretell: Any
    random_playouts: Any


def bind_lanes(name: str, rules: Any, encoding: Any, deck: int) -> Lanes:
    """The loops with the kernels of the module `rules` and of `encoding`."""
    names = ["open_episode", "draw_deal", "begin_deal"]
    names += ["legal", "play", "conceal", "rewards", "final_score", "watch"]
    kernels = {each: getattr(rules, each) for each in names}
    kernels |= {"write": encoding.write, "write_hidden": encoding.write_hidden, "DECK": deck}
    kernels["foretold"] = encoding.foretold
    for template in (write_seen, deal_next, restart):
        kernels[template.__name__] = kernel(specialise(template, name, **kernels))
    for template in (look_block, observe_block):
        kernels[template.__name__] = part(specialise(template, name, **kernels))
    return Lanes(**{template.__name__: bind(template, name, **kernels) for template in TEMPLATES})
