"""Train a network: mini-batch Adam on the joint loss, with the same result for the same seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, islice

import numpy as np
import torch
from torch import Tensor

from csim.embed.adam import Adam
from csim.embed.batches import Batches
from csim.embed.inputs import scale
from csim.embed.network import OpenWorldNetwork
from csim.embed.weight_mean import WeightMean
from csim.records import Ints

Loss = Callable[[Tensor, Tensor, Tensor], Tensor]
Augmentation = Callable[[Tensor, np.random.Generator], Tensor]
Progress = Callable[[int, int, float], None]  # epoch, epochs, mean loss


class NetworkTrainer:
    """Fit networks to labelled inputs.

    Parameters
    ----------
    loss
        Returns the loss from vectors, logits and true columns.
    batches
        Cuts the training set into mini-batches.
    augment
        Changes a batch before the network learns from it.
    epochs
        n_e. Higher fits the training set better but takes longer in proportion.
    learning_rate
        Of Adam. Higher learns faster, until training no longer converges.
    update_rate
        The same in a training for a number of steps. Higher learns more in few steps.
    """

    def __init__(
        self,
        loss: Loss,
        batches: Batches,
        augment: Augmentation,
        *,
        epochs: int,
        learning_rate: float,
        update_rate: float,
    ) -> None:
        self.loss = loss
        self.batches = batches
        self.augment = augment
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.update_rate = update_rate

    def fit(
        self,
        network: OpenWorldNetwork,
        inputs: Tensor,
        columns: Ints,
        *,
        rng: np.random.Generator,
        steps: int = 0,
        epochs: int = 0,
        mean: OpenWorldNetwork | None = None,
        progress: Progress | None = None,
    ) -> None:
        """Train `network` in place on inputs, (n, …), with their true columns, (n,).

        Inputs in bytes are scaled batch by batch: as floats they would take four times the memory.
        With `steps` above 0 it trains for that many batches at the update rate instead of all
        epochs. With `epochs` above 0 it trains for that many epochs instead of its own. Higher fits
        better but takes longer in proportion. `mean` follows the weights over the steps.
        """
        targets = torch.from_numpy(np.asarray(columns, np.int64)).to(inputs.device)
        optimiser = Adam(network.parameters())
        epochs = epochs or self.epochs
        if steps:
            epochs = max(1, round(steps * self.batches.size / len(columns)))
        rate = self.update_rate if steps else self.learning_rate
        follower = WeightMean(network, mean, steps) if mean is not None else None
        taken = 0
        network.train()
        for epoch in count(1):
            losses: list[Tensor] = []
            for indices in islice(
                self.batches.epoch(columns, rng), steps - taken if steps else None
            ):
                batch = torch.from_numpy(indices).to(inputs.device)
                vectors, logits = network(self.augment(scale(inputs[batch]), rng))
                loss = self.loss(vectors, logits, targets[batch])
                optimiser.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step(rate)
                if follower:
                    follower.follow()
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
    """Draw initial weights from `seed` inside the block; torch's global generator is unchanged."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield
