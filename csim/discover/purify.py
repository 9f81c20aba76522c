"""Purification: candidates' vectors fall into groups, each thought to be of one class.

`Dbscan` is the paper's choice: it needs no number of groups and no round shapes. A point that DBSCAN calls
noise is a group of one. Its radius does not fit for long: as classes are added, the same candidates lie farther
apart, until every one of them is noise and is asked on its own. `AdaptiveDbscan`, the default, takes the radius
from the candidates themselves. `Singles` groups nothing. `halve` cuts one group in two, for a person who says that it
is mixed.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from sklearn.cluster import DBSCAN, AgglomerativeClustering
from sklearn.neighbors import NearestNeighbors

from csim.records import Floats, Ints

_NOISE = -1


class Clustering(Protocol):
    """A way to group vectors."""

    def group(self, vectors: Floats) -> list[Ints]:
        """Return the indices of each group, those of several members first."""
        ...


class Dbscan:
    """Density-based groups.

    Parameters
    ----------
    eps
        Two vectors nearer than this are neighbours, between 0 and 2. Raising it joins more into one group:
        fewer questions, more mixed groups.
    min_points
        A group grows through vectors with at least so many neighbours, itself included. Raising it leaves
        more groups of one.
    """

    def __init__(self, *, eps: float, min_points: int) -> None:
        self.eps = eps
        self.min_points = min_points

    def group(self, vectors: Floats) -> list[Ints]:
        """Return the indices of each group, those of several members first.

        >>> line = np.array([[0.0], [0.1], [0.2], [5.0]])
        >>> [group.tolist() for group in Dbscan(eps=0.15, min_points=2).group(line)]
        [[0, 1, 2], [3]]
        """
        return _dbscan(vectors, self.eps, self.min_points)


class Singles:
    """Every vector on its own: an answer then speaks of one image only.

    >>> [group.tolist() for group in Singles().group(np.zeros((2, 1)))]
    [[0], [1]]
    """

    def group(self, vectors: Floats) -> list[Ints]:
        """Return each index alone."""
        return [np.array([index]) for index in range(len(vectors))]


class AdaptiveDbscan:
    """Density-based groups whose radius follows the candidates.

    The radius is chosen so that a given share of the vectors have `min_points` neighbours within it.

    Parameters
    ----------
    core_share
        That share, between 0 and 1. Raising it joins more into one group: fewer questions, more mixed groups.
    min_points
        As for `Dbscan`.
    """

    def __init__(self, *, core_share: float, min_points: int) -> None:
        self.core_share = core_share
        self.min_points = min_points

    def group(self, vectors: Floats) -> list[Ints]:
        """Return the indices of each group, those of several members first.

        >>> line = np.array([[0.0], [0.1], [0.2], [5.0]])
        >>> [group.tolist() for group in AdaptiveDbscan(core_share=0.6, min_points=2).group(line)]
        [[0, 1, 2], [3]]
        """
        if len(vectors) < self.min_points:
            return Singles().group(vectors)
        reach = NearestNeighbors(n_neighbors=self.min_points).fit(vectors).kneighbors(vectors)[0][:, -1]
        return _dbscan(vectors, float(np.quantile(reach, self.core_share)), self.min_points)


def _dbscan(vectors: Floats, eps: float, min_points: int) -> list[Ints]:
    if not len(vectors):
        return []
    # Equal vectors have distance 0, but the radius must be positive.
    labels = DBSCAN(eps=max(eps, 1e-9), min_samples=min_points).fit_predict(vectors)
    groups = [np.flatnonzero(labels == label) for label in range(labels.max() + 1)]
    return groups + [np.array([index]) for index in np.flatnonzero(labels == _NOISE)]


def halve(vectors: Floats) -> list[Ints]:
    """Return the indices of two parts, cut so that each is as compact as can be (Ward's criterion).

    >>> [part.tolist() for part in halve(np.array([[0.0], [0.1], [0.9], [1.0]]))]
    [[0, 1], [2, 3]]
    """
    labels = AgglomerativeClustering(n_clusters=2).fit_predict(vectors)
    return sorted((np.flatnonzero(labels == part) for part in (0, 1)), key=lambda part: int(part[0]))
