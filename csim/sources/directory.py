"""All image files below a folder, in order of their paths.

A file is an image by the ending of its name; other files, and names that begin with a dot, are passed over. Links to
files are followed. A link to a folder is followed if it leads out of the root, each folder once; if it leads to a place
inside, the images there come under their own path. So loops end, and an image has one path.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from csim.errors import InputError
from csim.sources.arrival import Arrival, Trouble
from csim.sources.files import trouble_of
from csim.sources.names import text_of

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")


class Directory:
    """The image files below a folder, once.

    Parameters
    ----------
    root
        The folder. An image's id is its path from here, as `text_of` writes it.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = check_folder(root)

    def __iter__(self) -> Iterator[Arrival | Trouble]:
        for found in walk(self.root):
            yield (
                found if isinstance(found, Trouble) else Arrival(text_of(found), self.root / found)
            )


def check_folder(root: str | Path) -> Path:
    """Return a folder's path, or say that it is none."""
    if not Path(root).is_dir():
        raise InputError(f"{root} is not a folder; give one that holds images")
    return Path(root)


def is_image_name(name: str) -> bool:
    """Tell whether a file is to be taken, by its name alone."""
    return not name.startswith(".") and name.lower().endswith(SUFFIXES)


def walk(root: Path) -> Iterator[str | Trouble]:
    """Give the path of every image file from `root` on, and a trouble for a folder that cannot be listed.

    One folder is listed at a time: memory holds the names in the folders above the current file, and no more.
    """
    boundary = os.path.realpath(root)
    entered: set[tuple[int, int]] = set()
    stack = [
        ("", iter([""]))
    ]  # of a folder's path and its names still to come; a folder's own name ends in "/"
    while stack:
        above, names = stack[-1]
        name = next(names, None)
        if name is None:
            stack.pop()
        elif name and not name.endswith("/"):
            yield above + name
        else:
            try:
                stack.append(
                    (above + name, iter(_list(os.path.join(root, above + name), boundary, entered)))
                )
            except OSError as error:
                yield trouble_of(text_of((above + name).rstrip("/") or "."), error)


def _list(folder: str, boundary: str, entered: set[tuple[int, int]]) -> list[str]:
    """Return the images and folders of a folder by name, none if it was entered before."""
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
    except (
        OSError
    ):  # a link to itself, or through a folder that is closed to us: reading it will tell
        return False


def _leads_back(entry: os.DirEntry[str], boundary: str) -> bool:
    """Tell whether a link leads to a folder that the walk reaches under its own name."""
    return entry.is_symlink() and f"{os.path.realpath(entry.path)}/".startswith(
        f"{boundary.rstrip('/')}/"
    )
