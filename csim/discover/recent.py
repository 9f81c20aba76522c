"""The recent images: all of them, accepted or not, so that a second look can recall what the first let pass."""

from __future__ import annotations

from dataclasses import dataclass

from csim.errors import SettingsError
from csim.packing import pack, unpack
from csim.records import ClassId, Decision, Item, ItemId, Question, State


@dataclass
class _Entry:
    item: Item
    class_id: ClassId | None  # what it has been given so far


class Recent:
    """The latest images, with the class that each has been given.

    Parameters
    ----------
    size
        Arrivals for which an image can be asked about, and its class revised. Raising it sees more of a rare new class
        and mends more, for memory and later last words.
    every
        Arrivals between two looks. Raising it chooses among more at a time and finds new classes later.
    """

    def __init__(self, size: int, every: int) -> None:
        if not 1 <= every <= size:
            raise SettingsError(f"every must lie between 1 and size ({size}), got {every}")
        self.size = size
        self.every = every
        self._entries: dict[ItemId, _Entry] = {}
        self._last_look = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._entries

    def add(self, item: Item, decision: Decision) -> None:
        """Remember an image and what was decided about it."""
        self._entries[item.id] = _Entry(item, decision.class_id if decision.is_accepted else None)

    def is_due(self, position: int) -> bool:
        """Tell whether it is time to look, the stream having come to `position`.

        >>> Recent(size=100, every=10).is_due(9), Recent(size=100, every=10).is_due(10)
        (False, True)
        """
        return position - self._last_look >= self.every

    def items(self) -> list[Item]:
        """Return all images that may be asked about, oldest first."""
        return [entry.item for entry in self._entries.values()]

    def looked(self, position: int) -> None:
        """Note when the last look was."""
        self._last_look = position

    def asked(self, question: Question) -> None:
        """Let go of the image that a question shows: it waits for its answer elsewhere."""
        self._entries.pop(question.representative.id, None)

    def leaving(self, position: int) -> list[Item]:
        """Return images without a class that are too old to wait longer; all old ones are forgotten."""
        old = [
            entry for entry in self._entries.values() if position - entry.item.position >= self.size
        ]
        for entry in old:
            del self._entries[entry.item.id]
        return [entry.item for entry in old if entry.class_id is None]

    def waiting(self) -> list[Item]:
        """Return all images without a class."""
        return [entry.item for entry in self._entries.values() if entry.class_id is None]

    def given(self, position: int) -> list[tuple[Item, ClassId | None]]:
        """Return the images whose class may still be revised at `position`, and the class of each."""
        return [
            (entry.item, entry.class_id)
            for entry in self._entries.values()
            if position - entry.item.position <= self.size
        ]

    def class_of(self, item_id: ItemId) -> ClassId | None:
        """Return the class that an image here has been given, None if it waits."""
        return self._entries[item_id].class_id

    def give(self, item_id: ItemId, class_id: ClassId | None) -> None:
        """Note that an image has another class now."""
        if entry := self._entries.get(item_id):
            entry.class_id = class_id

    def state(self) -> State:
        """Return the images and their classes."""
        entries = list(self._entries.values())
        return {
            "items": pack([entry.item for entry in entries]),
            "class_ids": [entry.class_id for entry in entries],
            "last_look": self._last_look,
        }

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        self._entries = {
            item.id: _Entry(item, class_id)
            for item, class_id in zip(unpack(state["items"]), state["class_ids"], strict=True)
        }
        self._last_look = state["last_look"]
