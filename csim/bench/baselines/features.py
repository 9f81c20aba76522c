"""Feature extractors: a baseline works on pixels, or on the vectors of csim's network.

csim trains the network on the warm-up, as the default preset does, and then freezes it. Training
it later would pass on labels that the baseline itself has not received.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np

from csim.classifier import StreamClassifier
from csim.records import Floats, Images
from csim.settings import Settings

FeatureKind = Literal["unit", "byte", "network"]
FEATURE_KINDS: tuple[FeatureKind, ...] = ("unit", "byte", "network")


class FeatureExtractor(Protocol):
    """Turn images into vectors, (n, d)."""

    def fit(self, images: Images, names: Sequence[str]) -> Floats:
        """Learn from the warm-up, if there is anything to learn, and return its vectors."""
        ...

    def transform(self, images: Images) -> Floats:
        """Return the vectors of images."""
        ...


class Pixels:
    """Use the pixels themselves, scaled to lie between 0 and `white`.

    Parameters
    ----------
    white
        The value of a white pixel. Higher scales all distances up, which matters only to a method
        that compares distances with an absolute value.

    Examples
    --------
    >>> Pixels(1).transform(np.full((1, 2, 2), 255, np.uint8)).tolist()
    [[1.0, 1.0, 1.0, 1.0]]
    """

    def __init__(self, white: float) -> None:
        self._factor = np.float32(white / 255)

    def fit(self, images: Images, names: Sequence[str]) -> Floats:
        """Return the vectors of the warm-up. Nothing is learned."""
        return self.transform(images)

    def transform(self, images: Images) -> Floats:
        """Return the vectors of images."""
        return images.reshape(len(images), -1).astype(np.float32) * self._factor


class NetworkVectors:
    """Use the vectors of csim's network, trained on the warm-up and then frozen.

    Parameters
    ----------
    seed
        Seed of the network's training.
    """

    def __init__(self, seed: int) -> None:
        self._network = StreamClassifier(Settings(seed=seed, budget=0.0))

    def fit(self, images: Images, names: Sequence[str]) -> Floats:
        """Train the network and return the vectors of the warm-up."""
        self._network.fit(images, names)
        return self.transform(images)

    def transform(self, images: Images) -> Floats:
        """Return the vectors of images, of unit length."""
        return self._network.transform(images)


def make_extractor(kind: FeatureKind, seed: int) -> FeatureExtractor:
    """Create a feature extractor by name.

    Parameters
    ----------
    kind
        `unit` for pixels from 0 to 1, `byte` for pixels from 0 to 255, `network` for the vectors
        of csim's network.
    seed
        Seed of the network's training; pixels need none.
    """
    if kind == "network":
        return NetworkVectors(seed)
    return Pixels(1 if kind == "unit" else 255)
