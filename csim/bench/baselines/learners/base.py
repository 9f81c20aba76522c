"""The base class of the metric learners.

It does the checks of scikit-learn, holds out validation images and computes principal components.
"""

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

_HELD_OUT_SHARE = 0.2  # of each class, for early stopping, unless validation images are given
_KEPT_VARIANCE = 0.99


@dataclass(frozen=True)
class TrainingSplit:
    """Hold labelled vectors to train on, and others for early stopping.

    Parameters
    ----------
    vectors, columns
        Training vectors, (n, d), and the class index of each, (n,).
    held_out, held_out_columns
        The same of vectors that are not trained on. If there are none, training does not stop
        early.
    """

    vectors: Floats
    columns: Ints
    held_out: Floats
    held_out_columns: Ints

    def score(self, gallery: Floats, queries: Floats, k: int) -> float:
        """Return the share of held-out images that k neighbours classify correctly.

        Parameters
        ----------
        gallery, queries
            The training and the held-out vectors in the learned space.
        k
            Neighbours that vote. Higher smooths over single neighbours.
        """
        if not len(queries):
            return 0.0
        found = vote(self.columns[nearest(gallery, queries, k)], k)
        return float(np.mean(found == self.held_out_columns))


class MetricLearner(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Learn a map from labelled vectors that brings vectors of one class close to each other."""

    random_state: int | None
    steps_: int
    """Rounds, trees, epochs or sweeps of the learned map."""

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
            The training vectors and their classes.
        validation
            Vectors and classes for early stopping. If not given, a fifth of the training vectors
            is held out to find the number of steps, and then all of them are trained on for that
            many steps. If empty, training does not stop early.
        on_step
            Called with the steps done and the maximum. Training may end before the maximum.
        """
        vectors, names = validate_data(self, X, y, dtype=np.float32, ensure_min_samples=2)
        check_classification_targets(names)
        self.classes_, columns = np.unique(names, return_inverse=True)
        self._rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        on_step = on_step or (lambda done, most: None)
        if validation is None:
            self.steps_ = self._fit_twice(vectors, columns, on_step)
        else:
            given = np.asarray(validation[0], np.float32)
            held_out = vectors[:0]
            if len(given):
                held_out = np.asarray(validate_data(self, given, reset=False))
            split = TrainingSplit(vectors, columns, held_out, self._columns_of(validation[1]))
            self.steps_ = self._learn(split, self._max_steps, on_step)
        return self

    def transform(self, X: npt.ArrayLike) -> Floats:
        """Return vectors, (n, d), in the learned space, (n, r)."""
        check_is_fitted(self)
        return self._map(np.asarray(validate_data(self, X, dtype=np.float32, reset=False)))

    def gallery(self, X: npt.ArrayLike) -> Floats:
        """Return vectors, (n, d), in the form that neighbours are searched among.

        This is the same as `transform`, except for a learner of binary codes.
        """
        return self.transform(X)

    @property
    @abstractmethod
    def _max_steps(self) -> int:
        """Return how many steps `fit` may train for."""

    @abstractmethod
    def _learn(self, split: TrainingSplit, max_steps: int, on_step: OnStep) -> int:
        """Train for at most `max_steps`, set `_n_features_out`, and return the steps kept."""

    @abstractmethod
    def _map(self, vectors: Floats) -> Floats:
        """Return vectors in the learned space."""

    def _fit_twice(self, vectors: Floats, columns: Ints, on_step: OnStep) -> int:
        """Find the number of steps on held-out vectors, then train on all; return the steps."""
        is_held_out = self._choose_held_out(columns)
        split = TrainingSplit(
            vectors[~is_held_out], columns[~is_held_out], vectors[is_held_out], columns[is_held_out]
        )
        steps = self._learn(split, self._max_steps, on_step)
        if is_held_out.any():
            everything = TrainingSplit(vectors, columns, vectors[:0], columns[:0])
            steps = self._learn(everything, steps, on_step)
        return steps

    def _columns_of(self, names: npt.ArrayLike) -> Ints:
        """Return the class index of each name, -1 for a class that is not trained on."""
        columns = {name: column for column, name in enumerate(self.classes_.tolist())}
        return np.array([columns.get(name, -1) for name in np.asarray(names).tolist()], np.int64)

    def _choose_held_out(self, columns: Ints) -> npt.NDArray[np.bool_]:
        is_held_out = np.zeros(len(columns), bool)
        for column in range(int(columns.max()) + 1):
            members = self._rng.permutation(np.flatnonzero(columns == column))
            is_held_out[members[: int(_HELD_OUT_SHARE * len(members))]] = True
        return is_held_out

    def __sklearn_tags__(self) -> Any:  # noqa: ANN401 - the type is scikit-learn's
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


class PrincipalComponents:
    """Project vectors on the leading principal components that hold 99 % of their variance.

    Parameters
    ----------
    vectors
        Vectors to learn the components from, (n, d).
    max_size
        Components to keep at most. Higher keeps more detail and takes longer.
    """

    def __init__(self, vectors: Floats, max_size: int) -> None:
        self._pca = PCA(min(max_size, *vectors.shape), svd_solver="covariance_eigh").fit(vectors)
        total = max(float(self._pca.explained_variance_.sum() + self._rest(vectors)), 1e-30)
        shares = np.cumsum(self._pca.explained_variance_) / total
        enough = np.searchsorted(shares, _KEPT_VARIANCE) + 1
        self.size = int(min(enough, self._pca.n_components_))

    def _rest(self, vectors: Floats) -> float:
        """Return the variance outside of all components."""
        rank = min(vectors.shape)
        return float(self._pca.noise_variance_ * (rank - self._pca.n_components_))

    def __call__(self, vectors: Floats) -> Floats:
        """Return the components of vectors, (n, size)."""
        if not len(vectors):
            return np.empty((0, self.size), np.float32)
        return np.ascontiguousarray(self._pca.transform(vectors)[:, : self.size], np.float32)
