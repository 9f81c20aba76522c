"""The test for a novel class: outliers that are nearer to each other than to all that is known (q-NSC)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from csim.bench.baselines.summaries import Summaries
from csim.discover.novelty import squares
from csim.records import Bools, Floats, Ints

_FEWEST = 3  # members of a group


@dataclass(frozen=True)
class Groups:
    """Outliers, grouped.

    Parameters
    ----------
    members
        The places of each group's outliers.
    centres
        (g, d).
    spread
        The mean distance of a group's outliers from its centre, (g,).
    """

    members: list[Ints]
    centres: Floats
    spread: Floats


def group(outliers: Floats, many: int) -> Groups:
    """Cluster outliers into so many groups (k-means); groups of fewer than three are dropped."""
    labels = KMeans(min(many, len(outliers)), n_init=1, max_iter=20, random_state=0).fit_predict(
        outliers
    )
    members = [
        own for label in range(many) if len(own := np.flatnonzero(labels == label)) >= _FEWEST
    ]
    centres = np.array([outliers[own].mean(axis=0) for own in members]).reshape(
        len(members), outliers.shape[1]
    )
    spread = [
        np.sqrt(squares(outliers[own], centres[[place]])).mean()
        for place, own in enumerate(members)
    ]
    return Groups(members, centres, np.array(spread))


def cohesion(groups: Groups, model: Summaries, enough: int) -> Floats:
    """Return q-NSC of every group in the eyes of a model, (g,), from -1 to 1; above 0 it is cohesive and separate.

    The distance to a class is the mean over its `enough` nearest members, taken from the nearest summaries on and
    each standing for all in it; the distance to the group is its members' mean distance to its centre.

    >>> far = Groups([np.arange(3)], np.array([[9.0]]), np.array([1.0]))
    >>> known = Summaries(np.array([[0.0], [1.0]]), np.ones(2), np.array([[5], [5]]))
    >>> cohesion(far, known, enough=5).tolist(), cohesion(far, known, enough=10).tolist()
    ([0.875], [0.8823529411764706])
    """
    distances = np.sqrt(squares(groups.centres, model.centres.astype(float)))
    away = np.full(len(groups.members), np.inf)
    for own in model.known:
        places = np.flatnonzero(model.classes == own)
        order = np.argsort(distances[:, places], axis=1, kind="stable")
        sizes = model.sizes[places][order]
        before = np.cumsum(sizes, axis=1) - sizes
        weights = np.clip(enough - before, 0, sizes)
        near = np.take_along_axis(distances[:, places], order, axis=1)
        away = np.minimum(away, (weights * near).sum(axis=1) / weights.sum(axis=1))
    return np.asarray((away - groups.spread) / np.maximum(np.maximum(away, groups.spread), 1e-12))


def novel(groups: Groups, models: Sequence[Summaries], enough: int) -> Bools:
    """Return which groups are a novel class, (g,): those that all models find cohesive, if each finds enough in all."""
    sizes = np.array([len(own) for own in groups.members], np.int64)
    is_cohesive = np.array([cohesion(groups, model, enough) > 0 for model in models]).reshape(
        len(models), len(sizes)
    )
    is_enough = (is_cohesive * sizes).sum(axis=1) > enough
    return np.asarray(is_cohesive.all(axis=0) & is_enough.all())
