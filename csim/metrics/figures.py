"""How good the labels are and what they cost, from an event log and the truth.

The truth maps every item of the stream, in order of arrival, to its class name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from csim.metrics.labels import at_arrival, class_names, final, named
from csim.records import Accepted, Asked, Event, Floats, ItemId, Rejected, Retrained

Truth = Mapping[ItemId, str]


def accuracy(labels: Mapping[ItemId, str | None], truth: Truth) -> float:
    """Return the share of images whose label is the true one, in percent; one without a label counts as wrong.

    >>> accuracy({"a": "crane", "b": None}, {"a": "crane", "b": "heron"})
    50.0
    """
    return 100 * float(np.mean(_hits(labels, truth))) if truth else 0.0


def accuracy_curve(labels: Mapping[ItemId, str | None], truth: Truth, window: int) -> Floats:
    """Return the accuracy over the last `window` images at each position, in percent; raising it smooths.

    >>> accuracy_curve({"a": "crane", "b": None, "c": "heron"}, {"a": "crane", "b": "heron", "c": "heron"}, window=2)
    array([100.,  50.,  50.])
    """
    sums = np.concatenate([[0.0], np.cumsum(_hits(labels, truth))])
    ends = np.arange(1, len(sums))
    starts = np.maximum(0, ends - window)
    curve: Floats = 100 * (sums[ends] - sums[starts]) / (ends - starts)
    return curve


def labels_spent(events: Sequence[Event]) -> list[int]:
    """Return the position of every question, in order."""
    return [event.position for event in events if isinstance(event, Asked)]


@dataclass(frozen=True)
class Milestones:
    """When a new class came, was first asked about, and was learned; None if that never happened."""

    name: str
    appeared: int
    asked: int | None
    learned: int | None


def milestones(events: Sequence[Event], truth: Truth) -> list[Milestones]:
    """Return the milestones of every class that was not known at the start, in order of appearance."""
    names = class_names(events)
    asked: dict[str, int] = {}
    learned: dict[str, int] = {}
    for event in events:
        if isinstance(event, Asked):
            asked.setdefault(truth[event.question.representative.id], event.position)
        elif isinstance(event, Retrained):
            for class_id in event.class_ids:
                learned.setdefault(names[class_id], event.position)
    appeared: dict[str, int] = {}
    for position, name in enumerate(truth.values(), start=1):
        appeared.setdefault(name, position)
    return [
        Milestones(name, position, asked.get(name), learned.get(name))
        for name, position in appeared.items()
        if learned.get(name) != 0
    ]


def novelty_errors(events: Sequence[Event], truth: Truth) -> tuple[float, float]:
    """Return the paper's M_new and F_new, in percent.

    M_new: novel images finally given a class that existed / novel images. F_new: existing images finally given a
    class that was novel / existing images. Novel is what the model could not output when the image arrived.
    """
    names = class_names(events)
    labels = named(final(events), names)
    known: set[str] = set()
    missed = novel = false = existing = 0
    for event in events:
        if isinstance(event, Retrained):
            known = {names[class_id] for class_id in event.class_ids}
        elif isinstance(event, Accepted | Rejected):
            label = labels[event.item_id]
            if truth[event.item_id] in known:
                existing += 1
                false += label is not None and label not in known
            else:
                novel += 1
                missed += label in known
    return 100 * missed / max(novel, 1), 100 * false / max(existing, 1)


def purity(events: Sequence[Event], truth: Truth) -> float:
    """Return the share of grouped images that have the class of their group's representative, in percent."""
    pairs = [
        (truth[item.id], truth[event.question.representative.id])
        for event in events
        if isinstance(event, Asked)
        for item in event.question.members
    ]
    return 100 * sum(own == told for own, told in pairs) / max(len(pairs), 1)


@dataclass(frozen=True)
class Summary:
    """The figures of one run, in percent where they are shares."""

    images: int
    accuracy: float
    accuracy_at_arrival: float
    labels_percent: float
    m_new: float
    f_new: float
    purity: float
    classes_learned: int


def summarise(events: Sequence[Event], truth: Truth) -> Summary:
    """Return the figures of a run."""
    names = class_names(events)
    m_new, f_new = novelty_errors(events, truth)
    return Summary(
        images=len(truth),
        accuracy=accuracy(named(final(events), names), truth),
        accuracy_at_arrival=accuracy(named(at_arrival(events), names), truth),
        labels_percent=100 * len(labels_spent(events)) / max(len(truth), 1),
        m_new=m_new,
        f_new=f_new,
        purity=purity(events, truth),
        classes_learned=max((len(event.class_ids) for event in events if isinstance(event, Retrained)), default=0),
    )


def _hits(labels: Mapping[ItemId, str | None], truth: Truth) -> list[bool]:
    return [labels.get(item_id) == name for item_id, name in truth.items()]
