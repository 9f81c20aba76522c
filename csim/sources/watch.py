"""Watch a folder: yield the images that exist now, then new ones as they appear, without end.

With watchfiles (the extra `watch`) csim notices a new file at once. A regular rescan finds what
watchfiles missed, for example on network drives, and is enough alone. `directory` says which files
count, and `complete_files` when a file is complete.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from pathlib import Path

from csim.errors import SettingsError
from csim.sources.arrival import Arrival, Trouble
from csim.sources.complete_files import CompleteFiles
from csim.sources.directory import check_folder, is_image_name

_POLL_SECONDS = 0.25
_RESCAN_SPACING = 10  # wait 10 times as long as the last rescan took

_log = logging.getLogger(__name__)


class WatchedDirectory:
    """Yield the image files below a folder, now and later.

    While nothing arrives, it yields None four times a second.

    Parameters
    ----------
    root
        The folder. The id of an image is its path relative to it, as `path_to_text` writes it.
    every
        Seconds between two rescans, or ten times as long as the last one took if that is longer.
        Higher reads the disk less, but finds missed files later.
    settle
        Seconds without a change after which a file is complete. Higher waits for slower writers,
        but every file arrives later.
    stop
        Called before each value; the source ends when it returns True.
    """

    def __init__(
        self,
        root: str | Path,
        *,
        every: float = 2.0,
        settle: float = 0.5,
        stop: Callable[[], bool] = lambda: False,
    ) -> None:
        for name, seconds in (("every", every), ("settle", settle)):
            if not 0 < seconds < float("inf"):
                raise SettingsError(f"{name} must be a number of seconds above 0, got {seconds}")
        self.root = check_folder(root)
        self._every = every
        self._settle = settle
        self._stop = stop

    def __iter__(self) -> Iterator[Arrival | Trouble | None]:
        for found in self._watch():
            if self._stop():
                return
            yield found

    def _watch(self) -> Iterator[Arrival | Trouble | None]:
        files = CompleteFiles(self.root, self._settle)
        next_scan = time.monotonic()
        # Opened before the first scan, so that no file is missed between the two.
        with closing(_changes(self.root)) as changes:
            for changed in changes:
                for path in changed:
                    files.check(path)
                if time.monotonic() >= next_scan:
                    started = time.monotonic()
                    yield from files.rescan()
                    took = time.monotonic() - started
                    next_scan = time.monotonic() + max(self._every, _RESCAN_SPACING * took)
                yield from files.take_complete()
                yield None


def _changes(root: Path) -> Generator[list[str], None, None]:
    """Yield the paths of changed image files, four times a second, without end."""
    try:
        from watchfiles import watch  # noqa: PLC0415
    except ImportError:
        yield from _no_changes()
        return
    milliseconds = int(_POLL_SECONDS * 1000)
    try:
        for changes in watch(
            root,
            watch_filter=None,
            debounce=milliseconds,
            rust_timeout=milliseconds,
            yield_on_timeout=True,
            ignore_permission_denied=True,
        ):
            yield [path for _, changed in changes if (path := _path_in(root, changed))]
    except (OSError, RuntimeError) as error:  # the system limits how many folders one may watch
        _log.warning("cannot watch %s (%s); rescanning it every few seconds instead", root, error)
        yield from _no_changes()


def _no_changes() -> Generator[list[str], None, None]:
    while True:
        yield []
        time.sleep(_POLL_SECONDS)


def _path_in(root: Path, changed: str) -> str | None:
    """Return the path of a changed image relative to `root`, or None to leave it to the rescan.

    The rescan decides about files below a hidden folder and about files reached through a link,
    which may have another path.
    """
    path = os.path.relpath(changed, root)
    folder, name = os.path.split(path)
    unlinked = os.path.normpath(os.path.join(os.path.realpath(root), folder))
    is_unlinked = os.path.realpath(os.path.join(root, folder)) == unlinked
    is_hidden = any(part.startswith(".") for part in folder.split("/"))
    return path if is_unlinked and not is_hidden and is_image_name(name) else None
