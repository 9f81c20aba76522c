"""What happened in every minute, by wall-clock time: one row per minute, kept as a sum."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import csim.records as r
from csim.folder.query import Query

_GAINED = (r.ClassAdded, r.ClassRestored)
_LOST = (r.ClassRemoved, r.ClassesMerged)
_LABELS = {r.Labelled, r.Divided, r.Corrected}
_NEWEST_STEPS = 50  # among which the newest images are looked for


@dataclass(frozen=True, slots=True)
class Sums:
    """Sum up what happened in a time."""

    images: int = 0
    accepted: int = 0  # of these images, at arrival
    revised: int = 0  # images whose class changed later
    labels: int = 0  # that people gave
    classes: int = 0  # added, less those removed or merged


def add(connection: sqlite3.Connection, events: Sequence[r.Event], seconds: float) -> None:
    """Add the events of a step, which happened at a time, to its minute, in a transaction."""
    kinds = Counter(map(type, events))
    accepted = kinds[r.Accepted]
    labels = sum(map(_is_label, events)) if kinds.keys() & _LABELS else 0
    classes = sum(kinds[kind] for kind in _GAINED) - sum(kinds[kind] for kind in _LOST)
    row = (accepted + kinds[r.Rejected], accepted, kinds[r.Revised], labels, classes)
    if any(row):
        connection.execute(
            "INSERT INTO timeline VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            " images = images + excluded.images, accepted = accepted + excluded.accepted,"
            " revised = revised + excluded.revised, labels = labels + excluded.labels,"
            " classes = classes + excluded.classes",
            (int(seconds // 60), *row),
        )


def _is_label(event: r.Event) -> bool:
    """Return whether an event is a label that a person gave, as `schema.SAID` counts them."""
    return event.is_told if isinstance(event, r.Labelled) else type(event) in _LABELS


class Timeline:
    """Read what happened in a stream folder by wall-clock time.

    Parameters
    ----------
    query
        The folder's database.
    """

    def __init__(self, query: Query) -> None:
        self._query = query

    def first_minute(self) -> int | None:
        """Return the first minute in which something happened, since 1970; None if nothing has."""
        found = self._query.value("SELECT min(minute) FROM timeline")
        return None if found is None else int(found)

    def last_image_time(self) -> float | None:
        """Return when the newest images came, seconds since 1970; None if it is long ago."""
        found = self._query.value(
            "SELECT max(time) FROM steps"
            " WHERE step > (SELECT max(step) FROM steps) - ? AND kind = 'observe'",
            _NEWEST_STEPS,
        )
        return None if found is None else float(found)

    def parts(self, start: int, minutes: int, parts: int) -> list[Sums]:
        """Return the sums of equal parts of a time.

        Parameters
        ----------
        start
            Its first minute, since 1970. Higher starts later.
        minutes
            The length of one part. Higher shows less detail.
        parts
            How many. Higher ends later.
        """
        rows = self._query.rows(
            "SELECT (minute - ?1) / ?2, sum(images), sum(accepted), sum(revised), sum(labels),"
            " sum(classes) FROM timeline WHERE minute >= ?1 AND minute < ?1 + ?2 * ?3 GROUP BY 1",
            start,
            minutes,
            parts,
        )
        found = {part: Sums(*sums) for part, *sums in rows}
        return [found.get(part, Sums()) for part in range(parts)]
