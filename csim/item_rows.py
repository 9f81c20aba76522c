"""Values of items in columns: arrays with a row for each item that is remembered."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from csim.records import Floats, Ints, Item, ItemId

# The position of an item of the stream: an id may be used again once its item is forgotten. All
# warm-up items have position 0, so their key is the id.
Key = int | ItemId


class ItemRows:
    """Remember values by item; a new item takes the row of the oldest when there are too many.

    Parameters
    ----------
    most
        Items to remember. Higher computes values again less often but uses more memory.

    Examples
    --------
    >>> rows = ItemRows(most=100)
    >>> rows.add([1, 2], np.array([[0.5], [0.7]]), np.array([[1, 2], [3, 4]]))
    >>> rows.read(1, rows.find([Item("b", 2, np.zeros((8, 8), np.uint8))])).tolist()
    [[3.0, 4.0]]
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._row_of: dict[Key, int] = {}
        self._keys: list[Key] = []  # of each row
        self._next = 0  # row to write
        self._columns: list[Floats] = []  # each (rows, …)

    def __len__(self) -> int:
        return len(self._row_of)

    def clear(self) -> None:
        """Forget all items; the arrays stay, as it takes time to get memory from the system."""
        self._row_of = {}
        self._keys = []
        self._next = 0

    def has_any(self, items: Sequence[Item]) -> bool:
        """Tell whether any of the items is remembered."""
        row_of = self._row_of
        return bool(row_of) and any((item.position or item.id) in row_of for item in items)

    def find(self, items: Sequence[Item]) -> Ints:
        """Return the row of each item, (n,), -1 for those that are not remembered."""
        if not self._row_of:
            return np.full(len(items), -1)
        row_of = self._row_of.get
        # Called thousands of times a search, so the key is written out.
        return np.array([row_of(item.position or item.id, -1) for item in items], np.int64)

    def read(self, column: int, rows: Ints) -> Floats:
        """Return the values of a column in some rows, (n, …)."""
        return self._columns[column][rows] if len(rows) else np.zeros((0, 0), np.float32)

    def of(self, items: Sequence[Item], compute: Callable[[list[Item]], Floats]) -> Floats:
        """Return the values of the only column for at least one item, (n, …).

        `compute` returns those of items that are not remembered. It is called once for all of them,
        and the rows remember what it returns.

        >>> rows = ItemRows(most=100)
        >>> items = [Item(name, 0, np.zeros((8, 8), np.uint8)) for name in "ab"]
        >>> rows.of(items, lambda new: np.array([[len(new)]] * len(new))).tolist()
        [[2], [2]]
        """
        rows = self.find(items)
        missing = np.flatnonzero(rows < 0).tolist()
        if not missing:
            return self.read(0, rows)
        new = [items[index] for index in missing]
        computed = compute(new)
        values = computed
        if len(missing) < len(items):
            values = np.empty((len(items), *computed.shape[1:]), np.float32)
            values[missing] = computed
            values[rows >= 0] = self.read(0, rows[rows >= 0])
        self.add_items(new, computed)
        return values

    def add_items(self, items: Sequence[Item], *columns: Floats) -> None:
        """Remember the values of items, in place of earlier ones; as `add`."""
        self.add([item.position or item.id for item in items], *columns)

    def add(self, keys: Sequence[Key], *columns: Floats) -> None:
        """Remember the values of items by their keys, in place of earlier ones.

        Each column has a row per item, (n, …). Every call must have the same columns.
        """
        keys = keys[-self._most :]
        if not keys:
            return
        before_end = min(len(keys), self._most - self._next)
        self._write(keys[:before_end], [column[-len(keys) :] for column in columns])
        if before_end < len(keys):  # go on at row 0
            rest = len(keys) - before_end
            self._write(keys[before_end:], [column[-rest:] for column in columns])

    def oldest_first(self) -> tuple[list[Key], Ints]:
        """Return the keys of all items, and their rows."""
        order = [*self._keys[self._next :], *self._keys[: self._next]]
        keys = [*dict.fromkeys(key for key in order if key in self._row_of)]
        return keys, np.array([self._row_of[key] for key in keys], np.int64)

    def _write(self, keys: Sequence[Key], columns: Sequence[Floats]) -> None:
        """Write the first values to the next rows, one for each key."""
        first = self._next
        end = first + len(keys)
        if not self._columns:  # the system gives memory to rows when they are written
            self._columns = [np.empty((self._most, *c.shape[1:]), np.float32) for c in columns]
        for rows, column in zip(self._columns, columns, strict=True):
            rows[first:end] = column[: len(keys)]
        for row, old in enumerate(self._keys[first:end], start=first):
            if self._row_of.get(old) == row:
                del self._row_of[old]
        self._keys[first:end] = keys
        self._row_of.update(zip(keys, range(first, end), strict=True))
        self._next = end % self._most
