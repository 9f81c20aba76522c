"""The gallery: images that are looked at again and again are embedded once per model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from csim.records import Encoder, Floats, Images, Item, ItemId, Views, stack

_Key = tuple[ItemId, int]
_ROOM = 20_000  # images remembered; more are looked at anew


class Seer(Encoder, Protocol):
    """An encoder that also tells what it saw on the way to the vectors."""

    def view(self, images: Images) -> Views:
        """Return vectors and features of images, at least one."""
        ...


class Gallery:
    """A model's encoder with a memory of what it has seen; a new model gets a new gallery."""

    def __init__(self, encoder: Seer) -> None:
        self._encoder = encoder
        self._seen: dict[_Key, tuple[Floats, Floats]] = {}

    def embed(self, images: Images) -> Floats:
        """Return one vector of unit length per image, (n, d); nothing is remembered."""
        return self._encoder.embed(images)

    def views(self, items: Sequence[Item]) -> Views:
        """Return vectors and features of items, at least one."""
        missing = [item for item in items if _key(item) not in self._seen]
        if missing:
            seen = self._encoder.view(stack(missing))
            rows = zip(seen.vectors, seen.features, strict=True)
            self._seen.update(zip(map(_key, missing), rows, strict=True))
        vectors, features = (
            np.stack(part) for part in zip(*(self._seen[_key(item)] for item in items), strict=True)
        )
        for key in list(self._seen)[: max(0, len(self._seen) - _ROOM)]:
            del self._seen[key]
        return Views(vectors, features)


def _key(item: Item) -> _Key:
    return item.id, item.position  # an id may come again when its image is long forgotten
