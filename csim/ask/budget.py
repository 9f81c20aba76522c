"""The label budget: how many questions may be asked by now.

It grows with the stream: after t images at most `share` · t questions have been asked, at every t.
"""

from __future__ import annotations

import sys

from csim.errors import SettingsError
from csim.records import State


class Budget:
    """Questions granted by the stream's length, less those asked.

    Parameters
    ----------
    share
        Questions per image of the stream, between 0 and 1. Raising it asks more; 1 sets no limit, 0 asks nothing.

    Examples
    --------
    >>> budget = Budget(0.02)
    >>> budget.left(99), budget.left(250)
    (1, 5)
    >>> budget.spend(3)
    >>> budget.left(250)
    2
    """

    def __init__(self, share: float) -> None:
        if not 0 <= share <= 1:
            raise SettingsError(f"share must lie between 0 and 1, got {share}")
        self.share = share
        self._spent = 0

    def left(self, position: int) -> int:
        """Return how many questions may be asked, the stream having come to `position`."""
        if self.share == 1:
            return sys.maxsize
        return max(
            0, int(self.share * position + 1e-9) - self._spent
        )  # 0.29 * 100 is just below 29

    def spend(self, questions: int) -> None:
        """Note that questions were asked, be they within the budget or a person's own wish (a split)."""
        self._spent += questions

    def state(self) -> State:
        """Return what was spent."""
        return {"spent": self._spent}

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        self._spent = state["spent"]
