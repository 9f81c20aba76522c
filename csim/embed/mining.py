"""Which triplets of a batch count in the loss.

A triplet is an anchor, a positive of its class and a negative of another. The paper wants the hard ones,
"hard" meaning a positive loss. Its text then takes the *nearest* positive and the *farthest* negative, which
are the easiest. The three readings are three objects:

`AllPositive`, the default, keeps every triplet of positive loss: it fits the paper's definition of hard and
its cubic cost. `BatchHard` keeps, for each anchor, the farthest positive and the nearest negative.
`Literal` does what the text says. docs/training.md compares them.

A reading does not list triplets, which would take n³ memory. It says how often each *pair* stands in one:
`pull[a, p]` as anchor and positive, `push[a, n]` as anchor and negative. The loss is linear in the pairs'
log distances, so the counts are all it needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor

_NEVER = float("inf")


@dataclass(frozen=True)
class PairCounts:
    """In how many triplets each pair stands: (n, n) as anchor × positive and as anchor × negative."""

    pull: Tensor
    push: Tensor

    def triplets(self) -> Tensor:
        """Return M, the number of triplets."""
        return self.pull.sum()

    def per_image(self) -> Tensor:
        """Return how often each image stands in a triplet, in whatever role, (n,); the sum is 3M."""
        return self.pull.sum(1) + self.pull.sum(0) + self.push.sum(0)


class Mining(Protocol):
    """A reading of "hard triplets"."""

    def count(self, log_distances: Tensor, labels: Tensor, margin: float) -> PairCounts:
        """Count the pairs of the chosen triplets, given log(distance + 1), (n, n), and labels, (n,)."""
        ...


class AllPositive:
    """Every triplet of positive loss, counted in n² log n time and n² memory.

    With A_p = log(‖a−p‖+1) + γ and B_n = log(‖a−n‖+1) a triplet counts if A_p > B_n. For each anchor, sorting
    one side and searching it for the other counts them all without forming one.
    """

    def count(self, log_distances: Tensor, labels: Tensor, margin: float) -> PairCounts:
        """Count the pairs of every triplet of positive loss."""
        is_positive, is_negative = _roles(labels)
        far_positives = torch.where(is_positive, log_distances + margin, -_NEVER)  # A, (n, n)
        near_negatives = torch.where(is_negative, log_distances, _NEVER)  # B, (n, n)
        beaten = torch.searchsorted(near_negatives.sort(1).values, far_positives)
        not_above = torch.searchsorted(far_positives.sort(1).values, near_negatives, right=True)
        dtype = log_distances.dtype
        return PairCounts(pull=beaten.to(dtype), push=(len(labels) - not_above).to(dtype))


class BatchHard:
    """For each anchor the farthest positive and the nearest negative, if their loss is positive."""

    def count(self, log_distances: Tensor, labels: Tensor, margin: float) -> PairCounts:
        """Count the pairs of at most one triplet per anchor."""
        is_positive, is_negative = _roles(labels)
        positive = torch.where(is_positive, log_distances, -_NEVER).max(1)
        negative = torch.where(is_negative, log_distances, _NEVER).min(1)
        loss = positive.values + margin - negative.values
        return _one_per_anchor(positive.indices, negative.indices, loss)


class Literal:
    """For each anchor the nearest positive and the farthest negative, if their loss is positive."""

    def count(self, log_distances: Tensor, labels: Tensor, margin: float) -> PairCounts:
        """Count the pairs of at most one triplet per anchor."""
        is_positive, is_negative = _roles(labels)
        positive = torch.where(is_positive, log_distances, _NEVER).min(1)
        negative = torch.where(is_negative, log_distances, -_NEVER).max(1)
        loss = torch.where(is_positive.any(1), positive.values + margin - negative.values, -_NEVER)
        return _one_per_anchor(
            positive.indices, negative.indices, torch.where(is_negative.any(1), loss, -_NEVER)
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
