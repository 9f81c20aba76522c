"""How a training set is cut into mini-batches.

`Balanced`, the default, draws the classes of a batch equally often. 64 random images of 47 classes hold almost
no two of one class, so that almost no triplet could be formed; and a young class would be drowned by old ones.
`Plain` goes through the shuffled set once per epoch, as the paper does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from csim.records import Ints

_FEWEST = 4  # images of a class in a balanced batch: one of them anchors three positive pairs


class Batches(Protocol):
    """A way to cut a training set into batches of `size` images."""

    size: int

    def epoch(self, columns: Ints, rng: np.random.Generator) -> Iterator[Ints]:
        """Yield the indices of one mini-batch after another, about n / size of them."""
        ...


class Plain:
    """Shuffle, then cut; every image exactly once per epoch."""

    def __init__(self, size: int) -> None:
        self.size = size

    def epoch(self, columns: Ints, rng: np.random.Generator) -> Iterator[Ints]:
        """Yield shuffled indices, the last batch possibly shorter; a single image that is left joins the batch before.

        >>> [len(batch) for batch in Plain(4).epoch(np.zeros(10, int), np.random.default_rng(0))]
        [4, 4, 2]
        >>> [len(batch) for batch in Plain(4).epoch(np.zeros(9, int), np.random.default_rng(0))]
        [4, 5]
        """
        order = rng.permutation(len(columns))
        count = max(min(1, len(order)), -(-(len(order) - 1) // self.size))
        for place in range(count):
            yield order[place * self.size :][: self.size if place < count - 1 else None]


class Balanced:
    """Draw classes equally often; a small class's images come round more often than a large one's."""

    def __init__(self, size: int) -> None:
        self.size = size

    def epoch(self, columns: Ints, rng: np.random.Generator) -> Iterator[Ints]:
        """Yield as many batches as `Plain` would, each of at least four images per class it holds.

        >>> columns = np.array([0] * 90 + [1] * 10)
        >>> [np.bincount(columns[batch]).tolist() for batch in Balanced(50).epoch(columns, np.random.default_rng(0))]
        [[25, 25], [25, 25]]
        """
        decks = [_Deck(np.flatnonzero(columns == c), rng) for c in np.unique(columns)]
        seats = max(1, min(len(decks), self.size // _FEWEST))
        who = _Deck(np.arange(len(decks)), rng)
        for _ in range(-(-len(columns) // self.size)):
            chosen = who.deal(seats)
            shares = [self.size // seats + (seat < self.size % seats) for seat in range(seats)]
            yield np.concatenate([decks[c].deal(n) for c, n in zip(chosen, shares, strict=True)])


class _Deck:
    """Cards dealt in random order, shuffled anew when they run out."""

    def __init__(self, cards: Ints, rng: np.random.Generator) -> None:
        self._cards = cards
        self._rng = rng
        self._left = rng.permutation(cards)

    def deal(self, count: int) -> Ints:
        while len(self._left) < count:
            self._left = np.concatenate([self._left, self._rng.permutation(self._cards)])
        dealt, self._left = self._left[:count], self._left[count:]
        return dealt
