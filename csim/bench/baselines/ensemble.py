"""An ensemble of summaries: each model votes with its nearest sphere, and tells what lies outside its boundary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from csim.bench.baselines.summaries import Summaries
from csim.records import Bools, ClassId, Floats, Ints

Boundary = Literal["nearest", "union"]


@dataclass(frozen=True)
class Look:
    """What every model makes of vectors; all are (models, n).

    Parameters
    ----------
    nearest
        The place of the nearest sphere.
    votes
        Its class.
    inside
        How far inside that sphere the vector lies; below 0 it is outside.
    is_outside
        Whether the vector is outside the model's boundary.
    """

    nearest: Ints
    votes: Ints
    inside: Floats
    is_outside: Bools


class Ensemble:
    """The models, the oldest first.

    Parameters
    ----------
    models
        To begin with.
    most
        How many may be kept. Raising it remembers longer and adapts more slowly.
    boundary
        What lies outside of a model: outside its nearest sphere (`nearest`), or outside all of them (`union`).
    slack
        How far outside of the closest model a vector must be to be an outlier. Raising it finds fewer outliers.
    """

    def __init__(
        self, models: Sequence[Summaries], *, most: int, boundary: Boundary, slack: float = 0.0
    ) -> None:
        self.models = list(models)
        self.most = most
        self._boundary = boundary
        self._slack = slack

    @property
    def known(self) -> frozenset[ClassId]:
        """The classes that some model can give."""
        return frozenset().union(*(model.known for model in self.models))

    def look(self, vectors: Floats) -> Look:
        """Return what every model makes of vectors, (n, d)."""
        seen = [self._look(model, vectors) for model in self.models]
        return Look(*(np.stack(part) for part in zip(*seen, strict=True)))

    def _look(self, model: Summaries, vectors: Floats) -> tuple[Ints, Ints, Floats, Bools]:
        inside = model.radii - (distances := model.distances(vectors))
        nearest = distances.argmin(axis=1)
        own = np.take_along_axis(inside, nearest[:, None], axis=1)[:, 0]
        is_outside = own < 0 if self._boundary == "nearest" else inside.max(axis=1) < 0
        return nearest, model.classes[nearest], own, is_outside

    def outliers(self, look: Look) -> Bools:
        """Return which vectors are outside of all models, (n,)."""
        is_far: Bools = (
            -look.inside.max(axis=0) > self._slack
            if self._slack
            else np.ones(look.votes.shape[1], bool)
        )
        return look.is_outside.all(axis=0) & is_far

    def counted(self, look: Look) -> Bools:
        """Return which votes count, (models, n).

        A model that sees a vector outside is not heard if another names a class that it was never taught; if nobody
        would be heard, all are.
        """
        classes = max((int(model.counts.shape[1]) for model in self.models), default=1)
        knows = np.zeros((len(self.models), max(classes, int(look.votes.max(initial=0)) + 1)), bool)
        for place, model in enumerate(self.models):
            knows[place, list(model.known)] = True
        is_foreign = ~knows[
            :, look.votes
        ]  # (models, voters, n): what the model hears from each voter
        counts = ~(look.is_outside & is_foreign.any(axis=1))
        return counts | ~counts.any(axis=0)

    def tally(self, look: Look, weights: Floats | None = None, classes: int = 0) -> Floats:
        """Return what each class gets, (n, C), as a share; of equals the one with the innermost sphere is ahead.

        Parameters
        ----------
        look
            What the models saw.
        weights
            What each vote weighs, (models, n); one if not given.
        classes
            Columns at least.
        """
        weighed = np.where(self.counted(look), 1.0 if weights is None else weights, 0.0)
        weighed = weighed + 1e-6 / (1 + np.exp(-look.inside))
        shares = np.zeros((look.votes.shape[1], max(classes, int(look.votes.max(initial=0)) + 1)))
        rows = np.arange(len(shares))
        for votes, weight in zip(look.votes, weighed, strict=True):
            np.add.at(shares, (rows, votes), weight)
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def errors(self, vectors: Floats, labels: Ints, *, credits_outside: bool) -> Floats:
        """Return the share of labelled vectors that each model gets wrong, (models,).

        Parameters
        ----------
        vectors, labels
            (n, d) and (n,).
        credits_outside
            Whether it is right to see outside what it was never taught.
        """
        look = self.look(vectors)
        is_right = look.votes == labels
        if credits_outside:
            knows = np.array([np.isin(labels, list(model.known)) for model in self.models])
            is_right |= look.is_outside & ~knows
        return np.asarray(1 - is_right.mean(axis=1))
