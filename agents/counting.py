"""What a player who counts cards knows: which cards are out, who may hold them, and which tricks stand.

All of it follows from the observation; a network that is given it need not find it out. Letters as in `network`;
`S` are the other seats in the order of play. Cards are at the places of a `SuitTrunk`: the main suit comes first.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from ..envs.game import Game
from ..envs.state import MAX_SEATS

SUITS = 4
MOST = 0.999  # greatest chance that is told from certainty


class Counting(nn.Module):
    """Features by card and by suit of an observation, for games whose encoding has a `ranking`.

    Args:
        game: The game.
        players: Seats at the table.
    """

    takes: Tensor
    higher: Tensor
    any_of: Tensor
    member: Tensor

    def __init__(self, game: Game, players: int) -> None:
        super().__init__()
        layout = game.encoding.layout(players)
        known = [pair for pair in game.encoding.known if pair[0] in layout]
        self.slices = [layout[name] for name in ("hand", "trick", "best", "played", *(cards for cards, _ in known))]
        self.holders = [layout[seat] for _, seat in known]
        self.voids, self.players, self.ranks = layout["voids"], players, game.deck.size // SUITS
        suit, strength = ranking(game)
        higher = (suit[:, None] == suit) & (strength[:, None] > strength)  # [d, c]: in the suit of c, and higher
        self.trumps = game.encoding.main_suit is not None
        trumps = (suit == 0) & self.trumps
        takes = higher | (trumps[:, None] & ~trumps)
        member = np.eye(SUITS)[suit]
        self._hold("takes", takes.astype(np.float32))
        self._hold("higher", higher.astype(np.float32))
        self._hold("member", member.astype(np.float32))
        self._hold("any_of", np.concatenate([higher, higher.T, member], 1).astype(np.float32))
        others = players - 1
        self.by_suit = (6 + (3 + self.trumps) * others) * self.ranks + 3 + 2 * others
        self.others = 2

    def _hold(self, name: str, values: np.ndarray) -> None:
        self.register_buffer(name, torch.from_numpy(values), persistent=False)

    def forward(self, observation: Tensor, order: Tensor | None) -> tuple[Tensor, Tensor]:
        """Features f32[N, 4, by_suit] and f32[N, others] from observations int8[N, D] and the suits' order."""
        cards = torch.cat([observation[:, part] for part in self.slices], 1).float()
        cards = cards.unflatten(1, (-1, SUITS, self.ranks))
        if order is not None:
            cards = cards.gather(2, order[:, None, :, None].expand(-1, cards.shape[1], -1, self.ranks))
        cards = cards.flatten(2)
        hand, trick, best, played = cards[:, 0], cards[:, 1], cards[:, 2], cards[:, 3 : 3 + self.players]
        live = 1 - played.sum(1)  # not yet played
        out = live - hand
        chance = self._chances(observation, order, hand, played, out, cards[:, 3 + self.players :])
        lacks = torch.log1p(-chance.clamp(max=MOST))  # log-chance that a seat has not this card
        seats = torch.arange(1, self.players, device=trick.device)
        later = (trick.sum(1, keepdim=True) + seats < self.players).float()  # seats that play to this trick after us
        beaten = (lacks @ self.takes) * later[:, :, None]
        lead = (best.sum(1, keepdim=True) < 0.5).float()
        wins = (lead + best @ self.takes.T) * live
        stands, against = beaten.sum(1).exp(), beaten[:, ::2].sum(1).exp()
        higher = out @ self.higher
        lacks, void = (lacks @ self.any_of).exp().split([2 * self.takes.shape[0], SUITS], 2)
        planes = [
            *((higher < count + 0.5) * live for count in range(3)),
            wins,
            wins * stands,
            wins * against,
        ]
        if self.trumps:  # a card is beaten by others than the higher ones of its suit
            planes.append(beaten.exp().flatten(1))
        each = torch.cat([*planes, chance.flatten(1), lacks.flatten(1)], 1)
        each = each.unflatten(1, (-1, SUITS, self.ranks)).transpose(1, 2).flatten(2)
        count = torch.stack([hand @ self.member, out @ self.member], 2) / self.ranks
        bare = (count[:, :, 1:] < 0.5 / self.ranks).float()
        length = (chance @ self.member).transpose(1, 2) / self.ranks
        rest = torch.stack([(best * stands).sum(1), (best * against).sum(1)], 1)
        return torch.cat([each, count, bare, length, void.transpose(1, 2)], 2), rest

    def _chances(
        self, observation: Tensor, order: Tensor | None, hand: Tensor, played: Tensor, out: Tensor, known: Tensor
    ) -> Tensor:
        """The chance f32[N, S, A] that a seat holds a card: by what is known of its suits and its number of cards."""
        players = self.players
        voids = observation[:, self.voids].float().unflatten(1, (4, SUITS))[:, 1:players]
        if order is not None:
            voids = voids.gather(2, order[:, None].expand(-1, players - 1, -1))
        may = out[:, None] * (1 - voids @ self.member.T)
        for number, holder in enumerate(self.holders):
            there = (known[:, number] * out)[:, None]
            may = may * (1 - there) + there * observation[:, holder].float()[:, 1:players, None]
        counts = played.sum(2)
        left = (hand.sum(1, keepdim=True) + counts[:, :1] - counts[:, 1:]).clamp(min=0)
        share = may * left[:, :, None]
        held = share.sum(1, keepdim=True)
        if players < MAX_SEATS:  # some cards may be out of play
            held = held + (out.sum(1) - left.sum(1)).clamp(min=0)[:, None, None]
        return share / held.clamp(min=1)


def ranking(game: Game) -> tuple[np.ndarray, np.ndarray]:
    """Suit and strength of each card int64[A]; the first suit is the main one where there is one."""
    if game.encoding.ranking is not None:
        return game.encoding.ranking()
    cards = np.arange(game.deck.size)
    return cards // (game.deck.size // SUITS), cards % (game.deck.size // SUITS)
