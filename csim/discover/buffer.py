"""The candidate buffer: rejected images that wait to be grouped."""

from __future__ import annotations

from csim.errors import SettingsError
from csim.packing import pack, unpack
from csim.records import ClassId, Decision, Item, ItemId, Question, State


class Buffer:
    """Candidates in order of arrival.

    Parameters
    ----------
    size
        S_B: with so many candidates it is time to purify. Raising it shows more of a new class at once
        and answers later.
    """

    def __init__(self, size: int) -> None:
        if size < 1:
            raise SettingsError(f"size must be at least 1, got {size}")
        self.size = size
        self._items: dict[ItemId, Item] = {}

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._items

    def add(self, item: Item, decision: Decision) -> None:
        """Let an image wait if it was rejected."""
        if not decision.is_accepted:
            self._items[item.id] = item

    def is_due(self, position: int) -> bool:
        """Tell whether the buffer is full.

        >>> buffer = Buffer(size=1)
        >>> buffer.add(Item("a", 7, None), Decision(0, 0.2, is_accepted=False))
        >>> buffer.is_due(7)
        True
        """
        return len(self._items) >= self.size

    def items(self) -> list[Item]:
        """Return all candidates, oldest first."""
        return list(self._items.values())

    def looked(self, position: int) -> None:
        """Do nothing: the next look is due when the buffer is full again."""

    def asked(self, question: Question) -> None:
        """Let go of a question's images: they wait for its answer elsewhere."""
        for item in question.members:
            self._items.pop(item.id, None)

    def leaving(self, position: int) -> list[Item]:
        """Return all that are left: the buffer is there to be emptied."""
        return self.waiting()

    def waiting(self) -> list[Item]:
        """Return all candidates, and be empty."""
        left, self._items = self.items(), {}
        return left

    def given(self, position: int) -> list[tuple[Item, ClassId | None]]:
        """Return nothing: what was accepted is not here, and what waits has no class."""
        return []

    def class_of(self, item_id: ItemId) -> ClassId | None:
        """Return None: whoever is here waits."""
        return None

    def give(self, item_id: ItemId, class_id: ClassId | None) -> None:
        """Do nothing: what has a class is not here."""

    def state(self) -> State:
        """Return the candidates."""
        return pack(self.items())

    def restore(self, state: State) -> None:
        """Take back candidates."""
        self._items = {item.id: item for item in unpack(state)}
