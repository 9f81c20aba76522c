"""Acceptance thresholds: the lowest score at which an image counts as known.

A rule is fitted on scores of labelled images, class by class. It then tells for each class whether
a score is high enough. The head accepts an image if *any* class passes.

`QuantileThreshold`, the default, guarantees a share of accepted images and needs held-out scores.
`MeanBoundThreshold` is the rule of the CSIM paper, fitted on labelled images. It bounds the mean
score, so it rejects more known images than you may expect. `NoThreshold` rejects nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from csim.errors import NotFittedError, SettingsError
from csim.records import Bools, ClassId, Floats, State

_ROUNDING = 1e-9  # 0.1 * 10 is just below 1


class Threshold(Protocol):
    """Set the lowest score that each class accepts."""

    _lowest: dict[ClassId, float]

    def fit(self, scores: Mapping[ClassId, Sequence[float] | Floats]) -> None:
        """Set the threshold of each class from its images' scores; an earlier fit is discarded."""
        ...

    def passes(self, class_ids: Sequence[ClassId], scores: Floats) -> Bools:
        """Tell which scores, (n, K) with a column per class, are high enough for their class."""
        if unknown := set(class_ids) - set(self._lowest):
            raise NotFittedError(f"no threshold for class {min(unknown)}; fit() with its scores")
        return scores >= np.array([self._lowest[c] for c in class_ids], np.float64)

    def state(self) -> State:
        """Return the fitted thresholds."""
        return {
            "class_ids": list(self._lowest),
            "lowest": np.array(list(self._lowest.values()), np.float64),
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._lowest = dict(zip(state["class_ids"], state["lowest"].tolist(), strict=True))


class QuantileThreshold(Threshold):
    """Accept at least a chosen share of known images.

    The threshold of a class is the k-th smallest of n held-out scores, with
    k = floor((1 - keep) * (n + 1)). The scores are those of images that were given the class. A
    known image that is given the class is then accepted with probability `keep` or more, whatever
    the distribution, if it is drawn like the held-out ones (split-conformal prediction). Only the
    class of highest score can accept an image. Otherwise a class whose images score low would
    accept everything.

    If k = 0, a class has so few scores that the guarantee would mean to accept everything. Such a
    class uses a threshold from the scores of all classes together, in which every class has the
    same weight. It may be too high for a class learned from few answers, whose images score lower.

    Parameters
    ----------
    keep
        Share of known images to accept, between 0 and 1. Higher rejects fewer known images, but
        accepts more unknown ones as known at first.
    least_scores
        Held-out scores that a class needs to reject any image. Higher keeps the promise for young
        classes too, but accepts more unknown images that look like them.

    Examples
    --------
    Class 3 scores high and class 7 low, so 0.5 is too little for one and enough for the other.

    >>> threshold = QuantileThreshold(keep=0.75)
    >>> threshold.fit({3: [0.7, 0.8, 0.9], 7: [0.2, 0.4, 0.6]})
    >>> threshold.passes([3, 7], np.array([[0.5, 0.4], [0.4, 0.5]]))
    array([[False, False],
           [False,  True]])
    """

    def __init__(self, *, keep: float = 0.98, least_scores: int = 0) -> None:
        if not 0 < keep < 1:
            raise SettingsError(f"keep must lie between 0 and 1, got {keep}")
        self.keep = keep
        self._least_scores = least_scores
        self._lowest: dict[ClassId, float] = {}

    def fit(self, scores: Mapping[ClassId, Sequence[float] | Floats]) -> None:
        """Set each class's threshold from scores of images it was not trained on."""
        pooled = self._pooled([np.asarray(part) for part in scores.values() if len(part)])
        self._lowest = {c: self._kth_smallest(part, pooled) for c, part in scores.items()}

    def passes(self, class_ids: Sequence[ClassId], scores: Floats) -> Bools:
        """Tell which scores, (n, K), are the highest of their row and high enough."""
        if not scores.shape[1]:
            return np.zeros(scores.shape, bool)
        is_best: Bools = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
        is_best &= super().passes(class_ids, scores)
        return is_best

    def _kth_smallest(self, scores: Sequence[float] | Floats, pooled: float) -> float:
        if len(scores) < self._least_scores:
            return -math.inf
        k = math.floor((1 - self.keep) * (len(scores) + 1) + _ROUNDING)
        return float(np.sort(np.asarray(scores))[k - 1]) if k else pooled

    def _pooled(self, scores: Sequence[Floats]) -> float:
        """Return the threshold from the scores of all classes together.

        It is the k-th smallest of all N scores, k by weight. Each class has the same total weight,
        shared equally by its scores. All weights add up to N / (N + 1).
        """
        if not scores:
            return -math.inf
        together = np.concatenate(scores)
        weights = np.concatenate([np.full(len(part), 1 / len(part)) for part in scores])
        weights *= len(together) / (len(together) + 1) / len(scores)
        order = np.argsort(together, kind="stable")
        k = int(np.searchsorted(np.cumsum(weights[order]), 1 - self.keep + _ROUNDING, side="right"))
        return float(together[order][k - 1]) if k else -math.inf


class NoThreshold(Threshold):
    """Accept everything, for choices of questions that do not need rejected images.

    >>> rule = NoThreshold()
    >>> rule.fit({3: []})
    >>> rule.passes([3], np.array([[0.01]]))
    array([[ True]])
    """

    def __init__(self) -> None:
        self._lowest: dict[ClassId, float] = {}

    def fit(self, scores: Mapping[ClassId, Sequence[float] | Floats]) -> None:
        """Set the threshold of each class to minus infinity."""
        self._lowest = dict.fromkeys(scores, -math.inf)


class MeanBoundThreshold(Threshold):
    """Use the paper's rule: the lower confidence bound of a class's mean score, by Student's t.

    T(c) = mean - t(α, n-1) · s/√n over the labelled images of c. With n = 200 and α = 0.05 this is
    0.12 standard deviations below the mean, with α = 0.99 it is 0.17 above it. So the rule rejects
    a large share of known images by design. Two departures from the formula: a class with fewer
    than two images has the threshold 0.5, and a threshold is at most the highest score, so that
    every class accepts at least one of its images.

    Parameters
    ----------
    alpha
        Probability that the true mean lies below the bound, between 0 and 1. Higher raises the
        threshold and rejects more images; at 0.5 the threshold is the mean score.

    Examples
    --------
    The mean is 0.8, s = 0.1, t(0.05, 2) = 2.92, so the bound is 0.8 - 2.92 · 0.1/√3 = 0.631.

    >>> threshold = MeanBoundThreshold(alpha=0.05)
    >>> threshold.fit({3: [0.7, 0.8, 0.9]})
    >>> threshold.passes([3], np.array([[0.630], [0.632]]))
    array([[False],
           [ True]])
    """

    def __init__(self, *, alpha: float = 0.05) -> None:
        if not 0 < alpha < 1:
            raise SettingsError(f"alpha must lie between 0 and 1, got {alpha}")
        self.alpha = alpha
        self._lowest: dict[ClassId, float] = {}

    def fit(self, scores: Mapping[ClassId, Sequence[float] | Floats]) -> None:
        """Set each class's threshold from scores of its labelled images."""
        self._lowest = {c: self._mean_bound(np.asarray(part, float)) for c, part in scores.items()}

    def _mean_bound(self, scores: Floats) -> float:
        if len(scores) < 2:
            return 0.5
        from scipy.special import stdtrit  # noqa: PLC0415 - memory that few streams need

        t = stdtrit(len(scores) - 1, 1 - self.alpha)  # quantile of Student's distribution
        bound = scores.mean() - t * scores.std(ddof=1) / math.sqrt(len(scores))
        return float(min(bound, scores.max()))
