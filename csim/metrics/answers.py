"""Questions, the labels a person gave, and how many images each label reached."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from csim.metrics.labels import REVISION_LIMIT, changes
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
    """Return the position of every question that csim asked, in order."""
    return [
        event.position
        for event in events
        if isinstance(event, Asked) and not event.question.is_given
    ]


def labels_spent(events: Iterable[Event]) -> list[int]:
    """Return the positions of all answers, splits and corrections, in order.

    An answer is one label, however many images it labels. A skipped or unanswered question costs
    nothing. An undone answer stays spent, and the next answer to the same question costs one more.

    >>> told = [Labelled(9, item_id, 3, 1, is_told=item_id == "a") for item_id in "abc"]
    >>> labels_spent([*told, Divided(10, 2, (3, 4)), Corrected(12, 1, 5)])
    [9, 10, 12]
    """
    return [event.position for event in _labels_given(events)]


def told_items(events: Iterable[Event]) -> set[ItemId]:
    """Return the images that a person labelled directly, with answers that were not undone."""
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


def images_per_label(events: Sequence[Event], within: int | None = REVISION_LIMIT) -> float:
    """Return the images with a final label from an answer or correction, per answer or correction.

    The result is 0.0 if nothing was answered. A split names no class and does not count here.
    Higher `within` lets later changes count; None sets no limit.

    >>> from csim.records import Rejected
    >>> log = [Rejected(position, str(position), 0, 0.2, 1) for position in (1, 2, 3)]
    >>> log += [Labelled(3, "1", 5, 1, is_told=True), Labelled(3, "2", 5, 1, is_told=False)]
    >>> images_per_label(log)
    2.0
    """
    from_answer: dict[ItemId, bool] = {}
    for change in changes(events, within):
        if not change.is_late:
            from_answer[change.item_id] = change.is_from_answer
    answers = sum(not isinstance(event, Divided) for event in _labels_given(events))
    return sum(from_answer.values()) / max(answers, 1)


def _labels_given(events: Iterable[Event]) -> list[Labelled | Divided | Corrected | Told]:
    """Return one event per label that a person gave; for an answer, its told image's event."""
    found: list[Labelled | Divided | Corrected | Told] = []
    answered: dict[QuestionId, int] = {}
    for event in events:
        if isinstance(event, Labelled):
            # Without a told image it is no answer: a restored class labels its images again.
            if event.is_told and answered.get(event.question_id) != event.position:
                answered[event.question_id] = event.position
                found.append(event)
        elif isinstance(event, Divided | Corrected | Told):
            found.append(event)
        elif isinstance(event, Undone):
            # A second answer at the same position counts again.
            answered.pop(event.question_id, None)
    return found
