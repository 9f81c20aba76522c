"""A folder that appears whole, or not at all."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from csim.errors import FolderError, StorageError


@contextmanager
def appearing(root: Path) -> Iterator[Path]:
    """Give an empty folder to fill, which takes its place when the block ends well.

    Parameters
    ----------
    root
        The place; there must be nothing yet.
    """
    if root.exists():
        raise FolderError(f"{root} must not exist yet, it does; give a new name")
    workshop = None
    try:
        root.parent.mkdir(parents=True, exist_ok=True)
        workshop = Path(tempfile.mkdtemp(prefix=f".{root.name}.", dir=root.parent))
        (beside := workshop / root.name).mkdir()
        yield beside
        beside.rename(root)
    except OSError as error:
        raise StorageError(
            f"{root} cannot be written ({error}); make room or choose another place"
        ) from error
    finally:
        if workshop is not None:
            shutil.rmtree(workshop, ignore_errors=True)
