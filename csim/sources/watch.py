"""A folder that is watched: first the images that are there, then those that come, for ever.

With watchfiles (the extra `watch`) a new file is noticed at once. A rescan every so often finds what was missed, on
network drives for one, and is enough alone. Which files count is told in `directory`, when one is taken in `settling`.
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
from csim.sources.directory import check_folder, is_image_name
from csim.sources.settling import Settling

_PAUSE = 0.25  # seconds between two looks at the clock
_SPARING = 10  # a rescan waits so many times as long as the last one took, and so takes a tenth of the time at most

_log = logging.getLogger(__name__)


class Watched:
    """The image files below a folder, now and later. While nothing comes, None comes four times a second.

    Parameters
    ----------
    root
        The folder. An image's id is its path from here, as `text_of` writes it.
    every
        Seconds between two rescans, or ten times what the last one took if that is longer. Raising it spares the
        disk, and finds later what was missed.
    settle
        Seconds for which a file must not have changed to be taken. Raising it waits out slower writers.
    stop
        Asked before anything is given; when it says True the source ends.
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
        for found in self._for_ever():
            if self._stop():
                return
            yield found

    def _for_ever(self) -> Iterator[Arrival | Trouble | None]:
        files = Settling(self.root, self._settle)
        next_scan = time.monotonic()
        with closing(
            _changes(self.root)
        ) as changes:  # begun before the first look, so that nothing falls between
            for changed in changes:
                for path in changed:
                    files.look(path)
                if time.monotonic() >= next_scan:
                    started = time.monotonic()
                    yield from files.rescan()
                    took = time.monotonic() - started
                    next_scan = time.monotonic() + max(self._every, _SPARING * took)
                yield from files.complete()
                yield None


def _changes(root: Path) -> Generator[list[str], None, None]:
    """Give the paths of image files that have changed, four times a second, for ever."""
    try:
        from watchfiles import watch  # noqa: PLC0415
    except ImportError:
        yield from _pauses()
        return
    milliseconds = int(_PAUSE * 1000)
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
    except (OSError, RuntimeError) as error:  # the system watches only so many folders
        _log.warning(
            "%s cannot be watched (%s); it is looked through every few seconds instead", root, error
        )
        yield from _pauses()


def _pauses() -> Generator[list[str], None, None]:
    while True:
        yield []
        time.sleep(_PAUSE)


def _path_in(root: Path, changed: str) -> str | None:
    """Return the path from `root` of an image file that has changed, None if the rescan must judge it.

    That is so for files below a hidden folder and for those reached by a link, which may have another path.
    """
    path = os.path.relpath(changed, root)
    folder, name = os.path.split(path)
    straight = os.path.normpath(os.path.join(os.path.realpath(root), folder))
    is_straight = os.path.realpath(os.path.join(root, folder)) == straight
    is_hidden = any(part.startswith(".") for part in folder.split("/"))
    return path if is_straight and not is_hidden and is_image_name(name) else None
