"""Items as plain values, and back, for whoever keeps them in a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from csim.records import Item, State, stack


def pack(items: Sequence[Item]) -> State:
    """Return items as plain values and one array, for a checkpoint."""
    return {
        "ids": [item.id for item in items],
        "positions": [item.position for item in items],
        "images": stack(items),
    }


def unpack(state: State) -> list[Item]:
    """Return the items that `pack` took apart; each image is a copy of its own.

    >>> import numpy as np
    >>> unpack(pack([Item("a", 1, np.zeros((8, 8), np.uint8))]))
    [Item(id='a', position=1)]
    """
    return [
        Item(item_id, position, image.copy())
        for item_id, position, image in zip(
            state["ids"], state["positions"], state["images"], strict=True
        )
    ]
