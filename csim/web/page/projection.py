"""The map: recent and labelled images as points, computed by a thread while somebody looks at it.

Vectors come from the model in use, so that the map shows what csim sees. t-SNE places some of the
images. The others get the mean of their nearest neighbours among those. So 5,000 images take
seconds instead of minutes.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from csim.errors import CsimError
from csim.folder.image_vectors import ImageVectors
from csim.folder.reader import Reader
from csim.records import Floats
from csim.report.charts import project
from csim.threads import one_thread

_MOST_IMAGES = 5000
_PLACED_IMAGES = 800  # by t-SNE
_NEIGHBOURS = 3
_TOLD_SHARE = 0.4  # of all images, at most, are labelled ones outside the recent window
_WANTED_SECONDS = 600.0  # after somebody looked at the map
_PAUSE_SECONDS = 1.0
_SPACING = 10  # wait 10 times as long as the last map took
_NEW_SHARE = 0.1  # new images that make a new map worthwhile
_BATCH = 64
_LOG = logging.getLogger("csim.web")


@dataclass(frozen=True, slots=True)
class ImageMap:
    """Hold places of images, and where each is on the map, from 0 to 1."""

    model: int  # version
    places: tuple[int, ...]
    points: Floats  # (n, 2)


class MapThread:
    """Keep a map of a stream folder up to date while somebody looks at it.

    Parameters
    ----------
    root
        The stream folder.
    """

    def __init__(self, root: Path) -> None:
        self.newest: ImageMap | None = None
        self.trouble = ""  # why there is no map
        self.progress = (0, 0)  # images embedded for the next map, and all that it needs
        self._root = root
        self._known = ImageVectors()
        self._wanted_until = 0.0
        self._changed = threading.Condition()
        self._is_stopping = False
        self._thread: threading.Thread | None = None

    def want(self) -> None:
        """Note that somebody looks at the map; the first call starts the thread."""
        with self._changed:
            self._wanted_until = time.monotonic() + _WANTED_SECONDS
            if self._thread is None and not self._is_stopping:
                self._thread = threading.Thread(target=self._main, name="csim-map", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def stop(self) -> None:
        """End the thread; return when it has ended."""
        with self._changed:
            self._is_stopping = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join()

    def _main(self) -> None:
        pause = _PAUSE_SECONDS
        while not self._is_stopping:
            start = time.monotonic()
            try:
                self._renew()
            except CsimError as error:
                self.trouble = str(error)
            except Exception:  # a map is not worth a service that stops
                _LOG.exception("the map could not be drawn")
                self.trouble = "the map could not be drawn; see the log of the service"
            pause = max(_PAUSE_SECONDS, _SPACING * (time.monotonic() - start))
            with self._changed:
                self._changed.wait_for(lambda: self._is_stopping, pause)
                self._changed.wait_for(
                    lambda: self._is_stopping or time.monotonic() < self._wanted_until
                )

    def _renew(self) -> None:
        """Draw a new map, if there is a new model or there are enough new images."""
        with Reader(self._root) as reader:
            model = reader.models.in_use()
            places = _choose(reader)
            if not self._is_due(model, places):
                return
            with one_thread():
                vectors = self._embed(reader, model, places)
                if self._is_stopping or len(vectors) < 2:
                    return
                points = flatten(np.stack([*vectors.values()]), reader.config.settings.seed)
        self.newest = ImageMap(model, tuple(vectors), points)
        self.trouble = ""

    def _is_due(self, model: int, places: Sequence[int]) -> bool:
        if self.newest is None or self.newest.model != model:
            return True
        new = len(set(places) - set(self.newest.places))
        return new > _NEW_SHARE * len(self.newest.places)

    def _embed(self, reader: Reader, model: int, places: Sequence[int]) -> dict[int, Floats]:
        """Return the vectors of images by place; none if the thread must stop."""
        self._known.use(reader, model)
        missing = self._known.missing(reader, places)
        for start in range(0, len(missing), _BATCH):
            if self._is_stopping:
                return {}
            self.progress = (start, len(missing))
            self._known.embed(reader, missing[start : start + _BATCH])
        return self._known.at(places)


def flatten(vectors: Floats, seed: int) -> Floats:
    """Return a point on the map, from 0 to 1, for each vector (n, d): an array (n, 2).

    Parameters
    ----------
    vectors
        Of unit length.
    seed
        Draws the vectors that t-SNE places.
    """
    order = np.random.default_rng(seed).permutation(len(vectors))
    placed = order[:_PLACED_IMAGES]
    points = np.zeros((len(vectors), 2))
    points[placed] = project(vectors[placed], seed)
    rest = order[_PLACED_IMAGES:]
    if len(rest):
        likeness = vectors[rest] @ vectors[placed].T
        nearest = np.argpartition(-likeness, _NEIGHBOURS, axis=1)[:, :_NEIGHBOURS]
        points[rest] = points[placed][nearest].mean(axis=1)
    low = points.min(axis=0)
    return np.asarray((points - low) / np.maximum(points.max(axis=0) - low, 1e-9))


def _choose(reader: Reader) -> list[int]:
    """Return the places of the recent window's images, and of labelled images of every class."""
    with reader.transaction():
        after = reader.history.position() - reader.config.settings.recent
        classes = reader.classes()
        per_class = int(_TOLD_SHARE * _MOST_IMAGES / max(1, len(classes)))
        told = [
            image.place for row in classes for image in reader.class_images.told(row.id, per_class)
        ]
        recent = reader.samples.recent(after, _MOST_IMAGES - len(told))
    return list(dict.fromkeys([*told, *(item.place for item in recent)]))
