"""What a player who counts cards knows: which cards are out, who may hold them, and which tricks stand.

All of it follows from the observation; a network that is given it need not find it out. Letters as in `network`; `S`
are the other seats in the order of play. Suits are in the order of a `SuitTrunk`: the main suit comes first.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from ..envs.game import Game
from ..envs.state import MAX_SEATS

SUITS = 4
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

    def __init__(self, game: Game, players: int) -> None:
        super().__init__()
        layout = game.encoding.layout(players)
        known = [pair for pair in game.encoding.known if pair[0] in layout]
        self.slices = [layout[name] for name in ("hand", "trick", "best", "played", *(cards for cards, _ in known))]
        self.holders = [layout[seat] for _, seat in known]
        self.voids, self.players, self.ranks = layout["voids"], players, game.deck.size // SUITS
        suit, strength = ranking(game)
        self.trumps = game.encoding.main_suit is not None
        higher = (suit[:, None] == suit) & (strength[:, None] > strength)  # [d, c]: d is the higher card of a suit
        trumps = (suit == 0) & self.trumps
        takes = higher | (trumps[:, None] & ~trumps)
        member = np.eye(SUITS)[suit]
        self._hold("takes", takes)
        self._hold("higher", higher)
        self._hold("member", member)
        self._hold("any_of", np.concatenate([higher, higher.T, member], 1))
        others = players - 1
        self.by_suit = (FEW + 3 + (3 + self.trumps) * others) * self.ranks + 3 + 2 * others
        self.by_trick = 2

    def _hold(self, name: str, values: np.ndarray) -> None:
        self.register_buffer(name, torch.from_numpy(values.astype(np.float32)), persistent=False)

    def forward(self, observation: Tensor, order: Tensor | None) -> tuple[Tensor, Tensor]:
        """Features f32[N, 4, by_suit] and f32[N, by_trick].

        Args:
            observation: int8[N, D].
            order: int64[N, 4], the suit at each place; None for that of the deck.
        """
        cards = (
            torch.cat([observation[:, part] for part in self.slices], 1).float().unflatten(1, (-1, SUITS, self.ranks))
        )
        if order is not None:
            cards = cards.gather(2, order[:, None, :, None].expand(-1, cards.shape[1], -1, self.ranks))
        hand, trick, best, *more = cards.flatten(2).unbind(1)
        played, known = torch.stack(more[: self.players], 1), more[self.players :]
        live = 1 - played.sum(1)
        out = live - hand
        chance = self._chances(observation, order, hand, played, out, known)
        lacks = torch.log1p(-chance.clamp(max=MOST))  # logarithm, so that those of several cards add up
        seats = torch.arange(1, self.players, device=observation.device)
        later = (trick.sum(1, keepdim=True) + seats < self.players).float()
        spares = (lacks @ self.takes) * later[:, :, None]  # a later seat has no card that takes this one
        lead = (best.sum(1, keepdim=True) < 0.5).float()
        wins = (lead + best @ self.takes.T) * live
        stands, against = spares.sum(1).exp(), spares[:, ::2].sum(1).exp()
        higher = out @ self.higher
        planes = [(higher < few + 0.5) * live for few in range(FEW)] + [wins, wins * stands, wins * against]
        lacks, void = (lacks @ self.any_of).exp().split([2 * len(self.takes), SUITS], 2)
        planes += [spares.exp().flatten(1)] if self.trumps else []
        each = torch.cat([*planes, chance.flatten(1), lacks.flatten(1)], 1)
        each = each.unflatten(1, (-1, SUITS, self.ranks)).transpose(1, 2).flatten(2)
        count = torch.stack([hand @ self.member, out @ self.member], 2) / self.ranks
        bare = (count[:, :, 1:] < 0.5 / self.ranks).float()
        length = (chance @ self.member).transpose(1, 2) / self.ranks
        of_trick = torch.stack([(best * stands).sum(1), (best * against).sum(1)], 1)
        return torch.cat([each, count, bare, length, void.transpose(1, 2)], 2), of_trick

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
