"""Items as plain values, and back, for parts that keep them in a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from csim.records import Floats, Item, ItemId, State


def pack(items: Sequence[Item]) -> State:
    """Return items as plain values and arrays, for a checkpoint.

    Items of a stream with a frozen encoder all have a frozen vector, those of others have none.
    """
    frozen = [item.frozen for item in items if item.frozen is not None]
    images = [item.image for item in items]
    return {
        "ids": [item.id for item in items],
        "positions": [item.position for item in items],
        "images": np.stack(images) if images else np.zeros((0, 0, 0), np.uint8),
        "frozen": np.stack(frozen) if frozen else None,
    }


def unpack(state: State) -> list[Item]:
    """Return the items that `pack` took apart; each array is a copy of its own.

    >>> unpack(pack([Item("a", 1, np.zeros((8, 8), np.uint8))]))
    [Item(id='a', position=1)]
    """
    vectors = state.get("frozen")  # format 5 had none
    frozen = [None] * len(state["ids"]) if vectors is None else [row.copy() for row in vectors]
    return [
        Item(item_id, position, image.copy(), vector)
        for item_id, position, image, vector in zip(
            state["ids"], state["positions"], state["images"], frozen, strict=True
        )
    ]


def frozen_vectors(state: Any) -> Iterator[tuple[ItemId, Floats]]:  # noqa: ANN401
    """Yield the id and the frozen vector of each item that is packed anywhere in a state.

    >>> item = Item("a", 1, np.zeros((8, 8), np.uint8), np.ones(2))
    >>> [*frozen_vectors({"pool": {"items": pack([item])}})]
    [('a', array([1., 1.]))]
    """
    if not isinstance(state, Mapping):
        return
    vectors = state.get("frozen")
    if isinstance(vectors, np.ndarray):
        yield from zip(state["ids"], vectors, strict=True)
    for part in state.values():
        yield from frozen_vectors(part)
