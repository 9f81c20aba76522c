"""Choose the shape of a stream's images from its first images."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from csim.errors import InputError
from csim.sources.arrays import MIN_SIDE
from csim.sources.arrival import Arrival, Trouble
from csim.sources.files import read_file
from csim.sources.open_picture import open_picture


def common_shape(
    arrivals: Iterable[Arrival], size: tuple[int, int] | None, *, largest: int
) -> tuple[int, ...]:
    """Return (height, width) if all images are grey, else (height, width, 3).

    Parameters
    ----------
    arrivals
        Image files.
    size
        Height and width to use. None uses the size of the files if they all have the same and it
        is not above `largest`; otherwise a square of side `largest`.
    largest
        Pixels a side that a shape has at most if no `size` is given. Higher keeps finer detail but
        takes more time.
    """
    found = {_size_and_mode(arrival) for arrival in arrivals}
    sizes = {file_size for file_size, _ in found}
    is_grey = all(mode == "L" for _, mode in found)
    if size is None:
        only = next(iter(sizes)) if len(sizes) == 1 else (largest, largest)
        size = only if max(only) <= largest else (largest, largest)
    if min(size) < MIN_SIDE:
        raise InputError(
            f"images must have at least {MIN_SIDE}×{MIN_SIDE} pixels, got {size[0]}×{size[1]}; "
            "choose a larger size"
        )
    return size if is_grey else (*size, 3)


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
