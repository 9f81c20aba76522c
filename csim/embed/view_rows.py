"""Views in columns: the vectors and features of items, a row of two arrays for each item."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from csim.records import Floats, Ints, Item, ItemId, Views

_Key = tuple[ItemId, int]  # an id may be used again once its item is forgotten
_FIRST_ROWS = 256


class ViewRows:
    """Remember views by item; a new one takes the row of the oldest when there are too many.

    Parameters
    ----------
    most
        Views to remember. Higher embeds less often but uses more memory.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._row_of: dict[_Key, int] = {}
        self._keys: list[_Key] = []  # of each row
        self._next = 0  # row to write
        self._vectors: Floats = np.zeros((0, 0), np.float32)  # (rows, d)
        self._features: Floats = np.zeros((0, 0), np.float32)  # (rows, f)

    def __len__(self) -> int:
        return len(self._row_of)

    def find(self, items: Sequence[Item]) -> Ints:
        """Return the row of each item, (n,), -1 for those that are not remembered."""
        row_of = self._row_of
        if not row_of:
            return np.full(len(items), -1)
        return np.array([row_of.get((item.id, item.position), -1) for item in items], np.int64)

    def read(self, rows: Ints) -> Views:
        """Return the views in some rows."""
        return Views(self._vectors[rows], self._features[rows])

    def add(self, keys: Sequence[_Key], views: Views) -> None:
        """Remember the views of items by id and position, in place of earlier ones."""
        keys = keys[-self._most :]
        if not keys:
            return
        before_end = min(len(keys), self._most - self._next)
        self._write(keys[:before_end], views.vectors[-len(keys) :], views.features[-len(keys) :])
        if before_end < len(keys):  # go on at row 0
            rest = len(keys) - before_end
            self._write(keys[before_end:], views.vectors[-rest:], views.features[-rest:])

    def oldest_first(self) -> tuple[list[_Key], Views]:
        """Return the ids and positions of all items, and their views."""
        order = [*self._keys[self._next :], *self._keys[: self._next]]
        keys = [*dict.fromkeys(key for key in order if key in self._row_of)]
        return keys, self.read(np.array([self._row_of[key] for key in keys], np.int64))

    def _write(self, keys: Sequence[_Key], vectors: Floats, features: Floats) -> None:
        """Write the first views to the next rows, one for each key."""
        first = self._next
        end = first + len(keys)
        self._vectors = _grown(self._vectors, end, self._most, vectors)
        self._features = _grown(self._features, end, self._most, features)
        self._vectors[first:end] = vectors[: len(keys)]
        self._features[first:end] = features[: len(keys)]
        for row, old in enumerate(self._keys[first:end], start=first):
            if self._row_of.get(old) == row:
                del self._row_of[old]
        self._keys[first:end] = keys
        self._row_of.update(zip(keys, range(first, end), strict=True))
        self._next = end % self._most


def _grown(rows: Floats, least: int, most: int, like: Floats) -> Floats:
    """Return `rows` with room for at least `least`, at most `most`; it doubles, so it is rare."""
    if least <= len(rows):
        return rows
    larger = np.empty((min(most, max(2 * least, _FIRST_ROWS)), like.shape[1]), np.float32)
    if len(rows):
        larger[: len(rows)] = rows
    return larger
