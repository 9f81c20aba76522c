"""Guesses of the model in use, for questions that an older model asked.

A question keeps the guesses of the model that asked it. Somebody who answers it later would still
see what csim guessed before it learned the newer classes.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

import numpy as np

from csim.build import make_threshold, open_encoder
from csim.decide.head import Head
from csim.embed.gallery import ViewEncoder
from csim.errors import CsimError
from csim.folder.jobs import read_model
from csim.folder.question_pages import Guess, QuestionEntry
from csim.folder.reader import Reader
from csim.records import Floats, Model
from csim.threads import one_thread
from csim.web.page.projection import kept_image

_MOST_VECTORS = 10_000  # remembered: one for each question shown


@dataclass
class _Loaded:
    """Hold a model that is in use, and the vectors that it made of images, by their place."""

    version: int
    model: Model
    encoder: ViewEncoder
    vectors: dict[int, Floats] = field(default_factory=dict)


class FreshGuesses:
    """Guess with the model in use; it embeds each image once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loaded: _Loaded | None = None

    def of(self, reader: Reader, entry: QuestionEntry) -> tuple[Guess, ...]:
        """Return guesses for a question: its own, unless a newer model is in use now."""
        version = reader.models.in_use()
        if not entry.guesses or version == reader.models.in_use(entry.position):
            return entry.guesses
        try:
            with self._lock, one_thread():
                loaded = self._load(reader, version)
                vector = _vector(reader, loaded, entry.representative)
        except CsimError:  # the model's file may be gone: a newer one took over
            return entry.guesses
        if vector is None:
            return entry.guesses
        classes = reader.current_classes()
        today = {class_id: found.id for class_id, found in classes.items()}
        head = Head(make_threshold(reader.config.settings))
        head.install(loaded.model, today.get)
        return tuple(
            Guess(class_id, classes[class_id].name, score)
            for class_id, score in head.guess(vector, most=len(entry.guesses))
        )

    def _load(self, reader: Reader, version: int) -> _Loaded:
        if self._loaded is None or self._loaded.version != version:
            model = read_model(reader.layout, version)
            self._loaded = _Loaded(version, model, open_encoder(reader.config.settings, model))
        return self._loaded


def _vector(reader: Reader, loaded: _Loaded, place: int) -> Floats | None:
    """Return the vector of an image; None if its picture is not kept."""
    if place not in loaded.vectors:
        image = kept_image(reader, place)
        if image is None:
            return None
        if len(loaded.vectors) >= _MOST_VECTORS:
            loaded.vectors.clear()
        (loaded.vectors[place],) = loaded.encoder.view(np.stack([image])).vectors
    return loaded.vectors[place]
