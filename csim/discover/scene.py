"""The scene: the images that csim may ask about, their views, and labelled images to compare with.

Each part is computed when it is first read, because the paper's purification needs vectors alone.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from csim.discover.doubt import doubt
from csim.records import JUNK, Bools, ClassId, Floats, Ints, Item, ItemId

# Images of the store to compare with, in all and of a class: enough to tell dense from empty.
_MAX_LABELLED = 3000
_MAX_PER_CLASS = 150


class Viewer(Protocol):
    """Embed items with the model of a version; models of one metric give the same vectors."""

    version: int
    metric: int

    def scores(self, items: Sequence[Item], head: Scores) -> Floats:
        """Return the probability of each class that a head gives at least one item, (n, K)."""
        ...

    def vectors(self, items: Sequence[Item]) -> Floats:
        """Return one vector of unit length per item, (n, d)."""
        ...

    def features(self, items: Sequence[Item]) -> Floats:
        """Return what the vectors of at least one item were made from, (n, f)."""
        ...


class Scores(Protocol):
    """Score vectors for the classes `class_ids`; the viewer remembers the scores of items."""

    class_ids: tuple[ClassId, ...]

    @property
    def columns(self) -> tuple[ClassId | None, ...]:
        """Return the class of each column of the model, None for one that counts for none."""
        ...

    def scores(self, vectors: Floats) -> Floats:
        """Return the probability of each class, (n, K), for vectors (n, d)."""
        ...


class Examples(Protocol):
    """Hold labelled images."""

    def newest(self, most: int, per_class: int) -> tuple[list[Item], Ints]:
        """Return about `most` images, equally many per class, and their class ids."""
        ...


class Scene:
    """Hold what a choice of questions can use.

    Parameters
    ----------
    items
        Images that csim may ask about.
    viewer
        Embeds them.
    head
        Scores them.
    store
        Holds labelled images to compare with.
    shown
        The content of images that questions have shown: csim does not ask about it again.
    covered
        The ids of the members of open questions.
    """

    def __init__(
        self,
        items: Sequence[Item],
        viewer: Viewer,
        head: Scores,
        store: Examples,
        shown: Container[bytes] = (),
        covered: Container[ItemId] = (),
    ) -> None:
        self.items = items
        self.shown = shown
        self._covered = covered
        self._viewer = viewer
        self._head = head
        self._store = store

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def vectors(self) -> Floats:
        """Return the items' vectors, (n, d)."""
        return self._viewer.vectors(self.items)

    @cached_property
    def scores(self) -> Floats:
        """Return the items' probabilities of each class, (n, K)."""
        return self._viewer.scores(self.items, self._head)

    @cached_property
    def doubt(self) -> Floats:
        """Return how unsure the model is of each item, (n,).

        It is 0 for what looks most like junk: asking on would teach people and csim nothing.
        """
        is_junk = np.array([class_id == JUNK for class_id in self._head.class_ids])
        doubts = doubt(self.scores)
        return np.where(is_junk[self.guesses], 0, doubts) if is_junk.any() else doubts

    @property
    def is_covered(self) -> Bools:
        """Tell which items are members of open questions, (n,)."""
        return np.array([item.id in self._covered for item in self.items], bool)

    @cached_property
    def guesses(self) -> Ints:
        """Return the column of each item's best class, (n,); 0 if there is no class."""
        return _best(self.scores)

    def guesses_of(self, items: Sequence[Item]) -> Ints:
        """Return the column of other items' best class, (m,)."""
        if not items:
            return np.zeros(0, np.int64)
        return _best(self._viewer.scores(items, self._head))

    @cached_property
    def reference(self) -> tuple[list[Item], Ints]:
        """Return labelled images to compare with, and the column of each one's class, (m,).

        The column is -1 for a class that the model does not know yet.
        """
        items, labels = self._store.newest(_MAX_LABELLED, _MAX_PER_CLASS)
        column_of = {class_id: column for column, class_id in enumerate(self._head.class_ids)}
        class_ids, indices = np.unique(labels, return_inverse=True)
        columns = np.array([column_of.get(class_id, -1) for class_id in class_ids.tolist()])
        return items, columns.astype(np.int64)[indices]

    def features(self, items: Sequence[Item]) -> Floats:
        """Return the features of at least one item, (m, f)."""
        if items is self.items and items[0].frozen is not None:
            return self.vectors  # both are the same whitened vectors, which no gallery remembers
        return self._viewer.features(items)

    @property
    def version(self) -> int:
        """Return the version of the model in use."""
        return self._viewer.version

    @property
    def metric(self) -> int:
        """Return the version of the first model that gives the same vectors and features."""
        return self._viewer.metric


def _best(scores: Floats) -> Ints:
    return scores.argmax(axis=1) if scores.shape[1] else np.zeros(len(scores), np.int64)
