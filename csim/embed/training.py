"""Training: mini-batch Adam over the joint loss, the same result for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from csim.embed.batches import Batches
from csim.embed.network import OpenWorldNetwork
from csim.records import Ints, Progress

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]


class Trainer:
    """Fits networks to labelled inputs.

    Parameters
    ----------
    loss
        From vectors, logits and true columns to a number.
    batches
        How the training set is cut.
    epochs
        n_e. Raising it fits the training set better and takes longer in proportion.
    learning_rate
        For Adam. Raising it learns faster until it no longer settles.
    """

    def __init__(self, loss: Loss, batches: Batches, *, epochs: int, learning_rate: float) -> None:
        self.loss = loss
        self.batches = batches
        self.epochs = epochs
        self.learning_rate = learning_rate

    def fit(
        self,
        network: OpenWorldNetwork,
        inputs: Tensor,
        columns: Ints,
        *,
        rng: np.random.Generator,
        progress: Progress | None = None,
    ) -> None:
        """Train `network` in place on inputs, (n, …), whose true columns are given, (n,)."""
        targets = torch.from_numpy(np.asarray(columns, np.int64)).to(inputs.device)
        optimiser = torch.optim.Adam(network.parameters(), lr=self.learning_rate, fused=True)
        network.train()
        for epoch in range(self.epochs):
            losses = []
            for indices in self.batches.epoch(columns, rng):
                batch = torch.from_numpy(indices).to(inputs.device)
                vectors, logits = network(inputs[batch])
                loss = self.loss(vectors, logits, targets[batch])
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
                losses.append(loss.detach())
            if progress:
                progress(epoch + 1, self.epochs, float(torch.stack(losses).mean()))
        network.eval()


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Draw initial weights from `seed` inside the block; torch's own generator is left as it was."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
