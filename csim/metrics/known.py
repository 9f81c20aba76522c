"""Which classes the model could output, at the start and when each image arrived.

`names` are those of `class_names`: what the class ids are called in the end.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from csim.metrics.labels import names_of
from csim.records import (
    Accepted,
    ClassesMerged,
    ClassId,
    ClassRemoved,
    Event,
    ItemId,
    Rejected,
    Retrained,
)


def first_classes(events: Iterable[Event], names: Mapping[ClassId, str]) -> frozenset[str]:
    """Return the names of the classes that were known before the stream began; every other class is new.

    >>> first_classes([Retrained(0, 1, (0,)), Retrained(70, 2, (0, 1))], {0: "crane", 1: "gull"})
    frozenset({'crane'})
    """
    models = [
        event.class_ids for event in events if isinstance(event, Retrained) and event.position == 0
    ]
    return names_of((class_id for own in models for class_id in own), names)


def known_at_arrival(
    events: Iterable[Event], names: Mapping[ClassId, str]
) -> dict[ItemId, frozenset[str]]:
    """Return the names of the classes that the model could output when each image arrived."""
    at: dict[ItemId, frozenset[str]] = {}
    ids: frozenset[ClassId] = frozenset()
    known: frozenset[str] = frozenset()
    for event in events:
        if isinstance(event, Accepted | Rejected):
            at[event.item_id] = known
        elif isinstance(event, Retrained | ClassesMerged | ClassRemoved):
            ids = _follow(ids, event)
            known = names_of(ids, names)
    return at


def _follow(
    ids: frozenset[ClassId], event: Retrained | ClassesMerged | ClassRemoved
) -> frozenset[ClassId]:
    """Return what the model can output now: merged and removed classes change that at once, without training."""
    match event:
        case Retrained(class_ids=class_ids):
            return frozenset(class_ids)
        case ClassesMerged(source=source, target=target):
            return ids - {source} | {target} if source in ids else ids
        case ClassRemoved(class_id=class_id):
            return ids - {class_id}
