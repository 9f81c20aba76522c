"""The values that a source yields: images before and after decoding, and reports of failures.

A source is any iterable of `Arrival`. It may also yield a `Trouble` for an image that it cannot
deliver, and None for "nothing new yet". A live source yields a None at least every half second, so
that its reader can do other work. A finite source never does. The `id` of an image is permanent:
whatever arrives again under the same id is the same image.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from csim.records import Images

KINDS = (
    "vanished",  # the file no longer exists
    "unreadable",  # the system refuses to read it, or it is not a regular file
    "empty",  # zero bytes
    "not-an-image",  # bytes of no known image format, or an array that is not an image
    "unknown-format",  # an image in a format or bit depth that csim does not read
    "damaged",  # starts like an image but cannot be decoded to the end
    "too-large",  # more bytes or pixels than the limit
    "animated",  # several pictures in one file
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """Hold an image to be decoded: a unique id, and a path, the bytes of a file, or an array."""

    id: str
    picture: Path | bytes | Images = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Decoded:
    """Hold an image in the stream's shape, and the bytes that show it to a person."""

    id: str
    image: Images = field(compare=False, repr=False)  # (h, w) or (h, w, 3)
    kept: bytes = field(compare=False, repr=False)  # an encoded image file


@dataclass(frozen=True, slots=True)
class Trouble:
    """Report an image that csim cannot use.

    `kind` is one of `KINDS`. `reason` is a sentence: what must hold, and what came instead.
    """

    id: str
    kind: str
    reason: str


Source = Iterable[Arrival | Trouble | None]
