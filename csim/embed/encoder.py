"""From images to vectors with what has been trained, or with an encoder from elsewhere.

`NetworkEncoder` runs our own network. `CustomEncoder` wraps any object with `embed(images) -> (n, d)`: a
pretrained network, a hand-made feature. Both return float32 vectors of unit length.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from csim.embed.network import ConvBody
from csim.errors import InputError
from csim.records import Encoder, Floats, Images

_CHUNK = 1024  # images per forward pass: bounds memory, and larger gains nothing


class NetworkEncoder:
    """A trained body, ready to embed."""

    def __init__(self, body: ConvBody, device: torch.device) -> None:
        self._body = body.to(device).eval()
        self._device = device
        self.size = body.size

    def embed(self, images: Images) -> Floats:
        """Return one vector of unit length per image, (n, d)."""
        vectors = np.empty((len(images), self.size), np.float32)
        with torch.inference_mode():
            for start in range(0, len(images), _CHUNK):
                inputs = to_inputs(images[start : start + _CHUNK], self._device)
                vectors[start : start + _CHUNK] = self._body(inputs).cpu().numpy()
        return vectors


class CustomEncoder:
    """A foreign encoder, its vectors checked and brought to unit length."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def embed(self, images: Images) -> Floats:
        """Return one vector of unit length per image, (n, d)."""
        vectors = np.asarray(self._encoder.embed(images), np.float32)
        if vectors.ndim != 2 or len(vectors) != len(images):
            raise InputError(
                f"the encoder must return one vector per image, ({len(images)}, d); it returned {vectors.shape}"
            )
        if not np.isfinite(vectors).all():
            raise InputError("the encoder returned a value that is not a finite number; look at its input scaling")
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Floats = vectors / np.maximum(lengths, np.float32(1e-12))
        return unit


def to_inputs(images: Images, device: torch.device) -> Tensor:
    """Return images as the network takes them: (n, channels, h, w), 0..1."""
    tensor = torch.from_numpy(np.array(images)).to(device)
    tensor = tensor[:, None] if images.ndim == 3 else tensor.permute(0, 3, 1, 2)
    return tensor.float().div_(255)
