"""The question budget, checked at every position and not only at the end."""

from __future__ import annotations

from collections.abc import Iterable

from csim.errors import SettingsError
from csim.metrics.answers import questions
from csim.records import Event


def within_budget(events: Iterable[Event], share: float, burst: int = 0) -> bool:
    """Tell whether asked(t) ≤ share · t + burst held at every position; see `most_over_budget`."""
    return most_over_budget(events, share, burst) == 0


def most_over_budget(events: Iterable[Event], share: float, burst: int = 0) -> float:
    """Return the largest excess of asked(t) over share · t + burst, or 0.0 if there was none.

    Parameters
    ----------
    events
        The log.
    share
        Questions allowed per image, 0 to 1. Higher allows more.
    burst
        Additional questions allowed at once, because a full buffer asks about all its groups.
        Higher allows more.

    Examples
    --------
    >>> import numpy as np
    >>> from csim.records import Asked, Item, Question
    >>> item = Item("a", 1, np.zeros((8, 8), np.uint8))
    >>> log = [Asked(position, Question(1, position, item, (item,))) for position in (10, 11)]
    >>> most_over_budget(log, share=0.1)
    0.9
    """
    if not 0 <= share <= 1 or burst < 0:
        raise SettingsError(
            f"share must lie between 0 and 1, and burst must be 0 or more; got {share} and {burst}"
        )
    asked = enumerate(questions(events), start=1)
    most = max((count - share * position - burst for count, position in asked), default=0.0)
    # Rounded, because 0.29 · 100 is just below 29: 29 questions in 100 images keep to it.
    return round(max(most, 0.0), 9)
