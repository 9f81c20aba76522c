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
    # Row by row there are few classes to add up, which is slow.
    by_class = np.clip(scores.T.astype(np.float64, order="C"), 1e-9, 1 - 1e-9)  # (K, n)
    odds = by_class / (1 - by_class)
    best: Floats = by_class[0] if len(by_class) == 1 else odds.max(axis=0) / odds.sum(axis=0)
    return 1 - best
