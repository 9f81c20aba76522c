"""Read a folder of image files as arrays, and labelled ones in the ImageFolder layout.

In that layout the path of a file is `root/class name/file`. `directory` says which files count, and
`open_picture` and `resize` how they are decoded. A file that cannot be read is an error here,
because you chose these files. The images are grey if all files are, else RGB.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import numpy as np
from PIL import Image

from csim.errors import InputError
from csim.records import Images
from csim.sources.arrival import Arrival, Trouble
from csim.sources.directory import SUFFIXES, check_folder, walk
from csim.sources.files import read_file
from csim.sources.open_picture import open_picture
from csim.sources.path_text import path_to_text
from csim.sources.resize import fit, min_decoded_side, to_array

_T = TypeVar("_T")
OnImage = Callable[[int, int], None]  # images read, images in all


def read_images(folder: str | Path, size: tuple[int, int] | None = None, bits: int = 16) -> Images:
    """Return all images of a folder and its subfolders, in order of their paths.

    Parameters
    ----------
    folder
        The folder to read.
    size
        Height and width to resize to; needed if the files differ. Higher keeps finer detail but
        takes more time.
    bits
        Bits that 16-bit files use, if the file does not say. Higher makes images darker.
    """
    root = Path(folder)
    return _stack(_decode_all(root, _files(root), size, bits))


def read_labelled(
    folder: str | Path,
    size: tuple[int, int] | None = None,
    bits: int = 16,
    *,
    size_if_mixed: tuple[int, int] | None = None,
    on_image: OnImage | None = None,
) -> tuple[Images, list[str]]:
    """Return the images of a folder with one subfolder per class, and each image's class name.

    Parameters
    ----------
    folder
        The folder; its subfolders are the classes.
    size, bits
        As for `read_images`.
    size_if_mixed
        Height and width to resize to if the files differ and there is no `size`.
    on_image
        Called after each image with how many are read, and how many there are.
    """
    root = Path(folder)
    files = _labelled(root)
    pictures = _decode_all(root, files, size, bits, on_image)
    images = _stack(pictures, size_if_mixed)
    return images, [_class_name(file) for file in files]


def labelled_files(folder: str | Path) -> Iterator[tuple[Arrival, str]]:
    """Yield the files of a folder with one subfolder per class, and each file's class name.

    No file is read yet.

    Parameters
    ----------
    folder
        The folder; its subfolders are the classes. The id of a file is "labelled/" and its path
        relative to the folder.
    """
    root = Path(folder)
    return (
        (Arrival(f"labelled/{path_to_text(file)}", root / file), _class_name(file))
        for file in _labelled(root)
    )


def _labelled(root: Path) -> list[str]:
    files = [file for file in _files(root) if "/" in file]
    if not files:
        raise InputError(
            f"{root} must hold a subfolder of images per class, but has none; "
            "move the images of each class into one"
        )
    return files


def _class_name(file: str) -> str:
    return path_to_text(file.split("/", 1)[0])


def _files(root: Path) -> list[str]:
    files = [_or_raise(root, found) for found in walk(check_folder(root))]
    if not files:
        raise InputError(
            f"{root} holds no image; csim reads files that end in {', '.join(SUFFIXES)}"
        )
    return files


def _decode_all(
    root: Path,
    files: list[str],
    size: tuple[int, int] | None,
    bits: int,
    on_image: OnImage | None = None,
) -> list[Image.Image]:
    pictures = []
    for file in files:
        pictures.append(_decode(root, file, size, bits))
        if on_image:
            on_image(len(pictures), len(files))
    return pictures


def _stack(pictures: list[Image.Image], size_if_mixed: tuple[int, int] | None = None) -> Images:
    """Return pictures as one array; resize them if they differ and there is a size for that."""
    sizes = {picture.size for picture in pictures}
    if len(sizes) > 1 and size_if_mixed is not None:
        pictures = [fit(picture, size_if_mixed) for picture in pictures]
        sizes = {picture.size for picture in pictures}
    if len(sizes) > 1:
        raise InputError(
            f"the {len(pictures)} images have {len(sizes)} different sizes; "
            "give size=(height, width) to csim.read_images or csim.read_labelled, which then resize"
        )
    is_grey = all(picture.mode == "L" for picture in pictures)
    width, height = sizes.pop()
    shape = (height, width) if is_grey else (height, width, 3)
    return np.stack([to_array(picture, shape) for picture in pictures])


def _decode(root: Path, file: str, size: tuple[int, int] | None, bits: int) -> Image.Image:
    name = path_to_text(file)
    content = _or_raise(root, read_file(name, root / file))
    least = None if size is None else min_decoded_side(size)
    picture = _or_raise(root, open_picture(name, content, least=least, bits=bits))
    return picture if size is None else fit(picture, size)


def _or_raise(root: Path, outcome: _T | Trouble) -> _T:
    if isinstance(outcome, Trouble):
        raise InputError(
            f"{root / outcome.id} cannot be read: {outcome.reason}; repair or remove it"
        )
    return outcome
