"""The joint loss: one-vs-rest cross-entropy plus β times the log-ratio triplet loss.

The triplet loss (the paper's third equation) is the mean, over the M triplets that count, of
[log(‖a−p‖+1) + γ − log(‖a−n‖+1)]₊. Written out it has n³ terms. Every triplet that counts has a
positive bracket, so the sum is linear in the log distances of the pairs: each times the number of
triplets that hold the pair, which `mining` counts in n² log n time. Value and gradient equal those
of the full sum.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional

from csim.embed.mining import Mining, PairCounts

Weighting = Callable[[PairCounts], Tensor]


class JointLoss:
    """Compute cross-entropy + β · triplet loss of one batch.

    Parameters
    ----------
    beta
        β, the weight of the triplet loss. Higher makes classes tighter but costs closed-set
        accuracy; 0 leaves it out.
    margin
        γ. Higher pushes classes farther apart; above log(1 + √2) not all triplets can meet it.
    mining
        Chooses the triplets that count.
    weighting
        Weighs each image in the cross-entropy: `by_triplets` or `evenly`.
    """

    def __init__(self, *, beta: float, margin: float, mining: Mining, weighting: Weighting) -> None:
        self.beta = beta
        self.margin = margin
        self.mining = mining
        self.weighting = weighting

    def __call__(self, vectors: Tensor, logits: Tensor, columns: Tensor) -> Tensor:
        """Return the loss of vectors (n, d) and logits (n, K) with true columns (n,)."""
        if not self.beta and self.weighting is evenly:
            return one_vs_rest_loss(logits, columns)
        log_distances = log_distance_matrix(vectors)
        with torch.no_grad():
            pairs = self.mining.count(log_distances, columns, self.margin)
        class_loss = one_vs_rest_loss(logits, columns, self.weighting(pairs))
        return class_loss + self.beta * triplet_loss(log_distances, pairs, self.margin)


def log_distance_matrix(vectors: Tensor) -> Tensor:
    """Return log(‖a−b‖ + 1) of all pairs of vectors, (n, n), with gradient 0 for equal vectors.

    Computed from inner products in double precision, it is exact to about 1e-8. In single precision
    it would be exact only to 5e-4 near 0.
    """
    double = vectors.double()
    lengths = (double * double).sum(1)
    squares = lengths[:, None] + lengths[None, :] - 2 * double @ double.T
    is_apart = squares > 1e-12
    # The inner `where` keeps the square root away from 0, whose gradient is NaN.
    distances = torch.where(is_apart, torch.where(is_apart, squares, 1.0).sqrt(), 0.0)
    return distances.log1p().to(vectors.dtype)


def triplet_loss(log_distances: Tensor, pairs: PairCounts, margin: float) -> Tensor:
    """Return the mean loss of the triplets counted in `pairs`; 0 if there are none."""
    total = ((pairs.pull - pairs.push) * log_distances).sum() + margin * pairs.triplets()
    return total / pairs.triplets().clamp(min=1)


def one_vs_rest_loss(logits: Tensor, columns: Tensor, weights: Tensor | None = None) -> Tensor:
    """Return the mean binary cross-entropy over classes and images; `weights` are (n,)."""
    targets = functional.one_hot(columns, logits.shape[1]).to(logits.dtype)
    if weights is None:
        return functional.binary_cross_entropy_with_logits(logits, targets)
    losses = functional.binary_cross_entropy_with_logits(logits, targets, reduction="none").mean(1)
    return (weights * losses).sum()


def by_triplets(pairs: PairCounts) -> Tensor:
    """Weigh an image by the number of triplets that hold it (the paper's overall objective).

    Without any triplet all images weigh the same.
    """
    counts = pairs.per_image()
    total = counts.sum()
    return torch.where(total > 0, counts / total.clamp(min=1), 1 / len(counts))


def evenly(pairs: PairCounts) -> Tensor:
    """Weigh all images the same."""
    return torch.full_like(pairs.pull[0], 1 / len(pairs.pull))
