"""The folder's database: SQLite with a write-ahead log, durable at every commit.

Many processes can read it while one writes.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from urllib.parse import quote

from csim.errors import BusyError, FolderError, StorageError
from csim.folder.schema import APPLICATION, MIGRATIONS, TABLES, VERSION

# 32 MB: each checkpoint waits for the disk twice more, and 4 MB is a second of a fast stream.
_CHECKPOINT_PAGES = 8000
_BUSY_TIMEOUT_SECONDS = 30.0  # to wait for another writer, whose transactions take milliseconds


_STORAGE_CODES = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
_PERMISSION_CODES = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM)
_DAMAGE_CODES = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def create_file(path: Path) -> None:
    """Create an empty file for a database, with the permissions that other new files have.

    SQLite would not let a group write, whatever the umask says. It gives the files beside a
    database the permissions of the database.
    """
    path.touch()


def create(path: Path) -> sqlite3.Connection:
    """Create a database with empty tables and return a connection to it."""
    create_file(path)
    connection = _connect(f"file:{quote(str(path))}?mode=rwc")
    connection.execute("PRAGMA journal_mode = WAL")  # stays with the file
    with transaction(connection):
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        for statement in TABLES.split(";\n"):
            connection.execute(statement)
    return connection


def open_for_reading(path: Path) -> sqlite3.Connection:
    """Open a database that others may be writing to; it must have the current version."""
    connection = open_any_version(path)
    if (found := _number(connection, "user_version")) < VERSION:
        raise FolderError(
            f"{path.parent} must have version {VERSION}, it has version {found}; "
            f"`csim run {path.parent}` upgrades it"
        )
    return connection


def open_for_messages(path: Path) -> sqlite3.Connection:
    """Open a database to add to its inbox."""
    open_for_reading(path).close()
    return _open(path, "rw")


def open_any_version(path: Path) -> sqlite3.Connection:
    """Open a database to read it; it may have an earlier version, but no later one."""
    return _open(path, "ro")


def check(path: Path) -> None:
    """Refuse a database that csim did not make, or a newer csim made; nothing is changed."""
    open_any_version(path).close()


def open_for_engine(path: Path) -> sqlite3.Connection:
    """Open a database as its only engine, and migrate it to the current version."""
    connection = _open(path, "rw")
    connection.execute(f"PRAGMA wal_autocheckpoint = {_CHECKPOINT_PAGES}")
    with transaction(connection):
        while (found := _number(connection, "user_version")) < VERSION:
            for statement in MIGRATIONS[found].split(";\n"):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {found + 1}")
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Commit what the block does, or nothing if it raises."""
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
    """Turn sqlite3 and OS errors into FolderError, StorageError or BusyError."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _translated(error, connection) from error
    except BrokenPipeError:  # not about the folder: the reader of standard output has ended
        raise
    except OSError as error:
        path = error.filename or "the folder"
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise permission_error(path, error.strerror) from error
        raise StorageError(
            f"{path} cannot be written ({error.strerror}); make room, then run again"
        ) from error


def permission_error(path: object, reason: object) -> StorageError:
    """Return the error of somebody who may not read or write a file of a folder."""
    return StorageError(
        f"{path} must be readable for you, and writable to change the stream, it is not "
        f"({reason}); check the permissions of the folder and its files"
    )


def insert_many(
    connection: sqlite3.Connection, into: str, rows: Sequence[Sequence[object]]
) -> None:
    """Insert rows with one statement.

    Row by row, each would wait for Python's global lock, which other threads want.

    Parameters
    ----------
    connection
        In a transaction.
    into
        The statement up to `VALUES`.
    rows
        All of one length.
    """
    if rows:
        marks = ", ".join([f"({', '.join('?' * len(rows[0]))})"] * len(rows))
        connection.execute(f"{into} VALUES {marks}", list(chain.from_iterable(rows)))


def _translated(error: sqlite3.DatabaseError, connection: sqlite3.Connection) -> Exception:
    row = connection.execute("SELECT file FROM pragma_database_list").fetchone()
    path = row[0] if row else "the database"
    code = _primary_code(error)
    if code in _STORAGE_CODES:
        return StorageError(
            f"{path} must be written to, which failed ({error}); make room, then run again"
        )
    if code in _PERMISSION_CODES:
        return permission_error(path, error)
    if code in _DAMAGE_CODES:
        return FolderError(
            f"{path} is damaged ({error}); nothing was changed, restore the folder from a backup"
        )
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return BusyError(
            f"{path} must be free to write, others have written to it for "
            f"{_BUSY_TIMEOUT_SECONDS:.0f} seconds; try again"
        )
    return error


def _open(path: Path, mode: str) -> sqlite3.Connection:
    try:
        is_file = stat.S_ISREG(path.stat().st_mode)
    except (FileNotFoundError, NotADirectoryError):
        is_file = False
    except OSError as error:
        raise permission_error(path, error.strerror) from error
    if not is_file:
        raise FolderError(
            f"{path.parent} is not a stream folder: there is no {path.name}; "
            "make one with `csim init`"
        )
    still = "&immutable=1" if mode == "ro" and _is_still(path) else ""
    connection = _connect(f"file:{quote(str(path))}?mode={mode}{still}")
    with translate_errors(connection):
        if (found := _number(connection, "application_id")) != APPLICATION:
            raise FolderError(
                f"{path} was not made by csim (its application id is {found}); "
                "make a folder with `csim init`"
            )
        if (found := _number(connection, "user_version")) > VERSION:
            raise FolderError(
                f"{path.parent} must have at most version {VERSION}, it has version {found}; "
                "use a newer csim"
            )
    return connection


def _is_still(path: Path) -> bool:
    """Return whether a database has no log to read, and lies where this process may not write.

    SQLite could not open it otherwise: it wants to create the files for its log.
    """
    if os.access(path.parent, os.W_OK) or os.path.exists(f"{path}-shm"):
        return False
    log = Path(f"{path}-wal")
    return not log.exists() or log.stat().st_size == 0


def _connect(address: str) -> sqlite3.Connection:
    try:
        connection = sqlite3.connect(
            address, uri=True, timeout=_BUSY_TIMEOUT_SECONDS, isolation_level=None
        )
        connection.execute("PRAGMA synchronous = FULL")
    except sqlite3.DatabaseError as error:
        name = address.removeprefix("file:").split("?")[0]
        if _primary_code(error) in _DAMAGE_CODES:
            raise FolderError(
                f"{name} is damaged ({error}); nothing was changed, restore it from a backup"
            ) from error
        raise permission_error(name, error) from error
    return connection


def _primary_code(error: sqlite3.DatabaseError) -> int:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF


def _number(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])
