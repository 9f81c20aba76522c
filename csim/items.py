"""Images → items: with a frozen encoder, each image passes through it once, when its item is made.

From then on the item holds the frozen vector, and the engine needs no pixels. Every model that
follows works on this vector, and so does a restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from itertools import chain, count
from typing import Any

import numpy as np

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
        return [*map(Item, ids, positions, map(np.ndarray.copy, images))]
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


def check_ids(ids: Sequence[ItemId], number: int, holders: Sequence[Set[ItemId]]) -> None:
    """Raise an `InputError` unless ids are `number` different texts, none of an earlier image.

    `holders` are the ids of earlier images, by what holds them.
    """
    is_text = isinstance(ids, Iterable) and all(isinstance(item_id, str) for item_id in ids)
    if not is_text or len(ids) != number or len(set(ids)) != number:
        given = f"{len(ids)}" if is_text else f"{type(ids).__name__}"
        raise InputError(
            f"ids must be unique texts, one per image; got {given} for {number} images"
        )
    if (taken := _first_held(ids, holders)) is not None:
        raise InputError(
            f"the id {taken!r} belongs to an earlier image; an id must be unique in the stream"
        )


def free_ids(first: int, number: int, holders: Sequence[Set[ItemId]]) -> list[ItemId]:
    """Return the ids of images without one: their positions, marked if that was given before.

    `holders` are the ids of earlier images, by what holds them.

    >>> free_ids(17, 2, [{"17"}])
    ['17 (2)', '18']
    """
    ids = [*map(str, range(first, first + number))]
    if _first_held(ids, holders) is None:
        return ids
    return [_free_id(item_id, holders) for item_id in ids]


def _free_id(item_id: ItemId, holders: Sequence[Set[ItemId]]) -> ItemId:
    marked = (f"{item_id} ({mark})" for mark in count(2))
    return next(name for name in chain([item_id], marked) if _first_held([name], holders) is None)


def _first_held(ids: Sequence[ItemId], holders: Sequence[Set[ItemId]]) -> ItemId | None:
    """Return an id that any holder has, or None."""
    if all(holder.isdisjoint(ids) for holder in holders):  # as nearly always
        return None
    return next(item_id for holder in holders for item_id in ids if item_id in holder)
