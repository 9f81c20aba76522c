"""Yield all image files below a folder, in order of their paths.

The file name extension decides what is an image. Images in a format that csim does not read are
yielded too, so that csim counts and names them. Other files, and names that begin with a dot, are
skipped. Links to files are followed. A link to a folder outside the root is followed, each folder
once. A link to a folder inside the root is not followed: its images are found under their own path.
So loops end, and every image has one path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from csim.errors import InputError
from csim.sources.arrival import Arrival, Trouble
from csim.sources.files import trouble_of
from csim.sources.path_text import path_to_text

SUFFIXES = (
    *(".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff"),
    *(".heic", ".heif", ".hif", ".avif"),
)
# Decoding says that csim does not read them; of the others, if a plug-in is missing.
UNSUPPORTED_SUFFIXES = (
    *(".gif", ".jp2", ".jxl", ".psd", ".pdf", ".heics"),
    *(".arw", ".cr2", ".cr3", ".dng", ".nef", ".orf", ".raf", ".rw2"),  # raw, by camera maker
)


class Directory:
    """Yield the image files below a folder, each once.

    Parameters
    ----------
    root
        The folder. The id of an image is its path relative to it, as `path_to_text` writes it.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = check_folder(root)

    def __iter__(self) -> Iterator[Arrival | Trouble]:
        for found in walk(self.root):
            if isinstance(found, Trouble):
                yield found
            else:
                yield Arrival(path_to_text(found), self.root / found)


def check_folder(root: str | Path) -> Path:
    """Return the path of a folder, or raise an `InputError` if it is not one."""
    if not Path(root).is_dir():
        raise InputError(f"{root} is not a folder; give one that holds images")
    return Path(root)


def is_image_name(name: str) -> bool:
    """Tell whether a file counts as an image, by its name alone."""
    return not name.startswith(".") and name.lower().endswith(SUFFIXES + UNSUPPORTED_SUFFIXES)


def walk(root: Path) -> Iterator[str | Trouble]:
    """Yield the path of every image file relative to `root`.

    A folder that cannot be listed yields a trouble. Folders are listed one at a time: memory holds
    only the names in the current folder and in those above it.
    """
    boundary = os.path.realpath(root)
    entered: set[tuple[int, int]] = set()
    # A folder's path and its remaining names. The name of a subfolder ends in "/".
    stack = [("", iter([""]))]
    while stack:
        above, names = stack[-1]
        name = next(names, None)
        if name is None:
            stack.pop()
        elif name and not name.endswith("/"):
            yield above + name
        else:
            path = above + name
            try:
                found = _list(os.path.join(root, path), boundary, entered)
                stack.append((path, iter(found)))
            except OSError as error:
                yield trouble_of(path_to_text(path.rstrip("/") or "."), error)


def _list(folder: str, boundary: str, entered: set[tuple[int, int]]) -> list[str]:
    """Return the sorted images and subfolders of a folder; none if it was entered before."""
    status = os.stat(folder)
    if (status.st_dev, status.st_ino) in entered:
        return []
    entered.add((status.st_dev, status.st_ino))
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if _is_folder(entry):
                if not entry.name.startswith(".") and not _leads_back(entry, boundary):
                    names.append(entry.name + "/")
            elif is_image_name(entry.name):
                names.append(entry.name)
    return sorted(names, key=lambda name: name.rstrip("/"))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link to itself, or into a closed folder: reading the file reports it
        return False


def _leads_back(entry: os.DirEntry[str], boundary: str) -> bool:
    """Tell whether a link leads to a folder inside the root, which the walk reaches anyway."""
    return entry.is_symlink() and f"{os.path.realpath(entry.path)}/".startswith(
        f"{boundary.rstrip('/')}/"
    )
