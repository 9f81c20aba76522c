"""Novelty: new images come together. A place that is dense in the recent images and empty in the labelled ones is new.

The classifier's own doubt is a poor alarm while few classes are known: training pulls new images onto known classes.
So images are compared in the features, which were pulled far less, and by neighbours: how far to the labelled images,
against how far to its fellows among the recent ones.
"""

from __future__ import annotations

import numpy as np

from csim.records import Floats, Ints

_COMPONENTS = 40  # of the features: more carry noise, and time
_ENOUGH = 2000  # images to find them by
_SHARE = 0.05  # of a class's images that count as near
_NO_LENGTH = 1e-6  # a single labelled image lies in its own middle
_FEWEST = 3  # neighbours among the recent images: fewer are chance
_MOST = 150
_TINY = 1e-6


def novelty(recent: Floats, labelled: Floats, guesses: Ints, columns: Ints) -> Floats:
    """Return how much each recent image speaks for a class that nobody has labelled yet, from 0 to 1, (n,).

    The distance to the k-th labelled image is compared with that to the k'-th recent one: 0 if it is no farther, about
    a half if it is half as far again, three quarters if twice as far. Both k are the same share of
    the images at hand of the class that is guessed, so that a known class that merely comes more often is not new.

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
    if len(recent) <= _FEWEST or not len(labelled):
        return np.zeros(len(recent))
    known = int(max(guesses.max(), columns.max())) + 1
    in_recent = np.bincount(guesses, minlength=known)[guesses]
    in_labelled = np.bincount(columns[columns >= 0], minlength=known)[guesses]
    near_recent = np.maximum(_FEWEST, np.round(_SHARE * in_recent))
    near_labelled = np.maximum(1, np.round(near_recent * in_labelled / in_recent))
    fellows = _reach(squares(recent, recent), near_recent + 1)  # the image itself is the first
    others = _reach(squares(recent, labelled), near_labelled)
    ratio: Floats = (fellows + _TINY) / (others + _TINY)
    return np.maximum(0, 1 - ratio**2)


def principal(recent: Floats, labelled: Floats) -> tuple[Floats, Floats]:
    """Return both on their common principal components, the labelled ones having unit length on the average."""
    middle = labelled.mean(axis=0) if len(labelled) else recent.mean(axis=0)
    both = np.concatenate([recent, labelled]) - middle
    some = both[:: max(1, len(both) // _ENOUGH)]
    axes = np.linalg.eigh(some.T @ some)[1][:, -_COMPONENTS:]
    placed = both @ axes
    length = (
        float(np.sqrt((placed[len(recent) :] ** 2).sum(axis=1).mean())) if len(labelled) else 0.0
    )
    placed /= length if length > _NO_LENGTH else 1.0
    return placed[: len(recent)], placed[len(recent) :]


def squares(left: Floats, right: Floats) -> Floats:
    """Return the squared distance of every pair, (n, m)."""
    distances: Floats = left @ (-2 * right.T)
    distances += (left * left).sum(axis=1)[:, None]
    distances += (right * right).sum(axis=1)
    return np.maximum(distances, 0, out=distances)


def _reach(distances: Floats, neighbours: Floats) -> Floats:
    """Return each row's distance to its own number of nearest neighbours; the rows are sorted in part."""
    most = min(_MOST, distances.shape[1])
    distances.partition(most - 1, axis=1)
    near = np.sort(distances[:, :most], axis=1)
    places = np.minimum(neighbours.astype(int), most) - 1
    reach: Floats = np.sqrt(near[np.arange(len(near)), places])
    return reach
