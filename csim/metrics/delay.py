"""When a new class was noticed and when it was learned, as positions in the stream and in images of its own."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from csim.metrics.known import first_classes
from csim.metrics.labels import class_names, names_of
from csim.metrics.truth import Truth, true_class
from csim.records import Asked, Event, Retrained


@dataclass(frozen=True)
class Milestones:
    """When a new class came, was first asked about, and was learned; None if that never happened."""

    name: str
    appeared: int
    asked: int | None
    learned: int | None


@dataclass(frozen=True)
class Delay:
    """How many images of a new class had come, its first included, when it was noticed and learned.

    Parameters
    ----------
    name
        The class.
    to_detection
        Images up to the first question about one of them; None if there was none. Lower is better.
    to_learned
        Images up to the first model that outputs the class; None if there was none. Lower is better.
    """

    name: str
    to_detection: int | None
    to_learned: int | None


def milestones(events: Sequence[Event], truth: Truth) -> list[Milestones]:
    """Return the milestones of every class that was not known at the start, in order of appearance."""
    names = class_names(events)
    asked: dict[str, int] = {}
    learned: dict[str, int] = {}
    for event in events:
        if isinstance(event, Asked):
            asked.setdefault(true_class(truth, event.question.representative.id), event.position)
        elif isinstance(event, Retrained):
            for name in names_of(event.class_ids, names):
                learned.setdefault(name, event.position)
    known = first_classes(events, names)
    return [
        Milestones(name, own[0], asked.get(name), learned.get(name))
        for name, own in _arrivals(truth).items()
        if name not in known
    ]


def delays(events: Sequence[Event], truth: Truth) -> list[Delay]:
    """Return how long it took to notice and to learn every class that was not known at the start."""
    arrivals = _arrivals(truth)
    return [
        Delay(m.name, _passed(arrivals[m.name], m.asked), _passed(arrivals[m.name], m.learned))
        for m in milestones(events, truth)
    ]


def _arrivals(truth: Truth) -> dict[str, list[int]]:
    """Return the positions at which images of each class arrived, classes in order of appearance."""
    arrivals: dict[str, list[int]] = {}
    for position, name in enumerate(truth.values(), start=1):
        arrivals.setdefault(name, []).append(position)
    return arrivals


def _passed(arrivals: Sequence[int], position: int | None) -> int | None:
    return None if position is None else bisect_right(arrivals, position)
