"""The bytes of an image file as a plain picture: upright, 8 bits, grey or RGB. Or why they are none.

Taken are JPEG, PNG, WebP, BMP and TIFF, told by their first bytes and never by the file's name, with 8 or 16 bits a
channel. A file must hold one picture: animations, TIFFs of several pages and all GIFs are refused, since any choice
among their pictures would be a guess. Further pictures that phones hide in a JPEG (depth, previews) are passed over.

The size is checked before anything is decoded, for a tiny file can unpack to gigabytes. Whatever hostile bytes make
Pillow raise becomes a `Trouble`.
"""

from __future__ import annotations

import io
import struct

import numpy as np
from PIL import Image
from PIL.BmpImagePlugin import BmpImageFile
from PIL.ExifTags import Base
from PIL.ImageFile import ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.TiffImagePlugin import TiffImageFile
from PIL.WebPImagePlugin import WebPImageFile

from csim.sources.arrival import Trouble

MOST_PIXELS = 64_000_000  # per file: 256 MB once decoded

# Pillow's readers are called by name: its own `Image.open` warns about large files, takes a phone's JPEG with a depth
# map for an animation, and would try every format it knows.
_READERS: dict[str, type[ImageFile]] = {
    "JPEG": JpegImageFile,
    "PNG": PngImageFile,
    "WebP": WebPImageFile,
    "BMP": BmpImageFile,
    "TIFF": TiffImageFile,
}

_BEGINNINGS = (  # where, what, of which format; those without a reader are known so that a refusal can name them
    (0, b"\xff\xd8\xff", "JPEG"),
    (0, b"\x89PNG\r\n\x1a\n", "PNG"),
    (8, b"WEBP", "WebP"),
    (0, b"BM", "BMP"),
    (0, b"II*\0", "TIFF"),
    (0, b"MM\0*", "TIFF"),
    (0, b"II+\0", "TIFF"),
    (0, b"MM\0+", "TIFF"),
    (0, b"GIF8", "GIF"),
    (4, b"ftyphei", "HEIC"),
    (4, b"ftypmif1", "HEIC"),
    (4, b"ftypavif", "AVIF"),
    (4, b"jP  \r\n", "JPEG 2000"),
    (0, b"\xff\x0a", "JPEG XL"),
    (4, b"JXL \r\n", "JPEG XL"),
    (0, b"8BPS", "Photoshop"),
    (0, b"%PDF", "PDF"),
)

_FOREIGN: dict[str | None, tuple[str, str]] = {
    None: ("not-an-image", "none of these"),
    "GIF": ("animated", "a GIF, which may hold several pictures"),
}

_MODES = (
    "1",
    "L",
    "LA",
    "P",
    "PA",
    "RGB",
    "RGBX",
    "RGBA",
    "RGBa",
    "CMYK",
    "YCbCr",
    "HSV",
    "I;16",
    "I;16B",
)

_TURNS = {  # by EXIF orientation
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def open_picture(name: str, content: bytes, *, least: int | None = None) -> Image.Image | Trouble:
    """Return the picture that a file holds.

    Parameters
    ----------
    name
        The id of the image, for the trouble.
    content
        All bytes of the file.
    least
        Pixels that either side must keep, if less than the whole picture will do: a large JPEG is then decoded to a
        half, a quarter or an eighth of its size, in half the time. Raising it keeps finer detail.
    """
    if not content:
        return Trouble(name, "empty", "a file must hold an image, this one has no bytes")
    known = format_of(content)
    if known not in _READERS:
        kind, what = _FOREIGN.get(known, ("unknown-format", known))
        return Trouble(
            name, kind, f"an image must be {', '.join(_READERS)}; by its first bytes this is {what}"
        )
    try:
        picture = _READERS[known](io.BytesIO(content))
        if trouble := _refuse(name, known, picture):
            return trouble
        if least is not None:
            picture.draft(None, (least, least))
        picture.load()
        turn = _TURNS.get(_orientation(picture))
        plain = make_plain(picture)
        return plain if turn is None else plain.transpose(turn)
    except (MemoryError, Image.DecompressionBombError) as error:
        return Trouble(
            name,
            "too-large",
            f"an image must have at most {MOST_PIXELS:,} pixels; Pillow says: {error}",
        )
    # A file from outside must never end a stream, and what Pillow raises on hostile bytes is promised nowhere: 363,000
    # spoilt files raised OSError, SyntaxError, ValueError, TypeError, IndexError and struct.error.
    except Exception as error:
        return Trouble(
            name, "damaged", f"a {known} must be whole, this one cannot be decoded: {error}"
        )


def format_of(content: bytes) -> str | None:
    """Return the name of an image format by a file's first bytes, None if they are of none."""
    for start, beginning, known in _BEGINNINGS:
        if content.startswith(beginning, start):
            return known
    return None


def make_plain(picture: Image.Image) -> Image.Image:
    """Return a picture of any mode as one of 8 bits without transparency: "L" if it is grey, else "RGB".

    Of 16 bits the upper 8 remain. What is transparent shows white paper, as on most pages that such pictures are made
    for; the colours stored below full transparency are chance, so that dropping the alpha channel would show noise.
    """
    if picture.mode.startswith("I;16"):
        return Image.fromarray((np.asarray(picture) >> 8).astype(np.uint8))
    grey_or_colour = "L" if picture.mode in ("1", "L", "LA") else "RGB"
    if picture.has_transparency_data:
        paper = Image.new("RGBA", picture.size, "white")
        paper.alpha_composite(picture.convert("RGBA"))
        picture = paper
    return picture if picture.mode == grey_or_colour else picture.convert(grey_or_colour)


def _refuse(name: str, known: str, picture: ImageFile) -> Trouble | None:
    """Return what speaks against a picture whose header alone has been read."""
    if getattr(picture, "is_animated", False):
        return Trouble(
            name, "animated", f"a file must hold one picture, this {known} holds several"
        )
    if picture.width * picture.height > MOST_PIXELS:
        reason = f"an image must have at most {MOST_PIXELS:,} pixels, this one has {picture.width}×{picture.height}"
        return Trouble(name, "too-large", reason)
    if picture.mode not in _MODES:
        reason = f"an image must have 8 or 16 bits a channel, grey or colour, this one is of mode {picture.mode}"
        return Trouble(name, "unknown-format", reason)
    return None


def _orientation(picture: ImageFile) -> int:
    """Return how the camera was held; upright if the note about it is damaged, for the image itself is not."""
    try:
        return int(picture.getexif().get(Base.Orientation, 1))
    except (OSError, SyntaxError, ValueError, TypeError, LookupError, struct.error):
        return 1
