"""The objective of LMNN (Weinberger and Saul, JMLR 2009): its pull and push terms.

It pulls an image towards its target neighbours, which share its class, and pushes impostors, which
do not, a margin away. csim computes its gradient in the mapped space, so that a linear map and a
sum of trees can use the same gradient.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from csim.bench.baselines.learners.knn import nearest
from csim.records import Floats, Ints

_BLOCK_ROWS = 2000  # rows whose differences are in memory at a time
NO_IMPOSTOR = -1


def find_targets(vectors: Floats, columns: Ints, count: int) -> Ints:
    """Return the indices of the nearest others of the same class, (n, count).

    Where a class has too few others, an image is its own target. Higher `count` pulls larger
    neighbourhoods together.
    """
    found = np.repeat(np.arange(len(vectors))[:, None], count, axis=1)
    for members in _members_by_class(columns):
        near = nearest(vectors[members], vectors[members], count + 1)
        for index, neighbours in enumerate(near):
            others = members[neighbours[neighbours != index][:count]]
            found[members[index], : len(others)] = others
    return found


def find_impostors(points: Floats, columns: Ints, count: int) -> Ints:
    """Return the indices of the nearest images of other classes, (n, count).

    Where there are fewer, the rest is `NO_IMPOSTOR`. Higher `count` is more exact and slower.
    """
    found = np.full((len(points), min(count, len(points))), NO_IMPOSTOR, np.int64)
    for members in _members_by_class(columns):
        others = np.setdiff1d(np.arange(len(points)), members)
        if len(others):
            near = others[nearest(points[others], points[members], count)]
            found[members, : near.shape[1]] = near
    return found


def _members_by_class(columns: Ints) -> list[Ints]:
    return [np.flatnonzero(columns == column) for column in np.unique(columns)]


def margin_loss(
    points: Floats, targets: Ints, impostors: Ints, push: float
) -> tuple[float, Floats]:
    """Return the objective and its gradient with respect to the points, (n, r).

    The objective is (1 - push) Σ d_ij + push Σ [1 + d_ij - d_il]₊ over the targets j and the
    impostors l of every i, where d is a squared distance.

    Parameters
    ----------
    points
        Mapped vectors, (n, r).
    targets, impostors
        Indices, (n, k) and (n, m), as `find_targets` and `find_impostors` return them.
    push
        Weight of the push term, 0 to 1. Higher separates impostors more and allows wider classes.
    """
    count = len(points)
    near_weights = np.zeros(targets.shape)
    far_weights = np.zeros(impostors.shape)
    value = 0.0
    for start in range(0, count, _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        near = _squared_distances(points[rows], points[targets[rows]])
        far = _squared_distances(points[rows], points[impostors[rows]])
        far = np.where(impostors[rows] == NO_IMPOSTOR, np.inf, far)
        hinges = 1 + near[:, :, None] - far[:, None, :]  # (b, k, m)
        is_active = hinges > 0
        near_weights[rows] = (1 - push) + push * is_active.sum(axis=2)
        far_weights[rows] = -push * is_active.sum(axis=1)
        value += (1 - push) * float(near.sum(dtype=float)) + push * float(
            hinges[is_active].sum(dtype=float)
        )
    pairs = np.concatenate([targets, impostors], axis=1)
    weights = np.concatenate([near_weights, far_weights], axis=1)
    return value, _gradient(points, pairs, weights)


def _gradient(points: Floats, pairs: Ints, weights: Floats) -> Floats:
    """Return the gradient of Σ weight · squared distance over weighted pairs, (n, r).

    It is twice the Laplacian of the graph of pairs, times the points.
    """
    count = len(points)
    is_pair = weights != 0
    rows = np.repeat(np.arange(count), is_pair.sum(axis=1))
    graph = csr_array(
        (weights[is_pair].astype(points.dtype), (rows, pairs[is_pair])), shape=(count, count)
    )
    graph = graph + graph.T
    degrees = np.asarray(graph.sum(axis=1))[:, None]
    return np.asarray(2 * (degrees * points - graph @ points))


def _squared_distances(points: Floats, others: Floats) -> Floats:
    """Return squared distances of points, (b, r), from others, (b, m, r)."""
    differences = others - points[:, None]
    return np.asarray(np.einsum("bmr,bmr->bm", differences, differences))
