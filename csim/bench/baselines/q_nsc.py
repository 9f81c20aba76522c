"""The novel class test of ECSMiner: the q-neighbourhood silhouette coefficient (q-NSC).

Outliers form a novel class if they lie nearer to each other than to every known class
(Masud et al., TKDE 2011). csim computes q-NSC per group of outliers, from micro-clusters, instead
of per outlier.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from csim.bench.baselines.micro_clusters import MicroClusters
from csim.discover.novelty import squares
from csim.records import Bools, Floats, Ints

_MIN_MEMBERS = 3  # a smaller group is taken for chance


@dataclass(frozen=True)
class OutlierGroups:
    """Hold groups of outliers.

    Parameters
    ----------
    members
        The indices of each group's outliers.
    centres
        The mean of each group, (g, d).
    spread
        The mean distance of a group's outliers from its centre, (g,).
    """

    members: list[Ints]
    centres: Floats
    spread: Floats


def group_outliers(outliers: Floats, count: int) -> OutlierGroups:
    """Cluster outliers into `count` groups with k-means. Drop groups of fewer than three."""
    from sklearn.cluster import KMeans  # noqa: PLC0415

    means = KMeans(min(count, len(outliers)), n_init=1, max_iter=20, random_state=0)
    labels = means.fit_predict(outliers)
    groups = [np.flatnonzero(labels == label) for label in range(count)]
    members = [group for group in groups if len(group) >= _MIN_MEMBERS]
    centres = np.array([outliers[group].mean(axis=0) for group in members]).reshape(
        len(members), outliers.shape[1]
    )
    spread = [
        np.sqrt(squares(outliers[group], centres[[index]])).mean()
        for index, group in enumerate(members)
    ]
    return OutlierGroups(members, centres, np.array(spread))


def q_nsc(groups: OutlierGroups, model: MicroClusters, q: int) -> Floats:
    """Return the q-NSC of every group under a model, (g,), from -1 to 1.

    q-NSC = (b - a) / max(a, b). `a` is the mean distance of a group's outliers from its centre.
    `b` is the mean distance to the q nearest members of the nearest class. Each micro-cluster
    counts as all of its members at its centre. Above 0 a group is cohesive and separate.

    >>> far = OutlierGroups([np.arange(3)], np.array([[9.0]]), np.array([1.0]))
    >>> known = MicroClusters(np.array([[0.0], [1.0]]), np.ones(2), np.array([[5], [5]]))
    >>> q_nsc(far, known, q=5).tolist(), q_nsc(far, known, q=10).tolist()
    ([0.875], [0.8823529411764706])
    """
    distances = np.sqrt(squares(groups.centres, model.centres.astype(float)))
    away = np.full(len(groups.members), np.inf)
    for class_id in model.known:
        clusters = np.flatnonzero(model.classes == class_id)
        order = np.argsort(distances[:, clusters], axis=1, kind="stable")
        sizes = model.sizes[clusters][order]
        before = np.cumsum(sizes, axis=1) - sizes
        weights = np.clip(q - before, 0, sizes)
        near = np.take_along_axis(distances[:, clusters], order, axis=1)
        away = np.minimum(away, (weights * near).sum(axis=1) / weights.sum(axis=1))
    return np.asarray((away - groups.spread) / np.maximum(np.maximum(away, groups.spread), 1e-12))


def find_novel_groups(groups: OutlierGroups, models: Sequence[MicroClusters], q: int) -> Bools:
    """Return which groups are a novel class, (g,).

    A group must be cohesive under all models. Under each model the cohesive groups together must
    hold more than q outliers.
    """
    sizes = np.array([len(group) for group in groups.members], np.int64)
    is_cohesive = np.array([q_nsc(groups, model, q) > 0 for model in models]).reshape(
        len(models), len(sizes)
    )
    is_enough = (is_cohesive * sizes).sum(axis=1) > q
    return np.asarray(is_cohesive.all(axis=0) & is_enough.all())
