"""What a player who counts cards knows: which cards are out, who may hold them, and which tricks stand.

All of it follows from the observation; a network that is given it need not find it out. Letters as in `network`; `S`
are the other seats in the order of play. Suits are in the order of a `SuitTrunk`: the main suit comes first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from ..envs.game import Game
from ..envs.jit import entry
from ..envs.state import MAX_SEATS
from .reading import SUITS, orders_of, takes_kernels

MOST = 0.999  # greatest chance that is told from certainty, so that its complement has a logarithm
FEW = 3  # higher cards that are out are told apart up to this number


class Counting(nn.Module):
    """Features of each suit and of the trick, from an observation.

    For each card of a suit: whether none, at most one, at most two higher cards of its suit are out, it not being
    played; whether it would win the trick as it lies; the chance that it does so and is not taken by any seat, or by a
    seat of the other side, that plays later; then by seat, where there is a main suit, the chance that it does not take
    the card later in the trick; the chance that it holds the card; those that it has no higher card of the suit, and no
    lower one. For each suit: cards in the hand, cards out, whether none is out; by seat the number that it holds on
    average and the chance that it holds none. For the trick: the chances that its best card is not taken by a later
    seat, and by one of the other side.

    Args:
        game: The game; its encoding has the slices hand, trick, best, played and voids.
        players: Seats at the table.
    """

    takes: Tensor
    higher: Tensor
    member: Tensor
    any_of: Tensor
    levels: Tensor
    after: Tensor

    def __init__(self, game: Game, players: int) -> None:
        super().__init__()
        layout = game.encoding.layout(players)
        known = [pair for pair in game.encoding.known if pair[0] in layout]
        self.slices = [layout[name] for name in ("hand", "trick", "best", "played", *(cards for cards, _ in known))]
        self.holders = [layout[seat] for _, seat in known]
        self.voids, self.players, self.ranks = layout["voids"], players, game.deck.size // SUITS
        slices = [*self.slices[:4], self.voids]
        for pair in zip(self.slices[4:], self.holders, strict=True):
            slices += pair
        self.places = np.array([part.start for part in slices])
        suit, strength = ranking(game)
        falling = np.lexsort((-strength, suit))  # suit by suit, the highest card first
        self.ranked = (falling, np.searchsorted(suit[falling], np.arange(SUITS + 1)), suit, strength)
        self.trumps = game.encoding.main_suit is not None
        higher = (suit[:, None] == suit) & (strength[:, None] > strength)  # [d, c]: d is the higher card of a suit
        trumps = (suit == 0) & self.trumps
        takes = higher | (trumps[:, None] & ~trumps)
        member = np.eye(SUITS)[suit]
        self._hold("takes", takes)
        self._hold("higher", higher)
        self._hold("member", member)
        self._hold("levels", np.arange(FEW)[:, None] + 0.5)
        self._hold("after", np.arange(1, players))
        self._hold("any_of", np.concatenate([higher, higher.T, member], 1))
        others = players - 1
        self.chances = slice(
            (FEW + 3 + self.trumps * others) * self.ranks, (FEW + 3 + (1 + self.trumps) * others) * self.ranks
        )
        self.by_suit = (FEW + 3 + (3 + self.trumps) * others) * self.ranks + 3 + 2 * others
        self.by_trick = 2

    def _hold(self, name: str, values: np.ndarray) -> None:
        self.register_buffer(name, torch.from_numpy(values.astype(np.float32)), persistent=False)

    def forward(
        self, observation: Tensor, order: Tensor | None, chances: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Features f32[N, 4, by_suit] and f32[N, by_trick].

        On a CPU a kernel finds them much faster than operations on tensors, which serve GPUs and exported files.

        Args:
            observation: int8[N, D].
            order: int64[N, 4], the suit at each place; None for that of the deck.
            chances: f32[N, S, A], the chance that a seat holds a card that is out, by card of the deck; None where all
                that agrees with the voids is as likely. They are taken as they are: no gradient goes to them.
        """
        find = self.counted if takes_kernels(observation) else self.composed
        return find(observation, order, None if chances is None else chances.detach())

    def counted(self, observation: Tensor, order: Tensor | None, chances: Tensor | None) -> tuple[Tensor, Tensor]:
        """`forward` by the kernel."""
        n = len(observation)
        given = torch.empty(0, self.players - 1, SUITS * self.ranks) if chances is None else chances.contiguous()
        by_suit, by_trick = torch.empty(n, SUITS, self.by_suit), torch.empty(n, self.by_trick)
        form = (self.places, self.players, self.ranks, self.trumps, *self.ranked)
        count_cards(observation.numpy(), orders_of(order), given.numpy(), *form, by_suit.numpy(), by_trick.numpy())
        return by_suit, by_trick

    def composed(self, observation: Tensor, order: Tensor | None, chances: Tensor | None) -> tuple[Tensor, Tensor]:
        """`forward` by operations on tensors."""
        cards = torch.cat([observation[:, part] for part in self.slices], 1).float()
        cards = cards.unflatten(1, (-1, SUITS, self.ranks))
        if order is not None:
            cards = cards.gather(2, order[:, None, :, None].expand(-1, cards.shape[1], -1, self.ranks))
        hand, trick, best, *more = cards.flatten(2).unbind(1)
        played, known = torch.stack(more[: self.players], 1), more[self.players :]
        live = 1 - played.sum(1)
        out = live - hand
        chance = self._chances(observation, order, hand, played, out, known)
        if chances is not None:
            by_seat = chances.unflatten(2, (SUITS, self.ranks))
            if order is not None:
                by_seat = by_seat.gather(2, order[:, None, :, None].expand_as(by_seat))
            chance = by_seat.flatten(2) * out[:, None]
        lacks = torch.log1p(-chance.clamp(max=MOST))  # logarithm, so that those of several cards add up
        later = (trick.sum(1, keepdim=True) + self.after < self.players).float()  # seats that play after us
        spares = (lacks @ self.takes) * later[:, :, None]  # a later seat has no card that takes this one
        stands = torch.stack([spares.sum(1), spares[:, ::2].sum(1)], 1).exp()
        lead = 1 - best.sum(1, keepdim=True)
        wins = ((lead + best @ self.takes.T) * live)[:, None]
        few = ((out @ self.higher)[:, None] < self.levels) * live[:, None]
        lacks, void = (lacks @ self.any_of).exp().split([2 * len(self.takes), SUITS], 2)
        planes = [few, wins, wins * stands, *([spares.exp()] if self.trumps else []), chance]
        each = torch.cat([*planes, lacks.unflatten(2, (2, -1)).flatten(1, 2)], 1)
        each = each.unflatten(2, (SUITS, self.ranks)).transpose(1, 2).flatten(2)
        count = (torch.cat([hand[:, None], out[:, None], chance], 1) @ self.member).transpose(1, 2) / self.ranks
        bare = (count[:, :, 1:2] < 0.5 / self.ranks).float()
        features = torch.cat([each, count[:, :, :2], bare, count[:, :, 2:], void.transpose(1, 2)], 2)
        return features, (best[:, None] * stands).sum(2)

    def _chances(
        self,
        observation: Tensor,
        order: Tensor | None,
        hand: Tensor,
        played: Tensor,
        out: Tensor,
        known: list[Tensor],
    ) -> Tensor:
        """The chance f32[N, S, A] that a seat holds a card: in proportion to the cards left to those who may."""
        voids = observation[:, self.voids].float().unflatten(1, (MAX_SEATS, SUITS))[:, 1 : self.players]
        if order is not None:
            voids = voids.gather(2, order[:, None].expand(-1, self.players - 1, -1))
        may = out[:, None] * (1 - voids @ self.member.T)
        for cards, holder in zip(known, self.holders, strict=True):
            there = (cards * out)[:, None]
            may = may * (1 - there) + there * observation[:, holder].float()[:, 1 : self.players, None]
        counts = played.sum(2)
        left = (hand.sum(1, keepdim=True) + counts[:, :1] - counts[:, 1:]).clamp(min=0)
        share = may * left[:, :, None]
        whole = share.sum(1, keepdim=True)
        if self.players < MAX_SEATS:  # some cards may be out of play
            anybody = out - sum(known, torch.zeros_like(out)) * out
            whole = whole + anybody[:, None] * (out.sum(1) - left.sum(1)).clamp(min=0)[:, None, None]
        return share / whole.clamp(min=1)


def ranking(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """Suit and strength of each card int64[A]; the first suit is the main one where there is one."""
    if game.encoding.ranking is not None:
        return game.encoding.ranking()
    return np.divmod(np.arange(game.deck.size), game.deck.size // SUITS)


@entry
def count_cards(
    observations: Any,
    orders: Any,
    given: Any,
    places: Any,
    players: int,
    ranks: int,
    trumps: bool,
    falling: Any,
    starts: Any,
    suits: Any,
    strengths: Any,
    by_suit: Any,
    by_trick: Any,
) -> None:
    """The features of `Counting`, row by row: chances multiply along each suit, from above and from below.

    Args:
        observations: int8[N, D].
        orders: int64[N or 1, 4].
        given: f32[N or 0, S, A], the chances that seats hold cards of the deck; none where they follow from the voids.
        places: Where the slices begin: hand, trick, best, played, voids, then each slice of known cards and its seat.
        players: P.
        ranks: Cards of a suit.
        trumps: Whether there is a main suit.
        falling: Cards suit by suit, the highest first, int64[A].
        starts: Where each suit begins among these, int64[5].
        suits: Suit of each card.
        strengths: Strength of each card.
        by_suit: Filled, f32[N, 4, by_suit].
        by_trick: Filled, f32[N, 2].
    """
    size, others = SUITS * ranks, players - 1
    place, rank = np.arange(size) // ranks, np.arange(size) % ranks  # divisions in the loops would take half the time
    zero, one, most = np.float32(0), np.float32(1), np.float32(MOST)
    hand, live, out = np.empty(size, np.float32), np.empty(size, np.float32), np.empty(size, np.float32)
    chance, above = np.empty((others, size), np.float32), np.empty((others, size), np.float32)
    void, length = np.empty((others, SUITS), np.float32), np.empty((others, SUITS), np.float32)
    left, later = np.empty(others, np.float32), np.empty(others, np.bool_)
    spared = FEW + 3  # number of the first feature by seat
    held = spared + others * trumps
    lacks = held + others
    for n in range(len(observations)):
        row, order, fill = observations[n], orders[n % len(orders)], by_suit[n]
        best, on_table, dealt, is_out = -1, 0, 0, 0
        left[:] = zero
        for c in range(size):
            card = order[place[c]] * ranks + rank[c]
            mine = row[places[0] + card]
            seen = np.int64(row[places[3] + card])
            dealt += mine + seen
            for seat in range(others):
                here = row[places[3] + (seat + 1) * size + card]
                seen += here
                left[seat] -= here
            hand[c], live[c], out[c] = mine, 1 - seen, 1 - seen - mine
            is_out += 1 - seen - mine
            on_table += row[places[1] + card]
            if row[places[2] + card]:
                best = c
        nobody = np.float32(is_out)
        for seat in range(others):
            left[seat] = max(left[seat] + np.float32(dealt), zero)
            nobody -= left[seat]
            later[seat] = on_table + seat + 1 < players
        nobody = max(nobody, zero) if players < MAX_SEATS else zero
        for c in range(size):
            chance[:, c] = zero
            if out[c] == zero:
                continue
            card, known = order[place[c]] * ranks + rank[c], len(given) > 0
            if known:
                chance[:, c] = given[n, :, card]
                continue
            for at in range(5, len(places), 2):
                if row[places[at] + card]:
                    known = True
                    for seat in range(others):
                        chance[seat, c] = row[places[at + 1] + seat + 1]
            if known:
                continue
            whole, suit = nobody, order[suits[c]]
            for seat in range(others):
                if not row[places[4] + SUITS * (seat + 1) + suit]:
                    chance[seat, c] = left[seat]
                    whole += left[seat]
            for seat in range(others):
                chance[seat, c] /= max(whole, one)
        for suit in range(SUITS):
            higher, own = zero, zero
            void[:, suit], length[:, suit] = one, zero
            for i in range(starts[suit], starts[suit + 1]):
                c = falling[i]
                for few in range(FEW):
                    fill[place[c], few * ranks + rank[c]] = live[c] if higher <= few else zero
                higher += out[c]
                own += hand[c]
                for seat in range(others):
                    above[seat, c] = void[seat, suit]
                    void[seat, suit] *= one - min(chance[seat, c], most)
                    length[seat, suit] += chance[seat, c]
            for seat in range(others):
                below = one
                for i in range(starts[suit + 1] - 1, starts[suit] - 1, -1):
                    c = falling[i]
                    fill[place[c], (lacks + 2 * seat + 1) * ranks + rank[c]] = below
                    below *= one - min(chance[seat, c], most)
            whole_suit = fill[suit, (lacks + 2 * others) * ranks :]
            whole_suit[0], whole_suit[1], whole_suit[2] = own / ranks, higher / ranks, higher == zero
            for seat in range(others):
                whole_suit[3 + seat] = length[seat, suit] / ranks
                whole_suit[3 + others + seat] = void[seat, suit]
        by_trick[n] = zero
        for c in range(size):
            cards, r = fill[place[c]], rank[c]
            stands, against = one, one
            for seat in range(others):
                spares = one
                if later[seat]:
                    spares = above[seat, c] * void[seat, 0] if trumps and suits[c] != 0 else above[seat, c]
                stands *= spares
                if seat % 2 == 0:
                    against *= spares
                if trumps:
                    cards[(spared + seat) * ranks + r] = spares
                cards[(held + seat) * ranks + r] = chance[seat, c]
                cards[(lacks + 2 * seat) * ranks + r] = above[seat, c]
            takes = best < 0 or (trumps and suits[c] == 0 and suits[best] != 0)
            takes = takes or (suits[c] == suits[best] and strengths[c] > strengths[best])
            wins = live[c] if takes else zero
            cards[FEW * ranks + r] = wins
            cards[(FEW + 1) * ranks + r] = wins * stands
            cards[(FEW + 2) * ranks + r] = wins * against
            if c == best:
                by_trick[n, 0], by_trick[n, 1] = stands, against
