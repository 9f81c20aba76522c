"""The size of a network: how many weights it has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import torch

from csim.build import make_body
from csim.embed.network import OpenWorldNetwork
from csim.settings import Settings


def count_parameters(settings: Settings, image_shape: Sequence[int], classes: int) -> int:
    """Return the number of weights of a network, with a one-vs-rest layer for `classes` classes.

    >>> settings = Settings.paper(conv_layers=0, hidden_units=5, embedding_size=2)
    >>> count_parameters(settings, (8, 8), classes=3)
    347
    """
    # The number does not depend on the seed, so runs of all seeds share a cached count.
    return _count(replace(settings, seed=0), tuple(image_shape), classes)


@lru_cache
def _count(settings: Settings, image_shape: tuple[int, ...], classes: int) -> int:
    with torch.device("meta"):  # only shapes: no memory, no random weights
        network = OpenWorldNetwork(make_body(settings, image_shape), range(classes))
    return sum(weights.numel() for weights in network.parameters())
