"""Resize a plain picture to the array that a stream works on, and encode it for a person to see.

Every picture is stretched to the height and width of the stream, by bilinear interpolation over all
source pixels that a new pixel covers. Cropping could cut off the subject. A border would be a
feature to learn that nobody photographed. Images of one camera are all stretched alike. In a grey
stream colour becomes luma (Pillow's "L"). In a colour stream grey becomes three equal channels.
"""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from csim.records import Images

MAX_KEPT_BYTES = 1_000_000
_THUMBNAIL_SIDE = 96  # pixels
_REDUCING_GAP = 1.0  # of a thumbnail: average blocks of whole pixels down to at least its size
MAX_SHOWN_SIDE = 1024  # pixels: the largest size at which a person sees an image


def to_array(picture: Image.Image, shape: tuple[int, ...]) -> Images:
    """Return a plain picture as an array of the stream's shape, (h, w) or (h, w, 3)."""
    mode = "L" if len(shape) == 2 else "RGB"
    converted = picture if picture.mode == mode else picture.convert(mode)
    return np.asarray(fit(converted, shape), np.uint8)


def fit(picture: Image.Image, size: tuple[int, ...]) -> Image.Image:
    """Return a picture stretched to a size whose first two numbers are height and width."""
    wanted = (size[1], size[0])
    return picture if picture.size == wanted else picture.resize(wanted, Image.Resampling.BILINEAR)


def thumbnail(image: Images) -> Images:
    """Return a copy of an image that a person can still recognise, of at most 96 pixels a side.

    >>> thumbnail(np.zeros((100, 200, 3), np.uint8)).shape, thumbnail(np.zeros((9, 8))).shape
    ((48, 96, 3), (9, 8))
    """
    height, width = image.shape[:2]
    if max(height, width) <= _THUMBNAIL_SIDE:
        return image.copy()
    shrink = _THUMBNAIL_SIDE / max(height, width)
    size = (max(1, round(height * shrink)), max(1, round(width * shrink)))
    # People see no difference if whole pixels are averaged first, and it takes less time.
    picture = Image.fromarray(image).resize(
        size[::-1], Image.Resampling.BILINEAR, reducing_gap=_REDUCING_GAP
    )
    return np.asarray(picture, np.uint8)


def min_decoded_side(size: tuple[int, ...]) -> int:
    """Return the pixels a side that decoding must keep, for a good resize and for a person."""
    return max(MAX_SHOWN_SIDE, 2 * max(size[:2]))


def encode(picture: Image.Image) -> bytes:
    """Return a plain picture as the bytes of a file: a lossless PNG if it is small, else a JPEG."""
    width, height = picture.size
    file = io.BytesIO()
    if width * height * len(picture.mode) <= MAX_KEPT_BYTES:
        picture.save(file, "PNG")
    else:
        small = picture.copy()
        small.thumbnail((MAX_SHOWN_SIDE, MAX_SHOWN_SIDE))
        small.save(file, "JPEG", quality=90)
    return file.getvalue()
