"""A list of image files, one path after the other: `find … -print0 | csim run FOLDER - --null`.

The list is read as it comes. Its files are taken whatever their endings: someone chose them.
"""

from __future__ import annotations

import os
import select
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

from csim.errors import InputError
from csim.sources.arrival import Arrival
from csim.sources.names import text_of

_PAUSE = 0.25  # seconds to wait for more of a list before saying so
_PIECE = 65_536  # bytes


class Listed:
    r"""The files of a list.

    Parameters
    ----------
    lines
        A path each, from the current folder on; empty ones are passed over, and a None is given on. An image's id is
        its path as `text_of` writes it.
    end
        What is taken off a line's end: b"\n", and a carriage return before it; or b"\0", so that a path may hold any
        byte that a path can.

    Examples
    --------
    >>> [arrival.id for arrival in Listed([b"herons/1.jpg\n", b"/srv/cranes/7.png\n"])]
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
                yield Arrival(text_of(path), Path(os.fsdecode(path)))

    def _path(self, line: bytes) -> bytes:
        path = line.removesuffix(self._end)
        if b"\0" in path:
            raise InputError(
                "a path cannot hold a zero byte, this list has one; say that zero bytes end its paths"
            )
        return path.removesuffix(b"\r") if self._end == b"\n" else path


def split(stream: BinaryIO, end: bytes) -> Iterator[bytes | None]:
    """Give the parts of a stream as they come, and None while it has nothing new.

    Parameters
    ----------
    stream
        Standard input, for one.
    end
        The byte that ends a part, and is taken off.
    """
    begun = b""
    for piece in _pieces(stream):
        if piece is None:
            yield None
            continue
        *parts, begun = (begun + piece).split(end)
        yield from parts
    yield begun


def _pieces(stream: BinaryIO) -> Iterator[bytes | None]:
    try:
        descriptor = stream.fileno()
    except OSError:  # it lies in memory
        yield stream.read()
        return
    while True:
        if not select.select([descriptor], [], [], _PAUSE)[0]:
            yield None
        elif piece := os.read(descriptor, _PIECE):
            yield piece
        else:
            return
