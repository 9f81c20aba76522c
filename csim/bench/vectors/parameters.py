"""How large a network is: its weights, counted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

import torch

from csim.build import make_body
from csim.embed.network import OpenWorldNetwork
from csim.settings import Settings


def count_parameters(settings: Settings, image_shape: Sequence[int], classes: int) -> int:
    """Return the number of weights of a network, its one-vs-rest layer for so many classes included.

    >>> count_parameters(Settings.paper(conv_layers=0, hidden_units=5, embedding_size=2), (8, 8), classes=3)
    347
    """
    return _count(
        replace(settings, seed=0), tuple(image_shape), classes
    )  # seeds draw weights, not their number


@lru_cache
def _count(settings: Settings, image_shape: tuple[int, ...], classes: int) -> int:
    with torch.device("meta"):  # shapes alone: no memory, nothing drawn
        network = OpenWorldNetwork(make_body(settings, image_shape), range(classes))
    return sum(weights.numel() for weights in network.parameters())
