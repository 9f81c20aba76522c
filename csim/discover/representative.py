"""Who stands for a group when a person is asked.

`Medoid`, the default, takes the member nearest to all others: a typical image is easy to name and most likely
to have the class of the rest. `RandomMember` is the paper's.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from csim.records import Floats, State


class Representative(Protocol):
    """A way to choose one of several."""

    def choose(self, vectors: Floats) -> int:
        """Return the index of the member that stands for vectors (n, d)."""
        ...

    def state(self) -> State:
        """Return what must be remembered."""
        ...

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        ...


class Medoid:
    """The member whose summed distance to all others is smallest.

    >>> Medoid().choose(np.array([[0.0], [0.4], [1.0]]))
    1
    """

    def choose(self, vectors: Floats) -> int:
        """Return the most central member."""
        vectors = vectors.astype(np.float64)
        lengths = (vectors * vectors).sum(axis=1)
        squares = lengths[:, None] + lengths[None, :] - 2 * vectors @ vectors.T
        return int(np.sqrt(np.maximum(squares, 0)).sum(axis=1).argmin())

    def state(self) -> State:
        """Return nothing: it has no memory."""
        return {}

    def restore(self, state: State) -> None:
        """Take back nothing."""


class RandomMember:
    """Any member, all equally likely."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def choose(self, vectors: Floats) -> int:
        """Return a member drawn at random."""
        return int(self._rng.integers(len(vectors)))

    def state(self) -> State:
        """Return where the generator stands."""
        return {"rng": self._rng.bit_generator.state}

    def restore(self, state: State) -> None:
        """Set the generator to where it stood."""
        self._rng.bit_generator.state = state["rng"]
