"""Guesses of the model in use, for questions that an older model asked.

A question keeps the guesses of the model that asked it. Somebody who answers it later would still
see what csim guessed before it learned the newer classes.
"""

from __future__ import annotations

import threading

from csim.build import make_threshold
from csim.decide.head import Head
from csim.errors import CsimError
from csim.folder.image_vectors import ImageVectors
from csim.folder.question_pages import Guess, QuestionEntry
from csim.folder.reader import Reader
from csim.threads import one_thread


class FreshGuesses:
    """Guess with the model in use; it embeds each image once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known = ImageVectors()

    def of(self, reader: Reader, entry: QuestionEntry) -> tuple[Guess, ...]:
        """Return guesses for a question: its own, unless a newer model is in use now."""
        version = reader.models.in_use()
        if not entry.guesses or version == reader.models.in_use(entry.position):
            return entry.guesses
        try:
            with self._lock, one_thread():
                model = self._known.use(reader, version)
                place = entry.representative
                self._known.embed(reader, self._known.missing(reader, [place]))
                vector = self._known.at([place]).get(place)
        except CsimError:  # the model's file may be gone: a newer one took over
            return entry.guesses
        if vector is None:
            return entry.guesses
        classes = reader.current_classes()
        today = {class_id: found.id for class_id, found in classes.items()}
        head = Head(make_threshold(reader.config.settings))
        head.install(model, today.get)
        return tuple(
            Guess(class_id, classes[class_id].name, score)
            for class_id, score in head.guess(vector, most=len(entry.guesses))
        )
