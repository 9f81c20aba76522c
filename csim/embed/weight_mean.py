"""The running mean of a network's weights while it trains.

Steps at a constant rate never settle: the weights keep jumping around a good point. Their mean is
closer to it (Polyak and Juditsky, 1992), so an update needs fewer steps than one whose rate falls
to zero, and the next update can go on from weights that still move.
"""

from __future__ import annotations

import torch

from csim.embed.network import OpenWorldNetwork


class WeightMean:
    """Give a network the mean weights of another one that trains.

    Parameters
    ----------
    trained
        The network that trains. Batch norm's running figures are averaged with the weights.
    mean
        The network that follows; it must have the same classes. What it holds at first is part of
        the mean.
    steps
        Of the training. The mean is that of about the last half of them: each step adds 2 / `steps`
        of the weights. Higher is steadier, but a new class is learnt more slowly.
    """

    def __init__(self, trained: OpenWorldNetwork, mean: OpenWorldNetwork, steps: int) -> None:
        self._trained = _floats_of(trained)
        self._means = _floats_of(mean)
        self._share = min(1.0, 2 / steps)

    def follow(self) -> None:
        """Take the weights after a step into the mean."""
        torch._foreach_lerp_(self._means, self._trained, self._share)


def _floats_of(network: OpenWorldNetwork) -> list[torch.Tensor]:
    return [tensor for tensor in network.state_dict().values() if tensor.is_floating_point()]
