"""What thresholds are fitted on: vectors of labelled images, and their class ids.

`held_out` is honest: images that the model did not see in training, each under the class that the model gives it, as a
fresh image would be. `stored` is the paper's: the store as it is today, images that the model was trained on included,
so its scores sit higher than those of fresh images.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from csim.records import Encoder, Floats, Ints, Model
from csim.store.class_store import ClassStore

Evidence = Callable[[Model, Encoder, ClassStore], tuple[Floats, Ints]]


def held_out(model: Model, encoder: Encoder, store: ClassStore) -> tuple[Floats, Ints]:
    """Return the vectors that were kept out of the model's training, under the class that each is given."""
    given = (model.held_out @ model.weights.T + model.bias).argmax(axis=1)
    return model.held_out, np.array(model.class_ids, np.int64)[given]


def stored(model: Model, encoder: Encoder, store: ClassStore) -> tuple[Floats, Ints]:
    """Return the vectors of all stored images, as the model in use sees them."""
    images, labels, _ = store.examples(store.class_ids())
    return (encoder.embed(images) if len(labels) else model.held_out[:0]), labels
