"""What thresholds are fitted on: vectors of labelled images, and their class ids.

`held_out` takes images that the model did not see in training. They carry no class id: each counts
for the class that the head gives it, as a new image would. The paper fits on labelled images and
leaves open which: `stored` takes the store as it is now, `trained` the images that the model was
trained on, so that a threshold changes with the model alone. Scores of trained images are higher
than those of new ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from csim.records import Floats, Ints, Item, Model
from csim.store.class_store import ClassStore


class Viewer(Protocol):
    """Embed items with the model in use."""

    def vectors(self, items: Sequence[Item]) -> Floats:
        """Return one vector of unit length per item, (n, d)."""
        ...


Evidence = Callable[[Model, Viewer, ClassStore], tuple[Floats, Ints | None]]


def held_out(model: Model, viewer: Viewer, store: ClassStore) -> tuple[Floats, None]:
    """Return the vectors that were kept out of the model's training."""
    return model.held_out, None


def trained(model: Model, viewer: Viewer, store: ClassStore) -> tuple[Floats, Ints]:
    """Return the vectors of the images that the model was trained on, and their class ids."""
    return model.trained, model.trained_ids


def stored(model: Model, viewer: Viewer, store: ClassStore) -> tuple[Floats, Ints]:
    """Return the vectors of all stored items under the model in use, and their class ids."""
    items: list[Item] = []
    labels: list[int] = []
    for class_id in store.class_ids():
        members = store.items(class_id)
        items += members
        labels += [class_id] * len(members)
    vectors = viewer.vectors(items) if items else model.held_out[:0]
    return vectors, np.array(labels, np.int64)
