"""The rate: how many requests one address may send."""

from __future__ import annotations

import time
from collections import OrderedDict

_ADDRESSES = 10_000  # remembered; the one that was silent longest is forgotten first
_BURST_SECONDS = 2.0


class RequestRate:
    """Count requests by address: a bucket that refills with time.

    Parameters
    ----------
    per_second
        Requests of one address. Higher lets one client do more.
    """

    def __init__(self, per_second: float) -> None:
        self._per_second = per_second
        self._most = max(1.0, per_second * _BURST_SECONDS)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, address: str) -> bool:
        """Count a request; return whether the address may send it now."""
        now = time.monotonic()
        left, then = self._buckets.pop(address, (self._most, now))
        left = min(self._most, left + (now - then) * self._per_second)
        is_allowed = left >= 1
        self._buckets[address] = (left - 1 if is_allowed else left, now)
        if len(self._buckets) > _ADDRESSES:
            self._buckets.popitem(last=False)
        return is_allowed
