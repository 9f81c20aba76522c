"""What the engine sees of images: as items, and as bytes of the log.

It is their pixels, or the vectors that a frozen encoder made of them. A replay then needs neither
the encoder nor the pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from safetensors.numpy import load, save

from csim.records import GivenViews, Images, Item, ItemId
from csim.sources.arrival import Decoded

if TYPE_CHECKING:  # readers of a folder need no torch
    from csim.embed.encoder import CheckedEncoder

_NO_PIXELS: Images = np.zeros((0, 0), np.uint8)  # the folder keeps pictures for people elsewhere


def new_items(
    arrivals: Sequence[Decoded],
    first: int,
    encoder: CheckedEncoder | None,
    views: GivenViews = (),
) -> list[Item]:
    """Return the items of decoded images, from a position on; labelled ones have position 0.

    Parameters
    ----------
    arrivals
        The images.
    first
        The position of the first; 0 if all are labelled ones.
    encoder
        Makes the frozen vectors, of all images at once; None if csim trains its own network.
    views
        Views that were made elsewhere, or None, of each image. Their features are its frozen
        vector, so that the image need not pass through the encoder again.
    """
    positions = range(first, first + len(arrivals)) if first else [0] * len(arrivals)
    if encoder is None:
        return [
            Item(arrival.id, position, arrival.image)
            for arrival, position in zip(arrivals, positions, strict=True)
        ]
    given = [None if view is None else np.asarray(view.features) for view in views]
    vectors = given or [None] * len(arrivals)
    missing = [index for index, vector in enumerate(vectors) if vector is None]
    if missing:
        made = encoder.embed(np.stack([arrivals[index].image for index in missing]))
        for index, vector in zip(missing, made, strict=True):
            vectors[index] = vector
    return [
        Item(arrival.id, position, _NO_PIXELS, vector)
        for arrival, position, vector in zip(arrivals, positions, vectors, strict=True)
    ]


def inputs_to_bytes(items: Sequence[Item]) -> bytes | None:
    """Return what the engine sees of items as bytes; None if there are none."""
    frozen = [item.frozen for item in items if item.frozen is not None]
    if frozen:
        return save({"frozen": np.stack(frozen)})  # (n, d)
    return b"".join(item.image.tobytes() for item in items) or None


def inputs_from_bytes(
    content: bytes, rows: Sequence[tuple[int, ItemId]], shape: tuple[int, ...], *, is_frozen: bool
) -> list[Item]:
    """Return the items that `inputs_to_bytes` wrote.

    Parameters
    ----------
    content
        The bytes.
    rows
        Position and id of each item.
    shape
        Of the stream's images.
    is_frozen
        Whether the stream has a frozen encoder.
    """
    if is_frozen:
        vectors = load(content)["frozen"]
        return [
            Item(item_id, position, _NO_PIXELS, vector)
            for (position, item_id), vector in zip(rows, vectors, strict=True)
        ]
    images = np.frombuffer(content, np.uint8).reshape(len(rows), *shape)
    return [
        Item(item_id, position, image)
        for (position, item_id), image in zip(rows, images, strict=True)
    ]
