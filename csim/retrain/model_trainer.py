"""ModelTrainer: a job becomes a model.

The network starts anew, or from the model before for a number of steps; a new class then starts from the mean of its
images' vectors. With `hold_out` some images of every class are kept out of training; their vectors travel with the
model, for thresholds that keep their promise.
"""

from __future__ import annotations

import zlib

import numpy as np
import torch

from csim.embed.backbone import Backbone
from csim.embed.network import OpenWorldNetwork
from csim.embed.network_trainer import NetworkTrainer, seeded
from csim.records import Bools, Images, Ints, Job, Model, Progress

_FIRST = 5  # images of a class that are too precious to keep out


class ModelTrainer:
    """Trains models.

    Parameters
    ----------
    backbone
        A trained body, or a foreign encoder.
    trainer
        Loss, batches, epochs and learning rate.
    device
        Where to train.
    hold_out
        Share of each class's images kept out of training. Raising it makes thresholds steadier and the
        training set smaller; 0 trains on all.
    update_steps
        Continue from the model before for so many batches; 0 starts anew and trains for all epochs. Raising it fits
        better and takes longer in proportion.
    scale
        Of the cosine in the one-vs-rest layer. Raising it lets scores come nearer to 0 and 1.
    """

    def __init__(
        self,
        backbone: Backbone,
        trainer: NetworkTrainer,
        *,
        device: torch.device,
        hold_out: float,
        update_steps: int,
        scale: float,
    ) -> None:
        self._backbone = backbone
        self._trainer = trainer
        self._device = device
        self._hold_out = hold_out
        self._update_steps = update_steps
        self._scale = scale

    def train(
        self, job: Job, previous: Model | None = None, progress: Progress | None = None
    ) -> Model:
        """Do a job; the same job and previous model give the same model."""
        rng = np.random.default_rng(job.seed)
        class_ids, columns = np.unique(job.labels, return_inverse=True)
        inputs = self._backbone.inputs(job.images)
        with seeded(job.seed):
            network = OpenWorldNetwork(
                self._backbone.body(job.images, inputs), class_ids.tolist(), self._scale
            )
        is_held = held_out(job.images, columns, job.is_told, self._hold_out)
        steps = self._update_steps if previous is not None else 0
        network.to(self._device)
        if previous is not None and steps:
            network.continue_from(previous.network, previous.class_ids)
            for column in [
                place for place, c in enumerate(network.class_ids) if c not in previous.class_ids
            ]:
                network.imprint(column, inputs[(columns == column) & ~is_held])
        self._trainer.fit(
            network, inputs[~is_held], columns[~is_held], rng=rng, steps=steps, progress=progress
        )
        head = network.one_vs_rest
        return Model(
            version=job.version,
            class_ids=network.class_ids,
            image_shape=job.images.shape[1:],
            network=network.arrays(),
            weights=head.weights().detach().cpu().numpy().copy(),
            bias=head.bias.detach().cpu().numpy().copy(),
            held_out=self._backbone.encoder(network).embed(job.images[is_held]),
        )


def held_out(images: Images, columns: Ints, is_told: Bools, share: float) -> Bools:
    """Tell which images, (n, …), in order of age, are kept out of training, (n,): about a share of each class's told.

    An image's own content decides, so that it is kept out by every model in turn: one that an earlier model was trained
    on says nothing about fresh images. The first images of a class are all trained on.

    >>> images = np.random.default_rng(0).integers(0, 256, (500, 8, 8), np.uint8)
    >>> is_held = held_out(images, np.zeros(500, int), np.ones(500, bool), share=0.1)
    >>> int(is_held.sum()), bool(is_held[:_FIRST].any())
    (55, False)
    """
    draws = (
        np.array([zlib.crc32(image.tobytes()) for image in images]) / 2**32
        if share
        else np.ones(len(images))
    )
    is_held = (draws < share) & is_told
    for column in np.unique(columns):
        own = np.flatnonzero(columns == column)
        is_held[own[:_FIRST]] = False
    return is_held
