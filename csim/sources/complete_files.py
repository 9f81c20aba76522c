"""Find the files of a folder that are complete, that is: no longer being written.

A file counts as complete when its size and modification time have not changed for a moment. An
empty file gets longer, because some programs create a file long before they fill it. A file that
was renamed into the folder is complete at once if its last change is old enough.

Each file is yielded once. If it changes later, it is yielded again under the same id, because its
writer may have paused for longer than a moment. After a minute without a change a rescan no longer
checks the file, which keeps rescans of 100,000 files cheap. A file that is deleted is forgotten. If
it returns, it is yielded again.
"""

from __future__ import annotations

import heapq
import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path

from csim.sources.arrival import Arrival, Trouble
from csim.sources.directory import walk
from csim.sources.path_text import path_to_text

_EMPTY_FILE_WAIT_SECONDS = 10.0
_FINAL_AGE_SECONDS = 60.0
_RESCAN_NONE_INTERVAL_SECONDS = 0.25  # a None this often while a large folder is scanned

_Signature = tuple[int, int]  # size in bytes, modification time in nanoseconds
_FINAL: _Signature = (-1, -1)  # one object for all such files: a folder may hold millions
_UNKNOWN: _Signature = (-2, -2)  # the file exists but stat fails; reading it reports why


class CompleteFiles:
    """Yield the image files below a folder as they become complete.

    Parameters
    ----------
    root
        The folder.
    settle
        Seconds without a change after which a file is complete. Higher waits for slower writers,
        but every file arrives later.
    """

    def __init__(self, root: Path, settle: float) -> None:
        self._root = root
        self._settle = settle
        self._signatures: dict[str, _Signature] = {}
        # A heap of: time to check again, order in which it was found, path, signature.
        self._waiting: list[tuple[float, int, str, _Signature]] = []
        self._order = itertools.count()
        self._fresh_from: int | None = None  # in that order: found after the first rescan
        self._closed_folders: set[Trouble] = set()

    def rescan(self) -> Iterator[Trouble | None]:
        """Check every file below the folder.

        Yields a trouble for each folder that cannot be listed, and None now and then in a long
        scan.
        """
        present = set()
        troubles = set()
        last_yield = time.monotonic()
        for found in walk(self._root):
            if isinstance(found, Trouble):
                troubles.add(found)
                if found not in self._closed_folders:
                    yield found
                continue
            present.add(found)
            if self._signatures.get(found) != _FINAL:
                self.check(found)
            if time.monotonic() > last_yield + _RESCAN_NONE_INTERVAL_SECONDS:
                yield None
                last_yield = time.monotonic()
        self._closed_folders = troubles
        if self._fresh_from is None:
            self._fresh_from = next(self._order)
        for path in self._signatures.keys() - present:
            del self._signatures[path]

    def check(self, path: str) -> None:
        """Check one file, which may be new, changed or deleted."""
        signature = self._signature(path)
        if signature is None:
            self._signatures.pop(path, None)
        elif self._signatures.get(path) != signature:
            self._signatures[path] = signature
            entry = (self._complete_at(signature), next(self._order), path, signature)
            heapq.heappush(self._waiting, entry)

    def take_complete(self) -> Iterator[Arrival]:
        """Yield the files that have become complete since the last call."""
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            _, order, path, signature = heapq.heappop(self._waiting)
            if self._signatures.get(path) != signature:
                continue  # deleted, or changed and queued again
            self.check(path)
            if self._signatures.get(path) == signature:
                if signature[0] and _age(signature) > _FINAL_AGE_SECONDS:
                    self._signatures[path] = _FINAL
                is_fresh = self._fresh_from is not None and order > self._fresh_from
                yield Arrival(path_to_text(path), self._root / path, is_fresh)

    def _signature(self, path: str) -> _Signature | None:
        try:
            status = os.stat(os.path.join(self._root, path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return _UNKNOWN
        return status.st_size, status.st_mtime_ns

    def _complete_at(self, signature: _Signature) -> float:
        wait = self._settle if signature[0] else _EMPTY_FILE_WAIT_SECONDS
        return time.monotonic() + max(0.0, wait - _age(signature))


def _age(signature: _Signature) -> float:
    """Return the seconds since a file changed; 0 if another computer's clock runs ahead."""
    return max(0.0, time.time() - signature[1] / 1e9)
