"""A copy of a stream folder while its engine runs.

csim copies the database as it is at one moment, and then the files that it names. If the engine
deletes one of them in between, csim starts again from a later moment.
"""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from csim.atomic import new_folder
from csim.errors import FolderError
from csim.folder.database import open_for_reading, translate_errors
from csim.folder.layout import Layout

_TRIES = 5


def copy_folder(root: Path, target: Path) -> int:
    """Copy a stream folder to a new path and return the size of the copy in bytes."""
    open_for_reading(Layout(root).database).close()
    with new_folder(target) as copy:
        if not any(_is_copied(Layout(root), Layout(copy)) for _ in range(_TRIES)):
            raise FolderError(f"{root} changed too often while it was copied; try again")
    return sum(file.stat().st_size for file in target.rglob("*") if file.is_file())


def _is_copied(source: Layout, target: Layout) -> bool:
    """Copy the database and its files; return whether all files were still there."""
    original = open_for_reading(source.database)
    copy = sqlite3.connect(target.database)
    try:
        with translate_errors(original):
            original.backup(copy)
        copy.execute("DELETE FROM outputs")  # no file of predictions belongs to the copy
        copy.commit()
        needed = target.needed(copy)
    finally:
        original.close()
        copy.close()
    for folder in target.folders:
        folder.mkdir(exist_ok=True)
    for file in needed:
        try:
            shutil.copyfile(source.root / file.relative_to(target.root), file)
        except FileNotFoundError:
            return False
    return True
