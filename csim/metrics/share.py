"""Shares in percent, the unit of most figures."""

from __future__ import annotations

from collections.abc import Iterable


def percent(hits: Iterable[bool]) -> float:
    """Return the share of hits in percent, or 0.0 if there is nothing to count.

    >>> percent([True, False, False, False]), percent([])
    (25.0, 0.0)
    """
    found = list(hits)
    return 100 * sum(found) / max(len(found), 1)
