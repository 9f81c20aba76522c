"""The scores that images of a class can expect, over frozen vectors.

Thresholds need the scores of images that no model has seen. A class with few labels has none to
spare. But it can be compared with a class of many labels: an image of that class, and the mean of
only as many others of it, have the cosine that a new image of the young class can expect.

The whitening has been fitted to the labelled images, so it brings them closer together than new
ones. So csim fits another one on every second class, and compares the images of the other classes
under it. This is cautious: the whitening of half the classes is worse than that of all. A few
images of each class are enough for it, and take far less time than all.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from csim.embed.whitening import Whitening
from csim.logistic import logistic
from csim.records import Bools, Floats, Ints

_MIN_TOLD = 5  # labelled images that a class needs to be compared with
_MOST_COMPARED = 400  # images of all such classes to compare: more take time and memory
_MOST_PER_CLASS = 20
_MOST_FITTED = 20  # newest images of a class to fit the other whitening on
_MOST_OTHERS = 32  # images in the mean: more hardly change it


def compare_others(
    inputs: Floats, columns: Ints, is_told: Bools, rng: np.random.Generator
) -> Floats:
    """Return the cosines of labelled images to the mean of 1, 2, … others of their class.

    There are none, (0, others), unless a class has enough images that a person labelled, and there
    is another class to fit a whitening on. Else they are (m, others).

    Parameters
    ----------
    inputs
        Frozen vectors of labelled images, (n, d), those of a class oldest first.
    columns
        The column of each one's class, (n,).
    is_told
        Whether a person labelled this very image, (n,).
    rng
        Draws the images to compare.
    """
    mean = inputs.mean(axis=0)
    parts = [np.zeros((0, _MOST_OTHERS), np.float32)]
    has_enough = np.bincount(columns[is_told], minlength=1) >= _MIN_TOLD
    is_among_newest = _rank_from_last(columns) < _MOST_FITTED
    each = min(_MOST_PER_CLASS, max(1, _MOST_COMPARED // max(1, int(has_enough.sum()))))
    for half in (0, 1):
        is_fitted = columns % 2 == half
        if is_fitted.any() and not is_fitted.all():
            rows = np.flatnonzero(is_fitted & is_among_newest)
            fitted = np.unique(columns[rows], return_inverse=True)[1]
            whitening = Whitening.fit(inputs[rows], fitted)
            whitening = replace(whitening, mean=mean)  # else the others would lie to one side
            is_compared = ~is_fitted & is_told
            parts += _cosines(inputs[is_compared], columns[is_compared], whitening, each, rng)
    return np.concatenate(parts)


def expected_scores(cosines: Floats, counts: Ints, weights: Floats, bias: Floats) -> Floats:
    """Return the scores that new images of each class can expect, (K, m), a row per class.

    Parameters
    ----------
    cosines
        What `compare_others` returned, (m, others).
    counts
        The labelled images of each class, (K,).
    weights, bias
        The one-vs-rest layer over whitened vectors, (K, d) and (K,).
    """
    others = np.minimum(counts, _MOST_OTHERS)
    lengths = np.linalg.norm(weights, axis=1)
    scores: Floats = logistic(lengths[:, None] * cosines[:, others - 1].T + bias[:, None])
    return scores.astype(np.float32)


def _rank_from_last(columns: Ints) -> Ints:
    """Return how many images of its class come after each image, (n,).

    >>> _rank_from_last(np.array([0, 0, 1, 0, 1])).tolist()
    [2, 1, 1, 0, 0]
    """
    order = np.argsort(columns, kind="stable")
    ends = np.cumsum(np.bincount(columns))
    ranks = np.empty_like(order)
    ranks[order] = ends[columns[order]] - 1 - np.arange(len(columns))
    return ranks


def _cosines(
    inputs: Floats, columns: Ints, whitening: Whitening, each: int, rng: np.random.Generator
) -> list[Floats]:
    """Return for each class the cosines of images to the mean of 1, 2, … others, (m, others).

    A higher `each` compares more images of a class.
    """
    found = []
    for column in np.unique(columns).tolist():
        members = rng.permutation(np.flatnonzero(columns == column))
        if len(members) < _MIN_TOLD:
            continue
        vectors = whitening.apply(inputs[members[: each + _MOST_OTHERS]])
        found.append(_cosines_among(vectors, min(each, len(vectors))))
    return found


def _cosines_among(vectors: Floats, count: int) -> Floats:
    """Return the cosines of images to the mean of the 1, 2, … that follow them, (count, others).

    `vectors` are (n, d); the first follows the last. A higher `count` compares more of them.
    """
    products = vectors @ vectors.T
    images = np.arange(count)[:, None]
    others = (images + 1 + np.arange(min(len(vectors) - 1, _MOST_OTHERS))) % len(vectors)
    to_sums = np.cumsum(products[images, others], axis=1)
    among_others = products[others[:, :, None], others[:, None, :]]
    squares = np.cumsum(np.cumsum(among_others, axis=1), axis=2).diagonal(axis1=1, axis2=2)
    cosines = to_sums / np.sqrt(np.maximum(squares, 1e-24))
    # A class with fewer images has no mean of more: the last is lower, so it rejects less.
    missing = _MOST_OTHERS - cosines.shape[1]
    padded: Floats = np.pad(cosines, ((0, 0), (0, missing)), mode="edge")
    return padded
