"""Purification: cluster candidates into groups of one class each (the paper's Algorithm 2).

DBSCAN is the paper's choice: it needs no number of groups, and groups may have any shape. A point
that DBSCAN calls noise is a group of one. `halve` cuts a group in two when a person says that it is
mixed.

scikit-learn is imported when it is first used: it takes a third of the time that a stream needs to
start, and most streams never cluster.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from csim.discover.choice import Choice, Found, Pick, take_new
from csim.discover.representative import Representative
from csim.discover.scene import Scene
from csim.records import Floats, Ints, Item

_NOISE_LABEL = -1  # of DBSCAN


class Purify(Choice):
    """Ask about density-based groups of candidates.

    Parameters
    ----------
    eps
        Distance below which two vectors are neighbours, between 0 and 2. Higher joins more vectors
        into one group: fewer questions, but more mixed groups.
    min_points
        Neighbours, itself included, that a vector needs to extend a group. Higher leaves more
        groups of one.
    representative
        Chooses the image to show for a group.
    """

    def __init__(self, *, eps: float, min_points: int, representative: Representative) -> None:
        self.eps = eps
        self.min_points = min_points
        self._representative = representative

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return at most `most` groups, the largest first."""
        groups = sorted(dbscan(scene.vectors, self.eps, self.min_points), key=len, reverse=True)
        candidates = (
            Pick(group, int(group[self._representative.choose(scene.vectors[group])]))
            for group in groups
        )
        return take_new(scene, candidates, most)


def dbscan(vectors: Floats, eps: float, min_points: int) -> list[Ints]:
    """Return the indices of each group, groups of several members first.

    >>> line = np.array([[0.0], [0.1], [0.2], [5.0]])
    >>> [group.tolist() for group in dbscan(line, eps=0.15, min_points=2)]
    [[0, 1, 2], [3]]
    """
    from sklearn.cluster import DBSCAN  # noqa: PLC0415

    labels = DBSCAN(eps=eps, min_samples=min_points).fit_predict(vectors)
    groups = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    return groups + [np.array([index]) for index in np.flatnonzero(labels == _NOISE_LABEL)]


def halve(vectors: Floats) -> list[Ints]:
    """Return the indices of the two most compact parts, by Ward's criterion.

    A single vector is one part.

    >>> [part.tolist() for part in halve(np.array([[0.0], [0.1], [0.9], [1.0]]))]
    [[0, 1], [2, 3]]
    """
    if len(vectors) < 2:
        return [np.arange(len(vectors))]
    from sklearn.cluster import AgglomerativeClustering  # noqa: PLC0415

    labels = AgglomerativeClustering(n_clusters=2).fit_predict(vectors)
    return sorted(
        (np.flatnonzero(labels == part) for part in (0, 1)), key=lambda part: int(part[0])
    )
