"""The folder's database: SQLite with a write-ahead log, durable at every commit, read by many while one writes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from csim.errors import BusyError, FolderError, StorageError
from csim.folder.schema import APPLICATION, MIGRATIONS, TABLES, VERSION

_PATIENCE = 30.0  # seconds to wait for another writer, whose transactions take milliseconds


def create(path: Path) -> sqlite3.Connection:
    """Make a new database with empty tables."""
    connection = _connect(f"file:{quote(str(path))}?mode=rwc")
    connection.execute("PRAGMA journal_mode = WAL")  # stays with the file
    with transaction(connection):
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        for statement in TABLES.split(";\n"):
            connection.execute(statement)
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a database that others may be writing to; it must be of today's version."""
    connection = _open(path, "ro")
    if (found := _number(connection, "user_version")) < VERSION:
        raise FolderError(
            f"{path.parent} is of version {found}, this program reads {VERSION}; `csim run` brings it up"
        )
    return connection


def open_for_messages(path: Path) -> sqlite3.Connection:
    """Open a database to add to its inbox."""
    open_for_reading(path).close()
    return _open(path, "rw")


def check(path: Path) -> None:
    """Refuse a database that is not ours, or newer than this program; nothing is touched."""
    _open(path, "ro").close()


def open_for_engine(path: Path) -> sqlite3.Connection:
    """Open a database as the one that changes it, and bring it to today's version."""
    connection = _open(path, "rw")
    with transaction(connection):
        while (found := _number(connection, "user_version")) < VERSION:
            for statement in MIGRATIONS[found].split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {found + 1}")
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Do all inside the block or, if it fails, nothing."""
    with translate_errors(connection):
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise


@contextmanager
def read_transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Let all queries inside the block see the database as it is at the first of them.

    Writers do not wait for it. Inside another transaction it changes nothing.
    """
    if connection.in_transaction:
        yield
        return
    with translate_errors(connection):
        connection.execute("BEGIN")
        try:
            yield
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK")


@contextmanager
def translate_errors(connection: sqlite3.Connection) -> Iterator[None]:
    """Say what is the matter when the database, or a file beside it, cannot do what it should."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _explained(error, connection) from error
    except OSError as error:
        where = error.filename or "the folder"
        raise StorageError(
            f"{where} cannot be written ({error.strerror}); make room, then run again"
        ) from error


def insert_many(
    connection: sqlite3.Connection, into: str, rows: Sequence[Sequence[object]]
) -> None:
    """Write many rows by one statement: row by row, each would wait for Python's lock, which other threads want.

    Parameters
    ----------
    connection
        In a transaction.
    into
        The statement up to its values.
    rows
        All of one length.
    """
    if rows:
        marks = ", ".join([f"({', '.join('?' * len(rows[0]))})"] * len(rows))
        connection.execute(f"{into} VALUES {marks}", list(chain.from_iterable(rows)))


def _explained(error: sqlite3.DatabaseError, connection: sqlite3.Connection) -> Exception:
    row = (
        connection.execute("SELECT file FROM pragma_database_list").fetchone()
        if connection
        else None
    )
    path, code = row[0] if row else "the database", getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
    ):
        return StorageError(
            f"{path} must be written to, which failed ({error}); make room, then run again"
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return FolderError(
            f"{path} is damaged ({error}); nothing was changed, restore the folder from a backup"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BusyError(
            f"{path} has been written to by others for {_PATIENCE:.0f} seconds; try again"
        )
    return error


def _open(path: Path, mode: str) -> sqlite3.Connection:
    if not path.is_file():
        raise FolderError(
            f"{path.parent} is not a stream folder: there is no {path.name}; make one with `csim init`"
        )
    connection = _connect(f"file:{quote(str(path))}?mode={mode}")
    with translate_errors(connection):
        if (owner := _number(connection, "application_id")) != APPLICATION:
            raise FolderError(
                f"{path} was not made by csim (its number is {owner}); make a folder with `csim init`"
            )
        if (found := _number(connection, "user_version")) > VERSION:
            raise FolderError(
                f"{path.parent} is of version {found}, this program knows {VERSION}; use a newer csim"
            )
    return connection


def _connect(address: str) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(address, uri=True, timeout=_PATIENCE, isolation_level=None)
        connection.execute("PRAGMA synchronous = FULL")
    except sqlite3.DatabaseError as error:
        name = address.removeprefix("file:").split("?")[0]
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in (
            sqlite3.SQLITE_CORRUPT,
            sqlite3.SQLITE_NOTADB,
        ):
            raise FolderError(
                f"{name} is damaged ({error}); nothing was changed, restore it from a backup"
            ) from error
        raise StorageError(
            f"{name} cannot be opened ({error}); look at its permissions and at the disk"
        ) from error
    return connection


def _number(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
