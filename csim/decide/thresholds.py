"""Acceptance thresholds: how low a score may fall before an image counts as unknown.

A threshold is fitted on scores of labelled images, class by class, and then says, for each class,
whether a score is high enough. The head accepts an image if *any* class passes.

`QuantileThreshold`, the default, keeps a promise and wants held-out scores. `MeanBoundThreshold` is the rule of the
CSIM paper, fitted on the stored images: it bounds the mean score, so it rejects far more than it seems to.
`NoThreshold` rejects nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from scipy.stats import t as student

from csim.errors import NotFittedError, SettingsError
from csim.records import Bools, ClassId, Floats, State

_ROUNDING = 1e-9  # 0.1 * 10 is just below 1


class Threshold(Protocol):
    """A rule that says which scores are high enough: it sets the lowest for each class."""

    _lowest: dict[ClassId, float]

    def fit(self, scores: Mapping[ClassId, Sequence[float] | Floats]) -> None:
        """Set each class's threshold from its own images' scores for it; any earlier fit is forgotten."""
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
        """Take back what `state` returned."""
        self._lowest = dict(zip(state["class_ids"], state["lowest"].tolist(), strict=True))


class QuantileThreshold(Threshold):
    """Accept at least a chosen share of known images.

    The threshold of a class is the k-th smallest of the n held-out scores of images that were given the class, with
    k = floor((1 - keep) * (n + 1)). A known image that is given the class is then accepted with probability `keep`
    or more, whatever the distribution, as long as it is drawn like the held-out ones (split-conformal prediction).
    Only the class of highest score can accept an image: another whose images score low would let everything pass.

    With so few scores that k = 0, keeping the promise would mean to accept everything. Such a young class borrows the
    threshold of all classes' scores taken together, every class weighing the same however few it has.

    Parameters
    ----------
    keep
        Share of known images to accept, between 0 and 1. Raising it lets fewer known images wait, and more unknown
        ones be taken for known at first.

    Examples
    --------
    Class 3 scores high and class 7 low, so 0.5 is too little for one and enough for the other.

    >>> threshold = QuantileThreshold(keep=0.75)
    >>> threshold.fit({3: [0.7, 0.8, 0.9], 7: [0.2, 0.4, 0.6]})
    >>> threshold.passes([3, 7], np.array([[0.5, 0.4], [0.4, 0.5]]))
    array([[False, False],
           [False,  True]])
    """

    def __init__(self, *, keep: float = 0.98) -> None:
        if not 0 < keep < 1:
            raise SettingsError(f"keep must lie between 0 and 1, got {keep}")
        self.keep = keep
        self._lowest: dict[ClassId, float] = {}

    def fit(self, scores: Mapping[ClassId, Sequence[float] | Floats]) -> None:
        """Set each class's threshold from scores of images it was not trained on."""
        pooled = self._pooled([np.asarray(own) for own in scores.values() if len(own)])
        self._lowest = {c: self._kth_smallest(own, young=pooled) for c, own in scores.items()}

    def passes(self, class_ids: Sequence[ClassId], scores: Floats) -> Bools:
        """Tell which scores, (n, K) with a column per class, are the highest of their row and high enough."""
        if not scores.shape[1]:
            return np.zeros(scores.shape, bool)
        is_best: Bools = np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None]
        is_best &= super().passes(class_ids, scores)
        return is_best

    def _kth_smallest(self, scores: Sequence[float] | Floats, young: float) -> float:
        k = math.floor((1 - self.keep) * (len(scores) + 1) + _ROUNDING)
        return float(np.sort(np.asarray(scores))[k - 1]) if k else young

    def _pooled(self, scores: Sequence[Floats]) -> float:
        """Return the k-th smallest of all N scores, k by weight: a class's n share alike, all together N / (N + 1)."""
        if not scores:
            return -math.inf
        together = np.concatenate(scores)
        weights = np.concatenate([np.full(len(own), 1 / len(own)) for own in scores])
        weights *= len(together) / (len(together) + 1) / len(scores)
        order = np.argsort(together, kind="stable")
        k = int(np.searchsorted(np.cumsum(weights[order]), 1 - self.keep + _ROUNDING, side="right"))
        return float(together[order][k - 1]) if k else -math.inf


class NoThreshold(Threshold):
    """Accept everything: for those who choose their questions by other means.

    >>> rule = NoThreshold()
    >>> rule.fit({3: []})
    >>> rule.passes([3], np.array([[0.01]]))
    array([[ True]])
    """

    def __init__(self) -> None:
        self._lowest: dict[ClassId, float] = {}

    def fit(self, scores: Mapping[ClassId, Sequence[float] | Floats]) -> None:
        """Take note of the classes."""
        self._lowest = dict.fromkeys(scores, -math.inf)


class MeanBoundThreshold(Threshold):
    """The paper's rule: the lower confidence bound of a class's mean score, by Student's t.

    T(c) = mean - t(α, n-1) · s/√n over the stored images of c. With n = 200 this lies about 0.12 standard
    deviations under the mean, so a large share of known images is rejected by design. A class with fewer
    than two images has the threshold 0.5.

    Parameters
    ----------
    alpha
        Chance that the true mean lies below the bound, between 0 and 1. Raising it lifts the threshold, at 0.5 to the
        mean and then past it, and rejects more.

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
        """Set each class's threshold from scores of its stored images."""
        self._lowest = {c: self._mean_bound(np.asarray(own, float)) for c, own in scores.items()}

    def _mean_bound(self, scores: Floats) -> float:
        if len(scores) < 2:
            return 0.5
        t = student.ppf(1 - self.alpha, df=len(scores) - 1)
        bound = scores.mean() - t * scores.std(ddof=1) / math.sqrt(len(scores))
        return float(min(bound, scores.max()))  # the mean of equal scores may be rounded above them
