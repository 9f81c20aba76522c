"""The change test of ECHO: whether confidence has fallen, and since when.

A signal of confidences, between 0 and 1, is cut where two Beta distributions, one on each side, explain the second
part best. All cuts are weighed at once, from running sums.
"""

from __future__ import annotations

import numpy as np
from scipy.special import betaln

from csim.records import Floats, Ints

_LOWEST_MEAN = 0.3  # below this the models are of no use, whatever the signal's shape
_LEAST_CUSHION = 100
_TINY = 1e-6


def smoothed(confidence: float) -> float:
    """Return a confidence as the signal has it: never 0 nor 1.

    >>> smoothed(0.02), smoothed(0.5), smoothed(1.0)
    (0.05, 0.5, 0.995)
    """
    return 0.05 if confidence < 0.1 else min(confidence, 0.995)


def change_point(
    signal: Floats, *, alpha: float, delta: float, gamma: float, longest: int
) -> int | None:
    """Return how many confidences came before the change; None if there was none.

    Parameters
    ----------
    signal
        Confidences in order, (N,).
    alpha
        The chance of a false alarm that is aimed at. Raising it finds smaller changes, and more that are none.
    delta
        By how much, relatively, the mean must have fallen. Raising it finds fewer changes.
    gamma
        At least max(100, N^gamma) confidences stand on each side. Raising it needs longer parts.
    longest
        A signal longer than this is cut at its end. Raising it remembers longer.
    """
    count = len(signal)
    cushion = max(_LEAST_CUSHION, int(count**gamma))
    if count > longest or (count > 2 * cushion and float(signal.mean()) <= _LOWEST_MEAN):
        return count
    cuts = np.arange(cushion, count - cushion + 1)
    if not len(cuts):
        return None
    gains = gains_of(signal, cuts)
    ahead, behind = _means(signal, cuts)
    gains[behind > (1 - delta) * ahead] = -np.inf
    best = int(gains.argmax())
    return int(cuts[best]) if gains[best] >= -np.log(alpha) else None


def gains_of(signal: Floats, cuts: Ints) -> Floats:
    """Return by how much what follows each cut is better explained by itself than by what precedes (log-likelihood)."""
    logs, counterlogs = np.log(signal), np.log1p(-signal)
    first, second = _fit(signal, cuts, is_ahead=True), _fit(signal, cuts, is_ahead=False)
    rest = len(signal) - cuts
    after, counter = (
        logs.sum() - np.cumsum(logs)[cuts - 1],
        counterlogs.sum() - np.cumsum(counterlogs)[cuts - 1],
    )
    gain = (second[0] - first[0]) * after + (second[1] - first[1]) * counter
    return np.asarray(gain - rest * (betaln(*second) - betaln(*first)))


def _means(signal: Floats, cuts: Ints) -> tuple[Floats, Floats]:
    sums = np.cumsum(signal)
    return sums[cuts - 1] / cuts, (sums[-1] - sums[cuts - 1]) / (len(signal) - cuts)


def _fit(signal: Floats, cuts: Ints, *, is_ahead: bool) -> tuple[Floats, Floats]:
    """Return the parameters of Beta distributions of all parts ahead of the cuts, or behind them, by their moments."""
    sums, powers = np.cumsum(signal), np.cumsum(signal**2)
    if is_ahead:
        count, total, power = cuts, sums[cuts - 1], powers[cuts - 1]
    else:
        count, total, power = (
            len(signal) - cuts,
            sums[-1] - sums[cuts - 1],
            powers[-1] - powers[cuts - 1],
        )
    mean = total / count
    spread = np.maximum(power / count - mean**2, _TINY)
    weight = np.maximum(mean * (1 - mean) / spread - 1, _TINY)
    return mean * weight, (1 - mean) * weight
