"""Choose the triplets of a batch that count in the loss.

A triplet is an anchor, a positive of its class and a negative of another class. The paper uses the
hard ones, where "hard" means a positive loss. But its text takes the *nearest* positive and the
*farthest* negative, which are the easiest. So there are three readings:

`AllPositive`, the default, keeps every triplet of positive loss. It fits the paper's definition of
hard and its cubic cost. `BatchHard` keeps the farthest positive and the nearest negative of each
anchor. `Literal` does what the text says. docs/training.md compares them.

Listing triplets would take n³ memory. Instead each reading counts the triplets that hold each
*pair*: `pull[a, p]` as anchor and positive, `push[a, n]` as anchor and negative. The loss is linear
in the pairs' log distances, so it needs only these counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

_INFINITY = float("inf")


@dataclass(frozen=True)
class PairCounts:
    """Hold the number of triplets of each pair: (n, n) anchor × positive and anchor × negative."""

    pull: Tensor
    push: Tensor

    def triplets(self) -> Tensor:
        """Return M, the number of triplets."""
        return self.pull.sum()

    def per_image(self) -> Tensor:
        """Return the number of triplets that hold each image, in any role, (n,); the sum is 3M."""
        return self.pull.sum(1) + self.pull.sum(0) + self.push.sum(0)


class Mining(Protocol):
    """Choose hard triplets."""

    def count(self, log_distances: Tensor, labels: Tensor, margin: float) -> PairCounts:
        """Count the pairs of the chosen triplets; log(distance + 1) is (n, n), labels (n,)."""
        ...


class AllPositive:
    """Choose every triplet of positive loss, in n² log n time and n² memory.

    With A_p = log(‖a−p‖+1) + γ and B_n = log(‖a−n‖+1) a triplet counts if A_p > B_n. For each
    anchor, sorting one side and searching it for the other counts all triplets without listing one.
    """

    def count(self, log_distances: Tensor, labels: Tensor, margin: float) -> PairCounts:
        """Count the pairs of every triplet of positive loss."""
        is_positive, is_negative = _roles(labels)
        far_positives = torch.where(is_positive, log_distances + margin, -_INFINITY)  # A, (n, n)
        near_negatives = torch.where(is_negative, log_distances, _INFINITY)  # B, (n, n)
        beaten = torch.searchsorted(near_negatives.sort(1).values, far_positives)
        not_above = torch.searchsorted(far_positives.sort(1).values, near_negatives, right=True)
        dtype = log_distances.dtype
        return PairCounts(pull=beaten.to(dtype), push=(len(labels) - not_above).to(dtype))


class BatchHard:
    """Choose each anchor's farthest positive and nearest negative, if their loss is positive."""

    def count(self, log_distances: Tensor, labels: Tensor, margin: float) -> PairCounts:
        """Count the pairs of at most one triplet per anchor."""
        is_positive, is_negative = _roles(labels)
        positive = torch.where(is_positive, log_distances, -_INFINITY).max(1)
        negative = torch.where(is_negative, log_distances, _INFINITY).min(1)
        loss = positive.values + margin - negative.values
        return _one_per_anchor(positive.indices, negative.indices, loss)


class Literal:
    """Choose each anchor's nearest positive and farthest negative, if their loss is positive."""

    def count(self, log_distances: Tensor, labels: Tensor, margin: float) -> PairCounts:
        """Count the pairs of at most one triplet per anchor."""
        is_positive, is_negative = _roles(labels)
        positive = torch.where(is_positive, log_distances, _INFINITY).min(1)
        negative = torch.where(is_negative, log_distances, -_INFINITY).max(1)
        loss = torch.where(
            is_positive.any(1), positive.values + margin - negative.values, -_INFINITY
        )
        return _one_per_anchor(
            positive.indices, negative.indices, torch.where(is_negative.any(1), loss, -_INFINITY)
        )


def _roles(labels: Tensor) -> tuple[Tensor, Tensor]:
    is_same = labels[:, None] == labels[None, :]
    is_self = torch.eye(len(labels), dtype=torch.bool, device=labels.device)
    return is_same & ~is_self, ~is_same


def _one_per_anchor(positive: Tensor, negative: Tensor, loss: Tensor) -> PairCounts:
    counts = (loss > 0).to(loss.dtype)[:, None]
    empty = torch.zeros(len(loss), len(loss), dtype=loss.dtype, device=loss.device)
    return PairCounts(
        pull=empty.scatter(1, positive[:, None], counts),
        push=empty.scatter(1, negative[:, None], counts),
    )
