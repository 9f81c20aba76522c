"""Look at a stream's first images, and choose the shape of all its images from them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from csim.errors import InputError
from csim.sources.arrays import check_size
from csim.sources.arrival import Arrival, Trouble
from csim.sources.files import read_file
from csim.sources.open_picture import open_picture

LARGEST_SIDE = 64  # pixels, for csim's own network: small images train in seconds


@dataclass(frozen=True)
class Survey:
    """Hold the sizes of some images, (height, width), and whether all are grey."""

    sizes: frozenset[tuple[int, int]]
    is_grey: bool

    @property
    def shortest_side(self) -> int:
        """Return the number of pixels of the shortest side of all images."""
        return min(min(size) for size in self.sizes)

    @property
    def longest_side(self) -> int:
        """Return the number of pixels of the longest side of all images."""
        return max(max(size) for size in self.sizes)


def survey(arrivals: Iterable[Arrival]) -> Survey:
    """Return what sizes and colours image files have; raise an `InputError` for a bad file."""
    found = {_size_and_mode(arrival) for arrival in arrivals}
    return Survey(frozenset(size for size, _ in found), all(mode == "L" for _, mode in found))


def common_shape(found: Survey, size: tuple[int, int] | None, *, largest: int) -> tuple[int, ...]:
    """Return (height, width) if all images are grey, else (height, width, 3).

    Parameters
    ----------
    found
        What sizes and colours the images have.
    size
        Height and width to use. None uses the size of the files if they all have the same and it
        is not above `largest`; otherwise a square of side `largest`.
    largest
        Pixels a side that a shape has at most if no `size` is given. Higher keeps finer detail but
        takes more time.

    Examples
    --------
    >>> common_shape(Survey(frozenset({(28, 28)}), is_grey=True), None, largest=64)
    (28, 28)
    >>> common_shape(Survey(frozenset({(28, 28), (30, 90)}), is_grey=False), None, largest=64)
    (64, 64, 3)
    """
    if size is None:
        only = next(iter(found.sizes)) if len(found.sizes) == 1 else (largest, largest)
        size = only if max(only) <= largest else (largest, largest)
    check_size(*size)
    return size if found.is_grey else (*size, 3)


def _size_and_mode(arrival: Arrival) -> tuple[tuple[int, int], str]:
    """Return the height and width of a file, and its mode: "L" if it is grey, else "RGB"."""
    assert isinstance(arrival.picture, Path)
    content = read_file(arrival.id, arrival.picture)
    picture = content if isinstance(content, Trouble) else open_picture(arrival.id, content)
    if isinstance(picture, Trouble):
        raise InputError(
            f"{arrival.picture} must be an image: {picture.reason}; repair or remove it"
        )
    return (picture.height, picture.width), picture.mode
