"""The events of a baseline: it records decisions, questions, answers and new models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from csim.records import (
    Accepted,
    Asked,
    ClassAdded,
    ClassId,
    Event,
    Floats,
    Item,
    Question,
    QuestionId,
    Rejected,
    Retrained,
    Revised,
    Told,
)


@dataclass(eq=False, slots=True)
class Sample:
    """Hold an item of the stream, its vector and, once a person has labelled it, its class."""

    item: Item
    vector: Floats
    label: ClassId | None = None

    @property
    def position(self) -> int:
        """Return the stream position at which the item arrived."""
        return self.item.position


class EventRecorder:
    """Number classes, questions and models, and record an event for each change.

    Parameters
    ----------
    on_event
        Called with every event.

    Attributes
    ----------
    position
        The current stream position. Set it before recording.
    names
        The class names told so far, by class id.
    """

    def __init__(self, on_event: Callable[[Event], None]) -> None:
        self.position = 0
        self.names: list[str] = []
        self._on_event = on_event
        self._open: dict[QuestionId, Sample] = {}
        self._asked = 0
        self._version = 0
        self._pending: list[Event] = []  # events that `take` has not returned yet

    def class_id(self, name: str) -> ClassId:
        """Return the id of a class. Add the class if its name is new."""
        if name not in self.names:
            self.names.append(name)
            self._record(ClassAdded(self.position, len(self.names) - 1, name))
        return self.names.index(name)

    def ask(self, sample: Sample) -> None:
        """Open a question about a sample."""
        self._asked += 1
        self._open[self._asked] = sample
        self._record(Asked(self.position, _question(self._asked, sample)))

    def questions(self) -> list[Question]:
        """Return the open questions, each about one image."""
        return [_question(number, sample) for number, sample in self._open.items()]

    def tell(self, number: QuestionId, name: str) -> Sample:
        """Close a question with the class name that a person gave, and return its sample."""
        sample = self._open.pop(number)
        sample.label = self.class_id(name)
        self._record(Told(self.position, sample.item.id, sample.label, number))
        return sample

    def accept(self, sample: Sample, class_id: ClassId, score: float) -> None:
        """Record that a sample was accepted as a class."""
        self._record(Accepted(sample.position, sample.item.id, class_id, score, self._version))

    def reject(self, sample: Sample, nearest: ClassId, score: float) -> None:
        """Record that a sample was rejected, and which class was nearest."""
        self._record(Rejected(sample.position, sample.item.id, nearest, score, self._version))

    def revise(self, sample: Sample, class_id: ClassId) -> None:
        """Record that a rejected sample was given a class later."""
        self._record(Revised(self.position, sample.item.id, None, class_id))

    def retrained(self, class_ids: Sequence[ClassId]) -> None:
        """Record that a new model is in use, and which classes it can output."""
        self._version += 1
        self._record(Retrained(self.position, self._version, tuple(sorted(class_ids))))

    def take(self) -> list[Event]:
        """Return the events recorded since the last call."""
        events = self._pending
        self._pending = []
        return events

    def _record(self, event: Event) -> None:
        self._pending.append(event)
        self._on_event(event)


def _question(number: QuestionId, sample: Sample) -> Question:
    return Question(number, sample.position, sample.item, (sample.item,))
