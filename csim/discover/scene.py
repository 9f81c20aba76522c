"""The scene: images that may be asked about, as the model sees them, and the labelled ones they are compared with.

Each part is worked out when it is first wanted: the paper's purification needs vectors alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np

from csim.records import ClassId, Floats, Ints, Item, Views

_LABELLED = 3000  # images of the store to compare with: enough to tell dense from empty, few enough to be quick


class Viewer(Protocol):
    """What embeds items."""

    def views(self, items: Sequence[Item]) -> Views:
        """Return vectors and features of items, at least one."""
        ...


class Scores(Protocol):
    """What gives classes, `class_ids`, by vectors."""

    class_ids: tuple[ClassId, ...]

    def scores(self, vectors: Floats) -> Floats:
        """Return the probability of each class for vectors (n, d), (n, K)."""
        ...


class Examples(Protocol):
    """Labelled images."""

    def newest(self, most: int) -> tuple[list[Item], Ints]:
        """Return about `most` images, as many of each class, and their class ids."""
        ...


class Scene:
    """What a choice of questions can look at.

    Parameters
    ----------
    items
        Images that may be asked about.
    viewer
        Embeds them.
    head
        Tells what the model takes them for.
    store
        Has labelled images to compare with.
    """

    def __init__(
        self, items: Sequence[Item], viewer: Viewer, head: Scores, store: Examples
    ) -> None:
        self.items = items
        self._viewer = viewer
        self._head = head
        self._store = store

    def __len__(self) -> int:
        return len(self.items)

    @cached_property
    def vectors(self) -> Floats:
        """The items' vectors, (n, d)."""
        return self._views.vectors

    @cached_property
    def features(self) -> Floats:
        """The items' features, (n, f)."""
        return self._views.features

    @cached_property
    def scores(self) -> Floats:
        """The items' probabilities of each class, (n, K)."""
        return self._head.scores(self.vectors)

    @cached_property
    def guesses(self) -> Ints:
        """The column of each item's best class, (n,); 0 where there is no class."""
        return _best(self.scores)

    def guesses_of(self, items: Sequence[Item]) -> Ints:
        """Return the column of other items' best class, (m,)."""
        return (
            _best(self._head.scores(self._viewer.views(items).vectors))
            if items
            else np.zeros(0, np.int64)
        )

    @cached_property
    def reference(self) -> tuple[Floats, Ints]:
        """Features of labelled images, (m, f), and the column of each one's class, (m,), -1 if it has none."""
        items, labels = self._store.newest(_LABELLED)
        place = {class_id: column for column, class_id in enumerate(self._head.class_ids)}
        return self.features_of(items), np.array(
            [place.get(label, -1) for label in labels.tolist()], np.int64
        )

    def features_of(self, items: Sequence[Item]) -> Floats:
        """Return other items' features, (m, f)."""
        return (
            self._viewer.views(items).features
            if items
            else np.zeros((0, self.features.shape[1]), np.float32)
        )

    @cached_property
    def _views(self) -> Views:
        return self._viewer.views(self.items)


def _best(scores: Floats) -> Ints:
    return scores.argmax(axis=1) if scores.shape[1] else np.zeros(len(scores), np.int64)
