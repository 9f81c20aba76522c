"""The candidate buffer: rejected items that wait to be grouped, as in the paper."""

from __future__ import annotations

from collections.abc import KeysView, Mapping, Sequence

from csim.errors import SettingsError
from csim.packing import pack, unpack
from csim.records import Asked, ClassId, Decision, Event, Item, ItemId, Revised, State


class Buffer:
    """Hold candidates in order of arrival.

    Parameters
    ----------
    size
        S_B: with this many candidates a search is due. Higher shows more of a new class at once and
        asks later.
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise SettingsError(f"size must be at least 1, got {size}")
        self.size = size
        self._items: dict[ItemId, Item] = {}

    def __len__(self) -> int:
        return len(self._items)

    def find(self, item_id: ItemId) -> Item | None:
        """Return an item by its id, or None."""
        return self._items.get(item_id)

    @property
    def ids(self) -> KeysView[ItemId]:
        """Return the ids of all candidates."""
        return self._items.keys()

    def add(self, items: Sequence[Item], decisions: Sequence[Decision]) -> None:
        """Keep the items that were rejected."""
        for item, decision in zip(items, decisions, strict=True):
            if not decision.is_accepted:
                self._items[item.id] = item

    def is_due(self, arrivals: int, waiting: int = 0) -> bool:
        """Tell whether the buffer is full; `arrivals` and `waiting` do not matter.

        >>> buffer = Buffer(size=1)
        >>> buffer.add([Item("a", 7, None)], [Decision(0, 0.2, is_accepted=False)])
        >>> buffer.is_due(arrivals=1)
        True
        """
        return len(self._items) >= self.size

    def until_due(self, arrivals: int, waiting: int = 0) -> int:
        """Return the free places: the next items may all be rejected.

        >>> Buffer(size=5).until_due(arrivals=100)
        5
        """
        return max(1, self.size - len(self._items))

    def items(self) -> list[Item]:
        """Return all candidates, oldest first."""
        return list(self._items.values())

    def waiting(self) -> list[Item]:
        """Return all candidates: none of them has a class."""
        return self.items()

    @property
    def classes(self) -> Mapping[ItemId, ClassId | None]:
        """Return the class of each candidate, which is None."""
        return dict.fromkeys(self._items)

    def remove_old(self, position: int) -> list[Item]:
        """Remove and return all candidates: none waits for a second search."""
        left = self.items()
        self._items.clear()
        return left

    def apply(self, event: Event) -> None:
        """Remove candidates that a question is about now, or that were given a class."""
        match event:
            case Asked(_, question):
                for item in question.members:
                    self._items.pop(item.id, None)
            case Revised(_, item_id):
                self._items.pop(item_id, None)

    def state(self) -> State:
        """Return the candidates."""
        return pack(self.items())

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._items = {item.id: item for item in unpack(state)}
