"""Choose the image of a group that csim shows to a person.

`Medoid`, the default, takes the member nearest to all others: a typical image is easy to name, and
most likely has the class of the rest. `RandomMember` is the paper's choice.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from csim.records import Floats, State


class Representative(Protocol):
    """Choose the member that represents a group."""

    def choose(self, vectors: Floats) -> int:
        """Return the index of the member that represents vectors (n, d)."""
        ...

    def state(self) -> State:
        """Return what a checkpoint must save."""
        ...

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        ...


class Medoid:
    """Choose the member with the smallest total distance to all others.

    >>> Medoid().choose(np.array([[0.0], [0.4], [1.0]]))
    1
    """

    def choose(self, vectors: Floats) -> int:
        """Return the index of the most central member."""
        vectors = vectors.astype(np.float64)
        lengths = (vectors * vectors).sum(axis=1)
        squares = lengths[:, None] + lengths[None, :] - 2 * vectors @ vectors.T
        return int(np.sqrt(np.maximum(squares, 0)).sum(axis=1).argmin())

    def state(self) -> State:
        """Return nothing: there is no state."""
        return {}

    def restore(self, state: State) -> None:
        """Load nothing."""


class RandomMember:
    """Choose any member, all equally likely."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def choose(self, vectors: Floats) -> int:
        """Return the index of a random member."""
        return int(self._rng.integers(len(vectors)))

    def state(self) -> State:
        """Return the state of the random generator."""
        return {"rng": self._rng.bit_generator.state}

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._rng.bit_generator.state = state["rng"]
