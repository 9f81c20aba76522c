"""The one-vs-rest layer over whitened vectors: a class is the mean of its images.

The logit of a class is s·cos(x, mean) / e(n) + t. The mean of few images points less well to the
class than that of many: a member's cosine to it is lower. e(n), the root of the cosine that a
member of a class of n images can expect, makes up for a part of that, so that young classes do not
lose every tie. s and t are those at which the logits give the odds that an image is of the class.
They are fitted on the labelled images, each compared with a mean that it is left out of.

There is no chance in it, and nothing to tune: docs/encoders.md compares it with others.
"""

from __future__ import annotations

import numpy as np

from csim.embed.whitening import class_sums, unit
from csim.logistic import logistic
from csim.records import Bools, Floats, Ints

_MIN_SIMILARITY = 0.01  # of two images of a class, if they hardly resemble each other
_MIN_MEMBERS = 2  # of a class, to leave one out
_USUAL_LOGIT = (10.0, -5.0)  # slope and offset if no class has two images
_FLAT = 1e-4  # a gradient of the mean loss that counts as 0
_MOST_STEPS = 50  # Newton's method takes about ten


def fit_class_means(vectors: Floats, columns: Ints) -> tuple[Floats, Floats]:
    """Return the weights, (K, d), and the bias, (K,), of classes.

    Parameters
    ----------
    vectors
        Labelled vectors of unit length, (n, d).
    columns
        The column of each one's class, (n,); every column has an image.
    """
    counts = np.bincount(columns)
    sums = class_sums(vectors, columns)
    boost = 1 / np.sqrt(_expected_cosine(counts, sums))
    means = unit(sums) * boost[:, None]
    slope, offset = _fit_logits(vectors, columns, sums, means, boost)
    return (slope * means).astype(np.float32), np.full(len(counts), offset, np.float32)


def _expected_cosine(counts: Ints, sums: Floats) -> Floats:
    """Return the cosine of a new member to the mean of each class's images, (K,).

    If two members of a class have the cosine ρ, it is √n·ρ / √(1 + (n - 1)·ρ).
    """
    several = counts >= _MIN_MEMBERS
    squares = (sums[several] ** 2).sum(axis=1)  # n + n·(n - 1)·ρ
    n = counts[several]
    similarities = (squares / n - 1) / (n - 1)
    similarity = max(_MIN_SIMILARITY, float(similarities.mean()) if several.any() else 1.0)
    expected: Floats = np.sqrt(counts) * similarity / np.sqrt(1 + (counts - 1) * similarity)
    return expected


def _fit_logits(
    vectors: Floats, columns: Ints, sums: Floats, means: Floats, boost: Floats
) -> tuple[float, float]:
    """Return the slope and the offset from similarities to logits, by logistic regression."""
    counts = np.bincount(columns)
    if len(counts) < 2 or counts.max() < _MIN_MEMBERS:
        return _USUAL_LOGIT
    similarities = vectors @ means.T  # (n, K)
    rows = np.arange(len(vectors))
    others = unit(sums[columns] - vectors)
    similarities[rows, columns] = (vectors * others).sum(axis=1) * boost[columns]
    is_own = columns[:, None] == np.arange(len(counts))
    weights = np.where(counts >= _MIN_MEMBERS, 1 / counts, 0)[columns]
    return _fit_line(similarities, is_own, weights / (weights.sum() * len(counts)))


def _fit_line(values: Floats, is_own: Bools, weights: Floats) -> tuple[float, float]:
    """Return the slope and the offset of logistic regression on one number.

    This is Newton's method. scikit-learn takes six times as long, because it works with any number
    of columns.

    Parameters
    ----------
    values
        The numbers, (n, K).
    is_own
        Whether each is of the class, (n, K).
    weights
        Of the rows, (n,).
    """
    weights = weights.astype(values.dtype)[:, None]
    line = np.zeros(2)  # the slope and the offset
    for _ in range(_MOST_STEPS):
        slope, offset = line.astype(values.dtype)
        scores = logistic(slope * values + offset)
        errors = (scores - is_own) * weights
        gradient = _sums(errors * values, errors)
        if (abs(gradient) < _FLAT).all():
            break
        curves = scores * (1 - scores) * weights
        bent = curves * values
        across, mixed, along = _sums(bent * values, bent, curves)
        # Not `solve`: if all values are equal, many lines are as good.
        line -= np.linalg.lstsq(np.array([[across, mixed], [mixed, along]]), gradient)[0]
    return float(line[0]), float(line[1])


def _sums(*parts: Floats) -> Floats:
    """Return the sum of each array in double precision."""
    return np.array([part.sum(dtype=np.float64) for part in parts])
