"""Refit: a job becomes a model.

The network starts from the model before (`warm_start`) or anew. With `hold_out` some images of every class are
kept out of training; their vectors travel with the model, for thresholds that keep their promise.
"""

from __future__ import annotations

import numpy as np
import torch

from csim.embed.backbone import Backbone
from csim.embed.network import OpenWorldNetwork
from csim.embed.training import Trainer, seeded
from csim.records import Bools, Ints, Job, Model, Progress


class Refit:
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
    warm_start
        Continue from the model before.
    scale
        Of the cosine in the one-vs-rest layer. Raising it lets scores come nearer to 0 and 1.
    """

    def __init__(
        self,
        backbone: Backbone,
        trainer: Trainer,
        *,
        device: torch.device,
        hold_out: float,
        warm_start: bool,
        scale: float,
    ) -> None:
        self._backbone = backbone
        self._trainer = trainer
        self._device = device
        self._hold_out = hold_out
        self._warm_start = warm_start
        self._scale = scale

    def train(self, job: Job, previous: Model | None = None, progress: Progress | None = None) -> Model:
        """Do a job; the same job and previous model give the same model."""
        rng = np.random.default_rng(job.seed)
        class_ids, columns = np.unique(job.labels, return_inverse=True)
        inputs = self._backbone.inputs(job.images)
        with seeded(job.seed):
            network = OpenWorldNetwork(self._backbone.body(job.images, inputs), class_ids.tolist(), self._scale)
        if previous is not None and self._warm_start:
            network.continue_from(previous.network, previous.class_ids)
        network.to(self._device)
        is_held = draw_held_out(columns, self._hold_out, rng)
        self._trainer.fit(network, inputs[~is_held], columns[~is_held], rng=rng, progress=progress)
        head = network.one_vs_rest
        return Model(
            version=job.version,
            class_ids=network.class_ids,
            image_shape=job.images.shape[1:],
            network=network.arrays(),
            weights=head.weights().detach().cpu().numpy().copy(),
            bias=head.bias.detach().cpu().numpy().copy(),
            held_out=self._backbone.encoder(network).embed(job.images[is_held]),
            held_out_labels=job.labels[is_held],
        )


def draw_held_out(columns: Ints, share: float, rng: np.random.Generator) -> Bools:
    """Draw a share of every class, at least one image and never its last two, (n,).

    >>> int(draw_held_out(np.array([0] * 20 + [1] * 3), 0.1, np.random.default_rng(0)).sum())
    3
    """
    is_held = np.zeros(len(columns), bool)
    if share:
        for column in np.unique(columns):
            own = np.flatnonzero(columns == column)
            count = min(max(1, round(share * len(own))), max(0, len(own) - 2))
            is_held[rng.permutation(own)[:count]] = True
    return is_held
