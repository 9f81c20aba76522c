"""The store: a bounded shelf of labelled images for each class.

What is on a shelf is what the next model learns the class from. A class keeps at most S_D images, so that memory
and training time do not grow with the length of the stream.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from csim.errors import SettingsError
from csim.packing import pack, unpack
from csim.records import Bools, ClassId, Images, Ints, Item, ItemId, State, stack
from csim.store.eviction import Eviction, Shelf


class ClassStore:
    """Labelled images by class.

    Parameters
    ----------
    size
        S_D, the most images per class. Raising it remembers longer and makes training longer.
    eviction
        Which image leaves a full shelf.
    inferred
        The most images per class whose label nobody told; none of its own if not given. Raising it learns more from
        spread answers, and from their mistakes.
    """

    def __init__(self, size: int, eviction: Eviction, inferred: int | None = None) -> None:
        if size < 2:
            raise SettingsError(f"size must be at least 2, got {size}")
        self.size = size
        self.inferred = size if inferred is None else inferred
        self._eviction = eviction
        self._shelves: dict[ClassId, Shelf] = {}
        self._home: dict[ItemId, ClassId] = {}
        self._arrivals = 0

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._home

    def add(self, item: Item, class_id: ClassId, *, is_told: bool) -> None:
        """Put an image on its class's shelf; `is_told` if a person looked at this very image.

        An image that is stored already moves.
        """
        self.remove([item.id])
        shelf = self._shelves.setdefault(class_id, Shelf())
        if not is_told and len(shelf.inferred) >= self.inferred:
            if not self.inferred:
                return
            self.remove([next(iter(shelf.inferred))])
        if len(shelf) >= self.size:
            gone = self._eviction.make_room(shelf, is_told=is_told)
            if gone is None:
                return
            del self._home[gone]
        self._arrivals += 1
        (shelf.told if is_told else shelf.inferred)[item.id] = (self._arrivals, item)
        self._home[item.id] = class_id

    def remove(self, item_ids: Iterable[ItemId]) -> None:
        """Take images off their shelves; those not stored are passed over."""
        for item_id in item_ids:
            if (class_id := self._home.pop(item_id, None)) is not None:
                shelf = self._shelves[class_id]
                if shelf.told.pop(item_id, None) is None:
                    del shelf.inferred[item_id]

    def drop(self, class_id: ClassId) -> None:
        """Give up a class's whole shelf."""
        self.remove([item.id for item in self.items(class_id)])
        self._shelves.pop(class_id, None)

    def merge(self, source: ClassId, target: ClassId) -> None:
        """Put the images of two classes on one shelf, in order of age; what does not fit leaves by the usual rule."""
        entries = sorted(
            _in_order(self._shelves.pop(source, Shelf()))
            + _in_order(self._shelves.pop(target, Shelf())),
            key=_age,
        )
        for _, item, _ in entries:
            del self._home[item.id]
        for _, item, is_told in entries:
            self.add(item, target, is_told=is_told)

    def count(self, class_id: ClassId) -> int:
        """Return how many images of a class are stored."""
        return len(self._shelves.get(class_id, ()))

    def class_ids(self) -> list[ClassId]:
        """Return the classes that have images, in order of id."""
        return sorted(class_id for class_id, shelf in self._shelves.items() if len(shelf))

    def items(self, class_id: ClassId) -> list[Item]:
        """Return a class's images, oldest first."""
        return [item for _, item, _ in _in_order(self._shelves.get(class_id, Shelf()))]

    def examples(self, class_ids: Sequence[ClassId]) -> tuple[Images, Ints, Bools]:
        """Return all images of some classes, (n, h, w[, 3]), the class id of each and whether it was told, (n,)."""
        items = [(item, class_id) for class_id in class_ids for item in self.items(class_id)]
        labels = np.array([class_id for _, class_id in items], np.int64)
        return (
            stack([item for item, _ in items]),
            labels,
            np.array([self.is_told(item.id) for item, _ in items], bool),
        )

    def newest(self, most: int) -> tuple[list[Item], Ints]:
        """Return about `most` images, as many of each class, those told first and the newest; and their class ids."""
        each = max(1, most // max(1, len(self.class_ids())))
        chosen = [
            (item, class_id)
            for class_id in self.class_ids()
            for item in self._newest(class_id, each)
        ]
        return [item for item, _ in chosen], np.array(
            [class_id for _, class_id in chosen], np.int64
        )

    def is_told(self, item_id: ItemId) -> bool:
        """Tell whether an image is stored under what a person said of it."""
        return item_id in self._home and item_id in self._shelves[self._home[item_id]].told

    def _newest(self, class_id: ClassId, most: int) -> list[Item]:
        shelf = self._shelves[class_id]
        return [
            item for part in (shelf.told, shelf.inferred) for _, item in list(part.values())[::-1]
        ][:most]

    def state(self) -> State:
        """Return all images with their labels."""
        entries = sorted(
            (entry for shelf in self._shelves.values() for entry in _in_order(shelf)), key=_age
        )
        return {
            "items": pack([item for _, item, _ in entries]),
            "class_ids": [self._home[item.id] for _, item, _ in entries],
            "told": [is_told for _, _, is_told in entries],
        }

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        self._shelves, self._home = {}, {}
        for item, class_id, is_told in zip(
            unpack(state["items"]), state["class_ids"], state["told"], strict=True
        ):
            self.add(item, class_id, is_told=is_told)


_Entry = tuple[int, Item, bool]  # order of arrival, image, whether its label was told


def _in_order(shelf: Shelf) -> list[_Entry]:
    told = [(order, item, True) for order, item in shelf.told.values()]
    inferred = [(order, item, False) for order, item in shelf.inferred.values()]
    return sorted(told + inferred, key=_age)


def _age(entry: _Entry) -> int:
    return entry[0]
