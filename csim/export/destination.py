"""Where exports may be written: outside the stream folder, and over no other file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from csim.atomic import new_path
from csim.errors import InputError, StorageError


@contextmanager
def atomic_output(path: Path, *, outside: Path | None, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary path to write to, and move it to `path` if the block succeeds.

    Parameters
    ----------
    path
        The file or folder to make.
    outside
        The stream folder, in which nothing may be written; None if there is none here.
    overwrite
        Whether to replace an existing file.
    """
    try:
        _check(path, outside, overwrite)
        path.parent.mkdir(parents=True, exist_ok=True)
        with new_path(path) as beside:
            yield beside
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error.strerror}); make room or choose another path"
        ) from error


def _check(path: Path, outside: Path | None, overwrite: bool) -> None:
    if outside is not None and path.resolve().is_relative_to(outside.resolve()):
        raise InputError(
            f"{path} must not be inside the stream folder {outside}, which only csim may change; "
            "choose another path"
        )
    if not path.exists():
        return
    if not overwrite:
        raise InputError(f"{path} must not exist yet, it does; give a new name")
    if not path.is_file():
        raise InputError(
            f"{path} must be a plain file to be replaced, it is not; choose another name"
        )
