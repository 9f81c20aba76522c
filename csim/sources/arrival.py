"""The values that a source yields: images before and after decoding, and reports of failures.

A source is any iterable of `Arrival`. It may also yield a `Decoded` image that was decoded, and
perhaps embedded, elsewhere, a `Trouble` for an image that it cannot deliver, and None for "nothing
new yet". A live source yields a None at least every half second, so that its reader can do other
work. A finite source never does. The `id` of an image is permanent: whatever arrives again under
the same id is the same image.

A source with a method `settle` hears which of its images are safe in the folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from csim.records import Images, View

KINDS = (
    "vanished",  # the file no longer exists
    "unreadable",  # the system refuses to read it, or it is not a regular file
    "empty",  # zero bytes
    "not-an-image",  # bytes of no known image format, or an array that is not an image
    "unknown-format",  # an image in a format or bit depth that csim does not read
    "damaged",  # starts like an image but cannot be decoded to the end
    "too-large",  # more bytes or pixels than the limit
    "animated",  # several pictures in one file
    "name-reused",  # another image had this name before
    "no-image",  # a message of a broker without an image, or with one that is not as announced
    "poison",  # a message of a broker at which csim ended again and again
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """Hold an image to be decoded: a unique id, and a path, the bytes of a file, or an array.

    `is_fresh` if it was seen to appear or change just now: it may be another image of a known id.
    `source_name` says which camera it is of, if the stream has several.
    """

    id: str
    picture: Path | bytes | Images = field(compare=False, repr=False)
    is_fresh: bool = field(default=False, compare=False, repr=False)
    source_name: str | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Decoded:
    """Hold an image in the stream's shape, and the bytes that show it to a person."""

    id: str
    image: Images = field(compare=False, repr=False)  # (h, w) or (h, w, 3)
    kept: bytes = field(compare=False, repr=False)  # an encoded image file
    # Of the bytes that a client sent; None for an image of a source.
    fingerprint: bytes | None = field(default=None, compare=False, repr=False)
    source_name: str | None = field(default=None, compare=False, repr=False)
    view: View | None = field(default=None, compare=False, repr=False)  # if it was embedded too
    # Of the brightest pixel, in a 16-bit file that does not say how many it uses.
    used_bits: int | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Report an image that csim cannot use.

    `kind` is one of `KINDS`. `reason` is a sentence: what must hold, and what came instead.
    """

    id: str
    kind: str
    reason: str


Source = Iterable[Arrival | Decoded | Trouble | None]


@runtime_checkable
class AcknowledgedSource(Protocol):
    """Give images, and hear what became of them; what csim never settles comes again."""

    def __iter__(self) -> Iterator[Arrival | Decoded | Trouble | None]:
        """Yield images, as any source does."""
        ...

    def settle(self, taken: Sequence[str], troubles: Sequence[Trouble]) -> None:
        """Take note of the ids that are safe in the folder, and of what cannot be used."""
        ...
