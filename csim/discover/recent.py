"""The recent window: the last items, accepted or not, each with the class it has so far.

On a fast stream the window is a sample. It then holds every n-th item, which a search may ask
about, and the rejected items between them, which wait for a second look and get a class in the end.
An accepted item between them is not held: it keeps the class that it got at arrival.
"""

from __future__ import annotations

import math
from collections.abc import KeysView, Mapping, Sequence
from itertools import takewhile
from types import MappingProxyType

from csim.errors import SettingsError
from csim.packing import pack, unpack
from csim.records import Asked, ClassId, Decision, Event, Item, ItemId, Labelled, Revised, State

_MANY_WAITING = 50  # open questions; for each so many, csim waits another `every` arrivals


class Recent:
    """Hold the latest items, with the class that each has so far.

    Parameters
    ----------
    size
        Items to search. Higher finds rarer classes and corrects more labels, but uses more memory
        and labels stay provisional longer.
    every
        Arrivals between two searches. Higher chooses among more items at a time, and finds new
        classes later. Above `size`, the window is a sample.

    Examples
    --------
    >>> Recent(size=2000, every=125).sample_every, Recent(size=2000, every=8000).sample_every
    (1, 4)
    """

    def __init__(self, size: int, every: int) -> None:
        for name, number in (("size", size), ("every", every)):
            if number < 1:
                raise SettingsError(f"{name} must be at least 1, got {number}")
        self.every = every
        self.sample_every = math.ceil(every / size)  # search positions that are multiples of it
        self.span = size * self.sample_every  # of the window, in arrivals
        self._items: dict[ItemId, Item] = {}
        self._classes: dict[ItemId, ClassId | None] = {}  # None while it waits

    def __len__(self) -> int:
        return len(self._items)

    @property
    def ids(self) -> KeysView[ItemId]:
        """Return the ids of all items, those between searched ones included."""
        return self._items.keys()

    @property
    def classes(self) -> Mapping[ItemId, ClassId | None]:
        """Return the class that each item has so far, None while it waits."""
        return MappingProxyType(self._classes)

    def find(self, item_id: ItemId) -> Item | None:
        """Return an item by its id, or None."""
        return self._items.get(item_id)

    def add(self, items: Sequence[Item], decisions: Sequence[Decision]) -> None:
        """Keep items of the sample, and the classes they got at arrival; keep all rejected."""
        for item, (class_id, _, is_accepted) in zip(items, decisions, strict=True):
            if is_accepted and item.position % self.sample_every:
                continue
            self._items[item.id] = item
            self._classes[item.id] = class_id if is_accepted else None

    def is_due(self, arrivals: int, waiting: int = 0) -> bool:
        """Tell whether a search is due after `arrivals` items since the last one.

        The more open questions are `waiting` for an answer, the rarer are searches.

        >>> Recent(size=100, every=10).is_due(9), Recent(size=100, every=10).is_due(10)
        (False, True)
        """
        return arrivals >= _interval(self.every, self.span, waiting)

    def until_due(self, arrivals: int, waiting: int = 0) -> int:
        """Return how many more items arrive before the next search.

        >>> Recent(size=100, every=10).until_due(7), Recent(size=100, every=10).until_due(7, 120)
        (3, 23)
        """
        return max(1, _interval(self.every, self.span, waiting) - arrivals)

    def items(self) -> list[Item]:
        """Return all items that csim may ask about, oldest first."""
        if self.sample_every == 1:
            return list(self._items.values())
        return [item for item in self._items.values() if item.position % self.sample_every == 0]

    def waiting(self) -> list[Item]:
        """Return all items without a class."""
        return [item for item in self._items.values() if self._classes[item.id] is None]

    def revisable(self, position: int) -> list[tuple[Item, ClassId | None]]:
        """Return the items whose class csim may still revise at `position`, and their classes."""
        return [
            (item, self._classes[item.id])
            for item in self._items.values()
            if position - item.position <= self.span
        ]

    def remove_old(self, position: int) -> list[Item]:
        """Remove the items that left the window; return those that are still without a class."""
        last = position - self.span
        old = [*takewhile(lambda item: item.position <= last, self._items.values())]
        waiting = [item for item in old if self._classes[item.id] is None]
        for item in old:
            del self._items[item.id], self._classes[item.id]
        return waiting

    def apply(self, event: Event) -> None:
        """Remove the item that a question shows, or note the class that an item has now."""
        match event:
            case Asked(_, question):
                self._items.pop(question.representative.id, None)
                self._classes.pop(question.representative.id, None)
            case Labelled(_, item_id, class_id) | Revised(_, item_id, _, class_id):
                if item_id in self._classes:
                    self._classes[item_id] = class_id

    def state(self) -> State:
        """Return the items and their classes."""
        return {"items": pack([*self._items.values()]), "class_ids": list(self._classes.values())}

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        items = unpack(state["items"])
        self._items = {item.id: item for item in items}
        self._classes = dict(zip(self._items, state["class_ids"], strict=True))


def _interval(every: int, span: int, waiting: int) -> int:
    """Return the arrivals between two searches while so many questions wait for an answer.

    In a window that spans so many arrivals, each item is searched once at the least.
    """
    return min(every * (1 + waiting // _MANY_WAITING), max(every, span))
