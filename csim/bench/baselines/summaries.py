"""Summaries: a labelled chunk as a few spheres, which are all that a model of ECSMiner or ECHO-D remembers of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from sklearn.cluster import KMeans

from csim.discover.novelty import squares
from csim.records import ClassId, Floats, Ints

_FEWEST = 3  # members of a summary: fewer are chance


@dataclass(frozen=True)
class Summaries:
    """One model: spheres with what was in them.

    Parameters
    ----------
    centres
        (k, d).
    radii
        The distance of the farthest member, (k,).
    counts
        Members by class id, (k, C).
    """

    centres: Floats
    radii: Floats
    counts: Ints

    @cached_property
    def sizes(self) -> Ints:
        """Members, (k,)."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def classes(self) -> Ints:
        """The class of most members, (k,)."""
        return np.asarray(self.counts.argmax(axis=1))

    @cached_property
    def purity(self) -> Floats:
        """The share of members that are of that class, (k,)."""
        return np.asarray(self.counts.max(axis=1) / self.sizes)

    @cached_property
    def known(self) -> frozenset[ClassId]:
        """The classes that this model can give."""
        return frozenset(self.classes.tolist())

    def distances(self, vectors: Floats) -> Floats:
        """Return how far vectors are from every centre, (n, k)."""
        return np.sqrt(squares(vectors, self.centres))


def summarise(vectors: Floats, labels: Ints, groups: Ints) -> Summaries:
    """Return the summaries of labelled vectors, given each one's group.

    Groups of fewer than three are dropped, unless all are so small.

    >>> line = np.array([[0.0], [1.0], [2.0], [9.0]])
    >>> some = summarise(line, np.array([0, 0, 1, 1]), np.array([0, 0, 0, 1]))
    >>> some.centres.tolist(), some.radii.tolist(), some.counts.tolist()
    ([[1.0]], [1.0], [[2, 1]])
    """
    parts = [np.flatnonzero(groups == own) for own in np.unique(groups)]
    kept = [members for members in parts if len(members) >= _FEWEST] or parts
    centres = np.array([vectors[members].mean(axis=0) for members in kept]).reshape(
        len(kept), vectors.shape[1]
    )
    radii = [np.sqrt(squares(vectors[m], centres[[place]]).max()) for place, m in enumerate(kept)]
    counts = [np.bincount(labels[members], minlength=labels.max() + 1) for members in kept]
    return Summaries(
        centres.astype(np.float32), np.array(radii, np.float32), np.array(counts, np.int64)
    )


def shares(labels: Ints, most: int) -> dict[ClassId, int]:
    """Return how many summaries each class gets, in proportion to its images and at least one.

    >>> shares(np.array([0] * 90 + [1] * 9 + [2]), most=20)
    {0: 18, 1: 2, 2: 1}
    """
    classes, counts = np.unique(labels, return_counts=True)
    return {
        int(own): min(int(count), max(1, round(most * count / len(labels))))
        for own, count in zip(classes, counts, strict=True)
    }


def far_apart(vectors: Floats, many: int, rng: np.random.Generator) -> Ints:
    """Return the places of so many vectors, each as far as can be from those before it; the first is drawn.

    There are fewer if not so many differ.
    """
    chosen = [int(rng.integers(len(vectors)))]
    nearest = _from(vectors[chosen[0]], vectors)
    while len(chosen) < many and nearest.max() > 0:
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, _from(vectors[chosen[-1]], vectors))
    return np.array(chosen)


def _from(one: Floats, vectors: Floats) -> Floats:
    """Return squared distances, 0 for what is the same: `squares` rounds."""
    return np.asarray(np.square(vectors - one).sum(axis=1))


def pure_groups(vectors: Floats, labels: Ints, most: int, rng: np.random.Generator) -> Ints:
    """Return a group for each vector: k-means inside every class, from seeds that are far apart.

    Parameters
    ----------
    vectors, labels
        The chunk.
    most
        Groups in all. Raising it follows the classes' shapes more closely, and makes the spheres smaller.
    rng
        Draws the first seeds.
    """
    groups, first = np.zeros(len(labels), np.int64), 0
    for own, many in shares(labels, most).items():
        members = np.flatnonzero(labels == own)
        seeds = vectors[members][far_apart(vectors[members], many, rng)]
        means = KMeans(len(seeds), init=seeds, n_init=1, max_iter=20)
        groups[members] = first + means.fit_predict(vectors[members])
        first += many
    return groups
