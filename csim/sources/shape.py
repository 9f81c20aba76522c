"""The shape that a stream's images are brought to, by what its first images look like."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from csim.errors import InputError
from csim.sources.arrays import SMALLEST
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
        Height and width; if not given, the images' own if they are all alike and not too large.
    largest
        Pixels a side that images of their own size may have at most, and get if they differ or have more. Raising it
        shows finer detail and costs time.
    """
    looks = {_look(arrival) for arrival in arrivals}
    sizes, is_grey = {own for own, _ in looks}, all(mode == "L" for _, mode in looks)
    if size is None:
        own = next(iter(sizes)) if len(sizes) == 1 else (largest, largest)
        size = own if max(own) <= largest else (largest, largest)
    if min(size) < SMALLEST:
        raise InputError(
            f"images must have at least {SMALLEST}×{SMALLEST} pixels, got {size[0]}×{size[1]}; choose a size"
        )
    return size if is_grey else (*size, 3)


def _look(arrival: Arrival) -> tuple[tuple[int, int], str]:
    """Return a file's height and width, and whether it is grey ("L") or in colour."""
    assert isinstance(arrival.picture, Path)
    content = read_file(arrival.id, arrival.picture)
    picture = content if isinstance(content, Trouble) else open_picture(arrival.id, content)
    if isinstance(picture, Trouble):
        raise InputError(f"{arrival.picture} must be an image: {picture.reason}; mend or remove it")
    return (picture.height, picture.width), picture.mode
