"""Adam, with the fused kernel of torch and without the rest of `torch.optim`.

The first optimiser of `torch.optim` imports torch's compiler: 1 s and 72 MB in every process that
trains. The weights are those of `torch.optim.Adam(fused=True)` to the last bit.
"""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor

_BETA_1 = 0.9  # how much of the mean gradient stays at each step
_BETA_2 = 0.999  # how much of the mean squared gradient stays
_EPSILON = 1e-8  # avoids division by zero


class Adam:
    """Change parameters along their gradients, each at its own pace."""

    def __init__(self, parameters: Iterable[Tensor]) -> None:
        self._parameters = list(parameters)
        self._means = [torch.zeros_like(tensor) for tensor in self._parameters]
        self._squares = [torch.zeros_like(tensor) for tensor in self._parameters]
        self._steps = [torch.zeros((), device=tensor.device) for tensor in self._parameters]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for tensor in self._parameters:
            tensor.grad = None

    @torch.no_grad()
    def step(self, rate: float) -> None:
        """Take a step; a higher `rate` learns faster, until training no longer converges.

        Parameters without a gradient stay as they are.
        """
        gradients = {
            index: tensor.grad
            for index, tensor in enumerate(self._parameters)
            if tensor.grad is not None
        }
        steps = [self._steps[index] for index in gradients]
        torch._foreach_add_(steps, 1)
        torch._fused_adam_(
            [self._parameters[index] for index in gradients],
            [*gradients.values()],
            [self._means[index] for index in gradients],
            [self._squares[index] for index in gradients],
            [],
            steps,
            lr=rate,
            beta1=_BETA_1,
            beta2=_BETA_2,
            weight_decay=0.0,
            eps=_EPSILON,
            amsgrad=False,
            maximize=False,
        )
