"""The frames of a video file, through PyAV (the extra `video`).

Frames are turned upright, as a player shows them. A damaged file gives the frames before the damage and ends with a
trouble. So does one that was cut off, if its format says how long it was.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from csim.errors import InputError, SettingsError
from csim.sources.arrival import Arrival, Trouble
from csim.sources.files import trouble_of
from csim.sources.names import text_of
from csim.sources.open_picture import MOST_PIXELS

SUFFIXES = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg")

# A playlist that calls itself .mp4 could otherwise make the reader open any file or address.
_FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,avi,matroska,webm,mpeg,mpegts,mpegvideo"


class Video:
    """The frames of a video file, as arrays.

    Parameters
    ----------
    path
        The file. A frame's id is the file's name and the frame's number, counted from 0: "pond.mp4#000012".
    every
        Seconds between two frames that are taken; None takes all. Raising it takes fewer.
    """

    def __init__(self, path: str | Path, *, every: float | None = None) -> None:
        if every is not None and not 0 < every < math.inf:
            raise SettingsError(f"every must be a number of seconds above 0, got {every}")
        self._path = Path(path)
        self._name = text_of(self._path.name)
        self._every = every
        self._av = _load_av()

    def __iter__(self) -> Iterator[Arrival | Trouble]:
        try:
            file = open(self._path, "rb")  # noqa: SIM115  # closed below
        except OSError as error:
            yield trouble_of(self._name, error)
            return
        number = -1
        with file:
            try:
                for number, frame in self._frames(file):
                    yield self._arrival(number, frame)
            except (self._av.FFmpegError, OSError, ValueError, IndexError) as error:
                reason = f"a video must be whole and of a known format, this one ends or fails here: {error}"
                yield Trouble(self._id(number + 1), "damaged", reason)

    def _frames(self, file: BinaryIO) -> Iterator[tuple[int, Any]]:
        """Give the frames to take, with their numbers; it is an error if more than a second of the film is missing."""
        due, number = -math.inf, -1
        with self._av.open(
            file, options={"format_whitelist": _FORMATS}, metadata_errors="replace"
        ) as container:
            stream = container.streams.video[0]
            rate = float(stream.average_rate or 25)  # for formats that do not tell a frame's time
            for number, frame in enumerate(container.decode(stream)):
                seconds = number / rate if frame.time is None else frame.time
                if seconds >= due - 1e-6:
                    yield number, frame
                    if self._every is not None:
                        due = (math.floor(seconds / self._every + 1e-6) + 1) * self._every
            if (
                stream.frames > number + 1 + rate
            ):  # not exactly: players pass over a few frames of a good file
                raise ValueError(
                    f"it says that it has {stream.frames} frames, and has {number + 1}"
                )

    def _arrival(self, number: int, frame: Any) -> Arrival | Trouble:  # noqa: ANN401
        if frame.width * frame.height > MOST_PIXELS:
            reason = f"a frame must have at most {MOST_PIXELS:,} pixels, this one has {frame.width}×{frame.height}"
            return Trouble(self._id(number), "too-large", reason)
        turns = round(frame.rotation / 90)  # to the left
        return Arrival(self._id(number), np.rot90(frame.to_ndarray(format="rgb24"), turns))

    def _id(self, number: int) -> str:
        return f"{self._name}#{number:06d}"


def _load_av() -> Any:  # noqa: ANN401
    try:
        import av  # noqa: PLC0415
    except ImportError as error:
        raise InputError(
            "videos are read with PyAV, which is not there; pip install 'csim[video]'"
        ) from error
    return av
