"""Training: mini-batch Adam over the joint loss, the same result for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice

import numpy as np
import torch
from torch import Tensor

from csim.embed.batches import Batches
from csim.embed.network import OpenWorldNetwork
from csim.records import Ints, Progress

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
Change = Callable[[Tensor, np.random.Generator], Tensor]


class NetworkTrainer:
    """Fits networks to labelled inputs.

    Parameters
    ----------
    loss
        From vectors, logits and true columns to a number.
    batches
        How the training set is cut.
    augment
        What is done to a batch before it is learned from.
    epochs
        n_e. Raising it fits the training set better and takes longer in proportion.
    learning_rate
        For Adam. Raising it learns faster until it no longer settles.
    """

    def __init__(
        self, loss: Loss, batches: Batches, augment: Change, *, epochs: int, learning_rate: float
    ) -> None:
        self.loss = loss
        self.batches = batches
        self.augment = augment
        self.epochs = epochs
        self.learning_rate = learning_rate

    def fit(
        self,
        network: OpenWorldNetwork,
        inputs: Tensor,
        columns: Ints,
        *,
        rng: np.random.Generator,
        steps: int = 0,
        progress: Progress | None = None,
    ) -> None:
        """Train `network` in place on inputs, (n, …), whose true columns are given, (n,).

        With `steps` not for all epochs but for so many batches; the learning rate then falls to zero, so that what is
        learned in a short time is settled at its end.
        """
        targets = torch.from_numpy(np.asarray(columns, np.int64)).to(inputs.device)
        optimiser = torch.optim.Adam(network.parameters(), lr=self.learning_rate, fused=True)
        epochs = max(1, round(steps * self.batches.size / len(columns))) if steps else self.epochs
        taken = 0
        network.train()
        for epoch in count(1):
            losses: list[Tensor] = []
            for indices in islice(
                self.batches.epoch(columns, rng), steps - taken if steps else None
            ):
                for group in optimiser.param_groups if steps else ():
                    group["lr"] = self.learning_rate * (1 - (taken + len(losses)) / steps)
                batch = torch.from_numpy(indices).to(inputs.device)
                vectors, logits = network(self.augment(inputs[batch], rng))
                loss = self.loss(vectors, logits, targets[batch])
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                losses.append(loss.detach())
            taken += len(losses)
            is_last = taken >= steps if steps else epoch >= epochs
            if progress:
                progress(
                    epoch,
                    epoch if is_last else max(epoch + 1, epochs),
                    float(torch.stack(losses).mean()),
                )
            if is_last:
                break
        network.eval()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw initial weights from `seed` inside the block; torch's own generator is left as it was."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
