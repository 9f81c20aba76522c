"""One engine at a time: a lock on a file, which the system releases when its holder dies."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from csim.errors import BusyError, FolderError, StorageError

_LOCK_TIMEOUT_SECONDS = 1.0  # `holder` takes it for a moment, and a holder may be about to end
_RETRY_SECONDS = 0.02


class Lock:
    """Hold the lock of a folder from creation until `release`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        except OSError as error:
            raise StorageError(
                f"{path} must be writable, it is not ({error.strerror}); check its permissions"
            ) from error
        deadline = time.monotonic() + _LOCK_TIMEOUT_SECONDS
        while not _is_acquired(self._descriptor, fcntl.LOCK_EX):
            if time.monotonic() > deadline:
                process = _process(self._descriptor)
                os.close(self._descriptor)
                raise BusyError(
                    f"{path.parent} must have one engine at a time, process {process} runs it; "
                    "stop that one first (you can answer, undo and rename meanwhile)"
                )
            time.sleep(_RETRY_SECONDS)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def check(self) -> None:
        """Raise a FolderError if the file at the path is no longer the one that this holds."""
        try:
            is_same = os.path.samestat(os.stat(self._path), os.fstat(self._descriptor))
        except OSError:
            is_same = False
        if not is_same:
            raise FolderError(
                f"{self._path.parent} must stay where it is while it runs, it was moved, replaced "
                "or lost its lock file; csim has stopped and left what is there now alone, run "
                "the folder again from its new path"
            )

    def release(self) -> None:
        """Release the lock, so that another process can hold it."""
        os.close(self._descriptor)


def holder(path: Path) -> int | None:
    """Return the process that holds a lock, None if nobody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(
            f"{path} must be readable for you, it is not ({error.strerror}); check its permissions"
        ) from error
    try:
        return None if _is_acquired(descriptor, fcntl.LOCK_SH) else _process(descriptor)
    finally:
        os.close(descriptor)


def _is_acquired(descriptor: int, mode: int) -> bool:
    try:
        fcntl.flock(descriptor, mode | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _process(descriptor: int) -> int:
    text = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
    return int(text) if text.isdecimal() else 0
