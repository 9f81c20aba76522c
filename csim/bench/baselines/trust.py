"""How far a model of ECHO-D is to be trusted about an image: how deep inside its sphere it lies, and how pure that is.

Both are weighed by how well they told right answers from wrong ones on the newest labelled window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from csim.bench.baselines.ensemble import Ensemble, Look
from csim.records import Bools, Floats, Ints

_LITTLE = 1e-5  # in place of a weight of nothing


@dataclass(frozen=True)
class Trust:
    """What was learned about one model on a labelled window.

    Parameters
    ----------
    weights
        Of association and of purity, (2,); they sum to one.
    low, high
        The least and the most of both on the window, (2,).
    is_perfect
        Whether the model was right about the whole window.
    """

    weights: Floats
    low: Floats
    high: Floats
    is_perfect: bool

    def scaled(self, signs: Floats) -> Floats:
        """Return association and purity, (n, 2), by the window's least and most."""
        return np.asarray((signs - self.low) / np.maximum(self.high - self.low, _LITTLE))


def signs_of(ensemble: Ensemble, look: Look) -> Floats:
    """Return association and purity of each model's nearest sphere, (models, n, 2)."""
    purity = [
        model.purity[nearest] for model, nearest in zip(ensemble.models, look.nearest, strict=True)
    ]
    return np.stack([look.inside, np.array(purity)], axis=2)


def learn(signs: Floats, is_right: Bools) -> Trust:
    """Learn how far to trust a model, from both signs, (n, 2), and whether it was right, (n,)."""
    weights = np.maximum([_correlation(signs[:, place], is_right) for place in (0, 1)], _LITTLE)
    return Trust(
        weights / weights.sum(), signs.min(axis=0), signs.max(axis=0), bool(is_right.all())
    )


def learn_all(ensemble: Ensemble, vectors: Floats, labels: Ints) -> list[Trust]:
    """Learn how far to trust each model, on a labelled window."""
    look = ensemble.look(vectors)
    return [
        learn(own, votes == labels)
        for own, votes in zip(signs_of(ensemble, look), look.votes, strict=True)
    ]


def calibrated(signs: Floats, trusts: Sequence[Trust]) -> Floats:
    """Return each model's confidence, (models, n), from 0 to 1."""
    own = [trust.scaled(some) @ trust.weights for some, trust in zip(signs, trusts, strict=True)]
    return np.clip(np.array(own), 0, 1)


def released(signs: Floats, trusts: Sequence[Trust]) -> Floats:
    """Return each model's confidence as the released program does, (models, n).

    It is scaled across the models for each image: one of them always has 0. A model that was right about the whole
    window has 1 where the image is inside its window's range.
    """
    scaled = np.array(
        [trust.scaled(some) for some, trust in zip(signs, trusts, strict=True)]
    )  # (models, n, 2)
    own = np.array([some @ trust.weights for some, trust in zip(scaled, trusts, strict=True)])
    least, most = own.min(axis=0), own.max(axis=0)
    own = (own - least) / np.maximum(most - least, _LITTLE)
    is_sure = np.array([trust.is_perfect for trust in trusts])[:, None] & (scaled[:, :, 0] > 0)
    return np.where(is_sure, 1.0, own)


def _correlation(sign: Floats, is_right: Bools) -> float:
    if sign.std() == 0 or is_right.std() == 0:
        return 0.0
    return float(np.corrcoef(sign, is_right)[0, 1])
