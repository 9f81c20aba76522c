"""Submit one message and follow it: the same key twice is one message, its result can be read.

`send` is for commands, which run the stream themselves if nobody else does. This is for programs
that stay, such as the service.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass

from csim.errors import InputError, QuestionError
from csim.folder import inbox, leases
from csim.folder.codec import Message, message_to_text
from csim.folder.database import translate_errors
from csim.messages import Answer
from csim.records import (
    QuestionId,
)


@dataclass(frozen=True, slots=True)
class Result:
    """Say what became of a message."""

    number: int
    is_taken: bool  # False: it waits safely for the engine
    refusal: str | None  # the reason, if the engine refused it
    asked: tuple[QuestionId, ...]  # the questions that it made: a split, or labels of images


def submit(
    connection: sqlite3.Connection,
    message: Message,
    *,
    key: str | None = None,
    labeller: str | None = None,
    clock: Callable[[], float] = time.time,
) -> int:
    """Write a message to the inbox and return its number; once this returns it is safe.

    Parameters
    ----------
    connection
        One from `open_for_messages`.
    message
        An answer or an edit.
    key
        A text that you choose. The same key and message again return the same number; the same key
        with another message is refused.
    labeller
        Who answers. A question that another labeller has is refused.
    clock
        Returns the seconds since 1970, in UTC.
    """
    with translate_errors(connection):
        if key is not None and (number := _earlier(connection, key, message)) is not None:
            return number
        if isinstance(message, Answer):
            _check(connection, message.question_id, labeller, clock())
    (number,) = inbox.post(connection, [message], keys=None if key is None else [key], clock=clock)
    if isinstance(message, Answer):
        leases.end(connection, message.question_id)
    return number


def result(connection: sqlite3.Connection, number: int) -> Result:
    """Return what became of a message."""
    is_taken, refusal = inbox.outcome(connection, number)
    with translate_errors(connection):
        rows = connection.execute(
            "SELECT json_extract(e.body, '$.question_id') FROM inbox"
            " JOIN events e ON e.step = inbox.step WHERE inbox.number = ? AND e.kind = 'Asked'"
            " ORDER BY e.number",
            (number,),
        )
        asked = tuple(question_id for (question_id,) in rows)
    return Result(number, is_taken, refusal, asked)


def _earlier(connection: sqlite3.Connection, key: str, message: Message) -> int | None:
    """Return the number of the message that was sent with a key; None if there is none."""
    row = connection.execute(
        "SELECT number, kind, body FROM inbox WHERE key = ?", (key,)
    ).fetchone()
    if row is None:
        return None
    if (row[1], row[2]) != message_to_text(message):
        raise InputError("the key was used for another message; use a new key for each message")
    return int(row[0])


def _check(
    connection: sqlite3.Connection, question_id: QuestionId, labeller: str | None, now: float
) -> None:
    if not connection.execute("SELECT 1 FROM questions WHERE id = ?", (question_id,)).fetchone():
        raise QuestionError(f"no question has the id {question_id}; list the open questions")
    if (lease := leases.held_by_other(connection, question_id, labeller, now=now)) is not None:
        left = max(1, round(lease.until - now))
        raise QuestionError(
            f"{lease.labeller} has question {question_id} for {left} more seconds; "
            "ask for the next question"
        )
