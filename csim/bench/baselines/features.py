"""What a baseline is given instead of images: their pixels, or the vectors of our network.

The network is trained on the warm-up as the default preset does, and never again: anything later would tell the
baseline what it has not been told itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from csim.classifier import StreamClassifier
from csim.records import Floats, Images
from csim.settings import Settings

Kind = Literal["unit", "byte", "network"]
KINDS: tuple[Kind, ...] = ("unit", "byte", "network")


class Features(Protocol):
    """Turns images into vectors, (n, d)."""

    def fit(self, images: Images, names: Sequence[str]) -> Floats:
        """Learn from the warm-up, if there is anything to learn; return its vectors."""
        ...

    def of(self, images: Images) -> Floats:
        """Return the vectors of images."""
        ...


class Pixels:
    """The pixels themselves, from 0 to `most`.

    Parameters
    ----------
    most
        What a white pixel is. Raising it raises all distances alike; it matters where a method has absolute ones.

    Examples
    --------
    >>> Pixels(1).of(np.full((1, 2, 2), 255, np.uint8)).tolist()
    [[1.0, 1.0, 1.0, 1.0]]
    """

    def __init__(self, most: float) -> None:
        self._factor = np.float32(most / 255)

    def fit(self, images: Images, names: Sequence[str]) -> Floats:
        """Return the vectors of the warm-up; nothing is learned."""
        return self.of(images)

    def of(self, images: Images) -> Floats:
        """Return the vectors of images."""
        return images.reshape(len(images), -1).astype(np.float32) * self._factor


class NetworkVectors:
    """The vectors of our network, trained on the warm-up and frozen.

    Parameters
    ----------
    seed
        Of the network.
    """

    def __init__(self, seed: int) -> None:
        self._network = StreamClassifier(Settings(seed=seed, budget=0.0))

    def fit(self, images: Images, names: Sequence[str]) -> Floats:
        """Train the network; return the warm-up's vectors."""
        self._network.fit(images, names)
        return self.of(images)

    def of(self, images: Images) -> Floats:
        """Return the vectors of images, of unit length."""
        return self._network.transform(images)


def features_of(kind: Kind, seed: int) -> Features:
    """Return features by name: pixels from 0 to 1 (`unit`) or 255 (`byte`), or our network's vectors (`network`)."""
    return NetworkVectors(seed) if kind == "network" else Pixels(1 if kind == "unit" else 255)
