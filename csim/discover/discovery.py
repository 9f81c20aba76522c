"""Discovery: from images that wait to groups with a representative each (the paper's Algorithm 2, line 1).

Candidates wait as images and are embedded when they are purified, so that no vector outlives its model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from csim.discover.purify import Clustering, halve
from csim.discover.representative import Representative
from csim.records import Decision, Encoder, Floats, Group, Ints, Item, State, stack


class Pool(Protocol):
    """Images among which questions are sought."""

    def __len__(self) -> int: ...

    def __contains__(self, item_id: object) -> bool: ...

    def add(self, item: Item, decision: Decision) -> None:
        """See an image of the stream and what was decided about it."""
        ...

    def is_due(self, position: int) -> bool:
        """Tell whether it is time to look, the stream having come to `position`."""
        ...

    def choose(self, most: int) -> list[Item]:
        """Return the images that at most `most` questions should be about."""
        ...

    def clear(self) -> None:
        """Be empty: all have been looked at."""
        ...

    def state(self) -> State:
        """Return what must be remembered."""
        ...

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        ...


class Discovery:
    """The pool, what groups it, and what chooses who stands for a group."""

    def __init__(self, pool: Pool, clustering: Clustering, representative: Representative) -> None:
        self._pool = pool
        self._clustering = clustering
        self._representative = representative

    def __len__(self) -> int:
        return len(self._pool)

    def __contains__(self, item_id: object) -> bool:
        return item_id in self._pool

    def add(self, item: Item, decision: Decision) -> None:
        """See an image of the stream and what was decided about it."""
        self._pool.add(item, decision)

    def is_due(self, position: int) -> bool:
        """Tell whether it is time to purify."""
        return self._pool.is_due(position)

    def purify(self, encoder: Encoder, most: int) -> tuple[list[Group], list[Item]]:
        """Empty the pool into at most `most` groups, the largest if not all; return also the images left over."""
        items = self._pool.choose(most)
        vectors = encoder.embed(stack(items)) if items else np.zeros((0, 1))
        groups = [self._form(items, vectors, part) for part in self._clustering.group(vectors)]
        self._pool.clear()
        if len(groups) <= most:
            return groups, []
        groups.sort(key=lambda group: -len(group.members))
        return groups[:most], [item for group in groups[most:] for item in group.members]

    def split(self, members: Sequence[Item], parts: Sequence[Sequence[str]], encoder: Encoder) -> list[Group]:
        """Cut a group into the given parts (item ids), or in two where it is widest."""
        vectors = encoder.embed(stack(members))
        place = {item.id: index for index, item in enumerate(members)}
        cuts = [np.array([place[item_id] for item_id in part]) for part in parts] or halve(vectors)
        return [self._form(members, vectors, cut) for cut in cuts]

    def state(self) -> State:
        """Return the candidates and the state of chance."""
        return {"pool": self._pool.state(), "representative": self._representative.state()}

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        self._pool.restore(state["pool"])
        self._representative.restore(state["representative"])

    def _form(self, items: Sequence[Item], vectors: Floats, part: Ints) -> Group:
        members = tuple(items[index] for index in part)
        chosen = self._representative.choose(vectors[part])
        return Group(members, members[chosen], vectors[part[chosen]])
