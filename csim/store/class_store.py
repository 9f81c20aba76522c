"""The store: a bounded number of labelled images for each class.

The next model learns a class from the images on the class's shelf. A shelf holds at most S_D
images, so memory and training time do not grow with the length of the stream. `aside`
keeps the images of the last removed classes, so that a class can be restored.
"""

from __future__ import annotations

from collections.abc import Iterable, KeysView, Sequence
from itertools import chain, islice
from operator import itemgetter

import numpy as np

from csim.errors import SettingsError
from csim.packing import pack, unpack
from csim.records import Bools, ClassId, Floats, Images, Ints, Item, ItemId, State, stack
from csim.store.aside import Aside
from csim.store.eviction import Eviction, Shelf


class ClassStore:
    """Keep labelled images by class.

    Parameters
    ----------
    size
        S_D, the most images per class. Higher keeps older images, but training takes longer.
    eviction
        The rule that chooses which image leaves a full shelf.
    inferred
        The most images per class whose label is inferred; `size` if not given. Higher learns more
        from inferred labels, and from their mistakes.
    """

    def __init__(self, size: int, eviction: Eviction, inferred: int | None = None) -> None:
        if size < 2:
            raise SettingsError(f"size must be at least 2, got {size}")
        self.size = size
        self.inferred = size if inferred is None else inferred
        self.aside = Aside()
        self._eviction = eviction
        self._shelves: dict[ClassId, Shelf] = {}
        self._class_of: dict[ItemId, ClassId] = {}
        self._arrivals = 0

    @property
    def ids(self) -> KeysView[ItemId]:
        """Return the ids of all stored images."""
        return self._class_of.keys()

    def add(self, item: Item, class_id: ClassId, *, is_told: bool) -> None:
        """Store an image under a class; `is_told` if a person labelled this image itself.

        An image that is stored already moves to the new class.
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
            del self._class_of[gone]
        self._arrivals += 1
        (shelf.told if is_told else shelf.inferred)[item.id] = (self._arrivals, item)
        self._class_of[item.id] = class_id

    def remove(self, item_ids: Iterable[ItemId]) -> None:
        """Remove images from the store; images that are not stored are ignored."""
        for item_id in item_ids:
            if (class_id := self._class_of.pop(item_id, None)) is not None:
                shelf = self._shelves[class_id]
                if shelf.told.pop(item_id, None) is None:
                    del shelf.inferred[item_id]

    def drop(self, class_id: ClassId) -> list[tuple[Item, bool]]:
        """Remove all images of a class; return them, oldest first, with whether each is told."""
        dropped = _in_order(self._shelves.get(class_id, Shelf()))
        self.remove([item.id for _, item, _ in dropped])
        self._shelves.pop(class_id, None)
        return [(item, is_told) for _, item, is_told in dropped]

    def merge(self, source: ClassId, target: ClassId) -> None:
        """Merge the images of `source` into `target`, oldest first; the eviction rule applies."""
        entries = sorted(
            _in_order(self._shelves.pop(source, Shelf()))
            + _in_order(self._shelves.pop(target, Shelf())),
            key=itemgetter(0),
        )
        for _, item, _ in entries:
            del self._class_of[item.id]
        for _, item, is_told in entries:
            self.add(item, target, is_told=is_told)

    def count(self, class_id: ClassId) -> int:
        """Return how many images of a class are stored."""
        return len(self._shelves.get(class_id, ()))

    def class_ids(self) -> list[ClassId]:
        """Return the classes that have images, in order of id."""
        return sorted(class_id for class_id, shelf in self._shelves.items() if len(shelf))

    def items(self, class_id: ClassId) -> list[Item]:
        """Return the images of a class, oldest first."""
        return [item for _, item in _oldest_first(self._shelves.get(class_id, Shelf()))]

    def find(self, item_id: ItemId) -> Item | None:
        """Return a stored image by its id, or None."""
        if item_id not in self._class_of:
            return None
        shelf = self._shelves[self._class_of[item_id]]
        return (shelf.told if item_id in shelf.told else shelf.inferred)[item_id][1]

    def examples(self, class_ids: Sequence[ClassId]) -> tuple[Images | Floats, Ints, Bools]:
        """Return what models see of some classes, (n, …), the class ids and if told, (n,)."""
        shelves = [self._shelves.get(class_id, Shelf()) for class_id in class_ids]
        items = [[item for _, item in _oldest_first(shelf)] for shelf in shelves]
        images = stack([*chain.from_iterable(items)])
        labels = np.repeat(np.array(class_ids, np.int64), [len(members) for members in items])
        is_told = np.array(
            [
                item.id not in shelf.inferred
                for shelf, members in zip(shelves, items, strict=True)
                for item in members
            ],
            bool,
        )
        return images, labels, is_told

    def newest(self, most: int, per_class: int) -> tuple[list[Item], Ints]:
        """Return about `most` images, equally many per class, and their class ids.

        Of each class told images come first, and the newest first among them. A higher `most` or
        `per_class`, the limit of each class, returns more.
        """
        class_ids = self.class_ids()
        each = max(1, min(per_class, most // max(1, len(class_ids))))
        chosen = [_newest(self._shelves[class_id], each) for class_id in class_ids]
        labels = np.repeat(np.array(class_ids, np.int64), [len(items) for items in chosen])
        return [*chain.from_iterable(chosen)], labels

    def is_told(self, item_id: ItemId) -> bool:
        """Tell whether an image is stored with a label from a person."""
        return item_id in self._class_of and item_id in self._shelves[self._class_of[item_id]].told

    def state(self) -> State:
        """Return all images and their labels."""
        entries = sorted(
            (entry for shelf in self._shelves.values() for entry in _in_order(shelf)),
            key=itemgetter(0),
        )
        return {
            "items": pack([item for _, item, _ in entries]),
            "class_ids": [self._class_of[item.id] for _, item, _ in entries],
            "told": [is_told for _, _, is_told in entries],
            "aside": self.aside.state(),
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._shelves = {}
        self._class_of = {}
        for item, class_id, is_told in zip(
            unpack(state["items"]), state["class_ids"], state["told"], strict=True
        ):
            self.add(item, class_id, is_told=is_told)
        if "aside" in state:
            self.aside.restore(state["aside"])


_Entry = tuple[int, Item, bool]  # order of arrival, image, whether it is told


def _oldest_first(shelf: Shelf) -> list[tuple[int, Item]]:
    return sorted([*shelf.told.values(), *shelf.inferred.values()], key=itemgetter(0))


def _in_order(shelf: Shelf) -> list[_Entry]:
    return [(order, item, item.id in shelf.told) for order, item in _oldest_first(shelf)]


def _newest(shelf: Shelf, most: int) -> list[Item]:
    newest = chain(reversed(shelf.told.values()), reversed(shelf.inferred.values()))
    return [item for _, item in islice(newest, most)]
