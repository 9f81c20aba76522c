"""The candidate buffer: rejected images that wait to be grouped."""

from __future__ import annotations

from csim.errors import SettingsError
from csim.records import Decision, Item, ItemId, State, pack, unpack


class Buffer:
    """Candidates in order of arrival.

    Parameters
    ----------
    size
        S_B: with so many candidates it is time to purify. Raising it shows more of a new class at once
        and answers later.
    patience
        It is also time when the oldest candidate is this many images old. Raising it waits longer on a slow
        stream; 0 waits for ever.
    """

    def __init__(self, size: int, patience: int = 0) -> None:
        if size < 1 or patience < 0:
            raise SettingsError(f"size must be at least 1 and patience at least 0, got {size} and {patience}")
        self.size = size
        self.patience = patience
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
        """Tell whether it is time to purify, the stream having come to `position`.

        >>> buffer = Buffer(size=2, patience=100)
        >>> buffer.add(Item("a", 7, None), Decision(0, 0.2, is_accepted=False))
        >>> buffer.is_due(106), buffer.is_due(107)
        (False, True)
        """
        if not self._items:
            return False
        oldest = next(iter(self._items.values()))
        is_old = self.patience > 0 and position - oldest.position >= self.patience
        return len(self._items) >= self.size or is_old

    def items(self) -> list[Item]:
        """Return all candidates, oldest first."""
        return list(self._items.values())

    def choose(self, most: int) -> list[Item]:
        """Return all candidates, whatever the number of questions: one can be about many."""
        return self.items()

    def clear(self) -> None:
        """Be empty."""
        self._items = {}

    def state(self) -> State:
        """Return the candidates."""
        return pack(self.items())

    def restore(self, state: State) -> None:
        """Take back candidates."""
        self._items = {item.id: item for item in unpack(state)}
