"""The source that a text names, as in `csim run FOLDER SOURCE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO, Literal

from csim.errors import InputError
from csim.sources.arrival import Arrival, Source
from csim.sources.directory import SUFFIXES, Directory
from csim.sources.listing import Listed, split
from csim.sources.names import text_of
from csim.sources.npz import NpzFile
from csim.sources.video import SUFFIXES as VIDEO_SUFFIXES
from csim.sources.video import Video
from csim.sources.watch import Watched

_POSSIBLE = (
    f"a source is a folder, an image ({', '.join(SUFFIXES)}), an archive of arrays (.npz), "
    f"a video ({', '.join(VIDEO_SUFFIXES)}), or - for a list of files on standard input"
)


def open_source(
    text: str,
    *,
    watch: bool = False,
    stdin: BinaryIO | None = None,
    every: float | None = None,
    null: bool = False,
) -> Source:
    """Return the source for a folder, an image, a `.npz`, a video, or "-" for a list of files on standard input.

    Parameters
    ----------
    text
        A path, or "-".
    watch
        Whether to stay and wait for more; for a folder only.
    stdin
        Where "-" reads; by default standard input.
    every
        Seconds between the frames that are taken; for a video only.
    null
        Whether zero bytes end the list's paths instead of line ends; for "-" only.
    """
    kind, path = _kind(text), Path(text)
    given = (
        ("watch", watch, "folder"),
        ("every", every is not None, "video"),
        ("null", null, "list"),
    )
    for option, is_given, wanted in given:
        if is_given and kind != wanted:
            raise InputError(
                f"{option} goes with a source that is a {wanted}, and {text} is a {kind}; leave it out"
            )
    match kind:
        case "list":
            end = b"\0" if null else b"\n"
            return Listed(split(stdin or sys.stdin.buffer, end), end=end)
        case "folder":
            return Watched(path) if watch else Directory(path)
        case "archive":
            return NpzFile(path)
        case "video":
            return Video(path, every=every)
        case "image":
            return [Arrival(text_of(path), path)]


def _kind(text: str) -> Literal["list", "folder", "archive", "video", "image"]:
    path = Path(text)
    suffix = path.suffix.lower()
    if text == "-":
        return "list"
    if path.is_dir():
        return "folder"
    if not path.exists():
        raise InputError(f"there is nothing at {text}; {_POSSIBLE}")
    if suffix == ".npz":
        return "archive"
    if suffix in VIDEO_SUFFIXES:
        return "video"
    if suffix in SUFFIXES:
        return "image"
    raise InputError(f"{text} cannot be told to hold images by its ending; {_POSSIBLE}")
