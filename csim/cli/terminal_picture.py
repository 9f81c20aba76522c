"""Pictures in a terminal: each character shows two pixels, one above the other."""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image
from rich.color import Color
from rich.style import Style
from rich.text import Text

_DEFAULT_WIDTH = 28  # characters: a picture and its question fit on one screen


def draw_side_by_side(files: Sequence[bytes], width: int = _DEFAULT_WIDTH) -> Text:
    """Return pictures beside each other.

    Parameters
    ----------
    files
        The contents of image files.
    width
        Characters across for each picture. Higher shows finer detail.
    """
    pictures = [_resize(file, width) for file in files]
    text = Text()
    for row in range(0, max((picture.height for picture in pictures), default=0), 2):
        for picture in pictures:
            for column in range(picture.width):
                upper = _colour(picture, column, row)
                lower = _colour(picture, column, row + 1)
                text.append("▀", Style(color=upper, bgcolor=lower))
            text.append("  ")
        text.append("\n")
    return text


def _resize(file: bytes, width: int) -> Image.Image:
    with Image.open(io.BytesIO(file)) as picture:
        colour = picture.convert("RGB")
    height = max(2, round(width * colour.height / colour.width / 2) * 2)
    return colour.resize((width, min(height, 2 * width)), Image.Resampling.BILINEAR)


def _colour(picture: Image.Image, column: int, row: int) -> Color:
    if row >= picture.height:
        return Color.default()
    pixel = picture.getpixel((column, row))
    assert isinstance(pixel, tuple)
    return Color.from_rgb(*pixel[:3])
