"""What thresholds are fitted on: vectors of labelled images, and their class ids.

`held_out` is honest: images that the model did not see in training. They have no class id of their own: what counts is
the class that the head gives each, as it would a fresh image. `stored` is the paper's: the store as it is today, images
that the model was trained on included, so its scores sit higher than those of fresh images.
"""

from __future__ import annotations

from collections.abc import Callable

from csim.records import Encoder, Floats, Ints, Model
from csim.store.class_store import ClassStore

Evidence = Callable[[Model, Encoder, ClassStore], tuple[Floats, Ints | None]]


def held_out(model: Model, encoder: Encoder, store: ClassStore) -> tuple[Floats, None]:
    """Return the vectors that were kept out of the model's training."""
    return model.held_out, None


def stored(model: Model, encoder: Encoder, store: ClassStore) -> tuple[Floats, Ints]:
    """Return the vectors of all stored images, as the model in use sees them."""
    images, labels, _ = store.examples(store.class_ids())
    return (encoder.embed(images) if len(labels) else model.held_out[:0]), labels
