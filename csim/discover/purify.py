"""Purification: candidates' vectors fall into groups, each thought to be of one class (Algorithm 2 of the paper).

DBSCAN is the paper's choice: it needs no number of groups and no round shapes. A point that DBSCAN calls noise is a
group of one. `halve` cuts one group in two, for a person who says that it is mixed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.cluster import DBSCAN, AgglomerativeClustering

from csim.discover.choice import Choice, Found, Pick
from csim.discover.representative import Representative
from csim.discover.scene import Scene
from csim.records import Floats, Ints, Item

_NOISE = -1


class Purify(Choice):
    """Density-based groups of candidates, each a question.

    Parameters
    ----------
    eps
        Two vectors nearer than this are neighbours, between 0 and 2. Raising it joins more into one group:
        fewer questions, more mixed groups.
    min_points
        A group grows through vectors with at least so many neighbours, itself included. Raising it leaves
        more groups of one.
    representative
        Who stands for a group.
    """

    def __init__(self, *, eps: float, min_points: int, representative: Representative) -> None:
        self.eps = eps
        self.min_points = min_points
        self._representative = representative

    def choose(self, scene: Scene, most: int, pending: Sequence[Item]) -> Found:
        """Return at most `most` groups, the largest if not all."""
        parts = sorted(dbscan(scene.vectors, self.eps, self.min_points), key=len, reverse=True)[
            :most
        ]
        return Found(
            [
                Pick(part, int(part[self._representative.choose(scene.vectors[part])]))
                for part in parts
            ]
        )


def dbscan(vectors: Floats, eps: float, min_points: int) -> list[Ints]:
    """Return the places of each group, those of several members first.

    >>> line = np.array([[0.0], [0.1], [0.2], [5.0]])
    >>> [group.tolist() for group in dbscan(line, eps=0.15, min_points=2)]
    [[0, 1, 2], [3]]
    """
    labels = DBSCAN(eps=eps, min_samples=min_points).fit_predict(vectors)
    groups = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    return groups + [np.array([index]) for index in np.flatnonzero(labels == _NOISE)]


def halve(vectors: Floats) -> list[Ints]:
    """Return the indices of two parts, cut so that each is as compact as can be (Ward's criterion); one has one part.

    >>> [part.tolist() for part in halve(np.array([[0.0], [0.1], [0.9], [1.0]]))]
    [[0, 1], [2, 3]]
    """
    if len(vectors) < 2:
        return [np.arange(len(vectors))]
    labels = AgglomerativeClustering(n_clusters=2).fit_predict(vectors)
    return sorted(
        (np.flatnonzero(labels == part) for part in (0, 1)), key=lambda part: int(part[0])
    )
