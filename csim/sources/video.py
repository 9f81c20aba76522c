"""Read the frames of a video file with PyAV (the extra `video`).

Frames are rotated upright, as a player shows them. A damaged file yields the frames before the
damage and then a trouble. So does a truncated file, if its format records its length.
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
from csim.sources.open_picture import MAX_PIXELS
from csim.sources.path_text import path_to_text

SUFFIXES = (".mp4", ".m4v", ".mov", ".avi", ".mkv", ".webm", ".mpg", ".mpeg")

# Without this list, a playlist named .mp4 could make the reader open any file or address.
_ALLOWED_FORMATS = "mov,mp4,m4a,3gp,3g2,mj2,avi,matroska,webm,mpeg,mpegts,mpegvideo"


class Video:
    """Yield the frames of a video file as arrays.

    Parameters
    ----------
    path
        The file. The id of a frame is the file name and the frame's number, counted from 0:
        "pond.mp4#000012".
    every
        Seconds between two frames to take; None takes all. Higher takes fewer.
    """

    def __init__(self, path: str | Path, *, every: float | None = None) -> None:
        if every is not None and not 0 < every < math.inf:
            raise SettingsError(f"every must be a number of seconds above 0, got {every}")
        self._path = Path(path)
        self._name = path_to_text(self._path.name)
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
                reason = (
                    "a video must be complete and of a known format, "
                    f"this one ends or fails here: {error}"
                )
                yield Trouble(self._id(number + 1), "damaged", reason)

    def _frames(self, file: BinaryIO) -> Iterator[tuple[int, Any]]:
        """Yield the frames to take, with their numbers.

        Raises ValueError at the end if more than a second of frames is missing.
        """
        due = -math.inf
        number = -1
        options = {"format_whitelist": _ALLOWED_FORMATS}
        with self._av.open(file, options=options, metadata_errors="replace") as container:
            stream = container.streams.video[0]
            rate = float(stream.average_rate or 25)  # for formats that record no time per frame
            for number, frame in enumerate(container.decode(stream)):
                seconds = number / rate if frame.time is None else frame.time
                if seconds >= due - 1e-6:
                    yield number, frame
                    if self._every is not None:
                        due = (math.floor(seconds / self._every + 1e-6) + 1) * self._every
            # A second of tolerance: decoders skip a few frames of intact files too.
            if stream.frames > number + 1 + rate:
                raise ValueError(
                    f"its header announces {stream.frames} frames, but it has {number + 1}"
                )

    def _arrival(self, number: int, frame: Any) -> Arrival | Trouble:  # noqa: ANN401
        if frame.width * frame.height > MAX_PIXELS:
            size = f"{frame.width}×{frame.height}"
            reason = f"a frame must have at most {MAX_PIXELS:,} pixels, this one has {size}"
            return Trouble(self._id(number), "too-large", reason)
        quarter_turns = round(frame.rotation / 90)  # counterclockwise
        return Arrival(self._id(number), np.rot90(frame.to_ndarray(format="rgb24"), quarter_turns))

    def _id(self, number: int) -> str:
        return f"{self._name}#{number:06d}"


def _load_av() -> Any:  # noqa: ANN401
    try:
        import av  # noqa: PLC0415
    except ImportError as error:
        raise InputError(
            "csim reads videos with PyAV, which is not installed; pip install 'csim[video]'"
        ) from error
    return av
