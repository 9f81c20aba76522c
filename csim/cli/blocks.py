"""Pictures in a terminal: each character shows two pixels, one above the other."""

from __future__ import annotations

import io
from collections.abc import Sequence

from PIL import Image
from rich.color import Color
from rich.style import Style
from rich.text import Text

_LARGEST = 28  # characters across: a picture and its question fit on one screen


def side_by_side(files: Sequence[bytes], across: int = _LARGEST) -> Text:
    """Return pictures beside each other, all of one height.

    Parameters
    ----------
    files
        Image files.
    across
        Characters across for each. Raising it shows finer detail.
    """
    pictures = [_reduced(file, across) for file in files]
    text = Text()
    for row in range(0, max((picture.height for picture in pictures), default=0), 2):
        for picture in pictures:
            for column in range(picture.width):
                text.append(
                    "▀",
                    Style(
                        color=_colour(picture, column, row),
                        bgcolor=_colour(picture, column, row + 1),
                    ),
                )
            text.append("  ")
        text.append("\n")
    return text


def _reduced(file: bytes, across: int) -> Image.Image:
    with Image.open(io.BytesIO(file)) as picture:
        colour = picture.convert("RGB")
    height = max(2, round(across * colour.height / colour.width / 2) * 2)
    return colour.resize((across, min(height, 2 * across)), Image.Resampling.BILINEAR)


def _colour(picture: Image.Image, column: int, row: int) -> Color:
    if row >= picture.height:
        return Color.default()
    pixel = picture.getpixel((column, row))
    assert isinstance(pixel, tuple)
    return Color.from_rgb(*pixel[:3])
