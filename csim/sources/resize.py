"""A plain picture as the array that a stream works on, and as the bytes that a person is shown.

One rule brings every picture to the stream's shape. Its whole area is stretched to the stream's height and width,
by bilinear interpolation over all pixels that a new one covers, so that large photographs are reduced well. Cropping
could cut off what the image is about, and a border would be something to learn that nobody photographed; images of one
camera are all stretched alike. In a grey stream colour becomes its luma (Pillow's "L"); in a colour stream grey becomes
three equal channels.
"""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from csim.records import Images

MOST_KEPT = 1_000_000  # bytes
MOST_SHOWN = 1024  # pixels a side: as large as a person gets to see it


def to_array(picture: Image.Image, shape: tuple[int, ...]) -> Images:
    """Return a plain picture as an array of the stream's shape, (h, w) or (h, w, 3)."""
    mode = "L" if len(shape) == 2 else "RGB"
    return np.asarray(
        fit(picture if picture.mode == mode else picture.convert(mode), shape), np.uint8
    )


def fit(picture: Image.Image, size: tuple[int, ...]) -> Image.Image:
    """Return a picture stretched to a size that begins with height and width."""
    wanted = (size[1], size[0])
    return picture if picture.size == wanted else picture.resize(wanted, Image.Resampling.BILINEAR)


def least_side(size: tuple[int, ...]) -> int:
    """Return how many pixels a side must be decoded for a size to come out well, and for a person to see."""
    return max(MOST_SHOWN, 2 * max(size[:2]))


def encode(picture: Image.Image) -> bytes:
    """Return a plain picture as a file to keep: a PNG without loss if that is small, else a JPEG that shows it well."""
    width, height = picture.size
    file = io.BytesIO()
    if width * height * len(picture.mode) <= MOST_KEPT:
        picture.save(file, "PNG")
    else:
        small = picture.copy()
        small.thumbnail((MOST_SHOWN, MOST_SHOWN))
        small.save(file, "JPEG", quality=90)
    return file.getvalue()
