"""What the play so far tells of the hands: how each card was played, and which cards were not played there.

All of it follows from the observation; a network that is given it need not put tricks together again from the numbers
of the plays. A seat that left a rich trick to the other side will not hold the cards that would have taken it. Letters
and the order of suits as in `counting`; `S` are the other seats in the order of play.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..envs.game import Game
from ..envs.jit import entry
from .counting import ranking
from .reading import SUITS, orders_of, takes_kernels

DONE, LEFT = 4, 7  # features of a card and a seat: of one that it has played, of one that it may hold
MANY = 4.0  # times that count as 1
RICH = 20.0  # points of a trick that count as 1


class History(nn.Module):
    """Features of each suit, from an observation.

    For each card, first by feature and then by seat. Of a card that the seat has played: whether it led it; followed
    on a trick that lay with its own side, and did not take it; took the trick as it lay; threw it off, neither of the
    suit led nor a trump. Of a card that is out: how often, in fourths and at most 1, the seat played another one where
    it might have played this one and

    - this one would have taken a trick that lay with the other side, and the one played did not;
    - the same, the most points that lay there, in twentieths and at most 1;
    - neither took a trick that lay with its own side, and this one counts more;
    - neither took a trick that lay with the other side, and this one counts less;
    - both took the trick as it lay, and this one counts less;
    - it led one of the same suit that counts less;
    - it led another suit.

    Args:
        game: The game; its encoding has the slices hand, played and when.
        players: Seats at the table.
    """

    takes: Tensor
    member: Tensor
    points: Tensor

    def __init__(self, game: Game, players: int) -> None:
        super().__init__()
        layout = game.encoding.layout(players)
        self.slices = [layout[name] for name in ("hand", "when", "played")]
        self.places = np.array([part.start for part in self.slices])
        self.players, self.ranks = players, game.deck.size // SUITS
        self.sides = game.sides or players
        suit, strength = ranking(game)
        self.trumps = game.encoding.main_suit is not None
        takes = (suit[:, None] == suit) & (strength[:, None] > strength)  # [d, c]: d takes c
        takes |= ((suit == 0) & self.trumps)[:, None] & (suit != 0)
        counts = game.encoding.counts
        self.cards = (suit, takes, np.zeros(game.deck.size, np.int64) if counts is None else counts())
        self._hold("takes", takes)
        self._hold("member", np.eye(SUITS)[suit])
        self._hold("points", self.cards[2])
        self.by_suit = (DONE + LEFT) * (players - 1) * self.ranks

    def _hold(self, name: str, values: np.ndarray) -> None:
        self.register_buffer(name, torch.from_numpy(values.astype(np.float32)), persistent=False)

    def forward(self, observation: Tensor, order: Tensor | None) -> Tensor:
        """Features f32[N, 4, by_suit]; see `Counting.forward`."""
        return self.traced(observation, order) if takes_kernels(observation) else self.composed(observation, order)

    def traced(self, observation: Tensor, order: Tensor | None) -> Tensor:
        """`forward` by the kernel."""
        out = torch.zeros(len(observation), SUITS, self.by_suit)
        form = (self.places, self.players, self.ranks, self.trumps, self.sides, *self.cards)
        trace_play(observation.numpy(), orders_of(order), *form, out.numpy())
        return out

    def composed(self, observation: Tensor, order: Tensor | None) -> Tensor:
        """`forward` by operations on tensors."""
        cards = torch.cat([observation[:, part] for part in self.slices], 1).float()
        cards = cards.unflatten(1, (-1, SUITS, self.ranks))
        if order is not None:
            cards = cards.gather(2, order[:, None, :, None].expand(-1, cards.shape[1], -1, self.ranks))
        hand, when, *seats = cards.flatten(2).unbind(1)
        gone, by = (when > 0).float(), torch.stack(seats, 2)
        trumps = self.member[:, 0] * self.trumps
        trick, leads = ((when - 1) / self.players).floor(), gone * ((when - 1) % self.players == 0)
        first = (trick == 0).float() * self.trumps  # in the trick whose lead is a trump or lies face down
        same = gone[:, :, None] * gone[:, None] * (trick[:, :, None] == trick[:, None])
        led = (same * leads[:, None]) @ self.member  # [N, A, 4]: the suit led to the trick of each card
        led = torch.where(first[:, :, None] > 0, torch.eye(SUITS, device=led.device)[0], led)
        of_led = led @ self.member.T  # [N, c, x]: card x is of the suit led to that of card c
        stands = torch.maximum((led * self.member).sum(2), trumps) * gone  # it may take its trick
        earlier = same * (when[:, None] < when[:, :, None])
        before = earlier * stands[:, None]
        best = before * ((before @ self.takes) < 0.5)  # the one that would have taken the trick as it lay
        lies = best.sum(2)
        takes = best @ self.takes.T + (1 - lies)[:, :, None] * of_led  # x would have taken it
        took = takes.diagonal(dim1=1, dim2=2) * stands * (1 - leads)
        seat = torch.arange(self.players, device=by.device) % self.sides
        ours = ((best @ by @ (seat[:, None] == seat).float()) * by).sum(2)  # it lay with the side of who played
        off = (gone - stands) * (1 - leads)
        theirs = by[:, :, 1:].transpose(1, 2) * gone[:, None]  # [N, S, A]
        done = [leads, ours * (1 - took), took, off]

        suits = self.member @ self.member.T
        more = (self.points > self.points[:, None]).float()  # x counts more than c
        may = torch.where(off[:, :, None] > 0, 1 - of_led, torch.maximum(of_led, trumps)) * (1 - leads)[:, :, None]
        lost = (lies * (1 - ours) * (1 - took))[:, :, None] * may
        lead = leads[:, :, None] - (leads * first)[:, :, None] * (1 - trumps[:, None] * trumps)
        times = [
            lost * takes,
            (ours * (1 - took))[:, :, None] * may * (1 - takes) * more,
            lost * (1 - takes) * more.T,
            took[:, :, None] * may * takes * more.T,
            lead * suits * more,
            lead * (1 - suits),
        ]
        rich = (earlier @ self.points / RICH).clamp(max=1)
        stake = (theirs[..., None] * (times[0] * rich[:, :, None])[:, None]).amax(2)
        often, *rest = [(theirs @ each / MANY).clamp(max=1) for each in times]
        out = (1 - hand - gone)[:, None]
        planes = [theirs * each[:, None] for each in done] + [each * out for each in (often, stake, *rest)]
        return torch.cat(planes, 1).unflatten(2, (SUITS, self.ranks)).transpose(1, 2).flatten(2)


@entry
def trace_play(
    observations: Any,
    orders: Any,
    places: Any,
    players: int,
    ranks: int,
    trumps: bool,
    sides: int,
    suits: Any,
    takes: Any,
    points: Any,
    out: Any,
) -> None:
    """The features of `History`, row by row: the deal is gone through card by card.

    Args:
        observations: int8[N, D].
        orders: int64[N or 1, 4].
        places: Where the slices begin: hand, when, played.
        players: P.
        ranks: Cards of a suit.
        trumps: Whether there is a main suit.
        sides: Seats whose numbers leave one remainder by it are partners.
        suits: Suit of each card.
        takes: bool[A, A]: the first takes the second.
        points: What each card counts.
        out: Filled, f32[N, 4, by_suit]; zeros before.
    """
    size, others = SUITS * ranks, players - 1
    place, rank = np.arange(size) // ranks, np.arange(size) % ranks
    sequence, player = np.empty(size, np.int64), np.empty(size, np.int64)
    unseen = np.empty(size, np.int64)
    part, one = np.float32(1 / MANY), np.float32(1)
    for n in range(len(observations)):
        row, order, fill = observations[n], orders[n % len(orders)], out[n]
        sequence[:] = -1
        plays, left = 0, 0
        for c in range(size):
            card = order[place[c]] * ranks + rank[c]
            turn = np.int64(row[places[1] + card])
            if turn > 0:
                sequence[turn - 1] = c
                plays = max(plays, turn)
                for seat in range(players):
                    if row[places[2] + seat * size + card]:
                        player[turn - 1] = seat
            elif not row[places[0] + card]:
                unseen[left] = c
                left += 1
        led, best, owner, lay = -1, -1, -1, np.int64(0)
        for turn in range(plays):
            leads, card = turn % players == 0, sequence[turn]
            if leads:
                best, lay = -1, np.int64(0)
                led = suits[card] if card >= 0 and not (trumps and turn == 0) else 0
            if card < 0:
                continue  # it lies face down
            seat, suit = player[turn], suits[card]
            off = suit != led and not (trumps and suit == 0)
            took = not off and (best < 0 or takes[card, best])
            ours = best >= 0 and (owner - seat) % sides == 0
            if seat > 0:
                kind = 0 if leads else (3 if off else (2 if took else (1 if ours else -1)))
                if ours and off:
                    fill[place[card], (others + seat - 1) * ranks + rank[card]] = one
                if kind >= 0:
                    fill[place[card], (kind * others + seat - 1) * ranks + rank[card]] = one
                for i in range(left):
                    c = unseen[i]
                    counts = points[c] - points[card]
                    kind = -1
                    if leads:
                        if turn == 0 and trumps and (off or suits[c] != 0):
                            continue
                        if suits[c] != suit:
                            kind = 6
                        elif counts > 0:
                            kind = 5
                    else:
                        if off:
                            if suits[c] == led:
                                continue
                        elif suits[c] != led and not (trumps and suits[c] == 0):
                            continue
                        would = takes[c, best] if best >= 0 else suits[c] == led
                        if took:
                            kind = 4 if would and counts < 0 else -1
                        elif ours:
                            kind = 2 if not would and counts > 0 else -1
                        elif best >= 0 and would:
                            kind = 0
                            at = ((DONE + 1) * others + seat - 1) * ranks + rank[c]
                            fill[place[c], at] = max(fill[place[c], at], min(np.float32(lay / RICH), one))
                        elif best >= 0 and counts < 0:
                            kind = 3
                    if kind >= 0:
                        at = ((DONE + kind) * others + seat - 1) * ranks + rank[c]
                        fill[place[c], at] = min(fill[place[c], at] + part, one)
            if took:
                best, owner = card, seat
            lay += points[card]
