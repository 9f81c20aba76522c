"""An ensemble of micro-cluster models that vote.

Each model votes with its nearest micro-cluster and says whether a vector lies outside its decision
boundary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from csim.bench.baselines.micro_clusters import MicroClusters
from csim.records import Bools, ClassId, Floats, Ints

Boundary = Literal["nearest", "union"]
BOUNDARIES: tuple[Boundary, ...] = ("nearest", "union")

_TIE_BREAK = 1e-6  # weight of the depth inside a sphere: below that of any single vote


@dataclass(frozen=True)
class Predictions:
    """Hold what every model says about vectors. All arrays are (models, n).

    Parameters
    ----------
    nearest
        Index of the model's nearest micro-cluster.
    votes
        Class of that micro-cluster.
    depth
        How far inside that sphere the vector lies; negative outside.
    is_outside
        Whether the vector lies outside the model's boundary.
    """

    nearest: Ints
    votes: Ints
    depth: Floats
    is_outside: Bools


class Ensemble:
    """Combine the votes of models, which are kept in order of age, oldest first.

    Parameters
    ----------
    models
        The initial models.
    max_models
        Models to keep. Higher remembers longer and adapts more slowly.
    boundary
        `nearest`: a vector outside the nearest sphere is outside the model. `union`: it must be
        outside all spheres.
    slack
        How far outside the closest model an outlier must lie. Higher finds fewer outliers.
    """

    def __init__(
        self,
        models: Sequence[MicroClusters],
        *,
        max_models: int,
        boundary: Boundary,
        slack: float = 0.0,
    ) -> None:
        self.models = list(models)
        self.max_models = max_models
        self._boundary = boundary
        self._slack = slack

    @property
    def known(self) -> frozenset[ClassId]:
        """Return the classes that at least one model can output."""
        return frozenset().union(*(model.known for model in self.models))

    def predict(self, vectors: Floats) -> Predictions:
        """Return what every model says about vectors, (n, d)."""
        rows = [self._predict(model, vectors) for model in self.models]
        return Predictions(*(np.stack(part) for part in zip(*rows, strict=True)))

    def _predict(self, model: MicroClusters, vectors: Floats) -> tuple[Ints, Ints, Floats, Bools]:
        distances = model.distances(vectors)
        depths = model.radii - distances
        nearest = distances.argmin(axis=1)
        depth = np.take_along_axis(depths, nearest[:, None], axis=1)[:, 0]
        is_outside = depth < 0 if self._boundary == "nearest" else depths.max(axis=1) < 0
        return nearest, model.classes[nearest], depth, is_outside

    def find_outliers(self, predictions: Predictions) -> Bools:
        """Return which vectors lie outside all models, (n,)."""
        is_far: Bools = (
            -predictions.depth.max(axis=0) > self._slack
            if self._slack
            else np.ones(predictions.votes.shape[1], bool)
        )
        return predictions.is_outside.all(axis=0) & is_far

    def counted_votes(self, predictions: Predictions) -> Bools:
        """Return which votes count, (models, n).

        A vote does not count if the vector lies outside the model and another model votes for a
        class that this model has never learned. If no vote would count, all do.
        """
        classes = max((int(model.counts.shape[1]) for model in self.models), default=1)
        highest = int(predictions.votes.max(initial=0))
        knows = np.zeros((len(self.models), max(classes, highest + 1)), bool)
        for index, model in enumerate(self.models):
            knows[index, list(model.known)] = True
        is_foreign = ~knows[:, predictions.votes]  # (models, voters, n)
        counts = ~(predictions.is_outside & is_foreign.any(axis=1))
        return counts | ~counts.any(axis=0)

    def vote_shares(
        self, predictions: Predictions, weights: Floats | None = None, min_classes: int = 0
    ) -> Floats:
        """Return the share of the votes that each class gets, (n, C).

        In a tie, the class of the sphere that the vector lies deepest in gets slightly more.

        Parameters
        ----------
        predictions
            What the models say.
        weights
            Weight of each vote, (models, n); 1 if not given.
        min_classes
            Columns to return at least. Higher adds columns of 0.
        """
        weighed = np.where(
            self.counted_votes(predictions), 1.0 if weights is None else weights, 0.0
        )
        weighed = weighed + _TIE_BREAK / (1 + np.exp(-predictions.depth))
        highest = int(predictions.votes.max(initial=0))
        shares = np.zeros((predictions.votes.shape[1], max(min_classes, highest + 1)))
        rows = np.arange(len(shares))
        for votes, weight in zip(predictions.votes, weighed, strict=True):
            np.add.at(shares, (rows, votes), weight)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def error_rates(self, vectors: Floats, labels: Ints, *, credits_outside: bool) -> Floats:
        """Return the share of labelled vectors that each model gets wrong, (models,).

        Parameters
        ----------
        vectors, labels
            The labelled vectors, (n, d) and (n,).
        credits_outside
            Whether a model is also right when a vector of a class that it never learned lies
            outside its boundary.
        """
        predictions = self.predict(vectors)
        is_right = predictions.votes == labels
        if credits_outside:
            knows = np.array([np.isin(labels, list(model.known)) for model in self.models])
            is_right |= predictions.is_outside & ~knows
        return np.asarray(1 - is_right.mean(axis=1))
