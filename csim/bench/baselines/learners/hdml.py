"""HDML (Norouzi, Fleet, Salakhutdinov, NIPS 2012): codes of ±1 such that a class's codes differ in few bits.

A network with tanh on both layers, learned on a bound of the triplet loss. Neighbours are found asymmetrically: codes
are looked for, and what is asked about stays real.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch
from sklearn.utils.validation import check_is_fitted, validate_data
from torch import Tensor, nn

from csim.bench.baselines.learners.base import Learner, Lesson, OnStep
from csim.bench.baselines.learners.codes import augmented
from csim.embed.network import pick_device
from csim.records import Floats, Ints

_SATURATED = 0.25  # the mean of |tanh| that queries are scaled to
_DEAD = 0.98  # a bit that is the same for a larger share says nothing
_BALANCE = 0.5  # how much of a bit's mean is taken off at most
_EARLY = 25  # epochs of half the momentum, and between two looks at dead bits
_LOOK = 5  # epochs between two looks at the validation images


class HDML(Learner):
    """Hamming distance metric learning, by a network.

    Parameters
    ----------
    bits
        Of a code. Raising it tells more apart, for time in proportion.
    hidden
        Units between pixels and bits. Raising it fits more.
    epochs
        Passes over the images at most. Raising it fits better and takes longer.
    batch
        Triplets at a time. Raising it takes fewer, surer steps, with nearer negatives.
    rate
        Of the first steps. Raising it learns faster until it no longer settles.
    decay
        Of the weights. Raising it keeps them small.
    k
        Neighbours that vote on the validation images.
    patience
        Looks at them without a gain, after which it ends.
    random_state
        Draws weights and triplets, and the validation images if none are given.
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
    def _most(self) -> int:
        return self.epochs

    def _learn(self, lesson: Lesson, most: int, on_step: OnStep) -> int:
        device = pick_device("auto")
        self._centre = lesson.vectors.mean(axis=0)
        centred = lesson.vectors - self._centre
        inputs, columns = (torch.from_numpy(own).to(device) for own in (centred, lesson.columns))
        self._network = self._start(inputs)
        optimiser = torch.optim.SGD(
            self._network.parameters(), lr=self.rate, weight_decay=self.decay, momentum=0.45
        )
        self._scale = self._find_scale(inputs)
        best, kept, weights = -1.0, 0, _copy(self._network)
        for epoch in range(1, most + 1):
            on_step(epoch - 1, most)
            for group in optimiser.param_groups:
                group["momentum"] = 0.45 if epoch <= _EARLY else 0.9
                group["lr"] = self.rate * (1 - (epoch - 1) / self.epochs)
            for batch in self._batches(lesson.columns):
                self._step(optimiser, inputs, columns, batch)
            if epoch % _EARLY == 0 and epoch < most:
                self._revive(inputs)
            if epoch % _LOOK == 0 or epoch == most:
                self._scale = self._find_scale(inputs)
                score = lesson.score(self._codes(lesson.vectors), self._map(lesson.held), self.k)
                if score >= best:
                    best, kept, weights = score, epoch, _copy(self._network)
                if epoch - kept >= self.patience * _LOOK:
                    break
        self._network.load_state_dict(weights)
        self._scale = self._find_scale(inputs)
        on_step(most, most)
        self._n_features_out = self.bits
        return kept

    def _start(self, inputs: Tensor) -> nn.Sequential:
        """Return a network whose units are on for one half of the images."""
        draws = torch.Generator().manual_seed(int(self._rng.integers(2**31)))
        layers = [nn.Linear(inputs.shape[1], self.hidden), nn.Linear(self.hidden, self.bits)]
        network = nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh())
        with torch.no_grad():
            for layer in layers:
                layer.weight.copy_(0.1 * torch.randn(layer.weight.shape, generator=draws))
        network.to(inputs.device)
        with torch.no_grad():
            seen = inputs
            for layer in layers:
                layer.bias.copy_(-(seen @ layer.weight.T).median(dim=0).values)
                seen = torch.tanh(layer(seen))
        return network

    def _batches(self, columns: Ints) -> Iterator[tuple[Tensor, ...]]:
        """Return places: of every image once, of one of its class beside it, and of any to find negatives among."""
        order, sizes = np.argsort(columns, kind="stable"), np.bincount(columns)
        starts = np.cumsum(sizes) - sizes
        anchors = self._rng.permutation(len(columns))
        own = columns[anchors]
        fellows = order[starts[own] + (self._rng.random(len(own)) * sizes[own]).astype(np.int64)]
        others = self._rng.integers(len(columns), size=len(columns))
        for start in range(0, len(anchors), self.batch):
            yield tuple(
                torch.from_numpy(places[start : start + self.batch])
                for places in (anchors, fellows, others)
            )

    def _step(
        self,
        optimiser: torch.optim.Optimizer,
        inputs: Tensor,
        columns: Tensor,
        batch: tuple[Tensor, ...],
    ) -> None:
        """Lower the bound for triplets with the negatives whose codes are nearest."""
        places = [own.to(inputs.device) for own in batch]
        anchor, fellow, other = (self._network(inputs[own]) for own in places)
        likeness = _signs(anchor) @ _signs(other).T  # more bits in common, more alike
        is_negative = columns[places[0]][:, None] != columns[places[2]][None]
        chosen = likeness.masked_fill(~is_negative, -torch.inf).argmax(dim=1)
        is_there = is_negative.any(dim=1)
        if not is_there.any():
            return
        triplet = (anchor[is_there], fellow[is_there], other[chosen[is_there]])
        with torch.no_grad():
            pulls = [
                code - _signs(own) for code, own in zip(augmented(*triplet), triplet, strict=True)
            ]
            pulls[0] += (
                triplet[0].mean(dim=0).clamp(-_BALANCE, _BALANCE)
            )  # keeps a bit on for one half
        loss = sum((pull * own).sum() for pull, own in zip(pulls, triplet, strict=True)) / len(
            triplet[0]
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    def _revive(self, inputs: Tensor) -> None:
        """Draw the weights of bits anew that are on, or off, for nearly all images."""
        last = self._network[2]
        assert isinstance(last, nn.Linear)
        with torch.no_grad():
            hidden = self._network[:2](inputs)
            is_on = (last(hidden) > 0).float().mean(dim=0)
            dead = torch.nonzero(torch.maximum(is_on, 1 - is_on) > _DEAD)[:, 0]
            if len(dead):
                drawn = 0.01 * self._rng.standard_normal((len(dead), self.hidden))
                last.weight[dead] = torch.from_numpy(drawn).to(last.weight)
                last.bias[dead] = -(hidden @ last.weight[dead].T).median(dim=0).values

    def _find_scale(self, inputs: Tensor) -> Tensor:
        """Return what each bit is multiplied by so that |tanh| of it has the usual mean, (q,)."""
        with torch.no_grad():
            sizes = self._network[:3](inputs).abs()  # (n, q)
            low = torch.full((self.bits,), 1e-6, device=inputs.device)
            high = torch.full_like(low, 1e6)
            for _ in range(60):
                middle = (low * high).sqrt()
                is_over = torch.tanh(sizes * middle).mean(dim=0) > _SATURATED
                low, high = torch.where(is_over, low, middle), torch.where(is_over, middle, high)
            return low

    def gallery(self, X: npt.ArrayLike) -> Floats:
        """Return the codes of vectors, (n, d): ±½, so that distances to what `transform` returns are as published."""
        check_is_fitted(self)
        return self._codes(np.asarray(validate_data(self, X, dtype=np.float32, reset=False)))

    def _codes(self, vectors: Floats) -> Floats:
        return np.where(self._activations(vectors) >= 0, np.float32(0.5), np.float32(-0.5))

    def _map(self, vectors: Floats) -> Floats:
        return np.asarray(np.tanh(self._activations(vectors) * self._scale.cpu().numpy()) / 2)

    def _activations(self, vectors: Floats) -> Floats:
        """Return what comes before the last tanh, (n, q)."""
        with torch.no_grad():
            inputs = torch.from_numpy(vectors - self._centre)
            return np.asarray(self._network[:3](inputs.to(self._scale.device)).cpu().numpy())


def _signs(activations: Tensor) -> Tensor:
    return torch.where(activations >= 0, 1.0, -1.0)


def _copy(network: nn.Sequential) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}
