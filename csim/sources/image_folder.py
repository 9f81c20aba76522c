"""A folder of image files as arrays, with the ImageFolder layout for labelled ones: `root/class name/file`.

Files are found as `directory` says and decoded as `picture` and `pixels` say, but any that cannot be taken is an error:
these images are few, and chosen. The images are grey if all files are, else RGB.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image

from csim.errors import InputError
from csim.records import Images
from csim.sources.arrival import Arrival, Trouble
from csim.sources.directory import SUFFIXES, check_folder, walk
from csim.sources.files import read_file
from csim.sources.names import text_of
from csim.sources.open_picture import open_picture
from csim.sources.resize import fit, least_side, to_array

_T = TypeVar("_T")


def read_images(folder: str | Path, size: tuple[int, int] | None = None) -> Images:
    """Return all images of a folder and its subfolders, in order of their paths.

    Parameters
    ----------
    folder
        Where to look.
    size
        Height and width to resize to, needed if the files differ. Raising it shows finer detail and costs time.
    """
    root = Path(folder)
    return _read(root, _files(root), size)


def read_labelled(
    folder: str | Path, size: tuple[int, int] | None = None
) -> tuple[Images, list[str]]:
    """Return the images of a folder with a subfolder per class, and the name of each image's class.

    Parameters
    ----------
    folder
        Its subfolders are the classes.
    size
        As for `read_images`.
    """
    root = Path(folder)
    files = _labelled(root)
    return _read(root, files, size), [_class_name(file) for file in files]


def labelled_files(folder: str | Path) -> Iterator[tuple[Arrival, str]]:
    """Give the files of a folder with a subfolder per class, and the name of each file's class; nothing is read yet.

    Parameters
    ----------
    folder
        Its subfolders are the classes. The id of a file is "labelled/" and its path from here.
    """
    root = Path(folder)
    return (
        (Arrival(f"labelled/{text_of(file)}", root / file), _class_name(file))
        for file in _labelled(root)
    )


def _labelled(root: Path) -> list[str]:
    files = [file for file in _files(root) if "/" in file]
    if not files:
        raise InputError(f"{root} must hold a subfolder of images per class; there is none")
    return files


def _class_name(file: str) -> str:
    return text_of(file.split("/", 1)[0])


def _files(root: Path) -> list[str]:
    files = [_sure(root, found) for found in walk(check_folder(root))]
    if not files:
        raise InputError(f"{root} holds no image; known endings are {', '.join(SUFFIXES)}")
    return files


def _read(root: Path, files: list[str], size: tuple[int, int] | None) -> Images:
    pictures = [_decode(root, file, size) for file in files]
    sizes = {picture.size for picture in pictures}
    if len(sizes) > 1:
        raise InputError(
            f"the {len(files)} images have {len(sizes)} different sizes; "
            "give size=(height, width) to csim.read_images or csim.read_labelled, which then resize"
        )
    is_grey = all(picture.mode == "L" for picture in pictures)
    width, height = sizes.pop()
    return np.stack(
        [
            to_array(picture, (height, width) if is_grey else (height, width, 3))
            for picture in pictures
        ]
    )


def _decode(root: Path, file: str, size: tuple[int, int] | None) -> Image.Image:
    name = text_of(file)
    content = _sure(root, read_file(name, root / file))
    picture = _sure(
        root, open_picture(name, content, least=None if size is None else least_side(size))
    )
    return picture if size is None else fit(picture, size)


def _sure(root: Path, outcome: _T | Trouble) -> _T:
    if isinstance(outcome, Trouble):
        raise InputError(f"{root / outcome.id} cannot be read: {outcome.reason}; mend or remove it")
    return outcome
