"""The change detection of ECHO (Haque et al., ICDE 2016) finds when confidence has fallen.

The signal is a series of confidences between 0 and 1. For every cut, a Beta distribution is fitted
to the part before it and one to the part after it. The cut whose second part is explained best by
its own distribution is the change. csim scores all cuts at once, from running sums.
"""

from __future__ import annotations

import numpy as np

from csim.records import Floats, Ints

_MIN_MEAN = 0.3  # below this mean the models are useless, whatever the shape of the signal
_MIN_CUSHION = 100  # confidences on each side of a cut
_MIN_VARIANCE = 1e-6  # also the least a + b of a Beta distribution

# The range of the signal: the logarithms of 0 and 1 are infinite.
_LOWEST = 0.05
_LOWEST_BELOW = 0.1  # confidences below this become `_LOWEST`
_HIGHEST = 0.995


def clip_confidence(confidence: float) -> float:
    """Return a confidence as the signal holds it, never 0 or 1.

    >>> clip_confidence(0.02), clip_confidence(0.5), clip_confidence(1.0)
    (0.05, 0.5, 0.995)
    """
    return _LOWEST if confidence < _LOWEST_BELOW else min(confidence, _HIGHEST)


def find_change(
    signal: Floats, *, alpha: float, delta: float, gamma: float, max_length: int
) -> int | None:
    """Return how many confidences came before the change, or None if there was none.

    Parameters
    ----------
    signal
        Confidences in order, (N,).
    alpha
        Target probability of a false alarm. Higher finds smaller changes and more false ones.
    delta
        Relative fall of the mean that counts as a change. Higher finds fewer changes.
    gamma
        Each side of a cut holds at least max(100, N^gamma) confidences. Higher needs longer parts.
    max_length
        A longer signal is cut at its end. Higher remembers longer.
    """
    count = len(signal)
    cushion = max(_MIN_CUSHION, int(count**gamma))
    if count > max_length or (count > 2 * cushion and float(signal.mean()) <= _MIN_MEAN):
        return count
    cuts = np.arange(cushion, count - cushion + 1)
    if not len(cuts):
        return None
    ratios = log_likelihood_ratios(signal, cuts)
    before, after = _means(signal, cuts)
    ratios[after > (1 - delta) * before] = -np.inf
    best = int(ratios.argmax())
    return int(cuts[best]) if ratios[best] >= -np.log(alpha) else None


def log_likelihood_ratios(signal: Floats, cuts: Ints) -> Floats:
    """Return, for each cut, the log-likelihood ratio of the part after it.

    The ratio compares the Beta distribution fitted to that part with the one fitted to the part
    before the cut.
    """
    from scipy.special import betaln  # noqa: PLC0415 - memory that few streams need

    logs = np.log(signal)
    counterlogs = np.log1p(-signal)
    first = _fit_beta(signal, cuts, is_before=True)
    second = _fit_beta(signal, cuts, is_before=False)
    rest = len(signal) - cuts
    after = logs.sum() - np.cumsum(logs)[cuts - 1]
    counter_after = counterlogs.sum() - np.cumsum(counterlogs)[cuts - 1]
    gain = (second[0] - first[0]) * after + (second[1] - first[1]) * counter_after
    return np.asarray(gain - rest * (betaln(*second) - betaln(*first)))


def _means(signal: Floats, cuts: Ints) -> tuple[Floats, Floats]:
    sums = np.cumsum(signal)
    return sums[cuts - 1] / cuts, (sums[-1] - sums[cuts - 1]) / (len(signal) - cuts)


def _fit_beta(signal: Floats, cuts: Ints, *, is_before: bool) -> tuple[Floats, Floats]:
    """Return both parameters of the Beta distributions before or after all cuts, by moments."""
    sums = np.cumsum(signal)
    square_sums = np.cumsum(signal**2)
    count = cuts
    total = sums[cuts - 1]
    square_total = square_sums[cuts - 1]
    if not is_before:
        count = len(signal) - cuts
        total = sums[-1] - total
        square_total = square_sums[-1] - square_total
    mean = total / count
    variance = np.maximum(square_total / count - mean**2, _MIN_VARIANCE)
    weight = np.maximum(mean * (1 - mean) / variance - 1, _MIN_VARIANCE)
    return mean * weight, (1 - mean) * weight
