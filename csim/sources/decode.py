"""An arrival as an image of the stream's shape, or the trouble with it.

What is taken, and what becomes of size, colour, depth and transparency, is told in `picture` and `pixels`; here the two
are joined. Besides the image, bytes are kept to be shown to a person. They are the file's own if these are at most 1 MB
and of a format that browsers show, which is all but TIFF. Otherwise, and for arrays, they are a PNG if the picture has
at most 1 MB unpacked, else a JPEG (quality 90) of at most 1,024 pixels a side.
"""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from csim.errors import InputError
from csim.records import Images
from csim.sources.arrays import check_images
from csim.sources.arrival import Arrival, Decoded, Trouble
from csim.sources.files import read_file
from csim.sources.open_picture import format_of, open_picture
from csim.sources.resize import MOST_KEPT, encode, least_side, to_array


def decode(arrival: Arrival, shape: tuple[int, ...]) -> Decoded | Trouble:
    """Return an image of the stream's shape, whatever the arrival's size, colours and format.

    Parameters
    ----------
    arrival
        A file is read now; an array must be as `check_images` wants a single image.
    shape
        Of the stream's images, (h, w) or (h, w, 3).

    Examples
    --------
    >>> import numpy as np
    >>> decode(Arrival("a", np.full((100, 200, 3), 7, np.uint8)), (2, 2)).image.tolist()
    [[7, 7], [7, 7]]
    >>> decode(Arrival("b", b"just text"), (2, 2)).kind
    'not-an-image'
    """
    given = arrival.picture
    content = read_file(arrival.id, given) if isinstance(given, Path) else given
    if isinstance(content, Trouble):
        return content
    if isinstance(content, bytes):
        return _from_bytes(arrival.id, content, shape)
    return _from_array(arrival.id, content, shape)


def _from_bytes(name: str, content: bytes, shape: tuple[int, ...]) -> Decoded | Trouble:
    picture = open_picture(name, content, least=least_side(shape))
    if isinstance(picture, Trouble):
        return picture
    is_shown = len(content) <= MOST_KEPT and format_of(content) != "TIFF"
    return Decoded(name, to_array(picture, shape), content if is_shown else encode(picture))


def _from_array(name: str, array: Images, shape: tuple[int, ...]) -> Decoded | Trouble:
    try:
        image = check_images([array])[0]
    except InputError as error:
        return Trouble(name, "not-an-image", str(error))
    picture = Image.fromarray(image)
    return Decoded(name, to_array(picture, shape), encode(picture))
