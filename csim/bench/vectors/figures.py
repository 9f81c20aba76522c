"""Figures about vectors and scores: pure functions on arrays.

Known images are of classes that the network was trained on, new ones are not. Neighbours are the
five nearest vectors.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.metrics import pairwise_distances, roc_auc_score
from sklearn.neighbors import NearestNeighbors

from csim.records import Floats, Ints

NEIGHBOURS = 5


def accuracy(scores: Floats, truth: Ints) -> float:
    """Return the share of images whose true class has the best score (n, K), in percent.

    >>> accuracy(np.array([[0.9, 0.2], [0.3, 0.1]]), np.array([0, 1]))
    50.0
    """
    return 100 * float(np.mean(scores.argmax(1) == truth))


def auc(known: Floats, new: Floats) -> float:
    """Return the chance that a new image has a larger number than a known one.

    >>> auc(np.array([0.1, 0.2]), np.array([0.15, 0.9]))
    0.75
    """
    is_new = np.repeat([0, 1], [len(known), len(new)])
    return float(roc_auc_score(is_new, np.concatenate([known, new])))


def spread(vectors: Floats, columns: Ints) -> tuple[float, float]:
    """Return the mean distance between vectors of one class, and between vectors of two.

    >>> spread(np.array([[0.0], [1.0], [5.0], [6.0]]), np.array([0, 0, 1, 1]))
    (1.0, 5.0)
    """
    distances = pairwise_distances(vectors)
    is_same = columns[:, None] == columns
    is_self = np.eye(len(columns), dtype=bool)
    return float(distances[is_same & ~is_self].mean()), float(distances[~is_same].mean())


def remoteness(stored: Floats, vectors: Floats) -> Floats:
    """Return the distance from each vector to its fifth-nearest stored one, (n,)."""
    distances: Floats = (
        NearestNeighbors(n_neighbors=NEIGHBOURS).fit(stored).kneighbors(vectors)[0][:, -1]
    )
    return distances


def neighbour_accuracy(stored: Floats, columns: Ints, vectors: Floats, truth: Ints) -> float:
    """Return the share of vectors whose stored neighbours vote for their true class, in percent."""
    nearest = (
        NearestNeighbors(n_neighbors=NEIGHBOURS)
        .fit(stored)
        .kneighbors(vectors, return_distance=False)
    )
    return 100 * float(np.mean(_vote(columns[nearest]) == truth))


def leave_one_out_accuracy(vectors: Floats, columns: Ints) -> float:
    """Return the share of vectors whose neighbours vote for their true class, in percent.

    A higher share means purer groups of new images.
    """
    # Without an argument, kneighbors leaves each vector out of its own neighbours.
    nearest = (
        NearestNeighbors(n_neighbors=NEIGHBOURS).fit(vectors).kneighbors(return_distance=False)
    )
    return 100 * float(np.mean(_vote(columns[nearest]) == columns))


def _vote(columns: Ints) -> npt.NDArray[np.intp]:
    """Return the most frequent column of each row, the lowest if there are several, (n,)."""
    counts = np.stack(
        [(columns == column).sum(1) for column in range(int(columns.max()) + 1)], axis=1
    )
    most: npt.NDArray[np.intp] = counts.argmax(1)
    return most
