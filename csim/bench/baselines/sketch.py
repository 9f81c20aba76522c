"""Frequent Directions: many rows as a few, so that no direction's energy is far off.

Rows are put in until there are twice as many as the sketch keeps; then all directions shrink by the energy of the
first that must go. Two sketches are merged by putting the rows of one into the other.
"""

from __future__ import annotations

import numpy as np

from csim.records import Floats

_NOTHING = 1e-12


class Sketch:
    """A sketch of rows.

    Parameters
    ----------
    size
        ℓ: rows that it keeps. Raising it is more exact, and slower.
    width
        The length of a row.

    Examples
    --------
    >>> sketch = Sketch(2, width=3)
    >>> sketch.add(np.array([[3.0, 0, 0], [0, 2.0, 0]]))
    >>> np.abs(sketch.directions).round(6).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """

    def __init__(self, size: int, width: int) -> None:
        self.size = size
        self._rows: Floats = np.zeros((0, width))

    @property
    def rows(self) -> Floats:
        """At most `size` rows, orthogonal, the longest first."""
        self._shrink()
        return self._rows

    @property
    def directions(self) -> Floats:
        """The rows, each of unit length, (k, d)."""
        rows = self.rows
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    def add(self, rows: Floats) -> None:
        """Put in rows, (n, d)."""
        step = max(1, 2 * self.size - len(self._rows))
        while len(rows):
            self._rows, rows = np.concatenate([self._rows, rows[:step]]), rows[step:]
            if len(self._rows) >= 2 * self.size:
                self._shrink()
            step = max(1, 2 * self.size - len(self._rows))

    def merge(self, other: Sketch) -> None:
        """Put in another sketch."""
        self.add(other.rows)

    def scale(self, factor: float) -> None:
        """Let what is in it count less: `factor` times as much, in length."""
        self._rows = self._rows * factor

    def _shrink(self) -> None:
        """Turn the rows into at most `size` orthogonal ones, by the Gram matrix: rows are far fewer than columns."""
        if not len(self._rows):
            return
        energy, turns = np.linalg.eigh(self._rows @ self._rows.T)
        energy, turns = np.maximum(energy[::-1], 0), turns[:, ::-1]
        lost = energy[self.size] if len(energy) > self.size else 0.0
        kept = np.flatnonzero(energy[: self.size] > max(lost, _NOTHING * max(energy[0], _NOTHING)))
        length = np.sqrt(np.maximum(energy[kept] - lost, 0) / energy[kept])
        self._rows = (turns[:, kept] * length).T @ self._rows
