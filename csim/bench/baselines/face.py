"""The face that every baseline shows to the loop: it sees images pass, asks about single ones, and is told their names.

What a baseline said of an image stands: a name that a person tells later is learned from (`Told`), and does not become
the baseline's own answer.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from csim.bench.baselines.features import Features
from csim.records import (
    Accepted,
    Asked,
    ClassAdded,
    ClassId,
    Event,
    Floats,
    Images,
    Ints,
    Item,
    Question,
    QuestionId,
    Rejected,
    Retrained,
    Revised,
    Told,
)


@dataclass(eq=False, slots=True)
class Seen:
    """An image of the stream, as a baseline remembers it."""

    item: Item
    vector: Floats
    label: ClassId | None = None  # what a person told

    @property
    def position(self) -> int:
        """When it came."""
        return self.item.position


class Baseline(ABC):
    """A method by somebody else, with the face of ours.

    Parameters
    ----------
    features
        What the method is given instead of images.
    on_event
        Called with every event.
    """

    def __init__(self, features: Features, on_event: Callable[[Event], None]) -> None:
        self.training_seconds = 0.0
        self._features = features
        self._on_event = on_event
        self._names: list[str] = []  # by class id
        self._open: dict[QuestionId, Seen] = {}
        self._asked = 0
        self._version = 0
        self._position = 0
        self._new: list[Event] = []

    def fit(self, images: Images, names: Sequence[str]) -> Baseline:
        """Learn the first classes."""
        for name in sorted(set(names)):
            self._class_id(name)
        labels = [self._class_id(name) for name in names]
        with self._training():
            self._start(self._features.fit(images, names), np.array(labels, np.int64))
        self._new.clear()
        return self

    def observe(self, images: Images) -> list[Event]:
        """See the next images."""
        vectors = self._features.of(images)
        items = [
            Item(str(self._position + place), self._position + place, own)
            for place, own in enumerate(images, 1)
        ]
        self._see(
            [Seen(item, vector) for item, vector in zip(items, vectors, strict=True)], vectors
        )
        return self._told()

    def ask_now(self) -> list[Event]:
        """Say what is still to be said: the stream has ended."""
        self._finish()
        return self._told()

    def questions(self) -> list[Question]:
        """Return the open questions, each about one image."""
        return [_question(number, seen) for number, seen in self._open.items()]

    def tell(self, answers: dict[int, str]) -> list[Event]:
        """Take in the names of images that were asked about."""
        told = []
        for number, name in answers.items():
            seen = self._open.pop(number)
            seen.label = self._class_id(name)
            self._say(Told(self._position, seen.item.id, seen.label, number))
            told.append(seen)
        if told:
            self._hear(told)
        return self._told()

    def predict_proba(self, images: Images) -> Floats:
        """Return a score per class of `classes_` for each image, (n, K)."""
        return self._scores(self._features.of(images))

    @property
    def classes_(self) -> npt.NDArray[np.str_]:
        """The names of all classes that have been told."""
        return np.array(self._names)

    @abstractmethod
    def _start(self, vectors: Floats, labels: Ints) -> None:
        """Learn from the warm-up."""

    @abstractmethod
    def _see(self, some: list[Seen], vectors: Floats) -> None:
        """Answer for images in order; `vectors` are theirs, (n, d)."""

    @abstractmethod
    def _hear(self, told: list[Seen]) -> None:
        """Learn from images whose labels have just been told."""

    @abstractmethod
    def _finish(self) -> None:
        """Answer for all that waits."""

    @abstractmethod
    def _scores(self, vectors: Floats) -> Floats:
        """Return a score per class, (n, K)."""

    def _ask(self, seen: Seen) -> None:
        self._asked += 1
        self._open[self._asked] = seen
        self._say(Asked(self._position, _question(self._asked, seen)))

    def _accept(self, seen: Seen, class_id: ClassId, score: float) -> None:
        self._say(Accepted(seen.position, seen.item.id, class_id, score, self._version))

    def _reject(self, seen: Seen, nearest: ClassId, score: float) -> None:
        self._say(Rejected(seen.position, seen.item.id, nearest, score, self._version))

    def _revise(self, seen: Seen, class_id: ClassId) -> None:
        """Give an image that was rejected a class after all."""
        self._say(Revised(self._position, seen.item.id, None, class_id))

    def _learned(self, class_ids: Sequence[ClassId]) -> None:
        """Say which classes can be given from now on."""
        self._version += 1
        self._say(Retrained(self._position, self._version, tuple(sorted(class_ids))))

    @contextmanager
    def _training(self) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.training_seconds += time.perf_counter() - start

    def _class_id(self, name: str) -> ClassId:
        if name not in self._names:
            self._names.append(name)
            self._say(ClassAdded(self._position, len(self._names) - 1, name))
        return self._names.index(name)

    def _say(self, event: Event) -> None:
        self._new.append(event)
        self._on_event(event)

    def _told(self) -> list[Event]:
        new, self._new = self._new, []
        return new


def _question(number: QuestionId, seen: Seen) -> Question:
    return Question(number, seen.position, seen.item, (seen.item,))
