"""What thresholds are fitted on: vectors of labelled images, and their class ids.

`held_out` takes images that the model did not see in training. They carry no class id: each counts
for the class that the head gives it, as a new image would. `stored` is the paper's rule: the store
as it is now. It includes images that the model was trained on, so its scores are higher than those
of new images.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from csim.records import Floats, Ints, Item, Model, Views
from csim.store.class_store import ClassStore


class Viewer(Protocol):
    """View items with the model in use."""

    def views(self, items: Sequence[Item]) -> Views:
        """Return vectors and features of items."""
        ...


Evidence = Callable[[Model, Viewer, ClassStore], tuple[Floats, Ints | None]]


def held_out(model: Model, viewer: Viewer, store: ClassStore) -> tuple[Floats, None]:
    """Return the vectors that were kept out of the model's training."""
    return model.held_out, None


def stored(model: Model, viewer: Viewer, store: ClassStore) -> tuple[Floats, Ints]:
    """Return the vectors of all stored items under the model in use, and their class ids."""
    items: list[Item] = []
    labels: list[int] = []
    for class_id in store.class_ids():
        members = store.items(class_id)
        items += members
        labels += [class_id] * len(members)
    vectors = viewer.views(items).vectors if items else model.held_out[:0]
    return vectors, np.array(labels, np.int64)
