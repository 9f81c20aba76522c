"""Read the images of a NumPy archive (`.npz`).

The array is read into memory as a whole, because NumPy cannot decompress a part of it. Split larger
archives, or write their images as files.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.lib.npyio import NpzFile as Archive

from csim.errors import InputError
from csim.records import Images
from csim.sources.arrays import check_images
from csim.sources.arrival import Arrival
from csim.sources.path_text import path_to_text


class NpzFile:
    """Yield the images in an archive's array "images", or in its only array.

    Parameters
    ----------
    path
        The file. The id of an image is the file name and the image's number, counted from 0:
        "birds.npz#000012".
    """

    def __init__(self, path: str | Path) -> None:
        self._name = path_to_text(Path(path).name)
        try:
            self._images = _read(Path(path))
        except (
            OSError,
            ValueError,
            EOFError,
            KeyError,
            zlib.error,
            zipfile.BadZipFile,
            NotImplementedError,
        ) as error:
            raise InputError(f"{path} must be an .npz file of images: {error}") from error

    def __iter__(self) -> Iterator[Arrival]:
        for number, image in enumerate(self._images):
            yield Arrival(f"{self._name}#{number:06d}", image)


def _read(path: Path) -> Images:
    with open(path, "rb") as file:
        archive = np.load(file, allow_pickle=False)  # loading a pickle can run any code
        if not isinstance(archive, Archive):
            raise InputError("this is a single array; write it with numpy.savez")
        names = archive.files
        if "images" not in names and len(names) != 1:
            raise InputError(
                "it must hold an array called images, or one array only; "
                f"it holds {', '.join(names) or 'none'}"
            )
        return check_images(archive["images" if "images" in names else names[0]])
