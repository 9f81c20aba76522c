"""The label of each image, read from an event log.

A label may be changed only while its image is recent, because labels of a stream are used as they
arrive and late changes do not help. The first label of a waiting image is not a change, however
late it is. An image whose label is removed in time waits again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from csim.errors import InputError, SettingsError
from csim.records import (
    JUNK,
    Accepted,
    ClassAdded,
    ClassesMerged,
    ClassId,
    ClassRenamed,
    Corrected,
    Event,
    ItemId,
    Labelled,
    Rejected,
    Revised,
)

# Arrivals in which a label may be changed: as long as an image waits in the paper's buffer.
REVISION_LIMIT = 2000
JUNK_NAME = "(junk)"  # stands for junk among the names of classes


def class_names(events: Iterable[Event]) -> dict[ClassId, str]:
    """Return the final name of each class id. A merged class has the name of its target.

    If an answer says junk, `JUNK` has the name `JUNK_NAME`.

    >>> class_names([ClassAdded(0, 0, "hern"), ClassRenamed(5, 0, "heron")])
    {0: 'heron'}
    """
    names: dict[ClassId, str] = {}
    merged_into: dict[ClassId, ClassId] = {}
    for event in events:
        if isinstance(event, ClassAdded | ClassRenamed):
            names[event.class_id] = event.name
        elif isinstance(event, ClassesMerged):
            merged_into = {
                source: event.target if target == event.source else target
                for source, target in merged_into.items()
            }
            merged_into[event.source] = event.target
        elif isinstance(event, Labelled | Corrected) and event.class_id == JUNK:
            names[JUNK] = JUNK_NAME
    return {class_id: names[merged_into.get(class_id, class_id)] for class_id in names}


def at_arrival(events: Iterable[Event]) -> dict[ItemId, ClassId | None]:
    """Return the class each image got at arrival, or None if it was rejected."""
    labels: dict[ItemId, ClassId | None] = {}
    for event in events:
        if isinstance(event, Accepted):
            labels[event.item_id] = event.class_id
        elif isinstance(event, Rejected):
            labels[event.item_id] = None
    return labels


def final(
    events: Sequence[Event], within: int | None = REVISION_LIMIT
) -> dict[ItemId, ClassId | None]:
    """Return the final class of each image of the stream, or None if it has none.

    Parameters
    ----------
    events
        The log.
    within
        Arrivals in which a label may be changed; None sets no limit. Higher lets later changes
        count.

    Examples
    --------
    >>> log = [Rejected(1, "a", 0, 0.2, 1), Labelled(9, "a", 3, 1, is_told=True)]
    >>> log.append(Revised(12, "a", 3, 4))
    >>> final(log), final(log, within=10)
    ({'a': 4}, {'a': 3})
    """
    labels = at_arrival(events)
    labels.update(
        (change.item_id, change.class_id)
        for change in changes(events, within)
        if not change.is_late
    )
    return labels


def late_revisions(events: Iterable[Event], within: int | None = REVISION_LIMIT) -> int:
    """Return how many changes of a label came too late to count.

    Higher `within` lets later changes count; None sets no limit.

    >>> late_revisions([Accepted(1, "a", 0, 0.9, 1), Revised(12, "a", 0, 4)], within=10)
    1
    """
    return sum(change.is_late for change in changes(events, within))


class Change(NamedTuple):
    """Hold the class that an image got after its arrival, or None if its label was removed.

    A late change does not count; the image keeps its label.
    """

    item_id: ItemId
    class_id: ClassId | None
    is_from_answer: bool
    is_late: bool


def changes(events: Iterable[Event], within: int | None = REVISION_LIMIT) -> Iterator[Change]:
    """Yield the changes of labels after arrival, in order.

    Higher `within` lets later changes count; None sets no limit.
    """
    if within is not None and within < 0:
        raise SettingsError(
            f"within must be 0 or more arrivals, or None for no limit; got {within}"
        )
    arrived: dict[ItemId, int] = {}  # without the images of the warm-up
    current: dict[ItemId, ClassId | None] = {}
    correction: Corrected | None = None
    for event in events:
        # The revisions of a correction follow it directly.
        if not isinstance(event, Revised):
            correction = event if isinstance(event, Corrected) else None
        if isinstance(event, Accepted | Rejected):
            arrived[event.item_id] = event.position
            current[event.item_id] = event.class_id if isinstance(event, Accepted) else None
        elif isinstance(event, Labelled | Revised) and event.item_id in arrived:
            class_id = event.class_id if isinstance(event, Labelled) else event.after
            before = current[event.item_id]
            is_late = (
                before is not None
                and within is not None
                and event.position - arrived[event.item_id] > within
            )
            if not is_late:
                current[event.item_id] = class_id
            if not is_late or class_id != before:
                is_answer = isinstance(event, Labelled) or (
                    correction is not None and correction.class_id == class_id
                )
                yield Change(event.item_id, class_id, is_answer, is_late)


def named(
    labels: Mapping[ItemId, ClassId | None], names: Mapping[ClassId, str]
) -> dict[ItemId, str | None]:
    """Return labels as class names instead of class ids."""
    try:
        return {
            item_id: None if class_id is None else names[class_id]
            for item_id, class_id in labels.items()
        }
    except KeyError as missing:
        raise _unnamed(missing.args[0]) from None


def names_of(class_ids: Iterable[ClassId], names: Mapping[ClassId, str]) -> frozenset[str]:
    """Return the names of several classes."""
    try:
        return frozenset(names[class_id] for class_id in class_ids)
    except KeyError as missing:
        raise _unnamed(missing.args[0]) from None


def _unnamed(class_id: ClassId) -> InputError:
    return InputError(
        f"the log must add every class that it uses; class {class_id} was not added. "
        "Pass the log from its start"
    )
