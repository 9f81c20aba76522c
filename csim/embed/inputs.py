"""Images as tensors: bytes, which take little memory, and the numbers that networks take."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from csim.records import Floats, Images


def to_pixels(images: Images | Floats, device: torch.device) -> Tensor:
    """Return a copy of images with channels first, (n, channels, h, w), as the numbers they are."""
    tensor = torch.from_numpy(np.array(images)).to(device)
    return tensor[:, None] if images.ndim == 3 else tensor.permute(0, 3, 1, 2)


def scale(pixels: Tensor) -> Tensor:
    """Return pixels of 0 to 255 as numbers of 0 to 1; other numbers stay as they are."""
    return pixels.float().div_(255) if pixels.dtype == torch.uint8 else pixels


def to_inputs(images: Images | Floats, device: torch.device) -> Tensor:
    """Return images as the network takes them: (n, channels, h, w), 0..1."""
    return scale(to_pixels(images, device))
