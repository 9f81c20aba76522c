"""Doubt: how little the model's best class stands out."""

from __future__ import annotations

import numpy as np

from csim.records import Floats


def doubt(scores: Floats) -> Floats:
    """Return 1 less the best class's share of all odds, for probabilities (n, K), (n,); of one class, 1 less its own.

    >>> doubt(np.array([[0.9, 0.1], [0.5, 0.5]])).round(2).tolist()
    [0.01, 0.5]
    """
    if not scores.shape[1]:
        return np.ones(len(scores))
    sure = np.clip(scores.astype(np.float64), 1e-9, 1 - 1e-9)
    if scores.shape[1] == 1:
        return 1 - sure[:, 0]
    odds = sure / (1 - sure)
    share: Floats = 1 - odds.max(axis=1) / odds.sum(axis=1)
    return share
