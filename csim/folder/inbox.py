"""The inbox: messages that people send while the engine runs, or before it runs again.

Once a message is written, csim takes it exactly once, even if the sender or the engine is killed.
The engine takes messages between two batches. If it refuses one, it keeps the reason.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from uuid import uuid4

import csim.records as r
from csim.engine import Engine
from csim.errors import CsimError
from csim.folder.codec import Message, message_from_text, message_to_text
from csim.folder.database import transaction, translate_errors
from csim.folder.schema import SAID
from csim.messages import Answer

# The questions that the last step answered have the time at which the message was sent.
_SET_ANSWERED = (
    "UPDATE questions SET answered ="  # noqa: S608
    " iif(status = 'undone', NULL, (SELECT time FROM inbox WHERE number = ?))"
    " WHERE id IN (SELECT json_extract(body, '$.question_id') FROM events"
    f" WHERE step = (SELECT max(step) FROM steps) AND ({SAID} OR kind IN ('Skipped', 'Undone')))"
)


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """Hold a message that waits, and its number."""

    number: int
    message: Message


def post(
    connection: sqlite3.Connection,
    messages: Sequence[Message],
    *,
    keys: Sequence[str] | None = None,
    not_before: int = 0,
    clock: Callable[[], float] = time.time,
) -> list[int]:
    """Write messages, all or none, and return their numbers; once this returns they are safe.

    Parameters
    ----------
    connection
        One from `open_for_messages`.
    messages
        Answers to questions and edits of classes, in the order in which csim takes them.
    keys
        A text for each message that you choose. If you send a key twice, csim takes one message.
        So you can send again when you do not know whether the first try arrived.
    not_before
        The position of the stream from which csim may take them. Higher makes them wait longer.
    clock
        Returns the seconds since 1970, in UTC, which csim records with each message.
    """
    keys = [uuid4().hex for _ in messages] if keys is None else keys
    with transaction(connection):
        for key, message in zip(keys, messages, strict=True):
            connection.execute(
                "INSERT INTO inbox (key, not_before, kind, body, time) VALUES (?, ?, ?, ?, ?)"
                " ON CONFLICT (key) DO NOTHING",
                (key, not_before, *message_to_text(message), clock()),
            )
        found = [
            connection.execute("SELECT number FROM inbox WHERE key = ?", (key,)).fetchone()
            for key in keys
        ]
    return [int(number) for (number,) in found]


def last_number(connection: sqlite3.Connection) -> int:
    """Return the number of the newest message, 0 if there is none."""
    with translate_errors(connection):
        (number,) = connection.execute("SELECT coalesce(max(number), 0) FROM inbox").fetchone()
    return int(number)


def unrefused_key(connection: sqlite3.Connection, key: str) -> str:
    """Return a key under which no message was refused: the key itself, or one made from it."""
    tries = 1
    wanted = key
    with translate_errors(connection):
        while connection.execute(
            "SELECT 1 FROM inbox WHERE key = ? AND refusal IS NOT NULL", (wanted,)
        ).fetchone():
            tries += 1
            wanted = f"{key}, try {tries}"
    return wanted


def waiting(connection: sqlite3.Connection, position: int) -> list[QueuedMessage]:
    """Return the messages that can be taken at a position, oldest first."""
    with translate_errors(connection):
        rows = connection.execute(
            "SELECT number, kind, body FROM inbox WHERE step IS NULL AND not_before <= ?"
            " ORDER BY not_before, number",
            (position,),
        ).fetchall()
    return [QueuedMessage(number, message_from_text(kind, body)) for number, kind, body in rows]


def next_position(connection: sqlite3.Connection, position: int) -> int | None:
    """Return the first later position at which a message is to be taken; None if none waits."""
    with translate_errors(connection):
        (found,) = connection.execute(
            "SELECT min(not_before) FROM inbox WHERE step IS NULL AND not_before > ?", (position,)
        ).fetchone()
    return None if found is None else int(found)


def take(engine: Engine, message: Message) -> tuple[list[r.Event], str | None]:
    """Give a message to the engine; return what happened, and the reason if it is refused."""
    try:
        if isinstance(message, Answer):
            return engine.tell([message]), None
        return engine.edit(message), None
    except CsimError as error:
        return [], str(error)


def mark_taken(connection: sqlite3.Connection, number: int, refusal: str | None) -> None:
    """Record that the last step took a message, inside a transaction; `refusal` says why not."""
    connection.execute(
        "UPDATE inbox SET step = (SELECT max(step) FROM steps), refusal = ? WHERE number = ?",
        (refusal, number),
    )
    if refusal is None:
        connection.execute(_SET_ANSWERED, (number,))


def outcome(connection: sqlite3.Connection, number: int) -> tuple[bool, str | None]:
    """Return whether a message was taken, and the reason if it was refused."""
    with translate_errors(connection):
        step, refusal = connection.execute(
            "SELECT step, refusal FROM inbox WHERE number = ?", (number,)
        ).fetchone()
    return step is not None, refusal
