"""The head compares scores with thresholds and decides.

It rejects an image only if its score is below the threshold of *every* class. Otherwise the image
gets the class of highest probability (the paper's prediction rule).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from csim.decide.scores import fold, one_vs_rest
from csim.decide.thresholds import Threshold
from csim.errors import NotFittedError
from csim.records import JUNK, ClassId, Decision, Floats, Guesses, Ints, Model, State


class Head:
    """Apply the one-vs-rest layer of the model in use, with a threshold per class.

    Once a model has learned junk, `JUNK` is one of `class_ids`, with a column and a threshold.
    """

    def __init__(self, threshold: Threshold) -> None:
        self._threshold = threshold
        self._model: Model | None = None
        self._columns: list[ClassId | None] = []
        self.class_ids: tuple[ClassId, ...] = ()

    def install(self, model: Model, current: Callable[[ClassId], ClassId | None]) -> None:
        """Use a model; `current` returns the class that an id refers to now, or None.

        Call it again after classes were merged or removed. Call `calibrate` next.
        """
        self._model = model
        self._columns = [current(class_id) for class_id in model.class_ids]
        self.class_ids = tuple(dict.fromkeys(c for c in self._columns if c is not None))

    @property
    def columns(self) -> tuple[ClassId | None, ...]:
        """Return the class that each column of the model counts for now, None for no class."""
        return tuple(self._columns)

    @property
    def named_classes(self) -> tuple[ClassId, ...]:
        """Return the classes that the model can give: `class_ids` without `JUNK`."""
        return tuple(class_id for class_id in self.class_ids if class_id != JUNK)

    def scores(self, vectors: Floats) -> Floats:
        """Return the probability of each class of `class_ids` for vectors (n, d), (n, K)."""
        model = self._fitted()
        return fold(one_vs_rest(vectors, model.weights, model.bias), self._columns, self.class_ids)

    def calibrate(self, vectors: Floats, labels: Ints | None) -> None:
        """Fit the thresholds on vectors (m, d) and their class ids, (m,).

        Without class ids each vector counts for its best class. The ids may be those of the model:
        a merged class counts for the class it was merged into, a removed one for none. A model that
        knows which scores new images can expect needs no vectors.
        """
        if len(expected := self._fitted().expected):
            columns = np.array([-1 if c is None else c for c in self._columns])
            self._threshold.fit({c: expected[columns == c].ravel() for c in self.class_ids})
            return
        scores = self.scores(vectors)
        if labels is not None:
            labels = self._current_ids(labels)
        elif self.class_ids:
            labels = np.array(self.class_ids, np.int64)[scores.argmax(axis=1)]
        self._threshold.fit(
            {c: scores[labels == c, column] for column, c in enumerate(self.class_ids)}
        )

    def decide(self, scores: Floats) -> list[Decision]:
        """Accept or reject images by their scores, (n, K)."""
        if not self.class_ids:
            return [Decision(None, 0.0, is_accepted=False)] * len(scores)
        class_ids, accepted = self.classes(scores)
        rows = zip(class_ids, scores.max(axis=1).tolist(), accepted, strict=True)
        return [*map(Decision._make, rows)]

    def classes(self, scores: Floats) -> tuple[list[ClassId], list[bool]]:
        """Return the class of each image and whether it is accepted; there must be a class."""
        best = scores.argmax(axis=1)
        accepted = np.asarray(self._threshold.passes(self.class_ids, scores).any(axis=1))
        return [*map(self.class_ids.__getitem__, best.tolist())], accepted.tolist()

    def guess(self, vector: Floats, most: int = 3) -> Guesses:
        """Return the classes of highest score for a vector, (d,); a higher `most` lists more."""
        (row,) = self.scores(vector[None])
        best = [(self.class_ids[column], float(row[column])) for column in np.argsort(-row)]
        return tuple((class_id, score) for class_id, score in best if class_id != JUNK)[:most]

    def state(self) -> State:
        """Return the thresholds; the model is saved separately."""
        return self._threshold.state()

    def restore(self, state: State) -> None:
        """Load what `state` returned, after `install`."""
        self._threshold.restore(state)

    def _current_ids(self, labels: Ints) -> Ints:
        current = dict(zip(self._fitted().class_ids, self._columns, strict=True))
        ids = [current.get(class_id, class_id) for class_id in labels.tolist()]
        return np.array([-1 if class_id is None else class_id for class_id in ids], np.int64)

    def _fitted(self) -> Model:
        if self._model is None:
            raise NotFittedError("there is no model yet; install() one first")
        return self._model
