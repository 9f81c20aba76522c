"""Doubt: how unsure the model is of its best class."""

from __future__ import annotations

import numpy as np

from csim.records import Floats


def doubt(scores: Floats) -> Floats:
    """Return 1 minus the best class's share of all odds, (n,), for probabilities (n, K).

    With a single class it is 1 minus its probability, with none it is 1.

    >>> doubt(np.array([[0.9, 0.1], [0.5, 0.5]])).round(2).tolist()
    [0.01, 0.5]
    """
    if not scores.shape[1]:
        return np.ones(len(scores))
    clipped = np.clip(scores.astype(np.float64), 1e-9, 1 - 1e-9)
    if scores.shape[1] == 1:
        return 1 - clipped[:, 0]
    odds = clipped / (1 - clipped)
    remainder: Floats = 1 - odds.max(axis=1) / odds.sum(axis=1)
    return remainder
