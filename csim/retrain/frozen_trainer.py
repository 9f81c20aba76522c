"""Train a model on frozen vectors: a whitening, and a mean per class.

Both are computed from all stored images at once, and no model before matters. So the same job gives
the same model, in a fraction of a second. No image is held out: for thresholds, the model says
which scores new images of a class can expect.
"""

from __future__ import annotations

import numpy as np

from csim.embed.class_means import fit_class_means
from csim.embed.expected_scores import expected_scores
from csim.embed.network_trainer import Progress
from csim.embed.whitening import Whitening
from csim.records import EncoderId, Job, Model


class FrozenTrainer:
    """Train models on the vectors of a frozen encoder.

    Parameters
    ----------
    identity
        Of the encoder; the first model names it, and the next ones name the same.
    expect
        Compute the scores that new images can expect, for thresholds fitted on them.
    keep_trained
        As for `ModelTrainer`.
    """

    def __init__(
        self, identity: EncoderId | None, *, expect: bool, keep_trained: bool = False
    ) -> None:
        self._identity = identity
        self._expect = expect
        self._keep_trained = keep_trained

    def train(
        self, job: Job, previous: Model | None = None, progress: Progress | None = None
    ) -> Model:
        """Return the model of a job; there are no epochs to report as `progress`."""
        class_ids, columns = np.unique(job.labels, return_inverse=True)
        inputs = job.images.astype(np.float32)
        whitening = Whitening.fit(inputs, columns)
        vectors = whitening.apply(inputs)
        weights, bias = fit_class_means(vectors, columns)
        expected = np.zeros((0, 0), np.float32)
        if self._expect:
            rng = np.random.default_rng(job.seed)
            expected = expected_scores(inputs, columns, job.is_told, weights, bias, rng)
        return Model(
            version=job.version,
            class_ids=tuple(class_ids.tolist()),
            image_shape=job.images.shape[1:],
            network=whitening.arrays(),
            weights=weights,
            bias=bias,
            held_out=vectors[:0],
            trained=vectors if self._keep_trained else vectors[:0],
            trained_ids=job.labels if self._keep_trained else job.labels[:0],
            encoder=self._identity if previous is None else previous.encoder,
            expected=expected,
        )
