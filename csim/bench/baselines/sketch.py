"""Frequent Directions (Liberty, KDD 2013): a matrix sketch that approximates many rows by a few.

A sketch takes rows until it holds twice as many as it keeps. Then all squared singular values
shrink by the largest one that it drops. To merge two sketches, add the rows of one to the other.
"""

from __future__ import annotations

import numpy as np

from csim.records import Floats

_MIN_ENERGY = 1e-12  # relative to the largest; less is rounding


class Sketch:
    """Keep a matrix sketch of rows.

    Parameters
    ----------
    size
        ℓ: rows to keep. Higher is more exact and slower.
    width
        Length of a row.

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
        """Return at most `size` orthogonal rows, the longest first."""
        self._shrink()
        return self._rows

    @property
    def directions(self) -> Floats:
        """Return the rows scaled to unit length, (k, d)."""
        rows = self.rows
        return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))

    def add(self, rows: Floats) -> None:
        """Add rows, (n, d)."""
        step = max(1, 2 * self.size - len(self._rows))
        while len(rows):
            self._rows = np.concatenate([self._rows, rows[:step]])
            rows = rows[step:]
            if len(self._rows) >= 2 * self.size:
                self._shrink()
            step = max(1, 2 * self.size - len(self._rows))

    def merge(self, other: Sketch) -> None:
        """Add the rows of another sketch."""
        self.add(other.rows)

    def scale(self, factor: float) -> None:
        """Multiply all rows by a factor, so that new rows weigh more. Lower forgets faster."""
        self._rows = self._rows * factor

    def _shrink(self) -> None:
        """Reduce the rows to at most `size` orthogonal ones.

        The Gram matrix is used because there are far fewer rows than columns.
        """
        if not len(self._rows):
            return
        energy, rotations = np.linalg.eigh(self._rows @ self._rows.T)
        energy = np.maximum(energy[::-1], 0)
        rotations = rotations[:, ::-1]
        lost = energy[self.size] if len(energy) > self.size else 0.0
        least = _MIN_ENERGY * max(energy[0], _MIN_ENERGY)
        kept = np.flatnonzero(energy[: self.size] > max(lost, least))
        length = np.sqrt(np.maximum(energy[kept] - lost, 0) / energy[kept])
        self._rows = (rotations[:, kept] * length).T @ self._rows
