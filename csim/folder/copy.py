"""A copy of a stream folder while its engine runs, and a folder restored from such a copy.

csim fixes one moment with a read transaction, copies the files that the database names at that
moment, and then the database as it was then. If the engine deletes a file before it is copied, csim
starts again from a later moment.

A copy holds an empty `stream.db-wal`. If you copy it over a crashed folder, this replaces the log
that the crash left there. SQLite would apply that log to the copied database, and damage it.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from csim.atomic import new_folder
from csim.errors import FolderError, StorageError
from csim.folder.database import (
    create_file,
    open_any_version,
    open_for_reading,
    read_transaction,
    translate_errors,
)
from csim.folder.layout import Layout
from csim.folder.lock import Lock

_TRIES = 5
_PAGES = 4096  # of the database, between two reports of progress

Opener = Callable[[Path], sqlite3.Connection]
Progress = Callable[[float], None]


def copy_folder(root: Path, target: Path, on_progress: Progress = lambda _: None) -> int:
    """Copy a stream folder to a new path and return the size of the copy in bytes.

    Parameters
    ----------
    root
        The folder; its engine may be running.
    target
        Where the copy will be. There must be nothing yet.
    on_progress
        Called with the share of the database that is copied, from 0 to 1.
    """
    return _copy(root, target, open_for_reading, on_progress)


def restore_folder(backup: Path, root: Path, on_progress: Progress = lambda _: None) -> Path | None:
    """Put a copy of a backup in place of a stream folder; return where the old folder is now.

    Nothing is deleted: the old folder gets another name beside the new one. None means that there
    was no old folder.

    Parameters
    ----------
    backup
        The backup, which stays as it is. It may be of an earlier version.
    root
        The path of the stream folder. It may be missing or damaged; no engine may run it.
    on_progress
        Called with the share of the database that is copied, from 0 to 1.
    """
    open_any_version(Layout(backup).database).close()
    with ExitStack() as held:
        if root.exists():
            _check_replaceable(root, backup)
            held.callback(Lock(Layout(root).lock).release)
        fresh = _free_name(root, "restoring")
        _copy(backup, fresh, open_any_version, on_progress)
        replaced = _free_name(root, "replaced") if root.exists() else None
        try:
            if replaced is not None:
                root.rename(replaced)
            fresh.rename(root)
        except OSError as error:
            raise StorageError(
                f"{root} cannot be renamed ({error.strerror}); the restored folder is {fresh}"
            ) from error
    return replaced


def _check_replaceable(root: Path, backup: Path) -> None:
    if backup.resolve() == root.resolve():
        raise FolderError(f"{root} must not be the backup itself; give the path of the stream")
    layout = Layout(root)
    if root.is_dir() and (layout.database.exists() or not any(root.iterdir())):
        return
    raise FolderError(
        f"{root} must be a stream folder, or not exist, it is something else; give another path"
    )


def _free_name(root: Path, word: str) -> Path:
    """Return a path beside a folder at which there is nothing."""
    number = 1
    while (path := root.with_name(f"{root.name}.{word}-{number}")).exists():
        number += 1
    return path


def _copy(root: Path, target: Path, opener: Opener, on_progress: Progress) -> int:
    opener(Layout(root).database).close()
    with new_folder(target) as copy:
        tries = (_is_copied(Layout(root), Layout(copy), opener, on_progress) for _ in range(_TRIES))
        if not any(tries):
            raise FolderError(f"{root} changed too often while it was copied; try again")
        Path(f"{Layout(copy).database}-wal").touch()
    return sum(file.stat().st_size for file in target.rglob("*") if file.is_file())


def _is_copied(source: Layout, target: Layout, opener: Opener, on_progress: Progress) -> bool:
    """Copy the database and its files; return whether all files were still there."""
    with closing(opener(source.database)) as original, read_transaction(original):
        needed = source.needed(original)
        for folder in target.folders:
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        for file in needed:
            try:
                shutil.copyfile(file, target.root / file.relative_to(source.root))
            except FileNotFoundError:
                return False
        create_file(target.database)
        with closing(sqlite3.connect(target.database)) as copy:
            original.backup(
                copy,
                pages=_PAGES,
                progress=lambda _, left, total: on_progress(1 - left / max(1, total)),
            )
            with translate_errors(copy):
                copy.execute("DELETE FROM outputs")  # no file of predictions belongs to the copy
                copy.commit()
    return True
