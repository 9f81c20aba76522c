"""The confidence of an ECHO-D model in its vote (Haque et al., ICDE 2016).

Two estimators make it up: association, which is how deep inside its nearest sphere an image lies,
and purity, which is how pure that sphere is. Each is weighted by how well it separated right votes
from wrong ones on the newest labelled window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from csim.bench.baselines.ensemble import Ensemble, Predictions
from csim.records import Bools, Floats, Ints

_MIN_WEIGHT = 1e-5  # replaces weights and ranges of 0


@dataclass(frozen=True)
class Calibration:
    """Hold how one model's estimators behaved on a labelled window.

    Parameters
    ----------
    weights
        Weights of association and purity, (2,); they sum to 1.
    low, high
        The minimum and maximum of both estimators on the window, (2,).
    is_perfect
        Whether the model was right about the entire window.
    """

    weights: Floats
    low: Floats
    high: Floats
    is_perfect: bool

    def scale(self, estimates: Floats) -> Floats:
        """Return association and purity, (n, 2), scaled by the range they had on the window."""
        return np.asarray((estimates - self.low) / np.maximum(self.high - self.low, _MIN_WEIGHT))


def estimate(ensemble: Ensemble, predictions: Predictions) -> Floats:
    """Return association and purity for each model's nearest sphere, (models, n, 2)."""
    purity = [
        model.purity[nearest]
        for model, nearest in zip(ensemble.models, predictions.nearest, strict=True)
    ]
    return np.stack([predictions.depth, np.array(purity)], axis=2)


def calibrate(estimates: Floats, is_right: Bools) -> Calibration:
    """Calibrate a model from its estimates, (n, 2), and whether its votes were right, (n,)."""
    weights = np.maximum(
        [_correlation(estimates[:, column], is_right) for column in (0, 1)], _MIN_WEIGHT
    )
    return Calibration(
        weights=weights / weights.sum(),
        low=estimates.min(axis=0),
        high=estimates.max(axis=0),
        is_perfect=bool(is_right.all()),
    )


def calibrate_all(ensemble: Ensemble, vectors: Floats, labels: Ints) -> list[Calibration]:
    """Calibrate every model of the ensemble on a labelled window."""
    predictions = ensemble.predict(vectors)
    return [
        calibrate(estimates, votes == labels)
        for estimates, votes in zip(estimate(ensemble, predictions), predictions.votes, strict=True)
    ]


def calibrated_confidence(estimates: Floats, calibrations: Sequence[Calibration]) -> Floats:
    """Return the confidence of each model, (models, n), from 0 to 1."""
    confidences = [
        calibration.scale(part) @ calibration.weights
        for part, calibration in zip(estimates, calibrations, strict=True)
    ]
    return np.clip(np.array(confidences), 0, 1)


def released_confidence(estimates: Floats, calibrations: Sequence[Calibration]) -> Floats:
    """Return the confidence of each model as the released program does, (models, n).

    It is scaled across the models for each image, so one model always has 0. A model that was
    right about the entire window has 1 where the association is above the window's minimum.
    """
    scaled = np.array(
        [calibration.scale(part) for part, calibration in zip(estimates, calibrations, strict=True)]
    )  # (models, n, 2)
    confidences = np.array(
        [part @ calibration.weights for part, calibration in zip(scaled, calibrations, strict=True)]
    )
    lowest = confidences.min(axis=0)
    highest = confidences.max(axis=0)
    confidences = (confidences - lowest) / np.maximum(highest - lowest, _MIN_WEIGHT)
    is_perfect = np.array([calibration.is_perfect for calibration in calibrations])
    is_sure = is_perfect[:, None] & (scaled[:, :, 0] > 0)
    return np.where(is_sure, 1.0, confidences)


def _correlation(estimates: Floats, is_right: Bools) -> float:
    if estimates.std() == 0 or is_right.std() == 0:
        return 0.0
    return float(np.corrcoef(estimates, is_right)[0, 1])
