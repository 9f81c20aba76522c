"""Read what happened to a stream over time: questions, labels, messages, events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import csim.records as r
from csim.folder.codec import Message, event_from_text, message_from_text
from csim.folder.lines import Line, lines
from csim.folder.query import Query
from csim.sources.arrival import Arrival, Decoded
from csim.sources.decode import decode

# What `metrics.answers.labels_spent` counts in a log: an answer has one label that was told.
_LABELS_SPENT = (
    "SELECT position FROM events WHERE kind IN ('Divided', 'Corrected')"
    " OR (kind = 'Labelled' AND json_extract(body, '$.is_told')) ORDER BY position"
)


@dataclass(frozen=True, slots=True)
class MessageRow:
    """Hold a message of the inbox and its outcome."""

    key: str
    not_before: int  # the position from which the engine may take it
    message: Message
    is_taken: bool
    refusal: str | None  # the reason, if the engine refused it


class History:
    """Read what happened in a stream folder, in order.

    Parameters
    ----------
    query
        The folder's database.
    image_shape
        The shape that images are decoded to.
    """

    def __init__(self, query: Query, image_shape: tuple[int, ...]) -> None:
        self._query = query
        self._image_shape = image_shape

    def position(self) -> int:
        """Return how many images the stream has observed."""
        return int(self._query.value("SELECT coalesce(max(position), 0) FROM steps"))

    def last_step(self) -> int:
        """Return the number of the last step in the log."""
        return int(self._query.value("SELECT max(step) FROM steps"))

    def questions_asked(self) -> list[int]:
        """Return the position of every question, in order."""
        return self._positions("SELECT position FROM questions ORDER BY position")

    def labels_spent(self) -> list[int]:
        """Return the position of every label that a person gave: names, splits and corrections.

        An answer that was taken back stays spent.
        """
        return self._positions(_LABELS_SPENT)

    def last_answered(self) -> r.QuestionId | None:
        """Return the question that was answered or corrected last and still has its answer."""
        rows = self._query.rows(
            "SELECT q.id FROM questions q JOIN events e ON e.kind IN ('Labelled', 'Corrected')"
            " AND json_extract(e.body, '$.question_id') = q.id"
            " WHERE q.status = 'answered' ORDER BY e.number DESC LIMIT 1"
        )
        return int(rows[0][0]) if rows else None

    def messages(self) -> list[MessageRow]:
        """Return all messages of the inbox, oldest first."""
        rows = self._query.rows(
            "SELECT key, not_before, kind, body, step IS NOT NULL, refusal FROM inbox"
            " ORDER BY number"
        )
        return [
            MessageRow(key, not_before, message_from_text(kind, body), bool(is_taken), refusal)
            for key, not_before, kind, body, is_taken, refusal in rows
        ]

    def refusals(self) -> list[str]:
        """Return why messages were refused, oldest first."""
        rows = self._query.rows(
            "SELECT refusal FROM inbox WHERE refusal IS NOT NULL ORDER BY number"
        )
        return [reason for (reason,) in rows]

    def lines(self, after: int = 0) -> Iterator[tuple[int, Line]]:
        """Yield each prediction line after a step, with its step, as `csim run` writes it."""
        return lines(self._query.connection, after)

    def events(self) -> list[r.Event]:
        """Return all events in order; an image whose picture is no longer kept is black."""
        with self._query.transaction():
            arrivals = self._query.rows(
                "SELECT is_accepted, place, id, nearest, score, model FROM items"
                " WHERE place > 0 ORDER BY place"
            )
            others = self._query.rows("SELECT kind, body FROM events ORDER BY number")
            log: list[r.Event] = [
                (r.Accepted if is_accepted else r.Rejected)(*values)
                for is_accepted, *values in arrivals
            ]
            log += [event_from_text(kind, body, self._image_of) for kind, body in others]
        # The sort is stable: at one position, arrivals come first and other events stay in order.
        return sorted(log, key=lambda event: event.position)

    def _image_of(self, item_id: r.ItemId) -> r.Item:
        ((place, file),) = self._query.rows(
            "SELECT place, file FROM items LEFT JOIN pictures ON picture = sha256 WHERE id = ?",
            item_id,
        )
        shape = self._image_shape
        seen = None if file is None else decode(Arrival(item_id, bytes(file)), shape)
        image = seen.image if isinstance(seen, Decoded) else np.zeros(shape, np.uint8)
        return r.Item(item_id, place, image)

    def _positions(self, statement: str) -> list[int]:
        return [position for (position,) in self._query.rows(statement)]
