"""Decode an arrival to an image of the stream's shape, or say why that fails.

`open_picture` says which files csim reads, and what happens to colour, depth and transparency.
`resize` says what happens to size. This module joins the two.

Besides the image csim keeps bytes to show to a person. They are the file itself if it has at most 1
MB and browsers can show its format, which is true of all but TIFF and HEIC. Otherwise, and for
arrays, they are a PNG if the uncompressed picture has at most 1 MB. Else they are a JPEG (quality
90) of at most 1,024 pixels a side.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from PIL import Image

from csim.errors import InputError
from csim.records import Images
from csim.sources.arrays import check_images
from csim.sources.arrival import Arrival, Decoded, Trouble
from csim.sources.files import read_file
from csim.sources.open_picture import format_of, open_picture, used_bits
from csim.sources.resize import MAX_KEPT_BYTES, encode, min_decoded_side, to_array

_NOT_SHOWN = ("TIFF", "HEIC")  # by browsers


def decode(arrival: Arrival, shape: tuple[int, ...], bits: int = 16) -> Decoded | Trouble:
    """Return an arrival of any size, colour and format as an image of the stream's shape.

    Parameters
    ----------
    arrival
        If it is a path, the file is read now. An array must be a single image that
        `check_images` accepts.
    shape
        The shape of the stream's images, (h, w) or (h, w, 3).
    bits
        Bits that 16-bit files use, if the file does not say. Higher makes images darker.

    Examples
    --------
    >>> import numpy as np
    >>> decode(Arrival("a", np.full((100, 200, 3), 7, np.uint8)), (2, 2)).image.tolist()
    [[7, 7], [7, 7]]
    >>> decode(Arrival("b", b"just text"), (2, 2)).kind
    'not-an-image'
    """
    picture = arrival.picture
    content = read_file(arrival.id, picture) if isinstance(picture, Path) else picture
    if isinstance(content, Trouble):
        return content
    if isinstance(content, bytes):
        found = _from_bytes(arrival.id, content, shape, bits)
    else:
        found = _from_array(arrival.id, content, shape)
    if arrival.source_name is None or isinstance(found, Trouble):
        return found
    return replace(found, source_name=arrival.source_name)


def _from_bytes(name: str, content: bytes, shape: tuple[int, ...], bits: int) -> Decoded | Trouble:
    picture = open_picture(name, content, least=min_decoded_side(shape), bits=bits)
    if isinstance(picture, Trouble):
        return picture
    depth = used_bits(picture)
    is_bright = bits == 16 or depth is None  # a browser would show 12 bits of 16 nearly black
    is_known = format_of(content) not in _NOT_SHOWN
    is_shown_as_is = len(content) <= MAX_KEPT_BYTES and is_known and is_bright
    kept = content if is_shown_as_is else encode(picture)
    return Decoded(name, to_array(picture, shape), kept, used_bits=depth)


def _from_array(name: str, array: Images, shape: tuple[int, ...]) -> Decoded | Trouble:
    try:
        image = check_images([array])[0]
    except InputError as error:
        return Trouble(name, "not-an-image", str(error))
    picture = Image.fromarray(image)
    return Decoded(name, to_array(picture, shape), encode(picture))
