"""Cards, suits and seats as small integers, with their names.

A card is `suit * ranks + rank`: suit by suit (clubs, diamonds, hearts, spades), rank ascending. The same
number is the action that plays or passes the card.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from dataclasses import dataclass

CLUBS, DIAMONDS, HEARTS, SPADES = range(4)
SUITS = "CDHS"
SYMBOLS = "♣♦♥♠"

NO_CARD = -1  # no card there (yet), or none that this seat may know
FACE_DOWN = -2  # a card that lies face down for this seat
NO_SEAT = -1


@dataclass(frozen=True)
class Deck:
    """The cards of a game: rank names ascending, the same in each of the four suits."""

    ranks: tuple[str, ...]

    @property
    def size(self) -> int:
        return 4 * len(self.ranks)

    def name(self, card: int, symbols: bool = False) -> str:
        """`SQ`, or `♠Q` with symbols; `--` for no card and `??` for one that lies face down."""
        if card == NO_CARD:
            return "--"
        if card == FACE_DOWN:
            return "??"
        suit, rank = divmod(int(card), len(self.ranks))
        return (SYMBOLS if symbols else SUITS)[suit] + self.ranks[rank]

    def parse(self, text: str) -> int:
        """The card of a name such as `SQ`, `♠q`, `H10` or `hT`.

        Raises:
            ValueError: no such card in this deck.

        Examples:
            >>> HERZELN_DECK.name(HERZELN_DECK.parse("ht"))
            'H10'
        """
        word = str(text).strip().upper()
        suit = SUITS.find(word[:1]) if word[:1] in SUITS else SYMBOLS.find(word[:1])
        rank = "10" if word[1:] == "T" else word[1:]
        if not word or suit < 0 or rank not in self.ranks:
            raise ValueError(
                f"no such card: {text!r}. A card is a suit (C D H S or {' '.join(SYMBOLS)}) and a rank "
                f"({' '.join(self.ranks)}), such as S{self.ranks[-3]}"
            )
        return suit * len(self.ranks) + self.ranks.index(rank)

    def as_set(self, cards: Iterable[int | str]) -> int:
        """The bit set of cards given as numbers or names; refuses a card named twice."""
        found = 0
        for card in cards:
            number = self.parse(card) if isinstance(card, str) else operator.index(card)
            if not 0 <= number < self.size:
                raise ValueError(f"no such card: {card!r}. Cards are numbered 0 to {self.size - 1}")
            if found >> number & 1:
                raise ValueError(f"card {self.name(number)} is named twice")
            found |= 1 << number
        return found

    def in_set(self, cards: int) -> list[int]:
        """The cards of a bit set, ascending."""
        return [card for card in range(self.size) if int(cards) >> card & 1]

    def names(self, cards: int, symbols: bool = False) -> list[str]:
        """The names of the cards of a bit set."""
        return [self.name(card, symbols) for card in self.in_set(cards)]


HERZELN_DECK = Deck(("2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K", "A"))
VIERSCHE_DECK = Deck(("6", "7", "8", "9", "10", "J", "Q", "K", "A"))
