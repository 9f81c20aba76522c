"""Read events since an event: arrivals and everything else, in the order in which they happened.

An event's id names its step, its position and its number. The number is 0 for an arrival. Ids grow,
and the id of an event never changes. So a reader that stopped goes on after the last id it has.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from heapq import merge
from typing import Any, NamedTuple

from csim.errors import InputError
from csim.folder.query import Query

_ARRIVALS = (
    "SELECT i.step, i.place, 0, iif(i.is_accepted, 'Accepted', 'Rejected'), s.time,"
    " i.id, i.nearest, i.score, i.model FROM items i JOIN steps s ON s.step = i.step"
    " WHERE i.step >= ?1 AND (i.step, i.place) > (?1, ?2) AND i.place > 0"
    " ORDER BY i.step, i.place LIMIT ?3"
)
_OTHERS = (
    "SELECT e.step, e.position, e.number, e.kind, s.time, e.body FROM events e"
    " JOIN steps s ON s.step = e.step"
    " WHERE e.step >= ?1 AND (e.step, e.position, e.number) > (?1, ?2, ?3)"
    " ORDER BY e.step, e.number LIMIT ?4"  # within a step, positions grow with the numbers
)


class EventId(NamedTuple):
    """Say where an event is in the order of events."""

    step: int
    position: int
    number: int  # 0 for an arrival

    def __str__(self) -> str:
        return f"{self.step}.{self.position}.{self.number}"

    @classmethod
    def parse(cls, text: str) -> EventId:
        """Return the id that a text shows.

        >>> EventId.parse("17.512.0")
        EventId(step=17, position=512, number=0)
        """
        parts = text.split(".")
        if len(parts) != 3 or not all(
            part.isascii() and part.isdecimal() and len(part) <= 18 for part in parts
        ):
            raise InputError(
                f"an event id must be three numbers with dots between, got {text[:40]!r}; "
                "send the last id that you received"
            )
        return cls(*(int(part) for part in parts))


START = EventId(0, 0, 0)


@dataclass(frozen=True, slots=True)
class FeedEvent:
    """Hold an event: its kind, and its fields as plain values."""

    id: EventId
    kind: str
    time: float | None  # seconds since 1970, in UTC
    body: dict[str, Any]


class Feed:
    """Read the events of a stream folder in order.

    Parameters
    ----------
    query
        The folder's database.
    """

    def __init__(self, query: Query) -> None:
        self._query = query

    def last(self) -> EventId:
        """Return the id of the newest event."""
        with self._query.transaction():
            arrivals = self._query.rows(
                "SELECT step, place, 0 FROM items WHERE place > 0 ORDER BY step DESC, place DESC"
                " LIMIT 1"
            )
            others = self._query.rows(
                "SELECT step, position, number FROM events ORDER BY number DESC LIMIT 1"
            )
        return max((EventId(*row) for row in [*arrivals, *others]), default=START)

    def after(self, last: EventId, most: int) -> list[FeedEvent]:
        """Return events after one, in order.

        Parameters
        ----------
        last
            The id of the last event that you have.
        most
            How many events to return at most. Higher returns more at a time.
        """
        with self._query.transaction():
            arrivals = self._query.rows(_ARRIVALS, last.step, last.position, most)
            others = self._query.rows(_OTHERS, *last, most)
        both = merge(map(_arrival, arrivals), map(_other, others), key=lambda event: event.id)
        return list(both)[:most]


def _arrival(row: tuple[Any, ...]) -> FeedEvent:
    step, place, number, kind, time, item_id, nearest, score, model = row
    which = "class_id" if kind == "Accepted" else "nearest"
    body = {"position": place, "item_id": item_id, which: nearest, "score": score, "model": model}
    return FeedEvent(EventId(step, place, number), kind, time, body)


def _other(row: tuple[Any, ...]) -> FeedEvent:
    step, position, number, kind, time, body = row
    return FeedEvent(EventId(step, position, number), kind, time, json.loads(body))
