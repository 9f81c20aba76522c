"""Leases: a question that one person has is not given to another until the lease ends.

A lease ends when its time is over, when its labeller releases it, or when the question has an
answer. It never stops an answer by other means: the engine takes the first answer and refuses the
second.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence

from csim.errors import QuestionError
from csim.folder.database import transaction, translate_errors
from csim.folder.question_pages import LeaseRow
from csim.records import QuestionId

_ANSWERABLE = ("open", "undone")
# Audit questions first: the estimate of accuracy needs all of them, and they are few. Then those
# whose answer labels the most images, and of these the newest.
_NEXT = (
    "SELECT q.id FROM questions q LEFT JOIN leases l ON l.question_id = q.id AND l.until > ?1"
    " WHERE q.status IN ('open', 'undone') AND (l.labeller IS NULL OR l.labeller = ?2)"
    " AND q.id NOT IN (SELECT json_extract(body, '$.question_id') FROM inbox"
    "  WHERE step IS NULL AND json_extract(body, '$.question_id') IS NOT NULL)"
    " AND q.id NOT IN (SELECT value FROM json_each(?3))"
    " ORDER BY l.labeller IS NULL, q.audit DESC,"
    " (SELECT count(*) FROM members WHERE question_id = q.id) DESC, q.id DESC LIMIT 1"
)


def take_next(
    connection: sqlite3.Connection,
    labeller: str,
    *,
    now: float,
    seconds: float,
    besides: Sequence[QuestionId] = (),
) -> QuestionId | None:
    """Give a labeller the most valuable question that nobody else has; None if there is none.

    A labeller who has a question already gets the same one again. Questions whose answer waits in
    the inbox are left out.

    Parameters
    ----------
    connection
        One from `open_for_messages`.
    labeller
        Who gets it.
    now
        Seconds since 1970, in UTC. Higher ends more leases of others.
    seconds
        How long the lease lasts. Higher keeps the question from others for longer.
    besides
        Questions to leave out, because the labeller has them on the screen.
    """
    with transaction(connection):
        found = find_next(connection, labeller, now=now, besides=besides)
        if found is not None:
            _write(connection, found, labeller, now + seconds)
    return found


def find_next(
    connection: sqlite3.Connection,
    labeller: str,
    *,
    now: float,
    besides: Sequence[QuestionId] = (),
) -> QuestionId | None:
    """Return the question that `take_next` would give to a labeller, without giving it."""
    with translate_errors(connection):
        row = connection.execute(_NEXT, (now, labeller, json.dumps(besides))).fetchone()
    return None if row is None else int(row[0])


def take(
    connection: sqlite3.Connection,
    question_id: QuestionId,
    labeller: str,
    *,
    now: float,
    seconds: float,
) -> LeaseRow | None:
    """Give a labeller a question; return the lease of another that stands against it, if any."""
    with transaction(connection):
        row = connection.execute(
            "SELECT status FROM questions WHERE id = ?", (question_id,)
        ).fetchone()
        if row is None:
            raise QuestionError(f"no question has the id {question_id}; list the open questions")
        if row[0] not in _ANSWERABLE:
            raise QuestionError(f"question {question_id} is {row[0]}; choose one that is open")
        other = held_by_other(connection, question_id, labeller, now=now)
        if other is None:
            _write(connection, question_id, labeller, now + seconds)
    return other


def release(connection: sqlite3.Connection, question_id: QuestionId, labeller: str) -> None:
    """End a labeller's lease, if there is one."""
    with transaction(connection):
        connection.execute(
            "DELETE FROM leases WHERE question_id = ? AND labeller = ?", (question_id, labeller)
        )


def end(connection: sqlite3.Connection, question_id: QuestionId) -> None:
    """End the lease of a question, because it has an answer."""
    with transaction(connection):
        connection.execute("DELETE FROM leases WHERE question_id = ?", (question_id,))


def held_by_other(
    connection: sqlite3.Connection, question_id: QuestionId, labeller: str | None, *, now: float
) -> LeaseRow | None:
    """Return the lease of an open question, if another than `labeller` has it."""
    row = connection.execute(
        "SELECT labeller, until FROM leases JOIN questions ON id = question_id"
        " WHERE question_id = ? AND until > ? AND status IN ('open', 'undone')",
        (question_id, now),
    ).fetchone()
    return None if row is None or row[0] == labeller else LeaseRow(*row)


def _write(
    connection: sqlite3.Connection, question_id: QuestionId, labeller: str, until: float
) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", (question_id, labeller, until)
    )
    connection.execute(  # leases of questions that have an answer are of no use any more
        "DELETE FROM leases WHERE question_id IN (SELECT l.question_id FROM leases l"
        " JOIN questions q ON q.id = l.question_id WHERE q.status NOT IN ('open', 'undone'))"
    )
