"""Nearness: which images are nearer to another class than to their own. Pure functions on arrays.

The distance of an image from a class is read in two ways: the mean of its distances to the class's
images, and the distance to the nearest of them. The image itself never counts. Distances are
Euclidean.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from csim.errors import InputError
from csim.records import Bools, Floats, Ints

_CHUNK = 500  # images whose distances to all others are in memory at a time


@dataclass(frozen=True)
class Distances:
    """Hold the distance of each image from each class, (n, K): mean, and to the nearest image."""

    mean: Floats
    nearest: Floats


def distances_to_classes(vectors: Floats, columns: Ints) -> Distances:
    """Return the distances of each image from the other images of each class.

    Parameters
    ----------
    vectors
        The images, (n, d).
    columns
        The class of each, (n,), from 0 up; every class must have two images or more.

    Examples
    --------
    >>> found = distances_to_classes(np.array([[0.0], [2.0], [3.0], [9.0]]), np.array([0, 0, 1, 1]))
    >>> found.mean
    array([[2., 6.], [2., 4.], [2., 6.], [8., 6.]])
    >>> found.nearest
    array([[2., 3.], [2., 1.], [1., 6.], [7., 6.]])
    """
    sizes = np.bincount(columns)
    if len(sizes) < 2 or sizes.min() < 2:
        raise InputError(
            "there must be at least 2 classes with at least 2 images each; the sizes are "
            f"{sizes.tolist()}"
        )
    parts = [_rows(vectors, columns, start) for start in range(0, len(vectors), _CHUNK)]
    return Distances(
        np.concatenate([part.mean for part in parts]),
        np.concatenate([part.nearest for part in parts]),
    )


def _rows(vectors: Floats, columns: Ints, start: int) -> Distances:
    """Return the distances of the images from `start` on, a chunk of them."""
    indices = np.arange(start, min(start + _CHUNK, len(vectors)))
    lines = np.arange(len(indices))
    apart = euclidean_distances(vectors[indices], vectors).astype(float)  # (c, n)
    apart[lines, indices] = 0.0  # rounding leaves a little of an image's distance to itself
    is_class = np.eye(int(columns.max()) + 1)[columns]  # (n, K)
    counts = np.tile(is_class.sum(0), (len(indices), 1))
    counts[lines, columns[indices]] -= 1
    mean = apart @ is_class / counts
    apart[lines, indices] = np.inf
    nearest = np.stack([apart[:, members].min(1) for members in is_class.T.astype(bool)], axis=1)
    return Distances(mean, nearest)


def strays(distances: Floats, columns: Ints) -> Bools:
    """Tell which images are nearer to any other class than to their own, (n,).

    >>> strays(np.array([[2.0, 6.0], [2.0, 1.0]]), np.array([0, 0]))
    array([False,  True])
    """
    lines = np.arange(len(columns))
    others = distances.copy()
    others[lines, columns] = np.inf
    found: Bools = others.min(1) < distances[lines, columns]
    return found


def nearer_to(distances: Floats, actual: int, other: int) -> Bools:
    """Tell which images are nearer to one other class than to their own, (n,).

    >>> nearer_to(np.array([[2.0, 1.0, 6.0], [2.0, 3.0, 1.0]]), actual=0, other=1)
    array([ True, False])
    """
    found: Bools = distances[:, other] < distances[:, actual]
    return found
