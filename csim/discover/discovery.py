"""Discovery: from images that were seen to questions to be.

Images are kept as images and embedded when they are looked at, so that no vector outlives its model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from csim.discover.choice import Choice, Found, Pick
from csim.discover.purify import halve
from csim.discover.representative import Representative
from csim.discover.scene import Examples, Scene, Scores, Viewer
from csim.records import (
    Asked,
    ClassId,
    Decision,
    Encoder,
    Event,
    Floats,
    Group,
    Ints,
    Item,
    ItemId,
    Labelled,
    Question,
    QuestionId,
    Revised,
    State,
    stack,
)


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

    def items(self) -> list[Item]:
        """Return the images that may be asked about, oldest first."""
        ...

    def looked(self, position: int) -> None:
        """Note when the last look was."""
        ...

    def asked(self, question: Question) -> None:
        """Let go of the images that wait for a question's answer."""
        ...

    def leaving(self, position: int) -> list[Item]:
        """Return the images without a class that can wait no longer."""
        ...

    def waiting(self) -> list[Item]:
        """Return all images without a class."""
        ...

    def given(self, position: int) -> list[tuple[Item, ClassId | None]]:
        """Return the images whose class may still be revised at `position`, and the class of each."""
        ...

    def class_of(self, item_id: ItemId) -> ClassId | None:
        """Return the class that an image here has been given, None if it waits."""
        ...

    def give(self, item_id: ItemId, class_id: ClassId | None) -> None:
        """Note that an image has another class now; one that is not here is passed over."""
        ...

    def state(self) -> State:
        """Return what must be remembered."""
        ...

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        ...


class Discovery:
    """The pool, what chooses questions among it, and who stands for a group that is cut."""

    def __init__(self, pool: Pool, choice: Choice, representative: Representative) -> None:
        self.pool = pool
        self._choice = choice
        self._representative = representative

    def find(
        self,
        gallery: Viewer,
        head: Scores,
        store: Examples,
        *,
        most: int,
        position: int,
        pending: Sequence[Question],
    ) -> tuple[list[Group], dict[QuestionId, list[Item]]]:
        """Return at most `most` groups to ask about, and the images that belong to pending questions, by question."""
        scene = Scene(self.pool.items(), gallery, head, store)
        asked = [question.representative for question in pending]
        found = (
            self._choice.choose(scene, most, asked)
            if len(scene) and (most or asked)
            else Found([], [])
        )
        groups = [self._group(scene, pick) for pick in found.picks]
        self.pool.looked(position)
        joined = zip(
            pending, found.joined, strict=False
        )  # a choice that knows no groups joins nothing
        return groups, {
            question.id: [scene.items[m] for m in members]
            for question, members in joined
            if len(members)
        }

    def split(
        self, members: Sequence[Item], parts: Sequence[Sequence[str]], encoder: Encoder
    ) -> list[Group]:
        """Cut a group into the given parts (item ids) as far as they are members, or in two where it is widest."""
        if not members:
            return []
        vectors = encoder.embed(stack(members))
        place = {item.id: index for index, item in enumerate(members)}
        cuts = [
            [place[item_id] for item_id in part if item_id in place] for part in parts
        ] or halve(vectors)
        return [self._form(members, vectors, np.array(cut)) for cut in cuts if len(cut)]

    def note(self, events: Sequence[Event]) -> list[Event]:
        """See who is asked about and who has another class now; return the events with what each image had before.

        Whoever takes back an answer cannot know that an image has been given another class since.
        """
        noted: list[Event] = []
        for event in events:
            if isinstance(event, Asked):
                self.pool.asked(event.question)
            elif isinstance(event, Labelled):
                self.pool.give(event.item_id, event.class_id)
            elif isinstance(event, Revised) and event.item_id in self.pool:
                now = self.pool.class_of(event.item_id)
                if now == event.after or (event.after is None and now != event.before):
                    continue
                event = replace(event, before=now)
                self.pool.give(event.item_id, event.after)
            noted.append(event)
        return noted

    def state(self) -> State:
        """Return the images and the state of chance."""
        return {
            "pool": self.pool.state(),
            "choice": self._choice.state(),
            "representative": self._representative.state(),
        }

    def restore(self, state: State) -> None:
        """Take back what `state` returned."""
        self.pool.restore(state["pool"])
        self._choice.restore(state["choice"])
        self._representative.restore(state["representative"])

    def _group(self, scene: Scene, pick: Pick) -> Group:
        members = tuple(scene.items[place] for place in pick.members)
        return Group(members, scene.items[pick.representative], scene.vectors[pick.representative])

    def _form(self, items: Sequence[Item], vectors: Floats, part: Ints) -> Group:
        members = tuple(items[index] for index in part)
        chosen = self._representative.choose(vectors[part])
        return Group(members, members[chosen], vectors[part[chosen]])
