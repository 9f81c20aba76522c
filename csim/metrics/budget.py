"""Whether a method kept to its budget of questions, at every moment and not only in the end."""

from __future__ import annotations

from collections.abc import Iterable

from csim.errors import SettingsError
from csim.metrics.answers import questions
from csim.records import Event


def within_budget(events: Iterable[Event], share: float, burst: int = 0) -> bool:
    """Tell whether asked(t) ≤ share · t + burst held after every image; see `most_over_budget`."""
    return most_over_budget(events, share, burst) == 0


def most_over_budget(events: Iterable[Event], share: float, burst: int = 0) -> float:
    """Return by how many questions asked(t) exceeded share · t + burst at worst; 0.0 if it never did.

    Parameters
    ----------
    events
        The log.
    share
        Questions allowed per image, 0 to 1. Raising it allows more.
    burst
        Questions allowed at once on top, since a buffer that is full asks about all its groups. Raising it
        forgives more.

    Examples
    --------
    >>> import numpy as np
    >>> from csim.records import Asked, Item, Question
    >>> item = Item("a", 1, np.zeros((8, 8), np.uint8))
    >>> most_over_budget([Asked(position, Question(1, position, item, (item,))) for position in (10, 11)], share=0.1)
    0.9
    """
    if not 0 <= share <= 1 or burst < 0:
        raise SettingsError(
            f"share must lie between 0 and 1 and burst be 0 or more, got {share} and {burst}"
        )
    asked = enumerate(questions(events), start=1)
    most = max((count - share * position - burst for count, position in asked), default=0.0)
    return round(
        max(most, 0.0), 9
    )  # 29 questions in 100 images keep to a share of 0.29, which is just below it
