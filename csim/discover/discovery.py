"""Discovery: from rejected images to groups with a representative each (the paper's Algorithm 2, line 1).

Candidates wait as images and are embedded when they are purified, so that no vector outlives its model.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from csim.discover.buffer import Buffer
from csim.discover.purify import Clustering, halve
from csim.discover.representative import Representative
from csim.records import Encoder, Floats, Group, Ints, Item, State, stack


class Discovery:
    """The buffer, what groups it, and what chooses who stands for a group."""

    def __init__(self, buffer: Buffer, clustering: Clustering, representative: Representative) -> None:
        self._buffer = buffer
        self._clustering = clustering
        self._representative = representative

    def __len__(self) -> int:
        return len(self._buffer)

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._buffer

    def add(self, item: Item) -> None:
        """Let a rejected image wait."""
        self._buffer.add(item)

    def is_due(self, position: int) -> bool:
        """Tell whether it is time to purify."""
        return self._buffer.is_due(position)

    def purify(self, encoder: Encoder) -> list[Group]:
        """Empty the buffer into groups."""
        items = self._buffer.items()
        if not items:
            return []
        vectors = encoder.embed(stack(items))
        groups = [self._form(items, vectors, part) for part in self._clustering.group(vectors)]
        self._buffer.clear()
        return groups

    def split(self, members: Sequence[Item], parts: Sequence[Sequence[str]], encoder: Encoder) -> list[Group]:
        """Cut a group into the given parts (item ids), or in two where it is widest."""
        vectors = encoder.embed(stack(members))
        place = {item.id: index for index, item in enumerate(members)}
        cuts = [np.array([place[item_id] for item_id in part]) for part in parts] or halve(vectors)
        return [self._form(members, vectors, cut) for cut in cuts]

    def state(self) -> State:
        """Return the candidates and the state of chance."""
        return {"buffer": self._buffer.state(), "representative": self._representative.state()}

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        self._buffer.restore(state["buffer"])
        self._representative.restore(state["representative"])

    def _form(self, items: Sequence[Item], vectors: Floats, part: Ints) -> Group:
        members = tuple(items[index] for index in part)
        chosen = self._representative.choose(vectors[part])
        return Group(members, members[chosen], vectors[part[chosen]])
