"""Pictures: the files of images that a person may still want to see, each content once.

csim keeps the files of candidates and recent items, of the members of questions, of stored items,
and of every image that a person was asked about. If they need more than `picture_room`, csim drops
those of the oldest images first. It never drops what an open question shows.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import get_args

from csim.ask.ledger import Status
from csim.engine import Engine
from csim.folder.database import insert_many
from csim.records import Item

_ROWS_PER_INSERT = 10_000  # SQLite takes at most 32,766 values in one statement
_PICTURES_PER_ROUND = 100  # dropped before csim measures again


def drop_unneeded(connection: sqlite3.Connection, engine: Engine, picture_room: int) -> None:
    """Drop the pictures that nobody needs, inside a transaction.

    Parameters
    ----------
    connection
        In a transaction.
    engine
        Whose items keep their pictures.
    picture_room
        Bytes for pictures. Higher keeps more of the old ones.
    """
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS held (id TEXT PRIMARY KEY) WITHOUT ROWID")
    connection.execute("DELETE FROM held")
    held = [(item_id,) for item_id in {item.id for item in _held_items(engine)}]
    for start in range(0, len(held), _ROWS_PER_INSERT):
        insert_many(connection, "INSERT INTO held", held[start : start + _ROWS_PER_INSERT])
    connection.execute(
        "UPDATE items SET picture = NULL WHERE picture IS NOT NULL AND is_told = 0"
        " AND id NOT IN held AND place NOT IN (SELECT representative FROM questions)"
    )
    _drop_orphans(connection)
    while _size(connection) > picture_room:
        if not _drop_oldest(connection):
            return


def _held_items(engine: Engine) -> Iterator[Item]:
    yield from engine.discovery.pool.items()
    for class_id in engine.store.class_ids():
        yield from engine.store.items(class_id)
    for status in get_args(Status):
        for question in engine.dialogue.ledger.questions(status):
            yield from question.members


def _drop_oldest(connection: sqlite3.Connection) -> bool:
    """Drop some pictures of the oldest images; return whether there were any to drop."""
    dropped = connection.execute(
        "UPDATE items SET picture = NULL WHERE place IN ("
        " SELECT place FROM items WHERE picture IS NOT NULL AND place NOT IN"
        "  (SELECT place FROM members JOIN questions ON id = question_id WHERE status = 'open')"
        " ORDER BY place LIMIT ?)",
        (_PICTURES_PER_ROUND,),
    ).rowcount
    _drop_orphans(connection)
    return dropped > 0


def _drop_orphans(connection: sqlite3.Connection) -> None:
    connection.execute(
        "DELETE FROM pictures"
        " WHERE NOT EXISTS (SELECT 1 FROM items WHERE items.picture = pictures.sha256)"
    )


def _size(connection: sqlite3.Connection) -> int:
    (size,) = connection.execute("SELECT coalesce(sum(length(file)), 0) FROM pictures").fetchone()
    return int(size)
