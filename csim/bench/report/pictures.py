"""A picture taken into a page: a PNG file as an element that needs no other file."""

from __future__ import annotations

import base64
import io
from html import escape

from PIL import Image

from csim.errors import InputError

_PAGE_DPI = 96  # pixels of a page per inch
_SMALLEST = 0.8  # a picture shrinks this far; then it is scrolled, so that its words stay readable
_LARGEST = 1.1


def inline(content: bytes, *, dpi: float, description: str) -> str:
    """Return a PNG file as an `<img>` element that fits its page's width.

    Parameters
    ----------
    content
        The file.
    dpi
        Its pixels per inch. Higher shows it smaller.
    description
        What the picture shows, for readers who cannot see it.
    """
    try:
        with Image.open(io.BytesIO(content), formats=["PNG"]) as image:
            width, height = image.size
            image.load()
    except (OSError, SyntaxError, ValueError) as error:
        raise InputError(f"it must be a PNG picture ({error})") from error
    shown = width * _PAGE_DPI / dpi
    style = f"min-width: {_SMALLEST * shown:.0f}px; max-width: {_LARGEST * shown:.0f}px"
    return (
        f'<img src="data:image/png;base64,{base64.b64encode(content).decode()}" width="{width}" '
        f'height="{height}" style="{style}" alt="{escape(description)}">'
    )
