"""The interface that every baseline offers to the evaluation loop.

A baseline observes images, asks about single ones and receives their class names. An answer trains
the baseline (`Told`) but does not count as the baseline's decision about that image.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import numpy.typing as npt

from csim.bench.baselines.event_recorder import EventRecorder, Sample
from csim.bench.baselines.features import FeatureExtractor
from csim.records import Event, Floats, Images, Ints, Item, Question


class Baseline(ABC):
    """Run a published method behind the interface of `StreamClassifier`.

    Parameters
    ----------
    extractor
        Turns images into the vectors that the method works on.
    on_event
        Called with every event.
    """

    def __init__(self, extractor: FeatureExtractor, on_event: Callable[[Event], None]) -> None:
        self.training_seconds = 0.0
        self._extractor = extractor
        self._recorder = EventRecorder(on_event)

    def fit(self, images: Images, names: Sequence[str]) -> Baseline:
        """Learn the initial classes from the warm-up."""
        for name in sorted(set(names)):
            self._recorder.class_id(name)
        labels = [self._recorder.class_id(name) for name in names]
        with self._training():
            self._start(self._extractor.fit(images, names), np.array(labels, np.int64))
        self._recorder.take()
        return self

    def observe(self, images: Images) -> list[Event]:
        """Classify the next images of the stream and return the events."""
        vectors = self._extractor.transform(images)
        items = [
            Item(str(position), position, image)
            for position, image in enumerate(images, self._recorder.position + 1)
        ]
        samples = [Sample(item, vector) for item, vector in zip(items, vectors, strict=True)]
        self._classify(samples, vectors)
        return self._recorder.take()

    def ask_now(self) -> list[Event]:
        """Decide about all images that still wait, because the stream has ended."""
        self._finish()
        return self._recorder.take()

    def questions(self) -> list[Question]:
        """Return the open questions, each about one image."""
        return self._recorder.questions()

    def tell(self, answers: dict[int, str]) -> list[Event]:
        """Learn the class names of images that the baseline asked about."""
        told = [self._recorder.tell(number, name) for number, name in answers.items()]
        if told:
            self._learn_told(told)
        return self._recorder.take()

    def predict_proba(self, images: Images) -> Floats:
        """Return a score per class of `classes_` for each image, (n, K)."""
        return self._scores(self._extractor.transform(images))

    @property
    def classes_(self) -> npt.NDArray[np.str_]:
        """Return the names of all classes told so far, by class id."""
        return np.array(self._recorder.names)

    @abstractmethod
    def _start(self, vectors: Floats, labels: Ints) -> None:
        """Learn from the warm-up."""

    @abstractmethod
    def _classify(self, samples: list[Sample], vectors: Floats) -> None:
        """Decide about samples in order; `vectors` holds their vectors, (n, d)."""

    @abstractmethod
    def _learn_told(self, told: list[Sample]) -> None:
        """Learn from samples that a person has just labelled."""

    @abstractmethod
    def _finish(self) -> None:
        """Decide about all samples that still wait."""

    @abstractmethod
    def _scores(self, vectors: Floats) -> Floats:
        """Return a score per class, (n, K)."""

    @contextmanager
    def _training(self) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.training_seconds += time.perf_counter() - start
