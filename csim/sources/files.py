"""A file's bytes, or why they cannot be had."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from csim.sources.arrival import Trouble

MOST_BYTES = (
    256_000_000  # per file: more than any photograph, less than the memory of a small machine
)


def read_file(name: str, path: Path) -> bytes | Trouble:
    """Return what a file holds.

    Parameters
    ----------
    name
        The id of the image, for the trouble.
    path
        Where it lies; followed if it is a link.
    """
    try:
        status = os.stat(path)
        # Asked before opening: to open a pipe may wait for ever, to read a device may never end.
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe, a socket or a device"
            return Trouble(name, "unreadable", f"an image must be a file, this is {what}")
        if status.st_size > MOST_BYTES:
            reason = (
                f"a file must have at most {MOST_BYTES:,} bytes, this one has {status.st_size:,}"
            )
            return Trouble(name, "too-large", reason)
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except (OSError, ValueError) as error:  # ValueError: a path with a zero byte in it
        return trouble_of(name, error)


def trouble_of(name: str, error: OSError | ValueError) -> Trouble:
    """Return what the system's refusal of a file or folder means."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return Trouble(
            name, "vanished", "a file must still be there when it is read, this one is gone"
        )
    why = error.strerror if isinstance(error, OSError) else str(error)
    return Trouble(name, "unreadable", f"the system must let it be read, and said: {why}")
