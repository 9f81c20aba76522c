"""From images to vectors, with csim's trained network or an encoder of the user's.

`NetworkEncoder` runs csim's network and `CentredEncoder` a given encoder. Both return float32
vectors of unit length. `CheckedEncoder` checks what any object with `embed(images) -> (n, d)`
returns: a pretrained network, a hand-made feature.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from csim.embed.network import CentredBody, ConvBody
from csim.errors import InputError
from csim.records import Encoder, Floats, Images, Views

_CHUNK = 256  # images per forward pass: larger ones gain nothing and fragment memory
# Smaller batches use other matrix kernels, which round differently: a vector would depend on its
# batch.
_SMALLEST_BATCH = 4


class NetworkEncoder:
    """Embed images with a trained body."""

    def __init__(self, body: ConvBody, device: torch.device) -> None:
        self._body = body.to(device).eval()
        self._device = device
        self.size = body.size

    def embed(self, images: Images) -> Floats:
        """Return one vector of unit length per image, (n, d)."""
        vectors = np.empty((len(images), self.size), np.float32)
        with torch.inference_mode():
            for start, inputs in self._chunks(images):
                part = vectors[start : start + _CHUNK]
                part[:] = self._body(inputs)[: len(part)].cpu().numpy()
        return vectors

    def view(self, images: Images) -> Views:
        """Return vectors and features of images, at least one."""
        with torch.inference_mode():
            seen = [self._body.view(inputs) for _, inputs in self._chunks(images)]
        vectors, features = (
            torch.cat(part)[: len(images)].cpu().numpy() for part in zip(*seen, strict=True)
        )
        return Views(vectors, features)

    def _chunks(self, images: Images) -> Iterator[tuple[int, Tensor]]:
        """Yield images in chunks; the last is padded if it is too small."""
        for start in range(0, len(images), _CHUNK):
            part = images[start : start + _CHUNK]
            indices = np.minimum(np.arange(max(len(part), _SMALLEST_BATCH)), len(part) - 1)
            yield (
                start,
                to_inputs(part[indices] if len(part) < _SMALLEST_BATCH else part, self._device),
            )


class CentredEncoder:
    """Embed images with a given encoder and the body that was trained on top of it."""

    def __init__(self, encoder: Encoder, body: CentredBody) -> None:
        self._encoder = encoder
        self._body = body.cpu()

    def embed(self, images: Images) -> Floats:
        """Return one vector of unit length per image, (n, d)."""
        return (
            self.view(images).vectors if len(images) else np.zeros((0, self._body.size), np.float32)
        )

    def view(self, images: Images) -> Views:
        """Return vectors and features of images, at least one."""
        vectors, features = self._body.view(torch.from_numpy(self._encoder.embed(images)))
        return Views(vectors.numpy(), features.numpy())


class CheckedEncoder:
    """Check the vectors that a given encoder returns."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def embed(self, images: Images) -> Floats:
        """Return one vector per image, (n, d)."""
        given = self._encoder.embed(images)
        try:
            vectors = np.array(
                given.detach().cpu().numpy() if isinstance(given, Tensor) else given, np.float32
            )
        except (ValueError, TypeError) as error:
            raise InputError(
                f"the encoder must return an array of numbers, (n, d); it did not ({error})"
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(images):
            raise InputError(
                f"the encoder must return one vector per image, ({len(images)}, d); it returned "
                f"{vectors.shape}"
            )
        if not np.isfinite(vectors).all():
            raise InputError(
                "the encoder returned a value that is not a finite number; check its input scaling"
            )
        return vectors


def to_inputs(images: Images, device: torch.device) -> Tensor:
    """Return images as the network takes them: (n, channels, h, w), 0..1."""
    tensor = torch.from_numpy(np.array(images)).to(device)
    tensor = tensor[:, None] if images.ndim == 3 else tensor.permute(0, 3, 1, 2)
    return tensor.float().div_(255)
