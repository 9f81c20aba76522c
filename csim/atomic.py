"""Atomic writes: a file or folder appears complete or not at all, even if the machine stops.

Everything is written beside its target, synced to the disk, and then renamed. A killed process
leaves a hidden `.NAME.RANDOM.part`, which nobody takes for a finished file. `remove_leftovers`
deletes such files; a lock protects those that another process is still writing.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO
from uuid import uuid4

from csim.errors import FolderError, StorageError

if sys.platform != "win32":
    import fcntl

_SUFFIX = ".part"
_NAME_CHARACTERS = 40  # of the target's name; a file name may have at most 255 bytes


def write_file(path: Path, content: bytes) -> None:
    """Write a file, replacing an earlier one if there is one."""
    part = _part_of(path)
    with _create_locked(part) as file:
        try:
            file.write(content)
            file.flush()
            move_into_place(part, path)
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def new_path(path: Path) -> Iterator[Path]:
    """Yield a free path beside `path`, and move what you wrote there to `path` afterwards.

    You create a file or a folder at the path that you get. If the block raises, csim deletes what
    you wrote. An earlier file at `path` is replaced, an earlier folder only if it is empty.
    """
    part = _part_of(path)
    try:
        yield part
        move_into_place(part, path)
    finally:
        _remove(part)


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder to fill, and move it to `path` afterwards, with its files synced.

    Parameters
    ----------
    path
        Where the folder will be. There must be nothing yet; csim makes missing parent folders.
    """
    if path.exists():
        raise FolderError(f"{path} must not exist yet, it does; give a new name")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_path(path) as part:
            part.mkdir()
            yield part
            for inside in part.rglob("*"):
                _sync(inside)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error}); make room or choose another path"
        ) from error


def move_into_place(part: Path, path: Path) -> None:
    """Rename a complete file or folder to `path`, after syncing it to the disk."""
    _sync(part)
    os.replace(part, path)
    _sync(path.parent)


def remove_leftovers(folder: Path) -> None:
    """Delete the files in a folder that killed processes left unfinished."""
    for part in folder.glob(f".*{_SUFFIX}"):
        with suppress(OSError), part.open("rb") as file:  # it may be gone by now, or locked
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            part.unlink()


def _part_of(path: Path) -> Path:
    return path.parent / f".{path.name[:_NAME_CHARACTERS]}.{uuid4().hex[:8]}{_SUFFIX}"


@contextmanager
def _create_locked(part: Path) -> Iterator[IO[bytes]]:
    """Create a file and keep a lock on it, which tells `remove_leftovers` that it is in use."""
    while True:
        with part.open("xb") as file:
            with suppress(OSError):  # some network file systems have no locks
                fcntl.flock(file, fcntl.LOCK_EX)
            if part.exists():  # `remove_leftovers` may have deleted it before the lock
                yield file
                return


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
