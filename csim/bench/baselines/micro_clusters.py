"""Micro-clusters: spheres that summarise a labelled chunk.

A model of ECSMiner or ECHO-D stores nothing else about its chunk. The publications call these
spheres pseudopoints.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from csim.discover.novelty import squares
from csim.records import ClassId, Floats, Ints

_MIN_MEMBERS = 3  # a smaller cluster is taken for chance


@dataclass(frozen=True)
class MicroClusters:
    """Hold one model: the micro-clusters of a chunk.

    Parameters
    ----------
    centres
        The mean of each cluster's members, (k, d).
    radii
        The distance from each centre to its farthest member, (k,).
    counts
        The number of members by class id, (k, C).
    """

    centres: Floats
    radii: Floats
    counts: Ints

    @cached_property
    def sizes(self) -> Ints:
        """Return the number of members of each cluster, (k,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def classes(self) -> Ints:
        """Return the majority class of each cluster, (k,)."""
        return np.asarray(self.counts.argmax(axis=1))

    @cached_property
    def purity(self) -> Floats:
        """Return the share of members that belong to the majority class, (k,)."""
        return np.asarray(self.counts.max(axis=1) / self.sizes)

    @cached_property
    def known(self) -> frozenset[ClassId]:
        """Return the classes that this model can output."""
        return frozenset(self.classes.tolist())

    def distances(self, vectors: Floats) -> Floats:
        """Return the distance from every vector to every centre, (n, k)."""
        return np.sqrt(squares(vectors, self.centres))


def build_micro_clusters(vectors: Floats, labels: Ints, groups: Ints) -> MicroClusters:
    """Return the micro-clusters of labelled vectors, given the group of each vector.

    Groups of fewer than three vectors are dropped, unless all groups are that small.

    >>> line = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> found = build_micro_clusters(line, np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    >>> found.centres.tolist(), found.radii.tolist(), found.counts.tolist()
    ([[1.0]], [1.0], [[2, 1]])
    """
    parts = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    kept = [members for members in parts if len(members) >= _MIN_MEMBERS] or parts
    centres = np.array([vectors[members].mean(axis=0) for members in kept]).reshape(
        len(kept), vectors.shape[1]
    )
    radii = [
        np.sqrt(squares(vectors[members], centres[[index]]).max())
        for index, members in enumerate(kept)
    ]
    counts = [np.bincount(labels[members], minlength=labels.max() + 1) for members in kept]
    return MicroClusters(
        centres.astype(np.float32), np.array(radii, np.float32), np.array(counts, np.int64)
    )


def clusters_per_class(labels: Ints, total: int) -> dict[ClassId, int]:
    """Return how many clusters each class gets: at least one, in proportion to its images.

    >>> clusters_per_class(np.array([0] * 90 + [1] * 9 + [2]), total=20)
    {0: 18, 1: 2, 2: 1}
    """
    classes, counts = np.unique(labels, return_counts=True)
    return {
        int(class_id): min(int(count), max(1, round(total * count / len(labels))))
        for class_id, count in zip(classes, counts, strict=True)
    }


def farthest_first(vectors: Floats, count: int, rng: np.random.Generator) -> Ints:
    """Return the indices of `count` vectors by farthest-first traversal from a random one.

    Each chosen vector is the one farthest from those chosen before. There are fewer indices if
    fewer than `count` vectors differ.
    """
    chosen = [int(rng.integers(len(vectors)))]
    nearest = _squared_distances(vectors[chosen[0]], vectors)
    while len(chosen) < count and nearest.max() > 0:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, _squared_distances(vectors[chosen[-1]], vectors))
    return np.array(chosen)


def _squared_distances(vector: Floats, vectors: Floats) -> Floats:
    """Return squared distances that are exactly 0 for equal vectors, which `squares` rounds."""
    return np.asarray(np.square(vectors - vector).sum(axis=1))


def cluster_within_classes(
    vectors: Floats, labels: Ints, total: int, rng: np.random.Generator
) -> Ints:
    """Return a group for each vector: k-means inside every class, from farthest-first seeds.

    Parameters
    ----------
    vectors, labels
        The chunk, (n, d) and (n,).
    total
        Groups over all classes. Higher follows the shapes of the classes more closely and makes
        the spheres smaller.
    rng
        Draws the first seed of each class.
    """
    groups = np.zeros(len(labels), np.int64)
    first = 0
    for class_id, count in clusters_per_class(labels, total).items():
        members = np.flatnonzero(labels == class_id)
        seeds = vectors[members][farthest_first(vectors[members], count, rng)]
        from sklearn.cluster import KMeans  # noqa: PLC0415

        means = KMeans(len(seeds), init=seeds, n_init=1, max_iter=20)
        groups[members] = first + means.fit_predict(vectors[members])
        first += count
    return groups
