"""Which class each image was given, read from an event log."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from csim.records import (
    Accepted,
    ClassAdded,
    ClassesMerged,
    ClassId,
    ClassRenamed,
    Event,
    ItemId,
    Labelled,
    Rejected,
    Revised,
)


def class_names(events: Iterable[Event]) -> dict[ClassId, str]:
    """Return what each class id is called at the end; a merged one has the name of what it went up in.

    >>> class_names([ClassAdded(0, 0, "hern"), ClassRenamed(5, 0, "heron")])
    {0: 'heron'}
    """
    names: dict[ClassId, str] = {}
    home: dict[ClassId, ClassId] = {}
    for event in events:
        if isinstance(event, ClassAdded | ClassRenamed):
            names[event.class_id] = event.name
        elif isinstance(event, ClassesMerged):
            home = {old: event.target if new == event.source else new for old, new in home.items()}
            home[event.source] = event.target
    return {class_id: names[home.get(class_id, class_id)] for class_id in names}


def at_arrival(events: Iterable[Event]) -> dict[ItemId, ClassId | None]:
    """Return the class each image was given at once, None if it was rejected."""
    labels: dict[ItemId, ClassId | None] = {}
    for event in events:
        if isinstance(event, Accepted):
            labels[event.item_id] = event.class_id
        elif isinstance(event, Rejected):
            labels[event.item_id] = None
    return labels


def final(events: Sequence[Event]) -> dict[ItemId, ClassId | None]:
    """Return the last class each image of the stream was given, None if it has none.

    >>> final([Rejected(1, "a", 0, 0.2, 1), Labelled(9, "a", 3, 1, is_told=True), Revised(12, "a", 3, 4)])
    {'a': 4}
    """
    labels = at_arrival(events)
    for event in events:
        if isinstance(event, Labelled | Revised) and event.item_id in labels:  # not so a warm-up image
            labels[event.item_id] = event.class_id if isinstance(event, Labelled) else event.after
    return labels


def named(labels: Mapping[ItemId, ClassId | None], names: Mapping[ClassId, str]) -> dict[ItemId, str | None]:
    """Return labels by class name."""
    return {item_id: None if class_id is None else names[class_id] for item_id, class_id in labels.items()}
