"""Read the bytes of a file, or say why that fails."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from csim.sources.arrival import Trouble

# Per file: more than any photograph, less than the memory of a small machine.
MAX_FILE_BYTES = 256_000_000


def read_file(name: str, path: Path) -> bytes | Trouble:
    """Return the bytes of a file.

    Parameters
    ----------
    name
        The id of the image, for the trouble.
    path
        The path of the file. Links are followed.
    """
    try:
        status = os.stat(path)
        # Checked before opening: opening a pipe can block forever, reading a device can never end.
        if not stat.S_ISREG(status.st_mode):
            what = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe, a socket or a device"
            return Trouble(name, "unreadable", f"an image must be a file, this is {what}")
        if status.st_size > MAX_FILE_BYTES:
            limit = f"{MAX_FILE_BYTES:,} bytes"
            reason = f"a file must have at most {limit}, this one has {status.st_size:,}"
            return Trouble(name, "too-large", reason)
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except (OSError, ValueError) as error:  # ValueError: the path holds a zero byte
        return trouble_of(name, error)


def trouble_of(name: str, error: OSError | ValueError) -> Trouble:
    """Return a trouble for the error that the system raised on a file or folder."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        reason = "a file must still exist when csim reads it, this one is gone"
        return Trouble(name, "vanished", reason)
    why = error.strerror if isinstance(error, OSError) else str(error)
    return Trouble(name, "unreadable", f"csim must be allowed to read it, the system says: {why}")
