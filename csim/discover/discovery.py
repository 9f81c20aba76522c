"""Discovery: from the items that passed to groups worth a question.

Items are kept as images and embedded when they are searched, so that no vector outlives its model.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Protocol

import numpy as np

from csim.discover.choice import Choice, Found, Pick
from csim.discover.purify import halve
from csim.discover.representative import Representative
from csim.discover.scene import Examples, Scene, Scores, Viewer
from csim.records import (
    ClassId,
    Decision,
    Event,
    Floats,
    Group,
    Ints,
    Item,
    ItemId,
    Question,
    QuestionId,
    Revised,
    State,
)


class Pool(Protocol):
    """Hold the items that csim searches for questions."""

    def __len__(self) -> int: ...

    def find(self, item_id: ItemId) -> Item | None:
        """Return an item by its id, or None."""
        ...

    @property
    def ids(self) -> Set[ItemId]:
        """Return the ids of all items that it holds."""
        ...

    def add(self, items: Sequence[Item], decisions: Sequence[Decision]) -> None:
        """Take the next items of the stream, and what was decided about them."""
        ...

    def is_due(self, arrivals: int, waiting: int = 0) -> bool:
        """Tell whether a search is due after `arrivals` items since the last one.

        So many open questions are `waiting` for an answer.
        """
        ...

    def until_due(self, arrivals: int, waiting: int = 0) -> int:
        """Return after how many more items a search may be due, at the earliest."""
        ...

    def items(self) -> list[Item]:
        """Return the items that csim may ask about, oldest first."""
        ...

    def waiting(self) -> list[Item]:
        """Return all items without a class."""
        ...

    @property
    def classes(self) -> Mapping[ItemId, ClassId | None]:
        """Return the class that each item has so far, None while it waits.

        Here are all items that the pool holds, also those that csim does not ask about.
        """
        ...

    def remove_old(self, position: int) -> list[Item]:
        """Remove the items that cannot wait longer; return those without a class."""
        ...

    def apply(self, event: Event) -> None:
        """Bring the items up to date with an event."""
        ...

    def state(self) -> State:
        """Return what must be remembered."""
        ...

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        ...


class Discovery:
    """Search a pool for questions, and cut groups that a person calls mixed.

    Parameters
    ----------
    pool
        The items to search.
    choice
        Chooses the questions among them.
    representative
        Chooses the item that csim shows of each part of a group.
    """

    def __init__(self, pool: Pool, choice: Choice, representative: Representative) -> None:
        self.pool = pool
        self._choice = choice
        self._representative = representative
        self._last_search = 0  # position

    def is_due(self, position: int, waiting: int = 0) -> bool:
        """Tell whether to search now that the stream has reached `position`.

        So many open questions are `waiting` for an answer.
        """
        return self.pool.is_due(position - self._last_search, waiting)

    def until_due(self, position: int, waiting: int = 0) -> int:
        """Return after how many items past `position` a search may be due, at the earliest."""
        return self.pool.until_due(position - self._last_search, waiting)

    def search(
        self,
        viewer: Viewer,
        head: Scores,
        store: Examples,
        most: int,
        position: int,
        pending: Sequence[Question],
        shown: Container[bytes] = (),
        covered: Container[ItemId] = (),
    ) -> tuple[list[Group], dict[QuestionId, list[Item]]]:
        """Return at most `most` groups to ask about, and items that join `pending` questions.

        No group shows an image whose content is among those `shown` before. Such an item joins the
        pending question that shows the same. `covered` are the ids of members of pending questions.
        """
        scene = Scene(self.pool.items(), viewer, head, store, shown, covered)
        asked = [question.representative for question in pending]
        found = Found([])
        if len(scene) and (most or asked):
            found = self._choice.choose(scene, most, asked)
        groups = _groups(scene, found.picks, viewer)
        self._last_search = position
        joined = {
            pending[place].id: [scene.items[index] for index in members]
            for place, members in found.joined.items()
        }
        if found.repeats:
            # The first of those that show the same pixels stays, as it comes last here.
            shown_by = {
                question.representative.content.tobytes(): question.id
                for question in reversed(pending)
            }
            for item in (scene.items[index] for index in found.repeats):
                question_id = shown_by.get(item.content.tobytes())
                if question_id is not None:
                    joined.setdefault(question_id, []).append(item)
        return groups, joined

    def split(
        self, members: Sequence[Item], parts: Sequence[Sequence[ItemId]], viewer: Viewer
    ) -> list[Group]:
        """Cut a group into the given parts, as far as they are members; without parts, in two."""
        if not members:
            return []
        vectors = viewer.vectors(members)
        index_of = {item.id: index for index, item in enumerate(members)}
        cuts = [[index_of[item_id] for item_id in part if item_id in index_of] for part in parts]
        return [
            self._form(members, vectors, np.array(cut))
            for cut in cuts or halve(vectors)
            if len(cut)
        ]

    def apply(self, events: Iterable[Event]) -> list[Event]:
        """Apply events to the pool one by one; return them with their revisions corrected."""
        applied: list[Event] = []
        for event in events:
            corrected = correct_revision(event, self.pool.classes)
            if corrected is not None:
                self.pool.apply(corrected)
                applied.append(corrected)
        return applied

    def state(self) -> State:
        """Return the items, the last search and the state of the random generators."""
        return {
            "pool": self.pool.state(),
            "last_search": self._last_search,
            "choice": self._choice.state(),
            "representative": self._representative.state(),
        }

    def restore(self, state: State) -> None:
        """Load what `state` returned."""
        self.pool.restore(state["pool"])
        self._last_search = state["last_search"]
        self._choice.restore(state["choice"])
        self._representative.restore(state["representative"])

    def _form(self, items: Sequence[Item], vectors: Floats, part: Ints) -> Group:
        members = tuple(items[index] for index in part)
        chosen = self._representative.choose(vectors[part])
        return Group(members, members[chosen], vectors[part[chosen]])


def _groups(scene: Scene, picks: Sequence[Pick], viewer: Viewer) -> list[Group]:
    """Return the groups to ask about, with the vector of each one's representative."""
    shown = [scene.items[pick.representative] for pick in picks]
    vectors = viewer.vectors(shown) if shown else ()
    return [
        Group(tuple(scene.items[index] for index in pick.members), item, vector)
        for pick, item, vector in zip(picks, shown, vectors, strict=True)
    ]


def correct_revision(event: Event, classes: Mapping[ItemId, ClassId | None]) -> Event | None:
    """Return an event; a revision starts from the class that its item really has.

    A person may take back an answer after a newer model gave some of its items another class. None
    is returned for a revision that would change nothing, or would take away a class that the answer
    did not give.

    Parameters
    ----------
    event
        What happened.
    classes
        The class that each item has so far, None while it waits. The revision of an item that is
        not here stays as it is.

    Examples
    --------
    >>> correct_revision(Revised(9, "a", before=1, after=2), {"a": 3})
    Revised(position=9, item_id='a', before=3, after=2)
    >>> correct_revision(Revised(9, "a", before=1, after=None), {"a": 3})
    """
    if not isinstance(event, Revised) or event.item_id not in classes:
        return event
    current = classes[event.item_id]
    is_of_other_answer = event.after is None and current != event.before
    if current == event.after or is_of_other_answer:
        return None
    return replace(event, before=current)
