"""Pictures: the files of images that somebody may still want to look at, each content once.

Kept are the files of images that wait or are recent, of the members of questions, of stored examples, and of every
image that a person was asked about. When there is no room for all, those of the oldest images go first; what an open
question shows stays.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import get_args

from csim.ask.ledger import Status
from csim.engine import Engine
from csim.folder.database import insert_many
from csim.records import Item

_MANY = 10_000  # values that a statement of SQLite takes with ease


def drop_unneeded(connection: sqlite3.Connection, engine: Engine, picture_room: int) -> None:
    """Drop the pictures that nobody needs, inside a transaction."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS held (id TEXT PRIMARY KEY) WITHOUT ROWID")
    connection.execute("DELETE FROM held")
    held = [(item_id,) for item_id in {item.id for item in _held(engine)}]
    for start in range(0, len(held), _MANY):
        insert_many(connection, "INSERT INTO held", held[start : start + _MANY])
    connection.execute(
        "UPDATE items SET picture = NULL WHERE picture IS NOT NULL AND is_told = 0"
        " AND id NOT IN held AND place NOT IN (SELECT representative FROM questions)"
    )
    _drop_orphans(connection)
    surplus = _size(connection) - picture_room
    while surplus > 0 and _drop_oldest(connection):
        surplus = _size(connection) - picture_room


def _held(engine: Engine) -> Iterator[Item]:
    yield from engine.discovery.pool.items()
    for class_id in engine.store.class_ids():
        yield from engine.store.items(class_id)
    for status in get_args(Status):
        for question in engine.dialogue.ledger.questions(status):
            yield from question.members


def _drop_oldest(connection: sqlite3.Connection, many: int = 100) -> bool:
    """Drop some pictures of the oldest images; tell whether there were any that may go."""
    dropped = connection.execute(
        "UPDATE items SET picture = NULL WHERE place IN ("
        " SELECT place FROM items WHERE picture IS NOT NULL AND place NOT IN"
        "  (SELECT place FROM members JOIN questions ON id = question_id WHERE status = 'open')"
        " ORDER BY place LIMIT ?)",
        (many,),
    ).rowcount
    _drop_orphans(connection)
    return dropped > 0


def _drop_orphans(connection: sqlite3.Connection) -> None:
    connection.execute(
        "DELETE FROM pictures WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.picture = pictures.sha256)"
    )


def _size(connection: sqlite3.Connection) -> int:
    (size,) = connection.execute("SELECT coalesce(sum(length(file)), 0) FROM pictures").fetchone()
    return int(size)
