"""Single images of the recent window as questions: what people do who have no groups.

Every image of the window is looked at, accepted or not, and as many are chosen as the budget allows; the answer
speaks of that image alone. `least_sure` takes those that the network is least sure of, `at_random` any.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from csim.records import Decision, Floats, Ints, Item, ItemId, State, pack, unpack

Choice = Callable[[Floats, np.random.Generator], Ints]  # scores (n,) → all indices, the first choice first


def least_sure(scores: Floats, rng: np.random.Generator) -> Ints:
    """Order images by their best score, the lowest first.

    >>> least_sure(np.array([0.9, 0.2, 0.5]), np.random.default_rng(0)).tolist()
    [1, 2, 0]
    """
    return np.argsort(scores, kind="stable")


def at_random(scores: Floats, rng: np.random.Generator) -> Ints:
    """Order images by chance."""
    return rng.permutation(len(scores))


class Window:
    """The latest images, looked at together.

    Parameters
    ----------
    size
        Images between two looks. Raising it chooses among more and answers later.
    choose
        Which images come first.
    rng
        For a choice that draws.
    """

    def __init__(self, size: int, choose: Choice, rng: np.random.Generator) -> None:
        self.size = size
        self._choose = choose
        self._rng = rng
        self._items: dict[ItemId, Item] = {}
        self._scores: list[float] = []

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._items

    def add(self, item: Item, decision: Decision) -> None:
        """Let an image be looked at."""
        self._items[item.id] = item
        self._scores.append(decision.score)

    def is_due(self, position: int) -> bool:
        """Tell whether the window is full."""
        return len(self._items) >= self.size

    def choose(self, most: int) -> list[Item]:
        """Return the `most` images of first choice."""
        items = list(self._items.values())
        return [items[index] for index in self._choose(np.array(self._scores), self._rng)[:most]]

    def clear(self) -> None:
        """Be empty."""
        self._items, self._scores = {}, []

    def state(self) -> State:
        """Return the window and the state of chance."""
        return {
            "items": pack(list(self._items.values())),
            "scores": np.array(self._scores),
            "rng": self._rng.bit_generator.state,
        }

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        self._items = {item.id: item for item in unpack(state["items"])}
        self._scores = state["scores"].tolist()
        self._rng.bit_generator.state = state["rng"]
