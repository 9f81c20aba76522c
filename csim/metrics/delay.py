"""When a new class was detected and learned, in stream positions and in images of the class."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from csim.metrics.known import initial_classes
from csim.metrics.labels import class_names, names_of
from csim.metrics.truth import Truth, true_class
from csim.records import Asked, Event, Retrained


@dataclass(frozen=True)
class Milestones:
    """Hold when a new class appeared, was first asked about and was learned, or None."""

    name: str
    appeared: int
    asked: int | None
    learned: int | None


@dataclass(frozen=True)
class Delay:
    """Hold how many images of a new class had arrived when it was detected and learned.

    Parameters
    ----------
    name
        The class.
    to_detection
        Images up to the first question about one of them; None if there was none. Higher is a
        later detection.
    to_learned
        Images up to the first model that outputs the class; None if there was none. Higher is
        later.
    """

    name: str
    to_detection: int | None
    to_learned: int | None


def milestones(events: Sequence[Event], truth: Truth) -> list[Milestones]:
    """Return the milestones of every class not known at the start, in order of appearance."""
    names = class_names(events)
    asked: dict[str, int] = {}
    learned: dict[str, int] = {}
    for event in events:
        if isinstance(event, Asked):
            asked.setdefault(true_class(truth, event.question.representative.id), event.position)
        elif isinstance(event, Retrained):
            for name in names_of(event.class_ids, names):
                learned.setdefault(name, event.position)
    known = initial_classes(events, names)
    return [
        Milestones(name, arrivals[0], asked.get(name), learned.get(name))
        for name, arrivals in _arrivals(truth).items()
        if name not in known
    ]


def delays(events: Sequence[Event], truth: Truth) -> list[Delay]:
    """Return how long it took to detect and to learn every class not known at the start."""
    arrivals = _arrivals(truth)
    return [
        Delay(
            name=milestone.name,
            to_detection=_count_until(arrivals[milestone.name], milestone.asked),
            to_learned=_count_until(arrivals[milestone.name], milestone.learned),
        )
        for milestone in milestones(events, truth)
    ]


def _arrivals(truth: Truth) -> dict[str, list[int]]:
    """Return the positions of each class's images, with classes in order of appearance."""
    arrivals: dict[str, list[int]] = {}
    for position, name in enumerate(truth.values(), start=1):
        arrivals.setdefault(name, []).append(position)
    return arrivals


def _count_until(arrivals: Sequence[int], position: int | None) -> int | None:
    return None if position is None else bisect_right(arrivals, position)
