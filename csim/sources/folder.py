"""A folder of image files as arrays, with the ImageFolder layout for labelled ones: `root/class name/file`.

Files are read in order of their paths. EXIF rotation is honoured. The images are grey if all files are, else RGB.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from csim.errors import InputError
from csim.records import Images

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".webp", ".tif", ".tiff")
MOST_PIXELS = 64_000_000  # per file: a tiny file can unpack to gigabytes
GREY = ("1", "L", "I;16")


def read_images(folder: str | Path, size: tuple[int, int] | None = None) -> Images:
    """Return all images of a folder and its subfolders, in order of their paths.

    Parameters
    ----------
    folder
        Where to look.
    size
        Height and width to resize to, needed if the files differ. Raising it shows finer detail and costs time.
    """
    return _read(_files(Path(folder)), size)


def read_labelled(folder: str | Path, size: tuple[int, int] | None = None) -> tuple[Images, list[str]]:
    """Return the images of a folder with a subfolder per class, and the name of each image's class.

    Parameters
    ----------
    folder
        Its subfolders are the classes.
    size
        As for `read_images`.
    """
    root = Path(folder)
    files = [file for file in _files(root) if file.parent != root]
    if not files:
        raise InputError(f"{root} must hold a subfolder of images per class; there is none")
    return _read(files, size), [file.relative_to(root).parts[0] for file in files]


def _files(root: Path) -> list[Path]:
    if not root.is_dir():
        raise InputError(f"{root} is not a folder; give one that holds images")
    files = sorted(file for file in root.rglob("*") if file.suffix.lower() in SUFFIXES and file.is_file())
    if not files:
        raise InputError(f"{root} holds no image; known endings are {', '.join(SUFFIXES)}")
    return files


def _read(files: list[Path], size: tuple[int, int] | None) -> Images:
    pictures = [_decode(file) for file in files]
    is_grey = all(picture.mode in GREY for picture in pictures)
    sizes = {picture.size for picture in pictures}
    if size is None and len(sizes) > 1:
        raise InputError(
            f"the {len(files)} images have {len(sizes)} different sizes; "
            "give size=(height, width) to csim.read_images or csim.read_labelled, which then resize"
        )
    return np.stack([_to_array(picture, is_grey, size) for picture in pictures])


def _decode(file: Path) -> Image.Image:
    try:
        with Image.open(file) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise InputError(f"{file} has {picture.width}×{picture.height} pixels, the most is {MOST_PIXELS}")
            return ImageOps.exif_transpose(picture)
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError(f"{file} cannot be read as an image ({error}); mend or remove it") from error


def _to_array(picture: Image.Image, is_grey: bool, size: tuple[int, int] | None) -> Images:
    if picture.mode == "I;16":
        picture = Image.fromarray((np.asarray(picture) >> 8).astype(np.uint8))
    picture = picture.convert("L" if is_grey else "RGB")
    if size is not None:
        picture = picture.resize((size[1], size[0]), Image.Resampling.BILINEAR)
    return np.asarray(picture, np.uint8)
