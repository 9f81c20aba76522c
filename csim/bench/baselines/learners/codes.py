"""Loss-augmented inference over codes: the codes that a triplet's bound is taken at.

The loss [|h - h⁺| - |h - h⁻| + 1]₊ depends on the codes only through the sum of one number per bit: 1 if the anchor
differs from the positive there and not from the negative, -1 if the reverse, 0 otherwise. The publication fills a table
over bits and running sums. That is not needed: the loss is the larger of 0 and the sum + 1, so the best codes are the
better of two choices, one without the loss and one with the sum + 1, and each is made bit by bit.
"""

from __future__ import annotations

import torch
from torch import Tensor


def augmented(anchor: Tensor, positive: Tensor, negative: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the codes of ±1 that maximise loss + code · activation, for triplets of activations, (n, q) each."""
    # What a bit is worth at best if it counts -1, 0, +1: (n, q, 3).
    alike, apart = anchor + positive + negative, anchor - positive - negative
    worth = torch.stack(
        [
            (anchor + positive - negative).abs(),
            torch.maximum(alike.abs(), apart.abs()),
            (anchor - positive + negative).abs(),
        ],
        dim=2,
    )
    counts = _best_counts(worth)  # (n, q), of -1, 0, 1
    # The signs that reach it: the anchor's is that of the sum inside the bars.
    is_plain = alike.abs() >= apart.abs()
    inside = torch.where(is_plain, alike, apart)
    inside = torch.where(counts == 1, anchor - positive + negative, inside)
    inside = torch.where(counts == -1, anchor + positive - negative, inside)
    own = torch.where(inside >= 0, 1.0, -1.0)
    differs_both = (counts == 0) & ~is_plain
    first = torch.where((counts == 1) | differs_both, -own, own)
    second = torch.where((counts == -1) | differs_both, -own, own)
    return own, first, second


def _best_counts(worth: Tensor) -> Tensor:
    """Return the counts, (n, q), that maximise the sum of worths and [their sum + 1]₊."""
    steps = torch.tensor([-1, 0, 1], device=worth.device)
    ways = [
        (worth + counted * steps).max(dim=2) for counted in (0, 1)
    ]  # without the loss, and with it
    values = [way.values.sum(dim=1) + counted for counted, way in enumerate(ways)]
    return steps[torch.where((values[1] > values[0])[:, None], ways[1].indices, ways[0].indices)]
