"""Which class each image was given, read from an event log.

A label that stands may be changed only while its image is recent: a stream's labels are used as they come, and a
change long after helps nobody. The first label of an image that waits is no change, however late it comes; an image
whose label was taken back in time waits again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from csim.errors import InputError, SettingsError
from csim.records import (
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

WITHIN = 2000  # arrivals in which a label may be changed: as long as the paper's own buffer makes an image wait


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


def final(events: Sequence[Event], within: int | None = WITHIN) -> dict[ItemId, ClassId | None]:
    """Return the last class each image of the stream was given, None if it has none.

    Parameters
    ----------
    events
        The log.
    within
        Arrivals in which a label may be changed; None sets no limit. Raising it lets later changes count.

    Examples
    --------
    >>> log = [Rejected(1, "a", 0, 0.2, 1), Labelled(9, "a", 3, 1, is_told=True), Revised(12, "a", 3, 4)]
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


def late_revisions(events: Iterable[Event], within: int | None = WITHIN) -> int:
    """Return how many changes of a label came too late to count; fewer are better.

    >>> late_revisions([Accepted(1, "a", 0, 0.9, 1), Revised(12, "a", 0, 4)], within=10)
    1
    """
    return sum(change.is_late for change in changes(events, within))


class Change(NamedTuple):
    """A class that an image was given after its arrival, None if it has none from now on.

    A late change does not count: the label stays what it was.
    """

    item_id: ItemId
    class_id: ClassId | None
    is_from_answer: bool
    is_late: bool


def changes(events: Iterable[Event], within: int | None = WITHIN) -> Iterator[Change]:
    """Yield what happened to the labels of the stream's images after their arrival, in order."""
    if within is not None and within < 0:
        raise SettingsError(
            f"within must be 0 or more arrivals, or None for no limit; got {within}"
        )
    arrived: dict[ItemId, int] = {}
    standing: dict[ItemId, ClassId | None] = {}
    correction: Corrected | None = None
    for event in events:
        if not isinstance(
            event, Revised
        ):  # the revisions that belong to a correction follow it at once
            correction = event if isinstance(event, Corrected) else None
        if isinstance(event, Accepted | Rejected):
            arrived[event.item_id] = event.position
            standing[event.item_id] = event.class_id if isinstance(event, Accepted) else None
        elif (
            isinstance(event, Labelled | Revised) and event.item_id in arrived
        ):  # not so a warm-up image
            class_id = event.class_id if isinstance(event, Labelled) else event.after
            before = standing[event.item_id]
            is_late = (
                before is not None
                and within is not None
                and event.position - arrived[event.item_id] > within
            )
            if not is_late:
                standing[event.item_id] = class_id
            if not is_late or class_id != before:
                is_answer = isinstance(event, Labelled) or (
                    correction is not None and correction.class_id == class_id
                )
                yield Change(event.item_id, class_id, is_answer, is_late)


def named(
    labels: Mapping[ItemId, ClassId | None], names: Mapping[ClassId, str]
) -> dict[ItemId, str | None]:
    """Return labels by class name."""
    try:
        return {
            item_id: None if class_id is None else names[class_id]
            for item_id, class_id in labels.items()
        }
    except KeyError as missing:
        raise _unnamed(missing.args[0]) from None


def names_of(class_ids: Iterable[ClassId], names: Mapping[ClassId, str]) -> frozenset[str]:
    """Return what several classes are called."""
    try:
        return frozenset(names[class_id] for class_id in class_ids)
    except KeyError as missing:
        raise _unnamed(missing.args[0]) from None


def _unnamed(class_id: ClassId) -> InputError:
    return InputError(
        f"every class of the log must have been added in it; class {class_id} was not. Give the log from its start"
    )
