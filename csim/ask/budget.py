"""The label budget: how many questions csim may ask so far.

It grows with the stream: after t images csim has asked at most `share` · t questions, at every t.
"""

from __future__ import annotations

import sys

from csim.errors import SettingsError
from csim.records import State

_ROUNDING = 1e-9  # 0.29 * 100 is just below 29


class Budget:
    """Count the questions that csim may still ask.

    Parameters
    ----------
    share
        Questions per image of the stream, between 0 and 1. Higher asks more; 1 sets no limit and
        0 asks nothing.

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

    def left(self, position: int, kept: int = 0) -> int:
        """Return how many questions csim may ask at a position of the stream.

        `kept` questions are kept for another purpose. Higher leaves fewer.
        """
        if self.share == 1:
            return sys.maxsize
        granted = int(self.share * position + _ROUNDING)
        return max(0, granted - kept - self._spent)

    def spend(self, questions: int) -> None:
        """Count questions that were asked.

        A split may exceed the budget: its questions are what a person asked for.
        """
        self._spent += questions

    def state(self) -> State:
        """Return the number of questions asked."""
        return {"spent": self._spent}

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._spent = state["spent"]
