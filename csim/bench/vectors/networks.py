"""A network trained with given settings, and its figures on images that it has not seen.

`settings.seed` draws everything: the known classes, the training images, the initial weights.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from csim.bench.datasets import DataSet
from csim.bench.layout.table import Row
from csim.bench.vectors import figures
from csim.bench.vectors.samples import columns_of, examples
from csim.build import make_body, make_network_trainer
from csim.decide.scores import one_vs_rest
from csim.embed.encoder import NetworkEncoder
from csim.embed.inputs import to_inputs
from csim.embed.network import OpenWorldNetwork, pick_device
from csim.embed.network_trainer import Loss, seeded
from csim.records import Floats, Images, Ints
from csim.settings import Settings

KNOWN = 3  # classes of a warm-up: r = 0.3 of ten, as in the paper
PER_CLASS = 1000  # labelled images of each, as in the paper
WARM_UP_NOTES = (
    "accuracy: on the known classes, by the one-vs-rest layer; kNN: the same by 5 nearest "
    "neighbours of the vectors",
    "AUC: how well new classes are separated from known ones, by the largest sigmoid or by the "
    "distance to the 5th neighbour",
    "new kNN: images of new classes whose 5 nearest neighbours vote for their class",
    "within, between: mean distance of two images of the same known class, and of two classes",
)


@dataclass(frozen=True)
class Learned:
    """Hold a trained encoder, and the one-vs-rest layer's weights (K, d) and bias (K,)."""

    encoder: NetworkEncoder
    weights: Floats
    bias: Floats

    def scores(self, vectors: Floats) -> Floats:
        """Return each class's probability, (n, K)."""
        return one_vs_rest(vectors, self.weights, self.bias)


def learn(settings: Settings, images: Images, columns: Ints, loss: Loss | None = None) -> Learned:
    """Train a network on images and their columns, with the settings' loss or another."""
    device = pick_device(settings.device)
    with seeded(settings.seed):
        body = make_body(settings, images.shape[1:])
        network = OpenWorldNetwork(body, range(int(columns.max()) + 1), settings.scale).to(device)
    trainer = make_network_trainer(settings)
    trainer.loss = loss or trainer.loss
    trainer.fit(
        network, to_inputs(images, device), columns, rng=np.random.default_rng(settings.seed)
    )
    head = network.one_vs_rest
    return Learned(
        NetworkEncoder(body, device),
        head.weights().detach().cpu().numpy(),
        head.bias.detach().cpu().numpy(),
    )


def closed_set(
    train: DataSet, test: DataSet, settings: Settings, *, per_class: int = PER_CLASS
) -> float:
    """Learn all classes from `per_class` images each; return the accuracy on `test` in percent."""
    classes = sorted(set(train.names))
    learned = learn(settings, *examples(train, classes, per_class, settings.seed))
    scores = learned.scores(learned.encoder.embed(test.images))
    return figures.accuracy(scores, columns_of(test.names, classes))


def warm_up(
    train: DataSet,
    test: DataSet,
    settings: Settings,
    *,
    loss: Loss | None = None,
    per_class: int = PER_CLASS,
) -> Row:
    """Learn three classes; return figures on `test` images of these and of all others.

    Another `loss` may leave the one-vs-rest layer untrained. The figures of that layer are then
    None.
    """
    everything = np.random.default_rng(settings.seed).permutation(sorted(set(train.names))).tolist()
    images, columns = examples(train, everything[:KNOWN], per_class, settings.seed)
    learned = learn(settings, images, columns, loss)
    truth = columns_of(test.names, everything)
    is_known = truth < KNOWN
    stored = learned.encoder.embed(images)
    vectors = learned.encoder.embed(test.images)
    known = vectors[is_known]
    new = vectors[~is_known]
    doubt = -learned.scores(vectors).max(1)
    remoteness = figures.remoteness(stored, vectors)
    within, between = figures.spread(known, truth[is_known])
    return {
        "accuracy %": None if loss else figures.accuracy(learned.scores(known), truth[is_known]),
        "kNN %": figures.neighbour_accuracy(stored, columns, known, truth[is_known]),
        "AUC sigmoid": None if loss else figures.auc(doubt[is_known], doubt[~is_known]),
        "AUC 5th neighbour": figures.auc(remoteness[is_known], remoteness[~is_known]),
        "new kNN %": figures.leave_one_out_accuracy(new, truth[~is_known]),
        "within": within,
        "between": between,
    }
