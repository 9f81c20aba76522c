"""The second look: recent images are decided about anew, with what has been learned since they arrived."""

from __future__ import annotations

from collections.abc import Sequence

from csim.decide.head import Head
from csim.discover.discovery import Discovery
from csim.embed.gallery import Gallery
from csim.records import ClassId, Event, Item, Revised


class SecondLook:
    """Gives recent images the class that they would be given today."""

    def __init__(self, head: Head, discovery: Discovery) -> None:
        self._head = head
        self._discovery = discovery

    def revise(self, gallery: Gallery, position: int) -> list[Event]:
        """Decide about all recent images; one that waits has a class once it is accepted."""
        return self._decide(self._discovery.pool.given(position), gallery, position, is_last=False)

    def let_go(self, gallery: Gallery, position: int) -> list[Event]:
        """Give images that are too old to wait longer their best class, if there is any."""
        old = self._discovery.pool.leaving(position)
        return self._decide([(item, None) for item in old], gallery, position, is_last=True)

    def settle(self, gallery: Gallery, position: int) -> list[Event]:
        """Give all images that wait their best class, if there is any."""
        waiting = self._discovery.pool.waiting()
        return self._decide([(item, None) for item in waiting], gallery, position, is_last=True)

    def _decide(
        self,
        given: Sequence[tuple[Item, ClassId | None]],
        gallery: Gallery,
        position: int,
        *,
        is_last: bool,
    ) -> list[Event]:
        if not given or not self._head.class_ids:
            return []
        decisions = self._head.decide(
            self._head.scores(gallery.views([item for item, _ in given]).vectors)
        )
        events: list[Event] = []
        for (item, before), today in zip(given, decisions, strict=True):
            after = today.class_id if before is not None or today.is_accepted or is_last else None
            if after != before:
                events.append(Revised(position, item.id, before, after))
        return self._discovery.note(events)
