"""The second look: csim decides recent items again, with what it has learned since."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from csim.decide.head import Head
from csim.discover.discovery import Discovery
from csim.discover.recent import Recent
from csim.embed.gallery import Gallery
from csim.records import ClassId, Event, Item, ItemId, Revised

# What gives items that waited their best class, from their views at a position.
Settle = Callable[[Gallery, int], list[Event]]


class SecondLook:
    """Give items the class that they would be given today.

    Parameters
    ----------
    head
        Decides.
    discovery
        Its pool holds the items that wait for a class.
    window
        The items whose class may be revised; None if classes are final, as in the paper.
    release
        Called with the ids of revised items: they leave the store and the group of their question.
    """

    def __init__(
        self,
        head: Head,
        discovery: Discovery,
        window: Recent | None,
        release: Callable[[Iterable[ItemId]], None],
    ) -> None:
        self._head = head
        self._discovery = discovery
        self._window = window
        self._release = release

    def revise(self, gallery: Gallery, position: int) -> list[Event]:
        """Decide all recent items again; one that waits gets a class once it is accepted."""
        if self._window is None:
            return []
        recent = self._window.revisable(position)
        revised = self._decide(recent, gallery, position, is_final=False)
        self._release([event.item_id for event in revised])
        return [*revised]

    def settle_old(self, gallery: Gallery, position: int) -> list[Event]:
        """Give items that cannot wait longer their best class, if there is any class."""
        return self._settle(self._discovery.pool.remove_old(position), gallery, position)

    def settle_all(self, gallery: Gallery, position: int) -> list[Event]:
        """Give all items that wait their best class, if there is any class."""
        return self._settle(self._discovery.pool.waiting(), gallery, position)

    def _settle(self, items: Sequence[Item], gallery: Gallery, position: int) -> list[Event]:
        return [*self._decide([(item, None) for item in items], gallery, position, is_final=True)]

    def _decide(
        self,
        labelled: Sequence[tuple[Item, ClassId | None]],
        gallery: Gallery,
        position: int,
        *,
        is_final: bool,
    ) -> list[Revised]:
        if not labelled or not self._head.class_ids:
            return []
        scores = gallery.scores([item for item, _ in labelled], self._head)
        class_ids, accepted = self._head.classes(scores)
        revised: list[Revised] = []
        for (item, before), class_id, is_accepted in zip(
            labelled, class_ids, accepted, strict=True
        ):
            is_given = before is not None or is_accepted or is_final
            after = class_id if is_given else None
            if after != before:
                revised.append(Revised(position, item.id, before, after))
        self._discovery.apply(revised)
        return revised
