"""Times as text. In memory and on disk a time is the seconds since 1970, in UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def utc(seconds: float | None) -> str | None:
    """Return a time as RFC 3339 writes it.

    >>> utc(0.25)
    '1970-01-01T00:00:00.250Z'
    """
    if seconds is None:
        return None
    text = datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def duration(seconds: float) -> str:
    """Return a length of time in the largest unit that leaves at least 2.

    >>> duration(90), duration(7200), duration(3e5)
    ('90 seconds', '2 hours', '3 days')
    """
    for unit, length in (("days", 86_400), ("hours", 3600), ("minutes", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} seconds"
