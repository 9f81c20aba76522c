"""The formats that phones write, HEIC and AVIF, which Pillow reads only with a plug-in."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from PIL import features
from PIL.AvifImagePlugin import AvifImageFile
from PIL.ImageFile import ImageFile

_HOW = {
    "HEIC": "; to read it, type pip install 'csim-stream[photos]'",
    "AVIF": "; to read it, install Pillow from PyPI, which is built with AVIF",
}


@cache
def phone_readers() -> dict[str, type[ImageFile]]:
    """Return the readers that are installed, by format."""
    readers: dict[str, type[ImageFile]] = {}
    if features.check("avif"):
        readers["AVIF"] = AvifImageFile
    try:
        readers["HEIC"] = import_module("pillow_heif").HeifImageFile
    except ImportError:
        return readers
    return readers


def how_to_read(known: str | None) -> str:
    """Return what to install for a format, as the end of a sentence; empty if nothing helps."""
    return _HOW.get(known or "", "")
