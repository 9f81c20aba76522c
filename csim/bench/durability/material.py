"""Streams for the measurements: any number of scikit-learn's digits with noise, as files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from csim.bench.datasets.digits import digits
from csim.folder.layout import Config
from csim.folder.make import make
from csim.records import Images
from csim.settings import Settings
from csim.sources.arrival import Arrival, Decoded
from csim.sources.decode import decode

KNOWN = ("0", "1", "2")
_LABELLED_PER_CLASS = 60


def noisy_digits(count: int, seed: int) -> tuple[Images, list[str]]:
    """Return digits with noise, (n, 8, 8), no two alike, and their names.

    Each new class appears later than the one before.

    Parameters
    ----------
    count
        How many images. Higher makes the stream longer.
    seed
        Draws the order and the noise.
    """
    data = digits()
    rng = np.random.default_rng(seed)
    drawn = rng.integers(0, len(data.images), 2 * count)
    names = np.asarray(data.names)[drawn]
    # The position at which the class of each image begins.
    first = np.maximum(0, names.astype(int) - len(KNOWN) + 1) * count // 12
    order = np.flatnonzero(np.arange(2 * count) // 2 >= first)[:count]
    noise = rng.integers(0, 25, (len(order), 8, 8))
    images = np.clip(data.images[drawn[order]].astype(int) + noise, 0, 255).astype(np.uint8)
    return images, [str(name) for name in names[order]]


def write_files(folder: Path, images: Images) -> None:
    """Write images as PNG files, named by their position."""
    folder.mkdir(parents=True)
    for place, image in enumerate(images, start=1):
        Image.fromarray(image).save(folder / f"{place:07d}.png")


def make_stream(root: Path, settings: Settings, seed: int, **config: Any) -> None:  # noqa: ANN401
    """Make a stream folder that knows three digits."""
    images, names = noisy_digits(4000, seed + 1_000_000)
    chosen = [index for name in KNOWN for index in _first(names, name)]
    make_folder(root, settings, images[chosen], [names[index] for index in chosen], **config)


def make_folder(
    root: Path,
    settings: Settings,
    images: Images,
    names: Sequence[str],
    **config: Any,  # noqa: ANN401
) -> None:
    """Make a stream folder that knows labelled images."""
    shape = images.shape[1:]
    arrivals = [as_decoded(f"labelled/{index}", image) for index, image in enumerate(images)]
    make(root, Config(settings, shape, **config), arrivals, names)


def endless(seed: int) -> Iterator[Arrival]:
    """Yield digits without end."""
    count = 0
    while True:
        images, _ = noisy_digits(5000, seed + count)
        for image in images:
            count += 1
            yield Arrival(f"{count:08d}", image)


def _first(names: Sequence[str], name: str) -> list[int]:
    return [index for index, other in enumerate(names) if other == name][:_LABELLED_PER_CLASS]


def as_decoded(item_id: str, image: Images) -> Decoded:
    """Return an image as a source delivers it."""
    decoded = decode(Arrival(item_id, image), image.shape)
    assert isinstance(decoded, Decoded)
    return decoded
