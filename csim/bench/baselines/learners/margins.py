"""The objective of LMNN: near the neighbours that share the class, a margin away from those that do not.

All is done in the mapped space, so that a linear map and a forest of trees can learn from the same gradient.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from csim.bench.baselines.learners.knn import nearest
from csim.records import Floats, Ints

_BLOCK = 2000  # rows whose differences are held at a time: bounds memory
NOBODY = -1


def targets_of(vectors: Floats, columns: Ints, many: int) -> Ints:
    """Return the nearest others of the same class, (n, many); an image with too few is its own target."""
    found = np.repeat(np.arange(len(vectors))[:, None], many, axis=1)
    for own in _classes(columns):
        near = nearest(vectors[own], vectors[own], many + 1)
        for place, line in enumerate(near):
            others = own[line[line != place][:many]]
            found[own[place], : len(others)] = others
    return found


def impostors_of(points: Floats, columns: Ints, many: int) -> Ints:
    """Return the nearest of other classes, (n, many); where there are fewer, `NOBODY`."""
    found = np.full((len(points), min(many, len(points))), NOBODY, np.int64)
    for own in _classes(columns):
        others = np.setdiff1d(np.arange(len(points)), own)
        if len(others):
            near = others[nearest(points[others], points[own], many)]
            found[own, : near.shape[1]] = near
    return found


def _classes(columns: Ints) -> list[Ints]:
    return [np.flatnonzero(columns == column) for column in np.unique(columns)]


def margin_loss(
    points: Floats, targets: Ints, impostors: Ints, push: float
) -> tuple[float, Floats]:
    """Return the objective and its gradient by the points, (n, r).

    (1 - push) Σ d_ij + push Σ [1 + d_ij - d_il]₊ over targets j and impostors l of every i; d is a squared distance.

    Parameters
    ----------
    points
        Mapped vectors, (n, r).
    targets, impostors
        Places, (n, k) and (n, m), as `targets_of` and `impostors_of` return them.
    push
        Raising it keeps impostors off at the cost of wider classes.
    """
    count = len(points)
    near_weights, far_weights, value = np.zeros(targets.shape), np.zeros(impostors.shape), 0.0
    for start in range(0, count, _BLOCK):
        rows = slice(start, start + _BLOCK)
        near = _squares(points[rows], points[targets[rows]])
        far = np.where(
            impostors[rows] == NOBODY, np.inf, _squares(points[rows], points[impostors[rows]])
        )
        hinges = 1 + near[:, :, None] - far[:, None, :]  # (b, k, m)
        is_active = hinges > 0
        near_weights[rows] = (1 - push) + push * is_active.sum(axis=2)
        far_weights[rows] = -push * is_active.sum(axis=1)
        value += (1 - push) * float(near.sum(dtype=float)) + push * float(
            hinges[is_active].sum(dtype=float)
        )
    pairs = np.concatenate([targets, impostors], axis=1)
    weights = np.concatenate([near_weights, far_weights], axis=1)
    is_pair = weights != 0
    lines = np.repeat(np.arange(count), is_pair.sum(axis=1))
    graph = csr_array(
        (weights[is_pair].astype(points.dtype), (lines, pairs[is_pair])), shape=(count, count)
    )
    graph = graph + graph.T
    # Each weighted pair pulls or pushes both ends: twice the graph's Laplacian, times the points.
    gradient = 2 * (np.asarray(graph.sum(axis=1))[:, None] * points - graph @ points)
    return value, gradient


def _squares(points: Floats, others: Floats) -> Floats:
    """Return squared distances of points, (b, r), from others, (b, m, r)."""
    apart = others - points[:, None]
    return np.asarray(np.einsum("bmr,bmr->bm", apart, apart))
