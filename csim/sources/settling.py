"""Which files of a folder are complete: nobody tells, so one looks whether they still change.

A file is complete when its size and time of change have stayed the same for a moment; an empty one is given longer,
since some writers make a file long before they fill it. A file that was renamed into place is old enough at once if its
last byte was.

A file comes once. If it changes after that, it comes again, under its own id: a writer may have paused for longer than
a moment. Once it has been unchanged for a minute it is not looked at again in a rescan, which makes looking through
100,000 files cheap. A file that is gone is forgotten, and comes again if it returns.
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
from csim.sources.names import text_of

_EMPTY_SECONDS = 10.0  # that an empty file is given to be filled
_FINAL_SECONDS = 60.0
_BREATH = 0.25  # seconds of looking through a large folder without a word

_Signature = tuple[int, int]  # size, time of change in nanoseconds
_FINAL: _Signature = (-1, -1)  # one for all: a folder may hold millions
_CLOSED: _Signature = (-2, -2)  # there, but the system does not tell more; reading it will


class Settling:
    """The image files below a folder, each given when it is complete.

    Parameters
    ----------
    root
        The folder.
    settle
        Seconds for which a file must not have changed. Raising it waits out slower writers, and every file comes later.
    """

    def __init__(self, root: Path, settle: float) -> None:
        self._root = root
        self._settle = settle
        self._seen: dict[str, _Signature] = {}
        self._waiting: list[
            tuple[float, int, str, _Signature]
        ] = []  # a heap: when, order of notice, path, signature
        self._order = itertools.count()
        self._closed_folders: set[Trouble] = set()

    def rescan(self) -> Iterator[Trouble | None]:
        """Look through the whole folder; say which folders cannot be listed, and None now and then if it takes long."""
        present, troubles, spoke = set(), set(), time.monotonic()
        for found in walk(self._root):
            if isinstance(found, Trouble):
                troubles.add(found)
                if found not in self._closed_folders:
                    yield found
                continue
            present.add(found)
            if self._seen.get(found) != _FINAL:
                self.look(found)
            if time.monotonic() > spoke + _BREATH:
                yield None
                spoke = time.monotonic()
        self._closed_folders = troubles
        for path in self._seen.keys() - present:
            del self._seen[path]

    def look(self, path: str) -> None:
        """Look at one file, which may be new, changed or gone."""
        signature = self._signature(path)
        if signature is None:
            self._seen.pop(path, None)
        elif self._seen.get(path) != signature:
            self._seen[path] = signature
            heapq.heappush(
                self._waiting, (self._when(signature), next(self._order), path, signature)
            )

    def complete(self) -> Iterator[Arrival]:
        """Give the files that have become complete."""
        while self._waiting and self._waiting[0][0] <= time.monotonic():
            _, _, path, signature = heapq.heappop(self._waiting)
            if self._seen.get(path) != signature:
                continue  # gone, or changed and waiting anew
            self.look(path)
            if self._seen.get(path) == signature:
                if signature[0] and _age(signature) > _FINAL_SECONDS:
                    self._seen[path] = _FINAL
                yield Arrival(text_of(path), self._root / path)

    def _signature(self, path: str) -> _Signature | None:
        try:
            status = os.stat(os.path.join(self._root, path))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError:
            return _CLOSED
        return status.st_size, status.st_mtime_ns

    def _when(self, signature: _Signature) -> float:
        patience = self._settle if signature[0] else _EMPTY_SECONDS
        return time.monotonic() + max(0.0, patience - _age(signature))


def _age(signature: _Signature) -> float:
    """Return for how many seconds a file has not changed; 0 if another computer's clock says it will."""
    return max(0.0, time.time() - signature[1] / 1e9)
