"""Train a model from a job: csim's own network.

The network starts from random weights, or from the previous model for a number of steps or epochs.
In the second case a new class starts from the mean of its images' vectors. Steps have a constant
rate, and the model is the mean of the weights; the next training starts from the last ones.

With `hold_out` some images of every class are held out of training. Their vectors are part of the
model: thresholds are fitted on them.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from csim.embed.backbone import OwnBackbone
from csim.embed.network import OpenWorldNetwork
from csim.embed.network_trainer import NetworkTrainer, Progress, seeded
from csim.records import Bools, ClassId, Floats, Images, Ints, Job, Model

_MIN_TRAINED = 5  # the first images of a class, never held out: too few to give any away


class ModelTrainer:
    """Train models.

    Parameters
    ----------
    backbone
        Makes the networks.
    trainer
        Trains the network: loss, batches, epochs and learning rate.
    device
        The device to train on.
    hold_out
        Share of each class's images to hold out of training. Higher makes thresholds more stable
        but the training set smaller; 0 trains on all.
    update_steps
        Batches to train when there is a previous model to continue from. Higher fits better but
        takes longer in proportion; 0 starts from random weights and trains for all epochs.
    update_epochs
        Epochs to train instead, from the previous model at the full learning rate. Higher fits
        better but takes longer in proportion; 0 leaves it to `update_steps`.
    scale
        Scale of the cosine in the one-vs-rest layer. Higher allows scores nearer 0 and 1.
    keep_trained
        Put the vectors of the training images into the model, for thresholds fitted on them.
    """

    def __init__(
        self,
        backbone: OwnBackbone,
        trainer: NetworkTrainer,
        *,
        device: torch.device,
        hold_out: float,
        update_steps: int,
        update_epochs: int = 0,
        scale: float,
        keep_trained: bool = False,
    ) -> None:
        self._backbone = backbone
        self._trainer = trainer
        self._device = device
        self._hold_out = hold_out
        self._update_steps = update_steps
        self._update_epochs = update_epochs
        self._scale = scale
        self._keep_trained = keep_trained

    def train(
        self, job: Job, previous: Model | None = None, progress: Progress | None = None
    ) -> Model:
        """Return the model of a job; the same job and previous model give the same model."""
        rng = np.random.default_rng(job.seed)
        class_ids, columns = np.unique(job.labels, return_inverse=True)
        with seeded(job.seed):
            network = OpenWorldNetwork(
                self._backbone.body(job.images), class_ids.tolist(), self._scale
            )
        is_held = held_out(job.images, columns, job.is_told, self._hold_out)
        columns = columns[~is_held]
        inputs = self._backbone.inputs(job.images[~is_held])
        steps = self._update_steps if previous is not None else 0
        epochs = self._update_epochs if previous is not None else 0
        network.to(self._device)
        mean = None
        if previous is not None and (steps or epochs):
            shown = {
                class_id: inputs[columns == column]
                for column, class_id in enumerate(network.class_ids)
                if class_id not in previous.class_ids
            }
            if steps:
                mean = deepcopy(network)
                _continue(mean, previous.network, previous.class_ids, shown)
            _continue(network, previous.in_training or previous.network, previous.class_ids, shown)
        self._trainer.fit(
            network,
            inputs,
            columns,
            rng=rng,
            steps=steps,
            epochs=epochs,
            mean=mean,
            progress=progress,
        )
        result = self._model(mean or network, job, is_held)
        return replace(result, in_training=network.arrays()) if mean else result

    def _model(self, network: OpenWorldNetwork, job: Job, is_held: Bools) -> Model:
        head = network.one_vs_rest
        encoder = self._backbone.encoder(network)
        is_kept = ~is_held & self._keep_trained
        return Model(
            version=job.version,
            class_ids=network.class_ids,
            image_shape=job.images.shape[1:],
            network=network.arrays(),
            weights=head.weights().detach().cpu().numpy().copy(),
            bias=head.bias.detach().cpu().numpy().copy(),
            held_out=encoder.embed(job.images[is_held]),
            trained=encoder.embed(job.images[is_kept]),
            trained_ids=job.labels[is_kept],
        )


def _continue(
    network: OpenWorldNetwork,
    weights: Mapping[str, Floats],
    class_ids: Sequence[ClassId],
    new: Mapping[ClassId, Tensor],
) -> None:
    """Start from earlier weights with their classes, and each new class from its images."""
    network.continue_from(weights, class_ids)
    for class_id, inputs in new.items():
        network.imprint(network.class_ids.index(class_id), inputs)


def held_out(images: Images | Floats, columns: Ints, is_told: Bools, share: float) -> Bools:
    """Tell which images to hold out of training, (n,): about a share of each class's told images.

    `images` are (n, …), oldest first. The content of an image decides, so that every later model
    holds out the same images: an image that an earlier model was trained on does not score like a
    fresh one. The first images of a class are never held out. A higher share holds out more.

    >>> images = np.random.default_rng(0).integers(0, 256, (500, 8, 8), np.uint8)
    >>> is_held = held_out(images, np.zeros(500, int), np.ones(500, bool), share=0.1)
    >>> int(is_held.sum()), bool(is_held[:_MIN_TRAINED].any())
    (55, False)
    """
    draws = np.ones(len(images))
    if share:
        draws = np.array([zlib.crc32(image.tobytes()) for image in images]) / 2**32
    is_held = (draws < share) & is_told
    for column in np.unique(columns):
        indices = np.flatnonzero(columns == column)
        is_held[indices[:_MIN_TRAINED]] = False
    return is_held
