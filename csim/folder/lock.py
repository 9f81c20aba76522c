"""One engine at a time: a lock on a file, which the system lets go when its holder dies, however it dies."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from csim.errors import BusyError, StorageError

_PATIENCE = 1.0  # seconds: somebody may be looking who holds it, or be on the way out


class Lock:
    """Holds a folder from when it is made until `release`."""

    def __init__(self, path: Path) -> None:
        try:
            self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise StorageError(
                f"{path} must be written to ({error.strerror}); look at its permissions"
            ) from error
        until = time.monotonic() + _PATIENCE
        while not _is_taken(self._descriptor, fcntl.LOCK_EX):
            if time.monotonic() > until:
                process = _process(self._descriptor)
                os.close(self._descriptor)
                raise BusyError(
                    f"{path.parent} must have one engine at a time, process {process} runs it; stop that one first "
                    "(answers, undos and renames can be given meanwhile)"
                )
            time.sleep(0.02)
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, f"{os.getpid()}\n".encode(), 0)

    def release(self) -> None:
        """Let the next one in."""
        os.close(self._descriptor)


def holder(path: Path) -> int | None:
    """Return the process that holds a lock, None if nobody does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    try:
        return None if _is_taken(descriptor, fcntl.LOCK_SH) else _process(descriptor)
    finally:
        os.close(descriptor)


def _is_taken(descriptor: int, how: int) -> bool:
    try:
        fcntl.flock(descriptor, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _process(descriptor: int) -> int:
    words = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
    return int(words) if words.isdecimal() else 0
