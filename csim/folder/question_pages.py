"""Read questions page by page, for programs that show them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from csim.errors import QuestionError
from csim.folder.query import Query
from csim.records import JUNK, ClassId, ItemId, QuestionId

_QUESTIONS = (
    f"SELECT q.id, q.position, q.time, q.status, c.current_id, c.name,"  # noqa: S608
    f" q.class_id IS {JUNK}, q.audit, q.given, q.guesses, q.representative, i.id,"
    " (SELECT count(*) FROM members WHERE question_id = q.id), q.answered, l.labeller, l.until"
    " FROM questions q JOIN items i ON i.place = q.representative"
    " LEFT JOIN current_classes c ON c.id = q.class_id"
    " LEFT JOIN leases l ON l.question_id = q.id "
)


@dataclass(frozen=True, slots=True)
class Guess:
    """Hold a class that the model suggests."""

    class_id: ClassId
    name: str
    score: float


@dataclass(frozen=True, slots=True)
class LeaseRow:
    """Say who has a question, and until when: seconds since 1970, in UTC."""

    labeller: str
    until: float


@dataclass(frozen=True, slots=True)
class QuestionEntry:
    """Describe a question and the size of its group."""

    id: QuestionId
    position: int
    time: float | None  # when it was asked: seconds since 1970, in UTC
    status: str
    class_id: ClassId | None  # of the answer, as it is today
    class_name: str | None
    is_junk: bool  # the answer is junk
    is_audit: bool  # drawn at random, to measure accuracy
    is_given: bool  # a person chose the image; csim did not ask
    guesses: tuple[Guess, ...]  # best first
    representative: int  # its place
    representative_id: ItemId
    size: int  # images in the group
    answered: float | None  # when the answer was given
    lease: LeaseRow | None  # it may have ended


class QuestionPages:
    """Read the questions of a stream folder, some at a time.

    Parameters
    ----------
    query
        The folder's database.
    """

    def __init__(self, query: Query) -> None:
        self._query = query

    def page(self, status: str | None, *, after: int, most: int) -> list[QuestionEntry]:
        """Return questions in order of id.

        Parameters
        ----------
        status
            Which questions; None for all.
        after
            The id before the first question. Higher starts later.
        most
            How many questions, at most. Higher returns more.
        """
        where = "WHERE q.id > ?" if status is None else "WHERE q.id > ? AND q.status = ?"
        values = (after,) if status is None else (after, status)
        return self._entries(where + " ORDER BY q.id LIMIT ?", *values, most)

    def one(self, question_id: QuestionId) -> QuestionEntry:
        """Return one question."""
        for entry in self._entries("WHERE q.id = ?", question_id):
            return entry
        raise QuestionError(f"no question has the id {question_id}; list the open questions")

    def showing(self, places: Sequence[int]) -> dict[int, QuestionId]:
        """Return the question that shows an image for a group, by the image's place.

        Such an image is labelled by an answer to its question, not alone.
        """
        rows = self._query.rows(
            "SELECT q.representative, max(q.id) FROM json_each(?)"
            " JOIN questions q ON q.representative = value"
            " WHERE q.status IN ('open', 'undone', 'skipped', 'answered')"
            " AND (SELECT count(*) FROM members WHERE question_id = q.id) > 1 GROUP BY 1",
            json.dumps(places),
        )
        return dict(rows)

    def _entries(self, which: str, *values: object) -> list[QuestionEntry]:
        with self._query.transaction():
            rows = self._query.rows(_QUESTIONS + which, *values)
            names = {
                class_id: (current_id, name)
                for class_id, current_id, name in self._query.rows(
                    "SELECT id, current_id, name FROM current_classes"
                )
            }
        return [_entry(row, names) for row in rows]


def _entry(row: Sequence[object], names: dict[ClassId, tuple[ClassId, str]]) -> QuestionEntry:
    (
        *start,
        is_junk,
        is_audit,
        is_given,
        guesses,
        place,
        item_id,
        size,
        answered,
        labeller,
        until,
    ) = row
    found = [
        Guess(*names[class_id], score)
        for class_id, score in json.loads(str(guesses))
        if class_id in names
    ]
    lease = None if labeller is None else LeaseRow(str(labeller), float(str(until)))
    flags = (bool(is_junk), bool(is_audit), bool(is_given))
    rest = (*flags, tuple(found), place, item_id, size, answered, lease)
    return QuestionEntry(*start, *rest)  # type: ignore[arg-type, call-arg]
