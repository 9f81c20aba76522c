"""What the labeller was asked, what was told, and how far it went."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from csim.metrics.labels import WITHIN, changes
from csim.records import (
    Asked,
    Corrected,
    Divided,
    Event,
    ItemId,
    Labelled,
    QuestionId,
    Told,
    Undone,
)


def questions(events: Iterable[Event]) -> list[int]:
    """Return the position of every question, in order."""
    return [event.position for event in events if isinstance(event, Asked)]


def labels_spent(events: Iterable[Event]) -> list[int]:
    """Return the position of everything that was told, in order: answers, splits and corrections.

    An answer is one label however many images it names. A question that was skipped or never answered reveals
    nothing. An answer that was taken back stays spent, and the next one to the same question is one more.

    >>> told = [Labelled(9, item_id, 3, 1, is_told=item_id == "a") for item_id in "abc"]
    >>> labels_spent([*told, Divided(10, 2, (3, 4)), Corrected(12, 1, 5)])
    [9, 10, 12]
    """
    return [event.position for event in _tellings(events)]


def told_items(events: Iterable[Event]) -> set[ItemId]:
    """Return the images that a person labelled, each by itself, with answers that were not taken back."""
    told: dict[QuestionId, set[ItemId]] = {}
    for event in events:
        if isinstance(event, Labelled):
            if event.is_told:
                told.setdefault(event.question_id, set()).add(event.item_id)
        elif isinstance(event, Told):
            told.setdefault(event.question_id, set()).add(event.item_id)
        elif isinstance(event, Undone):
            told.pop(event.question_id, None)
    return set().union(*told.values())


def images_per_label(events: Sequence[Event], within: int | None = WITHIN) -> float:
    """Return how many images have their final label from an answer or a correction, per answer or correction.

    0.0 if nothing was answered. A split names no class and is not counted here.

    >>> from csim.records import Rejected
    >>> log = [Rejected(place, str(place), 0, 0.2, 1) for place in (1, 2, 3)]
    >>> log += [Labelled(3, "1", 5, 1, is_told=True), Labelled(3, "2", 5, 1, is_told=False)]
    >>> images_per_label(log)
    2.0
    """
    from_answer: dict[ItemId, bool] = {}
    for change in changes(events, within):
        if not change.is_late:
            from_answer[change.item_id] = change.is_from_answer
    answers = sum(not isinstance(event, Divided) for event in _tellings(events))
    return sum(from_answer.values()) / max(answers, 1)


def _tellings(events: Iterable[Event]) -> list[Labelled | Divided | Corrected | Told]:
    """Return an event for each thing told; for an answer, its first."""
    found: list[Labelled | Divided | Corrected | Told] = []
    answered: dict[QuestionId, int] = {}
    for event in events:
        if isinstance(event, Labelled):
            if answered.get(event.question_id) != event.position:
                answered[event.question_id] = event.position
                found.append(event)
        elif isinstance(event, Divided | Corrected | Told):
            found.append(event)
        elif isinstance(event, Undone):
            answered.pop(
                event.question_id, None
            )  # answered again at the same position, it is told twice
    return found
