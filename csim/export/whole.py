"""Files and folders that appear whole or not at all, and take the place of another only if told."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from csim.atomic import new_path
from csim.errors import InputError, StorageError


@contextmanager
def whole(path: Path, *, outside: Path, overwrite: bool = False) -> Iterator[Path]:
    """Give a place beside a path, to write to; what was written there moves to the path when the block ends well.

    Parameters
    ----------
    path
        Where a file or folder is to be.
    outside
        The stream folder, in which nothing may be put.
    overwrite
        Whether a file may already be there.
    """
    try:
        _check(path, outside, overwrite)
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_path(path) as beside:
            yield beside
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error.strerror}); make room or choose another place"
        ) from error


def _check(path: Path, outside: Path, overwrite: bool) -> None:
    if path.resolve().is_relative_to(outside.resolve()):
        raise InputError(
            f"{path} must not lie in the stream folder {outside}, which is for csim alone; choose another"
        )
    if not path.exists():
        return
    if not overwrite:
        raise InputError(f"{path} must not exist yet, it does; give a new name")
    if not path.is_file():
        raise InputError(
            f"{path} must be a plain file to be replaced, it is not; give another name"
        )
