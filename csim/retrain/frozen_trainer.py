"""Train a model on frozen vectors: a whitening, and a mean per class.

Both are computed from all stored images at once, in a fraction of a second. The whitening changes
little from model to model, and what csim remembers of images depends on it. So a model of many
images keeps that of the model before, until they are a tenth more, or for ten models. No image is
held out: for thresholds, the model says which scores new images of a class can expect. For these it
compares labelled images with each other, as often as it fits the whitening.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from csim.embed.class_means import fit_class_means
from csim.embed.expected_scores import compare_others, expected_scores
from csim.embed.network_trainer import Progress
from csim.embed.whitening import Whitening
from csim.records import EncoderId, Floats, Job, Model

_MAX_GROWTH = 1.1  # of the labelled images, while the whitening stays: it then hardly changes
_FEW_IMAGES = 900  # with fewer labelled images each one counts for more, and a fit takes less time
_COSINES = "body.cosines"  # of labelled images to others of their class
_MOST_MODELS = 10  # of one whitening: a full store does not grow, but its images change


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
        kept = _kept(previous, job)
        whitening = (
            Whitening.from_arrays(kept) if kept else Whitening.fit(inputs, columns, job.version)
        )
        vectors = whitening.apply(inputs)
        weights, bias = fit_class_means(vectors, columns)
        cosines = kept.get(_COSINES, np.zeros((0, 0), np.float32))
        expected = cosines
        if self._expect:
            if not len(cosines):
                rng = np.random.default_rng(job.seed)
                cosines = compare_others(inputs, columns, job.is_told, rng)
            expected = expected_scores(cosines, np.bincount(columns), weights, bias)
        return Model(
            version=job.version,
            class_ids=tuple(class_ids.tolist()),
            image_shape=job.images.shape[1:],
            network=whitening.arrays() | {_COSINES: cosines},
            weights=weights,
            bias=bias,
            held_out=vectors[:0],
            trained=vectors if self._keep_trained else vectors[:0],
            trained_ids=job.labels if self._keep_trained else job.labels[:0],
            encoder=self._identity if previous is None else previous.encoder,
            expected=expected,
        )


def _kept(previous: Model | None, job: Job) -> Mapping[str, Floats]:
    """Return the arrays of the model before if its whitening still serves for a job, or none."""
    if previous is None:
        return {}
    before = Whitening.from_arrays(previous.network)
    count = len(job.labels)
    is_as_many = before.images / _MAX_GROWTH < count < before.images * _MAX_GROWTH
    is_young = job.version - before.version < _MOST_MODELS
    return previous.network if count >= _FEW_IMAGES and is_as_many and is_young else {}
