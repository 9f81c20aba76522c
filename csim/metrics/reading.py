"""What a log says of every image of the stream, read once and by the names that classes have in the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from csim.metrics.known import first_classes, known_at_arrival
from csim.metrics.labels import WITHIN, at_arrival, class_names, final, named
from csim.records import Event, ItemId


@dataclass(frozen=True)
class Reading:
    """A log, image by image.

    Parameters
    ----------
    first
        The classes that were known before the stream began.
    known
        The classes that the model could output when each image arrived.
    at_once
        The label each image was given at arrival, None if it was rejected.
    last
        The label each image has in the end, None if it still waits.
    """

    first: frozenset[str]
    known: Mapping[ItemId, frozenset[str]]
    at_once: Mapping[ItemId, str | None]
    last: Mapping[ItemId, str | None]


def read(events: Sequence[Event], within: int | None = WITHIN) -> Reading:
    """Read a log; `within` as for `final`."""
    names = class_names(events)
    return Reading(
        first=first_classes(events, names),
        known=known_at_arrival(events, names),
        at_once=named(at_arrival(events), names),
        last=named(final(events, within), names),
    )
