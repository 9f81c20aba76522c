"""Augmentation: an image is trained on a little differently every time, so that few images teach more."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional


class Augment:
    """Move each image of a batch by its own draw, and mirror it if told to; the border's own pixels fill the gap.

    Parameters
    ----------
    shift
        Pixels, up to so many in each direction; 0 moves nothing. Raising it makes the network care less for where
        things stand, and takes longer to learn.
    flip
        Mirror every second image, left to right: right for photographs, wrong for letters.
    """

    def __init__(self, shift: int, *, flip: bool = False) -> None:
        self.shift = shift
        self.flip = flip

    def __call__(self, inputs: Tensor, rng: np.random.Generator) -> Tensor:
        """Return a changed copy of images (n, channels, h, w); vectors (n, d) have no place to move to.

        >>> row = torch.tensor([[[[1.0, 2.0, 3.0]]]])
        >>> {tuple(Augment(1)(row, np.random.default_rng(seed)).ravel().int().tolist()) for seed in range(9)} == {
        ...     (1, 1, 2), (1, 2, 3), (2, 3, 3)}
        True
        """
        if inputs.ndim != 4:
            return inputs
        if self.shift:
            inputs = self._move(inputs, rng)
        if self.flip:
            is_mirrored = torch.from_numpy(rng.random(len(inputs)) < 0.5).to(inputs.device)
            inputs = torch.where(is_mirrored[:, None, None, None], inputs.flip(3), inputs)
        return inputs

    def _move(self, inputs: Tensor, rng: np.random.Generator) -> Tensor:
        count, _, height, width = inputs.shape
        padded = functional.pad(inputs, (self.shift,) * 4, mode="replicate")
        offsets = torch.from_numpy(rng.integers(0, 2 * self.shift + 1, (2, count))).to(
            inputs.device
        )
        rows = offsets[0][:, None] + torch.arange(height, device=inputs.device)  # (n, h)
        columns = offsets[1][:, None] + torch.arange(width, device=inputs.device)  # (n, w)
        which = torch.arange(count, device=inputs.device)[:, None, None]
        moved = padded.permute(0, 2, 3, 1)[
            which, rows[:, :, None], columns[:, None, :]
        ]  # (n, h, w, channels)
        return moved.permute(0, 3, 1, 2)
