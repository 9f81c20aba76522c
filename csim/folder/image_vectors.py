"""Vectors of a folder's images under one model after another, for the report and the page.

With a pretrained encoder, csim makes them of the frozen vectors that the folder has. Only images
whose frozen vector is gone pass through the encoder: once for all models, from the pictures that
csim keeps. csim's own network embeds an image once for each model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from csim.build import open_encoder, open_frozen
from csim.embed.encoder import WhitenedVectors
from csim.embed.gallery import Encoder
from csim.embed.whitening import Whitening
from csim.folder.jobs import read_model
from csim.folder.reader import Reader
from csim.records import Floats, Images, Model
from csim.sources.arrival import Arrival, Decoded
from csim.sources.decode import decode

_MOST_REMEMBERED = 10_000  # images; with vectors of `lite0`, 27 MB


class ImageVectors:
    """Give vectors of images under the model in use; remember what serves later calls.

    Call `use` first, then `missing`, and `embed` with what is missing. `at` returns the vectors.
    """

    def __init__(self) -> None:
        self._model: Model | None = None
        self._is_frozen = False  # whether vectors are frozen ones, which outlive the model
        self._vectors: dict[int, Floats] = {}  # by place
        self._encoder: Encoder | None = None  # opened for the first image that is missing

    def use(self, reader: Reader, version: int) -> Model:
        """Switch to a model version, whose file must still be there, and return the model."""
        if self._model is None or self._model.version != version:
            self._model = read_model(reader.layout, version)
            self._is_frozen = reader.config.settings.encoder != "own"
            if not self._is_frozen:
                self._vectors = {}
                self._encoder = None
        return self._model

    def missing(self, reader: Reader, places: Sequence[int]) -> list[int]:
        """Take vectors from the folder; return the places of images that must be embedded."""
        new = [place for place in places if place not in self._vectors]
        if len(self._vectors) + len(new) > _MOST_REMEMBERED:
            self._vectors = {
                place: self._vectors[place] for place in places if place in self._vectors
            }
        self._vectors |= reader.frozen_vectors.at(new)
        return [place for place in new if place not in self._vectors]

    def embed(self, reader: Reader, places: Sequence[int]) -> None:
        """Embed the images at places; those without a picture stay missing."""
        images = {
            place: image for place in places if (image := _kept_image(reader, place)) is not None
        }
        if not images:
            return
        if self._encoder is None:
            self._encoder = self._open(reader)
        vectors = self._encoder.embed(np.stack([*images.values()]))
        self._vectors |= dict(zip(images, vectors, strict=True))

    def at(self, places: Sequence[int]) -> dict[int, Floats]:
        """Return the vectors of images by place, of unit length; missing ones are left out."""
        assert self._model is not None
        known = [place for place in places if place in self._vectors]
        if not known:
            return {}
        vectors = np.stack([self._vectors[place] for place in known])
        if self._is_frozen:
            whitening = Whitening.from_arrays(self._model.network)
            vectors = WhitenedVectors(whitening).embed(vectors)
        return dict(zip(known, vectors, strict=True))

    def _open(self, reader: Reader) -> Encoder:
        assert self._model is not None
        settings = reader.config.settings
        frozen = open_frozen(settings, expected=self._model.encoder)
        return open_encoder(settings, self._model) if frozen is None else frozen


def _kept_image(reader: Reader, place: int) -> Images | None:
    """Return an image as models see it, from the picture that csim keeps; None if it keeps none."""
    file = reader.picture(place)
    if file is None:
        return None
    found = decode(Arrival(str(place), file), reader.config.image_shape)
    return found.image if isinstance(found, Decoded) else None
