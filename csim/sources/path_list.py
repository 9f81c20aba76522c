"""Read a list of image paths: `find … -print0 | csim run FOLDER - --null`.

The list is read while it is written. Its files may have any extension, because you chose them.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from csim.errors import InputError
from csim.sources.arrival import Arrival
from csim.sources.path_text import path_to_text

_INPUT_TIMEOUT_SECONDS = 0.25  # wait this long for more input before yielding None
_READ_BYTES = 65_536


class PathList:
    r"""Yield the files of a list.

    Parameters
    ----------
    lines
        One path each, relative to the current folder. Empty lines are skipped, and a None is passed
        on. The id of an image is its path as `path_to_text` writes it.
    end
        What ends a line and is removed: b"\n", with a carriage return before it; or b"\0", so that
        a path may hold any byte that the system allows.

    Examples
    --------
    >>> [arrival.id for arrival in PathList([b"herons/1.jpg\n", b"/srv/cranes/7.png\n"])]
    ['herons/1.jpg', '/srv/cranes/7.png']
    """

    def __init__(self, lines: Iterable[bytes | None], *, end: bytes = b"\n") -> None:
        self._lines = lines
        self._end = end

    def __iter__(self) -> Iterator[Arrival | None]:
        for line in self._lines:
            if line is None:
                yield None
            elif path := self._path(line):
                yield Arrival(path_to_text(path), Path(os.fsdecode(path)))

    def _path(self, line: bytes) -> bytes:
        path = line.removesuffix(self._end)
        if b"\0" in path:
            raise InputError(
                "a path cannot hold a zero byte, but this list has one; "
                "if zero bytes end its paths, use --null"
            )
        return path.removesuffix(b"\r") if self._end == b"\n" else path


def split(stream: BinaryIO, end: bytes) -> Iterator[bytes | None]:
    """Yield the parts of a stream as they arrive, and None while nothing arrives.

    Parameters
    ----------
    stream
        The stream to read, for example standard input.
    end
        The byte that ends a part. It is removed.
    """
    unfinished = b""
    for chunk in _chunks(stream):
        if chunk is None:
            yield None
            continue
        *parts, unfinished = (unfinished + chunk).split(end)
        yield from parts
    yield unfinished


def _chunks(stream: BinaryIO) -> Iterator[bytes | None]:
    try:
        descriptor = stream.fileno()
    except OSError:  # an in-memory stream
        yield stream.read()
        return
    while True:
        if not select.select([descriptor], [], [], _INPUT_TIMEOUT_SECONDS)[0]:
            yield None
        elif chunk := os.read(descriptor, _READ_BYTES):
            yield chunk
        else:
            return
