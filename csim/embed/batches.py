"""Cut a training set into mini-batches.

`Balanced`, the default, draws all classes equally often. Among 64 random images of 47 classes
almost no two have the same class, so almost no triplet could be formed. A new class would also be
outnumbered by old ones. `Plain` reads the shuffled set once per epoch, as the paper does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import numpy as np

from csim.records import Ints

_MIN_IMAGES_PER_CLASS = 4  # in a balanced batch: one anchor has three positives


class Batches(Protocol):
    """Cut a training set into batches of `size` images."""

    size: int

    def epoch(self, columns: Ints, rng: np.random.Generator) -> Iterator[Ints]:
        """Yield the indices of each mini-batch, about n / size batches."""
        ...


class Plain:
    """Shuffle, then cut; each image comes once per epoch."""

    def __init__(self, size: int) -> None:
        self.size = size

    def epoch(self, columns: Ints, rng: np.random.Generator) -> Iterator[Ints]:
        """Yield shuffled indices. The last batch may be shorter.

        A last batch of one image is joined to the batch before it.

        >>> [len(batch) for batch in Plain(4).epoch(np.zeros(10, int), np.random.default_rng(0))]
        [4, 4, 2]
        >>> [len(batch) for batch in Plain(4).epoch(np.zeros(9, int), np.random.default_rng(0))]
        [4, 5]
        """
        order = rng.permutation(len(columns))
        count = max(min(1, len(order)), -(-(len(order) - 1) // self.size))
        for index in range(count):
            yield order[index * self.size :][: self.size if index < count - 1 else None]


class Balanced:
    """Draw classes equally often; images of a small class come more often than others."""

    def __init__(self, size: int) -> None:
        self.size = size

    def epoch(self, columns: Ints, rng: np.random.Generator) -> Iterator[Ints]:
        """Yield as many batches as `Plain`, with at least four images of each class in a batch.

        >>> columns = np.array([0] * 90 + [1] * 10)
        >>> batches = Balanced(50).epoch(columns, np.random.default_rng(0))
        >>> [np.bincount(columns[batch]).tolist() for batch in batches]
        [[25, 25], [25, 25]]
        """
        images = [_Sampler(np.flatnonzero(columns == c), rng) for c in np.unique(columns)]
        class_count = max(1, min(len(images), self.size // _MIN_IMAGES_PER_CLASS))
        classes = _Sampler(np.arange(len(images)), rng)
        share, rest = divmod(self.size, class_count)
        shares = [share + (index < rest) for index in range(class_count)]
        for _ in range(-(-len(columns) // self.size)):
            drawn = classes.draw(class_count)
            yield np.concatenate([images[c].draw(n) for c, n in zip(drawn, shares, strict=True)])


class _Sampler:
    """Draw values in random order, without repeats until all have been drawn."""

    def __init__(self, values: Ints, rng: np.random.Generator) -> None:
        self._values = values
        self._rng = rng
        self._left = rng.permutation(values)

    def draw(self, count: int) -> Ints:
        while len(self._left) < count:
            self._left = np.concatenate([self._left, self._rng.permutation(self._values)])
        drawn = self._left[:count]
        self._left = self._left[count:]
        return drawn
