"""Images → items: with a frozen encoder, each image passes through it once, when its item is made.

From then on the item holds the frozen vector, and the engine needs no pixels. Every model that
follows works on this vector, and so does a restart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from csim.embed.encoder import CheckedEncoder
from csim.errors import InputError
from csim.records import Images, Item, ItemId
from csim.sources.resize import thumbnail


def make_items(
    ids: Sequence[ItemId],
    positions: Sequence[int],
    images: Images,
    encoder: CheckedEncoder | None,
) -> list[Item]:
    """Return an item per image, (n, h, w) or (n, h, w, 3).

    Parameters
    ----------
    ids, positions
        Of each item.
    images
        Copied, or made smaller if there is an encoder: people can still look at them.
    encoder
        Makes the frozen vectors; None if csim trains its own network.
    """
    if encoder is None or not len(images):
        return [
            Item(item_id, position, image.copy())
            for item_id, position, image in zip(ids, positions, images, strict=True)
        ]
    rows = zip(ids, positions, images, encoder.embed(images), strict=True)
    return [
        Item(item_id, position, thumbnail(image), vector.copy())
        for item_id, position, image, vector in rows
    ]


def freeze_items(state: Any, encoder: CheckedEncoder) -> None:  # noqa: ANN401
    """Give the items in a state their frozen vectors, in place, if an older csim wrote it."""
    if not isinstance(state, dict):
        return
    if {"ids", "positions", "images"} <= set(state) and state.get("frozen") is None:
        images = state["images"]
        state["frozen"] = encoder.embed(images) if len(images) else None
    for part in state.values():
        freeze_items(part, encoder)


def resized_shape(encoder: CheckedEncoder | None) -> tuple[int, ...] | None:
    """Return the shape that images are resized to for an encoder; None to take them as they are."""
    return None if encoder is None else encoder.image_shape


def check_ids(ids: Sequence[ItemId], count: int, is_held: Callable[[ItemId], bool]) -> None:
    """Raise an `InputError` unless ids are `count` different texts, none of an earlier image.

    `is_held` tells whether an earlier image has an id.
    """
    is_text = isinstance(ids, Iterable) and all(isinstance(item_id, str) for item_id in ids)
    if not is_text or len(ids) != count or len(set(ids)) != count:
        given = f"{len(ids)}" if is_text else f"{type(ids).__name__}"
        raise InputError(f"ids must be unique texts, one per image; got {given} for {count} images")
    if taken := next((item_id for item_id in ids if is_held(item_id)), None):
        raise InputError(
            f"the id {taken!r} belongs to an earlier image; an id must be unique in the stream"
        )


def free_id(position: int, is_held: Callable[[ItemId], bool]) -> ItemId:
    """Return the id of an image without one: its position, marked if that was given before.

    >>> free_id(17, lambda item_id: item_id == "17")
    '17 (2)'
    """
    item_id = str(position)
    mark = 2
    while is_held(item_id):
        item_id = f"{position} ({mark})"
        mark += 1
    return item_id
