"""A copy of a stream folder while its engine runs.

The database is copied as it is at one moment, and then the files that it speaks of. The engine may delete an old file
in between: the copy is then begun again, from a later moment.
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
    """Copy a stream folder to where nothing is yet; return the size of the copy in bytes."""
    open_for_reading(Layout(root).database).close()
    with new_folder(target) as beside:
        if not any(_copy(Layout(root), Layout(beside)) for _ in range(_TRIES)):
            raise FolderError(f"{root} changed too often while it was copied; try again")
    return sum(file.stat().st_size for file in target.rglob("*") if file.is_file())


def _copy(source: Layout, target: Layout) -> bool:
    """Copy the database and its files; tell whether all files were still there."""
    theirs, ours = open_for_reading(source.database), sqlite3.connect(target.database)
    try:
        with translate_errors(theirs):
            theirs.backup(ours)
        ours.execute("DELETE FROM outputs")  # the copy has written nothing anywhere yet
        ours.commit()
        needed = target.needed(ours)
    finally:
        theirs.close()
        ours.close()
    for folder in target.folders:
        folder.mkdir(exist_ok=True)
    for file in needed:
        original = source.root / file.relative_to(target.root)
        try:
            shutil.copyfile(original, file)
        except FileNotFoundError:
            return False
    return True
