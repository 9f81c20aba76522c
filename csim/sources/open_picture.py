"""Decode the bytes of an image file to a plain picture: upright, 8 bits, grey or RGB.

csim reads JPEG, PNG, WebP, BMP and TIFF with 8 or 16 bits per channel. It reads AVIF if Pillow was
built with it, and HEIC with the plug-in of the extra `photos` (`phone_formats.py`). Many cameras
use only 10 or 12 of the 16: a TIFF may say how many, otherwise the caller does (`bits`). The first
bytes show the format, never the file name. A file must hold one picture: animations, TIFFs of
several pages and all GIFs are refused, because choosing one of their pictures would be a guess.
Extra pictures that phones hide in a JPEG (depth, previews) are ignored.

The size is checked before anything is decoded, because a tiny file can expand to gigabytes.
Whatever Pillow raises on hostile bytes becomes a `Trouble`.
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
from csim.sources.phone_formats import how_to_read, phone_readers

MAX_PIXELS = 64_000_000  # per file: 256 MB once decoded

# Not `Image.open`: it warns about large files, treats a phone's JPEG with a depth map as an
# animation, and tries every format that Pillow knows.
_READERS: dict[str, type[ImageFile]] = {
    "JPEG": JpegImageFile,
    "PNG": PngImageFile,
    "WebP": WebPImageFile,
    "BMP": BmpImageFile,
    "TIFF": TiffImageFile,
}

_RAW = "a camera's raw file"

# Offset, bytes, format. Formats without a reader are listed so that the trouble can name them.
_SIGNATURES = (
    (0, b"\xff\xd8\xff", "JPEG"),
    (0, b"\x89PNG\r\n\x1a\n", "PNG"),
    (8, b"WEBP", "WebP"),
    (0, b"BM", "BMP"),
    (0, b"II*\0\x10\0\0\0CR", _RAW),  # Canon; before TIFF, which it looks like
    (4, b"ftypcrx ", _RAW),  # Canon
    (0, b"FUJIFILMCCD-RAW", _RAW),
    (0, b"IIRO", _RAW),  # Olympus
    (0, b"IIRS", _RAW),
    (0, b"MMOR", _RAW),
    (0, b"IIU\0", _RAW),  # Panasonic
    (0, b"II*\0", "TIFF"),
    (0, b"MM\0*", "TIFF"),
    (0, b"II+\0", "TIFF"),
    (0, b"MM\0+", "TIFF"),
    (0, b"GIF8", "GIF"),
    (4, b"ftyphei", "HEIC"),
    (4, b"ftypmif1", "HEIC"),
    (4, b"ftyphevc", "a HEIC sequence"),
    (4, b"ftypmsf1", "a HEIC sequence"),
    (4, b"ftypavif", "AVIF"),
    (4, b"jP  \r\n", "JPEG 2000"),
    (0, b"\xff\x0a", "JPEG XL"),
    (4, b"JXL \r\n", "JPEG XL"),
    (0, b"8BPS", "Photoshop"),
    (0, b"%PDF", "PDF"),
)

_UNSUPPORTED: dict[str | None, tuple[str, str]] = {
    None: ("not-an-image", "none of these"),
    "GIF": ("animated", "a GIF, which may hold several pictures"),
}

_SUPPORTED_MODES = (
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

_NEW_SUBFILE_TYPE = 254  # tags of TIFF; bit 0: a small version of another picture
_BITS_PER_SAMPLE = 258
_MAX_SAMPLE_VALUE = 281
_SUB_IFDS = 330
_DNG_VERSION = 50706
_USED_BITS = "used_bits"  # in the `info` of a picture

_ROTATIONS = {  # by EXIF orientation
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


def open_picture(
    name: str, content: bytes, *, least: int | None = None, bits: int = 16
) -> Image.Image | Trouble:
    """Return the picture in a file, or a trouble if csim cannot read it.

    Parameters
    ----------
    name
        The id of the image, for the trouble.
    content
        All bytes of the file.
    least
        Pixels that each side must keep. A large JPEG is then decoded at a half, a quarter or an
        eighth of its size, in half the time. Higher keeps finer detail. None keeps full size.
    bits
        Bits that 16-bit files use, if the file does not say. Higher makes pictures darker.
    """
    if not content:
        return Trouble(name, "empty", "a file must hold an image, this one has no bytes")
    known = format_of(content)
    readers = _READERS | phone_readers()
    if known not in readers:
        kind, what = _UNSUPPORTED.get(known, ("unknown-format", known))
        reason = f"an image must be {', '.join(readers)}; by its first bytes this is {what}"
        return Trouble(name, kind, reason + how_to_read(known))
    try:
        picture = readers[known](io.BytesIO(content))
        if trouble := _refuse(name, known, picture):
            return trouble
        if least is not None:
            picture.draft(None, (least, least))
        picture.load()
        rotation = _ROTATIONS.get(_orientation(picture))
        stated = _stated_bits(picture)
        plain = make_plain(picture, stated or bits)
        if _is_sixteen_bit(picture) and stated is None:
            plain.info[_USED_BITS] = int(np.asarray(picture).max()).bit_length()
        return plain if rotation is None else plain.transpose(rotation)
    except (MemoryError, Image.DecompressionBombError) as error:
        return Trouble(
            name,
            "too-large",
            f"an image must have at most {MAX_PIXELS:,} pixels; Pillow says: {error}",
        )
    # A bad file must never end a stream, and Pillow documents no list of errors: 363,000 corrupted
    # files raised OSError, SyntaxError, ValueError, TypeError, IndexError and struct.error.
    except Exception as error:
        return Trouble(
            name, "damaged", f"a {known} must be complete, this one cannot be decoded: {error}"
        )


def format_of(content: bytes) -> str | None:
    """Return the image format that a file's first bytes show, or None if csim knows none."""
    for start, signature, known in _SIGNATURES:
        if content.startswith(signature, start):
            return known
    return None


def make_plain(picture: Image.Image, bits: int = 16) -> Image.Image:
    """Return a picture with 8 bits and no transparency: mode "L" if it is grey, else "RGB".

    Of the `bits` that a 16-bit picture uses, the upper 8 are kept; brighter values become white.
    Higher makes the picture darker. Transparent parts become white, like the pages that such
    pictures are made for. The colours stored under full transparency are arbitrary, so dropping the
    alpha channel would show noise.
    """
    if _is_sixteen_bit(picture):
        scaled = np.asarray(picture) >> (bits - 8)
        return Image.fromarray(np.minimum(scaled, 255).astype(np.uint8))
    grey_or_colour = "L" if picture.mode in ("1", "L", "LA") else "RGB"
    if picture.has_transparency_data:
        background = Image.new("RGBA", picture.size, "white")
        background.alpha_composite(picture.convert("RGBA"))
        picture = background
    return picture if picture.mode == grey_or_colour else picture.convert(grey_or_colour)


def used_bits(picture: Image.Image) -> int | None:
    """Return how many bits the brightest pixel needed in the 16-bit grey file of a picture.

    None for any other file, and for one that says how many it uses.

    Parameters
    ----------
    picture
        As `open_picture` returned it.
    """
    return picture.info.get(_USED_BITS)


def _is_sixteen_bit(picture: Image.Image) -> bool:
    return picture.mode.startswith("I;16")


def _stated_bits(picture: ImageFile) -> int | None:
    """Return the bits that a TIFF says its 16-bit pixels use; None if it says nothing.

    A PNG has nothing to say: by its standard, 16 bits always use their whole range.
    """
    if not isinstance(picture, TiffImageFile):
        return None
    (bits, *_) = picture.tag_v2.get(_BITS_PER_SAMPLE, (16,))
    largest = picture.tag_v2.get(_MAX_SAMPLE_VALUE, 0)
    if isinstance(largest, tuple):
        largest = max(largest)
    stated = int(largest).bit_length() if largest else int(bits)
    return stated if 8 < stated < 16 else None


def _refuse(name: str, known: str, picture: ImageFile) -> Trouble | None:
    """Return why csim refuses a picture, from its header alone; None if it does not."""
    if isinstance(picture, TiffImageFile) and _is_raw(picture):
        reason = f"an image must be developed, this TIFF is {_RAW}; export it as a JPEG"
        return Trouble(name, "unknown-format", reason)
    if getattr(picture, "is_animated", False):
        return Trouble(
            name, "animated", f"a file must hold one picture, this {known} holds several"
        )
    if picture.width * picture.height > MAX_PIXELS:
        size = f"{picture.width}×{picture.height}"
        reason = f"an image must have at most {MAX_PIXELS:,} pixels, this one has {size}"
        return Trouble(name, "too-large", reason)
    if picture.mode not in _SUPPORTED_MODES:
        reason = f"an image must have 8 or 16 bits per channel, this one has mode {picture.mode}"
        return Trouble(name, "unknown-format", reason)
    return None


def _is_raw(picture: TiffImageFile) -> bool:
    """Tell whether a TIFF is a camera's raw file (DNG, NEF, ARW), which opens as its preview."""
    tags = picture.tag_v2
    is_preview = tags.get(_NEW_SUBFILE_TYPE, 0) & 1 and _SUB_IFDS in tags
    return bool(_DNG_VERSION in tags or is_preview)


def _orientation(picture: ImageFile) -> int:
    """Return the EXIF orientation; 1 (upright) if the EXIF data is damaged."""
    try:
        return int(picture.getexif().get(Base.Orientation, 1))
    except (OSError, SyntaxError, ValueError, TypeError, LookupError, struct.error):
        return 1
