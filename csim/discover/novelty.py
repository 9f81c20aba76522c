"""Novelty: a region is new if it is dense in recent images and empty of labelled ones.

The classifier's doubt is a poor detector while few classes are known, because training pulls new
images onto known classes. So csim compares images by their features, which training pulls far less.
It compares the distance of an image to its labelled neighbours with that to its recent neighbours.
"""

from __future__ import annotations

import numpy as np

from csim.records import Floats, Ints

_NEIGHBOUR_SHARE = 0.05  # of a class's images that count as neighbours
_MIN_NEIGHBOURS = 3  # among the recent images: fewer are chance
_MAX_NEIGHBOURS = 150
_EPSILON = 1e-6  # avoids division by zero
_BLOCK = 256  # recent images that are compared with all others at a time: they fit into a cache
_ROUNDING = 1.0001  # makes up for rounded distances


def novelty(
    recent: Floats,
    rows: Ints,
    labelled: Floats,
    guesses: Ints,
    columns: Ints,
    *,
    least: float = 0.0,
) -> Floats:
    """Return how likely recent images are of a class that nobody has labelled yet, 0 to 1, (r,).

    The distance to the k-th labelled neighbour is compared with that to the k'-th recent one. The
    novelty is 0 if it is no farther, about a half if it is 1.5 times as far, and three quarters if
    it is twice as far. Both k are the same share of the images of the guessed class. So a known
    class that merely becomes more frequent is not new.

    Parameters
    ----------
    recent
        Features, (n, f).
    rows
        The indices of the recent images to judge, (r,). Fewer take less time.
    labelled
        Features of labelled images, (m, f).
    guesses
        The column of the class that the model gives each recent image, (n,).
    columns
        The column of each labelled image's class, (m,), -1 if the model does not know it yet.
    least
        A lower novelty counts as 0. Higher takes less time, because most images are far below.

    Examples
    --------
    Five recent images lie among the labelled ones, five far away and close together.

    >>> labelled = np.linspace(0, 1, 20)[:, None]
    >>> recent = np.concatenate([np.linspace(0, 1, 5), 9 + np.linspace(0, 0.1, 5)])[:, None]
    >>> rows = np.array([0, 1, 4, 5, 9])
    >>> novelty(recent, rows, labelled, np.zeros(10, int), np.zeros(20, int)).round().tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0]
    """
    new = np.zeros(len(rows))
    if len(recent) <= _MIN_NEIGHBOURS or not len(columns) or not len(rows):
        return new
    k_recent, k_labelled = _neighbours(guesses, columns)  # by class
    bounds = _bounds(recent[rows], labelled, guesses[rows], columns, k_labelled)
    k_recent = k_recent[guesses[rows]]
    k_labelled = k_labelled[guesses[rows]]
    all_recent, all_labelled = Targets(recent), Targets(labelled)
    for first in range(0, len(rows), _BLOCK):  # bounds memory
        block = np.arange(first, min(first + _BLOCK, len(rows)))
        to_recent = all_recent.squares_from(recent[rows[block]])
        # Counting is several times as fast as sorting: sort only where enough images are near.
        near = _has_enough(to_recent, bounds[block], k_recent[block], least)
        left, to_recent = block[near], to_recent[near]
        if not len(left):
            continue
        radius = _kth(all_labelled.squares_from(recent[rows[left]]), k_labelled[left])
        near = _has_enough(to_recent, radius, k_recent[left], least)
        left, to_recent, radius = left[near], to_recent[near], radius[near]
        ratio = (np.sqrt(_kth(to_recent, k_recent[left])) + _EPSILON) / (np.sqrt(radius) + _EPSILON)
        new[left] = np.maximum(0, 1 - ratio**2)
    new[new < least] = 0
    return new


def _has_enough(to_recent: Floats, radius: Floats, k_recent: Ints, least: float) -> Ints:
    """Return the indices of the images whose novelty may reach `least`.

    They have k recent images, (n,), near enough: within a part of the squared distance to the k-th
    labelled neighbour, (n,), or of what that does not exceed.
    """
    near = to_recent <= ((1 - least) * _ROUNDING * radius)[:, None]
    return np.flatnonzero(near.sum(axis=1, dtype=np.int32) >= k_recent)


def _neighbours(guesses: Ints, columns: Ints) -> tuple[Ints, Ints]:
    """Return how many recent and how many labelled neighbours count, by class."""
    classes = int(max(guesses.max(), columns.max())) + 1
    in_recent = np.maximum(1, np.bincount(guesses, minlength=classes))
    in_labelled = np.bincount(columns[columns >= 0], minlength=classes)
    k_recent = np.maximum(_MIN_NEIGHBOURS, np.round(_NEIGHBOUR_SHARE * in_recent))
    k_labelled = np.maximum(1, np.round(k_recent * in_labelled / in_recent))
    return (
        _at_most(k_recent + 1, len(guesses)),  # the first is the image itself
        _at_most(k_labelled, len(columns)),
    )


def _bounds(
    points: Floats, labelled: Floats, guesses: Ints, columns: Ints, k_labelled: Ints
) -> Floats:
    """Return a distance that the k-th labelled neighbour does not exceed, squared, (n,).

    It is that to the k-th labelled neighbour of the guessed class, which is often the same one. The
    other classes need no distances then. It is infinite if the class has too few labelled images.
    """
    bounds = np.full(len(points), np.inf, points.dtype)  # as the distances: a mix is slow
    for column in np.unique(guesses).tolist():
        indices = np.flatnonzero(guesses == column)
        same_class = labelled[columns == column]
        k = int(k_labelled[column])
        if k <= len(same_class):
            distances = squares(points[indices], same_class)
            bounds[indices] = np.partition(distances, k - 1, axis=1)[:, k - 1]
    return bounds


def squares(left: Floats, right: Floats) -> Floats:
    """Return the squared distance of every pair, (n, m)."""
    distances = Targets(right).squares_from(left)
    return np.maximum(distances, 0, out=distances)


class Targets:
    """Hold points, (m, f), that others are compared with, so that they are prepared once."""

    def __init__(self, points: Floats) -> None:
        # |a - b|² = |a|² - 2ab + |b|² as one product: adding the lengths later would take longer.
        lengths = _lengths(points)
        self._sides = np.vstack([-2 * points.T, np.ones_like(lengths), lengths])  # (f + 2, m)

    def squares_from(self, points: Floats) -> Floats:
        """Return the squared distance of each of some points to each of these, (n, m).

        Rounding may make that of equal points a little less than 0.
        """
        lengths = _lengths(points)
        left = np.column_stack([points, lengths, np.ones_like(lengths)])
        distances: Floats = left @ self._sides
        return distances


def _lengths(points: Floats) -> Floats:
    """Return the squared length of each point, (n,)."""
    lengths: Floats = np.einsum("nf,nf->n", points, points)
    return lengths


def _at_most(k: Floats, count: int) -> Ints:
    """Return how many neighbours to count, as far as there are so many."""
    most: Ints = np.minimum(k.astype(int), min(_MAX_NEIGHBOURS, count))
    return most


def _kth(values: Floats, k: Ints) -> Floats:
    """Return the k-th smallest value of each row, (n,)."""
    most = int(k.max(initial=1))
    near = np.sort(np.partition(values, most - 1, axis=1)[:, :most], axis=1)
    return np.maximum(near[np.arange(len(near)), k - 1], 0)
