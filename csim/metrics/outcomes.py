"""The outcome of every image of a log, with the final names of the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from csim.metrics.known import initial_classes, known_at_arrival
from csim.metrics.labels import REVISION_LIMIT, at_arrival, class_names, final, named
from csim.records import Event, ItemId


@dataclass(frozen=True)
class Outcomes:
    """Hold the outcome of every image of a log.

    Parameters
    ----------
    initial
        The classes known before the stream began.
    known
        The classes that the model could output when each image arrived.
    at_arrival
        The label of each image at arrival, None if it was rejected.
    final
        The label of each image at the end, None if it still waits.
    """

    initial: frozenset[str]
    known: Mapping[ItemId, frozenset[str]]
    at_arrival: Mapping[ItemId, str | None]
    final: Mapping[ItemId, str | None]


def read_outcomes(events: Sequence[Event], within: int | None = REVISION_LIMIT) -> Outcomes:
    """Read the outcomes of a log; `within` as for `final`."""
    names = class_names(events)
    return Outcomes(
        initial=initial_classes(events, names),
        known=known_at_arrival(events, names),
        at_arrival=named(at_arrival(events), names),
        final=named(final(events, within), names),
    )
