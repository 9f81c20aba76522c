"""The inbox: what people say while the engine runs, or before it runs again.

A message is theirs once it is written: from then on it is taken exactly once, whoever dies. The engine takes what has
come at the next border between two batches; a message that it must refuse keeps the reason.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import uuid4

from csim.folder.codec import Message, message_from_text, message_to_text
from csim.folder.database import transaction, translate_errors


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message that waits."""

    number: int
    message: Message


def post(
    connection: sqlite3.Connection,
    messages: Sequence[Message],
    *,
    keys: Sequence[str] | None = None,
    not_before: int = 0,
) -> list[int]:
    """Write messages, all or none, and return their numbers; once this returns they are safe.

    Parameters
    ----------
    connection
        Of `open_for_messages`.
    messages
        Answers to questions and changes of classes, in the order in which they are to be taken.
    keys
        A text of the sender's own for each: a message that comes a second time, because the sender died before it
        heard that the first was safe, is then one message.
    not_before
        The position of the stream from which they may be taken. Raising it makes them wait.
    """
    keys = [uuid4().hex for _ in messages] if keys is None else keys
    with transaction(connection):
        for key, message in zip(keys, messages, strict=True):
            connection.execute(
                "INSERT INTO inbox (key, not_before, kind, body) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING",
                (key, not_before, *message_to_text(message)),
            )
        found = [
            connection.execute("SELECT number FROM inbox WHERE key = ?", (key,)).fetchone()
            for key in keys
        ]
    return [int(number) for (number,) in found]


def waiting(connection: sqlite3.Connection, position: int) -> list[QueuedMessage]:
    """Return the messages that can be taken at a position, oldest first."""
    with translate_errors(connection):
        rows = connection.execute(
            "SELECT number, kind, body FROM inbox WHERE step IS NULL AND not_before <= ? ORDER BY not_before, number",
            (position,),
        ).fetchall()
    return [QueuedMessage(number, message_from_text(kind, body)) for number, kind, body in rows]


def outcome(connection: sqlite3.Connection, number: int) -> tuple[bool, str | None]:
    """Return whether a message was taken, and why it was refused if it was."""
    with translate_errors(connection):
        step, refusal = connection.execute(
            "SELECT step, refusal FROM inbox WHERE number = ?", (number,)
        ).fetchone()
    return step is not None, refusal
