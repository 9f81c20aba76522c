"""The classes that the model could output, at the start and when each image arrived.

`names` is what `class_names` returns: the name of each class id at the end of the log.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from csim.metrics.labels import names_of
from csim.records import (
    Accepted,
    ClassesMerged,
    ClassId,
    ClassRemoved,
    ClassRestored,
    Event,
    ItemId,
    Rejected,
    Retrained,
)


def initial_classes(events: Iterable[Event], names: Mapping[ClassId, str]) -> frozenset[str]:
    """Return the names of the classes known before the stream began. All other classes are new.

    >>> initial_classes([Retrained(0, 1, (0,)), Retrained(70, 2, (0, 1))], {0: "crane", 1: "gull"})
    frozenset({'crane'})
    """
    models = [
        event.class_ids for event in events if isinstance(event, Retrained) and event.position == 0
    ]
    return names_of((class_id for class_ids in models for class_id in class_ids), names)


def known_at_arrival(
    events: Iterable[Event], names: Mapping[ClassId, str]
) -> dict[ItemId, frozenset[str]]:
    """Return the names of the classes that the model could output when each image arrived."""
    at_arrival: dict[ItemId, frozenset[str]] = {}
    ids: frozenset[ClassId] = frozenset()
    removed: frozenset[ClassId] = frozenset()  # that the model in use has learned
    known: frozenset[str] = frozenset()
    for event in events:
        if isinstance(event, Accepted | Rejected):
            at_arrival[event.item_id] = known
        elif isinstance(event, ClassRestored):
            ids |= removed & {event.class_id}
            known = names_of(ids, names)
        elif isinstance(event, Retrained | ClassesMerged | ClassRemoved):
            before = ids
            ids = _apply(ids, event)
            removed = frozenset() if isinstance(event, Retrained) else removed | (before - ids)
            known = names_of(ids, names)
    return at_arrival


def _apply(
    ids: frozenset[ClassId], event: Retrained | ClassesMerged | ClassRemoved
) -> frozenset[ClassId]:
    """Return the classes the model can output after an event.

    Merging and removing classes takes effect immediately, without training.
    """
    match event:
        case Retrained(class_ids=class_ids):
            return frozenset(class_ids)
        case ClassesMerged(source=source, target=target):
            return ids - {source} | {target} if source in ids else ids
        case ClassRemoved(class_id=class_id):
            return ids - {class_id}
