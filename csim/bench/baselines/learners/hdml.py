"""HDML (Norouzi, Fleet, Salakhutdinov, NIPS 2012): codes of ±1 that differ little within a class.

A network with tanh on both layers is trained on a bound of the triplet loss. The neighbour search
is asymmetric: the gallery consists of codes, and queries stay real-valued.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from csim.bench.baselines.learners.base import MetricLearner, OnStep, TrainingSplit
from csim.bench.baselines.learners.loss_augmented import loss_augmented_codes
from csim.embed.network import pick_device
from csim.records import Floats, Ints

_QUERY_SATURATION = 0.25  # the mean of |tanh| that queries are scaled to
_DEAD_BIT_SHARE = 0.98  # a bit with one value for a larger share of images carries nothing
_MAX_BALANCE = 0.5  # largest gradient that pulls the mean of a bit towards 0
_EARLY_EPOCHS = 25  # epochs of low momentum, and between two searches for dead bits
_EARLY_MOMENTUM = 0.45
_MOMENTUM = 0.9
_CHECK_INTERVAL = 5  # epochs between two validation scores
_SCALE_BISECTIONS = 60


class HDML(MetricLearner):
    """Learn binary codes with Hamming distance metric learning.

    Parameters
    ----------
    bits
        Bits of a code. Higher separates more; the time grows in proportion.
    hidden
        Units of the hidden layer. Higher fits more.
    epochs
        Passes over the images at most. Higher fits better and takes longer.
    batch
        Triplets per step. Higher takes fewer, more reliable steps, with nearer negatives.
    rate
        Initial learning rate. Higher learns faster, until training diverges.
    decay
        Weight decay. Higher keeps the weights smaller.
    k
        Neighbours that vote on the validation images. Higher smooths over single neighbours.
    patience
        Validation scores without a gain, after which training ends. Higher trains for longer.
    random_state
        Seed that draws weights and triplets, and the validation images if none are given.
    """

    def __init__(
        self,
        *,
        bits: int = 64,
        hidden: int = 512,
        epochs: int = 100,
        batch: int = 100,
        rate: float = 0.003,
        decay: float = 1e-4,
        k: int = 3,
        patience: int = 10,
        random_state: int | None = 0,
    ) -> None:
        self.bits = bits
        self.hidden = hidden
        self.epochs = epochs
        self.batch = batch
        self.rate = rate
        self.decay = decay
        self.k = k
        self.patience = patience
        self.random_state = random_state

    @property
    def _max_steps(self) -> int:
        return self.epochs

    def _learn(self, split: TrainingSplit, max_steps: int, on_step: OnStep) -> int:
        device = pick_device("auto")
        self._centre = split.vectors.mean(axis=0)
        inputs = torch.from_numpy(split.vectors - self._centre).to(device)
        columns = torch.from_numpy(split.columns).to(device)
        self._network = self._start(inputs)
        optimiser = torch.optim.SGD(
            self._network.parameters(),
            lr=self.rate,
            weight_decay=self.decay,
            momentum=_EARLY_MOMENTUM,
        )
        self._scale = self._find_scale(inputs)
        best = -1.0
        kept = 0
        weights = _copy_weights(self._network)
        for epoch in range(1, max_steps + 1):
            on_step(epoch - 1, max_steps)
            for group in optimiser.param_groups:
                group["momentum"] = _EARLY_MOMENTUM if epoch <= _EARLY_EPOCHS else _MOMENTUM
                group["lr"] = self.rate * (1 - (epoch - 1) / self.epochs)
            for batch in self._batches(split.columns):
                self._step(optimiser, inputs, columns, batch)
            if epoch % _EARLY_EPOCHS == 0 and epoch < max_steps:
                self._redraw_dead_bits(inputs)
            if epoch % _CHECK_INTERVAL == 0 or epoch == max_steps:
                self._scale = self._find_scale(inputs)
                score = split.score(self._codes(split.vectors), self._map(split.held_out), self.k)
                if score >= best:
                    best = score
                    kept = epoch
                    weights = _copy_weights(self._network)
                if epoch - kept >= self.patience * _CHECK_INTERVAL:
                    break
        self._network.load_state_dict(weights)
        self._scale = self._find_scale(inputs)
        on_step(max_steps, max_steps)
        self._n_features_out = self.bits
        return kept

    def _start(self, inputs: Tensor) -> nn.Sequential:
        """Return a network whose units are positive for one half of the images."""
        draws = torch.Generator().manual_seed(int(self._rng.integers(2**31)))
        layers = [nn.Linear(inputs.shape[1], self.hidden), nn.Linear(self.hidden, self.bits)]
        network = nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh())
        with torch.no_grad():
            for layer in layers:
                layer.weight.copy_(0.1 * torch.randn(layer.weight.shape, generator=draws))
        network.to(inputs.device)
        with torch.no_grad():
            activations = inputs
            for layer in layers:
                layer.bias.copy_(-(activations @ layer.weight.T).median(dim=0).values)
                activations = torch.tanh(layer(activations))
        return network

    def _batches(self, columns: Ints) -> Iterator[tuple[Tensor, ...]]:
        """Yield indices of anchors, positives and images to find negatives among.

        Every image is an anchor once. Its positive is a random image of its class.
        """
        order = np.argsort(columns, kind="stable")
        sizes = np.bincount(columns)
        starts = np.cumsum(sizes) - sizes
        anchors = self._rng.permutation(len(columns))
        classes = columns[anchors]
        ranks = (self._rng.random(len(classes)) * sizes[classes]).astype(np.int64)
        positives = order[starts[classes] + ranks]
        others = self._rng.integers(len(columns), size=len(columns))
        for start in range(0, len(anchors), self.batch):
            yield tuple(
                torch.from_numpy(indices[start : start + self.batch])
                for indices in (anchors, positives, others)
            )

    def _step(
        self,
        optimiser: torch.optim.Optimizer,
        inputs: Tensor,
        columns: Tensor,
        batch: tuple[Tensor, ...],
    ) -> None:
        """Lower the bound for triplets with the negatives whose codes are nearest."""
        indices = [part.to(inputs.device) for part in batch]
        anchor, positive, other = (self._network(inputs[part]) for part in indices)
        similarity = _signs(anchor) @ _signs(other).T  # bits in common, minus bits that differ
        is_negative = columns[indices[0]][:, None] != columns[indices[2]][None]
        chosen = similarity.masked_fill(~is_negative, -torch.inf).argmax(dim=1)
        has_negative = is_negative.any(dim=1)
        if not has_negative.any():
            return
        triplet = (anchor[has_negative], positive[has_negative], other[chosen[has_negative]])
        with torch.no_grad():
            gradients = [
                code - _signs(activations)
                for code, activations in zip(loss_augmented_codes(*triplet), triplet, strict=True)
            ]
            # Keeps a bit positive for one half of the images.
            gradients[0] += triplet[0].mean(dim=0).clamp(-_MAX_BALANCE, _MAX_BALANCE)
        products = [
            (gradient * activations).sum()
            for gradient, activations in zip(gradients, triplet, strict=True)
        ]
        loss = sum(products) / len(triplet[0])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def _redraw_dead_bits(self, inputs: Tensor) -> None:
        """Draw new weights for bits that have the same value for nearly all images."""
        last = self._network[2]
        assert isinstance(last, nn.Linear)
        with torch.no_grad():
            hidden = self._network[:2](inputs)
            positive = (last(hidden) > 0).float().mean(dim=0)  # share of images, (q,)
            dead = torch.nonzero(torch.maximum(positive, 1 - positive) > _DEAD_BIT_SHARE)[:, 0]
            if len(dead):
                drawn = 0.01 * self._rng.standard_normal((len(dead), self.hidden))
                last.weight[dead] = torch.from_numpy(drawn).to(last.weight)
                last.bias[dead] = -(hidden @ last.weight[dead].T).median(dim=0).values

    def _find_scale(self, inputs: Tensor) -> Tensor:
        """Return the factor of each bit, (q,), that brings its mean |tanh| to 0.25."""
        with torch.no_grad():
            magnitudes = self._network[:3](inputs).abs()  # (n, q)
            low = torch.full((self.bits,), 1e-6, device=inputs.device)
            high = torch.full_like(low, 1e6)
            for _ in range(_SCALE_BISECTIONS):
                middle = (low * high).sqrt()
                is_over = torch.tanh(magnitudes * middle).mean(dim=0) > _QUERY_SATURATION
                low = torch.where(is_over, low, middle)
                high = torch.where(is_over, middle, high)
            return low

    def gallery(self, X: npt.ArrayLike) -> Floats:
        """Return the codes of vectors, (n, d), as ±½.

        Distances between them and the output of `transform` are then as published.
        """
        check_is_fitted(self)
        return self._codes(np.asarray(validate_data(self, X, dtype=np.float32, reset=False)))

    def _codes(self, vectors: Floats) -> Floats:
        return np.where(self._activations(vectors) >= 0, np.float32(0.5), np.float32(-0.5))

    def _map(self, vectors: Floats) -> Floats:
        return np.asarray(np.tanh(self._activations(vectors) * self._scale.cpu().numpy()) / 2)

    def _activations(self, vectors: Floats) -> Floats:
        """Return the activations before the last tanh, (n, q)."""
        with torch.no_grad():
            inputs = torch.from_numpy(vectors - self._centre)
            return np.asarray(self._network[:3](inputs.to(self._scale.device)).cpu().numpy())


def _signs(activations: Tensor) -> Tensor:
    return torch.where(activations >= 0, 1.0, -1.0)


def _copy_weights(network: nn.Sequential) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}
