"""Image files that several tests read, intact and damaged."""

import io
import struct
import zlib

import numpy as np
from PIL import Image

KINDS = ("jpeg", "png", "webp", "bmp", "tiff")


def encode(picture, kind="png", **options):
    """Return a Pillow image, or an array, as the bytes of a file."""
    file = io.BytesIO()
    (Image.fromarray(picture) if isinstance(picture, np.ndarray) else picture).save(
        file, kind, **options
    )
    return file.getvalue()


def decode_png(content):
    """Return what a file shows, by plain Pillow."""
    with Image.open(io.BytesIO(content)) as picture:
        return np.asarray(picture)


def noise(*shape, seed=0):
    return np.random.default_rng(seed).integers(0, 256, shape, dtype=np.uint8)


def shades(height, width):
    """Return a grey gradient that JPEG hardly changes: lighter to the right and downwards."""
    down, right = np.mgrid[:height, :width]
    return np.rint(right * 150 / width + down * 100 / height).astype(np.uint8)


def save(content, path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def png_with(width, height, depth, pixels):
    """Return a grey PNG built by hand from a header and a zlib stream of pixels."""

    def chunk(kind, content):
        return (
            struct.pack(">I", len(content))
            + kind
            + content
            + struct.pack(">I", zlib.crc32(kind + content))
        )

    header = struct.pack(">IIBBBBB", width, height, depth, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    )


def black(width, height):
    """Return a PNG of one bit per pixel, all black, without ever holding its pixels in memory."""
    rows = height // 40
    packer = zlib.compressobj(9, wbits=-15)
    # A full flush makes the block independent, so that it can be repeated.
    block = packer.compress(bytes(rows * (width // 8 + 1))) + packer.flush(zlib.Z_FULL_FLUSH)
    size = 40 * rows * (width // 8 + 1)
    adler = (size % 65_521) << 16 | 1
    return png_with(
        width, 40 * rows, 1, b"\x78\xda" + 40 * block + packer.flush() + struct.pack(">I", adler)
    )


def sideways(image, orientation):
    """Return an image as a camera stores it for an EXIF orientation."""
    stored = {
        1: image,
        2: image[:, ::-1],
        3: image[::-1, ::-1],
        4: image[::-1],
        5: image.swapaxes(0, 1),
        6: np.rot90(image, 1),
        7: image[::-1, ::-1].swapaxes(0, 1),
        8: np.rot90(image, -1),
    }
    return np.ascontiguousarray(stored[orientation])


def exif(orientation):
    note = Image.Exif()
    note[0x0112] = orientation
    return note
