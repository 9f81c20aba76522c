"""Augmentation: change images at random before each step, to learn more from few images."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional


class Augment:
    """Shift each image of a batch at random, and mirror half of them if `flip` is set.

    The pixels of the border fill the gap.

    Parameters
    ----------
    shift
        The most pixels to shift in each direction; 0 shifts nothing. Higher makes the network
        depend less on where an object is, but learning takes longer.
    flip
        Mirror half of the images left to right: right for photographs, wrong for letters.
    """

    def __init__(self, shift: int, *, flip: bool = False) -> None:
        self.shift = shift
        self.flip = flip

    def __call__(self, inputs: Tensor, rng: np.random.Generator) -> Tensor:
        """Return a changed copy of images (n, channels, h, w); vectors (n, d) are not changed.

        >>> row = torch.tensor([[[[1.0, 2.0, 3.0]]]])
        >>> rngs = [np.random.default_rng(seed) for seed in range(9)]
        >>> sorted({tuple(Augment(1)(row, rng).ravel().int().tolist()) for rng in rngs})
        [(1, 1, 2), (1, 2, 3), (2, 3, 3)]
        """
        if inputs.ndim != 4:
            return inputs
        if self.shift:
            inputs = self._shift(inputs, rng)
        if self.flip:
            is_mirrored = torch.from_numpy(rng.random(len(inputs)) < 0.5).to(inputs.device)
            inputs = torch.where(is_mirrored[:, None, None, None], inputs.flip(3), inputs)
        return inputs

    def _shift(self, inputs: Tensor, rng: np.random.Generator) -> Tensor:
        count, _, height, width = inputs.shape
        padded = functional.pad(inputs, (self.shift,) * 4, mode="replicate")
        draws = rng.integers(0, 2 * self.shift + 1, (2, count))
        down, right = torch.from_numpy(draws).to(inputs.device)
        # (n, channels, down, right, h, w), without a copy
        windows = padded.unfold(2, height, 1).unfold(3, width, 1)
        return windows[torch.arange(count, device=inputs.device), :, down, right]
