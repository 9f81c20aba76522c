"""The novelty watch: find new images without comparing every recent image at each search.

A comparison takes time, and most images are clearly known. So csim compares an image at the first
search after it came, at each search while it may be new, and at every few searches otherwise:
images that come later can make its region dense.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from csim.discover.novelty import novelty
from csim.records import Bools, Floats, Ints, Item, ItemId, State

_MIN_NOVELTY = 0.25  # treat less as 0: clearly known images reach 0.2 by chance


class NoveltyWatch:
    """Remember which images may be new, and choose which to compare at a search.

    Parameters
    ----------
    turns
        Searches in which each image that seems known is compared once. Higher takes less time but
        finds larger groups later; 1 compares every image at each search.
    """

    def __init__(self, turns: int) -> None:
        self._turns = turns
        self._may_be_new: set[ItemId] = set()
        self._last_position = 0  # of the newest image at the last search
        self._searches = 0

    def due(self, items: Sequence[Item]) -> Bools:
        """Tell which images to compare at this search, (n,)."""
        positions = np.array([item.position for item in items], np.int64)
        may_be_new = np.array([item.id in self._may_be_new for item in items], bool)
        turn = positions % self._turns == self._searches % self._turns
        is_due: Bools = (positions > self._last_position) | may_be_new | turn
        return is_due

    def compare(
        self,
        items: Sequence[Item],
        recent: Floats,
        due: Ints,
        labelled: Floats,
        guesses: Ints,
        columns: Ints,
    ) -> Floats:
        """Return the novelty of the images that are due, (r,), and remember which may be new.

        An image that is left out although it may be new stays due.

        Parameters
        ----------
        items
            The recent images, oldest first.
        recent
            Their features, (n, f).
        due
            The indices of those to compare, (r,).
        labelled
            The features of labelled images, (m, f).
        guesses
            The column of the class that the model gives each recent image, (n,).
        columns
            The column of each labelled image's class, (m,), -1 if the model does not know it yet.
        """
        new = novelty(recent, due, labelled, guesses, columns, least=_MIN_NOVELTY)
        not_compared = {item.id for item in items} - {items[index].id for index in due.tolist()}
        self._may_be_new &= not_compared
        self._may_be_new |= {items[index].id for index in due[new > 0].tolist()}
        self._last_position = items[-1].position  # the newest
        self._searches += 1
        return new

    def state(self) -> State:
        """Return what must be remembered."""
        return {
            "may_be_new": sorted(self._may_be_new),
            "last_position": self._last_position,
            "searches": self._searches,
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self._may_be_new = set(state["may_be_new"])
        self._last_position = state["last_position"]
        self._searches = state["searches"]
