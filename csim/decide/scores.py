"""Scores: the probability of each class for a vector."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from csim.logistic import logistic
from csim.records import ClassId, Floats


def one_vs_rest(vectors: Floats, weights: Floats, bias: Floats) -> Floats:
    """Return P(c|x) = σ(W_c·φ(x) + b_c) for vectors (n, d) and K classes, (n, K).

    >>> weights = np.array([[0.0, 5.0], [8.0, 0.0]])
    >>> one_vs_rest(np.array([[1.0, 0.0]]), weights, np.zeros(2)).round(3)
    array([[0.5, 1. ]])
    """
    # One product per image: rounding in a product of many depends on an image's row.
    products = np.matmul(vectors[:, None, :], weights.T)[:, 0]
    scores: Floats = logistic(products + bias)
    return scores


def fold(scores: Floats, columns: Sequence[ClassId | None], class_ids: Sequence[ClassId]) -> Floats:
    """Return one column per class of `class_ids`: the highest score of the class's columns.

    After a merge several columns belong to one class. The column of a removed class belongs to none
    (None).

    >>> fold(np.array([[0.1, 0.7, 0.4]]), [5, 5, None], [5])
    array([[0.7]])
    """
    if tuple(columns) == tuple(class_ids):
        return scores
    folded = np.zeros((len(scores), len(class_ids)), scores.dtype)
    for index, class_id in enumerate(class_ids):
        folded[:, index] = scores[:, [c == class_id for c in columns]].max(axis=1)
    return folded
