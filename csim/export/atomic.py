"""Atomic writes: a file or folder appears complete or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from csim.checkpoint import sync
from csim.errors import InputError, StorageError


@contextmanager
def atomic_output(path: Path, *, outside: Path, overwrite: bool = False) -> Iterator[Path]:
    """Yield a temporary path to write to, and move it to `path` if the block succeeds.

    Parameters
    ----------
    path
        The file or folder to make.
    outside
        The stream folder, in which nothing may be written.
    overwrite
        Whether to replace an existing file.
    """
    temporary = path.parent / f".{path.name}.{uuid4().hex[:8]}"
    try:
        _check(path, outside, overwrite)
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        sync(temporary)
        os.replace(temporary, path)
    except OSError as error:
        raise StorageError(
            f"{path} cannot be written ({error.strerror}); make room or choose another path"
        ) from error
    finally:
        _remove(temporary)


def _check(path: Path, outside: Path, overwrite: bool) -> None:
    if path.resolve().is_relative_to(outside.resolve()):
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


def _remove(path: Path) -> None:
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.lexists(path):
        os.unlink(path)
