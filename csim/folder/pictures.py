"""Pictures: the files of images that a person may still want to see, each content once.

csim keeps the files of candidates and recent items, of the members of questions, of stored items,
of images that the audit drew, and of every image that a person was asked about. If they need more
than `picture_room`, csim drops those of the oldest images first. It never drops what an open
question shows. It does not write the file of a new image that the engine does not hold.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import get_args

from csim.ask.entries import Status
from csim.engine import Engine
from csim.folder.database import insert_many
from csim.records import Item, ItemId

_ROWS_PER_INSERT = 10_000  # SQLite takes at most 32,766 values in one statement
_PICTURES_PER_ROUND = 100  # dropped before csim measures again
_NOT_OPEN = (
    "NOT EXISTS (SELECT 1 FROM members JOIN questions ON id = question_id"
    " WHERE members.place = items.place AND status = 'open')"
)


def is_held(engine: Engine, item_id: ItemId) -> bool:
    """Return whether the engine holds an item, so that a person may be asked about it."""
    dialogue = engine.dialogue
    return (
        item_id in engine.discovery.pool.ids
        or item_id in dialogue.ledger.members.ids
        or item_id in engine.store.ids
        or item_id in dialogue.audit.ids
    )


def note_held(connection: sqlite3.Connection, engine: Engine) -> None:
    """Write the ids of all items that the engine holds into the temporary table `held`."""
    connection.execute("CREATE TEMP TABLE IF NOT EXISTS held (id TEXT PRIMARY KEY) WITHOUT ROWID")
    connection.execute("DELETE FROM held")
    ids = {item.id for item in _held_items(engine)}.union(engine.discovery.pool.ids)
    held = [(item_id,) for item_id in ids]
    for start in range(0, len(held), _ROWS_PER_INSERT):
        insert_many(connection, "INSERT INTO held", held[start : start + _ROWS_PER_INSERT])


def drop_unneeded(connection: sqlite3.Connection, picture_room: int) -> None:
    """Drop the pictures that nobody needs.

    Parameters
    ----------
    connection
        In a transaction, after `note_held`: held items keep their pictures.
    picture_room
        Bytes for pictures. Higher keeps more of the old ones.
    """
    _drop(
        connection,
        "is_told = 0 AND id NOT IN held"
        " AND NOT EXISTS (SELECT 1 FROM questions WHERE representative = place)",
    )
    while _size(connection) > picture_room:
        if not _drop(connection, f"{_NOT_OPEN} ORDER BY place LIMIT {_PICTURES_PER_ROUND}"):
            return


def _held_items(engine: Engine) -> Iterator[Item]:
    """Yield what the engine holds outside its pool."""
    for class_id in engine.store.class_ids():
        yield from engine.store.items(class_id)
    for status in get_args(Status):
        for question in engine.dialogue.ledger.questions(status):
            yield from question.members
    yield from engine.dialogue.audit.items()


def _drop(connection: sqlite3.Connection, which: str) -> bool:
    """Drop the pictures of some images; return whether there were any to drop."""
    connection.execute(
        "CREATE TEMP TABLE IF NOT EXISTS dropped (place INTEGER PRIMARY KEY, sha256 BLOB)"
    )
    connection.execute("DELETE FROM dropped")
    count = connection.execute(
        "INSERT INTO dropped SELECT place, picture FROM items INDEXED BY items_pictured"  # noqa: S608
        f" WHERE picture IS NOT NULL AND {which}"
    ).rowcount
    connection.execute("UPDATE items SET picture = NULL WHERE place IN (SELECT place FROM dropped)")
    connection.execute(
        "DELETE FROM pictures WHERE sha256 IN (SELECT sha256 FROM dropped)"
        " AND NOT EXISTS (SELECT 1 FROM items WHERE picture = sha256)"
    )
    return count > 0


def _size(connection: sqlite3.Connection) -> int:
    (size,) = connection.execute("SELECT total FROM picture_bytes").fetchone()
    return int(size)
