"""What a source gives: images on their way in, before and after they are decoded.

A source is any iterable of `Arrival`. It may also give a `Trouble` for what could not be taken, and None for "nothing
new for now": a live source gives one at least every half second, so that the one who reads it can do other work; a
finite source never does. An image has one `id` for ever: what comes again under it is the same image.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from csim.records import Images

KINDS = (
    "vanished",  # there is no such file any more
    "unreadable",  # the system does not let it be read, or it is no file
    "empty",  # not a single byte
    "not-an-image",  # bytes of no known image format, or an array that is no image
    "unknown-format",  # an image, but of a format or a depth that is not taken
    "damaged",  # begins like an image and cannot be decoded to its end
    "too-large",  # more bytes or pixels than the limit
    "animated",  # several pictures in one file
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """An image on its way in: a unique text, and a file, the bytes of one, or an array."""

    id: str
    picture: Path | bytes | Images = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Decoded:
    """An image of the stream's shape, and the bytes to show to a person."""

    id: str
    image: Images = field(compare=False, repr=False)  # (h, w) or (h, w, 3)
    kept: bytes = field(compare=False, repr=False)  # an encoded image file


@dataclass(frozen=True, slots=True)
class Trouble:
    """A file that could not be taken: one word of `KINDS`, and a sentence that says what must hold and what came."""

    id: str
    kind: str
    reason: str


Source = Iterable[Arrival | Trouble | None]
