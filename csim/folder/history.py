"""Read what happened to a stream over time: questions, labels, messages, events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import csim.records as r
from csim.folder.codec import Message, event_from_text, message_from_text
from csim.folder.lines import Line, lines
from csim.folder.query import Query
from csim.folder.schema import SAID
from csim.sources.arrival import Arrival, Decoded
from csim.sources.decode import decode

# What `metrics.answers.labels_spent` counts in a log: an answer has one label that was told.
_LABELS_SPENT = f"SELECT position FROM events WHERE {SAID} ORDER BY position"  # noqa: S608
_LAST_ANSWERED = (
    f"SELECT q.id FROM events e JOIN questions q ON q.id = json_extract(body, '$.question_id')"  # noqa: S608
    f" WHERE {SAID} AND q.status = 'answered' AND kind != 'Divided'"
    " ORDER BY e.position DESC, e.number DESC LIMIT 1"
)


@dataclass(frozen=True, slots=True)
class MessageRow:
    """Hold a message of the inbox and its outcome."""

    key: str
    not_before: int  # the position from which the engine may take it
    message: Message
    is_taken: bool
    refusal: str | None  # the reason, if the engine refused it


@dataclass(frozen=True, slots=True)
class QuestionState:
    """Hold the status of a question today, and the name of the class in its answer."""

    status: str
    name: str | None
    is_junk: bool = False  # the answer is junk


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
        return int(
            self._query.value(
                "SELECT position FROM steps WHERE step = (SELECT max(step) FROM steps)"
            )
        )

    def last_step(self) -> int:
        """Return the number of the last step in the log."""
        return int(self._query.value("SELECT max(step) FROM steps"))

    def questions_asked(self) -> list[int]:
        """Return the position of every question that csim asked, in order."""
        return self._positions("SELECT position FROM questions WHERE NOT given ORDER BY position")

    def labels_spent(self) -> list[int]:
        """Return the position of every label that a person gave: names, splits and corrections.

        An answer that was taken back stays spent.
        """
        return self._positions(_LABELS_SPENT)

    def last_answered(self) -> r.QuestionId | None:
        """Return the question that was answered or corrected last and still has its answer."""
        rows = self._query.rows(_LAST_ANSWERED)
        return int(rows[0][0]) if rows else None

    def question_states(self) -> dict[r.QuestionId, QuestionState]:
        """Return the state of every question by its id."""
        rows = self._query.rows(
            "SELECT q.id, q.status, c.name, q.class_id IS ? FROM questions q"
            " LEFT JOIN current_classes c ON c.id = q.class_id",
            r.JUNK,
        )
        return {
            question_id: QuestionState(status, name, bool(is_junk))
            for question_id, status, name, is_junk in rows
        }

    def removed_classes(self) -> dict[r.ClassId, str]:
        """Return the name of every class id that refers to no class today."""
        return dict(
            self._query.rows("SELECT id, name FROM classes WHERE today IS NULL ORDER BY id")
        )

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
        """Return all events that are kept, in order.

        An image whose picture is no longer kept is black. A folded one has the position 0.
        """
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
        rows = self._query.rows(
            "SELECT place, file FROM items LEFT JOIN pictures ON picture = sha256 WHERE id = ?",
            item_id,
        )
        place, file = rows[0] if rows else (0, None)
        shape = self._image_shape
        seen = None if file is None else decode(Arrival(item_id, bytes(file)), shape)
        image = seen.image if isinstance(seen, Decoded) else np.zeros(shape, np.uint8)
        return r.Item(item_id, place, image)

    def _positions(self, statement: str) -> list[int]:
        return [position for (position,) in self._query.rows(statement)]
