"""What all metric learners share: the checks of scikit-learn, images to validate with, and pixels as components."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from csim.bench.baselines.learners.knn import nearest, vote
from csim.records import Floats, Ints

OnStep = Callable[[int, int], None]  # steps done, steps at most

_HELD_OUT = 0.2  # of the images of a class, to stop by, unless others are given
_VARIANCE = 0.99


@dataclass(frozen=True)
class Lesson:
    """What a learner learns from, and what tells it when to stop.

    Parameters
    ----------
    vectors, columns
        (n, d), and the class of each, (n,).
    held, held_columns
        The same of images that it must not learn from; with none of them it does not stop early.
    """

    vectors: Floats
    columns: Ints
    held: Floats
    held_columns: Ints

    def score(self, gallery: Floats, queries: Floats, k: int) -> float:
        """Return the share of held-out images that k neighbours name rightly, both in a learned space."""
        if not len(queries):
            return 0.0
        found = vote(self.columns[nearest(gallery, queries, k)], k)
        return float(np.mean(found == self.held_columns))


class Learner(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A map to vectors in which images of one class are near each other, learned from labelled ones."""

    random_state: int | None
    steps_: int
    """Rounds, trees, epochs or sweeps that it learned for."""

    def fit(
        self,
        X: npt.ArrayLike,
        y: npt.ArrayLike,
        *,
        validation: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        on_step: OnStep | None = None,
    ) -> Self:
        """Learn from vectors, (n, d), and their classes, (n,).

        Parameters
        ----------
        X, y
            What to learn from.
        validation
            Vectors and classes that tell when to stop. If there are none, a fifth of those given first tell it, and
            then it learns anew from all of them, for as long. If they are empty, it learns for as long as it may.
        on_step
            Called with the steps done and those there may be, for progress; it may end before.
        """
        vectors, names = validate_data(self, X, y, dtype=np.float32, ensure_min_samples=2)
        check_classification_targets(names)
        self.classes_, columns = np.unique(names, return_inverse=True)
        self._rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        on_step = on_step or (lambda done, most: None)
        if validation is None:
            is_held = self._choose_held(columns)
            lesson = Lesson(
                vectors[~is_held], columns[~is_held], vectors[is_held], columns[is_held]
            )
            self.steps_ = self._learn(lesson, self._most, on_step)
            if is_held.any():
                self.steps_ = self._learn(
                    Lesson(vectors, columns, vectors[:0], columns[:0]), self.steps_, on_step
                )
        else:
            held = np.asarray(validation[0], np.float32)
            held = np.asarray(validate_data(self, held, reset=False)) if len(held) else vectors[:0]
            place = {name: column for column, name in enumerate(self.classes_.tolist())}
            own = np.array(
                [place.get(name, -1) for name in np.asarray(validation[1]).tolist()], np.int64
            )
            self.steps_ = self._learn(Lesson(vectors, columns, held, own), self._most, on_step)
        return self

    def transform(self, X: npt.ArrayLike) -> Floats:
        """Return vectors, (n, d), in the learned space, (n, r)."""
        check_is_fitted(self)
        return self._map(np.asarray(validate_data(self, X, dtype=np.float32, reset=False)))

    def gallery(self, X: npt.ArrayLike) -> Floats:
        """Return vectors, (n, d), as what neighbours are looked for among: as `transform` does, save for codes."""
        return self.transform(X)

    @property
    @abstractmethod
    def _most(self) -> int:
        """Steps that it may learn for."""

    @abstractmethod
    def _learn(self, lesson: Lesson, most: int, on_step: OnStep) -> int:
        """Learn for so many steps at most, set `_n_features_out`, and return the steps that it kept."""

    @abstractmethod
    def _map(self, vectors: Floats) -> Floats:
        """Return vectors in the learned space."""

    def _choose_held(self, columns: Ints) -> npt.NDArray[np.bool_]:
        is_held = np.zeros(len(columns), bool)
        for column in range(int(columns.max()) + 1):
            own = self._rng.permutation(np.flatnonzero(columns == column))
            is_held[own[: int(_HELD_OUT * len(own))]] = True
        return is_held

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - scikit-learn's own
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


class Components:
    """Vectors as their leading principal components, so many that they hold 99 % of the variance.

    Parameters
    ----------
    vectors
        What they are learned from, (n, d).
    most
        Components at most. Raising it keeps more detail, for time.
    """

    def __init__(self, vectors: Floats, most: int) -> None:
        self._pca = PCA(min(most, *vectors.shape), svd_solver="covariance_eigh").fit(vectors)
        total = max(float(self._pca.explained_variance_.sum() + self._rest(vectors)), 1e-30)
        enough = np.searchsorted(np.cumsum(self._pca.explained_variance_) / total, _VARIANCE) + 1
        self.size = int(min(enough, self._pca.n_components_))

    def _rest(self, vectors: Floats) -> float:
        """Return the variance that no component holds."""
        least = min(vectors.shape)
        return float(self._pca.noise_variance_ * (least - self._pca.n_components_))

    def __call__(self, vectors: Floats) -> Floats:
        """Return the components of vectors, (n, size)."""
        if not len(vectors):
            return np.empty((0, self.size), np.float32)
        return np.ascontiguousarray(self._pca.transform(vectors)[:, : self.size], np.float32)
