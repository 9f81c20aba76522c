"""Open the source that a text names, as in `csim run FOLDER SOURCE`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import BinaryIO, Literal

from csim.errors import InputError
from csim.sources.arrival import Arrival, Source
from csim.sources.directory import SUFFIXES, Directory
from csim.sources.npz import NpzFile
from csim.sources.path_list import PathList, split
from csim.sources.path_text import path_to_text
from csim.sources.video import SUFFIXES as VIDEO_SUFFIXES
from csim.sources.video import Video
from csim.sources.watch import WatchedDirectory

_POSSIBLE_SOURCES = (
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
    """Return the source that a text names.

    Parameters
    ----------
    text
        The path of a folder, an image, an `.npz` or a video. "-" reads a list of files.
    watch
        Keep running and yield new files as they appear; for a folder only.
    stdin
        The stream that "-" reads; standard input by default.
    every
        Seconds between two frames of a video; for a video only. Higher takes fewer frames.
    null
        Paths in the list end with a zero byte instead of a line end; for "-" only.
    """
    kind = _kind(text)
    path = Path(text)
    given = (
        ("watch", watch, "folder"),
        ("every", every is not None, "video"),
        ("null", null, "list"),
    )
    for option, is_given, wanted in given:
        if is_given and kind != wanted:
            raise InputError(
                f"{option} works with a {wanted} only, and {text} is a {kind}; leave {option} out"
            )
    match kind:
        case "list":
            end = b"\0" if null else b"\n"
            return PathList(split(stdin or sys.stdin.buffer, end), end=end)
        case "folder":
            return WatchedDirectory(path) if watch else Directory(path)
        case "archive":
            return NpzFile(path)
        case "video":
            return Video(path, every=every)
        case "image":
            return [Arrival(path_to_text(path), path)]


def _kind(text: str) -> Literal["list", "folder", "archive", "video", "image"]:
    path = Path(text)
    suffix = path.suffix.lower()
    if text == "-":
        return "list"
    if path.is_dir():
        return "folder"
    if not path.exists():
        raise InputError(f"there is nothing at {text}; {_POSSIBLE_SOURCES}")
    if suffix == ".npz":
        return "archive"
    if suffix in VIDEO_SUFFIXES:
        return "video"
    if suffix in SUFFIXES:
        return "image"
    raise InputError(f"{text} has an unknown file name extension; {_POSSIBLE_SOURCES}")
