"""Novelty: a region is new if it is dense in recent images and empty of labelled ones.

The classifier's doubt is a poor detector while few classes are known, because training pulls new
images onto known classes. So csim compares images by their features, which training pulls far less.
It compares the distance of an image to its labelled neighbours with that to its recent neighbours.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import eigsh

from csim.records import Bools, Floats, Ints

_MAX_COMPONENTS = 40  # of the features: more add noise and take time
_MAX_EXACT = 600  # features: of more, all eigenvectors would take seconds, and few are needed
_PCA_SAMPLE_SIZE = 2000  # images to find the components from
_NEIGHBOUR_SHARE = 0.05  # of a class's images that count as neighbours
_MIN_NEIGHBOURS = 3  # among the recent images: fewer are chance
_MAX_NEIGHBOURS = 150
_MIN_LENGTH = 1e-6  # below, do not rescale: a single labelled image is its own mean
_EPSILON = 1e-6  # avoids division by zero
_SAMPLE_SPACING = 8  # labelled images between two that a first radius comes from
_SAMPLE_MARGIN = 1.2  # enlarges that radius, so that it holds enough labelled images
_BLOCK = 2048  # recent images that are compared with all others at a time
_ROUNDING = 1.0001  # makes up for rounded distances


def novelty(
    recent: Floats, to_labelled: Floats, guesses: Ints, columns: Ints, *, least: float = 0.0
) -> Floats:
    """Return how likely each recent image is of a class that nobody has labelled yet, 0 to 1, (n,).

    The distance to the k-th labelled neighbour is compared with that to the k'-th recent one. The
    novelty is 0 if it is no farther, about a half if it is 1.5 times as far, and three quarters if
    it is twice as far. Both k are the same share of the images of the guessed class. So a known
    class that merely becomes more frequent is not new.

    Parameters
    ----------
    recent
        Features, (n, f).
    to_labelled
        Squared distances to the features of labelled images, (n, m).
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
    >>> distances = squares(recent, labelled)
    >>> novelty(recent, distances, np.zeros(10, int), np.zeros(20, int)).round().tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    new = np.zeros(len(recent))
    if len(recent) <= _MIN_NEIGHBOURS or not len(columns):
        return new
    classes = int(max(guesses.max(), columns.max())) + 1
    in_recent = np.bincount(guesses, minlength=classes)[guesses]
    in_labelled = np.bincount(columns[columns >= 0], minlength=classes)[guesses]
    k_recent = np.maximum(_MIN_NEIGHBOURS, np.round(_NEIGHBOUR_SHARE * in_recent))
    k_labelled = _at_most(np.maximum(1, np.round(k_recent * in_labelled / in_recent)), to_labelled)
    k_recent = _at_most(k_recent + 1, recent.T)  # the first is the image itself
    for first in range(0, len(recent), _BLOCK):  # bounds memory
        block = slice(first, first + _BLOCK)
        new[block] = _novelty(
            squares(recent[block], recent),
            k_recent[block],
            to_labelled[block],
            k_labelled[block],
            least,
        )
    return new


def _novelty(
    to_recent: Floats, k_recent: Ints, to_labelled: Floats, k_labelled: Ints, least: float
) -> Floats:
    """Return the novelty of images, (n,), from squared distances, (n, r) and (n, m)."""
    new = np.zeros(len(to_recent))
    rows = np.flatnonzero(~_is_below(least, to_recent, k_recent, to_labelled, k_labelled))
    ratio = (_kth_distance(to_recent[rows], k_recent[rows]) + _EPSILON) / (
        _kth_distance(to_labelled[rows], k_labelled[rows]) + _EPSILON
    )
    new[rows] = np.maximum(0, 1 - ratio**2)
    new[new < least] = 0
    return new


def principal_components(recent: Floats, labelled: Floats) -> tuple[Floats, Floats]:
    """Return both projected to their common principal components.

    They are scaled so that the labelled ones have a root mean square length of 1.
    """
    centre = labelled.mean(axis=0) if len(labelled) else recent.mean(axis=0)
    both = np.concatenate([recent, labelled]) - centre
    sample = both[:: max(1, len(both) // _PCA_SAMPLE_SIZE)]
    axes = _main_axes(sample.T @ sample)
    projected = both @ axes
    length = 0.0
    if len(labelled):
        length = float(np.sqrt((projected[len(recent) :] ** 2).sum(axis=1).mean()))
    projected /= length if length > _MIN_LENGTH else 1.0
    return projected[: len(recent)], projected[len(recent) :]


def _main_axes(products: Floats) -> Floats:
    """Return the eigenvectors of the largest eigenvalues, (f, 40), of a matrix (f, f)."""
    if len(products) <= _MAX_EXACT:
        axes: Floats = np.linalg.eigh(products)[1][:, -_MAX_COMPONENTS:]
        return axes
    start = np.ones(len(products), products.dtype)  # not drawn: the same axes every time
    axes = eigsh(products, k=_MAX_COMPONENTS, v0=start)[1]
    return axes


def squares(left: Floats, right: Floats) -> Floats:
    """Return the squared distance of every pair, (n, m)."""
    distances: Floats = left @ (-2 * right.T)
    distances += (left * left).sum(axis=1)[:, None]
    distances += (right * right).sum(axis=1)
    return np.maximum(distances, 0, out=distances)


def _at_most(k: Floats, squared: Floats) -> Ints:
    """Return how many neighbours to count, (n,), as far as there are so many, (n, m)."""
    most: Ints = np.minimum(k.astype(int), min(_MAX_NEIGHBOURS, squared.shape[1]))
    return most


def _is_below(
    least: float, to_recent: Floats, k_recent: Ints, to_labelled: Floats, k_labelled: Ints
) -> Bools:
    """Tell which images have a novelty below `least` for certain, (n,).

    Counting is several times as fast as sorting. An image has a low novelty if some radius holds
    enough labelled images, and one hardly smaller too few recent ones. The k-th distance among
    every eighth labelled image, a little enlarged, is such a radius for most known images.
    """
    few = to_labelled[:, ::_SAMPLE_SPACING]
    k = np.minimum(np.ceil(_SAMPLE_MARGIN * k_labelled / _SAMPLE_SPACING) + 1, few.shape[1])
    radius = _kth(few.copy(), k.astype(int))
    smaller = (1 - least) * _ROUNDING * radius
    has_labelled = np.count_nonzero(to_labelled <= radius[:, None], axis=1) >= k_labelled
    lacks_recent = np.count_nonzero(to_recent < smaller[:, None], axis=1) < k_recent
    is_below: Bools = has_labelled & lacks_recent
    return is_below


def _kth_distance(squared: Floats, k: Ints) -> Floats:
    """Return for each row of squared distances, (n, m), the k-th smallest distance, (n,)."""
    distances: Floats = np.sqrt(_kth(squared, k))
    return distances


def _kth(values: Floats, k: Ints) -> Floats:
    """Return the k-th smallest value of each row, (n,); rows are partially sorted in place."""
    most = int(k.max(initial=1))
    values.partition(most - 1, axis=1)
    near = np.sort(values[:, :most], axis=1)
    kth: Floats = near[np.arange(len(near)), k - 1]
    return kth
