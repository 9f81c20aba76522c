"""Train a model on frozen vectors: a whitening, and a mean per class.

Both are computed from all stored images at once. Nothing is drawn, and no model before matters. So
the same job gives the same model, in a fraction of a second.
"""

from __future__ import annotations

import numpy as np

from csim.embed.class_means import fit_class_means
from csim.embed.network_trainer import Progress
from csim.embed.whitening import Whitening
from csim.records import EncoderId, Job, Model
from csim.retrain.model_trainer import held_out


class FrozenTrainer:
    """Train models on the vectors of a frozen encoder.

    Parameters
    ----------
    identity
        Of the encoder; the first model names it, and the next ones name the same.
    hold_out, keep_trained
        As for `ModelTrainer`.
    """

    def __init__(
        self, identity: EncoderId | None, *, hold_out: float, keep_trained: bool = False
    ) -> None:
        self._identity = identity
        self._hold_out = hold_out
        self._keep_trained = keep_trained

    def train(
        self, job: Job, previous: Model | None = None, progress: Progress | None = None
    ) -> Model:
        """Return the model of a job; there are no epochs to report as `progress`."""
        class_ids, columns = np.unique(job.labels, return_inverse=True)
        is_held = held_out(job.images, columns, job.is_told, self._hold_out)
        inputs = job.images.astype(np.float32)
        whitening = Whitening.fit(inputs[~is_held], columns[~is_held])
        vectors = whitening.apply(inputs)
        weights, bias = fit_class_means(vectors[~is_held], columns[~is_held])
        is_kept = ~is_held & self._keep_trained
        return Model(
            version=job.version,
            class_ids=tuple(class_ids.tolist()),
            image_shape=job.images.shape[1:],
            network=whitening.arrays(),
            weights=weights,
            bias=bias,
            held_out=vectors[is_held],
            trained=vectors[is_kept],
            trained_ids=job.labels[is_kept],
            encoder=self._identity if previous is None else previous.encoder,
        )
