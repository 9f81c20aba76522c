"""Loss-augmented inference of HDML: the codes at which the bound of a triplet is taken.

The triplet loss [|h - h⁺| - |h - h⁻| + 1]₊ of Norouzi, Fleet and Salakhutdinov (NIPS 2012) depends
on the codes only through a sum over the bits. A bit adds 1 if the anchor differs there from the
positive alone, -1 if it differs from the negative alone, and 0 otherwise. The publication fills a
table over bits and running sums. csim does not need it: the loss is max(0, sum + 1), so the best
codes are the better of two choices, without the loss and with sum + 1. Each is found bit by bit.
"""

from __future__ import annotations

import torch
from torch import Tensor


def loss_augmented_codes(
    anchor: Tensor, positive: Tensor, negative: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the codes of ±1 that maximise loss + code · activation.

    The arguments are the activations of triplets, (n, q) each. So are the codes.
    """
    alike = anchor + positive + negative
    apart = anchor - positive - negative
    # The highest value of a bit that adds -1, 0 or 1 to the sum, (n, q, 3).
    values = torch.stack(
        [
            (anchor + positive - negative).abs(),
            torch.maximum(alike.abs(), apart.abs()),
            (anchor - positive + negative).abs(),
        ],
        dim=2,
    )
    added = _best_additions(values)  # (n, q), of -1, 0, 1
    # The anchor's sign is the sign of the expression inside the absolute value.
    is_alike = alike.abs() >= apart.abs()
    inside = torch.where(is_alike, alike, apart)
    inside = torch.where(added == 1, anchor - positive + negative, inside)
    inside = torch.where(added == -1, anchor + positive - negative, inside)
    anchor_code = torch.where(inside >= 0, 1.0, -1.0)
    differs_from_both = (added == 0) & ~is_alike
    positive_code = torch.where((added == 1) | differs_from_both, -anchor_code, anchor_code)
    negative_code = torch.where((added == -1) | differs_from_both, -anchor_code, anchor_code)
    return anchor_code, positive_code, negative_code


def _best_additions(values: Tensor) -> Tensor:
    """Return what each bit adds, (n, q), to maximise the sum of values + [sum + 1]₊."""
    steps = torch.tensor([-1, 0, 1], device=values.device)
    choices = [(values + with_loss * steps).max(dim=2) for with_loss in (0, 1)]
    totals = [choice.values.sum(dim=1) + with_loss for with_loss, choice in enumerate(choices)]
    is_with_loss = (totals[1] > totals[0])[:, None]
    return steps[torch.where(is_with_loss, choices[1].indices, choices[0].indices)]
