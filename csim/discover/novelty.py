"""Novelty: a region is new if it is dense in recent images and empty of labelled ones.

The classifier's doubt is a poor detector while few classes are known, because training pulls new
images onto known classes. So csim compares images by their features, which training pulls far less.
It compares the distance of an image to its labelled neighbours with that to its recent neighbours.
"""

from __future__ import annotations

import numpy as np

from csim.records import Floats, Ints

_MAX_COMPONENTS = 40  # of the features: more add noise and take time
_PCA_SAMPLE_SIZE = 2000  # images to find the components from
_NEIGHBOUR_SHARE = 0.05  # of a class's images that count as neighbours
_MIN_NEIGHBOURS = 3  # among the recent images: fewer are chance
_MAX_NEIGHBOURS = 150
_MIN_LENGTH = 1e-6  # below, do not rescale: a single labelled image is its own mean
_EPSILON = 1e-6  # avoids division by zero


def novelty(recent: Floats, labelled: Floats, guesses: Ints, columns: Ints) -> Floats:
    """Return how likely each recent image is of a class that nobody has labelled yet, 0 to 1, (n,).

    The distance to the k-th labelled neighbour is compared with that to the k'-th recent one. The
    novelty is 0 if it is no farther, about a half if it is 1.5 times as far, and three quarters if
    it is twice as far. Both k are the same share of the images of the guessed class. So a known
    class that merely becomes more frequent is not new.

    Parameters
    ----------
    recent, labelled
        Features, (n, f) and (m, f).
    guesses
        The column of the class that the model gives each recent image, (n,).
    columns
        The column of each labelled image's class, (m,), -1 if the model does not know it yet.

    Examples
    --------
    Five recent images lie among the labelled ones, five far away and close together.

    >>> labelled = np.linspace(0, 1, 20)[:, None]
    >>> recent = np.concatenate([np.linspace(0, 1, 5), 9 + np.linspace(0, 0.1, 5)])[:, None]
    >>> novelty(recent, labelled, np.zeros(10, int), np.zeros(20, int)).round().tolist()
    [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    if len(recent) <= _MIN_NEIGHBOURS or not len(labelled):
        return np.zeros(len(recent))
    classes = int(max(guesses.max(), columns.max())) + 1
    in_recent = np.bincount(guesses, minlength=classes)[guesses]
    in_labelled = np.bincount(columns[columns >= 0], minlength=classes)[guesses]
    k_recent = np.maximum(_MIN_NEIGHBOURS, np.round(_NEIGHBOUR_SHARE * in_recent))
    k_labelled = np.maximum(1, np.round(k_recent * in_labelled / in_recent))
    to_recent = _kth_distance(
        squares(recent, recent), k_recent + 1
    )  # the first is the image itself
    to_labelled = _kth_distance(squares(recent, labelled), k_labelled)
    ratio: Floats = (to_recent + _EPSILON) / (to_labelled + _EPSILON)
    return np.maximum(0, 1 - ratio**2)


def principal_components(recent: Floats, labelled: Floats) -> tuple[Floats, Floats]:
    """Return both projected to their common principal components.

    They are scaled so that the labelled ones have a root mean square length of 1.
    """
    centre = labelled.mean(axis=0) if len(labelled) else recent.mean(axis=0)
    both = np.concatenate([recent, labelled]) - centre
    sample = both[:: max(1, len(both) // _PCA_SAMPLE_SIZE)]
    axes = np.linalg.eigh(sample.T @ sample)[1][:, -_MAX_COMPONENTS:]
    projected = both @ axes
    length = 0.0
    if len(labelled):
        length = float(np.sqrt((projected[len(recent) :] ** 2).sum(axis=1).mean()))
    projected /= length if length > _MIN_LENGTH else 1.0
    return projected[: len(recent)], projected[len(recent) :]


def squares(left: Floats, right: Floats) -> Floats:
    """Return the squared distance of every pair, (n, m)."""
    distances: Floats = left @ (-2 * right.T)
    distances += (left * left).sum(axis=1)[:, None]
    distances += (right * right).sum(axis=1)
    return np.maximum(distances, 0, out=distances)


def _kth_distance(squared: Floats, k: Floats) -> Floats:
    """Return for each row the distance to its k-th nearest neighbour, (n,).

    `squared` holds squared distances, (n, m). It is partially sorted in place.
    """
    most = min(_MAX_NEIGHBOURS, squared.shape[1])
    squared.partition(most - 1, axis=1)
    near = np.sort(squared[:, :most], axis=1)
    columns = np.minimum(k.astype(int), most) - 1
    distances: Floats = np.sqrt(near[np.arange(len(near)), columns])
    return distances
