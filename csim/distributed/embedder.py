"""Decode and embed images, as a function of the model and the image: it may run anywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from csim.build import open_encoder, open_frozen
from csim.embed.encoder import WhitenedVectors
from csim.embed.gallery import ViewEncoder
from csim.embed.whitening import Whitening
from csim.folder.layout import Config
from csim.records import Images, Model, View, Views
from csim.sources.arrival import Arrival, Decoded, Trouble
from csim.sources.decode import decode
from csim.threads import one_thread

_NO_PIXELS: Images = np.zeros((0, 0), np.uint8)


def sent_shape(config: Config) -> tuple[int, ...]:
    """Return the shape of the pixels that workers send back.

    With a frozen encoder there are none: the engine needs its vector alone, and 224×224 pixels
    would be ten times the rest.
    """
    return config.image_shape if config.encoder is None else _NO_PIXELS.shape


class Embedder:
    """Decode images and embed them under the model that comes with them.

    Parameters
    ----------
    config
        The configuration of the stream folder.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._frozen = open_frozen(config.settings, expected=config.encoder)
        self._encoder: ViewEncoder | None = None
        self._version: int | None = None

    def embed(self, model: Model, arrivals: Sequence[Arrival]) -> list[Decoded | Trouble]:
        """Return each image decoded and with its view, or why that fails."""
        config = self._config
        found = [decode(arrival, config.image_shape, config.bits) for arrival in arrivals]
        images = [image for image in found if isinstance(image, Decoded)]
        if not images:
            return found
        with one_thread():  # the same sums on every machine
            seen = self._view(model, np.stack([image.image for image in images]))
        views = (
            View(vector, features, model.version)
            for vector, features in zip(seen.vectors, seen.features, strict=True)
        )
        return [
            self._with_view(image, next(views)) if isinstance(image, Decoded) else image
            for image in found
        ]

    def _with_view(self, image: Decoded, view: View) -> Decoded:
        if self._frozen is None:
            return replace(image, view=view)
        return replace(image, view=view, image=_NO_PIXELS)

    def _view(self, model: Model, images: Images) -> Views:
        """Return the views of images; with a frozen encoder its vectors are the features."""
        if self._frozen is not None:
            frozen = self._frozen.embed(images)
            whitening = Whitening.from_arrays(model.network)
            return Views(WhitenedVectors(whitening).embed(frozen), frozen)
        if self._encoder is None or model.version != self._version:
            self._encoder = open_encoder(self._config.settings, model)
            self._version = model.version
        return self._encoder.view(images)
