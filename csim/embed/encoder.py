"""From images to vectors, with csim's trained network or a frozen encoder.

`NetworkEncoder` runs csim's network. `CheckedEncoder` runs a frozen one, which is any object with
`embed(images) -> (n, d)`: a pretrained network, a hand-made feature. It checks what comes back and
rounds it to frozen vectors, which travel with an item in place of its pixels. `WhitenedVectors`
turns frozen vectors into views under a model. `WhitenedEncoder` does both steps for fresh images.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import torch
from torch import Tensor

from csim.embed.gallery import Encoder
from csim.embed.inputs import to_inputs
from csim.embed.network import ConvBody
from csim.embed.whitening import Whitening
from csim.errors import InputError
from csim.records import EncoderId, Floats, Images, Views

_CHUNK = 256  # images per forward pass: larger ones gain nothing and fragment memory
# Smaller batches use other matrix kernels, which round differently: a vector would depend on its
# batch.
_SMALLEST_BATCH = 4
_ROUNDING = (
    1e-3  # of a vector's length: float16 rounds by 2e-4, unless its numbers are tiny or huge
)


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


class WhitenedVectors:
    """Turn frozen vectors into views, by the whitening of a model."""

    def __init__(self, whitening: Whitening) -> None:
        self._whitening = whitening

    def embed(self, vectors: Images | Floats) -> Floats:
        """Return one vector of unit length per frozen vector, (n, d)."""
        size = len(self._whitening.mean)
        return self.view(vectors).vectors if len(vectors) else np.zeros((0, size), np.float32)

    def view(self, vectors: Images | Floats) -> Views:
        """Return vectors of unit length, which are also the features, at least one."""
        size = len(self._whitening.mean)
        if vectors.ndim != 2 or vectors.shape[1] != size:
            raise InputError(
                f"the model was trained on vectors of {size} numbers, the encoder made "
                f"an array {vectors.shape}; use the encoder that the model was trained with"
            )
        units = self._whitening.apply(vectors)
        return Views(units, units)


class WhitenedEncoder:
    """Embed images with a frozen encoder and the whitening of a model."""

    def __init__(self, encoder: CheckedEncoder, whitening: Whitening) -> None:
        self._encoder = encoder
        self._vectors = WhitenedVectors(whitening)

    def embed(self, images: Images) -> Floats:
        """Return one vector of unit length per image, (n, d)."""
        return self._vectors.embed(self._encoder.embed(images) if len(images) else images)

    def view(self, images: Images) -> Views:
        """Return vectors and features of images, at least one."""
        return self._vectors.view(self._encoder.embed(images))


class CheckedEncoder:
    """Check the vectors that a frozen encoder returns, and round them.

    Parameters
    ----------
    encoder
        What embeds the images.
    """

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder
        self._size: int | None = None  # of a vector
        self.image_shape: tuple[int, ...] | None = getattr(encoder, "image_shape", None)
        self.identity: EncoderId | None = getattr(encoder, "identity", None)

    def embed(self, images: Images) -> Floats:
        """Return one frozen vector per image, (n, d).

        Those of an encoder that csim knows by name are in float16. Yours stay as they are: csim
        cannot know how little its numbers differ.

        Raises `InputError` if the encoder returns anything else than finite vectors of one length.
        """
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
        if vectors.shape[1] == 0:
            raise InputError(
                "the encoder must return vectors of at least one number; it returned "
                f"{vectors.shape}; check its last layer"
            )
        if not np.isfinite(vectors).all():
            raise InputError(
                "the encoder returned a value that is not a finite number; check its input scaling"
            )
        if self._size not in (None, vectors.shape[1]):
            raise InputError(
                f"the encoder must return vectors of one length; it returned {self._size} numbers "
                f"per image at first and {vectors.shape[1]} now"
            )
        self._size = vectors.shape[1]
        return vectors if self.identity is None else _in_half_the_room(vectors)


def _in_half_the_room(vectors: Floats) -> Floats:
    """Return vectors in float16, or as they are if the rounding would change one too much."""
    with np.errstate(over="ignore"):
        halves = vectors.astype(np.float16)
    lengths = np.linalg.norm(vectors, axis=1)
    errors = np.linalg.norm(halves.astype(np.float32) - vectors, axis=1)
    return halves if (errors <= _ROUNDING * lengths).all() else vectors
