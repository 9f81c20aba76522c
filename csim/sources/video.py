"""The frames of a video file, through PyAV (the extra `video`).

Frames are turned upright, as a player shows them. A damaged file gives the frames before the damage and ends with a
trouble; one that is merely cut off may end early without a word, since many formats do not say how long they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from csim.errors import InputError, SettingsError
from csim.sources.arrival import Arrival, Trouble
from csim.sources.files import trouble_of
from csim.sources.names import text_of
from csim.sources.picture import MOST_PIXELS

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
        number = 0
        try:
            for number, frame in self._frames():
                if frame.width * frame.height > MOST_PIXELS:
                    reason = f"a frame must have at most {MOST_PIXELS:,} pixels, this has {frame.width}×{frame.height}"
                    yield Trouble(self._id(number), "too-large", reason)
                    return
                turns = round(frame.rotation / 90)  # to the left
                yield Arrival(self._id(number), np.rot90(frame.to_ndarray(format="rgb24"), turns))
        except (self._av.FFmpegError, ValueError, IndexError) as error:
            reason = f"a video must be whole and of a known format, this one ends or fails here: {error}"
            yield Trouble(self._id(number), "damaged", reason)
        except OSError as error:
            yield trouble_of(self._name, error)

    def _frames(self) -> Iterator[tuple[int, Any]]:
        """Give the frames to take, with their numbers."""
        due = -math.inf
        options = {"format_whitelist": _FORMATS}
        with (
            open(self._path, "rb") as file,
            self._av.open(file, options=options, metadata_errors="replace") as container,
        ):
            stream = container.streams.video[0]
            rate = float(stream.average_rate or 25)  # for formats that do not tell a frame's time
            for number, frame in enumerate(container.decode(stream)):
                seconds = number / rate if frame.time is None else frame.time
                if seconds >= due - 1e-6:
                    yield number, frame
                    if self._every is not None:
                        due = (math.floor(seconds / self._every + 1e-6) + 1) * self._every

    def _id(self, number: int) -> str:
        return f"{self._name}#{number:06d}"


def _load_av() -> Any:  # noqa: ANN401
    try:
        import av  # noqa: PLC0415
    except ImportError as error:
        raise InputError("videos are read with PyAV, which is not there; pip install 'csim[video]'") from error
    return av
