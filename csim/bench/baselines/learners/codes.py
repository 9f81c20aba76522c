"""Loss-augmented inference over codes: the codes that a triplet's bound is taken at.

The loss [|h - h⁺| - |h - h⁻| + 1]₊ depends on the codes only through the sum of one number per bit: 1 if the anchor
differs from the positive there and not from the negative, -1 if the reverse, 0 otherwise. So the best codes are found
by a table over bits and running sums, for a whole batch at a time.
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
    rows, bits, _ = worth.shape
    width = 2 * bits + 1
    none = torch.full((rows, width + 2), -torch.inf, dtype=worth.dtype, device=worth.device)
    table = none.clone()  # column c + 1 is the running sum c - bits; one column of nothing at either end
    table[:, bits + 1] = 0
    came: list[Tensor] = []
    for bit in range(bits):
        own = worth[:, bit]
        options = torch.stack(
            [table[:, 2:] + own[:, :1], table[:, 1:-1] + own[:, 1:2], table[:, :-2] + own[:, 2:]], dim=2
        )
        best, how = options.max(dim=2)
        table = none.clone()
        table[:, 1:-1] = best
        came.append(how)
    sums = torch.arange(-bits, bits + 1, dtype=worth.dtype, device=worth.device)
    place = (table[:, 1:-1] + (sums + 1).clamp(min=0)).argmax(dim=1)
    counts = torch.empty((rows, bits), dtype=torch.long, device=worth.device)
    for bit in reversed(range(bits)):
        step = came[bit].gather(1, place[:, None])[:, 0] - 1
        counts[:, bit] = step
        place = place - step
    return counts
