"""Images set aside: those of the last removed classes, so that a class can be restored."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from csim.packing import pack, unpack
from csim.records import ClassId, Item, ItemId, State

_MAX_CLASSES = 10  # the last ones: memory stays bounded


class Aside:
    """Keep the stored images of removed classes, each with whether a person labelled it."""

    def __init__(self) -> None:
        self._kept: dict[ClassId, dict[ItemId, tuple[Item, bool]]] = {}

    def keep(self, class_id: ClassId, images: Iterable[tuple[Item, bool]]) -> None:
        """Keep the images of a removed class; forget those of the class removed longest ago."""
        self._kept[class_id] = {item.id: (item, is_told) for item, is_told in images}
        if len(self._kept) > _MAX_CLASSES:
            del self._kept[next(iter(self._kept))]

    def take(self, class_id: ClassId) -> list[tuple[Item, bool]]:
        """Remove and return the images of a class, oldest first; none if it is not kept."""
        return list(self._kept.pop(class_id, {}).values())

    def forget(self, item_ids: Iterable[ItemId]) -> None:
        """Forget images, because an answer says something else about them by now."""
        for item_id in item_ids:
            for images in self._kept.values():
                images.pop(item_id, None)

    def state(self) -> State:
        """Return all images, class by class."""
        entries = [entry for images in self._kept.values() for entry in images.values()]
        return {
            "items": pack([item for item, _ in entries]),
            "told": [is_told for _, is_told in entries],
            "sizes": [[class_id, len(images)] for class_id, images in self._kept.items()],
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        entries = iter(zip(unpack(state["items"]), state["told"], strict=True))
        self._kept = {
            class_id: {item.id: (item, is_told) for item, is_told in islice(entries, size)}
            for class_id, size in state["sizes"]
        }
